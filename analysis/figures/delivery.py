"""How much of what was due was delivered, over simulated time."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.confidence import Array, aligned, band
from analysis.figures.numbers import SPACE, in_seconds, over_seeds, percent
from analysis.figures.style import (
    GRID,
    PAPER_COLORS,
    WIDE,
    Drawing,
    begin_of_percents,
    page,
    styled,
)
from analysis.figures.timeline import NANOSECONDS, bin_width, draw_marks, marks

BLUE = PAPER_COLORS["blue"]


@styled
def draw(
    frames: Sequence[pd.DataFrame], changes: Sequence[pd.DataFrame], duration: float
) -> Drawing | None:
    """Draw `delivery_over_time` of a run of `duration` (s); events count where published."""
    due = [frame[frame.made + frame.missing > 0].set_index("bin") for frame in frames]
    if not any(len(frame) for frame in due):
        return None
    width = bin_width(frames)
    starts, ratios = aligned(
        [100.0 * frame.made / (frame.made + frame.missing) for frame in due], np.nan
    )
    _, wanted = aligned([frame.due.astype(float) for frame in due], 0.0)
    middle = (starts + width / 2) / NANOSECONDS
    same = [mark for mark in marks(changes[0]) if all(mark in marks(one) for one in changes)]
    figure = page(WIDE, 2.7)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, 1])
    ratio = band(ratios)
    upper.axhline(100, color=GRID, lw=0.8, zorder=0)
    upper.plot(middle, ratio.mean, color=BLUE, marker="o", markersize=3, lw=1.2, clip_on=False)
    if len(frames) > 1:
        low, high = np.clip(ratio.low, 0, None), np.clip(ratio.high, None, 100)
        upper.fill_between(middle, low, high, color=BLUE, alpha=0.25, lw=0)
    lowest = float(np.nanmin(ratio.mean if len(frames) == 1 else np.fmin(ratio.low, ratio.mean)))
    upper.set_ylim(top=100)
    floor = begin_of_percents(upper, lowest)
    upper.set_ylabel("delivered (%)")
    draw_marks(upper, same, named=True)
    draw_marks(lower, same, named=False)
    edges = np.append(starts, starts[-1] + width) / NANOSECONDS
    lower.stairs(band(wanted).mean, edges, fill=True, color=PAPER_COLORS["header-3"], lw=0)
    lower.set_ylim(bottom=0)
    lower.locator_params(axis="y", nbins=3)
    lower.set_ylabel("due")
    lower.set_xlabel("published at simulated time (s)")
    lower.set_xlim(0, duration)
    figure.align_ylabels([upper, lower])
    return Drawing(figure, _caption(frames, ratio.mean, middle, width, floor))


def _caption(
    frames: Sequence[pd.DataFrame], ratio: Array, middle: Array, width: int, floor: float
) -> str:
    made, missing = (
        sum(int(frame[name].sum()) for frame in frames) for name in ("made", "missing")
    )
    text = (
        f"Above: share of the deliveries due that were made, by the time at which the event was "
        f"published, in bins of {in_seconds(width / NANOSECONDS)}. "
        f"In all {percent(made / (made + missing))} were made"
    )
    if missing:
        worst = int(np.nanargmin(ratio))
        text += f"; the lowest bin, at {middle[worst]:.3g}{SPACE}s, has {ratio[worst]:.0f}{SPACE}%."
    else:
        text += ", and none is missing."
    if floor:
        text += f" The axis begins at {floor:g}{SPACE}%."
    return text + " Below: how many deliveries were due." + over_seeds(len(frames))
