"""Published statements against what our runs gave: a row for each, with a verdict and a reason."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from analysis.figures.confidence import Estimate, estimate
from analysis.reproduction.figure import Claim, Figure
from analysis.reproduction.rules import Verdict

_REASONS = Path(__file__).with_name("reasons.toml")
_AT_ITS_SIZE = "At the published size: "


class Row(NamedTuple):
    """A statement and what became of it; `measured` is a mean over seeds, None without any."""

    claim: str
    published: str
    measured: float | None
    ci95: tuple[float, float] | None
    verdict: Verdict
    note: str


def judge(family: str, figure: Figure, rows: pd.DataFrame, quick: bool = False) -> Iterator[Row]:
    """A row for each statement of a figure; `rows` is the table of its runs."""
    for claim in figure.claims:
        yield _row(family, figure, claim, _measured(claim, rows), quick)


def judge_anew(family: str, figure: Figure, result: Mapping[str, Any]) -> None:
    """Let a kept result have the bounds and the reasons of today.

    What a statement is measured by may have changed if its words have; then only the reason is new.
    """
    claims = {_title(figure, claim): claim for claim in figure.claims}
    for row in result["rows"]:
        key = row["claim"].partition(": ")[0].partition(".")[2]
        if claim := claims.get(row["claim"]):
            row["published"] = claim.rule.words
            row["verdict"] = claim.rule.judge(_kept(row, result["seeds"]))
        row["note"] = reason(family, figure.name, key, row["verdict"], result["quick"])


def _kept(row: Mapping[str, Any], seeds: int) -> Estimate:
    if row["measured"] is None:
        return estimate(())
    if row["ci95"] is None:
        return estimate([row["measured"]])
    low, high = row["ci95"]
    return Estimate(row["measured"], (high - low) / 2, seeds)


def _title(figure: Figure, claim: Claim) -> str:
    return f"{figure.name}.{claim.key}: {claim.text}"


def _measured(claim: Claim, rows: pd.DataFrame) -> Estimate:
    try:
        return estimate(claim.measure(rows))
    except KeyError:  # a run that failed, or a quick look, lacks what the statement is about
        return estimate(())


def _row(family: str, figure: Figure, claim: Claim, found: Estimate, quick: bool) -> Row:
    verdict = claim.rule.judge(found)
    return Row(
        claim=_title(figure, claim),
        published=claim.rule.words,
        measured=found.mean if found.seeds else None,
        ci95=(found.mean - found.half, found.mean + found.half) if found.known else None,
        verdict=verdict,
        note=reason(family, figure.name, claim.key, verdict, quick),
    )


def reason(family: str, figure: str, key: str, verdict: Verdict, quick: bool = False) -> str:
    """Why a statement does not hold, as far as we know today; reasons are about whole figures."""
    known = _reasons().get(family, {}).get(figure, {}).get(key, "")
    if verdict == "holds" or not known:
        return ""
    return f"{_AT_ITS_SIZE}{known}" if quick else known


@cache
def _reasons() -> dict[str, dict[str, dict[str, str]]]:
    """Why results differ, as far as we know: by family, figure and statement, kept by hand."""
    return tomllib.loads(_REASONS.read_text(encoding="utf-8"))
