"""The engine for boxes agrees with the reference, wherever boxes and events lie."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import (
    And,
    CountingIndex,
    DuplicateKeyError,
    Event,
    Filter,
    FilterError,
    LinearIndex,
    Operator,
    Predicate,
    Range,
    UnknownKeyError,
    canonical,
    parse,
)
from pysim.filters.boxes import BoxIndex

from .strategies import events, filters

ENDS = [-4.0, -0.25, -0.0, 0.25, 0.5, 1.0, 1.5, 4.0, 4.000000000000001, 1e-300, 5e-324, 1e16, 1e308]
ends = st.one_of(
    st.sampled_from(ENDS),
    st.integers(-5, 5),
    st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, -(2**63)]),
    st.floats(-1, 1, allow_nan=False),
)
points = st.one_of(
    ends,
    st.sampled_from([math.inf, -math.inf, math.nan, True, 10**400, "1", None]),
    st.sampled_from(ENDS).map(lambda end: math.nextafter(end, math.inf)),
)


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    low, high = sorted((draw(ends), draw(ends)))
    try:
        return Range(low, high, draw(st.booleans()), draw(st.booleans()))
    except FilterError:  # equal ends hold a value only if both belong to the range
        return Range(low, high, True, True)


sides = st.one_of(
    st.builds(Predicate, st.sampled_from("xyz"), st.just(Operator.IN), ranges()),
    st.builds(
        Predicate,
        st.sampled_from("xyz"),
        st.sampled_from([Operator.LT, Operator.LE, Operator.GT, Operator.GE]),
        ends,
    ),
)
pins = st.builds(
    Predicate,
    st.sampled_from("sx"),
    st.just(Operator.EQ),
    st.one_of(st.sampled_from(["1", "two"]), st.integers(0, 2), ends),
)
boxes = st.lists(st.one_of(sides, sides, pins), min_size=1, max_size=4).map(
    lambda parts: canonical(And(tuple(parts)))
)
placed_events = st.dictionaries(
    st.sampled_from("sxyz"), st.one_of(points, st.sampled_from(["two", 1]))
)


def agree(subscriptions: list[Filter], removed: set[int], seen: list[Event]) -> None:
    """Compare an index with the reference, before and after some filters have gone."""
    index: BoxIndex[int] = BoxIndex()
    reference: LinearIndex[int] = LinearIndex()
    for key, filter in enumerate(subscriptions):
        index.insert(key, filter)
        reference.insert(key, filter)
    assert [index.match(event) for event in seen] == [reference.match(event) for event in seen]
    for key in removed.intersection(range(len(subscriptions))):
        index.remove(key)
        reference.remove(key)
    assert len(index) == len(reference)
    assert [index.match(event) for event in seen] == [reference.match(event) for event in seen]


gone = st.sets(st.integers(0, 11))


@settings(max_examples=500, deadline=None)
@given(st.lists(boxes, max_size=12), gone, st.lists(placed_events, min_size=1, max_size=6))
def test_boxes_are_found_as_the_reference_finds_them(subscriptions, removed, seen):
    agree(subscriptions, removed, seen)


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.one_of(filters, boxes), max_size=12), gone, st.lists(events, min_size=1, max_size=5)
)
def test_all_other_filters_are_found_too(subscriptions, removed, seen):
    agree(subscriptions, removed, seen)


@settings(max_examples=300, deadline=None)
@given(st.lists(boxes, min_size=1, max_size=4), st.integers(5, 60), st.randoms())
def test_the_ends_of_boxes_are_where_they_should_be(kinds, count, random):
    """Events at the very corners of the boxes, and one float beside them; cells that grow."""
    subscriptions = [random.choice(kinds) for _ in range(count)]
    corners = [-1.0, 0.0, 0.5, 4.0, 2.0**53]
    for filter in kinds:
        for part in filter.children if isinstance(filter, And) else (filter,):
            value: Any = part.value
            corners += [value.low, value.high] if isinstance(value, Range) else [value]
    near = [c for c in corners if isinstance(c, float)]
    corners += [math.nextafter(c, side) for c in near for side in (math.inf, -math.inf)]
    seen = [{name: random.choice(corners) for name in "sxyz"} for _ in range(12)]
    agree(subscriptions, set(random.sample(range(count), count // 2)), seen)


def test_what_is_no_box_goes_to_the_other_engine():
    rest: CountingIndex[str] = CountingIndex()
    index = BoxIndex(rest)
    index.insert("pins", parse('symbol = 3 and name = "ann"'))
    index.insert("box", parse("symbol = 3 and x in [0, 1) and y >= 2"))
    index.insert("either", parse("x < 1 or y < 1"))
    index.insert("text", parse('name prefix "a"'))
    index.insert("beyond floats", parse(f"x < {2**53 + 1}"))
    assert len(rest) == 3
    assert len(index) == 5
    assert index.match({"symbol": 3, "name": "ann", "x": 0.5, "y": 2}) == {
        "pins",
        "box",
        "either",
        "text",
        "beyond floats",
    }


def test_an_event_with_a_number_beyond_floats_is_compared_exactly():
    index: BoxIndex[str] = BoxIndex()
    index.insert("below", parse(f"x < {2**53 + 2}"))
    index.insert("range", parse(f"x in [{2**53}, {2**53 + 2})"))
    assert index.match({"x": 2**53 + 1}) == {"below", "range"}
    assert index.match({"x": 2**53 + 2}) == set()


def test_keys_are_known_whichever_engine_has_them():
    index: BoxIndex[str] = BoxIndex()
    box, other = parse("x in [0, 1)"), parse('name contains "a"')
    index.insert("box", box)
    index.insert("other", other)
    assert "box" in index
    assert "other" in index
    for key in ("box", "other"):
        for filter in (box, other):
            with pytest.raises(DuplicateKeyError):
                index.insert(key, filter)
    with pytest.raises(UnknownKeyError):
        index.remove("nobody")
    index.remove("box")
    index.remove("other")
    assert len(index) == 0
    assert index.match({"x": 0.5, "name": "a"}) == set()
