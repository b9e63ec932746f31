"""Figures of a comparison: where each system's bytes go, and how measures run along the axis."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.comparison import words
from analysis.comparison.measures import BY_NAME
from analysis.comparison.results import Comparison, Place
from analysis.comparison.words import Statement
from analysis.figures.breakdown import HEADERS, MESSAGES
from analysis.figures.confidence import Estimate
from analysis.figures.numbers import Unit, digits, in_bytes, over_seeds
from analysis.figures.style import (
    MUTED,
    PAPER,
    PAPER_COLORS,
    SMALL,
    WIDE,
    Drawing,
    grouped,
    page,
    panel,
    styled,
)
from analysis.figures.sweep import Line, arrange, beside, draw_line
from analysis.report.headlines import Measure
from analysis.report.source import short

_PARTS = {
    "event_bytes": ("events", MESSAGES["body"]),
    "control_bytes": ("control messages", "orange"),
    "header_bytes": ("headers", HEADERS["ip header"]),
    "transport_bytes": ("ACKs and handshakes", "own"),
}
_PANELS = ("messages", "cost", "latency_median", "latency_p99", "load", "state")
_CURVES = ("messages", "cost", "control_bytes", "latency_median", "state")
_SHORT = {"latency_p99": "99 % latency", "load": "Busiest broker / mean"}
_ACROSS = 3
_ROW = 0.26  # inches of a bar
_TALL = 2.05  # inches of a panel along the axis


@styled
def bytes_by_system(comparison: Comparison, place: Place) -> Drawing | None:
    """What each system sends at one place, by what it is for; None without captures."""
    if not all(map(comparison.known, _PARTS)):
        return None
    systems = comparison.systems
    unit = _unit(BY_NAME["wire_bytes"], comparison, [place])
    figure, axes = panel(WIDE, 0.95 + _ROW * len(systems))
    rows, left = range(len(systems)), np.zeros(len(systems))
    for key, (label, color) in _PARTS.items():
        size = np.array([comparison.estimate(key, each, place).mean for each in systems])
        axes.barh(
            rows, size / unit.size, left=left / unit.size, height=0.7, label=label,
            facecolor=PAPER_COLORS[color], edgecolor=MUTED if color == "own" else PAPER,
            linewidth=0.5, hatch="////" if color == "own" else "",
        )  # fmt: skip
        left += size
    totals = [comparison.estimate("wire_bytes", each, place) for each in systems]
    _whiskers(axes, rows, totals, unit)
    _end_labels(axes, rows, totals, unit, BY_NAME["wire_bytes"])
    _rows_of_systems(axes, systems)
    axes.set_xlabel(f"on the wire ({unit.name})")
    figure.legend(loc="outside upper center", ncols=len(_PARTS))
    least = min(zip(totals, systems, strict=True), key=lambda item: item[0].mean)
    caption = f"All bytes on the wire. Least: {least[1]}, {in_bytes(least[0].mean)}."
    return Drawing(figure, caption + over_seeds(len(comparison.seeds)))


@styled
def measures_by_system(comparison: Comparison, place: Place) -> Drawing:
    """All other measures of each system at one place."""
    keys = [key for key in _PANELS if comparison.known(key)]
    systems = comparison.systems
    down = math.ceil(len(keys) / _ACROSS)
    figure = page(WIDE, down * (0.72 + _ROW * len(systems)))
    grid = figure.subplots(down, _ACROSS, squeeze=False, sharey=True)
    rows = range(len(systems))
    for axes, key in zip(grid.flat, keys, strict=False):
        measure = BY_NAME[key]
        unit = _unit(measure, comparison, [place])
        values = [comparison.estimate(key, each, place) for each in systems]
        axes.barh(
            rows,
            [value.mean / unit.size for value in values],
            height=0.6,
            facecolor=PAPER_COLORS["blue"],
        )
        _whiskers(axes, rows, values, unit)
        _end_labels(axes, rows, values, unit, None)
        _rows_of_systems(axes, systems)
        axes.set_title(_titled(measure, unit))
    _blank(list(grid.flat), len(keys))
    return Drawing(figure, f"Messages to state.{over_seeds(len(comparison.seeds))}")


@styled
def curves(
    comparison: Comparison, group: tuple[str, ...], statements: Sequence[Statement]
) -> Drawing:
    """How measures run along the axis; a dotted line where one system overtakes another."""
    keys = [key for key in (comparison.bytes.key, *_CURVES) if comparison.known(key)]
    down = math.ceil(len(keys) / _ACROSS)
    figure = page(WIDE, 0.35 + down * _TALL)
    grid = figure.subplots(down, _ACROSS, squeeze=False)
    for axes, key in zip(grid.flat, keys, strict=False):
        _draw_measure(axes, comparison, key, group)
        for statement in statements:
            if (statement.measure, statement.group) == (key, group):
                for crossing in statement.crossings:
                    axes.axvline(crossing.at, color=MUTED, lw=0.8, ls=(0, (1, 1.5)), zorder=0)
    _blank(list(grid.flat), len(keys))
    _legend(figure, grid[0][0], len(comparison.systems))
    where = words.in_group(comparison, group).rstrip(", ")
    caption = f"Along {short(comparison.axis)}{' ' + where if where else ''}."
    crossed = any(each.crossings for each in statements if each.group == group)
    caption += " Dotted lines: one system overtakes another." if crossed else ""
    return Drawing(figure, caption + over_seeds(len(comparison.seeds)))


def _draw_measure(axes: Axes, comparison: Comparison, key: str, group: tuple[str, ...]) -> None:
    measure, scale = BY_NAME[key], comparison.scale
    places = comparison.along(group)
    unit = _unit(measure, comparison, places)
    for number, system in enumerate(comparison.systems):
        points = {place.along: comparison.estimate(key, system, place) for place in places}
        aside = beside(scale, number - (len(comparison.systems) - 1) / 2)
        draw_line(axes, number, Line(system, points), unit, aside, scale.ordered)
    arrange(axes, scale)
    axes.margins(y=0.1)
    axes.set_ylim(bottom=0)
    grouped(axes.yaxis)
    axes.set_xlabel(short(comparison.axis))
    axes.set_title(_titled(measure, unit))


def _unit(measure: Measure, comparison: Comparison, places: Sequence[Place]) -> Unit:
    values = [
        comparison.estimate(measure.key, system, place).mean
        for system in comparison.systems
        for place in places
    ]
    return measure.unit(max(map(abs, values)))


def _titled(measure: Measure, unit: Unit) -> str:
    name = _SHORT.get(measure.key, measure.label[:1].upper() + measure.label[1:])
    return f"{name} ({unit.name})" if unit.name else name


def _whiskers(axes: Axes, rows: Sequence[int], values: Sequence[Estimate], unit: Unit) -> None:
    known = [(row, value) for row, value in zip(rows, values, strict=True) if value.known]
    if known:
        axes.errorbar(
            [value.mean / unit.size for _, value in known],
            [row for row, _ in known],
            xerr=[value.half / unit.size for _, value in known],
            fmt="none", ecolor=MUTED, elinewidth=0.9, capsize=2,
        )  # fmt: skip


def _end_labels(
    axes: Axes,
    rows: Sequence[int],
    values: Sequence[Estimate],
    unit: Unit,
    measure: Measure | None,
) -> None:
    """The numbers behind the bars; with their intervals if a measure says how they are written."""
    for row, value in zip(rows, values, strict=True):
        end = (value.mean + (value.half if value.known else 0.0)) / unit.size
        axes.annotate(
            measure.shown(value) if measure else digits(value.mean / unit.size),
            (end, row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center_baseline",
            size=SMALL,
        )
    axes.margins(x=0.2 if measure else 0.3)
    axes.set_xlim(left=0)


def _rows_of_systems(axes: Axes, systems: Sequence[str]) -> None:
    axes.set_yticks(range(len(systems)), [system.replace(" (", "\n(") for system in systems])
    axes.set_ylim(len(systems) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    grouped(axes.xaxis)


def _blank(panels: Sequence[Axes], used: int) -> None:
    for axes in panels[used:]:
        axes.set_axis_off()


def _legend(figure: Figure, axes: Axes, count: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(count, 4))
