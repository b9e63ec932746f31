"""Who needs less, where one overtakes the other, and when nobody can tell."""

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.comparison.crossings import Crossing, Standing, crossings, stand
from analysis.figures.confidence import Estimate


def standing(at: float, mean: float, half: float = 0.0) -> Standing:
    return Standing(f"{at:g}", at, Estimate(mean, half, 4), 1.0)


def found(means: Sequence[float], half: float = 1.0, first: float = 0.0) -> list[Crossing]:
    return list(crossings([standing(first + at, mean, half) for at, mean in enumerate(means)]))


def test_seeds_are_paired_so_that_what_they_have_in_common_does_not_count() -> None:
    """Both vary a hundredfold from seed to seed, and one is always a little above the other."""
    first = {1: 10.0, 2: 1000.0, 3: 300.0}
    second = {1: 11.0, 2: 1001.1, 3: 300.9}
    met = stand("x", 0.0, first, second)
    assert met.sign == -1
    assert met.difference.mean == pytest.approx(-1.0)
    assert met.ratio == pytest.approx(1310 / 1313)


def test_only_seeds_that_both_have_count_and_one_seed_tells_nothing() -> None:
    met = stand("x", 0.0, {1: 1.0, 2: 2.0, 3: math.nan}, {2: 5.0, 3: 5.0, 4: 7.0})
    assert met.difference.seeds == 1
    assert met.difference.mean == -3.0
    assert met.sign == 0


def test_what_is_equal_is_not_told_apart_and_what_always_differs_alike_is() -> None:
    assert stand("x", 0.0, {1: 5.0, 2: 6.0}, {1: 5.0, 2: 6.0}).sign == 0
    assert stand("x", 0.0, {1: 5.0, 2: 6.0}, {1: 4.0, 2: 5.0}).sign == 1
    assert stand("x", 0.0, {1: 5.0, 2: 9.0}, {1: 4.0, 2: 9.5}).sign == 0


def test_one_overtakes_the_other_where_the_mean_difference_is_zero() -> None:
    assert found([-10, -2, 6, 20]) == [Crossing("1", "2", 1.25, -1)]
    assert found([10, 5, -5]) == [Crossing("1", "2", 1.5, 1)]


def test_uncertain_places_only_widen_the_gap() -> None:
    assert found([-10, -0.5, 0.5, 10]) == [Crossing("0", "3", 1.5, -1)]
    assert found([-10, 0.0, 10]) == [Crossing("0", "2", 1.0, -1)]


def test_without_certainty_on_both_sides_nothing_is_claimed() -> None:
    assert found([-10, -2, 0.9]) == []
    assert found([0.5, 2, 10]) == []
    assert found([-0.9, 0.9]) == []
    assert found([-10, -5], half=math.nan) == []


def test_they_may_overtake_each_other_more_than_once() -> None:
    assert [crossing.sign for crossing in found([-10, 10, -10])] == [-1, 1]


def test_on_a_logarithmic_axis_the_way_is_measured_in_factors() -> None:
    ends = [standing(1, -5, 1), standing(100, 5, 1)]
    assert [crossing.at for crossing in crossings(ends, logarithmic=True)] == [pytest.approx(10)]
    assert [crossing.at for crossing in crossings(ends)] == [pytest.approx(50.5)]


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=12), st.floats(0, 50))
def test_every_crossing_lies_between_certain_places_of_other_signs(
    means: list[float], half: float
) -> None:
    standings = [standing(at, mean, half) for at, mean in enumerate(means)]
    signs = {each.place: each.sign for each in standings}
    last = None
    for crossing in crossings(standings):
        assert signs[crossing.low] == crossing.sign == -signs[crossing.high] != 0
        assert float(crossing.low) <= crossing.at <= float(crossing.high)
        assert last is None or last <= float(crossing.low)
        last = float(crossing.high)
    certain = [each.sign for each in standings if each.sign]
    turns = sum(a != b for a, b in itertools.pairwise(certain))
    assert turns == len(list(crossings(standings)))
