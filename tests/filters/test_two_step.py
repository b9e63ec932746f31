"""What the published two-step engine tells beside its answers: sizes, work, selectivities."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import (
    And,
    Event,
    Filter,
    LinearIndex,
    Not,
    Operator,
    Or,
    Predicate,
    Range,
    UnknownKeyError,
    parse,
)

from .strategies import events, filters, predicates

pytest.importorskip("pysim.filters._engine")
from pysim.filters.two_step import TwoStepIndex

BOOK = parse(
    'title = "T" and category = "C" and special = "none" and price > 5'
    ' and (condition = "new" and price < 30 or condition = "used" and price < 20)'
    " and (buynow = 1 and ending < 10 or not buynow = 1 and bids < 3)"
)
"""A subscription of class 2: twelve leaves, `buynow = 1` being there twice."""


def index_of(subscriptions: dict[Any, Filter]) -> TwoStepIndex[Any]:
    index: TwoStepIndex[Any] = TwoStepIndex()
    for key, filter in subscriptions.items():
        index.insert(key, filter)
    return index


def predicates_of(filter: Filter) -> set[Predicate]:
    if isinstance(filter, Predicate):
        return {filter}
    children = (filter.child,) if isinstance(filter, Not) else filter.children  # type: ignore[attr-defined]
    return set().union(*map(predicates_of, children))


def sizes(index: TwoStepIndex[Any]) -> tuple[int, int, int]:
    return len(index), index.predicates, index.associations


def sizes_by_reference(subscriptions: dict[Any, Filter]) -> tuple[int, int, int]:
    parts = [predicates_of(filter) for filter in subscriptions.values()]
    return len(parts), len(set().union(*parts)), sum(map(len, parts))


def candidates(index: TwoStepIndex[Any], event: Event) -> int:
    before = index.candidates
    index.match(event)
    return index.candidates - before


def test_equal_predicates_are_kept_once() -> None:
    index = index_of({1: parse("a = 1 and b in [1, 3)"), 2: parse("b in [1, 3) or a = 1.0")})
    assert sizes(index) == (2, 2, 4)
    index.insert(3, parse("b in [1, 3]"))
    assert sizes(index) == (3, 3, 5)
    index.remove(1)
    assert sizes(index) == (2, 3, 3)
    index.remove(2)
    assert sizes(index) == (1, 1, 1)


def test_a_negated_predicate_is_one_too_but_counts_nothing() -> None:
    index = index_of({1: BOOK})
    assert sizes(index) == (1, 11, 11)
    assert sizes(index_of({1: parse("not a = 1 and not (b = 1 and a = 1)")})) == (1, 2, 2)


@pytest.mark.parametrize(
    ("text", "event", "expected"),
    [
        ("a = 1 and b = 1", {"a": 1}, 0),
        ("a = 1 and b = 1", {"a": 1, "b": 1}, 1),
        ("a = 1 and (b = 1 or c = 1 and d = 1)", {"c": 1, "d": 1}, 1),
        ("a = 1 and (b = 1 or c = 1 and d = 1)", {"d": 1}, 0),
        ("a = 1 and a = 1 and b = 1", {"a": 1}, 0),
        ("(a = 1 or b = 1) and (a = 1 or c = 1)", {"a": 1}, 1),
        ("(a = 1 and b = 1) or (a = 1 and c = 1)", {"a": 1}, 0),
        ("a = 1 or a = 1", {}, 0),
        ("a = 1 and not b = 1", {"b": 1}, 0),
        ("a = 1 and not (b = 1 and not c = 1)", {"c": 1}, 1),
        ("not a = 1", {"a": 1}, 1),
        ("not a = 1 or b = 1", {}, 1),
        ("a in [1, 3] and b in (0, 2)", {"a": 2, "b": 2}, 0),
    ],
)
def test_who_has_enough_fulfilled_predicates_is_a_candidate(
    text: str, event: Event, expected: int
) -> None:
    assert candidates(index_of({"key": parse(text)}), event) == expected


def test_a_book_needs_eight_of_its_predicates() -> None:
    index = index_of({"ann": BOOK})
    event = {
        "title": "T",
        "category": "C",
        "special": "none",
        "price": 25,
        "condition": "new",
        "buynow": 1,
        "ending": 9,
    }
    assert index.match(event) == {"ann"}
    assert candidates(index, event) == 1
    assert candidates(index, event | {"ending": 11, "bids": 9}) == 1
    assert candidates(index, event | {"category": "D", "ending": 11, "bids": 9}) == 0


@pytest.mark.parametrize("size", [254, 255, 256, 257, 600])
@pytest.mark.parametrize("node", [And, Or])
def test_filters_of_more_predicates_than_can_be_counted_match(
    node: type[And] | type[Or], size: int
) -> None:
    index = index_of({1: node(tuple(parse(f"a{n} = 1") for n in range(size)))})
    every = {f"a{n}": 1 for n in range(size)}
    assert index.match(every) == {1}
    assert candidates(index, every) == 1
    assert index.match({"a3": 1}) == ({1} if node is Or else set())
    assert index.match({}) == set()
    assert sizes(index) == (1, size, size)
    index.remove(1)
    assert sizes(index) == (0, 0, 0)


def test_selectivities_count_from_when_a_predicate_came() -> None:
    index = index_of({1: parse("a = 1")})
    one, two = Predicate("a", Operator.EQ, 1), Predicate("a", Operator.IN, Range(0, 2))
    assert (index.fulfilled(one), index.seen(one), index.events) == (0, 0, 0)
    index.match({"a": 1})
    index.insert(2, parse("b = 1 or a in [0, 2)"))
    index.match({"a": 1})
    index.match({"a": 0})
    assert (index.fulfilled(one), index.seen(one)) == (2, 3)
    assert (index.fulfilled(two), index.seen(two)) == (2, 2)
    unknown = Predicate("a", Operator.LT, 1)
    assert (index.fulfilled(unknown), index.seen(unknown), index.events) == (0, 0, 3)


def test_a_replaced_filter_keeps_the_counts_of_what_stays() -> None:
    index = index_of({1: BOOK, 2: parse("price > 5")})
    title = Predicate("title", Operator.EQ, "T")
    index.match({"title": "T"})
    index.replace(1, parse('title = "T" and price > 5'))
    assert sizes(index) == (2, 2, 3)
    assert (index.fulfilled(title), index.seen(title)) == (1, 1)
    assert index.match({"title": "T", "price": 6}) == {1, 2}
    index.replace(1, parse("not price > 5"))
    assert (index.fulfilled(title), index.seen(title)) == (0, 0)
    assert index.match({}) == {1}
    with pytest.raises(UnknownKeyError):
        index.replace(3, BOOK)
    assert sizes(index) == (2, 1, 2)


KEYS = st.integers(0, 7)
COMMANDS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), KEYS, filters),
        st.tuples(st.just("replace"), KEYS, filters),
        st.tuples(st.just("remove"), KEYS, st.none()),
        st.tuples(st.just("match"), st.none(), events),
    ),
    max_size=30,
)


@settings(max_examples=600, deadline=None)
@given(commands=COMMANDS, some_events=st.lists(events, min_size=1, max_size=4))
def test_sizes_and_answers_depend_only_on_what_is_in_the_index(
    commands: list[tuple[str, Any, Any]], some_events: list[Event]
) -> None:
    index: TwoStepIndex[int] = TwoStepIndex()
    present: dict[int, Filter] = {}
    for name, key, argument in commands:
        if name == "match":
            index.match(argument)
        elif name == "insert" and key not in present:
            index.insert(key, argument)
            present[key] = argument
        elif name == "replace" and key in present:
            index.replace(key, argument)
            present[key] = argument
        elif name == "remove" and key in present:
            index.remove(key)
            del present[key]
        assert sizes(index) == sizes_by_reference(present)
    fresh = index_of(dict(reversed(present.items())))
    reference: LinearIndex[int] = LinearIndex()
    for key, filter in present.items():
        reference.insert(key, filter)
    assert sizes(fresh) == sizes(index)
    for event in some_events:
        assert candidates(index, event) == candidates(fresh, event)
        assert index.match(event) == fresh.match(event) == reference.match(event)
    for key in present:
        index.remove(key)
    assert sizes(index) == (0, 0, 0)
    assert index.bytes == TwoStepIndex[int]().bytes


@settings(max_examples=300, deadline=None)
@given(
    some_filters=st.lists(filters, min_size=1, max_size=6),
    some_events=st.lists(events, min_size=1, max_size=8),
    others=st.lists(predicates, max_size=3),
)
def test_selectivities_are_those_of_the_reference(
    some_filters: list[Filter], some_events: list[Event], others: list[Predicate]
) -> None:
    index = index_of(dict(enumerate(some_filters)))
    for event in some_events:
        index.match(event)
    assert index.events == len(some_events)
    used: set[Predicate] = set().union(*map(predicates_of, some_filters))
    for predicate in used:
        fulfilling = sum(predicate.matches(event) for event in some_events)
        assert (index.fulfilled(predicate), index.seen(predicate)) == (fulfilling, index.events)
    for predicate in set(others) - used:
        assert (index.fulfilled(predicate), index.seen(predicate)) == (0, 0)


@settings(max_examples=600, deadline=None)
@given(filter=filters, event=events)
def test_no_more_predicates_are_asked_for_than_a_match_has(filter: Filter, event: Event) -> None:
    """A filter that matches is a candidate, and one that shares nothing with an event is none."""
    index = index_of({"key": filter})
    found = candidates(index, event)
    assert found <= 1
    if filter.matches(event):
        assert found == 1
    elif not filter.matches({}) and not any(p.matches(event) for p in predicates_of(filter)):
        assert found == 0


def test_bytes_grow_and_shrink_with_the_filters() -> None:
    rng = random.Random(2)
    index: TwoStepIndex[int] = TwoStepIndex()
    empty = index.bytes
    for key in range(2_000):
        index.insert(key, parse(f"a = {rng.randrange(500)} and b < {rng.randrange(9000)}"))
    full = index.bytes
    assert empty + 2_000 * 2 * 16 < full < empty + 2_000 * 1_000
    for key in range(2_000):
        index.remove(key)
    assert index.bytes == empty
