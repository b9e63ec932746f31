"""Numbers read as people write them, and do not claim more than is known."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.figures.confidence import Estimate, estimate
from analysis.figures.numbers import (
    MINUS,
    NONE,
    SPACE,
    column,
    counted,
    digits,
    estimated,
    in_bytes,
    in_seconds,
    joined,
    percent,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (1, "1"), (31274, "31,274"), (12345.6, "12,346"), (3.14159, "3.14"),
        (29.0026, "29.0"), (0.0123456, "0.0123"), (9.999, "10.0"), (-2.5, f"{MINUS}2.50"),
        (1.5e-7, "1.50e-07"), (math.nan, NONE),
    ],
)  # fmt: skip
def test_three_digits_are_enough(value: float, text: str) -> None:
    assert digits(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"), (1.0, "100 %"), (0.473, "47 %"), (0.0171, "1.7 %"), (0.9804, "98.0 %"),
        (0.9999, "99.99 %"), (0.999999, "99.99 %"), (0.00001, "under 0.1 %"), (math.nan, NONE),
    ],
)  # fmt: skip
def test_shares_are_percents(share: float, text: str) -> None:
    assert percent(share) == text.replace(" %", f"{SPACE}%")


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_what_is_not_all_never_reads_100_and_what_is_something_never_0(share: float) -> None:
    number = percent(share).split(SPACE)[0]
    assert number not in ("0", "0.0", "100", "100.0", "100.00")


def test_amounts_take_the_unit_that_fits() -> None:
    assert in_bytes(878) == f"878{SPACE}B"
    assert in_bytes(3_197_624) == f"3.20{SPACE}MB"
    assert in_seconds(0.01243) == f"12.4{SPACE}ms"
    assert in_seconds(2.5e-7) == f"250{SPACE}ns"


def test_an_estimate_is_as_exact_as_its_interval() -> None:
    assert estimated(Estimate(499.123, 279.4, 3), unit="B") == f"499{SPACE}±{SPACE}279{SPACE}B"
    assert estimated(Estimate(0.123456, 0.0021, 3)) == f"0.1235{SPACE}±{SPACE}0.0021"
    assert estimated(Estimate(2.5, math.nan, 1)) == "2.50"
    assert estimated(Estimate(2.5, 1e-9, 3)) == f"2.500{SPACE}±{SPACE}0.000"
    assert estimated(Estimate(5, 0, 3)) == f"5{SPACE}±{SPACE}0"


def test_a_column_has_as_many_decimals_in_every_row() -> None:
    cells = column([Estimate(4.7204, 0.27, 3), Estimate(0.2341, 0.0043, 3), estimate([])])
    assert cells == [f"4.72{SPACE}±{SPACE}0.27", f"0.23{SPACE}±{SPACE}0.00", NONE]


def test_small_numbers_are_words() -> None:
    assert counted(1, "link") == "one link"
    assert counted(12, "link") == "twelve links"
    assert counted(1234, "link") == "1,234 links"


def test_lists_end_in_and() -> None:
    assert joined([]) == ""
    assert joined(["a"]) == "a"
    assert joined(["a", "b", "c"]) == "a, b and c"
