"""When and where numbered things happen, for workloads that are given as lists of them.

It must not know what the things are.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from pysim.network.transport import NANOSECONDS

_Thing = TypeVar("_Thing")


class Place(NamedTuple):
    """A client at a broker."""

    broker: int
    client: int


def place(number: int, brokers: int, at: int | None) -> Place:
    """Where the client of a number lives: all at one broker, or at each broker in turn."""
    if at is None:
        return Place(number % brokers, number // brokers)
    return Place(at, number)


def again(things: Iterable[_Thing], rounds: int) -> Iterator[tuple[int, _Thing]]:
    """The same things, the very same objects, in each of several rounds; kept only if needed."""
    kept: list[_Thing] = []
    for thing in things:
        if rounds > 1:
            kept.append(thing)
        yield 0, thing
    for number in range(1, rounds):
        for thing in kept:
            yield number, thing


def nanoseconds(seconds: float) -> int:
    """Simulated time as operations have it."""
    return round(seconds * NANOSECONDS)
