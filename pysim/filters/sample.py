"""Counts in a sample of events how many fulfil a predicate: how selectivities become known.

Bittner and Hinze count the hits of each predicate while events are filtered (Sec. 4.1). To keep the
values of the events and count when asked gives the same numbers, needs no table of all predicates
and also tells them for predicates that came later. It must not know who asks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence

from pysim.filters.language import Operator, Predicate
from pysim.filters.values import Event, Kind, Range, Value, kind_of


class EventSample:
    """The first `most` of the events that it is shown."""

    def __init__(self, most: int) -> None:
        self.events = 0
        self._most = most
        self._columns: dict[str, dict[Kind, _Column]] = {}

    def observe(self, event: Event) -> None:
        """See an event; beyond the first `most` this is no change."""
        if self.events == self._most:
            return
        self.events += 1
        for attribute, value in event.items():
            kind = kind_of(value)
            if kind is not None:
                column = self._columns.setdefault(attribute, {}).setdefault(kind, _Column())
                column.add(value)

    def attributes(self) -> Sequence[str]:
        """The attributes that any event had, in the order in which they were seen."""
        return list(self._columns)

    def values(self, attribute: str) -> list[Value]:
        """All values that an attribute had, as often as it had them."""
        return [v for column in self._columns.get(attribute, {}).values() for v in column.values]

    def fulfilled(self, predicate: Predicate) -> int:
        """How many of the events fulfil a predicate."""
        columns = self._columns.get(predicate.attribute, {})
        if predicate.kind is None:
            return sum(len(column.values) for column in columns.values())
        column = columns.get(predicate.kind)
        return 0 if column is None else column.fulfilled(predicate)


class _Column:
    """The values of one attribute that are of one kind."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._ordered: list[Value] = []
        self._counts: Counter[Value] = Counter()

    def add(self, value: Value) -> None:
        self.values.append(value)

    def fulfilled(self, predicate: Predicate) -> int:
        self._arrange()
        value = predicate.value
        if isinstance(value, Range):
            low = (bisect_left if value.low_closed else bisect_right)(self._ordered, value.low)
            high = (bisect_right if value.high_closed else bisect_left)(self._ordered, value.high)
            return max(0, high - low)
        assert value is not None
        return _COUNTS[predicate.operator](self, value)

    def _arrange(self) -> None:
        """Put in order what came since it was last asked for."""
        if len(self._ordered) != len(self.values):
            self._ordered = sorted(self.values)
            self._counts = Counter(self.values)

    def _below(self, value: Value) -> int:
        return bisect_left(self._ordered, value)

    def _up_to(self, value: Value) -> int:
        return bisect_right(self._ordered, value)

    def _texts(self, test: Callable[[str, str], bool], part: Value) -> int:
        return sum(n for text, n in self._counts.items() if test(str(text), str(part)))


_COUNTS: dict[Operator, Callable[[_Column, Value], int]] = {
    Operator.EQ: lambda column, value: column._counts[value],
    Operator.NE: lambda column, value: len(column.values) - column._counts[value],
    Operator.LT: lambda column, value: column._below(value),
    Operator.LE: lambda column, value: column._up_to(value),
    Operator.GT: lambda column, value: len(column.values) - column._up_to(value),
    Operator.GE: lambda column, value: len(column.values) - column._below(value),
    Operator.PREFIX: lambda column, value: column._texts(str.startswith, value),
    Operator.SUFFIX: lambda column, value: column._texts(str.endswith, value),
    Operator.CONTAINS: lambda column, value: column._texts(str.__contains__, value),
}
