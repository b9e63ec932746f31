"""Which of two systems needs less, where, and where one overtakes the other.

It knows pairs of numbers that belong together, and nothing of what they measure. A difference is a
difference only if its confidence interval does not hold zero: all else cannot be told apart.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.figures.confidence import Estimate, estimate

Values = Mapping[int, float]
"""What each seed gave."""


class Standing(NamedTuple):
    """Two systems at one place of an axis: by how much the first exceeds the second.

    `difference` is a mean over the seeds that both have, of what the first gave less what the
    second gave; `ratio` is the first mean over the second.
    """

    place: str
    at: float
    difference: Estimate
    ratio: float

    @property
    def sign(self) -> int:
        """-1 if the first needs less, 1 if the second does, 0 if they cannot be told apart."""
        mean, half = self.difference.mean, self.difference.half
        if not self.difference.known or abs(mean) <= half:
            return 0
        return -1 if mean < 0 else 1


class Crossing(NamedTuple):
    """Between two neighboring certain places, `low` and `high`, the order turns round.

    `at` is where the mean difference is zero, on straight lines between places; `sign` is that of
    the standing at `low`: -1 if the first system needs less up to there.
    """

    low: str
    high: str
    at: float
    sign: int


def stand(place: str, at: float, first: Values, second: Values) -> Standing:
    """Hold two systems against each other, seed by seed."""
    seeds = [seed for seed in first if seed in second]
    pairs = [(first[seed], second[seed]) for seed in seeds]
    known = [(a, b) for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    below = sum(b for _, b in known)
    ratio = sum(a for a, _ in known) / below if below else math.nan
    return Standing(place, at, estimate(a - b for a, b in known), ratio)


def crossings(standings: Sequence[Standing], logarithmic: bool = False) -> Iterator[Crossing]:
    """All places at which one overtakes the other; `standings` are in the order of the axis.

    What cannot be told apart in between only makes the gap wider in which it happens.
    """
    certain = [number for number, standing in enumerate(standings) if standing.sign]
    for low, high in itertools.pairwise(certain):
        before, after = standings[low], standings[high]
        if before.sign != after.sign:
            at = _zero(standings[low : high + 1], logarithmic)
            yield Crossing(before.place, after.place, at, before.sign)


def _zero(standings: Sequence[Standing], logarithmic: bool) -> float:
    """Where the mean difference first changes its sign."""
    for low, high in itertools.pairwise(standings):
        a, b = low.difference.mean, high.difference.mean
        if a == 0 or (a < 0) != (b < 0):
            share = a / (a - b) if a != b else 0.0
            if logarithmic:
                return float(low.at * (high.at / low.at) ** share)
            return low.at + share * (high.at - low.at)
    raise ValueError("the difference does not change its sign")
