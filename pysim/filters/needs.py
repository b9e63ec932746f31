"""What an event must fulfil before a filter can match it: what the engines sort filters by.

It must not know any engine.
"""

from __future__ import annotations

from typing import TypeAlias

from pysim.filters.language import And, Filter, Not, Operator, Or, Predicate, canonical

_Option: TypeAlias = tuple[float, frozenset[Predicate]]
"""Predicates that would do as triggers, and how often one of them holds."""

# How often a predicate holds, relative to the most frequent equality: guesses, in the right order.
_FREQUENCY = {
    Operator.PREFIX: 4,
    Operator.SUFFIX: 4,
    Operator.CONTAINS: 4,
    Operator.IN: 4,
    Operator.LT: 16,
    Operator.LE: 16,
    Operator.GT: 16,
    Operator.GE: 16,
    Operator.NE: 32,
    Operator.EXISTS: 32,
}


def is_proven_by_count(filter: Filter) -> bool:
    """Whether the minimum count of a canonical filter leaves nothing to evaluate."""
    leaves = filter.children if isinstance(filter, (And, Or)) else (filter,)
    return all(isinstance(leaf, Predicate) for leaf in leaves)


def minimum_count(filter: Filter) -> tuple[frozenset[Predicate], int]:
    """The predicates of a canonical filter that are not negated, and how many it needs at least.

    Under an AND the children's needs add up as long as they share no predicate: what fulfils two
    children at once is one predicate, so the need of the second is left out of the sum.
    """
    if isinstance(filter, Predicate):
        return frozenset({filter}), 1
    if isinstance(filter, Not):
        return frozenset(), 0
    assert isinstance(filter, And | Or)
    needs = [minimum_count(child) for child in filter.children]
    predicates = frozenset[Predicate]().union(*(used for used, _ in needs))
    if isinstance(filter, Or):
        return predicates, min(minimum for _, minimum in needs)
    total, taken = 0, frozenset[Predicate]()
    for used, minimum in needs:
        if minimum and taken.isdisjoint(used):
            total, taken = total + minimum, taken | used
    return predicates, total


def minimum_of(filter: Filter) -> int:
    """How many predicates that are not negated an event fulfils at least if it matches."""
    met: list[Predicate] = []
    minimum = _sum_of_needs(filter, False, met)
    if len(set(met)) == len(met):
        return minimum
    return minimum_count(canonical(filter))[1]


def _sum_of_needs(filter: Filter, negated: bool, met: list[Predicate]) -> int:
    """The minimum if no predicate is there twice; adds those that were met on the way."""
    if isinstance(filter, Predicate):
        if not negated:
            met.append(filter)
        return not negated
    if isinstance(filter, Not):
        return _sum_of_needs(filter.child, not negated, met)
    assert isinstance(filter, And | Or)
    needs = [_sum_of_needs(child, negated, met) for child in filter.children]
    return min(needs) if isinstance(filter, And) is negated else sum(needs)


def triggers(filter: Filter) -> frozenset[Predicate]:
    """Predicates of which at least one holds in any event that matches; none if there are no such.

    One child's triggers suffice for an AND, so it takes those that hold least often.
    """
    option = _rarest(filter, False)
    return option[1] if option else frozenset()


def _rarest(filter: Filter, negated: bool) -> _Option | None:
    if isinstance(filter, Predicate):
        return None if negated else (_frequency(filter), frozenset((filter,)))
    if isinstance(filter, Not):
        return _rarest(filter.child, not negated)
    assert isinstance(filter, And | Or)
    if isinstance(filter, And) is negated:
        return _rarest_of_all(filter.children, negated)
    return _rarest_of_one(filter.children, negated)


def _rarest_of_one(children: tuple[Filter, ...], negated: bool) -> _Option | None:
    best: _Option | None = None
    for child in children:
        option = _rarest(child, negated)
        if option and (best is None or option[0] < best[0]):
            best = option
    return best


def _rarest_of_all(children: tuple[Filter, ...], negated: bool) -> _Option | None:
    frequency, predicates = 0.0, frozenset[Predicate]()
    for child in children:
        option = _rarest(child, negated)
        if option is None:
            return None
        frequency, predicates = frequency + option[0], predicates | option[1]
    return frequency, predicates


def _frequency(predicate: Predicate) -> float:
    """How often a predicate probably holds; of equalities, the longer the text the more rarely.

    A title is one of more than a category, and a category one of more than yes and no. To choose by
    that costs nothing, and is right far more often than the order in which conjuncts are written.
    """
    if predicate.operator is Operator.EQ:
        return 1 / len(str(predicate.value) + "=")
    return _FREQUENCY[predicate.operator]
