"""The two routing tables of advertisement-based routing: SRT and PRT, with their last hops.

They must not know messages, neighbors beyond their names, or what covering is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from pysim.filters import And, Event, Filter, MatchingIndex, Operator, Predicate, Value, new_index
from pysim.filters.covering import intersects
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId
from pysim.wire import MessageId


class Advertisement:
    """An advertisement, the sides that it is known from, and the neighbors that were told of it.

    On a tree at rest there is one side; while links are replaced there may be two for a while.
    """

    __slots__ = ("filter", "hops", "id", "told")

    def __init__(self, id: MessageId, filter: Filter) -> None:
        self.id = id
        self.filter = filter
        self.hops: list[BrokerId] = []
        """Where it came from; the broker's own id stands for its clients."""
        self.told: set[BrokerId] = set()


class Entry:
    """A subscription as it came from one side: a line of the PRT.

    The matching index and the relation graphs name it by itself, so that a match tells at once
    where to go.
    """

    __slots__ = ("client", "filter", "fwd", "hops", "id", "last_hop", "live", "window")

    def __init__(
        self,
        id: MessageId,
        filter: Filter,
        last_hop: BrokerId,
        client: ClientId = 0,
        hops: int = 0,
    ) -> None:
        self.id = id
        self.filter = filter
        self.last_hop = last_hop
        """The neighbor that sent it, or the broker itself for one of its clients."""
        self.client = client
        self.hops = hops
        """How far away its client's broker is, where a protocol counts that."""
        self.fwd: tuple[BrokerId, ...] = ()
        """The neighbors that it was sent to and that hold it; a tuple, as there are many entries
        and few neighbors."""
        self.live = True
        """False for an orphan: it routes nothing, and only stands for what it quenches."""
        self.window: deque[tuple[float, Advertisement, int]] | None = None
        """Of a local client's entry, where statistics are kept: time, advertisement, distance."""


class Subscriptions:
    """The PRT: entries by the id of the subscription and the side it came from.

    The same subscription has entries for two sides only while links are replaced.
    """

    def __init__(self) -> None:
        self._by_id: dict[MessageId, tuple[Entry, ...]] = {}
        self._size = 0

    def add(self, entry: Entry) -> None:
        self._by_id[entry.id] = (*self._by_id.get(entry.id, ()), entry)
        self._size += 1

    def remove(self, entry: Entry) -> None:
        others = tuple(other for other in self._by_id[entry.id] if other is not entry)
        if others:
            self._by_id[entry.id] = others
        else:
            del self._by_id[entry.id]
        self._size -= 1

    def find(self, id: MessageId, last_hop: BrokerId) -> Entry | None:
        """The entry of a subscription that came from that side."""
        for entry in self._by_id.get(id, ()):
            if entry.last_hop == last_hop:
                return entry
        return None

    def all_of(self, id: MessageId) -> tuple[Entry, ...]:
        """The entries of a subscription, whichever side they came from."""
        return self._by_id.get(id, ())

    def is_told(self, id: MessageId, neighbor: BrokerId) -> bool:
        """Whether a neighbor holds a subscription of this id, by whichever entry."""
        return any(neighbor in entry.fwd for entry in self._by_id.get(id, ()))

    def __iter__(self) -> Iterator[Entry]:
        """All entries, in the order in which their subscriptions came."""
        for entries in self._by_id.values():
            yield from entries

    def __len__(self) -> int:
        return self._size


class Advertisements:
    """The SRT: advertisements by id, and by the side they came from."""

    def __init__(self, own: BrokerId) -> None:
        self._own = own
        self._by_id: dict[MessageId, Advertisement] = {}
        self._sides: dict[BrokerId, _Side] = {}
        self._local: MatchingIndex[Advertisement] = new_index()

    def learn(self, id: MessageId, filter: Filter, hop: BrokerId) -> Advertisement | None:
        """An advertisement came from a side; None if it is known from there."""
        known = self._by_id.get(id)
        if known is None:
            known = self._by_id[id] = Advertisement(id, filter)
        elif hop in known.hops:
            return None
        known.hops.append(hop)
        self._sides.setdefault(hop, _Side()).add(known)
        if hop == self._own:
            self._local.insert(known, known.filter)
        return known

    def unlearn(self, id: MessageId, hop: BrokerId) -> Advertisement | None:
        """It comes from a side no longer; None if it never did."""
        known = self._by_id.get(id)
        if known is None or hop not in known.hops:
            return None
        known.hops.remove(hop)
        self._sides[hop].remove(known)
        if hop == self._own:
            self._local.remove(known)
        if not known.hops:
            del self._by_id[id]
        return known

    def get(self, id: MessageId) -> Advertisement | None:
        return self._by_id.get(id)

    def side(self, hop: BrokerId) -> list[Advertisement]:
        """What came from a side, in the order in which filters came first."""
        return self._sides[hop].all() if hop in self._sides else []

    def is_wanted(self, hop: BrokerId, filter: Filter) -> bool:
        """Whether an advertisement from that side intersects a subscription."""
        side = self._sides.get(hop)
        return side is not None and next(side.intersecting(filter), None) is not None

    def intersecting(self, hop: BrokerId, filter: Filter) -> list[Advertisement]:
        """The advertisements from a side that intersect a subscription."""
        return list(self._sides[hop].intersecting(filter)) if hop in self._sides else []

    def all_intersecting(self, filter: Filter) -> list[Advertisement]:
        """The advertisements from any side that intersect a subscription."""
        found = (each for side in self._sides.values() for each in side.intersecting(filter))
        return list(dict.fromkeys(found))

    def announcing(self, event: Event) -> Advertisement | None:
        """The first advertisement of a local client that an event belongs to."""
        return min(self._local.match(event), key=lambda found: found.id, default=None)

    def __iter__(self) -> Iterator[Advertisement]:
        return iter(self._by_id.values())


class _Side:
    """What came from one side: filters, found by the values that they pin attributes to.

    Two conjunctions that pin one attribute to different values are disjoint, which spares asking
    about almost all where every process or symbol has advertisements of its own.
    """

    def __init__(self) -> None:
        self._advertisements: dict[Filter, dict[Advertisement, None]] = {}
        self._pinned: dict[str, dict[Value, dict[Filter, None]]] = {}
        self._loose: dict[str, dict[Filter, None]] = {}
        """By each attribute that some filter pins, the filters that do not."""

    def all(self) -> list[Advertisement]:
        return [each for same in self._advertisements.values() for each in same]

    def add(self, advertisement: Advertisement) -> None:
        filter = advertisement.filter
        if filter not in self._advertisements:
            pins = _pins(filter)
            for attribute in [name for name in pins if name not in self._pinned]:
                self._pinned[attribute] = {}
                self._loose[attribute] = dict.fromkeys(self._advertisements)
            for attribute, loose in self._loose.items():
                if attribute in pins:
                    loose = self._pinned[attribute].setdefault(pins[attribute], {})
                loose[filter] = None
            self._advertisements[filter] = {}
        self._advertisements[filter][advertisement] = None

    def remove(self, advertisement: Advertisement) -> None:
        filter = advertisement.filter
        del self._advertisements[filter][advertisement]
        if self._advertisements[filter]:
            return
        del self._advertisements[filter]
        pins = _pins(filter)
        for attribute, loose in self._loose.items():
            if attribute in pins:
                loose = self._pinned[attribute][pins[attribute]]
            del loose[filter]

    def intersecting(self, filter: Filter) -> Iterator[Advertisement]:
        for candidate in self._candidates(_pins(filter)):
            if intersects(candidate, filter):
                yield from self._advertisements[candidate]

    def _candidates(self, pins: Mapping[str, Value]) -> list[Filter]:
        """The filters that may intersect one with these pins."""
        fewest = list(self._advertisements)
        for attribute, value in pins.items():
            if attribute in self._pinned:
                same = self._pinned[attribute].get(value, {})
                loose = self._loose[attribute]
                if len(same) + len(loose) < len(fewest):
                    fewest = [*same, *loose]
        return fewest


def _pins(filter: Filter) -> dict[str, Value]:
    """The attributes that a conjunction asks to equal a value."""
    parts = filter.children if isinstance(filter, And) else (filter,)
    return {
        part.attribute: part.value  # type: ignore[misc]  # neither a range nor None if EQ asks
        for part in parts
        if isinstance(part, Predicate) and part.operator is Operator.EQ
    }
