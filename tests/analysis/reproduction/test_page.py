"""A page says what each figure rests on, and has the bounds and reasons of today."""

import json
import shutil
from pathlib import Path

import pytest

from analysis.reproduction import FAMILIES
from analysis.reproduction.figure import Claim, Figure
from analysis.reproduction.judging import judge_anew, reason
from analysis.reproduction.measures import number
from analysis.reproduction.page import extent, write
from analysis.reproduction.rules import at_most, exactly

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


@pytest.mark.parametrize(
    ("bound", "measured", "ci95", "verdict"),
    [
        (at_most(0.1), 0.05, [0.02, 0.08], "holds"),
        (at_most(0.05), 0.05, [0.02, 0.08], "unclear"),
        (at_most(0.01), 0.05, [0.02, 0.08], "differs"),
        (at_most(0.1), 0.05, None, "holds"),
        (at_most(0.1), None, None, "not measured"),
        (exactly(100), 100.0, [100.0, 100.0], "holds"),
        (exactly(100), 99.9, [99.7, 100.1], "differs"),
    ],
)
def test_kept_numbers_are_judged_by_the_bounds_of_today(bound, measured, ci95, verdict) -> None:
    claim = Claim("least", "STRAWMAN misroutes least", bound, number("misrouted", "STRAWMAN"))
    figure = Figure("fig0", "Events", "Nothing.", (), (claim,))
    row = {"published": "at most 1", "measured": measured, "ci95": ci95, "verdict": "holds"}
    changed = {**row, "claim": "fig0.least: said otherwise"}
    rows = [{**row, "claim": f"fig0.least: {claim.text}"}, changed]
    result = {"seeds": 30, "quick": False, "rows": rows}
    judge_anew("reconfiguration", figure, result)
    new, kept = result["rows"]
    assert (new["published"], new["verdict"]) == (bound.words, verdict)
    assert (kept["published"], kept["verdict"]) == ("at most 1", "holds")


@pytest.mark.parametrize("name", FAMILIES)
def test_the_kept_pages_have_the_bounds_and_reasons_of_today(name: str, tmp_path: Path) -> None:
    """`make docs` writes them."""
    shutil.copytree(KEPT / name, tmp_path / name)
    assert write(FAMILIES[name], tmp_path).read_text() == (KEPT / f"{name}.md").read_text()
    for kept in (KEPT / name).glob("*.json"):
        assert (tmp_path / name / kept.name).read_text() == kept.read_text(), kept.name


@pytest.mark.parametrize(("quick", "words"), [(False, ""), (True, "At the published size: ")])
def test_a_quick_look_says_that_a_reason_is_about_the_whole_figure(quick: bool, words: str) -> None:
    told = reason("reconfiguration", "fig24", "ila", "unclear", quick)
    assert told == words + reason("reconfiguration", "fig24", "ila", "differs")
    assert reason("reconfiguration", "fig24", "ila", "holds", quick) == ""
    assert reason("reconfiguration", "fig24", "rate", "unclear", quick) == ""


@pytest.mark.parametrize("name", FAMILIES)
def test_whatever_does_not_hold_at_its_size_has_a_reason(name: str) -> None:
    results = [json.loads(path.read_bytes()) for path in (KEPT / name).glob("*.json")]
    rows = [row for result in results if not result["quick"] for row in result["rows"]]
    assert rows
    assert [
        row["claim"] for row in rows if row["verdict"] in ("differs", "unclear") and not row["note"]
    ] == []
