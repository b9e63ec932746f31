"""Subscription forwarding, with the STRAWMAN reaction to changes of the tree.

Cugola, Frey, Murphy, Picco, "Content-Based Routing for Publish-Subscribe on a Dynamic Topology",
Fig. 2; the sections below are its operations, in its order. What this module settles beyond it:

- The broker's own clients are together one subscriber, *self*, under the broker's own id; they
  count among the first, second and only subscribers of a pattern.
- `addLinkTo(n)` sends SUB(p) once for each p with a subscriber other than n (the loop of Fig. 2
  names n on both sides, a slip that Fig. 7 does not have).
- An agent remembers what it told each neighbor: no SUB twice, no UNSUB for what was never told.
  Fig. 2 to the letter, the option `literal`, only counts subscribers. Under STRAWMAN both send the
  same messages, since there the counts imply what was told; the protocols that defer
  unsubscriptions differ.
- Routing tables may be optimized (`pysim.brokers.optimizations`): what neighbors are told then
  stands for all that is wanted, and remote entries stand in the index in a more general form.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from typing import Annotated, Any, ClassVar, cast

from pysim.brokers.base import Broker
from pysim.brokers.optimizations import UNOPTIMIZED, Change, Optimized, Policies
from pysim.brokers.promises import Promises
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, World
from pysim.wire import Envelope
from pysim.wire.messages import Event, Subscribe, Unsubscribe

_NOBODY: frozenset[BrokerId] = frozenset()

Literal = Annotated[
    bool, "count subscribers only, as in Fig. 2, instead of remembering what was told"
]


class TableEntry:
    """A pattern's line in the table; the index names it, which is quicker than the pattern."""

    __slots__ = ("receivers", "subscribers")

    def __init__(self) -> None:
        self.subscribers: set[BrokerId] = set()
        self.receivers: tuple[BrokerId, ...] = ()
        """The subscribers in order, for the many events between two changes."""

    def add(self, subscriber: BrokerId) -> None:
        self.subscribers.add(subscriber)
        self.receivers = tuple(sorted(self.subscribers))

    def remove(self, subscriber: BrokerId) -> None:
        self.subscribers.remove(subscriber)
        self.receivers = tuple(sorted(self.subscribers))


class SubscriptionForwarding(Broker):
    """Routes events along the reverse paths of subscriptions (the paper's *dispatcher*).

    A subclass may change the reactions to links; it gets `add_subscriber` and `remove_subscriber`,
    which keep the table and the neighbors' knowledge of it, and what they are made of: `enter` and
    `strike` for the table alone, `tell` and `untell` for one neighbor.
    """

    name: ClassVar[str] = "subscription-forwarding"
    promises: ClassVar[Promises] = Promises(links=True, crashes=True)

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        if options.get("literal") and options.get("optimize", UNOPTIMIZED).by:
            raise ValueError(
                "literal forgets what was told, and the optimizations must remember it"
            )

    def __init__(
        self, world: World, *, literal: Literal = False, optimize: Optimized = UNOPTIMIZED
    ) -> None:
        super().__init__(world)
        self._literal = literal
        self._policies = Policies(TableEntry, optimize, world.id)
        self._observe = self._policies.observe
        self._table: dict[Filter, TableEntry] = {}
        """The paper's subTab: the subscribers of each pattern, self under its own id."""
        self._storage = self._policies.storage
        self._match = self._storage.match
        self.forward: Callable[[BrokerId, Envelope], None] = world.send
        """How an event goes to a subscriber; a subclass may send it another way."""
        self.told: defaultdict[BrokerId, set[Filter]] = defaultdict(set)
        """What each neighbor was told that is wanted on this side."""

    def start(self) -> None:
        self._policies.start(self.world.schedule)

    # Events

    def publish(self, client: ClientId, event: Envelope) -> None:
        self._route(self.world.id, event)

    def _route(self, sender: BrokerId, event: Envelope) -> None:
        """The paper's eventReceived: to all matching subscribers but the one it came from."""
        message: Event = event.message  # type: ignore[assignment]  # the only type with a handler
        if self._observe is not None:
            self._observe(message.attributes)
        matching = self._match(message.attributes)
        receivers: Sequence[BrokerId]
        if len(matching) == 1:  # needs no union
            receivers = matching.pop().receivers
        else:
            found: set[BrokerId] = set()
            for entry in matching:
                found |= entry.subscribers
            receivers = sorted(found)
        own = self.world.id
        for receiver in receivers:
            if receiver == own:
                self.deliver_locally(event)
            elif receiver != sender:
                self.forward(receiver, event)

    on_event = _route

    # Subscriptions and unsubscriptions

    def subscribe(self, client: ClientId, filter: Filter) -> None:
        if self.clients.add(client, filter):
            self.add_subscriber(self.world.id, filter)

    def unsubscribe(self, client: ClientId, filter: Filter) -> None:
        if self.clients.remove(client, filter):
            self.remove_subscriber(self.world.id, filter)

    def on_subscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        self.add_subscriber(sender, cast(Subscribe, envelope.message).filter)

    def on_unsubscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        self.remove_subscriber(sender, cast(Unsubscribe, envelope.message).filter)

    def add_subscriber(self, subscriber: BrokerId, pattern: Filter) -> None:
        """The paper's subscriptionReceived; a subscriber that is known already is no change."""
        if self.enter(subscriber, pattern):
            others = self.subscribers(pattern) - {subscriber}
            for neighbor in self.concerned(subscriber, others):
                self.tell(neighbor, pattern)

    def remove_subscriber(self, subscriber: BrokerId, pattern: Filter) -> None:
        """The paper's processUnsubFrom; one that is not in the table is no change."""
        if self.strike(subscriber, pattern):
            for neighbor in self.concerned(subscriber, self.subscribers(pattern)):
                self.untell(neighbor, pattern)

    def concerned(self, subscriber: BrokerId, others: Set[BrokerId]) -> Collection[BrokerId]:
        """The neighbors for whom it matters that `subscriber` comes or goes beside `others`.

        If there are no others, all neighbors but the subscriber itself; if there is one, that one,
        unless it is self; else none.
        """
        if not others:
            return [n for n in self.world.neighbors if n != subscriber]
        return others - {self.world.id} if len(others) == 1 else ()

    # The table

    def subscribers(self, pattern: Filter) -> Set[BrokerId]:
        """Who subscribes to a pattern, self included; not to be changed."""
        entry = self._table.get(pattern)
        return _NOBODY if entry is None else entry.subscribers

    def patterns_of(self, subscriber: BrokerId) -> list[Filter]:
        """The patterns that a subscriber has in the table."""
        return [p for p, entry in self._table.items() if subscriber in entry.subscribers]

    def wanted_beside(self, neighbor: BrokerId) -> list[Filter]:
        """The patterns that someone other than this neighbor subscribes to."""
        return [p for p, entry in self._table.items() if entry.subscribers - {neighbor}]

    def enter(self, subscriber: BrokerId, pattern: Filter) -> bool:
        """Put a subscriber into the table; False if it is there."""
        entry = self._table.get(pattern)
        if entry is None:
            entry = self._table[pattern] = TableEntry()
            entry.add(subscriber)
            self._storage.insert(entry, pattern)
            return True
        if subscriber in entry.subscribers:
            return False
        entry.add(subscriber)
        self._storage.changed(entry)
        return True

    def strike(self, subscriber: BrokerId, pattern: Filter) -> bool:
        """Take a subscriber out of the table; False if it is not there."""
        entry = self._table.get(pattern)
        if entry is None or subscriber not in entry.subscribers:
            return False
        entry.remove(subscriber)
        if entry.subscribers:
            self._storage.changed(entry)
        else:
            del self._table[pattern]
            self._storage.remove(entry)
        return True

    # Links (STRAWMAN)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        """The paper's removeLinkTo: as if the neighbor had unsubscribed from everything."""
        self.forget(neighbor)
        for pattern in self.patterns_of(neighbor):
            self.remove_subscriber(neighbor, pattern)

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        """The paper's addLinkTo: the neighbor learns all that is wanted on this side."""
        self.tell(neighbor, *self.wanted_beside(neighbor))

    # What neighbors know

    def tell(self, neighbor: BrokerId, *patterns: Filter) -> None:
        """Send SUB(p), or what the policies say, for patterns that the neighbor does not know."""
        told = self.told[neighbor]
        new = patterns if self._literal else [p for p in patterns if p not in told]
        told.update(new)
        self._send(neighbor, self._policies.wanted(neighbor, new))

    def untell(self, neighbor: BrokerId, *patterns: Filter) -> None:
        """Send UNSUB(p), or what the policies say, for patterns that the neighbor was told."""
        told = self.told[neighbor]
        old = patterns if self._literal else [p for p in patterns if p in told]
        told.difference_update(old)
        self._send(neighbor, self._policies.unwanted(neighbor, old))

    def forget(self, neighbor: BrokerId) -> None:
        """Whatever a neighbor was told, it is gone."""
        self.told.pop(neighbor, None)
        self._policies.forget(neighbor)

    def _send(self, neighbor: BrokerId, change: Change) -> None:
        """What is new goes first, so that at no time less is told than is wanted."""
        for pattern in change.subscribe:
            self.world.send(neighbor, Subscribe(pattern))
        for pattern in change.unsubscribe:
            self.world.send(neighbor, Unsubscribe(pattern))

    # For tests and pictures

    def unsettled(self) -> int:
        """How much of what changes of the tree began here is not done yet."""
        return 0

    def routing_table(self) -> Mapping[Filter, frozenset[BrokerId]]:
        """The subscribers of each pattern; the broker's own id stands for its clients."""
        return {pattern: frozenset(entry.subscribers) for pattern, entry in self._table.items()}

    def stored(self) -> Iterator[tuple[TableEntry, Filter, Filter]]:
        """Each entry of the table: its pattern, and the form that stands for it in the index."""
        for pattern, entry in self._table.items():
            yield entry, pattern, self._storage.form(entry, pattern)

    def table_size(self) -> int:
        return len(self._table)
