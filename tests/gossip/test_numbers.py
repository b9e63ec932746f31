"""Number sets behave as sets of numbers do."""

from hypothesis import given
from hypothesis import strategies as st

from pysim.gossip import NumberSet

numbers = st.integers(1, 40)
ranges = st.lists(st.tuples(numbers, numbers))


def plain(given_ranges: list[tuple[int, int]]) -> set[int]:
    return {n for first, last in given_ranges for n in range(first, last + 1)}


@given(ranges)
def test_its_ranges_are_ascending_and_apart(given_ranges):
    made = NumberSet(given_ranges)
    assert list(made) == sorted(plain(given_ranges))
    assert len(made) == len(plain(given_ranges))
    assert bool(made) == bool(plain(given_ranges))
    edges = [edge for bounds in made.ranges() for edge in bounds]
    assert edges == sorted(edges)
    assert all(b - a > 1 for a, b in zip(edges[1::2], edges[2::2], strict=False))
    assert (made.lowest, made.highest) == (min(made, default=0), max(made, default=0))


@given(ranges, ranges, numbers, numbers)
def test_its_operations_are_those_of_sets(some, others, first, last):
    a, b = NumberSet(some), NumberSet(others)
    assert set(a - b) == plain(some) - plain(others)
    assert set(a & b) == plain(some) & plain(others)
    assert set(a.within(first, last)) == plain(some) & set(range(first, last + 1))
    assert (first in a) == (first in plain(some))
    assert (a == b) == (plain(some) == plain(others))
    a.update(b)
    assert set(a) == plain(some) | plain(others)
