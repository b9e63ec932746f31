"""What figures over simulated time share: bins, and marks where the overlay changes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.figures.style import GRID, PAPER_COLORS, SMALL

NANOSECONDS = 1e9
_MARKS = {
    "break": ("a link breaks", "vermillion", "v"),
    "create": ("a new link", "green", "^"),
    "crash": ("a broker crashes", "slate", "X"),
    "restart": ("a broker restarts", "sky", "P"),
}
_MOST_LINES = 60
_ABOVE = 1.05  # heights of the panel


class Mark(NamedTuple):
    """A kind of change, and when it happened (s)."""

    change: str
    times: list[float]


def marks(changes: pd.DataFrame) -> list[Mark]:
    """The changes of one run by kind; those that no reader would look for are left out."""
    return [
        Mark(change, list(changes.time[changes.change == change] / NANOSECONDS))
        for change in _MARKS
        if (changes.change == change).any()
    ]


def draw_marks(axes: Axes, found: Sequence[Mark], *, named: bool) -> None:
    """Thin lines at the times of change, and above the panel, if named, what they are."""
    shown = sum(len(mark.times) for mark in found)
    for mark in found:
        name, color, marker = _MARKS[mark.change]
        if shown <= _MOST_LINES:
            for time in mark.times:
                axes.axvline(time, color=GRID, lw=0.7, zorder=0)
        if named:
            axes.plot(
                mark.times,
                [_ABOVE] * len(mark.times),
                transform=axes.get_xaxis_transform(),
                ls="",
                marker=marker,
                markersize=4 if shown <= _MOST_LINES else 2.5,
                color=PAPER_COLORS[color],
                clip_on=False,
                label=name,
                zorder=5,
            )
    if named and found:
        axes.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 1.09),
            ncols=len(found),
            handletextpad=0.1,
            columnspacing=1.2,
            borderaxespad=0,
            fontsize=SMALL,
        )


def bin_width(frames: Sequence[pd.DataFrame]) -> int:
    """The length of a bin (ns), from the places where bins begin."""
    starts = np.unique(np.concatenate([frame["bin"].to_numpy() for frame in frames]))
    steps = np.diff(starts)
    return int(steps.min()) if len(steps) else int(NANOSECONDS)


def all_bins(frames: Sequence[pd.DataFrame], width: int) -> list[int]:
    """Every bin from the first to the last, also those in which nothing happened."""
    starts = np.concatenate([frame["bin"].to_numpy() for frame in frames])
    return list(range(int(starts.min()), int(starts.max()) + width, width))
