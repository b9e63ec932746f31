"""From values back to predicates: how a region of one attribute is written in the language.

It must not know where the region comes from.
"""

from __future__ import annotations

from typing import Any

from pysim.filters.language import Operator, Predicate
from pysim.filters.regions import ALL_NUMBERS, Region, pieces
from pysim.filters.values import FilterError, Range


def as_predicates(attribute: str, region: Region) -> list[Predicate] | None:
    """The fewest predicates whose OR holds exactly there; None if there are none for it.

    The language has no predicate for all numbers, and none for strings that are not Unicode.
    """
    if region.missing or region.patterns or (region.numbers and region.strings):
        return None
    hole = _hole(attribute, region)
    if hole is not None:
        return [hole]
    bound = _number_bound if region.numbers else _string_bound
    try:
        return [
            _predicate(attribute, bound(low), None if high is None else bound(high))
            for low, high in pieces(region.numbers or region.strings)
        ]
    except FilterError:
        return None


def _hole(attribute: str, region: Region) -> Predicate | None:
    """The `!=` that leaves exactly this region."""
    if len(region.numbers) == 3 and region.numbers[0] == ALL_NUMBERS[0]:
        below, above = region.numbers[1:]
        if below[0] == above[0]:
            return Predicate(attribute, Operator.NE, below[0])
    return None


def _number_bound(cut: Any) -> tuple[Any, bool]:
    """The value at a cut, and whether the cut lies above it."""
    value, above = cut
    return (None, False) if cut == ALL_NUMBERS[0] else (value, bool(above))


def _string_bound(cut: str) -> tuple[Any, bool]:
    return (cut[:-1], True) if cut.endswith("\0") else (cut, False)


def _predicate(attribute: str, low: tuple[Any, bool], high: tuple[Any, bool] | None) -> Predicate:
    start, after_start = low
    if high is None:
        if start is None:
            raise FilterError("Expected an interval with an end, found all numbers")
        return Predicate(attribute, Operator.GT if after_start else Operator.GE, start)
    end, after_end = high
    if start == end:
        return Predicate(attribute, Operator.EQ, start)
    if start is None or (start == "" and not after_start):
        return Predicate(attribute, Operator.LE if after_end else Operator.LT, end)
    return Predicate(attribute, Operator.IN, Range(start, end, not after_start, after_end))
