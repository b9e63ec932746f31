"""Events drawn once from the domains of the strategies: dozens a case cost next to nothing."""

from __future__ import annotations

import random
from collections.abc import Iterable

from pysim.filters import Event, Predicate, Value
from pysim.filters.sample import EventSample

_NAMES = ("a", "b", "c", "not")
_VALUES: list[Value] = [
    *(-2, -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 2**53, 1e300, float("nan")),
    *("", "x", "y", "xx", "xy", "yx", "yxy", "xyxy", "xyxyxyxy", "x\0", "ä", '"', "z"),
]


def drawn_events(count: int, seed: int = 0) -> list[Event]:
    rng = random.Random(seed)
    return [
        {name: rng.choice(_VALUES) for name in _NAMES if rng.random() < 0.7} for _ in range(count)
    ]


EVENTS = drawn_events(60)


def counted(events: Iterable[Event] = EVENTS) -> EventSample:
    """The counts of these events."""
    sample = EventSample(1000)
    for event in events:
        sample.observe(event)
    return sample


class ToldCounts:
    """Of so many events that priors do not matter, an attribute's predicates hold for a share."""

    def __init__(self, **shares: float) -> None:
        self.events = 10**15
        self._shares = shares

    def tell(self, **shares: float) -> None:
        self.events += 1
        self._shares |= shares

    def fulfilled(self, predicate: Predicate) -> int:
        return round(self._shares[predicate.attribute] * self.events)
