"""A page says what each figure rests on, and gives the reasons of today."""

import shutil
from pathlib import Path

import pytest

from analysis.reproduction import FAMILIES
from analysis.reproduction.page import extent, write

KEPT = Path(__file__).parents[3] / "docs" / "reproduction"


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


@pytest.mark.parametrize("name", FAMILIES)
def test_the_kept_pages_have_the_reasons_of_today(name: str, tmp_path: Path) -> None:
    """`make docs` writes them."""
    shutil.copytree(KEPT / name, tmp_path / name)
    assert write(FAMILIES[name], tmp_path).read_text() == (KEPT / f"{name}.md").read_text()
    for kept in (KEPT / name).glob("*.json"):
        assert (tmp_path / name / kept.name).read_text() == kept.read_text(), kept.name
