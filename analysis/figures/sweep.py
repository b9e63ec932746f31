"""How a number depends on what a sweep varies; it knows neither the number nor the key."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from analysis.figures.confidence import Estimate, estimate
from analysis.figures.numbers import Unit, digits, joined, over_seeds
from analysis.figures.style import (
    HALF,
    PAPER_COLORS,
    SMALL,
    Drawing,
    begin_of_percents,
    grouped,
    panel,
    styled,
)
from pysim.units import Duration, Frequency, Quantity, Rate, Share, Size

_COLORS = ("blue", "vermillion", "green", "orange", "sky", "slate")
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_MARKERS = ("o", "D", "^", "s", "v", "X")
_LOGARITHMIC = 8.0  # the least ratio of the largest to the smallest value for such an axis
_APART = 0.09  # between the marks of one name, of the way from one name to the next
_ASIDE = 0.012  # between the marks of one quantity, of the length of the axis
_QUANTITIES: tuple[type[Quantity], ...] = (Duration, Rate, Frequency, Share, Size)
_MOST_NAMED = 4
_ROOM = 2.6  # inches along the axis
_CHARACTER = 0.075  # inches


class Scale(NamedTuple):
    """Where the values of a swept key stand on an axis; `ordered` if they are quantities."""

    places: dict[str, float]
    logarithmic: bool
    ordered: bool


class Line(NamedTuple):
    """What one combination of the other keys gave: estimates by the values along the axis."""

    name: str
    points: dict[str, Estimate]


@styled
def draw(
    rows: pd.DataFrame, value: str, title: str, unit: Unit, key: str, others: Sequence[str]
) -> Drawing | None:
    """Draw column `value` against column `key`, a line for each combination of the `others`.

    `rows` has a row for each run; those that differ in their seed only become a mean and its
    interval. A key whose values are no quantities gets a place for each value, in their order.
    """
    found = lines(rows, value, key, others)
    if not found:
        return None
    scale = scale_of(rows[key])
    figure, axes = panel(HALF, 2.4 if len(found) < 2 else 2.55)
    for number, line in enumerate(found):
        places = beside(scale, number - (len(found) - 1) / 2)
        draw_line(axes, number, line, unit, places, scale.ordered)
    arrange(axes, scale)
    axes.margins(y=0.12)
    axes.set_ylim(bottom=0)
    floor = 0.0
    if unit.name == "%":
        means = [point.mean for line in found for point in line.points.values()]
        floor = begin_of_percents(axes, min(means) / unit.size)
    grouped(axes.yaxis)
    axes.set_xlabel(key)
    axes.set_ylabel(unit.name)
    axes.set_title(title)
    if others:
        _draw_legend(figure, len(found))
    return Drawing(figure, _caption(found, unit, key, floor))


def lines(rows: pd.DataFrame, value: str, key: str, others: Sequence[str]) -> list[Line]:
    """The estimates of a column, by line and by the values of `key` in the order of their scale."""
    known = rows[rows[value].notna()]
    order = list(scale_of(rows[key]).places)
    found = []
    for name, group in known.groupby(list(others), sort=False) if others else [((), known)]:
        names = group[key].astype(str)
        points = {at: estimate(map(float, group[value][names == at])) for at in order}
        there = {at: point for at, point in points.items() if point.seeds}
        if there:
            found.append(Line(", ".join(map(str, name)), there))
    return found


def scale_of(values: Iterable[Any]) -> Scale:
    """A scale for the values of a key: by size if they are quantities, else in their order."""
    given = list(dict.fromkeys(values))
    sizes = _sizes(given)
    if sizes is None:
        return Scale({str(value): float(i) for i, value in enumerate(given)}, False, False)
    in_order = sorted(zip(sizes, map(str, given), strict=True))
    smallest, largest = in_order[0][0], in_order[-1][0]
    logarithmic = smallest > 0 and largest / smallest >= _LOGARITHMIC
    return Scale({name: size for size, name in in_order}, logarithmic, True)


def _sizes(values: Sequence[Any]) -> list[float] | None:
    """The values as numbers, if all are of one kind of quantity, or bare numbers."""
    if any(isinstance(value, bool) for value in values):
        return None
    readers: list[Callable[[Any], float]] = [float, *(kind.parse for kind in _QUANTITIES)]
    for read in readers:
        try:
            return [float(read(value)) for value in values]
        except (TypeError, ValueError):
            continue
    return None


def beside(scale: Scale, number: float) -> dict[str, float]:
    """Places a little aside, so that lines with equal values can be told apart."""
    if not scale.ordered:
        return {name: place + _APART * number for name, place in scale.places.items()}
    low, high = min(scale.places.values()), max(scale.places.values())
    if scale.logarithmic:
        factor = (high / low) ** (_ASIDE * number)
        return {name: place * factor for name, place in scale.places.items()}
    return {name: place + _ASIDE * number * (high - low) for name, place in scale.places.items()}


def draw_line(
    axes: Axes, number: int, line: Line, unit: Unit, places: Mapping[str, float], linked: bool
) -> None:
    """Draw one line with its intervals, in the look of its number."""
    mean = np.array([point.mean for point in line.points.values()]) / unit.size
    half = np.nan_to_num([point.half for point in line.points.values()]) / unit.size
    low, high = half, half
    if unit.name == "%":  # an interval beyond what is possible says nothing
        low, high = np.minimum(half, mean), np.minimum(half, np.maximum(100 - mean, 0))
    axes.errorbar(
        [places[at] for at in line.points],
        mean,
        yerr=np.array([low, high]) if half.any() else None,
        color=PAPER_COLORS[_COLORS[number % len(_COLORS)]],
        ls=_DASHES[(number + number // len(_COLORS)) % len(_DASHES)] if linked else "",
        marker=_MARKERS[number % len(_MARKERS)],
        elinewidth=0.9,
        capsize=2,
        label=line.name,
    )


def arrange(axes: Axes, scale: Scale) -> None:
    """A tick for each value, named as it was set, where there is room for its name."""
    if scale.logarithmic:
        axes.set_xscale("log")
    slanted = not scale.ordered and sum(map(len, scale.places)) > _ROOM / _CHARACTER
    axes.set_xticks(
        list(scale.places.values()),
        _thinned(scale) if scale.ordered else list(scale.places),
        rotation=30 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor",
    )
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    if not scale.ordered:
        axes.set_xlim(-0.5, len(scale.places) - 0.5)


def _thinned(scale: Scale) -> list[str]:
    """The names of places; one that would cover the last one before it is empty."""
    sizes = list(scale.places.values())
    along = np.log(sizes) if scale.logarithmic else np.array(sizes)
    inches = _ROOM * (along - along[0]) / (along[-1] - along[0] or 1.0)
    names, end = [], -np.inf
    for name, middle in zip(scale.places, inches, strict=True):
        half = _CHARACTER * (len(name) + 1) / 2
        fits = middle - half > end
        names.append(name if fits else "")
        end = middle + half if fits else end
    return names


def _draw_legend(figure: Figure, count: int) -> None:
    figure.legend(
        loc="outside lower center", ncols=2 if count <= 4 else 3, fontsize=SMALL, columnspacing=1.2
    )


def _caption(found: Sequence[Line], unit: Unit, key: str, floor: float) -> str:
    ends = [at for line in found for at in line.points]
    parts = list(_ways(found[:_MOST_NAMED], unit))
    text = f"As {key} goes from {ends[0]} to {ends[-1]}: {joined(parts)}."
    if len(set(ends)) == 1:
        text = f"At {key} {ends[0]}: {joined(parts)}."
    if len(found) > _MOST_NAMED:
        text = text[:-1] + f"; {len(found) - _MOST_NAMED} more lines are drawn."
    if floor:
        text += f" The axis begins at {floor:g} %."
    seeds = max(point.seeds for line in found for point in line.points.values())
    return text + over_seeds(seeds)


def _ways(found: Sequence[Line], unit: Unit) -> Iterator[str]:
    for line in found:
        values = [point.mean / unit.size for point in line.points.values()]
        first, last = digits(values[0]), digits(values[-1])
        way = f"{first} {unit.name}".strip() + " throughout" * (len(values) > 1)
        if first != last:
            way = f"from {first} to {last} {unit.name}".strip()
        yield f"{line.name} {way}".strip()


class Lead(NamedTuple):
    """Where a line has the lowest mean, and where of these its interval meets another one."""

    name: str
    places: list[str]
    doubtful: list[str]


def leads(found: Sequence[Line]) -> list[Lead]:
    """Which line is lowest at each of the values along the axis."""
    best: dict[str, Lead] = {}
    for at in dict.fromkeys(at for line in found for at in line.points):
        there = sorted(
            (line for line in found if at in line.points), key=lambda x: x.points[at].mean
        )
        lead = best.setdefault(there[0].name, Lead(there[0].name, [], []))
        lead.places.append(at)
        if any(_meet(there[0].points[at], other.points[at]) for other in there[1:]):
            lead.doubtful.append(at)
    return list(best.values())


def _meet(low: Estimate, high: Estimate) -> bool:
    return low.known and high.known and low.mean + low.half >= high.mean - high.half
