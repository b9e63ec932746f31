"""Deliveries by column: they read as rows do."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pysim.network.deliveries import Deliveries, EventRow
from pysim.wire import MessageId

EVENTS = [EventRow(MessageId(9, 1), 3, 0, 20, 2), EventRow(MessageId(2, 7), 4, 1, 30, 1)]
KINDS = ("made", "early", "duplicate", "spurious")

added = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2**62),
        st.sampled_from(KINDS),
        st.sampled_from(("", "tree", "gossip")),
    )
)


def deliveries(rows: list[tuple]) -> Deliveries:
    made = Deliveries(EVENTS)
    for row in rows:
        made.add(*row)
    return made


def plain(rows: list[tuple]) -> list[tuple]:
    return [
        (EVENTS[number].id, broker, client, EVENTS[number].time, time, kind, way)
        for number, broker, client, time, kind, way in rows
    ]


@given(added)
def test_they_are_a_sequence_of_rows(rows):
    made, expected = deliveries(rows), plain(rows)
    assert list(made) == expected
    assert made == expected
    assert made == deliveries(rows)
    assert made != [*expected, None]
    assert made[1:] == expected[1:]
    assert made[::-2] == expected[::-2]
    assert len(made) == len(expected)
    assert repr(made) == repr(list(made))


@given(added)
def test_columns_are_the_same_rows(rows):
    columns = deliveries(rows).columns()
    assert list(zip(*columns, strict=True)) == [(*row[0], *row[1:]) for row in plain(rows)]


@given(added, st.randoms())
def test_a_digest_is_that_of_who_got_what_in_any_order(rows, random):
    parties = sorted(row[:3] for row in plain(rows))
    expected = hashlib.blake2b(repr(parties).encode(), digest_size=16).hexdigest()
    assert deliveries(rows).digest() == expected
    random.shuffle(rows)
    assert deliveries(rows).digest() == expected


def test_a_digest_goes_on_after_thousands_of_rows():
    rows = [(number % 2, number * 37 % 70_001, 0, 5, "made", "") for number in range(70_000)]
    parties = sorted(row[:3] for row in plain(rows))
    expected = hashlib.blake2b(repr(parties).encode(), digest_size=16).hexdigest()
    assert deliveries(rows).digest() == expected


def test_a_row_that_is_not_there_is_an_error():
    with pytest.raises(IndexError):
        deliveries([(0, 1, 2, 3, "made")])[1]
