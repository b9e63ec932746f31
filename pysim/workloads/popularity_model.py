"""How popular publishers are, and what that means for advertisements and subscriptions.

It says nothing of time and place: `popularity` does.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from pysim.filters import And, Filter, Operator, Predicate, Range
from pysim.workloads.tables import Table, TableError, read, refuse, require_column

EXTENT = 1000.0
"""Both attributes of a publication are numbers from 0 up to this."""

DEGREE, USERS = "degree", "n_users_followers"
"""Columns of a histogram: a number of followers, and how many users have it."""

Draw = Callable[[random.Random], float]
"""Draws how many followers a publisher has."""


class Followers(NamedTuple):
    """The number of followers of a user of Twitter: lognormal, with the tail of a power law.

    Fitted to the 81,306 users of the SNAP data set ego-Twitter (McAuley and Leskovec, NIPS 2012),
    each of whom has at least one: the body to all of them (Kolmogorov-Smirnov distance 0.031), the
    tail to the 890 with 200 and more (0.021).
    """

    mu: float = 2.091
    sigma: float = 1.361
    tail: float = 890 / 81_306
    tail_begins: float = 200.0
    alpha: float = 2.94

    def draw(self, stream: random.Random) -> float:
        """A whole number of at least one."""
        chance = stream.random()
        if chance < self.tail:
            above = chance / self.tail or 1.0
            return float(round(self.tail_begins * above ** (-1 / (self.alpha - 1))))
        body = NormalDist(self.mu, self.sigma)
        below = body.cdf(math.log(self.tail_begins))
        share = (1 - chance) / (1 - self.tail) * below
        return float(max(1, round(math.exp(body.inv_cdf(max(share, 1e-12))))))


FOLLOWERS = Followers()


def from_histogram(path: Path) -> Draw:
    """A draw from a table that a user brings along; TableError if it cannot be used."""
    table = read(path)
    for name in (DEGREE, USERS):
        require_column(table, name)
    known = [
        (_amount(table, row, DEGREE, degree), _amount(table, row, USERS, users))
        for row, (degree, users) in enumerate(
            zip(table.column(DEGREE), table.column(USERS), strict=True)
        )
    ]
    known = [(degree, users) for degree, users in known if degree and users]
    if not known:
        raise TableError(f"{table.name} has no users with followers")
    upto = list(accumulate(users for _, users in known))
    return lambda stream: known[bisect_right(upto, stream.random() * upto[-1])][0]


def _amount(table: Table, row: int, column: str, value: object) -> float:
    if not isinstance(value, int | float) or value < 0:
        refuse(table, row, column, "expected a number of at least 0")
    return float(value)


def zipf(publishers: int, exponent: float, stream: random.Random) -> list[float]:
    """The weights of publishers whose ranks are drawn."""
    weights = [rank**-exponent for rank in range(1, publishers + 1)]
    stream.shuffle(weights)
    return weights


def shared_out(count: int, weights: Sequence[float]) -> list[int]:
    """So many things in proportion to weights, each part rounded so that none is left over."""
    total = sum(weights)
    exact = [count * weight / total for weight in weights]
    parts = [math.floor(part) for part in exact]
    order = sorted(range(len(parts)), key=lambda place: (parts[place] - exact[place], place))
    for place in order[: count - sum(parts)]:
        parts[place] += 1
    return parts


class Offer(NamedTuple):
    """What a publisher advertises: all points of its own slab of a class."""

    number: int
    left: float
    right: float

    def filter(self) -> Filter:
        """The advertisement's filter, in canonical form."""
        return self._within(Range(self.left, self.right), Range(0.0, EXTENT))

    def part(self, share: float, stream: random.Random) -> Filter:
        """A filter that this share of its publications match, at a random place."""
        side = math.sqrt(share)
        return self._within(
            _piece(self.left, self.right, side, stream), _piece(0.0, EXTENT, side, stream)
        )

    def point(self, draw: Callable[[], float]) -> dict[str, int | float | str]:
        """The attributes of a publication."""
        x = self.left + draw() * (self.right - self.left)
        return {
            "class": self.number,
            "x": min(x, math.nextafter(self.right, 0)),
            "y": draw() * EXTENT,
        }

    def _within(self, x: Range, y: Range) -> Filter:
        return And(
            (
                Predicate("class", Operator.EQ, self.number),
                Predicate("x", Operator.IN, x),
                Predicate("y", Operator.IN, y),
            )
        )


def offers(publishers: int, classes: int, stream: random.Random) -> list[Offer]:
    """What each publisher offers; those of a class, drawn at random, share it in equal slabs."""
    members: list[list[int]] = [[] for _ in range(classes)]
    for publisher in range(publishers):
        members[stream.randrange(classes)].append(publisher)
    found: dict[int, Offer] = {}
    for number, sharing in enumerate(members):
        for place, publisher in enumerate(sharing):
            left, right = (EXTENT * edge / len(sharing) for edge in (place, place + 1))
            found[publisher] = Offer(number, left, right)
    return [found[publisher] for publisher in range(publishers)]


def _piece(low: float, high: float, share: float, stream: random.Random) -> Range:
    length = (high - low) * share
    begin = low + stream.random() * (high - low - length)
    return Range(begin, begin + length)
