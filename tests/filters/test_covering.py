from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import (
    And,
    DuplicateKeyError,
    Filter,
    Not,
    Operator,
    Or,
    Predicate,
    Range,
    UnknownKeyError,
    parse,
)
from pysim.filters import satisfiable as satisfiable_module
from pysim.filters.covering import CoveringTable, covers, intersects, satisfiable
from pysim.filters.regions import Region, both, either

from .samples import EVENTS
from .strategies import filters, predicates


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ("a < 5", "a < 5"),
        ("a < 5", "a < 4"),
        ("a <= 5", "a < 5"),
        ("a <= 5", "a = 5"),
        ("a in [0, 10]", "a in [2, 3)"),
        ("a in [0, 10]", "a >= 0 and a <= 10"),
        ("a < 5", "a < 5 and b = 1"),
        ("a < 5 or b = 1", "b = 1 and c = 2"),
        ("exists a", "a != 3"),
        ("exists a", 'a contains "x"'),
        ("a != 3", "a < 3 or a > 3"),
        ("a < 3 or a > 3", "a != 3"),
        ("a < 5 or a >= 5", "a = 7"),
        ("not a = 1", "a = 2"),
        ("not a = 1", 'a = "one"'),
        ("not a < 5", "not a < 7"),
        ("not a < 5", "a >= 5"),
        ("a = 1 or not a = 1", "b = 2"),
        ("a = 2", "a < 1 and a > 1"),
        ('a prefix "ab"', 'a prefix "abc"'),
        ('a prefix "ab"', 'a = "abacus"'),
        ('a prefix "ab"', 'a in ["ab", "ac")'),
        ('a in ["ab", "ac")', 'a prefix "ab"'),
        ('a != "b"', 'a prefix "c"'),
        ('a >= ""', 'a contains "x"'),
        ('a suffix "c"', 'a suffix "bc"'),
        ('a contains "b"', 'a suffix "bc"'),
        ('a contains "b"', 'a prefix "abc"'),
        ('a contains "b"', 'a = "abc"'),
        ('a = "a" or a = "a\\u0000"', 'a in ["a", "a\\u0000"]'),
        ("a = 1", 'a suffix "x" and a suffix "y"'),
        ("a = 1 and b = 1 or a = 1 and b = 2", "a = 1 and (b = 1 or b = 2)"),
        ("a = 1 and (b = 1 or b = 2)", "a = 1 and b = 1 or a = 1 and b = 2"),
        ("a = 1", "(a = 1 or b = 2) and (a = 1 or b = 3)"),
    ],
)
def test_a_filter_covers_a_more_special_one(general: str, special: str) -> None:
    assert covers(parse(general), parse(special))


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ("a < 4", "a < 5"),
        ("a < 5", "a <= 5"),
        ("a < 5", "b < 5"),
        ("a < 5 and b = 1", "a < 5"),
        ("a < 5", 'a < "5"'),
        ("a < 5 or a >= 5", "exists a"),
        ("a >= 5", "not a < 5"),
        ("exists a", "not a = 1"),
        ('a prefix "abc"', 'a prefix "ab"'),
        ('a suffix "bc"', 'a suffix "c"'),
        ('a suffix "b"', 'a contains "b"'),
        ('a contains "ac"', 'a contains "a" and a contains "c"'),
        ("a = 1 and b = 1 or a = 2 and b = 2", "(a = 1 or a = 2) and (b = 1 or b = 2)"),
    ],
)
def test_a_filter_does_not_cover_what_reaches_beyond_it(general: str, special: str) -> None:
    assert not covers(parse(general), parse(special))


BOOK = (
    'title = "Emma" and category = "novel" and special = "none" and price > {low}'
    ' and (condition = "new" and price < {new} or condition = "used" and price < {used})'
    " and (buynow = 1 and ending < {ending} or not buynow = 1 and bids < {bids})"
)


def test_boolean_subscriptions_cover_each_other_by_all_their_parts() -> None:
    wide = parse(BOOK.format(low=3, new=30, used=18, ending=9, bids=5))
    for narrower in ({"low": 4}, {"new": 20}, {"used": 18}, {"ending": 2, "bids": 1}):
        values = {"low": 3, "new": 30, "used": 18, "ending": 9, "bids": 5} | narrower
        narrow = parse(BOOK.format(**values))
        assert covers(wide, narrow)
        assert covers(narrow, wide) is (narrow == wide)
    assert not covers(wide, parse(BOOK.format(low=4, new=31, used=10, ending=2, bids=1)))


def test_without_a_budget_a_search_is_given_up_on_the_safe_side() -> None:
    puzzle = parse("(a = 1 and b = 1 or a = 2 and b = 2) and (a = 1 and b = 2 or a = 2 and b = 1)")
    assert not satisfiable(puzzle)
    assert satisfiable(puzzle, budget=0)
    assert covers(parse("c = 1"), puzzle)
    general, special = (
        parse("a = 1 and b = 1 or a = 2 and b = 2 or c = 1"),
        parse("a = 1 and b = 1 or a = 2 and b = 2"),
    )
    assert covers(general, special)
    assert not covers(general, special, budget=0)


def test_a_search_through_hundreds_of_choices_is_given_up_before_the_stack_is() -> None:
    # Each choice is made by its first alternative, and all hang together by b.
    choices = parse(" and ".join(f"(a{n} = 1 or b != {n})" for n in range(600)))
    assert satisfiable(choices, budget=10**6)
    assert not covers(parse("c = 1 or b = 1"), choices)


def test_an_intersection_is_excluded_only_when_none_is_possible() -> None:
    assert intersects(parse("a < 5"), parse("a > 4"))
    assert intersects(parse("a < 5"), parse("b = 1"))
    assert intersects(parse('a suffix "b"'), parse('a prefix "b"'))
    assert not intersects(parse("a < 5"), parse("a > 5 and b = 1"))
    assert not intersects(parse("a = 1 or a = 2"), parse("a = 3 or a = 4"))
    assert not intersects(parse("a = 1 and a = 2"), parse("b = 1"))
    assert not intersects(parse("not exists a"), parse("a != 3"))


@settings(max_examples=900, deadline=None)
@given(filters, filters)
def test_a_covering_filter_matches_all_that_the_covered_one_matches(
    general: Filter, special: Filter
) -> None:
    if covers(general, special):
        assert all(general.matches(event) for event in EVENTS if special.matches(event))


@settings(max_examples=600, deadline=None)
@given(predicates, predicates)
def test_a_covering_predicate_holds_wherever_the_covered_one_holds(
    general: Predicate, special: Predicate
) -> None:
    if covers(general, special):
        assert all(general.matches(event) for event in EVENTS if special.matches(event))
    if not intersects(general, special):
        assert not any(general.matches(event) and special.matches(event) for event in EVENTS)


@settings(max_examples=600, deadline=None)
@given(filters, filters)
def test_what_is_found_empty_or_apart_has_no_events(one: Filter, other: Filter) -> None:
    if not satisfiable(one):
        assert not any(one.matches(event) for event in EVENTS)
    if not intersects(one, other):
        assert not any(one.matches(event) and other.matches(event) for event in EVENTS)


@settings(max_examples=300, deadline=None)
@given(filters, filters)
def test_a_filter_covers_its_parts_and_itself(one: Filter, other: Filter) -> None:
    assert covers(one, Not(Not(one)), budget=5000)
    assert covers(one, And((other, one)), budget=5000)
    assert covers(Or((other, one)), one, budget=5000)


# With these values, one of each interval into which the predicates below can cut an attribute.
GRID: list[Any] = [
    None,
    *(half / 2 for half in range(-1, 8)),
    *("", "\0", "a", "a\0", "ab", "ab\0", "ac", "b", "b\0", "c"),
]
grid_numbers = st.integers(0, 3)
grid_strings = st.sampled_from(["", "a", "ab", "b"])
grid_operators = st.sampled_from(
    [Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE]
)


@st.composite
def grid_ranges(draw: st.DrawFn) -> Range:
    low, high = sorted(draw(st.lists(grid_numbers, min_size=2, max_size=2)))
    closed = low == high
    return Range(low, high, closed or draw(st.booleans()), closed or draw(st.booleans()))


grid_names = st.sampled_from("xy")
grid_predicates = st.one_of(
    st.builds(Predicate, grid_names, grid_operators, grid_numbers),
    st.builds(Predicate, grid_names, grid_operators, grid_strings),
    st.builds(Predicate, grid_names, st.just(Operator.IN), grid_ranges()),
    st.builds(Predicate, grid_names, st.just(Operator.PREFIX), grid_strings),
    st.builds(Predicate, grid_names, st.just(Operator.EXISTS)),
)
grid_leaves = st.one_of(grid_predicates, st.builds(Not, grid_predicates))
grid_conjunctions = st.lists(grid_leaves, min_size=1, max_size=4).map(tuple).map(And)
grid_events = [
    {name: value for name, value in (("x", x), ("y", y)) if value is not None}
    for x, y in itertools.product(GRID, GRID)
]


@settings(max_examples=600, deadline=None)
@given(grid_conjunctions, grid_conjunctions)
def test_covering_of_conjunctions_is_complete(general: Filter, special: Filter) -> None:
    matched = [event for event in grid_events if special.matches(event)]
    assert covers(general, special) is all(general.matches(event) for event in matched)
    assert satisfiable(special) is bool(matched)
    assert intersects(general, special) is any(general.matches(event) for event in matched)


grid_filters = st.recursive(
    grid_leaves,
    lambda inner: st.one_of(
        *(st.builds(node, st.lists(inner, min_size=2, max_size=3).map(tuple)) for node in (And, Or))
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(grid_filters, grid_filters)
def test_covering_of_boolean_filters_is_complete_within_the_budget(
    general: Filter, special: Filter
) -> None:
    expected = all(general.matches(event) for event in grid_events if special.matches(event))
    assert covers(general, special, budget=100_000) is expected


def ask_each(table: dict[int, Filter], filter: Filter) -> tuple[list[int], list[int]]:
    return (
        [key for key, other in table.items() if covers(other, filter)],
        [key for key, other in table.items() if covers(filter, other)],
    )


pinned = st.builds(
    lambda leaf, rest: And((leaf, *rest)),
    st.builds(Predicate, st.sampled_from("ab"), st.just(Operator.EQ), st.integers(0, 2)),
    st.lists(filters, max_size=2),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(filters, pinned, predicates, grid_filters), min_size=2, max_size=12),
    st.randoms(use_true_random=False),
)
def test_a_table_answers_as_asking_each_filter_does(some: list[Filter], rng: random.Random) -> None:
    table: CoveringTable[int] = CoveringTable()
    kept: dict[int, Filter] = {}
    for key, filter in enumerate(some):
        table.insert(key, filter)
        kept[key] = filter
        if rng.random() < 0.3:
            gone = rng.choice(list(kept))
            table.remove(gone)
            del kept[gone]
    assert len(table) == len(kept)
    for filter in some:
        assert (table.covering(filter), table.covered_by(filter)) == ask_each(kept, filter)


def test_a_table_of_many_titles_finds_the_few_that_matter() -> None:
    rng = random.Random(1)
    kept: dict[int, Filter] = {}
    table: CoveringTable[int] = CoveringTable()
    for key in range(400):
        titles = " or ".join(f'title = "T{rng.randrange(60)}"' for _ in range(rng.randint(1, 2)))
        text = f"({titles}) and price < {rng.randrange(9)}"
        if rng.random() < 0.1:
            text = rng.choice(["exists title", "price < 5", titles, 'not title = "T3"'])
        kept[key] = parse(text)
        table.insert(key, kept[key])
    for key in rng.sample(range(400), 100):
        table.remove(key)
        del kept[key]
    for filter in rng.sample(list(kept.values()), 80):
        assert (table.covering(filter), table.covered_by(filter)) == ask_each(kept, filter)


def test_a_table_knows_its_keys() -> None:
    table: CoveringTable[str] = CoveringTable()
    table.insert("ann", parse("a = 1"))
    with pytest.raises(DuplicateKeyError):
        table.insert("ann", parse("a = 2"))
    assert "ann" in table
    table.remove("ann")
    assert "ann" not in table
    with pytest.raises(UnknownKeyError):
        table.remove("ann")


def test_wide_filters_do_not_copy_their_values_for_each_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied = 0

    def counting(combine: Callable[[Region, Region], Region]) -> Callable[[Region, Region], Region]:
        def combined(one: Region, other: Region) -> Region:
            nonlocal copied
            region = combine(one, other)
            copied += len(region.numbers)
            return region

        return combined

    monkeypatch.setattr(satisfiable_module, "both", counting(both))
    monkeypatch.setattr(satisfiable_module, "either", counting(either))
    equalities = [Predicate("wide", Operator.EQ, value) for value in range(1024)]
    assert covers(Or(tuple(equalities)), Or(tuple(equalities[::2])))
    assert not covers(Or(tuple(equalities[::2])), Or(tuple(equalities)))
    assert copied < 100 * len(equalities)
