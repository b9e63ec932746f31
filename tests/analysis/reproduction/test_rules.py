"""A verdict needs the whole interval on one side."""

import math

import pytest

from analysis.figures.confidence import Estimate
from analysis.reproduction.rules import UNPUBLISHED, Rule, about, at_least, at_most, exactly


@pytest.mark.parametrize(
    ("rule", "mean", "half", "verdict"),
    [
        (about(75, 5), 76, 2, "holds"),
        (about(75, 5), 69, 1, "unclear"),
        (about(75, 5), 79, 2, "unclear"),
        (about(75, 5), 60, 3, "differs"),
        (about(75, 5), 90, 3, "differs"),
        (at_least(0), 0.5, 0.4, "holds"),
        (at_least(0), 0.5, 0.6, "unclear"),
        (at_least(0), -1, 0.6, "differs"),
        (at_most(10), 9, 1, "holds"),
        (at_most(10), 11, 2, "unclear"),
        (at_most(10), 12, 1, "differs"),
        (exactly(100), 100, 0, "holds"),
        (exactly(100), 99.99, 0.001, "differs"),
        (exactly(100), 99.5, 0.8, "differs"),  # at least one run had less than 100
        (UNPUBLISHED, 3, 1, "measured"),
    ],
)
def test_a_verdict_follows_from_the_interval(
    rule: Rule, mean: float, half: float, verdict: str
) -> None:
    assert rule.judge(Estimate(mean, half, 30)) == verdict


def test_one_seed_is_judged_by_itself_and_none_not_at_all() -> None:
    assert about(75, 5).judge(Estimate(76, math.nan, 1)) == "holds"
    assert about(75, 5).judge(Estimate(81, math.nan, 1)) == "differs"
    assert about(75, 5).judge(Estimate(math.nan, math.nan, 0)) == "not measured"


def test_a_rule_says_what_it_is() -> None:
    assert about(3.44, 0.35).words == "about 3.44 (± 0.35)"
    assert at_most(50).words == "at most 50"
