"""What every engine has to do, asked of all of them."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
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
    LinearIndex,
    MatchingIndex,
    Not,
    Operator,
    Or,
    Predicate,
    Range,
    UnknownKeyError,
    Value,
    parse,
)
from pysim.filters.boxes import BoxIndex

from .strategies import events, filters

Engine = Callable[[], MatchingIndex[Any]]


# The engines that have to agree with the reference.
ENGINES: list[Engine] = [CountingIndex, BoxIndex]
if find_spec("pysim.filters._engine"):
    from pysim.filters.native import NativeIndex, ScanningIndex
    from pysim.filters.two_step import TwoStepIndex

    ENGINES += [NativeIndex, ScanningIndex, TwoStepIndex]

of_each_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)


@pytest.fixture(params=[LinearIndex, *ENGINES], ids=lambda engine: engine.__name__)
def engine(request: pytest.FixtureRequest) -> Engine:
    made: Engine = request.param
    return made


def index_of(engine: Engine, subscriptions: dict[Any, Filter]) -> MatchingIndex[Any]:
    index = engine()
    for key, filter in subscriptions.items():
        index.insert(key, filter)
    return index


def test_an_index_knows_its_keys(engine: Engine) -> None:
    index = engine()
    index.insert("ann", parse("a = 1"))
    index.insert(("bob", 2), parse("a = 1"))
    assert len(index) == 2
    assert "ann" in index
    assert ("bob", 2) in index
    index.remove("ann")
    assert len(index) == 1
    assert "ann" not in index


def test_a_key_is_inserted_once(engine: Engine) -> None:
    index = index_of(engine, {"ann": parse("a = 1")})
    with pytest.raises(DuplicateKeyError) as caught:
        index.insert("ann", parse("a = 2"))
    assert str(caught.value) == "The key 'ann' is already in the index; remove it first."
    assert isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert (index.match({"a": 1}), index.match({"a": 2}), len(index)) == ({"ann"}, set(), 1)


def test_an_unknown_key_cannot_be_removed(engine: Engine) -> None:
    index = index_of(engine, {"ann": parse("a = 1")})
    with pytest.raises(UnknownKeyError) as caught:
        index.remove("bob")
    assert str(caught.value) == "The key 'bob' is not in the index."
    assert isinstance(caught.value, ValueError)
    index.remove("ann")
    with pytest.raises(UnknownKeyError):
        index.remove("ann")
    index.insert("ann", parse("a = 2"))
    assert index.match({"a": 2}) == {"ann"}


def test_the_answer_belongs_to_the_caller(engine: Engine) -> None:
    index = index_of(engine, {"ann": parse("a = 1"), "bob": parse("a = 1 and b = 1")})
    for event in ({"a": 1}, {"a": 1, "b": 1}):
        index.match(event).clear()
    assert index.match({"a": 1}) == {"ann"}
    assert index.match({"a": 1, "b": 1}) == {"ann", "bob"}


@pytest.mark.parametrize(
    ("text", "matching", "other"),
    [
        ('symbol = "IBM" and price < 30', {"symbol": "IBM", "price": 3}, {"symbol": "IBM"}),
        ("a = 1 or b = 1 or c = 1", {"b": 1}, {"b": 2}),
        ("not a = 1", {}, {"a": 1}),
        ("not a = 1 and not b = 1", {"c": 1}, {"a": 2, "b": 1}),
        ("not a = 1 or b = 1", {"a": 1, "b": 1}, {"a": 1}),
        ("b = 1 and (not a = 1 or b = 1)", {"a": 1, "b": 1}, {"b": 2}),
        ("(a = 1 or b = 1) and (a = 1 or c = 1)", {"a": 1}, {"b": 1}),
        ("(a = 1 and b = 1) or (a = 1 and c = 1)", {"a": 1, "c": 1}, {"a": 1}),
        ("exists a or not exists a", {}, None),
        ("a = 1 and not a = 1", None, {"a": 1}),
    ],
)
def test_filters_whose_counts_are_special(
    engine: Engine, text: str, matching: Event | None, other: Event | None
) -> None:
    index = index_of(engine, {"key": parse(text)})
    if matching is not None:
        assert index.match(matching) == {"key"}
    if other is not None:
        assert index.match(other) == set()


KEYS_USED = range(12)
KEYS = st.sampled_from(KEYS_USED)
COMMANDS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), KEYS, filters),
        st.tuples(st.just("insert"), KEYS, filters),
        st.tuples(st.just("remove"), KEYS),
        st.tuples(st.just("match"), events),
    ),
    max_size=30,
)


def outcome(call: Callable[[], object]) -> object:
    try:
        return call()
    except ValueError as error:
        return type(error), str(error)


def assert_empty(index: MatchingIndex[Any]) -> None:
    """Nothing that was removed is left anywhere inside."""
    assert not len(index)
    if not isinstance(index, CountingIndex):
        return  # test_native.py asks this of memory, test_two_step.py of its counts
    assert not index._subscriptions
    assert not index._associations
    assert not index._always_candidates
    assert not index._predicates._dimensions
    assert not index._predicates._equal


@settings(max_examples=1000, deadline=None)
@given(commands=COMMANDS, some_events=st.lists(events, min_size=1, max_size=5))
def test_every_engine_does_what_the_reference_does(
    commands: list[tuple[Any, ...]], some_events: list[Event]
) -> None:
    reference: LinearIndex[int] = LinearIndex()
    expected = [outcome(lambda: getattr(reference, n)(*args)) for n, *args in commands]  # noqa: B023
    present = {key: reference._filters[key] for key in KEYS_USED if key in reference}
    for engine in ENGINES:
        index = engine()
        found = [outcome(lambda: getattr(index, n)(*args)) for n, *args in commands]  # noqa: B023
        assert found == expected
        assert len(index) == len(present)
        fresh = index_of(engine, dict(reversed(present.items())))
        for event in some_events:
            assert index.match(event) == fresh.match(event) == reference.match(event)
        for key in present:
            index.remove(key)
        assert_empty(index)


def random_filter(rng: random.Random, depth: int = 3) -> Filter:
    """Filters as workloads have them: conjunctions of a few predicates, some trees."""
    if depth == 0 or rng.random() < 0.5:
        return random_predicate(rng)
    if rng.random() < 0.15:
        return Not(random_filter(rng, depth - 1))
    children = tuple(random_filter(rng, depth - 1) for _ in range(rng.randint(2, 3)))
    return And(children) if rng.random() < 0.6 else Or(children)


def random_predicate(rng: random.Random) -> Predicate:
    match rng.randrange(5):
        case 0:
            return Predicate("symbol", Operator.EQ, f"S{rng.randrange(50)}")
        case 1:
            return Predicate("body", Operator.CONTAINS, chr(32 + rng.randrange(96)))
        case 2:
            low = rng.random()
            return Predicate("x", Operator.IN, Range(low, low + 0.1))
        case 3:
            operator = rng.choice([Operator.PREFIX, Operator.SUFFIX, Operator.NE])
            return Predicate("body", operator, chr(32 + rng.randrange(96)))
        case _:
            operator = rng.choice([Operator.LT, Operator.LE, Operator.GT, Operator.GE])
            return Predicate("price", operator, rng.randrange(100))


def random_event(rng: random.Random) -> Event:
    event: dict[str, Value] = {
        "symbol": f"S{rng.randrange(50)}",
        "body": "".join(chr(32 + rng.randrange(96)) for _ in range(9)),
        "x": rng.random(),
        "price": rng.randrange(100),
    }
    if rng.random() < 0.3:
        del event[rng.choice(sorted(event))]
    return event


@of_each_engine
def test_ten_thousand_subscriptions_that_come_and_go_match_as_in_the_reference(
    engine: Engine,
) -> None:
    rng = random.Random(4)
    reference: LinearIndex[int] = LinearIndex()
    index = engine()
    for key in range(10_000):
        filter = random_filter(rng)
        reference.insert(key, filter)
        index.insert(key, filter)
    for key in rng.sample(range(10_000), 3_000):
        reference.remove(key)
        index.remove(key)
    assert len(index) == 7_000
    some_events = [random_event(rng) for _ in range(25)]
    for event in some_events:
        matched = index.match(event)
        assert matched == reference.match(event)
        assert 100 < len(matched) < 6_900


@of_each_engine
def test_ten_thousand_single_characters_match_as_in_the_reference(engine: Engine) -> None:
    rng = random.Random(5)
    characters = [chr(32 + n) for n in range(96)]
    subscriptions: dict[int, Filter] = {
        key: Predicate("body", Operator.CONTAINS, rng.choice(characters)) for key in range(10_000)
    }
    reference = index_of(LinearIndex, subscriptions)
    index = index_of(engine, subscriptions)
    for _ in range(40):
        event = {"body": "".join(rng.choices(characters, k=9))}
        assert index.match(event) == reference.match(event) != set()


def test_without_the_native_engine_the_one_in_python_is_used() -> None:
    code = """
import sys
sys.modules["pysim.filters._engine"] = None
from pysim.filters import CountingIndex, new_index
assert type(new_index()) is CountingIndex
"""
    subprocess.run([sys.executable, "-c", code], check=True)
