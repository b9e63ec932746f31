"""Filters of which all is known, what graphs of them must look like, and histories of both."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from pysim.filters import And, Event, Filter, Not, Operator, Or, Predicate, Range
from pysim.filters.relations import Placed, RelationGraph

# One value of each interval into which the predicates below can cut an attribute.
_GRID: list[Any] = [None, *(half / 2 for half in range(-1, 6)), "", "a", "a\0", "ab", "b", "b\0"]
GRID_EVENTS: list[Event] = [
    {name: value for name, value in (("x", x), ("y", y)) if value is not None}
    for x, y in itertools.product(_GRID, _GRID)
]

_names = st.sampled_from("xy")
_ends = st.tuples(st.integers(0, 2), st.integers(0, 2)).map(sorted)
_comparisons = st.sampled_from(
    [Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE]
)
_predicates = st.one_of(
    st.builds(Predicate, _names, st.just(Operator.EQ), st.integers(0, 2)),
    st.builds(Predicate, _names, _comparisons, st.integers(0, 2)),
    st.builds(Predicate, _names, _comparisons, st.sampled_from("ab")),
    st.builds(Predicate, _names, st.just(Operator.PREFIX), st.sampled_from(["", "a"])),
    st.builds(
        lambda name, ends: Predicate(name, Operator.IN, Range(ends[0], ends[1], True, True)),
        _names,
        _ends,
    ),
    st.builds(Predicate, _names, st.just(Operator.EXISTS)),
)
conjunctions = st.lists(_predicates, min_size=1, max_size=3).map(lambda parts: And(tuple(parts)))
_leaves = st.one_of(_predicates, st.builds(Not, _predicates))
_junctions = st.one_of(
    *(st.builds(node, st.lists(_leaves, min_size=2, max_size=3).map(tuple)) for node in (And, Or))
)
decided = st.one_of(_predicates, conjunctions, conjunctions, _junctions)
"""Filters of the whole language over two attributes; `covers` is never at a loss with them."""

pools = st.lists(decided, min_size=1, max_size=14)


def matched(filter: Filter, events: Sequence[Event] = GRID_EVENTS) -> int:
    """The set of events that match, as bits: on the grid it decides what covers what."""
    return sum(1 << place for place, event in enumerate(events) if filter.matches(event))


class Step(NamedTuple):
    """One thing that happens to a graph: a filter comes under a key, or the key goes."""

    key: int
    filter: Filter | None


def history(pool: Sequence[Filter], rng: random.Random, length: int = 30) -> Iterator[Step]:
    """Filters of the pool come and go; each may come several times."""
    kept: list[int] = []
    for key in range(length):
        if kept and rng.random() < 0.4:
            yield Step(kept.pop(rng.randrange(len(kept))), None)
        else:
            kept.append(key)
            yield Step(key, rng.choice(pool))


def note(sets: dict[int, int], step: Step, events: Sequence[Event] = GRID_EVENTS) -> None:
    """Keep the sets of events of what is stored."""
    if step.filter is None:
        del sets[step.key]
    else:
        sets[step.key] = matched(step.filter, events)


class Answer(NamedTuple):
    """What a graph says of itself when a step has been taken."""

    result: Placed[int] | list[int]
    roots: list[int]
    edges: list[tuple[int, int]]
    comparisons: int


def taken(graph: RelationGraph[int], step: Step) -> Answer:
    result: Placed[int] | list[int]
    if step.filter is None:
        result = list(graph.remove(step.key))
    else:
        covered, displaced, examined = graph.insert(step.key, step.filter)
        result = Placed(covered, list(displaced), examined)
    return Answer(result, list(graph.roots()), sorted(graph.edges()), graph.comparisons)


def roots_by_definition(sets: Mapping[int, int]) -> list[int]:
    """The keys of sets that no other contains; of equal ones the first."""
    return [
        key
        for key, one in sets.items()
        if not any(
            one | other == other and (one != other or earlier < key)
            for earlier, other in sets.items()
            if earlier != key
        )
    ]


def reduction(sets: Mapping[int, int]) -> list[tuple[int, int]]:
    """The edges between distinct sets, each by its first key, with nothing in between."""
    first: dict[int, int] = {}
    for key, one in sets.items():
        first.setdefault(one, key)
    contain = {(a, b) for a, b in itertools.permutations(first, 2) if a | b == a}
    return sorted(
        (first[a], first[b])
        for a, b in contain
        if not any((a, c) in contain and (c, b) in contain for c in first)
    )


def assert_no_sibling_contains_another(graph: RelationGraph[int], sets: Mapping[int, int]) -> None:
    """Property 4 for the roots and Property 6 for all others."""
    families: dict[int | None, list[int]] = {None: list(graph.roots())}
    for parent, child in graph.edges():
        families.setdefault(parent, []).append(child)
    for family in families.values():
        for one, other in itertools.permutations(family, 2):
            assert sets[one] | sets[other] != sets[other]


def assert_sound(graph: RelationGraph[int], sets: Mapping[int, int]) -> None:
    """Edges lead to subsets, and from the roots to every filter or an equal one."""
    below: dict[int, list[int]] = {}
    for parent, child in graph.edges():
        assert sets[parent] | sets[child] == sets[parent]
        below.setdefault(parent, []).append(child)
    reached = list(graph.roots())
    assert len(set(reached)) == len(reached) == graph.root_count
    assert all(graph.is_root(key) is (key in reached) for key in sets)
    for parent in reached:
        reached += [child for child in below.get(parent, ()) if child not in reached]
    assert {child for _, child in graph.edges()} <= set(reached)
    nodes = {sets[key] for key in reached}
    assert all(key in reached or one in nodes for key, one in sets.items())
