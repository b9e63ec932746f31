"""A page says what each figure rests on."""

import pytest

from analysis.reproduction.page import extent


@pytest.mark.parametrize(
    ("repeats", "words"),
    [
        ({"repeats": [5, 25]}, "80 runs, 5 of 25 a point, 5 seeds"),
        ({"repeats": [25, 25]}, "80 runs, 5 seeds"),
        ({}, "80 runs, 5 seeds"),  # written before a part could be asked for
    ],
)
def test_a_figure_that_has_only_some_of_its_runs_says_so(repeats, words) -> None:
    assert extent({"runs": 80, "seeds": 5, **repeats}) == words
