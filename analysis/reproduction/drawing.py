"""Published figures drawn from our runs, with what was published in words below the charts."""

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullFormatter

from analysis.figures.confidence import Array, Estimate, aligned, band, estimate
from analysis.figures.numbers import over_seeds
from analysis.figures.style import (
    PAPER_COLORS,
    SMALL,
    WIDE,
    Drawing,
    grouped,
    page,
    styled,
)
from analysis.reproduction.figure import Figure, Panel
from analysis.reproduction.measures import GREATEST, LEAST
from analysis.reproduction.pruning_charts import draw_curves, draw_ratings
from analysis.reproduction.table import SAVED, by_seed

_COLORS = {
    "STRAWMAN": "slate",
    "TDU": "orange",
    "NDU": "vermillion",
    "ILA": "blue",
    "RP": "green",
    "event forwarding": "sky",
    "active": "vermillion",
    "lazy": "orange",
    "packing": "green",
    "incremental": "blue",
    "no covering": "slate",
    "FBR": "vermillion",
    "D-DBR": "blue",
    "MERC": "green",
    "EF": "sky",
    "link matching": "slate",
    "MEDYM": "orange",
    "DRP": "yellow",
    "MBR": "muted",
    "tree": "slate",
    "direct": "orange",
    "batching": "green",
    "gossip": "blue",
    "gossip as printed": "sky",
}
_SPARE = ("blue", "orange", "green", "vermillion", "sky", "slate", "yellow")
_MARKERS = ("o", "D", "^", "s", "v", "X", "P")
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_LETTERS = 118  # of the published statement in a line
_TITLE = 72  # letters of titles that have room abreast
_DIGITS = 84  # of numbers along axes that have room abreast
_ABREAST = 3  # panels that stand side by side; more stand in two lines
_ENDS: dict[Any, Any] = {LEAST: min, GREATEST: max}


class _Series(NamedTuple):
    name: str
    rows: pd.DataFrame
    color: str
    number: int
    is_variant: bool = False
    """Whether another line of this color is the usual form of the protocol."""


@styled
def draw(figure: Figure, rows: pd.DataFrame) -> Drawing | None:
    """A figure; None if it has no charts, or nothing to show in them."""
    panels = [(panel, _chosen(panel, rows)) for panel in figure.panels]
    panels = [(panel, chosen) for panel, chosen in panels if len(chosen)]
    if not panels:
        return None
    columns = len(panels) if len(panels) <= _ABREAST else math.ceil(len(panels) / 2)
    lines = math.ceil(len(panels) / columns)
    canvas = page(WIDE, 0.7 + 2.4 * lines)
    charts: list[Axes] = list(canvas.subplots(lines, columns, squeeze=False).flatten())
    for axes, (panel, chosen) in zip(charts, panels, strict=True):
        _KINDS[panel.kind](axes, panel, chosen)
        axes.set_title(textwrap.fill(panel.title, _TITLE // columns))
        axes.set_ylabel(panel.y_label)
        _end_at_all(axes)
    _draw_legend(canvas, canvas.axes)
    said = textwrap.fill(f"Published: {figure.published}", _LETTERS)
    canvas.supxlabel(said, x=0.01, ha="left", fontsize=SMALL)
    seeds = int(rows.groupby("protocol").seed.nunique().max())
    return Drawing(canvas, f"{figure.title}.{over_seeds(seeds)}")


def _chosen(panel: Panel, rows: pd.DataFrame) -> pd.DataFrame:
    for key, value in panel.only.items():
        if key not in rows:
            return rows.iloc[:0]
        rows = rows[rows[key] == (_ENDS[value](rows[key]) if value in _ENDS else value)]
    return rows


def _series(panel: Panel, rows: pd.DataFrame) -> Iterator[_Series]:
    if panel.by == ("part",):
        for number, (column, name) in enumerate(panel.parts):
            drawn = rows.assign(**{panel.y: rows[column]})
            yield _Series(name, drawn, _SPARE[number], number)
        return
    keys = [key for key in panel.by if key in rows]
    for name, group in rows.groupby(keys, sort=False, dropna=False):
        label = _label(keys, name)
        protocol, unusual, _ = label.partition(",")
        number = list(_COLORS).index(protocol) + bool(unusual)
        yield _Series(label, group, _COLORS[protocol], number, bool(unusual))


def _label(keys: Sequence[str], values: Any) -> str:
    """What a line is called: its protocol, and what is unusual about it."""
    protocol, *others = values
    told = [f", no {key.rpartition('.')[2]}" for key, value in zip(keys[1:], others, strict=True)
            if isinstance(value, bool | np.bool_) and not value]  # fmt: skip
    return str(protocol) + "".join(told)


def _draw_lines(axes: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    if panel.y.endswith(SAVED):  # against STRAWMAN: it saves nothing against itself
        rows = rows[rows.protocol != "STRAWMAN"]
    means: list[float] = []
    for series in _series(panel, rows):
        known = series.rows[series.rows[panel.y].notna()]
        placed = known[known[panel.x].notna()] if panel.x in known else known.iloc[:0]
        if len(placed):
            means += _draw_line(axes, panel, series, placed)
        elif len(known):
            mean = estimate(by_seed(known, panel.y)).mean
            means.append(mean)
            axes.axhline(mean, color=PAPER_COLORS[series.color], ls=":", lw=1.2, label=series.name)
    axes.set_xlabel(panel.x_label)
    if panel.log_y:  # which sets how numbers are written
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        _show(axes, [*means, *panel.levels], panel.from_zero)
    _draw_published(axes, panel)
    grouped(axes.xaxis)
    grouped(axes.yaxis)
    if panel.log_x:
        spec = axes.get_subplotspec()
        digits = _DIGITS / (spec.get_gridspec().ncols if spec else 1)
        places = apart(sorted(rows[panel.x].dropna().unique()), digits)
        axes.set_xscale("log")
        axes.set_xticks(places, [_written(place) for place in places])
        axes.set_xticks([], minor=True)


def _draw_published(axes: Axes, panel: Panel) -> None:
    """Thin lines where the paper has a number or says that something changes."""
    look: dict[str, Any] = {
        "color": PAPER_COLORS["muted"],
        "lw": 0.8,
        "ls": (0, (2, 2)),
        "zorder": 0,
    }
    for number, level in enumerate(panel.levels):
        axes.axhline(level, label=None if number else "published", **look)
    for number, place in enumerate(panel.uprights):
        axes.axvline(place, label=None if number or panel.levels else "published", **look)


def apart(places: Sequence[float], digits: float) -> list[float]:
    """Those of ascending places that leave room for their numbers on a logarithmic axis.

    The axis is so long that a number of so many digits would fill it.
    """
    scale = digits / math.log(places[-1] / places[0]) if places[-1] > places[0] else 0.0
    kept = [places[0]]
    for place in places[1:]:
        needed = (len(_written(kept[-1])) + len(_written(place))) / 2 + 1
        if scale * math.log(place / kept[-1]) >= needed:
            kept.append(place)
    return kept


def _written(place: float) -> str:
    return f"{place:,.12g}"


def _show(axes: Axes, means: Sequence[float], from_zero: bool = True) -> None:
    """Show all means, and zero; intervals of few seeds may reach far beyond, and are cut off."""
    top, bottom = max([0.0, *means]), min([0.0, *means])
    if not from_zero and min(means) < max(means):
        spread = max(means) - min(means)
        axes.set_ylim(min(means) - 0.4 * spread, max(means) + 0.2 * spread)
    elif top > bottom:
        axes.set_ylim(bottom and bottom - 0.2 * (top - bottom), top + 0.4 * (top - bottom))
    else:
        axes.set_ylim(0, 1)


def _end_at_all(axes: Axes) -> None:
    """Let an axis of percents end a little above 100 if no mean is higher (see `_show`)."""
    low, high = axes.get_ylim()
    if axes.get_ylabel().startswith("%") and axes.get_yscale() == "linear":
        axes.set_ylim(low, 105 if 105 < high <= 140 else high)


def _draw_line(axes: Axes, panel: Panel, series: _Series, rows: pd.DataFrame) -> list[float]:
    """Draw means and their intervals; the result are the means."""
    points = {at: estimate(by_seed(group, panel.y)) for at, group in rows.groupby(panel.x)}
    half = _halves(points.values())
    axes.errorbar(
        list(points),
        [point.mean for point in points.values()],
        yerr=half if half.any() else None,
        color=PAPER_COLORS[series.color],
        ls=_DASHES[series.number % len(_DASHES)],
        marker=_MARKERS[series.number % len(_MARKERS)],
        markerfacecolor="white" if series.is_variant else None,
        elinewidth=0.9,
        capsize=2,
        label=series.name,
    )
    return [point.mean for point in points.values()]


def _halves(points: Iterable[Estimate]) -> Array:
    return np.array([point.half if point.known else 0.0 for point in points])


def _draw_time(axes: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    means: list[float] = []
    for series in _series(panel, rows):
        curves = [pd.Series(curve) for curve in series.rows[f"curve of {panel.y}"].dropna()]
        if not curves:
            continue
        times, values = aligned(curves, absent=float("nan"))
        late = (times >= panel.begin) & (times <= panel.end)
        found = band(values[:, late])
        means += found.mean[np.isfinite(found.mean)].tolist()
        color = PAPER_COLORS[series.color]
        axes.plot(times[late], found.mean, color=color, lw=1.2, label=series.name,
                  ls=_DASHES[series.number % len(_DASHES)])  # fmt: skip
        axes.fill_between(times[late], found.low, found.high, color=color, alpha=0.15, lw=0)
    axes.set_xlabel(panel.x_label)
    if panel.log_y:
        _show_powers(axes, means)
    else:
        grouped(axes.yaxis)
        _show(axes, means, panel.from_zero)


def _show_powers(axes: Axes, means: Sequence[float]) -> None:
    """A logarithmic axis, on which zero has a place too if it is among the means.

    It would have one number or none where all means are within a power of ten; then it is none.
    """
    least, most = min(means, default=0.0), max(means, default=0.0)
    if most <= 10 * least:
        grouped(axes.yaxis)
        _show(axes, means)
        return
    if least > 0:
        axes.set_yscale("log")
    else:
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=0)
    axes.yaxis.set_minor_formatter(NullFormatter())
    grouped(axes.yaxis)


def _draw_bars(axes: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    """A stack of parts for each protocol, and the interval of the whole, if `y` names one."""
    groups = list(rows.groupby("protocol", sort=False))
    places = np.arange(len(groups), dtype=float)
    bottom = np.zeros(len(groups))
    for number, (column, name) in enumerate(panel.parts):
        heights = np.array([float(group[column].mean()) for _, group in groups])
        axes.bar(places, heights, 0.6, bottom, color=PAPER_COLORS[_SPARE[number]], label=name)
        bottom += heights
    if panel.y:
        wholes = [estimate(group[panel.y]) for _, group in groups]
        _draw_intervals(axes, places, wholes)
    axes.set_xticks(places, [str(name) for name, _ in groups])
    grouped(axes.yaxis)
    _show(axes, bottom.tolist())


def _draw_groups(axes: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    """A bar for each protocol beside the others, for each part that any of them has."""
    parts = [(column, name) for column, name in panel.parts if column in rows]
    means: list[float] = []
    width = 0.8 / rows.protocol.nunique()
    for number, series in enumerate(_series(panel, rows)):
        places = np.arange(len(parts)) + width * number - 0.4 + width / 2
        found = [estimate(series.rows[column].dropna()) for column, _ in parts]
        heights = [point.mean if point.seeds else 0.0 for point in found]
        axes.bar(places, heights, width, color=PAPER_COLORS[series.color], label=series.name)
        _draw_intervals(axes, places, found)
        means += heights
    axes.set_xticks(np.arange(len(parts)), [name for _, name in parts])
    if panel.log_y:
        _show_powers(axes, means)
    else:
        grouped(axes.yaxis)
        _show(axes, means)


def _draw_intervals(axes: Axes, places: Array, points: Sequence[Estimate]) -> None:
    """Draw those that there are: one seed has none."""
    means = [point.mean if point.seeds else 0.0 for point in points]
    half = _halves(points)
    if half.any():
        axes.errorbar(places, means, yerr=half, fmt="none", ecolor=PAPER_COLORS["ink"],
                      elinewidth=0.9, capsize=2)  # fmt: skip


_KINDS = {
    "lines": _draw_lines,
    "time": _draw_time,
    "bars": _draw_bars,
    "groups": _draw_groups,
    "curves": draw_curves,
    "ratings": draw_ratings,
}


def _draw_legend(canvas: Canvas, charts: Sequence[Axes]) -> None:
    """One legend for all charts: each line is named once."""
    named: dict[str, Any] = {}
    for axes in charts:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    canvas.legend(list(named.values()), list(named), loc="outside upper center",
                  ncols=min(len(named), 7), fontsize=SMALL)  # fmt: skip
