"""Brokers that know the whole overlay and what is wanted where, as four baselines assume it.

It must not know how events are routed: that is in the modules of the protocols.

Each broker floods its neighbor set (`TopologyUpdate`) and its wishes (`Subscribe`, `Unsubscribe`);
an older message about the same thing than the one that is known is dropped, so each floods every
link at most once a way. The ends of a link that comes up exchange all they know. What a broker
wants is one wish for each filter, however many clients share it.

Trees are those of shortest ways from a root; of several ways a broker's is that over the neighbor
with the lowest id, so that brokers whose maps agree have the same trees.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import ClassVar, NamedTuple, cast

from pysim.brokers.base import Broker
from pysim.brokers.destinations.overlay_map import OverlayMap
from pysim.brokers.promises import Promises
from pysim.filters import Event as Attributes
from pysim.filters import Filter, MatchingIndex, new_index
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, Timer, World
from pysim.wire import Envelope
from pysim.wire.messages import Event, Subscribe, TopologyUpdate, Unsubscribe

_GATHER = 0.01
"""Seconds for which changes of links are gathered into one update."""

Wish = tuple[BrokerId, Filter]


class Branch(NamedTuple):
    """A child of this broker in a tree, and all brokers from there on down."""

    child: BrokerId
    below: frozenset[BrokerId]


class MappedBroker(Broker):
    """A broker with a map and a copy of all wishes.

    A subclass supplies `name` and says how events go: `publish` and a handler. It gets
    `wanting(attributes)`, the other brokers that an event is for, `branches(root)`, where a tree
    goes on from here, and `serve(envelope)` for its own clients.
    """

    needs_tree: ClassVar[bool] = False
    promises: ClassVar[Promises] = Promises(links=True, crashes=True)
    work_units: ClassVar[frozenset[str]] = frozenset({"publication-entries"})

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.map = OverlayMap(world.id)
        self._counters: Counter[str] = Counter(
            {"events-received": 0, "events-wanted": 0, "old-updates": 0, "publication-entries": 0}
        )
        self._updates: dict[BrokerId, Envelope] = {}
        self._number = 0
        self._announcement: Timer | None = None
        self._wishes: dict[Wish, Envelope] = {}
        """The newest message about each wish of others and of this broker, a withdrawal too."""
        self._index: MatchingIndex[Wish] = new_index()
        self._stored = 0
        self._branches: dict[BrokerId, list[Branch]] = {}
        self._work: Counter[str] = Counter()

    # The map

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        for known in (*self._updates.values(), *self._wishes.values()):
            self.world.send(neighbor, known)
        self._links_changed()

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        self._links_changed()

    def _links_changed(self) -> None:
        self.map.set_row(self.world.id, self.world.neighbors)
        self._branches.clear()
        if self._announcement is None:
            self._announcement = self.world.schedule(_GATHER, self._announce)

    def _announce(self) -> None:
        self._announcement = None
        self._number += 1
        own = self.world.id
        update = TopologyUpdate(own, self.world.incarnation, self._number, self.world.neighbors)
        self._updates[own] = self.world.originate(update)
        self._flood(own, self._updates[own])

    def on_topology_update(self, sender: BrokerId, envelope: Envelope) -> None:
        update = cast(TopologyUpdate, envelope.message)
        broker, version = update.originator, (update.incarnation, update.number)
        if broker == self.world.id or not self.map.learn(broker, version, update.neighbors):
            self._counters["old-updates"] += 1
            return
        self._branches.clear()
        self._updates[broker] = envelope
        self._flood(sender, envelope)

    def _flood(self, sender: BrokerId, envelope: Envelope) -> None:
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, envelope)

    def branches(self, root: BrokerId) -> list[Branch]:
        """How the tree of a root goes on from this broker, in ascending order of children."""
        if root not in self._branches:
            self._branches[root] = branches(self.map.adjacency(), root, self.world.id)
        return self._branches[root]

    # What is wanted

    def subscribe(self, client: ClientId, filter: Filter) -> None:
        if self.clients.add(client, filter):
            self.wanted_here(filter)

    def unsubscribe(self, client: ClientId, filter: Filter) -> None:
        if self.clients.remove(client, filter):
            self.unwanted_here(filter)

    def wanted_here(self, filter: Filter) -> None:
        """Let everybody know what is wanted here from now on."""
        self._tell(filter, Subscribe(filter))

    def unwanted_here(self, filter: Filter) -> None:
        """Let everybody know what is not wanted here any more."""
        self._tell(filter, Unsubscribe(filter))

    def wants(self, filter: Filter) -> bool:
        """Whether that is wanted here."""
        return filter in self.clients

    def _tell(self, filter: Filter, message: Subscribe | Unsubscribe) -> None:
        envelope = self._wishes[self.world.id, filter] = self.world.originate(message)
        self.spread_wish(self.world.id, envelope)

    def spread_wish(self, sender: BrokerId, envelope: Envelope) -> None:
        """Pass a wish on, or a withdrawal."""
        self._flood(sender, envelope)

    def on_subscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        self._wish_came(sender, envelope, cast(Subscribe, envelope.message).filter)

    def on_unsubscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        self._wish_came(sender, envelope, cast(Unsubscribe, envelope.message).filter)

    def _wish_came(self, sender: BrokerId, envelope: Envelope, filter: Filter) -> None:
        wish = envelope.id.origin, filter
        known = self._wishes.get(wish)
        if wish[0] == self.world.id:
            if known is None and not self.wants(filter):  # from before a crash
                self.unwanted_here(filter)
            return
        if known is not None and known.id.sequence >= envelope.id.sequence:
            return
        held = known is not None and known.type == Subscribe.CODE
        if held != (envelope.type == Subscribe.CODE):
            self._change(wish, held)
        self._wishes[wish] = envelope
        self.spread_wish(sender, envelope)

    def _change(self, wish: Wish, held: bool) -> None:
        if held:
            self._index.remove(wish)
        else:
            self._index.insert(wish, wish[1])
        self._stored += -1 if held else 1

    def wanting(self, attributes: Attributes) -> list[BrokerId]:
        """The other brokers that want an event, ascending, by all that is known here."""
        self._compare(self._stored)
        return sorted({broker for broker, _ in self._index.match(attributes)})

    # Events

    def serve(self, envelope: Envelope) -> None:
        """Hand an event to the local clients that want it, and count whether any did."""
        self._compare(len(self.clients))
        interested = self.clients.interested(envelope.message.attributes)  # type: ignore[attr-defined]
        if envelope.id.origin != self.world.id:
            self._counters["events-received"] += 1
            self._counters["events-wanted"] += bool(interested)
        for client in interested:
            self.world.deliver(client, envelope)

    def _compare(self, entries: int) -> None:
        self._work["publication-entries"] += entries
        self._counters["publication-entries"] += entries

    # What it costs, and what is counted

    @property
    def counters(self) -> "Counter[str]":
        """What happened here, and how much is held now."""
        self._counters["stored-remote"] = self._stored
        self._counters["stored-local"] = len(self.clients)
        return self._counters

    def take_work(self) -> Mapping[str, float]:
        done = dict(self._work)
        self._work.clear()
        return done

    def table_size(self) -> int:
        return self._stored + len(self.clients)

    stored_size = table_size


class TreeBroker(MappedBroker):
    """A broker whose events go down the tree of their source, as far as `leads` says."""

    def leads(self, event: Envelope, branch: Branch) -> bool:
        """Whether an event has to go down a branch."""
        raise NotImplementedError

    def pass_down(self, event: Envelope) -> None:
        """Send an event down all branches of its source's tree that lead to who wants it."""
        for branch in self.branches(event.id.origin):
            if self.leads(event, branch):
                self.world.send(branch.child, event)


def branches(
    adjacent: Mapping[BrokerId, Collection[BrokerId]], root: BrokerId, own: BrokerId
) -> list[Branch]:
    """The children of a broker in the tree of a root, each with all that is below it."""
    if root not in adjacent:
        return []
    distances = {root: 0}
    found = [root]
    for broker in found:  # grows while it is gone through
        for neighbor in adjacent[broker]:
            if neighbor not in distances:
                distances[neighbor] = distances[broker] + 1
                found.append(neighbor)
    children: dict[BrokerId, list[BrokerId]] = {broker: [] for broker in found}
    for broker in found[1:]:
        nearer = (n for n in adjacent[broker] if distances[n] < distances[broker])
        children[min(nearer)].append(broker)
    return [Branch(child, _below(children, child)) for child in sorted(children.get(own, ()))]


def _below(children: Mapping[BrokerId, list[BrokerId]], top: BrokerId) -> frozenset[BrokerId]:
    found = [top]
    for broker in found:  # grows while it is gone through
        found += children[broker]
    return frozenset(found)


def attributes_of(envelope: Envelope) -> Attributes:
    """Those of an event that was not wrapped into another type of message."""
    return cast(Event, envelope.message).attributes
