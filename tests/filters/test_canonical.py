from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import And, Event, Filter, Not, Or, Predicate, canonical, parse

from .strategies import events, filters


def rewritten(filter: Filter, rng: random.Random) -> Filter:
    """The same filter written down in another way."""
    if isinstance(filter, Predicate):
        plain: Filter = filter
    elif isinstance(filter, Not):
        plain = Not(rewritten(filter.child, rng))
    else:
        children = [rewritten(child, rng) for child in filter.children]
        children += rng.choices(children, k=rng.randrange(2))
        rng.shuffle(children)
        cut = rng.randrange(len(children))
        if cut:
            children = [type(filter)(tuple(children[:cut])), *children[cut:]]
        plain = type(filter)(tuple(children))
    return rng.choice([plain, Not(Not(plain)), And((plain,)), Or((plain,)), _de_morgan(plain)])


def _de_morgan(filter: Filter) -> Filter:
    if not isinstance(filter, (And, Or)):
        return filter
    opposite = Or if isinstance(filter, And) else And
    return Not(opposite(tuple(Not(child) for child in filter.children)))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a = 1", "a = 1"),
        ("a = 1.0", "a = 1"),
        ("not not a = 1", "a = 1"),
        ("not a < 5", "not a < 5"),
        ("b = 1 and a = 1", "a = 1 and b = 1"),
        ("a = 1 and (b = 1 and (c = 1 and a = 1))", "a = 1 and b = 1 and c = 1"),
        ("a = 1 or a = 1", "a = 1"),
        ("not (a = 1 and not b = 2)", "b = 2 or not a = 1"),
        ("not (a = 1 or (b = 2 and c = 3))", "not a = 1 and (not b = 2 or not c = 3)"),
        ("(z = 1 or y = 1) and a = 1", "a = 1 and (y = 1 or z = 1)"),
        ('f in {"b", "a", "b"}', 'f = "a" or f = "b"'),
        ("a = 1 and (a = 1 or b = 1)", "a = 1 and (a = 1 or b = 1)"),
    ],
)
def test_canonical_forms(text: str, form: str) -> None:
    assert str(canonical(parse(text))) == form


@settings(max_examples=1200, deadline=None)
@given(filters, st.lists(events, min_size=1, max_size=4))
def test_the_canonical_form_matches_the_same_events(
    filter: Filter, some_events: list[Event]
) -> None:
    form = canonical(filter)
    for event in some_events:
        assert form.matches(event) is filter.matches(event)


@settings(max_examples=500, deadline=None)
@given(filters)
def test_the_canonical_form_is_its_own_canonical_form_and_no_deeper(filter: Filter) -> None:
    form = canonical(filter)
    assert canonical(form) == form
    assert form.depth <= filter.depth
    assert_is_canonical(form)


def assert_is_canonical(form: Filter) -> None:
    if isinstance(form, Not):
        assert isinstance(form.child, Predicate)
    if isinstance(form, (And, Or)):
        assert len(form.children) > 1
        assert len(set(form.children)) == len(form.children)
        assert not any(type(child) is type(form) for child in form.children)
        for child in form.children:
            assert_is_canonical(child)


@settings(max_examples=1000, deadline=None)
@given(filters, st.randoms(use_true_random=False))
def test_how_a_filter_is_written_does_not_change_its_identity(
    filter: Filter, rng: random.Random
) -> None:
    other = rewritten(filter, rng)
    assert canonical(other) == canonical(filter)
    assert hash(canonical(other)) == hash(canonical(filter))
    assert other.key == filter.key


@settings(max_examples=500, deadline=None)
@given(filters, filters)
def test_keys_are_equal_exactly_when_canonical_forms_are(one: Filter, other: Filter) -> None:
    assert (one.key == other.key) is (canonical(one) == canonical(other))


def test_a_number_and_its_text_are_different_values() -> None:
    assert parse("a = 1").key != parse('a = "1"').key


def test_keys_are_the_same_in_every_process() -> None:
    text = 'price < 30 and (author = "Le Guin" or not format in {"hardcover", "audio"})'
    program = f"from pysim.filters import parse; print(parse({text!r}).key, end='')"
    for seed in ("0", "1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        found = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout == parse(text).key


def test_keys_stay_the_same_from_version_to_version() -> None:
    assert parse('body contains "x"').key == "638dd389dada7be35437a82f26d6843c"
