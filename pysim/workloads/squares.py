"""Squares inside the unit square, as filters on `x` and `y`: what covers what is known exactly.

It must not know who wants them. Corners lie on a grid of binary fractions, so that no sum is
ever rounded: of two squares of one size neither covers the other unless they are the same.
"""

import math
import random
from collections.abc import Iterator
from typing import NamedTuple

from pysim.filters import And, Filter, Operator, Predicate, Range

GRID = 2**30
"""Grid lines in the unit square, in each direction."""


class Square(NamedTuple):
    """A square by its lower left corner and its side, all counted in grid lines."""

    x: int
    y: int
    side: int


WHOLE = Square(0, 0, GRID)
LONGEST = Square(GRID // 3, GRID // 3, GRID // 3)
"""None takes more bytes as a filter: no border is a whole number."""


def side(share: float) -> int:
    """The side of a square with this share of the unit square, as nearly as the grid has it."""
    return round(math.sqrt(share) * GRID)


def places(side: int, inside: Square = WHOLE) -> int:
    """How many squares with this side there are inside a square."""
    return max(0, inside.side - side + 1) ** 2


def different(
    stream: random.Random, side: int, count: int, inside: Square = WHOLE
) -> Iterator[Square]:
    """Squares of one size at random places, no two the same; there must be as many `places`."""
    for place in stream.sample(range(places(side, inside)), count):
        yield _square(place, side, inside)


def parts(count: int) -> list[Square]:
    """So many squares of one size inside the unit square that have nothing in common.

    They fill it if their number is a power of four.
    """
    columns = math.isqrt(count - 1) + 1
    side = GRID // columns
    return [
        Square(side * (number % columns), side * (number // columns), side)
        for number in range(count)
    ]


def within(stream: random.Random, side: int, inside: Square) -> Square:
    """A square at a random place inside another one."""
    return _square(stream.randrange(places(side, inside)), side, inside)


def conditions(square: Square) -> tuple[Predicate, Predicate]:
    """That a point (x, y) lies in the square, its left and lower borders included."""
    return _between("x", square.x, square.side), _between("y", square.y, square.side)


def filter_of(square: Square) -> Filter:
    """All events with a point in the square."""
    return And(conditions(square))


def _square(place: int, side: int, inside: Square) -> Square:
    right, up = divmod(place, inside.side - side + 1)
    return Square(inside.x + right, inside.y + up, side)


def _between(attribute: str, low: int, side: int) -> Predicate:
    return Predicate(attribute, Operator.IN, Range(low / GRID, (low + side) / GRID))
