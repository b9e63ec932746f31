"""Predicate replacement: fewer distinct predicates, where one of them can stand for another.

It must not know brokers, nor how predicates are indexed.

All occurrences of a predicate are replaced by another one of the same table that covers it (Bittner
and Hinze on subscription tree pruning, Sec. 3.3). That generalizes a filter where the predicate is
not negated. A negated one would have to be replaced by one that it covers; it is left alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heapreplace
from typing import TypeAlias

from pysim.filters.covering import covers
from pysim.filters.language import And, Filter, Not, Operator, Or, Predicate, canonical
from pysim.filters.selectivity import SelectivityTable

Replacement: TypeAlias = Mapping[Predicate, Predicate]
"""For each predicate that is replaced, the one that stands for it; that one is not replaced."""

_MOST_CANDIDATES = 1000  # coverers that are looked at for one predicate, the most selective first


def plan(
    predicates: Iterable[Predicate], table: SelectivityTable, limit: float, share: float = 1.0
) -> Replacement:
    """Which predicates to replace, those first whose selectivity suffers least.

    A predicate is replaced by the most selective one that covers it and is not replaced itself. A
    replacement's degradation is the difference of the selectivities of what comes and of the most
    selective predicate that it comes to stand for, in one step or in several. The plan ends when
    every other replacement would have a degradation above `limit`, or when a `share` of the
    replaceable predicates is replaced.
    """
    return _Plan(predicates, table).carried_out(limit, share)


def replaced(filter: Filter, replacement: Replacement) -> Filter:
    """A canonical filter that has the replacements wherever a predicate is not negated."""
    return canonical(_replaced(filter, replacement, negated=False))


def predicates_of(filter: Filter) -> list[Predicate]:
    """The predicates of a filter, negated ones as well, each once in the order of its canon."""
    found: dict[Predicate, None] = {}
    stack = [canonical(filter)]
    while stack:
        node = stack.pop()
        if isinstance(node, Predicate):
            found[node] = None
        elif isinstance(node, Not):
            stack.append(node.child)
        else:
            assert isinstance(node, And | Or)
            stack += reversed(node.children)
    return list(found)


class _Plan:
    def __init__(self, predicates: Iterable[Predicate], table: SelectivityTable) -> None:
        known = sorted(set(predicates), key=str)
        self._share = {predicate: table.of(predicate) for predicate in known}
        # The least selectivity among all that a predicate stands for.
        self._lowest = dict(self._share)
        self._coverers: dict[str, list[Predicate]] = defaultdict(list)
        for predicate in sorted(known, key=lambda predicate: self._share[predicate]):
            if predicate.operator is not Operator.EQ:  # an equality covers at most its equals
                self._coverers[predicate.attribute].append(predicate)
        self._next = {predicate: self._first_place(predicate) for predicate in known}
        self._chosen: dict[Predicate, Predicate] = {}

    def carried_out(self, limit: float, share: float) -> Replacement:
        texts = {predicate: str(predicate) for predicate in self._share}
        heap = [
            (self._degradation(predicate, best), texts[predicate], predicate)
            for predicate in self._share
            if (best := self._best(predicate)) is not None
        ]
        most = share * len(heap)
        heapify(heap)
        while heap and len(self._chosen) < most:
            degradation, text, predicate = heap[0]
            best = self._best(predicate)
            if best is None:
                heappop(heap)
            elif (now := self._degradation(predicate, best)) > degradation:
                heapreplace(heap, (now, text, predicate))
            elif degradation > limit:
                break
            else:
                heappop(heap)
                self._chosen[predicate] = best
                self._lowest[best] = min(self._lowest[best], self._lowest[predicate])
        return {predicate: self._end(predicate) for predicate in self._chosen}

    def _best(self, predicate: Predicate) -> Predicate | None:
        """The most selective predicate that covers this one and is not replaced."""
        coverers = self._coverers[predicate.attribute]
        end = min(len(coverers), self._first_place(predicate) + _MOST_CANDIDATES)
        for place in range(self._next[predicate], end):
            other = coverers[place]
            # What is skipped is never looked at again: a replaced predicate stays replaced.
            self._next[predicate] = place
            if other is not predicate and other not in self._chosen and covers(other, predicate):
                return other
        self._next[predicate] = end
        return None

    def _first_place(self, predicate: Predicate) -> int:
        """The first coverer that is not more selective."""
        coverers = self._coverers[predicate.attribute]
        return bisect_left(coverers, self._share[predicate], key=self._share.__getitem__)

    def _degradation(self, predicate: Predicate, other: Predicate) -> float:
        return self._share[other] - self._lowest[predicate]

    def _end(self, predicate: Predicate) -> Predicate:
        while predicate in self._chosen:
            predicate = self._chosen[predicate]
        return predicate


def _replaced(filter: Filter, replacement: Replacement, negated: bool) -> Filter:
    if isinstance(filter, Predicate):
        return filter if negated else replacement.get(filter, filter)
    if isinstance(filter, Not):
        return Not(_replaced(filter.child, replacement, not negated))
    assert isinstance(filter, And | Or)
    children = tuple(_replaced(child, replacement, negated) for child in filter.children)
    return type(filter)(children)
