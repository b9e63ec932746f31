"""Comparisons without runs: what systems gave, written down."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.comparison.measures import MEASURES
from analysis.comparison.results import Comparison, Place, Row

Given = Mapping[str, Mapping[str, Sequence[float]]]
"""What each system gave at each value of the axis, seed by seed."""


def comparison(
    given: Given, axis: str = "workload.skew", **faults: Mapping[str, float]
) -> Comparison:
    """All systems with these bytes and messages; `faults` are deliveries missing or duplicate."""
    rows = [
        Row(system, Place(along), seed, "same", values(number, system, faults))
        for system, curve in given.items()
        for along, numbers in curve.items()
        for seed, number in enumerate(numbers, 1)
    ]
    places = tuple(dict.fromkeys(row.place for row in rows))
    return Comparison(Path("nowhere"), tuple(given), axis, (), places, tuple(rows), ())


def values(
    number: float, system: str, faults: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    found = dict.fromkeys((measure.key for measure in MEASURES), number)
    found |= {"due": 1000.0, "missing": 0.0, "duplicate": 0.0}
    return found | {kind: by[system] for kind, by in faults.items() if system in by}
