from __future__ import annotations

import gc
import random
import weakref
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import And, Filter, Operator, Predicate, Range, parse
from pysim.filters import covering as covering_module
from pysim.filters.covering import covers
from pysim.filters.relations import RelationGraph, reference
from pysim.filters.relations.native import NativeSimplifiedGraph, NativeTraditionalGraph
from pysim.filters.relations.reference import SimplifiedGraph, TraditionalGraph

from ..strategies import filters, predicates
from .laboratory import conjunctions, decided, history, taken

Pair = tuple[type[RelationGraph[int]], type[RelationGraph[int]]]

both_kinds = pytest.mark.parametrize(
    "pair",
    [(NativeSimplifiedGraph, SimplifiedGraph), (NativeTraditionalGraph, TraditionalGraph)],
    ids=["simplified", "traditional"],
)
randoms = st.randoms(use_true_random=False)
anything = st.one_of(
    filters,
    decided,
    conjunctions,
    predicates,
    st.lists(predicates, min_size=1, max_size=3).map(lambda parts: And(tuple(parts))),
)


def assert_alike(pair: Pair, pool: list[Filter], rng: random.Random, length: int = 30) -> None:
    native, plain = (make() for make in pair)
    for step in history(pool, rng, length):
        assert taken(native, step) == taken(plain, step)
        assert (len(native), native.root_count) == (len(plain), plain.root_count)
        assert (step.key in native) is (step.key in plain)


@both_kinds
@settings(max_examples=300, deadline=None)
@given(pool=st.lists(anything, min_size=1, max_size=14), rng=randoms)
def test_a_native_graph_answers_and_counts_as_the_reference(
    pair: Pair, pool: list[Filter], rng: random.Random
) -> None:
    assert_alike(pair, pool, rng)


@both_kinds
@settings(max_examples=300, deadline=None)
@given(pool=st.lists(conjunctions, min_size=2, max_size=20), rng=randoms)
def test_conjunctions_are_compared_as_the_reference_compares_them(
    pair: Pair, pool: list[Filter], rng: random.Random
) -> None:
    assert_alike(pair, pool, rng, 40)


def box(rng: random.Random) -> Filter:
    """A pin, and ranges of few sizes: with an outline that often decides, and often not."""
    parts = []
    if rng.random() < 0.8:
        values = (1, 2, "1", "2")
        parts.append(Predicate(rng.choice("st"), Operator.EQ, rng.choice(values)))
    for name in "xyz":
        if rng.random() < 0.6:
            low, size = rng.randrange(6), rng.choice((2, 2, 3, 6))
            closed = rng.random() < 0.8
            parts.append(Predicate(name, Operator.IN, Range(low, low + size, closed, not closed)))
        elif rng.random() < 0.2:
            parts.append(Predicate(name, Operator.LT, rng.randrange(9)))
    return And(tuple(parts)) if parts else parse("x < 20")


@both_kinds
@pytest.mark.parametrize("seed", range(12))
def test_hundreds_of_boxes_lie_as_in_the_reference(pair: Pair, seed: int) -> None:
    rng = random.Random(seed)
    assert_alike(pair, [box(rng) for _ in range(60)], rng, 220)


@both_kinds
def test_numbers_that_doubles_cannot_tell_apart_are_told_apart(pair: Pair) -> None:
    big = 2**53
    texts = [f"x {operator} {big + add}" for operator in ("<", "<=", "=", ">") for add in range(3)]
    for seed in range(10):
        assert_alike(pair, [parse(text) for text in texts], random.Random(seed))


@both_kinds
def test_a_graph_with_hundreds_of_attributes_still_tells_them_apart(pair: Pair) -> None:
    names = [f"a{number}" for number in range(300)]
    for seed in range(4):
        rng = random.Random(seed)
        pool = [
            parse(f"{name} = {rng.randrange(2)} and {rng.choice(names[-8:])} = 1")
            for name in names[250:]
        ]
        assert_alike(pair, [parse(f"{name} = 1") for name in names] + pool, rng, 60)
        assert_alike(pair, pool, rng, 60)


@both_kinds
def test_where_covering_cannot_be_told_a_native_graph_does_as_the_reference(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sometimes(general: Filter, special: Filter) -> bool:
        is_beyond = crc32(f"{general}|{special}".encode()) % 3 == 0
        return not is_beyond and covers(general, special)

    monkeypatch.setattr(reference, "covers", sometimes)
    monkeypatch.setattr(covering_module, "covers", sometimes)
    # No boxes, of which the native graphs ask nobody.
    texts = [f"not (x > {x} or y > {y})" for x in range(5) for y in range(5)]
    pool = [parse(text) for text in (*texts, "x != 1", "not x = 1", "x < 1 or x > 1")]
    rng = random.Random(4)
    for _ in range(60):
        assert_alike(pair, pool, rng)


@both_kinds
def test_an_error_while_filters_are_compared_is_passed_on_and_nothing_is_lost(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = pair[0]()
    for key, text in enumerate(["not x > 9", "not y > 9", "not (x > 5 or y > 5)", "not x > 7"]):
        graph.insert(key, parse(text))

    def interrupted(general: Filter, special: Filter) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(covering_module, "covers", interrupted)
        with pytest.raises(KeyboardInterrupt):
            graph.insert(4, parse("not z > 1"))
        assert (4 in graph, len(graph), list(graph.roots())) == (False, 4, [0, 1])
        if isinstance(graph, NativeSimplifiedGraph):  # the other compares nothing to remove
            with pytest.raises(KeyboardInterrupt):
                graph.remove(0)
    if 0 in graph:
        graph.remove(0)
    below = {child for _, child in graph.edges()}
    assert below | set(graph.roots()) == {1, 2, 3}
    assert not graph.insert(4, parse("not z > 1")).covered


@both_kinds
def test_a_graph_cannot_be_changed_while_it_compares(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = pair[0]()
    graph.insert(1, parse("not x > 9"))

    def meddling(general: Filter, special: Filter) -> bool:
        graph.remove(1)
        return False

    monkeypatch.setattr(covering_module, "covers", meddling)
    with pytest.raises(RuntimeError, match="being changed"):
        graph.insert(2, parse("not x > 8"))
    assert (list(graph.roots()), len(graph)) == ([1], 1)


@both_kinds
def test_a_graph_is_collected_with_a_key_that_holds_it(pair: Pair) -> None:
    class Holder:
        graph: RelationGraph[Holder]

    key = Holder()
    key.graph = pair[0]()  # type: ignore[assignment]
    key.graph.insert(key, parse("x = 1"))
    gone = weakref.ref(key)
    del key
    gc.collect()
    assert gone() is None


@both_kinds
def test_a_key_is_let_go_when_it_is_removed(pair: Pair) -> None:
    class Key:
        pass

    graph: RelationGraph[Key] = pair[0]()  # type: ignore[assignment]
    keys = [Key(), Key(), Key()]
    for key, text in zip(keys, ("x < 5", "x < 3", "x < 5"), strict=True):
        graph.insert(key, parse(text))
    gone = [weakref.ref(key) for key in keys]
    for key in keys:
        graph.remove(key)
    del key, keys
    assert [key() for key in gone] == [None] * 3
