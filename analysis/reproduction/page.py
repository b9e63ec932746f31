"""A family's page: every statement with its verdict, figure by figure, as Markdown."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.figures.numbers import NONE
from analysis.reproduction.figure import Family, Figure
from analysis.reproduction.judging import judge_anew

_PREFACE = (
    "This page is made by `pysim reproduce {family}/all --out docs/reproduction`; do not edit it."
    " A row has a published statement, in our words, beside the mean over seeds and its 95 %"
    " confidence interval: the statement *holds* if the whole interval agrees with it, *differs* if"
    " none of it does, and is *unclear* otherwise; one run refutes what is to be *exactly* some"
    " number. Reasons are kept by hand in `analysis/reproduction/reasons.toml`."
)


def write(family: Family, directory: Path) -> Path:
    """Write the page of all figures whose results are in the directory; the result is its path.

    Both have the bounds and reasons of today, also for figures that were made when less was known.
    """
    found = {name: json.loads(file.read_bytes()) for name, file in _files(family, directory)}
    for name, file in _files(family, directory):
        judge_anew(family.name, family.figures[name], found[name])
        file.write_text(document(found[name]), encoding="utf-8")
    path = directory / f"{family.name}.md"
    path.write_text("\n".join(_lines(family, directory, found)) + "\n", encoding="utf-8")
    return path


def document(result: Mapping[str, Any]) -> str:
    """A figure's result as its file has it."""
    return f"{json.dumps(result, indent=2)}\n"


def extent(result: Mapping[str, Any]) -> str:
    """How many runs a result rests on, in words."""
    run, whole = result.get("repeats", (0, 0))
    part = f", {run} of {whole} a point" if run < whole else ""
    return f"{result['runs']} runs{part}, {result['seeds']} seeds"


def _files(family: Family, directory: Path) -> Iterator[tuple[str, Path]]:
    for name in family.figures:
        if (file := directory / family.name / f"{name}.json").is_file():
            yield name, file


def _lines(
    family: Family, directory: Path, found: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    yield f"# Reproduction: {family.name}"
    yield ""
    yield f"{family.paper}."
    yield ""
    yield from textwrap.wrap(_PREFACE.format(family=family.name), 100)
    yield ""
    yield from _totals([row for result in found.values() for row in result["rows"]])
    for name, result in found.items():
        yield from _section(family, family.figures[name], result, directory)


def _totals(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    counts = Counter(row["verdict"] for row in rows)
    parts = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    yield f"**{len(rows)} statements: {parts or 'none yet'}.**"


def _section(
    family: Family, figure: Figure, result: Mapping[str, Any], directory: Path
) -> Iterator[str]:
    yield ""
    yield f"## {figure.name}: {figure.title}"
    yield ""
    yield f"Published: {figure.published}"
    yield ""
    size = "a quick look, " if result["quick"] else ""
    yield f"Ours: {size}{extent(result)}."
    if (directory / family.name / f"{figure.name}.svg").is_file():
        yield ""
        yield f"![{figure.title}]({family.name}/{figure.name}.svg)"
    yield ""
    yield "| statement | published | measured | 95 % interval | verdict | note |"
    yield "|---|---|---|---|---|---|"
    yield from map(_row, result["rows"])


def _row(row: dict[str, Any]) -> str:
    measured = NONE if row["measured"] is None else f"{row['measured']:.4g}"
    interval = NONE if row["ci95"] is None else "{:.4g} … {:.4g}".format(*row["ci95"])
    statement = row["claim"].partition(": ")[2]
    cells = (statement, row["published"], measured, interval, row["verdict"], row["note"])
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
