"""The PRT of popularity-based routing: entries of equal filters in one place, counted by side.

It must not know messages, nor what the counts are used for. Subscribers of one advertisement often
ask for the same; then a match is one lookup, however many they are.
"""

from collections.abc import Iterable, Iterator

from pysim.brokers.covering.tables import Advertisement, Entry
from pysim.filters import Filter, MatchingIndex, new_index
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId


class Side:
    """How many entries of a filter came from a neighbor, how far, and from which brokers."""

    __slots__ = ("count", "hops", "origins")

    def __init__(self) -> None:
        self.count = 0
        self.hops = 0
        self.origins: dict[BrokerId, int] = {}


class Interest:
    """All entries of one filter.

    Every publication asks for `audience` and `links`, and subscriptions seldom change them.
    """

    __slots__ = ("advertisements", "audience", "clients", "filter", "links", "sides")

    def __init__(self, filter: Filter, advertisements: Iterable[Advertisement]) -> None:
        self.filter = filter
        self.clients: dict[ClientId, None] = {}
        """Of this broker, in the order in which they came."""
        self.audience: tuple[ClientId, ...] = ()
        """The same, ascending."""
        self.sides: dict[BrokerId, Side] = {}
        self.links: tuple[BrokerId, ...] = ()
        """The neighbors that have one, ascending."""
        self.advertisements = list(advertisements)
        """All known ones that intersect it."""


class Interests:
    """All entries of a broker; `match` finds those that an event is for."""

    def __init__(self, own: BrokerId) -> None:
        self._own = own
        self._by_filter: dict[Filter, Interest] = {}
        self._index: MatchingIndex[Interest] = new_index()
        self.match = self._index.match

    def of(self, filter: Filter) -> Interest | None:
        return self._by_filter.get(filter)

    def open(self, filter: Filter, advertisements: Iterable[Advertisement]) -> Interest:
        """A new place for the entries of a filter, with the advertisements that intersect it."""
        interest = self._by_filter[filter] = Interest(filter, advertisements)
        self._index.insert(interest, filter)
        return interest

    def add(self, interest: Interest, entry: Entry) -> None:
        if entry.last_hop == self._own:
            interest.clients[entry.client] = None
            interest.audience = tuple(sorted(interest.clients))
            return
        side = interest.sides.get(entry.last_hop)
        if side is None:
            side = interest.sides[entry.last_hop] = Side()
            interest.links = tuple(sorted(interest.sides))
        side.count += 1
        side.hops += entry.hops
        side.origins[entry.id.origin] = side.origins.get(entry.id.origin, 0) + 1

    def remove(self, interest: Interest, entry: Entry) -> None:
        if entry.last_hop == self._own:
            del interest.clients[entry.client]
            interest.audience = tuple(sorted(interest.clients))
        else:
            self._leave_side(interest, entry)
        if not interest.clients and not interest.sides:
            del self._by_filter[interest.filter]
            self._index.remove(interest)

    def _leave_side(self, interest: Interest, entry: Entry) -> None:
        side = interest.sides[entry.last_hop]
        side.count -= 1
        side.hops -= entry.hops
        origin = entry.id.origin
        side.origins[origin] -= 1
        if not side.origins[origin]:
            del side.origins[origin]
        if not side.count:
            del interest.sides[entry.last_hop]
            interest.links = tuple(sorted(interest.sides))

    def __iter__(self) -> Iterator[Interest]:
        return iter(self._by_filter.values())

    def __len__(self) -> int:
        return len(self._by_filter)
