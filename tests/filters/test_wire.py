from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from pysim.filters import Filter, FilterDecodeError, from_wire, parse, to_wire
from pysim.filters.language import MAX_DEPTH

from .strategies import filters

TABLE = [
    ("a = 1 and b = 2", (0, (3, "a", 1), (3, "b", 2))),
    ("a = 1 or b = 2", (1, (3, "a", 1), (3, "b", 2))),
    ("not a = 1", (2, (3, "a", 1))),
    ("a = 1", (3, "a", 1)),
    ("a != 1", (4, "a", 1)),
    ("a < 1.5", (5, "a", 1.5)),
    ('a <= "x"', (6, "a", "x")),
    ("a > 1", (7, "a", 1)),
    ("a >= 1", (8, "a", 1)),
    ('a prefix "x"', (9, "a", "x")),
    ('a suffix "x"', (10, "a", "x")),
    ('a contains "x"', (11, "a", "x")),
    ("exists a", (12, "a")),
    ("a in [1, 2]", (13, "a", 1, 2)),
    ("a in [1, 2)", (14, "a", 1, 2)),
    ("a in (1, 2]", (15, "a", 1, 2)),
    ("a in (1, 2)", (16, "a", 1, 2)),
]


@pytest.mark.parametrize(("text", "wire"), TABLE)
def test_the_wire_table_stays_as_it_is(text: str, wire: object) -> None:
    assert to_wire(parse(text)) == wire
    assert from_wire(wire) == parse(text)


def test_a_character_pattern_takes_nine_bytes() -> None:
    assert len(msgspec.msgpack.encode(to_wire(parse('body contains "x"')))) == 9


@settings(max_examples=1200, deadline=None)
@given(filters)
def test_a_filter_comes_back_from_messagepack_as_it_was(filter: Filter) -> None:
    encoded = msgspec.msgpack.encode(to_wire(filter))
    assert from_wire(msgspec.msgpack.decode(encoded)) == filter
    assert from_wire(to_wire(filter)) == filter


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        (None, "Expected an array, found NoneType at $."),
        ("a = 1", "Expected an array, found 'a = 1' at $."),
        ([], "Expected a code from 0 to 16, found NoneType at $[0]."),
        ([17, "a", 1], "Expected a code from 0 to 16, found 17 at $[0]."),
        ([-1], "Expected a code from 0 to 16, found -1 at $[0]."),
        ([10**5000], "Expected a code from 0 to 16, found int at $[0]."),
        ([True, [3, "a", 1]], "Expected a code from 0 to 16, found True at $[0]."),
        ([3.0, "a", 1], "Expected a code from 0 to 16, found 3.0 at $[0]."),
        ([0], "Expected at least one filter, found 0 at $."),
        ([2], "Expected one filter, found 0 at $."),
        ([2, [12, "a"], [12, "b"]], "Expected one filter, found 2 at $."),
        ([0, [12, "a"], [1, [12, "b"], 7]], "Expected an array, found 7 at $[2][2]."),
        ([3, "a"], "Expected an array of 3, found 2 at $."),
        ([12, "a", 1], "Expected an array of 2, found 3 at $."),
        ([14, "a", 1], "Expected an array of 4, found 3 at $."),
        ([2, [3, "", 1]], "Expected the name of an attribute, found '' at $[1][1]."),
        ([3, b"a", 1], "Expected the name of an attribute, found bytes at $[1]."),
        ([3, "a", True], "Expected an integer, a float or a string, found True at $[2]."),
        ([3, "a", None], "Expected an integer, a float or a string, found NoneType at $[2]."),
        ([3, "a", float("nan")], "Expected a finite number, found nan at $[2]."),
        (
            [3, "a", 2**64 - 1],
            "Expected a signed integer of at most 64 bits, found one of 65 at $[2].",
        ),
        ([9, "a", 1], "Expected a string for prefix, found 1 at $."),
        ([14, "a", 2, 1], "Expected a range that is not empty, found [2, 1) at $."),
        ([14, "a", 1, "x"], 'Expected two ends of one kind, found the range [1, "x") at $.'),
    ],
)
def test_an_error_says_what_was_expected_what_was_found_and_where(
    wire: object, message: str
) -> None:
    with pytest.raises(FilterDecodeError) as caught:
        from_wire(wire)
    assert str(caught.value) == message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_nesting_is_decoded_up_to_the_bound() -> None:
    wire: list[Any] = [12, "a"]
    for _ in range(MAX_DEPTH - 1):
        wire = [2, wire]
    assert from_wire(wire).depth == MAX_DEPTH
    with pytest.raises(FilterDecodeError, match="Expected at most 100 levels, found more"):
        from_wire([2, wire])


def test_an_array_that_contains_itself_is_refused() -> None:
    wire: list[Any] = [0]
    wire += [wire, wire]
    with pytest.raises(FilterDecodeError, match="Expected at most 100 levels, found more"):
        from_wire(wire)


SEEDS = [parse(text) for text, _ in TABLE] + [
    parse('price < 30 and (author = "Le Guin" or not (exists b or not c in ["x", "z")))'),
    parse("not (a = 1 and (b = 2 or (c = 3 and (d = 4 or not e = 5))))"),
    parse('a in {1, 2.5, "x", ""} and body contains "y"'),
]

JUNK: list[Any] = [
    *range(-2, 19),
    *(True, None, "", "a", "\ud800", b"a", 1.5, 3.0, float("nan"), float("inf"), -0.0),
    *(2**63, -(2**63), 10**400, [], [[]], {}, {"a": 1}, (), {1}, object(), [12, "a"], [2, 2]),
]


def as_lists(wire: Any) -> Any:
    return [as_lists(part) for part in wire] if isinstance(wire, tuple) else wire


def arrays(wire: Any) -> list[list[Any]]:
    """The array and all arrays inside it."""
    return [wire, *(inner for part in wire if isinstance(part, list) for inner in arrays(part))]


def damage(wire: list[Any], rng: random.Random) -> None:
    array = rng.choice(arrays(wire))
    place = rng.randrange(len(array) + 1)
    match rng.randrange(4):
        case 0:
            array[place : place + 1] = [copy.deepcopy(rng.choice(JUNK))]
        case 1:
            array.insert(place, copy.deepcopy(rng.choice(JUNK)))
        case 2:
            del array[place:]
        case 3:
            array[place : place + 1] = [as_lists(to_wire(rng.choice(SEEDS)))]


def test_a_damaged_wire_form_is_a_filter_or_a_decode_error() -> None:
    rng = random.Random(1)
    decoded = 0
    for _ in range(25_000):
        wire = as_lists(to_wire(rng.choice(SEEDS)))
        for _ in range(rng.randint(1, 3)):
            damage(wire, rng)
        try:
            filter = from_wire(wire)
        except FilterDecodeError:
            continue
        decoded += 1
        assert from_wire(to_wire(filter)) == filter
    assert 500 < decoded < 15_000, "damage must neither spare nor destroy nearly everything"


def test_damaged_bytes_are_a_filter_or_an_error_of_the_codec_or_a_decode_error() -> None:
    rng = random.Random(2)
    for _ in range(10_000):
        encoded = bytearray(msgspec.msgpack.encode(to_wire(rng.choice(SEEDS))))
        encoded[rng.randrange(len(encoded))] = rng.randrange(256)
        try:  # the codec lets Python's UnicodeDecodeError through where a string is damaged
            from_wire(msgspec.msgpack.decode(encoded))
        except (msgspec.DecodeError, UnicodeDecodeError, FilterDecodeError):
            continue
