"""How evenly brokers share the work, as a Lorenz curve."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.confidence import Array, band, estimate
from analysis.figures.numbers import estimated, over_seeds, percent
from analysis.figures.style import HALF, MUTED, PAPER_COLORS, SMALL, Drawing, panel, styled

BLUE = PAPER_COLORS["blue"]
_PLACES = np.linspace(0, 1, 101)


@styled
def draw(loads: Sequence[pd.DataFrame], fairness: Sequence[pd.DataFrame]) -> Drawing | None:
    """Draw `load_fairness`, with the indices of `fairness`."""
    known = [frame for frame in loads if frame.bytes.sum() > 0]
    if not known:
        return None
    figure, axes = panel(HALF, 2.5)
    curve = band(np.array([np.interp(_PLACES, *_lorenz(frame)) for frame in known]))
    axes.plot([0, 1], [0, 1], color=MUTED, lw=0.8, ls=(0, (4, 3)))
    axes.annotate(
        "all equal", (0.5, 0.5), xytext=(-3, 3), textcoords="offset points", ha="right", size=SMALL,
        color=MUTED,
    )  # fmt: skip
    axes.plot(_PLACES, curve.mean, color=BLUE)
    axes.fill_between(_PLACES, curve.mean, _PLACES, color=BLUE, alpha=0.1, lw=0)
    if len(known) > 1:
        axes.fill_between(_PLACES, curve.low, curve.high, color=BLUE, alpha=0.3, lw=0)
    indices = {
        name: estimate(float(frame[name].iloc[0]) for frame in fairness)
        for name in ("gini", "jain_index_bytes")
    }
    axes.text(
        0.05, 0.95,
        f"Gini {estimated(indices['gini'])}\nJain {estimated(indices['jain_index_bytes'])}",
        transform=axes.transAxes, va="top", size=SMALL, linespacing=1.5,
    )  # fmt: skip
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("share of brokers, idlest first")
    axes.set_ylabel("share of message bytes")
    axes.set_title("Load of brokers")
    return Drawing(figure, _caption(known))


def _lorenz(frame: pd.DataFrame) -> tuple[Array, Array]:
    """Shares of brokers and of bytes, from the least loaded broker on."""
    ordered = np.sort(frame.bytes.to_numpy(dtype=float))
    shares = np.append(0.0, np.cumsum(ordered) / ordered.sum())
    return np.linspace(0, 1, len(shares)), shares


def _caption(frames: Sequence[pd.DataFrame]) -> str:
    tops = [frame.bytes.max() / frame.bytes.sum() for frame in frames]
    over = [frame.bytes.max() / frame.bytes.mean() for frame in frames]
    text = (
        f"Lorenz curve of the message bytes that brokers sent and received. The busiest broker "
        f"handles {percent(float(np.mean(tops)))} of them, {np.mean(over):.1f} times the mean"
    )
    if len(frames) == 1:
        text += f" (broker {int(frames[0].broker[frames[0].bytes.idxmax()])})"
    return text + "." + over_seeds(len(frames))
