"""A comparison as files and as plain data, for people and for scripts."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from analysis.comparison import words
from analysis.comparison.crossings import Standing
from analysis.comparison.measures import MEASURES
from analysis.comparison.page import compose, html
from analysis.comparison.results import Comparison, Place
from analysis.comparison.words import Statement
from analysis.figures.confidence import Estimate
from analysis.figures.style import rendered
from analysis.report.build import write_whole

PAGE = "comparison.html"
DATA = "comparison.json"


class Written(NamedTuple):
    """The files of a comparison."""

    page: Path
    figures: list[Path]


def write(comparison: Comparison) -> Written:
    """Write the page, its figures (SVG) and the data into the comparison's directory."""
    root = comparison.directory
    page = compose(comparison)
    figures = []
    for name, drawing in page.drawings.items():
        figures.append(root / f"{name}.svg")
        write_whole(figures[-1], rendered(drawing, "svg"))
    write_whole(root / PAGE, html(comparison, page).encode())
    write_whole(root / DATA, f"{json.dumps(as_dict(comparison), indent=2)}\n".encode())
    return Written(root / PAGE, figures)


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """All that was found; what is not known is null."""
    return {
        "experiment": comparison.first.manifest["experiment"],
        "network": comparison.first.manifest["network"]["backend"],
        "directory": str(comparison.directory),
        "systems": list(comparison.systems),
        "axis": comparison.axis or None,
        "others": list(comparison.others),
        "seeds": comparison.seeds,
        "bytes": comparison.bytes.key,
        "answer": list(words.answer(comparison)),
        "exact": {system: comparison.is_exact(system) for system in comparison.systems},
        "points": [
            _point(comparison, system, place)
            for system in comparison.systems
            for place in comparison.places
        ],
        "statements": [_statement(comparison, each) for each in words.statements(comparison)],
        "failed": [{"run": row["run"], "error": row["error"]} for row in comparison.failed],
    }


def _point(comparison: Comparison, system: str, place: Place) -> dict[str, Any]:
    keys = (comparison.axis, *comparison.others) if comparison.axis else ()
    values = (place.along, *place.others) if comparison.axis else ()
    return {
        "system": system,
        "at": dict(zip(keys, values, strict=True)),
        "measures": {
            measure.key: _estimated(
                comparison.estimate(measure.key, system, place),
                comparison.values(measure.key, system, place).values(),
            )
            for measure in MEASURES
        },
    }


def _estimated(value: Estimate, each: Any = ()) -> dict[str, Any]:
    found: dict[str, Any] = {"mean": _number(value.mean), "ci95": None, "seeds": value.seeds}
    if value.known:
        found["ci95"] = [value.mean - value.half, value.mean + value.half]
    return found | ({"values": [_number(one) for one in each]} if each else {})


def _statement(comparison: Comparison, found: Statement) -> dict[str, Any]:
    return {
        "measure": found.measure,
        "first": found.first,
        "second": found.second,
        "at": dict(zip(comparison.others, found.group, strict=True)),
        "standings": [_standing(each, found) for each in found.standings],
        "crossings": [
            {
                "between": [each.low, each.high],
                "at": each.at,
                "fewer_below": found.first if each.sign < 0 else found.second,
                "fewer_above": found.second if each.sign < 0 else found.first,
            }
            for each in found.crossings
        ],
        "text": found.text,
    }


def _standing(standing: Standing, found: Statement) -> dict[str, Any]:
    fewer = {-1: found.first, 0: None, 1: found.second}[standing.sign]
    return {
        "value": standing.place,
        "fewer": fewer,
        "ratio": _number(standing.ratio),
        "difference": _estimated(standing.difference),
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
