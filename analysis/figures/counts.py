"""Distributions of small whole numbers: destinations in a message, brokers that an event meets."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.confidence import aligned, band
from analysis.figures.numbers import digits, over_seeds, percent
from analysis.figures.style import HALF, MUTED, PAPER_COLORS, Drawing, panel, styled, whole_numbers

BLUE = PAPER_COLORS["blue"]


class _Numbers(NamedTuple):
    """A distribution as it is drawn: by seed how often each number occurs, and its words."""

    counts: list["pd.Series[int]"]
    title: str
    along: str
    up: str

    @property
    def mean(self) -> float:
        """The mean number, over what was counted in a seed and then over seeds."""
        known = [count for count in self.counts if count.sum()]
        return float(np.mean([np.average(count.index, weights=count) for count in known]))

    @property
    def most(self) -> int:
        return max(int(count.index.max()) for count in self.counts if len(count))


@styled
def draw_destinations(frames: Sequence[pd.DataFrame]) -> Drawing | None:
    """Draw `destination_list`: how long the lists are that messages carry."""
    counts = [frame.groupby("length").messages.sum() for frame in frames]
    if not sum(map(len, counts)):
        return None
    lists = _Numbers(counts, "Destination lists", "destinations in a message", "messages (%)")
    caption = (
        f"Length of the destination lists that messages carry, each hop counted: "
        f"{digits(lists.mean)} destinations in the mean, {lists.most} at most."
    )
    return Drawing(_draw(lists), caption + over_seeds(len(frames)))


@styled
def draw_brokers(frames: Sequence[pd.DataFrame], brokers: int) -> Drawing | None:
    """Draw `dispatchers_involved`: how many brokers an event meets."""
    counts = [frame.groupby("brokers").size() for frame in frames]
    if not sum(map(len, counts)):
        return None
    met = _Numbers(counts, "Brokers an event meets", "brokers that had the event", "events (%)")
    caption = (
        f"How many brokers an event meets, its publisher's included: {digits(met.mean)} in the "
        f"mean ({percent(met.mean / brokers)} of {brokers}), {met.most} at most."
    )
    return Drawing(_draw(met), caption + over_seeds(len(frames)))


def _draw(numbers: _Numbers) -> Figure:
    known = [count for count in numbers.counts if count.sum()]
    places, shares = aligned([100 * count / count.sum() for count in known], 0.0)
    curve = band(shares)
    figure, axes = panel(HALF, 2.2)
    axes.bar(places, curve.mean, width=0.85, color=BLUE)
    if len(known) > 1:
        axes.errorbar(
            places, curve.mean, yerr=curve.high - curve.mean, ls="", color=MUTED, elinewidth=0.8,
            capsize=1.5,
        )  # fmt: skip
    axes.set_xlim(places[0] - 0.8, places[-1] + 0.8)
    axes.set_ylim(bottom=0)
    whole_numbers(axes.xaxis)
    axes.set_xlabel(numbers.along)
    axes.set_ylabel(numbers.up)
    axes.set_title(numbers.title)
    return figure
