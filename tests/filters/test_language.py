from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given, settings

from pysim.filters import (
    And,
    Event,
    Filter,
    FilterError,
    Not,
    Operator,
    Or,
    Predicate,
    Range,
    parse,
)
from pysim.filters.language import MAX_DEPTH

from .strategies import events, filters, foreign_values, predicates, values

EVERY_PREDICATE = [
    parse(text)
    for text in (
        "a = 1",
        "a != 1",
        "a < 1",
        "a <= 1",
        "a > 1",
        "a >= 1",
        "a in [1, 2]",
        'a = "x"',
        'a != "x"',
        'a < "x"',
        'a > "x"',
        'a in ["x", "y"]',
        'a prefix "x"',
        'a suffix "x"',
        'a contains "x"',
        "exists a",
    )
]


def nested(levels: int) -> Filter:
    """A predicate under that many levels in all."""
    tree: Filter = Predicate("a", Operator.EQ, 1)
    for _ in range(levels - 1):
        tree = Not(tree)
    return tree


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a = 1", 1, True),
        ("a = 1", 1.0, True),
        ("a = 1", True, True),
        ("a = true", 1, True),
        ("a = false", False, True),
        ("a = 1", 2, False),
        ("a != 1", 2, True),
        ("a != 1", 1.0, False),
        ("a < 1", 0.999, True),
        ("a < 1", 1, False),
        ("a <= 1", 1.0, True),
        ("a > 1", 1, False),
        ("a > 1", float("inf"), True),
        ("a >= 1", 1, True),
        ("a in [1, 2)", 1, True),
        ("a in [1, 2)", 2, False),
        ("a in (1, 2]", 1, False),
        ("a in (1, 2]", 2, True),
        ('a = "x"', "x", True),
        ('a < "b"', "a", True),
        ('a < "b"', "c", False),
        ('a in ["b", "d")', "czz", True),
        ('a prefix "Th"', "The", True),
        ('a prefix "Th"', "Te", False),
        ('a prefix ""', "", True),
        ('a suffix "he"', "The", True),
        ('a contains "he"', "Thea", True),
        ('a contains "he"', "h e", False),
        ("exists a", "", True),
        ("exists a", 0, True),
    ],
)
def test_a_predicate_on_a_value_of_its_kind(text: str, value: Any, expected: bool) -> None:
    assert parse(text).matches({"a": value}) is expected


@pytest.mark.parametrize("predicate", EVERY_PREDICATE, ids=str)
def test_a_missing_attribute_fails_every_predicate_and_fulfils_its_negation(
    predicate: Filter,
) -> None:
    assert not predicate.matches({})
    assert not predicate.matches({"b": 1})
    assert Not(predicate).matches({"b": 1})


@pytest.mark.parametrize("predicate", EVERY_PREDICATE[:-1], ids=str)
def test_a_value_of_the_other_kind_fails_every_predicate(predicate: Filter) -> None:
    other = "1" if predicate.kind is not None and predicate.kind.name == "NUMBER" else 1
    assert not predicate.matches({"a": other})


@pytest.mark.parametrize("value", [None, float("nan"), b"x", ["x"], object], ids=repr)
@pytest.mark.parametrize("predicate", EVERY_PREDICATE, ids=str)
def test_a_value_that_the_language_does_not_know_counts_as_missing(
    predicate: Filter, value: Any
) -> None:
    assert not predicate.matches({"a": value})


def test_integers_and_floats_compare_exactly_beyond_2_to_the_53() -> None:
    assert float(2**53 + 1) == float(2**53), "the reason for this test: floats cannot tell"
    assert not Predicate("a", Operator.EQ, 2**53 + 1).matches({"a": float(2**53)})
    assert Predicate("a", Operator.GT, float(2**53)).matches({"a": 2**53 + 1})
    assert Predicate("a", Operator.LT, 1e308).matches({"a": -(10**400)})
    assert not Predicate("a", Operator.LT, 1e308).matches({"a": 10**400})


def test_a_negated_comparison_is_not_the_opposite_comparison() -> None:
    assert parse("not a < 5").matches({})
    assert not parse("a >= 5").matches({})
    assert parse("not a < 5 and not a >= 5").matches({"a": "text"})


def test_trees_combine_their_children() -> None:
    tree = parse('price < 30 and (author = "Le Guin" or not exists signed)')
    assert tree.matches({"price": 3, "author": "Le Guin", "signed": 1})
    assert tree.matches({"price": 3, "author": "Lem"})
    assert not tree.matches({"price": 3, "author": "Lem", "signed": 1})
    assert not tree.matches({"author": "Le Guin"})


@settings(max_examples=1000, deadline=None)
@given(filters, events)
def test_every_filter_answers_every_event_and_its_negation_answers_the_opposite(
    filter: Filter, event: Event
) -> None:
    answer = filter.matches(event)
    assert answer in (True, False)
    assert Not(filter).matches(event) is not answer
    assert And((filter, filter)).matches(event) is answer
    assert Or((filter, filter)).matches(event) is answer


@settings(max_examples=500, deadline=None)
@given(predicates, values | foreign_values)
def test_a_predicate_looks_at_its_own_attribute_only(predicate: Predicate, value: Any) -> None:
    alone = {predicate.attribute: value}
    assert predicate.matches(alone) is predicate.matches({**alone, "other": "x", "another": 1})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Predicate("", Operator.EQ, 1), "Expected the name of an attribute, found ''"),
        (lambda: Predicate(7, Operator.EQ, 1), "Expected the name of an attribute, found 7"),
        (lambda: Predicate("a", "=", 1), "Expected an Operator, found '='"),
        (lambda: Predicate("a", Operator.EXISTS, 1), "Expected no value for exists, found 1"),
        (lambda: Predicate("a", Operator.IN, 1), "Expected a range for in, found 1"),
        (
            lambda: Predicate("a", Operator.PREFIX, 1),
            "Expected a string for prefix, found 1",
        ),
        (
            lambda: Predicate("a", Operator.EQ),
            "Expected an integer, a float or a string, found NoneType",
        ),
        (
            lambda: Predicate("a", Operator.EQ, Range(1, 2)),
            "Expected an integer, a float or a string, found Range",
        ),
        (lambda: And(()), "Expected a tuple of at least one filter, found tuple"),
        (lambda: Or([EVERY_PREDICATE[0]]), "Expected a tuple of at least one filter, found list"),
        (lambda: And(("a = 1",)), "Expected a filter, found 'a = 1'"),
        (lambda: Not(None), "Expected a filter, found NoneType"),
        (lambda: nested(101), "Expected a filter of at most 100 levels, found 101"),
    ],
)
def test_what_is_no_filter_cannot_be_built(make: Any, message: str) -> None:
    with pytest.raises(FilterError) as caught:
        make()
    assert str(caught.value) == message


def test_the_deepest_filter_can_do_everything() -> None:
    deepest = nested(MAX_DEPTH)
    assert deepest.depth == MAX_DEPTH
    assert deepest.matches({"a": 2})
    assert parse(str(deepest)) == deepest
    assert pickle.loads(pickle.dumps(deepest)) == deepest
    assert hash(copy.deepcopy(deepest)) == hash(deepest)


def test_filters_are_immutable() -> None:
    predicate = Predicate("a", Operator.EQ, 1)
    with pytest.raises(AttributeError, match="immutable: value cannot be set"):
        predicate.value = 2
    with pytest.raises(AttributeError, match="immutable: children cannot be set"):
        And((predicate,)).children = ()


@settings(max_examples=200, deadline=None)
@given(filters)
def test_filters_survive_pickling(filter: Filter) -> None:
    twin = pickle.loads(pickle.dumps(filter))
    assert twin == filter
    assert hash(twin) == hash(filter)
    assert str(twin) == str(filter)
