"""How a filter is told to a native engine: as a list of leaves, which are its predicates.

It must not know any engine. Each leaf says where to go on if it is fulfilled and where if not: to
another leaf, or to an end. A range is two leaves, its ends. The leaf that is asked first is the
last in the list.
"""

from __future__ import annotations

from operator import attrgetter
from sys import intern
from typing import TypeAlias

from pysim.filters.language import And, Filter, Not, Operator, Or, Predicate
from pysim.filters.values import Range, Value

Leaf: TypeAlias = tuple[str, int, Value | None, int, int, bool]
"""Attribute, operator, value, next leaf if fulfilled, next if not, whether it leads to the filter.
"""

ACCEPT, REJECT = -1, -2

_CODES = {
    Operator.EQ: 0,
    Operator.NE: 1,
    Operator.LT: 2,
    Operator.LE: 3,
    Operator.GT: 4,
    Operator.GE: 5,
    Operator.PREFIX: 6,
    Operator.SUFFIX: 7,
    Operator.CONTAINS: 8,
    Operator.EXISTS: 9,
}
_LOW_CLOSED, _LOW_OPEN = 10, 11

_depth = attrgetter("depth")


class Program:
    """The leaves of a filter, the shallower parts first, which are the cheaper ones to evaluate.

    `decided` says whether any leaf that leads to the filter makes it match.
    """

    __slots__ = ("_leading", "decided", "leaves")

    def __init__(self, filter: Filter, leading: frozenset[Predicate] | None = None) -> None:
        """Leaves lead to the filter if they are not negated; if told, only one of each of these."""
        self.leaves: list[Leaf] = []
        self.decided = True
        self._leading = None if leading is None else set(leading)
        self._add(filter, False, ACCEPT, REJECT)

    def _add(self, filter: Filter, negated: bool, on_true: int, on_false: int) -> int:
        """Add a filter that goes on to these leaves; the number of its own first leaf."""
        if isinstance(filter, Predicate):
            return self._add_predicate(filter, negated, on_true, on_false)
        if isinstance(filter, Not):
            return self._add(filter.child, not negated, on_false, on_true)
        assert isinstance(filter, And | Or)
        children = sorted(filter.children, key=_depth)
        for child in reversed(children):
            if isinstance(filter, And):
                on_true = self._add(child, negated, on_true, on_false)
            else:
                on_false = self._add(child, negated, on_true, on_false)
        return on_true if isinstance(filter, And) else on_false

    def _add_predicate(
        self, predicate: Predicate, negated: bool, on_true: int, on_false: int
    ) -> int:
        # One string for all filters of all engines is more likely in the processor's cache.
        name, value = intern(predicate.attribute), predicate.value
        if isinstance(value, str):
            value = intern(value)
        leads = self._leads(predicate, negated)
        if not leads or on_true != ACCEPT:
            self.decided = False
        if isinstance(value, Range):
            end = _CODES[Operator.LE if value.high_closed else Operator.LT]
            self.leaves.append((name, end, value.high, on_true, on_false, False))
            on_true = len(self.leaves) - 1
            code, value = _LOW_CLOSED if value.low_closed else _LOW_OPEN, value.low
        else:
            code = _CODES[predicate.operator]
        self.leaves.append((name, code, value, on_true, on_false, leads))
        return len(self.leaves) - 1

    def _leads(self, predicate: Predicate, negated: bool) -> bool:
        if self._leading is None or negated:
            return not negated
        leads = predicate in self._leading
        self._leading.discard(predicate)  # one of several equal leaves is enough
        return leads
