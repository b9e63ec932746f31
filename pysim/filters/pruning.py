"""Subscription tree pruning: filters made smaller and more general, one conjunct at a time.

It must not know brokers, nor when or how far a subscription is pruned.

After Bittner and Hinze, "Subscription Tree Pruning" (Sec. 3.4, 4.1 and 4.4). A step removes one
child, a leaf or a whole subtree, of an AND that has at least two; an AND may stand anywhere, also
below an OR. Removing a child of an OR, or the root, would lose matches. What is left is canonical.
All prunings of a filter are done when it has no AND any more.

A step's *selectivity degradation* is the largest of the three differences of the estimated
selectivities after and before it. Of several steps, the one with the least degradation comes first;
of equal ones that which removes more predicates, then the order of the predicates' texts decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import Generic, NamedTuple

from pysim.filters.index import DuplicateKeyError, K, UnknownKeyError
from pysim.filters.language import Filter, Not, Predicate
from pysim.filters.selectivity import (
    Selectivity,
    SelectivityTable,
    conjunction,
    disjunction,
)
from pysim.filters.shapes import Part, Shape, Shapes, joined, size, text

_MOST_PLANS = 65_536


class Pruning(NamedTuple):
    """A step: the filter after it, its selectivity degradation, the predicates that it removed."""

    filter: Filter
    degradation: float
    predicates: int


class Variant(Enum):
    """What happens to a step whose degradation may have changed since it was queued (Sec. 4.4)."""

    ALWAYS = "a"  # it is performed as it was queued
    IF_LEAST = "b"  # the best step of now is performed, if it still comes before all others
    WITHIN = "c"  # the best step of now is performed, if its degradation is not too far off


def prunings(filter: Filter) -> Iterator[Filter]:
    """What each valid single step makes of a filter."""
    shapes = Shapes()
    shape, leaves = shapes.split(filter)
    for pruned_shape in shapes.prunings(shape):
        yield joined(pruned_shape, leaves)


def best(filter: Filter, table: SelectivityTable) -> Pruning | None:
    """The step with the least degradation; None if there is no AND."""
    return next(_greedy(filter, table), None)


def sequence(filter: Filter, table: SelectivityTable) -> list[Pruning]:
    """The best step, then the best of what it left, and so on until no AND is left."""
    return list(_greedy(filter, table))


def pruned(filter: Filter, table: SelectivityTable, limit: float) -> Filter:
    """A filter after its best steps, up to the first whose degradation exceeds a limit."""
    for step in _greedy(filter, table):
        if step.degradation > limit:
            break
        filter = step.filter
    return filter


class PruningQueue(Generic[K]):
    """The paper's selectivity queue: the best steps of many subscriptions, the harmless ones first.

    Keys have an order; of steps that are equal otherwise, that of the lower key comes first. Unlike
    in the paper, all steps of a subscription are planned at once, which is cheaper; what is left of
    them is planned anew when selectivities have changed by the time that one is performed.
    """

    def __init__(
        self,
        table: SelectivityTable,
        variant: Variant = Variant.ALWAYS,
        extent: float = 0.0,
    ) -> None:
        self._table = table
        self._variant = variant
        self._extent = extent  # how far off a degradation may be, for WITHIN
        self._shapes = Shapes()
        self._planned: dict[K, _Planned] = {}
        self._heap: list[tuple[float, int, K, int]] = []
        self._stamp = 0
        self._steps_left = 0
        # Subscriptions with equal selectivities in one shape are common, and share their plan.
        self._plan = lru_cache(_MOST_PLANS)(self._new_plan)

    @property
    def steps_left(self) -> int:
        """Steps until no AND is left in any subscription, as planned at the moment."""
        return self._steps_left

    def add(self, key: K, filter: Filter) -> None:
        """Queue the steps of a filter; `DuplicateKeyError` if the key is in use."""
        if key in self._planned:
            raise DuplicateKeyError(key)
        planned = self._planned[key] = _Planned(*self._shapes.split(filter))
        self._renew(planned)
        self._push(key, planned)

    def remove(self, key: K) -> None:
        """Forget a filter and its steps; `UnknownKeyError` if there is none."""
        if key not in self._planned:
            raise UnknownKeyError(key)
        self._steps_left -= self._planned.pop(key).steps_left
        if len(self._heap) > 2 * len(self._planned) + 16:
            self._heap = [entry for entry in self._heap if self._is_current(entry)]
            heapify(self._heap)

    def filter(self, key: K) -> Filter:
        """What is left of the filter under a key."""
        planned = self._planned[key]
        return joined(planned.shape, planned.leaves)

    def prune(self) -> tuple[K, Pruning] | None:
        """Perform the step that comes first; None if there is none left."""
        while self._discard_outdated():
            degradation, _, key, _ = heappop(self._heap)
            planned = self._planned[key]
            if self._variant is not Variant.ALWAYS and planned.version != self._table.version:
                self._renew(planned)
                if not self._is_still_good(key, planned, degradation):
                    self._push(key, planned)
                    continue
            return key, self._perform(key, planned)
        return None

    def __len__(self) -> int:
        return len(self._planned)

    def __contains__(self, key: object) -> bool:
        return key in self._planned

    def _perform(self, key: K, planned: _Planned) -> Pruning:
        step = planned.steps[planned.done]
        planned.done += 1
        planned.shape = step.shape
        self._steps_left -= 1
        if planned.version != self._table.version:
            self._renew(planned)
        self._push(key, planned)
        return Pruning(joined(step.shape, planned.leaves), step.degradation, step.predicates)

    def _renew(self, planned: _Planned) -> None:
        """Plan a subscription's steps with the selectivities of now."""
        self._steps_left -= planned.steps_left
        planned.version = self._table.version
        planned.steps = self._plan(planned.shape, _selectivities(planned.leaves, self._table))
        planned.done = 0
        self._steps_left += planned.steps_left

    def _new_plan(self, shape: Part, selectivities: tuple[float, ...]) -> tuple[_Step, ...]:
        return tuple(_steps(self._shapes, shape, selectivities))

    def _push(self, key: K, planned: _Planned) -> None:
        if planned.steps_left:
            step = planned.steps[planned.done]
            self._stamp += 1
            planned.stamp = self._stamp
            heappush(self._heap, (step.degradation, -step.predicates, key, planned.stamp))

    def _is_still_good(self, key: K, planned: _Planned, before: float) -> bool:
        step = planned.steps[0]
        if self._variant is Variant.WITHIN:
            return abs(step.degradation - before) <= self._extent
        is_last = not self._discard_outdated()
        return is_last or (step.degradation, -step.predicates, key) < self._heap[0][:3]

    def _discard_outdated(self) -> bool:
        """Drop what stands for removed subscriptions from the top; whether anything is left."""
        while self._heap and not self._is_current(self._heap[0]):
            heappop(self._heap)
        return bool(self._heap)

    def _is_current(self, entry: tuple[float, int, K, int]) -> bool:
        planned = self._planned.get(entry[2])
        return planned is not None and planned.stamp == entry[3]


class _Step(NamedTuple):
    degradation: float
    predicates: int
    shape: Part


class _Planned:
    """A subscription in the queue."""

    __slots__ = ("done", "leaves", "shape", "stamp", "steps", "version")

    def __init__(self, shape: Part, leaves: tuple[Filter, ...]) -> None:
        self.shape = shape
        self.leaves = leaves
        self.steps: tuple[_Step, ...] = ()
        self.done = 0  # how many of the steps were performed
        self.version: object = None  # of the selectivities by which they were planned
        self.stamp = 0  # tells its entry in the heap from older ones

    @property
    def steps_left(self) -> int:
        return len(self.steps) - self.done


def _greedy(filter: Filter, table: SelectivityTable) -> Iterator[Pruning]:
    shapes = Shapes()
    shape, leaves = shapes.split(filter)
    for step in _steps(shapes, shape, _selectivities(leaves, table)):
        yield Pruning(joined(step.shape, leaves), step.degradation, step.predicates)


def _selectivities(leaves: tuple[Filter, ...], table: SelectivityTable) -> tuple[float, ...]:
    return tuple([_of_leaf(leaf, table) for leaf in leaves])


def _of_leaf(leaf: Filter, table: SelectivityTable) -> float:
    if isinstance(leaf, Predicate):
        return table.of(leaf)
    assert isinstance(leaf, Not)
    assert isinstance(leaf.child, Predicate)
    return 1.0 - table.of(leaf.child)


def _steps(shapes: Shapes, shape: Part, selectivities: tuple[float, ...]) -> Iterator[_Step]:
    # Prunings share most of their subtrees with each other and with later ones.
    known: dict[Part, Selectivity] = {
        leaf: Selectivity(share, share, share) for leaf, share in enumerate(selectivities)
    }
    step = _best(shapes, shape, known)
    while step is not None:
        yield step
        step = _best(shapes, step.shape, known)


def _best(shapes: Shapes, shape: Part, known: dict[Part, Selectivity]) -> _Step | None:
    before = _estimate(shape, known)
    found: _Step | None = None
    for result in shapes.prunings(shape):
        after = _estimate(result, known)
        degradation = max(
            after[0] - before[0],
            after[1] - before[1],
            after[2] - before[2],
            0.0,  # where rounding errors are all there is
        )
        if found is not None and degradation > found.degradation:
            continue
        step = _Step(degradation, size(shape) - size(result), result)
        if found is None or _order(step) < _order(found):
            found = step
    return found


def _order(step: _Step) -> tuple[float, int, str]:
    return step.degradation, -step.predicates, text(step.shape)


def _estimate(part: Part, known: dict[Part, Selectivity]) -> Selectivity:
    found = known.get(part)
    if found is None:
        assert isinstance(part, Shape)
        parts = [_estimate(child, known) for child in part.children]
        found = known[part] = conjunction(parts) if part.is_and else disjunction(parts)
    return found
