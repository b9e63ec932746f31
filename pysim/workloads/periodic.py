"""When things happen, at equal distances of time or at random; it must not know what happens."""

import itertools
import math
from collections.abc import Iterator
from random import Random

from pysim.network.transport import NANOSECONDS
from pysim.workloads.base import Setting
from pysim.workloads.schedule import nanoseconds

_SETTLING = 1.0  # seconds at the end in which what was sent may still arrive


def ticks(begin: float, rate: float, end: float) -> Iterator[int]:
    """The times (ns) from `begin` on at which something happens `rate` times a second.

    Those before `end` (s) count; there are none if the rate is zero.
    """
    if not rate:
        return
    first, last, gap = nanoseconds(begin), nanoseconds(end), NANOSECONDS / rate
    for number in itertools.count():
        time = first + round(number * gap)
        if time >= last:
            return
        yield time


def tick_count(begin: float, rate: float, end: float) -> int:
    """At most so many ticks there are, and at most one too many."""
    return math.ceil(max(0.0, end - begin) * rate) + 1 if rate and end > begin else 0


def poisson(stream: Random, rate: float, begin: float, end: float) -> Iterator[float]:
    """The times (s) of things that happen at random, `rate` of them a second in the mean."""
    time = begin + stream.expovariate(rate)
    while time < end:
        yield time
        time += stream.expovariate(rate)


def poisson_count(mean: float) -> int:
    """A bound that a count of this mean exceeds once in a milliard runs at most."""
    return math.ceil(mean + 6 * math.sqrt(mean) + 12) if mean else 0


def publishing_end(stop: float | None, setting: Setting) -> float:
    """When publishing ends: one second before the run does, unless told otherwise."""
    return max(0.0, setting.duration - _SETTLING) if stop is None else stop
