"""Events drawn once from the domains of the strategies: dozens a case cost next to nothing."""

from __future__ import annotations

import random

from pysim.filters import Event, Value

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
