from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import Event, Operator, Predicate, Range, parse
from pysim.filters.predicates import PredicateIndex

from .strategies import events, predicates


def predicate(text: str) -> Predicate:
    parsed = parse(text)
    assert isinstance(parsed, Predicate)
    return parsed


def index_of(*texts: str) -> PredicateIndex[str]:
    index: PredicateIndex[str] = PredicateIndex()
    for text in texts:
        index.insert(predicate(text), text)
    return index


@pytest.mark.parametrize(
    ("texts", "value", "expected"),
    [
        (["a = 1", "a = 2", 'a = "1"'], 1, ["a = 1"]),
        (["a != 1", "a != 2", 'a != "1"'], 1, ["a != 2"]),
        (["a < 1", "a < 2", "a < 3"], 2, ["a < 3"]),
        (["a <= 1", "a <= 2", "a <= 3"], 2, ["a <= 2", "a <= 3"]),
        (["a > 1", "a > 2", "a > 3"], 2, ["a > 1"]),
        (["a >= 1", "a >= 2", "a >= 3"], 2, ["a >= 1", "a >= 2"]),
        (
            ["a in [1, 2)", "a in (2, 3]", "a in [2, 3)", "a in [0, 9]"],
            2,
            ["a in [0, 9]", "a in [2, 3)"],
        ),
        (['a prefix ""', 'a prefix "x"', 'a prefix "xyz"'], "xy", ['a prefix ""', 'a prefix "x"']),
        (['a suffix ""', 'a suffix "y"', 'a suffix "xxy"'], "xy", ['a suffix ""', 'a suffix "y"']),
        (
            ['a contains ""', 'a contains "y"', 'a contains "z"'],
            "xyx",
            ['a contains ""', 'a contains "y"'],
        ),
        (["exists a", "exists b"], 1, ["exists a"]),
        (["exists a", "exists b"], "x", ["exists a"]),
        (["exists a", "a != 1"], float("nan"), []),
    ],
)
def test_the_fulfilled_predicates_are_found(
    texts: list[str], value: Any, expected: list[str]
) -> None:
    assert sorted(index_of(*texts).fulfilled({"a": value})) == expected


@settings(max_examples=800, deadline=None)
@given(st.sets(predicates, max_size=25), st.data(), st.lists(events, min_size=1, max_size=4))
def test_found_are_exactly_the_predicates_that_match_however_they_came_and_went(
    all_predicates: set[Predicate], data: st.DataObject, some_events: list[Event]
) -> None:
    index: PredicateIndex[Predicate] = PredicateIndex()
    for one in all_predicates:
        index.insert(one, one)
    ordered = sorted(all_predicates, key=str)
    gone = data.draw(st.sets(st.sampled_from(ordered))) if ordered else set()
    for one in gone:
        index.remove(one)
    for event in some_events:
        found = index.fulfilled(event)
        assert len(found) == len(set(found))
        assert set(found) == {one for one in all_predicates - gone if one.matches(event)}


def test_ranges_of_all_widths_under_insertion_and_removal() -> None:
    rng = random.Random(3)
    index: PredicateIndex[Predicate] = PredicateIndex()
    present: set[Predicate] = set()
    for step in range(1500):
        if present and rng.random() < 0.4:
            gone = rng.choice(sorted(present, key=str))
            present.remove(gone)
            index.remove(gone)
        low = rng.randrange(40)
        bounds = Range(low, low + rng.choice([1, 2, 3, 30]), rng.random() < 0.5, rng.random() < 0.5)
        new = Predicate("a", Operator.IN, bounds)
        if new not in present:
            present.add(new)
            index.insert(new, new)
        if step % 5 == 0:
            for value in (rng.randrange(72), rng.random() * 72):
                expected = {one for one in present if one.matches({"a": value})}
                assert set(index.fulfilled({"a": value})) == expected


def test_substrings_are_found_in_long_and_in_short_texts() -> None:
    parts = ["ab", "ba", "zz", "abc", "q"]
    index = index_of(*(f'a contains "{part}"' for part in parts))
    for text in ("", "ab", "abab", "abc" * 1000, "x" * 5000 + "zz"):
        expected = {f'a contains "{part}"' for part in parts if part in text}
        assert set(index.fulfilled({"a": text})) == expected
