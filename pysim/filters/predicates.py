"""Step one of matching: which of many distinct predicates does an event fulfil?

It must not know subscriptions: it keeps an entry of any type for each predicate and hands back the
entries of the fulfilled ones. Each index in here has one dimension: one operator on the values of
one kind of one attribute.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from pysim.filters.language import Operator, Predicate
from pysim.filters.values import Event, Kind, Range, kind_of

E = TypeVar("E")

# What most values are, told by their class alone; a float may be NaN and is looked at.
_PLAIN_KINDS: dict[type, Kind] = {str: Kind.STRING, int: Kind.NUMBER}
_NOTHING: dict[Operator, Any] = {}


class PredicateIndex(Generic[E]):
    """Entries under distinct predicates, found by the events that fulfil them."""

    def __init__(self) -> None:
        # What is empty is absent from both, so that what nobody asks for costs nothing.
        # attribute -> value -> entry: equality, the most frequent, needs no kind, since values of
        # different kinds are never equal to Python either.
        self._equal: dict[str, dict[Any, E]] = {}
        # kind -> attribute -> operator -> its values, for the other operators.
        self._dimensions: dict[Kind, dict[str, dict[Operator, _Dimension[E]]]] = {}

    def insert(self, predicate: Predicate, entry: E) -> None:
        """Add the entry of a predicate that is not yet in the index."""
        if predicate.operator is Operator.EQ:
            self._equal.setdefault(predicate.attribute, {})[predicate.value] = entry
            return
        for kind in _kinds(predicate):
            operators = self._dimensions.setdefault(kind, {}).setdefault(predicate.attribute, {})
            if predicate.operator not in operators:
                operators[predicate.operator] = _DIMENSIONS[predicate.operator]()
            operators[predicate.operator].insert(predicate.value, entry)

    def remove(self, predicate: Predicate) -> None:
        """Take out a predicate that is in the index."""
        attribute = predicate.attribute
        if predicate.operator is Operator.EQ:
            del self._equal[attribute][predicate.value]
            if not self._equal[attribute]:
                del self._equal[attribute]
            return
        for kind in _kinds(predicate):
            attributes = self._dimensions[kind]
            operators = attributes[attribute]
            operators[predicate.operator].remove(predicate.value)
            if not operators[predicate.operator]:
                del operators[predicate.operator]
            if not operators:
                del attributes[attribute]
            if not attributes:
                del self._dimensions[kind]

    def fulfilled(self, event: Event) -> list[E]:
        """The entries of the predicates that the event fulfils, each once."""
        entries: list[E] = []
        equal = self._equal
        dimensions = self._dimensions
        for attribute, value in event.items():
            kind = _PLAIN_KINDS.get(value.__class__) or kind_of(value)
            if kind is None:
                continue
            values = equal.get(attribute)
            if values is not None and value in values:
                entries.append(values[value])
            if kind in dimensions:
                for dimension in dimensions[kind].get(attribute, _NOTHING).values():
                    entries += dimension.find(value)
        return entries


class _Dimension(Protocol[E]):
    """The distinct values that one operator is asked for; `find` takes an event's value."""

    def insert(self, value: Any, entry: E) -> None: ...

    def remove(self, value: Any) -> None: ...

    def find(self, value: Any) -> Iterable[E]: ...

    def __bool__(self) -> bool: ...


class _Table(Generic[E]):
    """Operators that are answered from a table of their values."""

    def __init__(self) -> None:
        self._entries: dict[Any, E] = {}

    def insert(self, value: Any, entry: E) -> None:
        self._entries[value] = entry

    def remove(self, value: Any) -> None:
        del self._entries[value]

    def __bool__(self) -> bool:
        return bool(self._entries)


class _Unequal(_Table[E]):
    def find(self, value: Any) -> Iterable[E]:
        return [entry for other, entry in self._entries.items() if other != value]


class _Exists(_Table[E]):
    def find(self, value: Any) -> Iterable[E]:
        return self._entries.values()


class _Thresholds(Generic[E]):
    """Values in order, so that the fulfilled ones are all those before or after one place.

    `bisect` finds that place; the entries from it on are fulfilled if `upward`, else those before.
    """

    def __init__(self, bisect: Callable[[list[Any], Any], int], upward: bool) -> None:
        self._values: list[Any] = []
        self._entries: list[E] = []
        self._bisect = bisect
        self._upward = upward

    def insert(self, value: Any, entry: E) -> None:
        place = bisect_left(self._values, value)
        self._values.insert(place, value)
        self._entries.insert(place, entry)

    def remove(self, value: Any) -> None:
        place = bisect_left(self._values, value)
        del self._values[place], self._entries[place]

    def find(self, value: Any) -> Iterable[E]:
        place = self._bisect(self._values, value)
        return self._entries[place:] if self._upward else self._entries[:place]

    def __bool__(self) -> bool:
        return bool(self._values)


class _Ranges(Generic[E]):
    """Ranges in the order of their low ends, each with the highest end up to it.

    The ranges that begin at or below a value are walked downwards from the last one, until none
    before reaches up to the value. That is quick where ranges are of similar widths; one range that
    is much wider than the others makes it a walk over all that begin below.
    """

    def __init__(self) -> None:
        self._ranges: list[Range] = []
        self._entries: list[E] = []
        self._reach: list[Any] = []

    def insert(self, value: Range, entry: E) -> None:
        place = bisect_left(self._ranges, _range_order(value), key=_range_order)
        self._ranges.insert(place, value)
        self._entries.insert(place, entry)
        self._reach.insert(place, value.high)
        self._mend_reach(place)

    def remove(self, value: Range) -> None:
        place = bisect_left(self._ranges, _range_order(value), key=_range_order)
        del self._ranges[place], self._entries[place], self._reach[place]
        self._mend_reach(place)

    def find(self, value: Any) -> Iterator[E]:
        last = bisect_right(self._ranges, value, key=_low_end) - 1
        for place in range(last, -1, -1):
            if self._reach[place] < value:
                return
            if value in self._ranges[place]:
                yield self._entries[place]

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def _mend_reach(self, changed: int) -> None:
        """Bring the reaches up to date after a change at one place, as far as it has effect."""
        for place in range(changed, len(self._ranges)):
            high: Any = self._ranges[place].high
            reach = max(high, self._reach[place - 1]) if place else high
            if place > changed and self._reach[place] == reach:
                return
            self._reach[place] = reach


class _ByLength(Generic[E]):
    """Strings by their lengths, so that a text is asked only for its parts of those lengths."""

    def __init__(self) -> None:
        self._entries: dict[int, dict[str, E]] = {}

    def insert(self, value: str, entry: E) -> None:
        self._entries.setdefault(len(value), {})[value] = entry

    def remove(self, value: str) -> None:
        del self._entries[len(value)][value]
        if not self._entries[len(value)]:
            del self._entries[len(value)]

    def __bool__(self) -> bool:
        return bool(self._entries)


class _Prefixes(_ByLength[E]):
    def find(self, text: str) -> Iterator[E]:
        for length, entries in self._entries.items():
            start = text[:length]
            if start in entries:
                yield entries[start]


class _Suffixes(_ByLength[E]):
    def find(self, text: str) -> Iterator[E]:
        for length, entries in self._entries.items():
            end = text[max(0, len(text) - length) :]
            if end in entries:
                yield entries[end]


class _Substrings(_ByLength[E]):
    def find(self, text: str) -> Iterator[E]:
        for length, entries in self._entries.items():
            places = len(text) - length + 1
            if len(entries) < places:  # a long text, few patterns: look for each of them
                yield from (entry for part, entry in entries.items() if part in text)
            else:
                parts = {text[place : place + length] for place in range(places)}
                yield from (entries[part] for part in parts if part in entries)


_DIMENSIONS: dict[Operator, Callable[[], _Dimension[Any]]] = {
    Operator.NE: _Unequal,
    Operator.LT: lambda: _Thresholds(bisect_right, upward=True),
    Operator.LE: lambda: _Thresholds(bisect_left, upward=True),
    Operator.GT: lambda: _Thresholds(bisect_left, upward=False),
    Operator.GE: lambda: _Thresholds(bisect_right, upward=False),
    Operator.PREFIX: _Prefixes,
    Operator.SUFFIX: _Suffixes,
    Operator.CONTAINS: _Substrings,
    Operator.IN: _Ranges,
    Operator.EXISTS: _Exists,
}


def _kinds(predicate: Predicate) -> tuple[Kind, ...]:
    return tuple(Kind) if predicate.kind is None else (predicate.kind,)


def _low_end(bounds: Range) -> Any:
    return bounds.low


def _range_order(bounds: Range) -> tuple[Any, ...]:
    return (bounds.low, bounds.high, bounds.low_closed, bounds.high_closed)
