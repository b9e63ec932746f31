"""A log of frames, for a network without packets to capture: when each left, what became of it.

It holds bytes and times and knows neither what frames say nor the network that writes it.
"""

from collections.abc import Iterator
from typing import NamedTuple


class FrameRow(NamedTuple):
    """One frame's way from a broker to another; times in nanoseconds.

    `departed` is when it left, which is when the service ends that it was made in. It `arrived`, or
    was `lost` at that moment, or was still under way when the run ended: then both are None.
    """

    source: int
    target: int
    channel: str
    departed: int
    arrived: int | None
    lost: int | None
    frame: bytes


class FrameLog:
    """Every frame that left a broker, by the number that `departed` gave it."""

    def __init__(self) -> None:
        self._departures: list[tuple[int, int, str, int, bytes]] = []
        self._arrived: dict[int, int] = {}
        self._lost: dict[int, int] = {}

    def departed(self, source: int, target: int, channel: str, time: int, frame: bytes) -> int:
        """A frame leaves; the result is its number in this log."""
        self._departures.append((source, target, channel, time, frame))
        return len(self._departures) - 1

    def arrived(self, number: int, time: int) -> None:
        self._arrived[number] = time

    def lost(self, number: int, time: int) -> None:
        self._lost[number] = time

    def rows(self) -> Iterator[FrameRow]:
        """All frames, in the order in which they left."""
        for number, (source, target, channel, time, frame) in enumerate(self._departures):
            arrived, lost = self._arrived.get(number), self._lost.get(number)
            yield FrameRow(source, target, channel, time, arrived, lost, frame)
