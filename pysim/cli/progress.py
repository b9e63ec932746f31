"""Progress of long work: a line that renews itself on a terminal, a few plain lines elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import Self, TextIO

from pysim.network.transport import NANOSECONDS

_TERMINAL_PAUSE = 0.1
_PLAIN_PAUSE = 10.0  # before the first line; each line doubles it
_WIDTH = 24


class Display:
    """A line that is shown now and then, and nothing without a stream; use it as a context.

    A subclass calls `show` as often as it likes.
    """

    def __init__(self, stream: TextIO | None = sys.stderr) -> None:
        self._stream = stream
        self._terminal = stream is not None and stream.isatty()
        self._pause = _TERMINAL_PAUSE if self._terminal else _PLAIN_PAUSE
        self._begin = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._terminal:
            self._write("")

    def show(self, line: Callable[[float], str]) -> None:
        """Show a line, made from the seconds since the beginning, if it is time for one."""
        wall = time.monotonic()
        if wall - self._last >= self._pause:
            self._last = wall
            self._pause *= 1 if self._terminal else 2
            self._write(line(wall - self._begin), end="" if self._terminal else "\n")

    def say(self, sentence: str) -> None:
        """Show a sentence that stays."""
        self._write(sentence, end="\n")

    def _write(self, text: str, end: str = "") -> None:
        if self._stream is not None:
            self._stream.write(f"\r\x1b[K{text}{end}" if self._terminal else f"{text}{end}")
            self._stream.flush()


class Progress(Display):
    """Called with the simulated time (ns) now and then."""

    def __init__(self, duration: float, stream: TextIO = sys.stderr) -> None:
        super().__init__(stream)
        self._duration = duration

    def __call__(self, now: int) -> None:
        self.show(lambda wall: describe(now / NANOSECONDS, self._duration, wall))


class Counter(Display):
    """Called with how many of many things are done, and which share of the work that was."""

    def __init__(self, total: int, what: str, stream: TextIO | None = sys.stderr) -> None:
        super().__init__(stream)
        self._total = total
        self._what = what

    def __call__(self, done: int, share: float) -> None:
        self.show(lambda wall: count(done, self._total, self._what, share, wall))


def describe(simulated: float, duration: float, wall: float) -> str:
    """One line: how far, how fast, how long still."""
    speed = simulated / wall if wall > 0 else 0.0
    left = clock((duration - simulated) / speed) if speed else "?"
    return (
        f"{_bar(simulated / duration)} {simulated:.2f} of {duration:g} s simulated,"
        f" {speed:.3g} s per second, {left} left"
    )


def count(done: int, total: int, what: str, share: float, wall: float) -> str:
    """One line: how many of how many, how long still."""
    left = clock(wall * (1 - share) / share) if share > 0 else "?"
    return f"{_bar(share)} {done:,} of {total:,} {what}, {left} left"


def _bar(share: float) -> str:
    return f"[{'#' * round(min(share, 1.0) * _WIDTH):.<{_WIDTH}}]"


def clock(seconds: float) -> str:
    """Seconds as people say them: 0:07, 12:30, 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
