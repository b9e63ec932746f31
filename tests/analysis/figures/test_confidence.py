"""Intervals are Student's, and seeds that tell nothing do not count."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.figures.confidence import aligned, band, estimate, student


@pytest.mark.parametrize(
    ("freedom", "errors"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (29, 2.0452), (999, 1.9623)],
)
def test_intervals_reach_as_far_as_the_tables_of_students_distribution_say(
    freedom: int, errors: float
) -> None:
    assert student(freedom) == pytest.approx(errors, abs=5e-5)


def test_an_interval_from_three_seeds_is_the_one_of_the_textbook() -> None:
    value = estimate([9.0, 10.0, 11.0])
    assert value.mean == 10
    assert value.half == pytest.approx(4.3027 / math.sqrt(3), abs=1e-4)
    assert value.known


def test_seeds_that_agree_have_an_interval_of_no_width() -> None:
    assert estimate([0.4456789] * 3).half == 0


def test_one_seed_has_no_interval() -> None:
    value = estimate([7.0])
    assert (value.mean, value.known, value.seeds) == (7.0, False, 1)


def test_seeds_that_tell_nothing_are_left_out() -> None:
    assert estimate([1.0, math.nan, 3.0]).seeds == 2
    assert estimate([1.0, math.nan, 3.0]).mean == 2
    assert estimate([math.nan]).seeds == 0


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8), st.floats(-1e6, 1e6))
def test_a_shift_moves_the_mean_and_not_the_width(values: list[float], shift: float) -> None:
    here, there = estimate(values), estimate([value + shift for value in values])
    assert there.mean == pytest.approx(here.mean + shift, abs=1e-6)
    assert there.half == pytest.approx(here.half, abs=1e-5)


def test_curves_are_brought_to_the_same_places() -> None:
    first, second = pd.Series({1: 10.0, 2: 20.0}), pd.Series({2: 30.0, 4: 5.0})
    places, rows = aligned([first, second], 0.0)
    assert list(places) == [1, 2, 4]
    assert rows.tolist() == [[10, 20, 0], [0, 30, 5]]


def test_a_band_is_the_estimate_at_every_place() -> None:
    rows = np.array([[1.0, 5.0], [3.0, 5.0]])
    curve = band(rows)
    assert curve.mean.tolist() == [2, 5]
    assert curve.high[0] - curve.mean[0] == pytest.approx(estimate([1.0, 3.0]).half)
    assert curve.low[1] == curve.high[1] == 5
