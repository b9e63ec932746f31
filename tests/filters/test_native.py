"""What only native engines can get wrong: numbers, texts, references, memory, reentrance."""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
import weakref
from collections import OrderedDict, UserDict
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from pysim.filters import (
    And,
    Event,
    Filter,
    FilterError,
    LinearIndex,
    MatchingIndex,
    Not,
    Operator,
    Or,
    Predicate,
    Range,
    UnknownKeyError,
    choice,
    new_index,
    parse,
)

pytest.importorskip("pysim.filters._engine")
from pysim.filters.native import NativeIndex, ScanningIndex
from pysim.filters.two_step import TwoStepIndex

Engine = Callable[[], MatchingIndex[Any]]
ENGINES: list[Engine] = [NativeIndex, ScanningIndex, TwoStepIndex]

TEXT_OPERATORS = [Operator.PREFIX, Operator.SUFFIX, Operator.CONTAINS]
COMPARISONS = [
    Operator.EQ,
    Operator.NE,
    Operator.LT,
    Operator.LE,
    Operator.GT,
    Operator.GE,
]


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.__name__)
def engine(request: pytest.FixtureRequest) -> Engine:
    made: Engine = request.param
    return made


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Word(StrEnum):
    AB = "ab"
    A = "a"


class Text(str):
    __slots__ = ()


class Real(float):
    __slots__ = ()


class Key:
    """Equal to itself only, as most keys are, and can be watched."""


FILTER_NUMBERS = [
    *range(-3, 6),
    *(
        sign * (2**power + step)
        for sign in (1, -1)
        for power in (52, 53, 54, 62)
        for step in (-1, 0, 1)
    ),
    *(2**63 - 1, 2**63 - 511, 2**63 - 512, 2**63 - 513, -(2**63), -(2**63) + 1),
    *(0.5, -0.5, 1.5, 1e-300, 5e-324, float(2**63), float(2**64), -float(2**64), 1e300, -1e300),
    *(sys.float_info.max, -sys.float_info.max, 2.0**63 + 2048, 2.0**53 + 2),
]
EVENT_NUMBERS = [
    *FILTER_NUMBERS,
    *(2**63, 2**63 + 1, 2**64, 2**64 - 1, 2**64 + 1, -(2**63) - 1, -(2**64), -(2**64) - 1),
    *(int(1e300), int(1e300) + 1, int(1e300) - 1, 10**400, -(10**400), int(sys.float_info.max) + 1),
    *(2**1024 - 2**970, 2**1024 - 2**970 - 1, float("inf"), float("-inf"), -0.0, True, False),
    *(Level.LOW, Level.HIGH, Real(0.5), Real("nan"), float("nan")),
]
FILTER_TEXTS = [
    *("", "a", "b", "ab", "ba", "aba", "aa", "aaa", "\x00", "a\x00", "ä", "äa", "aä", "€", "a€"),
    *("𝄞", "a𝄞", "𝄞𝄞", "\uffff", "\ufffe", "abcdefgh" * 5),
]
EVENT_TEXTS = [
    *FILTER_TEXTS,
    *("\ud800", "a\udfff", "\ud834\udd1e", "ab\ud800a", "abab" * 40, "aä€𝄞" * 3, "z" * 300),
    *(Word.AB, Word.A, Text("aba"), Text("ä")),
]
ODD_VALUES: list[Any] = [None, b"ab", [1], (), {}, 1j, object(), str, type]
NAMES = ["a", "b", "c", "ä", "𝄞", "a name", "d", "e"]


def random_predicate(rng: random.Random) -> Predicate:
    name = rng.choice(NAMES[: rng.choice([1, 3, 8])])
    domain: list[Any] = rng.choice([FILTER_NUMBERS, FILTER_NUMBERS[:9], FILTER_TEXTS])
    match rng.randrange(6):
        case 0:
            return Predicate(name, Operator.EQ, rng.choice(domain))
        case 1 | 2:
            return Predicate(name, rng.choice(COMPARISONS), rng.choice(domain))
        case 3:
            return Predicate(name, rng.choice(TEXT_OPERATORS), rng.choice(FILTER_TEXTS))
        case 4:
            low, high = sorted((rng.choice(domain), rng.choice(domain)))
            try:
                return Predicate(
                    name, Operator.IN, Range(low, high, rng.random() < 0.5, rng.random() < 0.5)
                )
            except FilterError:
                return Predicate(name, Operator.IN, Range(low, high, True, True))
        case _:
            return Predicate(name, Operator.EXISTS)


def random_filter(rng: random.Random, depth: int) -> Filter:
    if depth == 0 or rng.random() < 0.3:
        return random_predicate(rng)
    if rng.random() < 0.2:
        return Not(random_filter(rng, depth - 1))
    children = tuple(random_filter(rng, depth - 1) for _ in range(rng.randint(1, 4)))
    return rng.choice([And, Or])(children)


def random_event(rng: random.Random) -> Event:
    domains: list[list[Any]] = [EVENT_NUMBERS, EVENT_TEXTS, EVENT_NUMBERS, EVENT_TEXTS, ODD_VALUES]
    names = rng.sample([*NAMES, "other"], rng.randint(0, 9))
    event = {rng.choice([name, "".join(name)]): rng.choice(rng.choice(domains)) for name in names}
    kinds: list[Callable[[Any], Any]] = [OrderedDict, UserDict]
    return rng.choice(kinds)(event) if rng.random() < 0.1 else event


@pytest.mark.parametrize("seed", range(60))
def test_filters_that_come_and_go_match_as_in_the_reference(engine: Engine, seed: int) -> None:
    rng = random.Random(seed)
    depth, size = rng.randint(0, 4), rng.choice([5, 60, 400])
    reference: LinearIndex[Any] = LinearIndex()
    index = engine()
    make_key = rng.choice([lambda n: n, lambda n: Key(), lambda n: ("k", n), str, float])
    keys: list[Any] = []
    for step in range(2 * size):
        if keys and rng.random() < (0.2 if step < size else 0.6):
            key = keys.pop(rng.randrange(len(keys)))
            reference.remove(key)
            index.remove(key)
            with pytest.raises(UnknownKeyError):
                index.remove(key)
        else:
            key, filter = make_key(step), random_filter(rng, depth)
            keys.append(key)
            reference.insert(key, filter)
            index.insert(key, filter)
        if step % (1 + size // 40) == 0:
            event = random_event(rng)
            assert index.match(event) == reference.match(event), event
        assert len(index) == len(reference)
    for key in keys:
        index.remove(key)
    assert not len(index)
    assert index.match(dict.fromkeys(NAMES, 1)) == set()


@pytest.mark.parametrize("negated", [False, True])
def test_every_number_compares_exactly_with_every_other(engine: Engine, negated: bool) -> None:
    reference: LinearIndex[Filter] = LinearIndex()
    index = engine()
    for number in FILTER_NUMBERS:
        for operator in COMPARISONS:
            filter: Filter = Predicate("a", operator, number)
            filter = Not(filter) if negated else filter
            if filter not in reference:
                reference.insert(filter, filter)
                index.insert(filter, filter)
    for value in EVENT_NUMBERS:
        assert index.match({"a": value}) == reference.match({"a": value}), value


@pytest.mark.parametrize("negated", [False, True])
def test_every_text_compares_exactly_with_every_other(engine: Engine, negated: bool) -> None:
    reference: LinearIndex[Filter] = LinearIndex()
    index = engine()
    for text in FILTER_TEXTS:
        for operator in COMPARISONS + TEXT_OPERATORS:
            filter: Filter = Predicate("a", operator, text)
            filter = Not(filter) if negated else filter
            reference.insert(filter, filter)
            index.insert(filter, filter)
    for value in EVENT_TEXTS:
        assert index.match({"a": value}) == reference.match({"a": value}), value


def test_thousands_of_ranges_thresholds_and_patterns_match_as_in_the_reference(
    engine: Engine,
) -> None:
    """Enough of each for several blocks, and for patterns to be found by the text's parts."""
    rng = random.Random(3)
    reference: LinearIndex[int] = LinearIndex()
    index = engine()

    def some_filter() -> Filter:
        text = "".join(rng.choices("abcä", k=rng.randint(0, 4)))
        match rng.randrange(4):
            case 0:
                low = rng.randrange(10_000)
                return Predicate("x", Operator.IN, Range(low, low + rng.choice([1, 50, 5000])))
            case 1:
                return Predicate("x", rng.choice(COMPARISONS), rng.randrange(10_000))
            case 2:
                return Predicate("t", Operator.IN, Range(text, text + rng.choice("xä€")))
            case _:
                return Predicate("t", rng.choice(TEXT_OPERATORS + COMPARISONS), text)

    for key in range(4_000):
        filter = some_filter()
        reference.insert(key, filter)
        index.insert(key, filter)
    for round in range(4):
        for _ in range(20):
            text = "".join(rng.choices("abcä€", k=rng.randint(0, 9)))
            event = {"x": rng.randrange(-5, 10_500), "t": text}
            assert index.match(event) == reference.match(event)
        for key in rng.sample(range(round * 1_000, round * 1_000 + 1_000), 900):
            reference.remove(key)
            index.remove(key)


@pytest.mark.parametrize("attributes", [2, 6, 50])
def test_conjunctions_of_comparisons_come_and_go(engine: Engine, attributes: int) -> None:
    """Enough for places to be divided anew, more and fewer; events lack some, or have texts."""
    rng = random.Random(attributes)
    reference: LinearIndex[int] = LinearIndex()
    index = engine()

    def some_comparison() -> Filter:
        name = f"x{rng.randrange(attributes)}"
        number = rng.choice([rng.random(), rng.randrange(3), 2**53 + rng.randrange(3)])
        match rng.randrange(8):
            case 0:
                return Not(Predicate(name, Operator.LT, number))
            case 1:
                return Predicate(name, rng.choice(COMPARISONS), number)
            case 2:
                return Predicate(name, Operator.EXISTS)
            case 3:
                return Predicate(name, rng.choice(COMPARISONS), "b")
            case 4:
                return Or((Predicate(name, Operator.GT, number), parse("x1 = 1")))
            case _:
                return Predicate(
                    name, Operator.IN, Range(number, number + rng.randrange(3), True, True)
                )

    def some_value() -> Any:
        return rng.choice([rng.random(), rng.randrange(3), 2**53 + rng.randrange(3), "a", "b"])

    for size in (300, 20, 700, 0):
        present = [key for key in range(10_000) if key in reference]
        for key in rng.sample(present, max(0, len(present) - size)):
            reference.remove(key)
            index.remove(key)
        while len(reference) < size:
            key = rng.randrange(10_000)
            if key not in reference:
                filter = And(tuple(some_comparison() for _ in range(rng.randint(2, 5))))
                reference.insert(key, filter)
                index.insert(key, filter)
            if len(reference) % 7 == 0:
                event = {f"x{rng.randrange(attributes)}": some_value() for _ in range(8)}
                assert index.match(event) == reference.match(event)
        for _ in range(40):
            event = {f"x{n}": some_value() for n in range(attributes) if rng.random() < 0.9}
            assert index.match(event) == reference.match(event)
    assert not len(index)


def test_hundreds_of_attributes_come_and_go(engine: Engine) -> None:
    rng = random.Random(6)
    reference: LinearIndex[int] = LinearIndex()
    index = engine()
    for _ in range(3_000):
        key = rng.randrange(300)
        if key in index:
            index.remove(key)
            reference.remove(key)
        else:
            filter = parse(f"n{key} = 1 and not n{key // 2} = 2 or n{key} > 7")
            index.insert(key, filter)
            reference.insert(key, filter)
        event = {f"n{rng.randrange(300)}": rng.choice([1, 2, 8]) for _ in range(20)}
        assert index.match(event) == reference.match(event)


def test_an_event_may_be_any_mapping(engine: Engine) -> None:
    index = engine()
    index.insert("ann", parse("a = 1 and b = 2"))
    event: dict[Any, Any] = {"a": 1, "b": 2, 3: 4, None: 5}
    for same in (event, OrderedDict(event), UserDict(event), {Text("a"): 1, Text("b"): 2}):
        assert index.match(same) == {"ann"}
    for wrong in (3, None, [1]):
        with pytest.raises((TypeError, AttributeError)):
            index.match(wrong)  # type: ignore[arg-type]


def test_leaves_that_make_no_filter_are_refused(engine: Engine) -> None:
    index: Any = engine()
    leaf = ("a", 0, 1, -1, -2, True)
    wrong: list[Any] = [
        *(
            None,
            [],
            [None],
            [leaf[:-1]],
            [("a", 12, 1, -1, -2, True)],
            [("a", 0, None, -1, -2, True)],
        ),
        *([("a", 0, 1, 0, -2, True)], [("a", 0, 1, -1, -3, True)], [("a", 6, 1, -1, -2, True)]),
        *(
            [("a", 10, 1, -1, -2, True)],
            [leaf, ("a", 10, 1, 0, -2, True)],
            [("a", 9, 1, -1, -2, True)],
        ),
        [leaf, leaf, ("a", 0, 1, 2, -2, True)],
        [("a", 2, 5, -1, -2, True), ("a", 10, 1, 0, -1, True)],
    ]
    for leaves in wrong:
        with pytest.raises(TypeError):
            index.enter("key", leaves, 1)
    assert not len(index)
    with pytest.raises(TypeError):
        index.insert([], parse("a = 1"))
    assert index.match({"a": 1}) == set()


@pytest.mark.parametrize("text", ["a = 1", "a = 1 or b = 1", "a = 1 and b = 1", "not c = 1"])
@pytest.mark.parametrize("make_key", [Key, lambda: (Key(), "x" * 3), lambda: parse("z = 77777")])
def test_references_are_given_back(engine: Engine, text: str, make_key: Callable[[], Any]) -> None:
    key = make_key()
    before = sys.getrefcount(key)
    index = engine()
    for _ in range(3):
        index.insert(key, parse(text))
        for _ in range(5):
            assert index.match({"a": 1, "b": 1}) == {key}
        with pytest.raises(ValueError, match="already in the index"):
            index.insert(key, parse("a = 2"))
        index.remove(key)
        assert sys.getrefcount(key) == before
    index.insert(key, parse(text))
    del index
    assert sys.getrefcount(key) == before


def test_indexes_with_equal_filters_know_nothing_of_each_other(engine: Engine) -> None:
    one, other = engine(), engine()
    for index in (one, other):
        index.insert("key", parse('a = 1 and (b = 2 or c prefix "x")'))
    one.remove("key")
    assert one.match({"a": 1, "b": 2}) == set()
    assert other.match({"a": 1, "b": 2}) == {"key"}


@pytest.mark.parametrize("is_slowly_hashed", [False, True])
def test_a_cycle_through_a_key_is_collected(engine: Engine, is_slowly_hashed: bool) -> None:
    target: Any = Key()
    target.index = engine()
    key = (target,) if is_slowly_hashed else target
    target.index.insert(key, parse("a = 1 and b = 2"))
    target.index.insert("other", parse("a = 1"))
    watched = weakref.ref(target)
    del key, target
    gc.collect()
    assert watched() is None


def test_what_is_removed_leaves_no_memory_behind(engine: Engine) -> None:
    rng = random.Random(8)
    some = [(Key(), random_filter(rng, 3)) for _ in range(300)]
    index = engine()

    def come_and_go() -> None:
        for key, filter in some:
            index.insert(key, filter)
        for _ in range(50):
            index.match(random_event(rng))
        rng.shuffle(some)
        for key, _ in some:
            index.remove(key)
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
    assert after - before < 5_000


def test_an_empty_engine_is_small() -> None:
    assert sys.getsizeof(NativeIndex()) < 300


def test_a_key_may_come_back_while_it_is_hashed_compared_or_deleted(engine: Engine) -> None:
    index = engine()

    class Meddler:
        busy = False

        def __init__(self, name: int) -> None:
            self.name = name

        def meddle(self) -> None:
            if not Meddler.busy:
                Meddler.busy = True
                index.match({"a": 1, "b": 1})
                if 5 in index:
                    index.remove(5)
                else:
                    index.insert(5, parse("a = 1 and b = 1"))
                Meddler.busy = False

        def __hash__(self) -> int:
            self.meddle()
            return 7

        def __eq__(self, other: object) -> bool:
            self.meddle()
            return isinstance(other, Meddler) and self.name == other.name

        def __del__(self) -> None:
            self.meddle()

    for name in range(30):
        index.insert(Meddler(name), parse("a = 1" if name % 2 else "a = 1 and not b = 2"))
    assert len([key for key in index.match({"a": 1, "b": 1}) if key != 5]) == 30
    for name in range(30):
        index.remove(Meddler(name))
    assert len(index) <= 1


@pytest.mark.parametrize("text", ["a = 1", "a = 1 and not b = 2", "not b = 2"])
def test_a_key_may_remove_others_that_match_while_it_is_compared(engine: Engine, text: str) -> None:
    index = engine()
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
                keys.append([frozenset([number]) for number in range(3_000)])
            return self is other

    for _ in range(100):
        keys.append(Remover())
        index.insert(keys[-1], parse(text))
    Remover.armed = True
    matched = index.match({"a": 1})
    assert not Remover.armed
    assert {type(key) for key in matched} == {Remover}
    assert len(matched) == 100
    assert len(index.match({"a": 1})) == len(index) == 2


@pytest.mark.parametrize("text", ["a = 1", "a = 1 and not b = 2"])
def test_what_matches_is_given_back_if_a_key_cannot_be_compared(engine: Engine, text: str) -> None:
    class Shy:
        armed = False

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            if Shy.armed:
                raise LookupError
            return self is other

    index = engine()
    keys = [Shy() for _ in range(20)]
    before = [sys.getrefcount(key) for key in keys]
    for place in range(20):
        index.insert(keys[place], parse(text))
    Shy.armed = True
    with pytest.raises(LookupError):
        index.match({"a": 1})
    Shy.armed = False
    del index
    gc.collect()
    assert [sys.getrefcount(key) for key in keys] == before


@pytest.mark.parametrize("others", [0, 4, 8, 16])
def test_an_engine_that_runs_out_of_memory_goes_on(engine: Engine, others: int) -> None:
    memory = pytest.importorskip("_testcapi")
    filters = [parse(f"a = {n} and b < {n} and not c = {n}") for n in range(others + 1)]
    for allocations in range(60):
        index = engine()
        for key in range(others):
            index.insert(key, filters[key])
        failed = False
        memory.set_nomemory(allocations, 0)
        try:
            index.insert(others, filters[others])
        except MemoryError:
            failed = True
        finally:
            memory.remove_mem_hooks()
        for n in range(others + 1):
            expected = {n} if n < others or not failed else set()
            assert index.match({"a": n, "b": n - 1}) == expected
        assert len(index) == others + (not failed)
        memory.set_nomemory(0, 0)
        try:
            del index
        finally:
            memory.remove_mem_hooks()


def test_the_native_engine_is_the_one_in_use() -> None:
    assert isinstance(new_index(), NativeIndex)
    assert choice.NativeIndex is NativeIndex
