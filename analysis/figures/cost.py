"""Normalized cost: the weights that a paper gives its messages, beside those that bytes imply."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.figures.confidence import Estimate, estimate
from analysis.figures.numbers import MINUS, SPACE, digits, joined, over_seeds
from analysis.figures.style import (
    GRID,
    PAPER_COLORS,
    WIDE,
    Drawing,
    grouped,
    page,
    styled,
)

_KINDS = {
    "published": ("as published", PAPER_COLORS["slate"], "o"),
    "implied": ("implied by bytes", PAPER_COLORS["vermillion"], "D"),
}


@styled
def draw(frames: Sequence[pd.DataFrame]) -> Drawing | None:
    """Draw `normalized_cost`; types that no weight is published for show the implied one only."""
    if not any(len(frame) for frame in frames):
        return None
    mean = pd.concat(frames).groupby("type").mean(numeric_only=True)
    mean = mean.sort_values("implied_cost", ascending=False)
    figure = page(WIDE, 0.95 + 0.24 * len(mean))
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_pairs(left, frames, mean, "weight")
    _draw_pairs(right, frames, mean, "cost")
    left.set_xlabel("weight of a message (an event = 1)")
    right.set_xlabel("cost of all hops (events)")
    left.set_yticks(range(len(mean)), list(mean.index))
    left.set_ylim(len(mean) - 0.5, -0.5)
    left.set_title("Weight")
    right.set_title("Weight times hops")
    handles, names = right.get_legend_handles_labels()
    figure.legend(handles[:2], names[:2], loc="outside lower center", ncols=2)
    return Drawing(figure, _caption(mean, len(frames)))


def _draw_pairs(axes: Axes, frames: Sequence[pd.DataFrame], mean: pd.DataFrame, what: str) -> None:
    for place, kind in enumerate(mean.index):
        ends = [mean.loc[kind, f"{source}_{what}"] for source in _KINDS]
        axes.plot(ends, [place, place], color=GRID, lw=2.2, zorder=1, solid_capstyle="butt")
    most = 0.0
    for source, (label, color, marker) in _KINDS.items():
        values = [_estimate(frames, kind, f"{source}_{what}") for kind in mean.index]
        means = np.array([value.mean for value in values])
        halves = np.nan_to_num([value.half for value in values])
        # Intervals beside each other, since they would cover each other.
        apart = {"published": -0.14, "implied": 0.14}[source] if halves.any() else 0.0
        axes.errorbar(
            means,
            np.arange(len(mean)) + apart,
            xerr=[np.minimum(halves, means), halves] if halves.any() else None,
            ls="",
            marker=marker,
            color=color,
            elinewidth=0.9,
            label=label,
            zorder=3,
        )
        most = max(most, float(np.nanmax(means + halves, initial=0.0)))
    axes.set_xlim(0, 1.06 * most)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    grouped(axes.xaxis)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", zorder=0)


def _estimate(frames: Sequence[pd.DataFrame], kind: str, column: str) -> Estimate:
    return estimate(float(value) for frame in frames for value in frame[column][frame.type == kind])


def _caption(mean: pd.DataFrame, seeds: int) -> str:
    text = "Normalized cost counts hops, weighted by type, in units of an event."
    weighed = mean[mean.published_weight.notna()]
    published, implied = weighed.published_cost.sum(), weighed.implied_cost.sum()
    if published:
        change = f"{100 * (implied / published - 1):+.0f}{SPACE}%".replace("-", MINUS)
        text += (
            f" With the published weights the hops cost {digits(published)}, with the weights that "
            f"bytes imply {digits(implied)} ({change})."
        )
    lighter = weighed[weighed.implied_weight < 0.95 * weighed.published_weight]
    if len(lighter):
        names = [
            f"{name} ({row.implied_weight:.2f} for {row.published_weight:g})"
            for name, row in lighter.head(3).iterrows()
        ]
        text += f" Lighter than published: {joined(names)}."
    if len(weighed) < len(mean):
        others = mean.index[mean.published_weight.isna()]
        text += f" No single weight is published for {joined(list(others))}; they are left out."
    return text + over_seeds(seeds)
