"""The native engine: how a filter is told to it. How it works is told in `ns3-app/filters/`.

A filter becomes a list of leaves, which are its predicates. Each says where to go on if it is
fulfilled and where if not: to another leaf, or to an end. A range is two leaves, its ends. The leaf
that is asked first is the last in the list.
"""

from __future__ import annotations

from functools import lru_cache
from sys import intern
from typing import TypeAlias

from pysim.filters._engine import Engine
from pysim.filters.index import K
from pysim.filters.language import And, Filter, Not, Operator, Or, Predicate, canonical
from pysim.filters.needs import is_proven_by_count, triggers
from pysim.filters.values import Range, Value

Leaf: TypeAlias = tuple[str, int, Value | None, int, int, bool]
"""Attribute, operator, value, next leaf if fulfilled, next leaf if not, whether it is a trigger."""

_ACCEPT, _REJECT = -1, -2

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

_MOST_COMPILED = 4096


class NativeIndex(Engine[K]):
    """A `MatchingIndex` for any number of filters; `match` is native from its call to its end."""

    __slots__ = ()

    def insert(self, key: K, filter: Filter) -> None:
        self.enter(key, *_compiled(filter))


@lru_cache(_MOST_COMPILED)
def _compiled(filter: Filter) -> tuple[list[Leaf], bool]:
    """The leaves, and whether any trigger decides: most filters come to every broker of a run."""
    filter = canonical(filter)
    decided = is_proven_by_count(filter) and not isinstance(filter, And)
    return _Program(filter).leaves, decided


class _Program:
    """The leaves of a canonical filter."""

    def __init__(self, filter: Filter) -> None:
        self.leaves: list[Leaf] = []
        self._triggers = set(triggers(filter))
        self._add(filter, _ACCEPT, _REJECT)

    def _add(self, filter: Filter, on_true: int, on_false: int) -> int:
        """Add a filter that goes on to these leaves; the number of its own first leaf."""
        if isinstance(filter, Predicate):
            return self._add_predicate(filter, on_true, on_false)
        if isinstance(filter, Not):
            return self._add(filter.child, on_false, on_true)
        assert isinstance(filter, And | Or)
        for child in reversed(filter.children):
            if isinstance(filter, And):
                on_true = self._add(child, on_true, on_false)
            else:
                on_false = self._add(child, on_true, on_false)
        return on_true if isinstance(filter, And) else on_false

    def _add_predicate(self, predicate: Predicate, on_true: int, on_false: int) -> int:
        # One string for all filters of all engines is more likely in the processor's cache.
        name, value = intern(predicate.attribute), predicate.value
        if isinstance(value, str):
            value = intern(value)
        trigger = predicate in self._triggers
        self._triggers.discard(predicate)  # one of several equal leaves is enough
        if isinstance(value, Range):
            end = _CODES[Operator.LE if value.high_closed else Operator.LT]
            self.leaves.append((name, end, value.high, on_true, on_false, False))
            on_true = len(self.leaves) - 1
            code, value = _LOW_CLOSED if value.low_closed else _LOW_OPEN, value.low
        else:
            code = _CODES[predicate.operator]
        self.leaves.append((name, code, value, on_true, on_false, trigger))
        return len(self.leaves) - 1
