"""When and where numbered things happen, for workloads that are given as lists of them.

It must not know what the things are.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Annotated, NamedTuple, TypeVar

from msgspec import Meta

from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency
from pysim.workloads.base import Setting, Workload, WorkloadError

_Broker = Annotated[int, Meta(ge=0)]
_Thing = TypeVar("_Thing")


class Scheduled(Workload, frozen=True, kw_only=True):
    """Subscriptions over a ramp, then the same events at a rate in each of several rounds.

    A subclass says which, and calls this class's `check`, which looks at the brokers only.
    """

    subscribe_at: Annotated[
        _Broker | None, Meta(description="the one broker of all subscribers; all if not given")
    ] = None
    publish_at: Annotated[
        _Broker | None, Meta(description="the one broker that publishes; all if not given")
    ] = None
    start: Annotated[Duration, Meta(description="when the first subscription is made")] = Duration(
        0.5
    )
    ramp: Annotated[Duration, Meta(description="time over which subscriptions spread")] = Duration(
        1.0
    )
    publish_start: Annotated[Duration, Meta(description="when publishing begins")] = Duration(2.0)
    rate: Annotated[Frequency, Meta(description="events that all brokers together publish")] = (
        Frequency(500.0)
    )
    rounds: Annotated[
        int, Meta(ge=1, le=10_000, description="how often the same events are published")
    ] = 1
    pause: Annotated[Duration, Meta(description="time between two rounds")] = Duration(1.0)

    def check(self, setting: Setting) -> None:
        for key in ("subscribe_at", "publish_at"):
            broker = getattr(self, key)
            if broker is not None and broker >= setting.brokers:
                raise WorkloadError(key, f"the overlay has {setting.brokers} brokers")


def require_time(key: str, end: float, setting: Setting) -> None:
    """Refuse what is not over at the end of the run; `key` is the one to change."""
    if end <= setting.duration:
        return
    taken = f"until {Duration(round(end, 9))}" if math.isfinite(end) else "for ever"
    raise WorkloadError(key, f"takes {taken}, the run ends at {Duration(setting.duration)}")


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
