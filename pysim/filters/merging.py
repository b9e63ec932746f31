"""One filter in place of several: perfect and imperfect mergers of subscriptions.

It must not know brokers, nor when mergers are made, told or withdrawn.

A merger of some subscriptions matches all events that any of them matches; a perfect one matches no
others (Bittner and Hinze on subscription tree pruning, Sec. 3.2). The perfect merger is their OR,
made smaller where that is easy: what another member covers is dropped, ranges that touch or overlap
become one, and common conjuncts are written once. The imperfect merger is a perfect one with some
of its prunings done (Sec. 4.5).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias

from pysim.filters.covering import covers
from pysim.filters.language import MAX_DEPTH, And, Filter, Operator, Or, Predicate, canonical
from pysim.filters.pruning import pruned
from pysim.filters.ranges import as_predicates
from pysim.filters.regions import Region, both, either, inside
from pysim.filters.selectivity import SelectivityTable
from pysim.filters.values import FilterError, Kind

MOST_MEMBERS = 16
"""Filters of one group: comparing all with all stays cheap, and one change renews little."""

_DEEPEST_FACTORING = 10
_DEEPEST_MEMBER = MAX_DEPTH // 2

Member: TypeAlias = frozenset[Filter]
"""A filter as the set of its conjuncts."""


def perfect_merger(filters: Sequence[Filter]) -> Filter:
    """A canonical filter that matches exactly what at least one of the filters matches.

    It depends on the set of filters only, not on their order. Its cost grows with their square.
    """
    if not filters:
        raise FilterError("Expected at least one filter to merge, found none")
    members = {_conjuncts(filter) for filter in _uncovered(filters)}
    return canonical(_factored(_joined(members), 0))


def imperfect_merger(filters: Sequence[Filter], table: SelectivityTable, limit: float) -> Filter:
    """The perfect merger after its best prunings, up to the first that degrades more than this."""
    return pruned(perfect_merger(filters), table, limit)


def group_of(filter: Filter) -> Hashable:
    """The equality conjuncts of a filter, by which it is merged with others that have the same.

    An OR of equalities of one attribute is such a conjunct too: `title = "Emma" or title = "Eros"`.
    They are the most selective conjuncts, so filters that share them match similar events, and
    their merger states them once. All of them count, because no filter by itself tells which one
    is the most selective. A filter without any, or a very deep one, is merged with no other.
    """
    filter = canonical(filter)
    pins = frozenset(conjunct for conjunct in _conjuncts(filter) if _is_pin(conjunct))
    return pins if pins and filter.depth <= _DEEPEST_MEMBER else filter


def _is_pin(filter: Filter) -> bool:
    leaves = filter.children if isinstance(filter, Or) else (filter,)
    return (
        all(isinstance(leaf, Predicate) and leaf.operator is Operator.EQ for leaf in leaves)
        and len({leaf.attribute for leaf in leaves if isinstance(leaf, Predicate)}) == 1
    )


def _uncovered(filters: Iterable[Filter]) -> list[Filter]:
    """The filters that no other covers, of equivalent ones the simplest."""
    alive = sorted(set(map(canonical, filters)), key=lambda filter: (_leaves(filter), str(filter)))
    # One by one, and only for a filter that is still there: so no two can remove each other.
    for filter in reversed(tuple(alive)):
        if any(other is not filter and covers(other, filter) for other in alive):
            alive.remove(filter)
    return alive


def _joined(members: set[Member]) -> list[Member]:
    """The members, with one in place of those that differ in touching ranges of one attribute."""
    while (fewer := _joined_once(members)) is not None:
        members = fewer
    return sorted(members, key=_member_order)


def _joined_once(members: set[Member]) -> set[Member] | None:
    """The members after the first possible join; None if there is none."""
    alike: dict[tuple[str, Kind, Member], list[tuple[Member, Region]]] = defaultdict(list)
    for member in sorted(members, key=_member_order):
        for attribute in sorted({leaf.attribute for leaf in member if isinstance(leaf, Predicate)}):
            own = frozenset(leaf for leaf in member if _is_about(leaf, attribute))
            region = _region(own)
            if region is not None:
                kind = Kind.NUMBER if region.numbers else Kind.STRING
                alike[attribute, kind, member - own].append((member, region))
    for (attribute, _, rest), some in alike.items():
        union = some[0][1]
        for _, region in some[1:]:
            union = either(union, region)
        ranges = as_predicates(attribute, union) if len(some) > 1 else None
        if ranges is not None and len(ranges) < len(some):
            joined = {rest | {predicate} for predicate in ranges}
            return members.difference(member for member, _ in some) | joined
    return None


def _is_about(conjunct: Filter, attribute: str) -> bool:
    return isinstance(conjunct, Predicate) and conjunct.attribute == attribute


def _region(conjuncts: Iterable[Filter]) -> Region | None:
    """The values that predicates on one attribute leave, if they are intervals of one kind."""
    region: Region | None = None
    for conjunct in conjuncts:
        assert isinstance(conjunct, Predicate)
        own = inside(conjunct)
        region = own if region is None else both(region, own)
    if region is None or region.patterns or bool(region.numbers) is bool(region.strings):
        return None
    return region


def _factored(members: Sequence[Member], level: int) -> Filter:
    """The OR of the members, with conjuncts that several have in common in front of them."""
    if len(members) == 1:
        return _and(members[0])
    common = frozenset.intersection(*members)
    if common:
        rest = [member - common for member in members]
        if not all(rest):
            return _and(common)
        return And((*_in_order(common), _factored(rest, level + 1)))
    alternatives: list[Filter] = []
    while members:
        counts = Counter(conjunct for member in members for conjunct in member)
        most, times = min(counts.items(), key=lambda item: (-item[1], str(item[0])))
        if times == 1 or level >= _DEEPEST_FACTORING:
            for member in members:
                alternatives += _alternatives(_and(member))
            break
        having = [member for member in members if most in member]
        alternatives.append(_factored(having, level + 1))
        members = [member for member in members if most not in member]
    return Or(tuple(alternatives))


def _and(conjuncts: Member) -> Filter:
    # One alone stays as it is: a filter may be as deep as is allowed already.
    in_order = _in_order(conjuncts)
    return in_order[0] if len(in_order) == 1 else And(tuple(in_order))


def _alternatives(filter: Filter) -> Sequence[Filter]:
    return filter.children if isinstance(filter, Or) else (filter,)


def _in_order(conjuncts: Member) -> list[Filter]:
    return sorted(conjuncts, key=str)


def _conjuncts(filter: Filter) -> Member:
    """The conjuncts of a canonical filter."""
    return frozenset(filter.children) if isinstance(filter, And) else frozenset({filter})


def _member_order(member: Member) -> list[str]:
    return sorted(map(str, member))


def _leaves(filter: Filter) -> int:
    return sum(map(_leaves, filter.children)) if isinstance(filter, And | Or) else 1
