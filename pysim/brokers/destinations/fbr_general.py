"""FBR on general overlays: every advertisement makes a tree of its own (merc.txt, reference [19]).

It must not know of more of the overlay than its neighbors. An advertisement floods with its id as
the id of its tree; the first copy that comes to a broker makes the link to the root, the others are
dropped and counted. A subscription goes towards the root of every tree that it intersects and is
stored once for each. An event carries the tree that it was published on and follows it alone. What
is settled beyond the paper:

- An event that several advertisements of its broker announced goes by the oldest of them: a
  subscription that matches it intersects that one too.
- A matching engine holds a copy of a subscription for each of its trees, as in the paper's
  reference, and an event is matched against all of them: that is the work that is counted.
- A withdrawn advertisement floods as it came, and takes along all that was stored for its tree. A
  tombstone keeps a copy of it that is late from making the tree anew.
- Nothing is repaired. What would go over a lost link is dropped and counted; who comes back is told
  the advertisements of its neighbors. A rerouting of trees is what this family has D-DBR for.
"""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, cast

from pysim.brokers.base import Broker
from pysim.brokers.destinations.tables import Item, Table
from pysim.brokers.filter_groups import FilterGroup
from pysim.brokers.promises import Promises
from pysim.filters import Event as Attributes
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import (
    Event,
    TreeAdvertise,
    TreeEvent,
    TreeSubscribe,
    TreeUnadvertise,
    TreeUnsubscribe,
)


class _Tree:
    """An advertisement, the way to its root, and the subscriptions that came over other links."""

    __slots__ = ("filter", "id", "parent", "subscriptions")

    def __init__(self, id: MessageId, filter: Filter, parent: BrokerId) -> None:
        self.id = id
        self.filter = filter
        self.parent = parent
        """The broker itself at the root."""
        self.subscriptions = Table()
        """Those of others; their sources are the neighbors that they came from."""


class GeneralFilterBasedRouting(Broker):
    """Filter-based routing on overlays with cycles: a tree for each advertisement."""

    name: ClassVar[str] = "fbr-general"
    needs_tree: ClassVar[bool] = False
    promises: ClassVar[Promises] = Promises(advertised=True)
    work_units: ClassVar[frozenset[str]] = frozenset(
        {"publication-entries", "matching-entries", "unsubscription-entries"}
    )

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.counters: Counter[str] = Counter(
            {
                "advertisements-received": 0,
                "duplicates-dropped": 0,
                "subscriptions-received": 0,
                "unsubscriptions-received": 0,
                "ignored": 0,
                "unadvertised": 0,
                "dead-link-messages": 0,
                "stored-local": 0,
                "stored-remote": 0,
            }
        )
        self.trees: dict[MessageId, _Tree] = {}
        self._groups: FilterGroup[_Tree] = FilterGroup()
        self._own_trees = Table()
        """The advertisements of local clients."""
        self._subscriptions = Table()
        """The subscriptions of local clients."""
        self._withdrawn: set[MessageId] = set()
        self._announced: dict[tuple[ClientId, Filter], Item] = {}
        self._wanted: dict[tuple[ClientId, Filter], Item] = {}
        self._work: Counter[str] = Counter()

    # Events

    def publish(self, client: ClientId, event: Envelope) -> None:
        message = cast(Event, event.message)
        announcing = min((i.id for i in self._own_trees.match(message.attributes)), default=None)
        if announcing is None:
            self.counters["unadvertised"] += 1
            self._deliver(event, message.attributes)
            return
        on_tree = event.with_body(TreeEvent(announcing, message.attributes, message.payload))
        self.on_tree_event(self.world.id, on_tree)

    def on_tree_event(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(TreeEvent, envelope.message)
        self._deliver(envelope, message.attributes)
        tree = self.trees.get(message.tree)
        if tree is None:
            self.counters["unknown-tree"] += 1
            return
        for neighbor in tree.subscriptions.matching_sources(message.attributes):
            if neighbor != sender:
                self._send(neighbor, envelope)

    def _deliver(self, envelope: Envelope, attributes: Attributes) -> None:
        self._work["publication-entries"] += self.table_size()
        for client in self.clients.interested(attributes):
            self.world.deliver(client, envelope)

    # Advertisements

    def advertise(self, client: ClientId, filter: Filter) -> None:
        if (client, filter) in self._announced:
            return
        id = self.world.originate(TreeAdvertise(MessageId(0, 0), filter)).id
        item = self._announced[client, filter] = Item(id, filter, self.world.id)
        self._own_trees.add(item)
        self._plant(_Tree(id, filter, self.world.id))

    def unadvertise(self, client: ClientId, filter: Filter) -> None:
        item = self._announced.pop((client, filter), None)
        if item is not None:
            self._own_trees.remove(item)
            self._fell(self.world.id, self.world.originate(TreeUnadvertise(item.id)))

    def on_tree_advertise(self, sender: BrokerId, envelope: Envelope) -> None:
        self.counters["advertisements-received"] += 1
        message = cast(TreeAdvertise, envelope.message)
        if message.tree in self.trees or message.tree in self._withdrawn:
            self.counters["duplicates-dropped"] += 1
            return
        tree = _Tree(message.tree, message.filter, sender)
        self._plant(tree)
        self._work["matching-entries"] += len(self._subscriptions)
        for item in self._subscriptions.intersecting(message.filter):
            self._climb(tree, item)

    def on_tree_unadvertise(self, sender: BrokerId, envelope: Envelope) -> None:
        if cast(TreeUnadvertise, envelope.message).tree in self._withdrawn:
            self.counters["duplicate-withdrawals"] += 1
        else:
            self._fell(sender, envelope)

    def _plant(self, tree: _Tree) -> None:
        self.trees[tree.id] = tree
        self._groups.add(tree)
        for neighbor in self.world.neighbors:
            if neighbor != tree.parent:
                self._announce(neighbor, tree)

    def _announce(self, neighbor: BrokerId, tree: _Tree) -> None:
        self.world.send(neighbor, Envelope.seal(TreeAdvertise(tree.id, tree.filter), *tree.id))

    def _fell(self, sender: BrokerId, envelope: Envelope) -> None:
        """A tree goes, here and at all neighbors."""
        id = cast(TreeUnadvertise, envelope.message).tree
        self._withdrawn.add(id)
        tree = self.trees.pop(id, None)
        if tree is not None:
            self._groups.remove(tree)
            self.counters["stored-remote"] -= len(tree.subscriptions)
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, envelope)

    # Subscriptions

    def subscribe(self, client: ClientId, filter: Filter) -> None:
        if (client, filter) in self._wanted:
            return
        self.clients.add(client, filter)
        id = self.world.originate(TreeSubscribe(MessageId(0, 0), filter)).id
        item = self._wanted[client, filter] = Item(id, filter, self.world.id)
        self._subscriptions.add(item)
        self.counters["stored-local"] += 1
        self._work["matching-entries"] += self.table_size()
        for tree in list(self._groups.intersecting(filter)):
            self._climb(tree, item)

    def unsubscribe(self, client: ClientId, filter: Filter) -> None:
        item = self._wanted.pop((client, filter), None)
        if item is None:
            return
        self.clients.remove(client, filter)
        self._work["unsubscription-entries"] += self.table_size()
        self._subscriptions.remove(item)
        self.counters["stored-local"] -= 1
        for tree in list(self._groups.intersecting(filter)):
            if tree.parent != self.world.id:
                self._send(tree.parent, self.world.originate(TreeUnsubscribe(tree.id, item.id)))

    def on_tree_subscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        self.counters["subscriptions-received"] += 1
        message = cast(TreeSubscribe, envelope.message)
        tree = self.trees.get(message.tree)
        if tree is None or tree.subscriptions.get(envelope.id) is not None:
            self.counters["ignored"] += 1
            return
        self._work["matching-entries"] += self.table_size()
        item = Item(envelope.id, message.filter, sender)
        tree.subscriptions.add(item)
        self.counters["stored-remote"] += 1
        self._climb(tree, item)

    def on_tree_unsubscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        self.counters["unsubscriptions-received"] += 1
        message = cast(TreeUnsubscribe, envelope.message)
        tree = self.trees.get(message.tree)
        item = tree.subscriptions.get(message.subscription) if tree is not None else None
        if tree is None or item is None or item.source != sender:
            self.counters["ignored"] += 1
            return
        self._work["unsubscription-entries"] += self.table_size()
        tree.subscriptions.remove(item)
        self.counters["stored-remote"] -= 1
        if tree.parent != self.world.id:
            self._send(tree.parent, envelope)

    def _climb(self, tree: _Tree, item: Item) -> None:
        """Send a subscription on towards the root."""
        if tree.parent != self.world.id:
            message = TreeSubscribe(tree.id, item.filter)
            self._send(tree.parent, Envelope.seal(message, *item.id))

    # Links

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        for tree in self.trees.values():
            self._announce(neighbor, tree)

    def _send(self, neighbor: BrokerId, envelope: Envelope) -> None:
        if neighbor in self.world.neighbors:
            self.world.send(neighbor, envelope)
        else:
            self.counters["dead-link-messages"] += 1

    # What it costs, and what is counted

    def take_work(self) -> Mapping[str, float]:
        done = dict(self._work)
        self._work.clear()
        for unit, amount in done.items():
            self.counters[unit] += amount
        return done

    def table_size(self) -> int:
        """All subscriptions, with a copy for each tree that others' stand in."""
        return self.counters["stored-local"] + self.counters["stored-remote"]

    def stored_size(self) -> int:
        return self.table_size()

    def routing_table(self) -> Mapping[tuple[MessageId, Filter], frozenset[BrokerId]]:
        """Where each filter leads on each tree."""
        table: dict[tuple[MessageId, Filter], frozenset[BrokerId]] = {}
        for tree in self.trees.values():
            for item in tree.subscriptions:
                key = (tree.id, item.filter)
                table[key] = table.get(key, frozenset()) | {item.source}
        return table
