"""How busy links are, from the busiest to the idlest."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.confidence import Band, band
from analysis.figures.numbers import over_seeds, percent
from analysis.figures.style import HALF, PAPER_COLORS, Drawing, panel, styled, whole_numbers

BUSY, PEAK = PAPER_COLORS["blue"], PAPER_COLORS["vermillion"]
_MOST_MARKED = 12


@styled
def draw(frames: Sequence[pd.DataFrame]) -> Drawing | None:
    """Draw the utilization in `link_load`: each direction of a link is one place on the axis."""
    known = [frame for frame in frames if frame.busy_share.notna().any()]
    if not known:
        return None
    figure, axes = panel(HALF, 2.5)
    highest = 0.0
    for column, color, dashes, name in (
        ("peak_share", PEAK, (0, (4, 1.5)), "busiest bin"),
        ("busy_share", BUSY, "-", "whole run"),
    ):
        curve = _ranked(known, column)
        ranks = np.arange(1, len(curve.mean) + 1)
        marker = "o" if len(ranks) <= _MOST_MARKED else ""
        axes.plot(ranks, 100 * curve.mean, color=color, ls=dashes, marker=marker, label=name)
        if len(known) > 1:
            low, high = np.clip(100 * curve.low, 0, None), np.clip(100 * curve.high, None, 100)
            axes.fill_between(ranks, low, high, color=color, alpha=0.2, lw=0)
        highest = max(highest, float(np.nanmax(curve.mean)))
    axes.set_ylim(bottom=0)
    axes.set_xlim(0.5, len(ranks) + 0.5)
    whole_numbers(axes.xaxis)
    axes.set_xlabel("directed link, by rank")
    axes.set_ylabel("utilization (%)")
    axes.legend(loc="upper right")
    axes.set_title("Utilization of links")
    return Drawing(figure, _caption(known, highest))


def _ranked(frames: Sequence[pd.DataFrame], column: str) -> Band:
    """The sorted values; where a seed has fewer links than another, the mean is of the others."""
    sorted_values = [np.sort(frame[column].fillna(0).to_numpy())[::-1] for frame in frames]
    rows = np.full((len(frames), max(map(len, sorted_values))), np.nan)
    for row, values in zip(rows, sorted_values, strict=True):
        row[: len(values)] = values
    return band(rows)


def _caption(frames: Sequence[pd.DataFrame], highest: float) -> str:
    first = frames[0].loc[frames[0].busy_share.idxmax()]
    busy = float(np.mean([frame.busy_share.max() for frame in frames]))
    text = (
        f"Share of time that a link's sender is busy, sorted; each direction counts. The busiest "
        f"is used {percent(busy)} over its life and {percent(highest)} in its busiest bin"
    )
    text += f" ({first['a']} to {first['b']})." if len(frames) == 1 and first["b"] else "."
    return text + over_seeds(len(frames))
