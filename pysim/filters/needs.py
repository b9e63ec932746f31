"""What an event must fulfil before a filter can match it: what the engines sort filters by.

It must not know any engine. All filters in here are canonical.
"""

from __future__ import annotations

from pysim.filters.language import And, Filter, Not, Operator, Or, Predicate

# How often a predicate holds, relative to an equality: guesses, but in the right order.
_FREQUENCY = {
    Operator.EQ: 1,
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


def triggers(filter: Filter) -> frozenset[Predicate]:
    """Predicates of which at least one holds in any event that matches; none if there are no such.

    One child's triggers suffice for an AND, so it takes those that hold least often.
    """
    if isinstance(filter, Predicate):
        return frozenset({filter})
    if isinstance(filter, Not):
        return frozenset()
    assert isinstance(filter, And | Or)
    options = [triggers(child) for child in filter.children]
    if isinstance(filter, Or):
        return frozenset[Predicate]().union(*options) if all(options) else frozenset()
    return min((option for option in options if option), key=_frequency, default=frozenset())


def _frequency(triggers: frozenset[Predicate]) -> int:
    return sum(_FREQUENCY[trigger.operator] for trigger in triggers)
