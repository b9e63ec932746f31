"""Charts of the pruning paper: curves over the share of prunings, and ratings beside bars."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.figures.confidence import aligned, band, estimate
from analysis.figures.style import PAPER_COLORS
from analysis.reproduction.figure import Panel
from analysis.reproduction.measures import OPTIMIZATION
from analysis.reproduction.table import by_seed

_LOOKS: dict[str, tuple[str, Any]] = {
    "memory relief": ("blue", "-"),
    "filter time": ("vermillion", (0, (4, 1.5))),
    "events": ("green", (0, (6, 1.5, 1, 1.5))),
}
_MARKS: tuple[Any, ...] = ("-", ":")
_BARS = ("blue", "sky")
_TYPEWRITER: dict[str, Any] = {"family": "DejaVu Sans Mono"}
_FARTHEST = 250.0
"""Percent: longer bars are cut off, and say how long they are."""


def draw_curves(axes: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    """Each curve in `parts`, in percent, with upright lines at the columns in `marks`.

    The last of them is events, far below all others: it has the right axis, as in the paper.
    """
    *left, events = panel.parts
    for name, label in left:
        _draw_curve(axes, rows, name, label)
    for (name, label), dashes in zip(panel.marks, _MARKS, strict=True):
        at = estimate(by_seed(rows, name)).mean
        axes.axvline(at, color=PAPER_COLORS["slate"], ls=dashes, lw=0.9, label=label)
    right = axes.twinx()
    right.spines["right"].set_visible(True)
    right.set_ylabel("% of events", color=PAPER_COLORS[_LOOKS[events[0]][0]])
    _draw_curve(right, rows, *events)
    for each in (axes, right):
        each.set_ylim(0, None)
    axes.set_xlim(0, 100)
    axes.set_xlabel(panel.x_label)


def _draw_curve(axes: Axes, rows: pd.DataFrame, name: str, label: str) -> None:
    curves = [pd.Series(each) for each in rows[f"curve of {name}"].dropna()]
    places, values = aligned(curves, absent=float("nan"))
    color, dashes = _LOOKS[name]
    axes.plot(places, band(values).mean, color=PAPER_COLORS[color], ls=dashes, label=label)


def draw_ratings(axes: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    """Level bars of `y` for each optimization, one for each value of `x`; ratings at the right."""
    lengths = {value: _means(panel, rows, value) for value, _ in panel.parts}
    known = [length for each in lengths.values() for length in each if np.isfinite(length)]
    end = min(_FARTHEST, max([100.0, *known]))
    width = 0.8 / len(panel.parts)
    for number, (value, label) in enumerate(panel.parts):
        places = np.arange(len(panel.names)) + width * (number + 0.5) - 0.4
        shown = np.minimum(np.nan_to_num(lengths[value]), end)
        axes.barh(places, shown, width, color=PAPER_COLORS[_BARS[number]], label=label)
        for place, length in zip(places, lengths[value], strict=True):
            if np.isfinite(length):
                axes.text(min(length, end), place, f" {length:.0f}", va="center", fontsize=5.5)
    if panel.ratings:
        axes.text(1.3 * end, -0.65, "paper, ours", va="center", fontsize=5.5)
    for place, (optimization, rating) in enumerate(panel.ratings.items()):
        ours = _rating(panel, lengths[panel.judged][list(panel.names).index(optimization)])
        axes.text(1.3 * end, place, f"{rating} {ours}", va="center", fontsize=6, **_TYPEWRITER)
    axes.set_yticks(range(len(panel.names)), list(panel.names.values()))
    place_in_grid = axes.get_subplotspec()
    if place_in_grid is not None and not place_in_grid.is_first_col():
        axes.set_yticklabels([])
    axes.invert_yaxis()
    axes.set_xlim(0, (1.75 if panel.ratings else 1.2) * end)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= end])
    axes.set_xlabel(panel.x_label)


def _rating(panel: Panel, value: float) -> str:
    """What a number is on the scale; a number that two ratings share has the first."""
    found = (rating for rating, rule in panel.scale.items() if rule.low <= value <= rule.high)
    return next(found, "")


def _means(panel: Panel, rows: pd.DataFrame, value: str) -> list[float]:
    there = rows[rows[panel.x].astype(str) == value]
    found = (there[there[OPTIMIZATION] == each] for each in panel.names)
    return [estimate(by_seed(chosen, panel.y)).mean for chosen in found]
