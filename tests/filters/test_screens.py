"""Filters that share an equality: few hang there one by one, many are in one screen."""

from __future__ import annotations

import gc
import random
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import (
    And,
    Event,
    Filter,
    LinearIndex,
    MatchingIndex,
    Not,
    Operator,
    Or,
    Predicate,
    Range,
    parse,
)

from .strategies import events, filters, numbers, predicates, strings

pytest.importorskip("pysim.filters._engine")
from pysim.filters.native import NativeIndex

MANY = 32
"""So many filters at an equality are worth a screen; what follows holds for any number."""

BORDERS = [
    *(0, 0.0625, 0.5, 1, 1.5, -1, 2**53 - 1, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63)),
    *(float(2**63), 1e300, -1e300, 5e-324),
]
VALUES: list[Any] = [
    *BORDERS,
    *(True, False, -0.0, 2**53 + 2, 2**63, 2**64 + 1, 10**400, -(10**400), "", "b"),
    *(float("inf"), float("-inf"), float("nan"), None, b"b"),
]
COMPARISONS = [Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE]
DOORS: list[Any] = [1, "IBM", 2**53 + 1]


class Key:
    """Equal to itself only, and remembered by whoever holds it."""


def condition(rng: random.Random) -> Filter:
    name, number = rng.choice("xyz"), rng.choice([rng.random(), rng.choice(BORDERS)])
    match rng.randrange(8):
        case 0:
            return Not(Predicate(name, rng.choice(COMPARISONS), number))
        case 1:
            return Predicate(name, rng.choice(COMPARISONS), "b")
        case 2:
            return Or((Predicate(name, Operator.GT, number), Predicate("x", Operator.EQ, 1)))
        case 3 | 4:
            return Predicate(name, rng.choice(COMPARISONS), number)
        case _:
            high = max(number, rng.choice([number, number + 0.07, rng.choice(BORDERS)]))
            closed = high == number or rng.random() < 0.5
            return Predicate(name, Operator.IN, Range(number, high, closed, closed))


def conjunction(rng: random.Random) -> Filter:
    """Behind one of a few equalities; some have no other condition, and some another way in."""
    door = Predicate("s", Operator.EQ, rng.choice(DOORS))
    filter = And((door, *(condition(rng) for _ in range(rng.choice([0, 1, 2, 2, 3])))))
    return Or((filter, condition(rng))) if rng.random() < 0.1 else filter


def point(rng: random.Random) -> Event:
    event = {name: rng.choice([rng.random(), rng.choice(VALUES)]) for name in "xyz"}
    event["s"] = rng.choice([*DOORS, True, 1.0, 2**53])
    if rng.random() < 0.2:
        del event[rng.choice("xyzs")]
    return event


def test_squares_of_few_symbols_match_as_in_the_reference() -> None:
    rng = random.Random(2)
    reference: LinearIndex[int] = LinearIndex()
    index: NativeIndex[int] = NativeIndex()
    for key in range(3_000):
        x, y = rng.random() * 0.93, rng.random() * 0.93
        ranges = (
            Predicate(name, Operator.IN, Range(low, low + 0.07))
            for name, low in (("x", x), ("y", y))
        )
        filter = And((Predicate("symbol", Operator.EQ, key % 5), *ranges))
        reference.insert(key, filter)
        index.insert(key, filter)
    matches = 0
    for _ in range(150):
        event = {"symbol": rng.randrange(6), "x": rng.random(), "y": rng.random()}
        found = index.match(event)
        assert found == reference.match(event)
        matches += len(found)
    assert matches > 150


@pytest.mark.parametrize("seed", range(8))
def test_filters_behind_few_equalities_come_and_go(seed: int) -> None:
    """Across all sizes at which a screen begins, is divided anew, or ends."""
    rng = random.Random(seed)
    reference: LinearIndex[int] = LinearIndex()
    index: NativeIndex[int] = NativeIndex()
    present: list[int] = []
    fresh = 0
    for size in (3 * MANY, 2 * MANY, 4 * MANY, 5, 700, 90, 300, 0):
        rng.shuffle(present)
        while len(present) != size:
            if len(present) > size:
                key = present.pop()
                reference.remove(key)
                index.remove(key)
            else:
                filter = conjunction(rng)
                reference.insert(fresh, filter)
                index.insert(fresh, filter)
                present.append(fresh)
                fresh += 1
            if rng.random() < 0.1:
                event = point(rng)
                assert index.match(event) == reference.match(event), event
        for _ in range(40):
            event = point(rng)
            assert index.match(event) == reference.match(event), event
    assert not len(index)


@pytest.mark.parametrize("operator", [*COMPARISONS, Operator.IN])
def test_numbers_behind_an_equality_compare_exactly(operator: Operator) -> None:
    reference: LinearIndex[Filter] = LinearIndex()
    index: NativeIndex[Filter] = NativeIndex()
    for low in BORDERS:
        for high in BORDERS:
            ends = sorted((low, high))
            number = Range(*ends, True, True) if operator is Operator.IN else low
            filter = And((parse("s = 1"), Predicate("x", operator, number), parse("y >= 0")))
            if filter not in reference:
                reference.insert(filter, filter)
                index.insert(filter, filter)
    for key in range(2 * MANY):  # else some operators have too few for a screen
        nowhere = parse(f"s = 1 and x in [{key}, {key + 0.5}] and y < {-key}")
        reference.insert(nowhere, nowhere)
        index.insert(nowhere, nowhere)
    for value in VALUES:
        event = {"s": 1, "x": value, "y": 0}
        assert index.match(event) == reference.match(event), value


DOOR = st.builds(Predicate, st.just("a"), st.just(Operator.EQ), st.sampled_from([1, "xy", 2**53]))
BEHIND = st.builds(
    lambda door, others: And((door, *others)),
    DOOR,
    st.lists(st.one_of(predicates, predicates, filters), min_size=1, max_size=3),
)
ARRIVING = st.builds(
    lambda event, value: {**event, "a": value},
    events,
    st.one_of(st.sampled_from([1, True, "xy", 2**53, 2**53 + 1]), numbers, strings),
)


@settings(max_examples=400, deadline=None)
@given(
    some=st.lists(st.one_of(BEHIND, BEHIND, BEHIND, filters), min_size=1, max_size=6),
    arriving=st.lists(ARRIVING, min_size=1, max_size=6),
    order=st.randoms(use_true_random=False),
)
def test_any_filters_that_share_an_equality_match_as_in_the_reference(
    some: list[Filter], arriving: list[Event], order: random.Random
) -> None:
    reference: LinearIndex[tuple[int, int]] = LinearIndex()
    index: NativeIndex[tuple[int, int]] = NativeIndex()
    keys = [(number, copy) for number in range(len(some)) for copy in range(2 * MANY)]
    order.shuffle(keys)
    for key in keys:
        reference.insert(key, some[key[0]])
        index.insert(key, some[key[0]])
    while keys:
        for event in arriving:
            assert index.match(event) == reference.match(event)
        for key in [keys.pop() for _ in range(len(keys) * 2 // 3 or 1)]:
            reference.remove(key)
            index.remove(key)
    assert not len(index)


def shared(count: int) -> list[Filter]:
    return [parse(f"a = 1 and b < {n} and not c = {n}") for n in range(count)]


@pytest.mark.parametrize("others", [MANY - 1, MANY, MANY + 1, 2 * MANY])
def test_a_screen_for_which_there_is_no_memory_loses_nothing(others: int) -> None:
    memory = pytest.importorskip("_testcapi")
    some = shared(others + 1)
    outcomes = set()
    for allocations in range(120):
        index: MatchingIndex[int] = NativeIndex()
        for key in range(others):
            index.insert(key, some[key])
        failed = False
        memory.set_nomemory(allocations, 0)
        try:
            index.insert(others, some[others])
        except MemoryError:
            failed = True
        finally:
            memory.remove_mem_hooks()
        outcomes.add(failed)
        expected = set(range(others + (not failed)))
        assert index.match({"a": 1, "b": -1}) == expected
        assert index.match({"a": 1, "b": 7}) == {key for key in expected if key > 7}
        for key in expected:
            index.remove(key)
        assert index.match({"a": 1, "b": -1}) == set()
    assert outcomes == {False, True}


@pytest.mark.parametrize("removed", [False, True])
def test_a_screen_leaves_no_memory_behind(removed: bool) -> None:
    some = [(Key(), filter) for filter in shared(300)]

    def come_and_go() -> None:
        index: NativeIndex[Key] = NativeIndex()
        for key, filter in some:
            index.insert(key, filter)
        assert len(index.match({"a": 1, "b": 99})) == 200
        if removed:
            for key, _ in some:
                index.remove(key)
        del index
        gc.collect()

    come_and_go()
    tracemalloc.start()
    try:
        come_and_go()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(5):
            come_and_go()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2_000


def test_a_key_may_remove_others_of_its_screen_while_it_is_compared() -> None:
    index: NativeIndex[Any] = NativeIndex()
    keys: list[Any] = []

    class Remover:
        armed = False

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            if Remover.armed:
                Remover.armed = False
                for place in reversed(range(len(keys))):
                    if keys[place] is not self and keys[place] is not other:
                        index.remove(keys.pop(place))
            return self is other

    for filter in shared(100):
        keys.append(Remover())
        index.insert(keys[-1], filter)
    Remover.armed = True
    assert len(index.match({"a": 1, "b": -1})) == 100
    assert not Remover.armed
    assert len(index.match({"a": 1, "b": -1})) == len(index) == 2
