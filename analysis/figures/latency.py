"""How long events take from publication to delivery: their distribution, and by distance."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.figures.confidence import Array, band
from analysis.figures.numbers import SPACE, Unit, in_seconds, over_seeds, time_unit
from analysis.figures.style import (
    GRID,
    PAPER,
    PAPER_COLORS,
    SMALL,
    WIDE,
    Drawing,
    grouped,
    page,
    styled,
    whole_numbers,
)

BLUE = PAPER_COLORS["blue"]
_NAMED = (0.5, 0.95, 0.99)
_SKEWED = 12.0  # times the median


@styled
def draw(quantiles: Sequence[pd.DataFrame], by_hops: Sequence[pd.DataFrame]) -> Drawing | None:
    """Draw `latency` and `latency_by_hops`."""
    known = [frame.dropna(subset=["seconds"]) for frame in quantiles]
    known = [frame for frame in known if len(frame)]
    if not known:
        return None
    named = {level: _mean(known, level) for level in (*_NAMED, 1.0)}
    unit = time_unit(named[1.0])
    by_hops = [frame.dropna(subset=["hops"]) for frame in by_hops]
    hops = pd.concat(by_hops)
    figure = page(WIDE, 2.6)
    if len(hops):
        left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
        _draw_hops(right, by_hops, named[0.5], unit)
    else:
        left = figure.subplots()
    _draw_distribution(left, known, named, unit)
    return Drawing(figure, _caption(named, hops, len(known)))


def _mean(frames: Sequence[pd.DataFrame], level: float) -> float:
    """A quantile (s), the mean over seeds."""
    each = [frame.seconds[(frame["quantile"] - level).abs().idxmin()] for frame in frames]
    return float(np.mean(each))


def _draw_distribution(
    axes: Axes, frames: Sequence[pd.DataFrame], named: Mapping[float, float], unit: Unit
) -> None:
    given = np.unique(np.concatenate([frame.seconds.to_numpy() for frame in frames]))
    places = np.append(0.0, given) / unit.size
    shares = band(np.array([_share_within(frame, places * unit.size) for frame in frames]))
    first = _scale(axes.set_xscale, axes.set_xlim, places, named[0.5] / unit.size)
    axes.step(places, shares.mean, where="post", color=BLUE)
    if len(frames) > 1:
        low, high = np.clip(shares.low, 0, 1), np.clip(shares.high, 0, 1)
        axes.fill_between(places, low, high, step="post", color=BLUE, alpha=0.25, lw=0)
    else:
        for level in _NAMED:
            value = named[level] / unit.size
            axes.plot([first, value, value], [level, level, 0], color=GRID, lw=0.8, zorder=0)
            axes.plot(value, level, marker="o", color=BLUE, markersize=3.5)
    lines = [f"{100 * level:.0f} %: {named[level] / unit.size:.3g} {unit.name}" for level in _NAMED]
    # Where the curve is not.
    x, side = (0.97, "right") if given[0] < 0.5 * given[-1] else (0.05, "left")
    axes.text(
        x, 0.06, "\n".join(lines), transform=axes.transAxes, ha=side, va="bottom", size=SMALL,
        linespacing=1.5,
    )  # fmt: skip
    axes.set_ylim(0, 1.005)
    grouped(axes.xaxis)
    axes.set_xlabel(f"from publication to delivery ({unit.name})")
    axes.set_ylabel("share of deliveries")
    axes.set_title("Distribution")


def _scale(
    set_scale: Callable[[str], None],
    set_limits: Callable[[float, float], object],
    values: Array,
    median: float,
) -> float:
    """Begin an axis at 0, or make it logarithmic if a few values are far beyond the median."""
    first, last = 0.0, 1.06 * float(values.max())
    if 0 < median < values.max() / _SKEWED:
        set_scale("log")
        first, last = 0.7 * float(values[values > 0].min()), 1.2 * float(values.max())
    set_limits(first, last)
    return first


def _share_within(frame: pd.DataFrame, places: Array) -> Array:
    """Which share of the deliveries of a seed was made within each of these times."""
    levels = np.append(0.0, frame["quantile"].to_numpy())
    return levels[np.searchsorted(frame.seconds.to_numpy(), places, side="right")]


def _draw_hops(axes: Axes, by_hops: Sequence[pd.DataFrame], median: float, unit: Unit) -> None:
    mean = pd.concat(by_hops).groupby("hops")[["p50", "p95", "p99"]].mean() / unit.size
    for place, row in mean.iterrows():
        axes.plot([place] * 2, [row.p50, row.p99], color=BLUE, lw=0.9, solid_capstyle="butt")
        axes.plot(
            [place] * 2, [row.p50, row.p95], color=BLUE, lw=3.2, solid_capstyle="butt", alpha=0.55
        )
    axes.plot(mean.index, mean.p50, ls="", marker="o", color=BLUE, mec=PAPER, mew=0.6, ms=5)
    _scale(axes.set_yscale, axes.set_ylim, mean.to_numpy(), median / unit.size)
    grouped(axes.yaxis)
    whole_numbers(axes.xaxis)
    axes.set_xlim(mean.index.min() - 0.7, mean.index.max() + 0.7)
    axes.set_xlabel("hops from publisher to subscriber")
    axes.set_ylabel(f"latency ({unit.name})")
    axes.set_title("By distance")


def _caption(named: Mapping[float, float], hops: pd.DataFrame, seeds: int) -> str:
    text = (
        f"Left: latency from publication to delivery. Half of all deliveries take at most "
        f"{in_seconds(named[0.5])}, 99{SPACE}% at most {in_seconds(named[0.99])}, the slowest "
        f"{in_seconds(named[1.0])}."
    )
    if len(hops):
        text += (
            " Right: by the hops an event travelled, the median (dot) and up to the 95th (thick) "
            "and 99th percentile (thin)."
        )
        far = hops[hops.hops > 0]
        if len(set(far.hops)) > 1:
            each = np.polyfit(far.hops, far.p50, 1, w=np.sqrt(far.deliveries))[0]
            text += f" A hop adds about {in_seconds(float(each))} to the median."
    return text + over_seeds(seeds)
