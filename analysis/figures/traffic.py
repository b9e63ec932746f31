"""Traffic over simulated time, one panel a type of message, so that small traffic is seen too."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.figures.confidence import Array, band
from analysis.figures.numbers import SPACE, byte_unit, counted, in_bytes, in_seconds, over_seeds
from analysis.figures.style import PAPER_COLORS, WIDE, Drawing, Look, grouped, page, styled
from analysis.figures.timeline import NANOSECONDS, Mark, all_bins, bin_width, draw_marks, marks

MOST_PANELS = 7
OTHERS = "others"


@styled
def draw(
    frames: Sequence[pd.DataFrame],
    changes: Sequence[pd.DataFrame],
    duration: float,
    looks: Mapping[str, Look],
) -> Drawing | None:
    """Draw `traffic_over_time` of a run of `duration` (s).

    Changes of the overlay are marked if they happen at the same times in all runs.
    """
    if not sum(len(frame) for frame in frames):
        return None
    width = bin_width(frames)
    bins = all_bins(frames, width)
    types = _panels(frames)
    same = [mark for mark in marks(changes[0]) if all(mark in marks(one) for one in changes)]
    figure = page(WIDE, 0.7 + 0.72 * len(types))
    panels = figure.subplots(len(types), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, members) in zip(panels, types.items(), strict=True):
        rates = np.array([_rates(frame, members, bins, width) for frame in frames])
        color = looks[name].color if name in looks else PAPER_COLORS["header-1"]
        edges = np.append(bins, bins[-1] + width) / NANOSECONDS
        _draw_panel(axes, edges, rates, color)
        first = axes is panels[0]
        draw_marks(axes, same, named=first)
        axes.set_title(name, pad=11 if first and same else 3)
    panels[-1].set_xlabel("simulated time (s)")
    panels[-1].set_xlim(0, duration)
    figure.align_ylabels(panels)
    return Drawing(figure, _caption(frames, types, bins, width, same))


def _panels(frames: Sequence[pd.DataFrame]) -> dict[str, list[str]]:
    """The types by their bytes; beyond a page's worth of panels the rest shares one."""
    sizes = pd.concat(frames).groupby("type").bytes.sum().sort_values(ascending=False)
    names = list(sizes.index)
    if len(names) <= MOST_PANELS:
        return {name: [name] for name in names}
    kept = names[: MOST_PANELS - 1]
    return {name: [name] for name in kept} | {OTHERS: names[MOST_PANELS - 1 :]}


def _rates(frame: pd.DataFrame, members: Sequence[str], bins: Sequence[int], width: int) -> Array:
    """Bytes per second in each bin."""
    sizes = frame[frame.type.isin(members)].groupby("bin").bytes.sum()
    rates: Array = sizes.reindex(bins).fillna(0).to_numpy(dtype=float) / (width / NANOSECONDS)
    return rates


def _draw_panel(axes: Axes, edges: Array, rates: Array, color: str) -> None:
    curve = band(rates)
    unit = byte_unit(float(curve.mean.max()))
    axes.stairs(curve.mean / unit.size, edges, fill=True, color=color, alpha=0.25, lw=0)
    axes.stairs(curve.mean / unit.size, edges, color=color, lw=1.2)
    if len(rates) > 1:
        low, high = (np.append(line, line[-1]) / unit.size for line in (curve.low, curve.high))
        axes.fill_between(
            edges, np.clip(low, 0, None), high, step="post", color=color, alpha=0.35, lw=0
        )
    axes.margins(y=0.12)
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="y", nbins=3)
    grouped(axes.yaxis)
    axes.set_ylabel(f"{unit.name}/s")


def _caption(
    frames: Sequence[pd.DataFrame],
    types: Mapping[str, Sequence[str]],
    bins: Sequence[int],
    width: int,
    same: Sequence[Mark],
) -> str:
    sizes = pd.concat(frames).groupby("type").bytes.sum() / len(frames)
    first = next(iter(types))
    busiest = pd.concat(frames).groupby("bin").bytes.sum().idxmax() / NANOSECONDS
    text = (
        f"Bytes of messages per second, summed over all hops, in bins of "
        f"{in_seconds(width / NANOSECONDS)}; each panel has its own scale. Most is {first} "
        f"({in_bytes(sizes[types[first]].sum())} in all); "
        f"the busiest bin begins at {busiest:g}{SPACE}s."
    )
    if OTHERS in types:
        text += f" The last panel is the sum of {counted(len(types[OTHERS]), 'rarer type')}."
    if same:
        text += " Marks above the first panel show when the overlay changed."
    return text + over_seeds(len(frames))
