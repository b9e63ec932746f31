"""Means and their 95 % confidence intervals over seeds; it knows nothing of what was measured."""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 0.95


class Estimate(NamedTuple):
    """A mean over seeds, and how far the interval reaches to both sides; NaN with one seed."""

    mean: float
    half: float
    seeds: int

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.half)


def estimate(values: Iterable[float]) -> Estimate:
    """The mean of what each seed gave; seeds that gave nothing (NaN) are left out."""
    given = np.array([value for value in values if not math.isnan(value)], dtype=float)
    if not len(given):
        return Estimate(math.nan, math.nan, 0)
    mean = float(given.mean())
    if len(given) == 1:
        return Estimate(mean, math.nan, 1)
    # Equal values have no deviation, whatever is left of it by rounding.
    deviation = float(given.std(ddof=1)) if np.ptp(given) else 0.0
    error = deviation / math.sqrt(len(given))
    return Estimate(mean, student(len(given) - 1) * error, len(given))


class Band(NamedTuple):
    """Means along an axis, and the interval around each; low and high are NaN with one seed."""

    mean: Array
    low: Array
    high: Array


def band(rows: Sequence[Sequence[float]] | Array) -> Band:
    """The means of curves, one row a seed, all at the same places."""
    points = [estimate(column) for column in np.asarray(rows, dtype=float).T]
    mean = np.array([point.mean for point in points])
    half = np.array([point.half for point in points])
    return Band(mean, mean - half, mean + half)


def aligned(series: Sequence["pd.Series[float]"], absent: float) -> tuple[Any, Array]:
    """Curves at all the places that any of them has: the places, and a row for each curve."""
    places = sorted(set().union(*(one.index for one in series)))
    rows = [one.reindex(places).fillna(absent).to_numpy(dtype=float) for one in series]
    return np.array(places), np.array(rows)


@cache
def student(freedom: int) -> float:
    """How many standard errors reach to each side, with this many degrees of freedom.

    Found by halving from the closed form of Student's distribution for whole degrees (Abramowitz
    and Stegun, 26.7.3 and 26.7.4).
    """
    low, high = 0.0, 1e3
    while high - low > 1e-9:
        middle = (low + high) / 2
        if _within(middle, freedom) < LEVEL:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    """The probability that a value of Student's distribution lies between -t and t."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total
