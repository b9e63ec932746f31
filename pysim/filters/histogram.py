"""What share of an attribute's values a predicate holds for, before any event was counted for it.

It must not know events or filters, only one attribute's values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, TypeAlias

from pysim.filters.language import STRING_OPERATORS, Operator, Predicate
from pysim.filters.values import Kind, Range, Value, kind_of

_BINS = 64
_MOST_STRINGS = 1000

# For attributes of which nothing is known: the guesses of System R (Selinger et al., Access path
# selection, SIGMOD 1979), where it has any.
_GUESSES = {
    Operator.EQ: 1 / 10,
    Operator.NE: 9 / 10,
    Operator.LT: 1 / 3,
    Operator.LE: 1 / 3,
    Operator.GT: 1 / 3,
    Operator.GE: 1 / 3,
    Operator.IN: 1 / 4,
    Operator.PREFIX: 1 / 10,
    Operator.SUFFIX: 1 / 10,
    Operator.CONTAINS: 1 / 10,
    Operator.EXISTS: 1.0,
}


def guess(predicate: Predicate) -> float:
    """The share to expect for an attribute of which no value is known."""
    return _GUESSES[predicate.operator]


class Histogram:
    """The values of one attribute, by kind."""

    def __init__(self, values: Iterable[Value | None]) -> None:
        numbers: list[Any] = []
        strings: list[str] = []
        self._count = 0
        for value in values:
            self._count += 1
            kind = kind_of(value)
            if kind is Kind.NUMBER:
                numbers.append(value)
            elif isinstance(value, str):
                strings.append(value)
        self._numbers = _Numbers(numbers)
        self._strings = _Strings(strings)

    def share(self, predicate: Predicate) -> float:
        """The share of all values, missing ones counted, for which a predicate is expected to hold.

        An equality takes one of as many values as were seen, and none outside of their range; a
        comparison takes its share of the range. A string pattern takes the share of the strings
        seen, and not less than an equality.
        """
        if not self._count:
            return guess(predicate)
        if predicate.operator is Operator.EXISTS:
            return (self._numbers.count + self._strings.count) / self._count
        column = self._numbers if predicate.kind is Kind.NUMBER else self._strings
        if not column.count:
            return 0.0
        return _share(column, predicate) * column.count / self._count


_Cut: TypeAlias = tuple[Any, bool]
"""A place just below a value, or just above it."""


class _Numbers:
    """Bins of equal width over the range; within a bin, values are taken as spread evenly."""

    def __init__(self, values: list[Any]) -> None:
        self.count = len(values)
        self.distinct = len(set(values))
        finite = [float(value) for value in values if abs(value) < 1e300 and isfinite(value)]
        self.low, self.high = min(finite, default=0.0), max(finite, default=0.0)
        self._below = [0.0] * (_BINS + 1)  # the share below the start of each bin
        width = (self.high - self.low) / _BINS
        counts = [0] * _BINS
        for value in finite:
            counts[min(_BINS - 1, int((value - self.low) / width)) if width else 0] += 1
        for place, count in enumerate(counts):
            self._below[place + 1] = self._below[place] + count / max(1, len(finite))

    def below(self, cut: _Cut) -> float:
        value, _ = cut
        if value <= self.low:
            return 0.0
        if value >= self.high:
            return 1.0
        position = (float(value) - self.low) / (self.high - self.low) * _BINS
        place = min(_BINS - 1, int(position))
        start, end = self._below[place : place + 2]
        return start + (position - place) * (end - start)


class _Strings:
    """The distinct strings in order, evenly thinned out where there are many."""

    def __init__(self, values: list[str]) -> None:
        self.count = len(values)
        ordered = sorted(set(values))
        self.distinct = len(ordered)
        self.low, self.high = (ordered[0], ordered[-1]) if ordered else ("", "")
        step = max(1.0, self.distinct / _MOST_STRINGS)
        self._kept = [ordered[int(step * i)] for i in range(min(self.distinct, _MOST_STRINGS))]

    def below(self, cut: _Cut) -> float:
        value, is_above = cut
        return (bisect_right if is_above else bisect_left)(self._kept, value) / len(self._kept)

    def matching(self, test: Callable[[str], bool]) -> float:
        return sum(map(test, self._kept)) / len(self._kept)


_Column: TypeAlias = _Numbers | _Strings


def _share(column: _Column, predicate: Predicate) -> float:
    """The share of a column that has values; they are of the predicate's kind."""
    one = 1 / column.distinct
    if predicate.operator in STRING_OPERATORS:
        assert isinstance(column, _Strings)
        return max(
            one, column.matching(lambda text: predicate.matches({predicate.attribute: text}))
        )
    if predicate.operator in (Operator.EQ, Operator.NE):
        value: Any = predicate.value
        equal = one if column.low <= value <= column.high else 0.0
        return equal if predicate.operator is Operator.EQ else 1.0 - equal
    return _share_between(column, *_cuts(column, predicate))


def _cuts(column: _Column, predicate: Predicate) -> tuple[_Cut, _Cut]:
    """Where a comparison begins to hold and where it ends, within the column or beyond it."""
    operator, value = predicate.operator, predicate.value
    if isinstance(value, Range):
        return (value.low, not value.low_closed), (value.high, value.high_closed)
    if operator in (Operator.LT, Operator.LE):
        return (column.low, False), (value, operator is Operator.LE)
    return (value, operator is Operator.GT), (column.high, True)


def _share_between(column: _Column, start: _Cut, end: _Cut) -> float:
    """The share of the values between two cuts.

    Where there is room for a value it is not less than an equality's, and where a value of the
    range is left out not more than an inequality's: so what covers a comparison has no lower share.
    """
    first, last = (column.low, False), (column.high, True)
    if start >= last or end <= first:
        return 0.0
    if start <= first and end >= last:
        return 1.0
    one = 1 / column.distinct
    return min(max(column.below(end) - column.below(start), one), 1.0 - one)
