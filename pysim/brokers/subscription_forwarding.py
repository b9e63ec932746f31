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
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from typing import Annotated, ClassVar, cast

from pysim.brokers.base import Broker
from pysim.filters import Filter, MatchingIndex, new_index
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

    def __init__(self, world: World, *, literal: Literal = False) -> None:
        super().__init__(world)
        self._literal = literal
        self._table: dict[Filter, TableEntry] = {}
        """The paper's subTab: the subscribers of each pattern, self under its own id."""
        self._index: MatchingIndex[TableEntry] = new_index()
        self.forward: Callable[[BrokerId, Envelope], None] = world.send
        """How an event goes to a subscriber; a subclass may send it another way."""
        self.told: defaultdict[BrokerId, set[Filter]] = defaultdict(set)
        """What each neighbor was told that is wanted on this side."""

    # Events

    def publish(self, client: ClientId, event: Envelope) -> None:
        self._route(self.world.id, event)

    def _route(self, sender: BrokerId, event: Envelope) -> None:
        """The paper's eventReceived: to all matching subscribers but the one it came from."""
        message: Event = event.message  # type: ignore[assignment]  # the only type with a handler
        matching = self._index.match(message.attributes)
        receivers: Sequence[BrokerId]
        if len(matching) == 1:  # needs no union
            receivers = matching.pop().receivers
        else:
            receivers = sorted(set().union(*[entry.subscribers for entry in matching]))
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
            self._index.insert(entry, pattern)
        elif subscriber in entry.subscribers:
            return False
        entry.add(subscriber)
        return True

    def strike(self, subscriber: BrokerId, pattern: Filter) -> bool:
        """Take a subscriber out of the table; False if it is not there."""
        entry = self._table.get(pattern)
        if entry is None or subscriber not in entry.subscribers:
            return False
        entry.remove(subscriber)
        if not entry.subscribers:
            del self._table[pattern]
            self._index.remove(entry)
        return True

    # Links (STRAWMAN)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        """The paper's removeLinkTo: as if the neighbor had unsubscribed from everything."""
        self.told.pop(neighbor, None)
        for pattern in self.patterns_of(neighbor):
            self.remove_subscriber(neighbor, pattern)

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        """The paper's addLinkTo: the neighbor learns all that is wanted on this side."""
        for pattern in self.wanted_beside(neighbor):
            self.tell(neighbor, pattern)

    # What neighbors know

    def tell(self, neighbor: BrokerId, pattern: Filter) -> None:
        """Send SUB(p), unless the neighbor knows."""
        told = self.told[neighbor]
        if self._literal or pattern not in told:
            told.add(pattern)
            self.world.send(neighbor, Subscribe(pattern))

    def untell(self, neighbor: BrokerId, pattern: Filter) -> None:
        """Send UNSUB(p), unless the neighbor never heard of it."""
        told = self.told[neighbor]
        if self._literal or pattern in told:
            told.discard(pattern)
            self.world.send(neighbor, Unsubscribe(pattern))

    # For tests and pictures

    def unsettled(self) -> int:
        """How much of what changes of the tree began here is not done yet."""
        return 0

    def routing_table(self) -> Mapping[Filter, frozenset[BrokerId]]:
        """The subscribers of each pattern; the broker's own id stands for its clients."""
        return {pattern: frozenset(entry.subscribers) for pattern, entry in self._table.items()}

    def table_size(self) -> int:
        return len(self._table)
