"""Measures pick the right rows and pair them by seed."""

import pandas as pd
import pytest

from analysis.reproduction.measures import (
    GREATEST,
    HIGHEST,
    LEAST,
    LOWEST,
    between,
    difference,
    greatest,
    least,
    number,
    ratio,
    total,
    within,
)

ROWS = pd.DataFrame(
    [
        ("STRAWMAN", 50, 1, 10.0),
        ("STRAWMAN", 50, 2, 20.0),
        ("STRAWMAN", 100, 1, 30.0),
        ("STRAWMAN", 100, 2, 50.0),
        ("RP", 50, 1, 5.0),
        ("RP", 50, 2, 4.0),
        ("RP", 100, 1, 3.0),
        ("RP", 100, 2, 2.0),
        ("ILA", 50, 1, 7.0),
        ("ILA", 100, 3, float("nan")),
    ],
    columns=["protocol", "brokers", "seed", "cost"],
)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (100, {1: 3.0, 2: 2.0}),
        (LEAST, {1: 5.0, 2: 4.0}),
        (GREATEST, {1: 3.0, 2: 2.0}),
        (LOWEST, {1: 3.0, 2: 2.0}),
        (HIGHEST, {1: 5.0, 2: 4.0}),
        (700, {}),
    ],
)
def test_a_place_is_a_value_or_found_by_what_is_there(
    place: object, expected: dict[int, float]
) -> None:
    assert number("cost", "RP", {"brokers": place})(ROWS).to_dict() == expected


def test_without_a_place_a_seed_gives_its_mean() -> None:
    assert number("cost", "RP")(ROWS).to_dict() == {1: 4.0, 2: 3.0}
    assert number("cost", ("RP", "ILA"))(ROWS).to_dict() == {1: 5.0, 2: 3.0}


def test_numbers_are_compared_seed_by_seed() -> None:
    at = {"brokers": 50}
    strawman, path = number("cost", "STRAWMAN", at), number("cost", "RP", at)
    assert difference(strawman, path)(ROWS).to_dict() == {1: 5.0, 2: 16.0}
    assert ratio(strawman, number("cost", "ILA", at))(ROWS).to_dict() == {1: 10 / 7}


def test_a_ratio_is_one_of_means_and_not_a_mean_of_ratios() -> None:
    """It is (10 + 20) / (5 + 4); seed 1 lies below it and seed 2 as far above."""
    at = {"brokers": 50}
    found = ratio(number("cost", "STRAWMAN", at), number("cost", "RP", at))(ROWS)
    assert found.mean() == pytest.approx(30 / 9)
    assert found[2] - found[1] == pytest.approx(2 * (20 - 4 * 30 / 9) / 4.5)


def test_what_is_useful_for_its_overhead_is_a_ratio_of_means() -> None:
    """A seed with next to no overhead would else outweigh all others."""
    rows = ROWS.assign(useful=[3, 5, 3, 5, 0, 0, 0, 0, 0, 0])
    rows["overhead of useful"] = [0.5, 3.5, 0.5, 3.5, 1, 1, 1, 1, 1, 1]
    rows["useful per overhead"] = rows["useful"] / rows["overhead of useful"]
    found = number("useful per overhead", "STRAWMAN")(rows)
    assert found.mean() == pytest.approx(8 / 4)
    assert found.to_dict() == pytest.approx({1: 2 + (3 - 2 * 0.5) / 2, 2: 2 + (5 - 2 * 3.5) / 2})


def test_a_total_is_that_of_seeds_that_all_have() -> None:
    one, other = number("cost", "RP", {"brokers": 50}), number("cost", "ILA", {"brokers": 50})
    assert total(one, other)(ROWS).to_dict() == {1: 12.0}
    assert total(one, one)(ROWS).to_dict() == {1: 10.0, 2: 8.0}


def test_the_least_and_the_greatest_are_chosen_by_their_means() -> None:
    measures = [number("cost", name) for name in ("STRAWMAN", "RP", "ILA")]
    assert least(measures)(ROWS).to_dict() == {1: 4.0, 2: 3.0}
    assert greatest(measures)(ROWS).to_dict() == {1: 20.0, 2: 35.0}


def test_a_part_of_the_runs_is_measured_alone() -> None:
    assert within("brokers", 100, number("cost", "RP"))(ROWS).to_dict() == {1: 3.0, 2: 2.0}


@pytest.mark.filterwarnings("error")
def test_a_ratio_to_nothing_is_not_measured() -> None:
    nothing = pd.Series({1: 0.0, 2: 0.0})
    for one in (nothing, pd.Series({1: 3.0, 2: 4.0})):
        assert ratio(lambda _, one=one: one, lambda _: nothing)(ROWS).empty


def test_so_is_what_lies_between_two_places() -> None:
    """The least cost of STRAWMAN is found where the key is above 50 and below 101 only."""
    cheapest = number("cost", "STRAWMAN", {"brokers": LOWEST})
    assert cheapest(ROWS).to_dict() == {1: 10.0, 2: 20.0}
    assert between("brokers", 50, 101, cheapest)(ROWS).to_dict() == {1: 30.0, 2: 50.0}
