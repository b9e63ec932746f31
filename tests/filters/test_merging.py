from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import (
    And,
    Filter,
    FilterError,
    Operator,
    Or,
    Predicate,
    Range,
    canonical,
    parse,
)
from pysim.filters.language import MAX_DEPTH
from pysim.filters.merging import group_of, imperfect_merger, perfect_merger
from pysim.filters.pruning import sequence
from pysim.filters.selectivity import SelectivityTable

from .samples import EVENTS
from .strategies import filters, predicates


@pytest.mark.parametrize(
    ("members", "merger"),
    [
        (["x < 5"], "x < 5"),
        (["x < 5", "x < 9"], "x < 9"),
        (["x in [0, 5]", "x in [5, 9]"], "x in [0, 9]"),
        (["x in [0, 5)", "x = 5"], "x in [0, 5]"),
        (["x in [0, 5)", "x in (5, 9]"], "x in (5, 9] or x in [0, 5)"),
        (["x < 5", "x in [2, 7]"], "x <= 7"),
        (["x < 5", "x > 5"], "x != 5"),
        (["x >= 5", "x in (2, 6)"], "x > 2"),
        (["x < 5", "x >= 5"], "x < 5 or x >= 5"),
        (["x in [0, 5]", "x in [5, 9]", 'x = "s"'], 'x = "s" or x in [0, 9]'),
        (['x < "b"', 'x in ["a", "c")'], 'x < "c"'),
        (["x = 1", "x = 2"], "x = 1 or x = 2"),
        (["t = 1 and x < 5", "t = 1 and x < 9"], "t = 1 and x < 9"),
        (["t = 1 and x >= 0 and x < 5", "t = 1 and x in [5, 9]"], "t = 1 and x in [0, 9]"),
        (["t = 1 and x < 5", "t = 1 and y < 9"], "t = 1 and (x < 5 or y < 9)"),
        (["t = 1 and x < 5", "t = 1"], "t = 1"),
        (
            ["t = 1 and x < 5", "t = 1 and y < 9", "z = 3"],
            "z = 3 or (t = 1 and (x < 5 or y < 9))",
        ),
        (
            # Two halves of each of two columns become columns, and these the whole.
            [
                "x in [0, 1) and y in [0, 1)",
                "x in [0, 1) and y in [1, 2)",
                "x in [1, 2) and y in [0, 1)",
                "x in [1, 2) and y in [1, 2)",
            ],
            "x in [0, 2) and y in [0, 2)",
        ),
    ],
)
def test_perfect_mergers(members: list[str], merger: str) -> None:
    assert str(perfect_merger([parse(text) for text in members])) == merger


@settings(max_examples=350, deadline=None)
@given(st.lists(filters, min_size=1, max_size=5))
def test_a_perfect_merger_matches_exactly_what_its_members_match(members: list[Filter]) -> None:
    merger = perfect_merger(members)
    assert merger == canonical(merger)
    for event in EVENTS:
        assert merger.matches(event) is any(member.matches(event) for member in members)


similar = st.builds(
    lambda *leaves: And(leaves),
    st.builds(Predicate, st.just("a"), st.just(Operator.EQ), st.integers(0, 1)),
    st.builds(
        lambda low, width, *closed: Predicate("b", Operator.IN, Range(low, low + width, *closed)),
        st.integers(-2, 3),
        st.integers(1, 3),
        st.booleans(),
        st.booleans(),
    ),
    predicates,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(similar, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_similar_filters_have_an_exact_merger_whatever_their_order(
    members: list[Filter], rng: random.Random
) -> None:
    merger = perfect_merger(members)
    for event in EVENTS:
        assert merger.matches(event) is any(member.matches(event) for member in members)
    shuffled = [*members, rng.choice(members)]
    rng.shuffle(shuffled)
    assert perfect_merger(shuffled) == merger


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(filters, similar), min_size=1, max_size=4), st.floats(0, 1))
def test_an_imperfect_merger_matches_at_least_what_its_members_match(
    members: list[Filter], limit: float
) -> None:
    merger = imperfect_merger(members, SelectivityTable(), limit)
    for event in EVENTS:
        if any(member.matches(event) for member in members):
            assert merger.matches(event)


def test_an_imperfect_merger_is_pruned_up_to_a_limit() -> None:
    members = [parse("t = 1 and x < 5 and v = 1"), parse("t = 1 and y < 9 and w = 1")]
    table = SelectivityTable()
    steps = sequence(perfect_merger(members), table)
    assert len(steps) == 3
    assert steps[1].degradation < steps[0].degradation < steps[2].degradation
    assert imperfect_merger(members, table, -1.0) == perfect_merger(members)
    assert imperfect_merger(members, table, steps[1].degradation) == perfect_merger(members)
    assert imperfect_merger(members, table, steps[0].degradation) == steps[1].filter
    assert imperfect_merger(members, table, 1.0) == steps[-1].filter


def deep(depth: int) -> Filter:
    """A canonical filter of this depth, an even number, with OR on top."""
    filter = parse("x < 5 or y < 5")
    for level in range(depth // 2 - 1):
        filter = Or((parse(f"a = {level}"), And((parse(f"b = {level}"), filter))))
    return canonical(filter)


def test_filters_as_deep_as_is_allowed_have_a_merger() -> None:
    deepest = next(filter for n in (100, 102, 98) if (filter := deep(n)).depth == MAX_DEPTH)
    assert isinstance(deepest, Or)
    assert perfect_merger([deepest]) == deepest
    merger = perfect_merger([deepest, parse("z = 1")])
    assert merger == canonical(Or((*deepest.children, parse("z = 1"))))


def test_nothing_has_no_merger() -> None:
    with pytest.raises(FilterError, match="at least one filter"):
        perfect_merger([])


def test_many_pairs_with_something_in_common_are_factored() -> None:
    pairs = [f"t = {n // 2} and (x = {n} or y < {n})" for n in range(60)]
    merger = perfect_merger(list(map(parse, pairs)))
    assert str(merger).count("t = ") == 30


def test_filters_with_the_same_equalities_are_one_group() -> None:
    one, same = parse('t = "A" and x < 5'), parse('x > 3 and t = "A"')
    assert group_of(one) == group_of(same) != group_of(parse('t = "B" and x < 5'))
    either, same = parse('(t = "A" or t = "B") and x < 5'), parse('y < 7 and t in {"B", "A"}')
    assert group_of(either) == group_of(same) != group_of(one)
    assert group_of(parse("x < 5")) != group_of(parse("x < 6"))


def test_a_filter_too_deep_for_factoring_is_left_alone() -> None:
    assert group_of(And((parse("t = 1"), deep(MAX_DEPTH - 4)))) != group_of(
        parse("t = 1 and x < 5")
    )
