"""What each reconfiguration costs in control messages."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.figures.confidence import Array, aligned, band
from analysis.figures.numbers import counted, digits, in_bytes, over_seeds
from analysis.figures.style import MUTED, PAPER, WIDE, Drawing, Look, grouped, panel, styled
from analysis.figures.timeline import NANOSECONDS

_MOST_BARS = 60
_MOST_NUMBERED = 30
_MOST_WITH_TIMES = 12


@styled
def draw(frames: Sequence[pd.DataFrame], looks: Mapping[str, Look]) -> Drawing | None:
    """Draw `reconfiguration_overhead`: a bar for each, stacked by type."""
    if not any(len(frame) for frame in frames):
        return None
    totals = [frame.groupby("reconfiguration").messages.sum() for frame in frames]
    numbers, rows = aligned(totals, 0)
    types = pd.concat(frames).groupby("type").messages.sum().sort_values(ascending=False)
    figure, axes = panel(WIDE, 2.3)
    top = np.zeros(len(numbers))
    for kind in types.index:
        below, top = top, top + _means(frames, kind, numbers)
        _draw_type(axes, numbers, below, top, kind, looks[kind])
    if len(frames) > 1:
        _draw_intervals(axes, numbers, rows)
    if len(numbers) <= _MOST_NUMBERED:
        axes.set_xticks(numbers, _names(frames, numbers))
        axes.tick_params(axis="x", length=0)
    axes.set_xlim(numbers[0] - 0.6, numbers[-1] + 0.6)
    axes.set_ylim(bottom=0)
    grouped(axes.yaxis)
    axes.set_ylabel("control messages (hops)")
    axes.set_xlabel("reconfiguration" + (": number and begin" if _with_times(frames) else ""))
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=min(6, len(types) or 1),
        borderaxespad=0.2,
        handlelength=1.4,
    )
    return Drawing(figure, _caption(frames))


def _means(frames: Sequence[pd.DataFrame], kind: str, numbers: Array) -> Array:
    """Messages of a type in each reconfiguration, over seeds."""
    sums = [frame[frame.type == kind].groupby("reconfiguration").messages.sum() for frame in frames]
    mean: Array = np.mean([one.reindex(numbers).fillna(0).to_numpy() for one in sums], axis=0)
    return mean


def _draw_type(axes: Axes, numbers: Array, below: Array, top: Array, kind: str, look: Look) -> None:
    """Bars, or an outline where there are too many of them to tell apart."""
    if len(numbers) > _MOST_BARS:
        edges = np.append(numbers, numbers[-1] + 1) - 0.5
        axes.stairs(
            top,
            edges,
            baseline=below,
            fill=True,
            facecolor=look.color,
            hatch=look.hatch,
            edgecolor=PAPER,
            linewidth=0,
            label=kind,
        )
        return
    axes.bar(
        numbers,
        top - below,
        bottom=below,
        width=0.7,
        color=look.color,
        hatch=look.hatch,
        edgecolor=PAPER,
        linewidth=0,
        label=kind,
    )


def _draw_intervals(axes: Axes, numbers: Array, rows: Array) -> None:
    whole = band(rows)
    half = whole.high - whole.mean
    axes.errorbar(
        numbers,
        whole.mean,
        yerr=[np.minimum(half, whole.mean), half],
        ls="",
        color=MUTED,
        elinewidth=0.9,
        capsize=2,
    )


def _names(frames: Sequence[pd.DataFrame], numbers: Array) -> list[str]:
    """Numbers, and with one seed and some room the times as well."""
    if not _with_times(frames):
        return [f"{number:.0f}" for number in numbers]
    begins = frames[0].groupby("reconfiguration").from_time.min()
    return [f"{number:.0f}\n{begins[number] / NANOSECONDS:.4g} s" for number in numbers]


def _with_times(frames: Sequence[pd.DataFrame]) -> bool:
    return len(frames) == 1 and frames[0].reconfiguration.nunique() <= _MOST_WITH_TIMES


def _caption(frames: Sequence[pd.DataFrame]) -> str:
    each = pd.concat([frame.groupby("reconfiguration").messages.sum() for frame in frames])
    size = sum(int(frame.bytes.sum()) for frame in frames)
    number = counted(len(each), "reconfiguration")
    text = (
        f"Control messages from the break of a link until the overlay is quiet again or the next "
        f"reconfiguration begins, each hop counted. {number[:1].upper()}{number[1:]} cost "
        f"{digits(each.mean())} messages and {in_bytes(size / len(each))} of frames in the mean"
    )
    if len(each) > 1:
        text += f", from {each.min():,.0f} to {each.max():,.0f} messages"
    return text + "." + over_seeds(len(frames))
