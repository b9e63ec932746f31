"""Things with filters, asked which of them intersect a filter: SRTs and PRTs are made of these.

It must not know what the things are, or messages.
"""

from collections.abc import Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from pysim.filters import And, Filter, Operator, Predicate, Value
from pysim.filters.covering import intersects


class Filtered(Protocol):
    """Anything with a filter; it is told apart by itself, not by its filter."""

    @property
    def filter(self) -> Filter: ...

    def __hash__(self) -> int: ...


T = TypeVar("T", bound=Filtered)


class FilterGroup(Generic[T]):
    """A group of things: equal filters are asked once, others found by the values they pin.

    Two conjunctions that pin one attribute to different values are disjoint, which spares asking
    about almost all where every process or symbol has filters of its own.
    """

    def __init__(self) -> None:
        self._members: dict[Filter, dict[T, None]] = {}
        self._pinned: dict[str, dict[Value, dict[Filter, None]]] = {}
        self._loose: dict[str, dict[Filter, None]] = {}
        """By each attribute that some filter pins, the filters that do not."""

    def all(self) -> list[T]:
        """Every member, in the order in which filters came first."""
        return [each for same in self._members.values() for each in same]

    def add(self, member: T) -> None:
        filter = member.filter
        if filter not in self._members:
            pins = _pins(filter)
            for attribute in [name for name in pins if name not in self._pinned]:
                self._pinned[attribute] = {}
                self._loose[attribute] = dict.fromkeys(self._members)
            for attribute, loose in self._loose.items():
                if attribute in pins:
                    loose = self._pinned[attribute].setdefault(pins[attribute], {})
                loose[filter] = None
            self._members[filter] = {}
        self._members[filter][member] = None

    def remove(self, member: T) -> None:
        filter = member.filter
        del self._members[filter][member]
        if self._members[filter]:
            return
        del self._members[filter]
        pins = _pins(filter)
        for attribute, loose in self._loose.items():
            if attribute in pins:
                loose = self._pinned[attribute][pins[attribute]]
            del loose[filter]

    def intersecting(self, filter: Filter) -> Iterator[T]:
        """The members that some event may match together with a filter."""
        for candidate in self._candidates(_pins(filter)):
            if intersects(candidate, filter):
                yield from self._members[candidate]

    def intersects(self, filter: Filter) -> bool:
        """Whether there is such a member."""
        return next(self.intersecting(filter), None) is not None

    def _candidates(self, pins: Mapping[str, Value]) -> list[Filter]:
        """The filters that may intersect one with these pins."""
        fewest = list(self._members)
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
