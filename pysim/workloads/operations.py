"""What local clients do to brokers, as plain data that workloads make and simulations act on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pysim.filters import Filter

Action = Literal["subscribe", "unsubscribe", "advertise", "unadvertise", "publish"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One act of one client at one broker; `time` is in nanoseconds of simulated time.

    `publish` uses `attributes` and `payload`, every other action uses `filter`.
    """

    time: int
    broker: int
    action: Action
    client: int = 0
    filter: Filter | None = None
    attributes: Mapping[str, int | float | str] = field(default_factory=dict)
    payload: bytes = b""
