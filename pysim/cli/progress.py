"""Progress of a run: a line that renews itself on a terminal, a few plain lines elsewhere."""

import sys
import time
from typing import TextIO

from pysim.network.transport import NANOSECONDS

_TERMINAL_PAUSE = 0.1
_PLAIN_PAUSE = 10.0  # before the first line; each line doubles it
_WIDTH = 24


class Progress:
    """Called with the simulated time (ns) now and then; use it as a context."""

    def __init__(self, duration: float, stream: TextIO = sys.stderr) -> None:
        self._duration = duration
        self._stream = stream
        self._terminal = stream.isatty()
        self._pause = _TERMINAL_PAUSE if self._terminal else _PLAIN_PAUSE
        self._begin = self._last = time.monotonic()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        if self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def __call__(self, now: int) -> None:
        wall = time.monotonic()
        if wall - self._last >= self._pause:
            self._last = wall
            self._pause *= 1 if self._terminal else 2
            line = describe(now / NANOSECONDS, self._duration, wall - self._begin)
            self._stream.write(f"\r\x1b[K{line}" if self._terminal else f"{line}\n")
            self._stream.flush()


def describe(simulated: float, duration: float, wall: float) -> str:
    """One line: how far, how fast, how long still."""
    share = min(simulated / duration, 1.0)
    bar = "#" * round(share * _WIDTH)
    speed = simulated / wall if wall > 0 else 0.0
    left = clock((duration - simulated) / speed) if speed else "?"
    return (
        f"[{bar:.<{_WIDTH}}] {simulated:.2f} of {duration:g} s simulated,"
        f" {speed:.3g} s per second, {left} left"
    )


def clock(seconds: float) -> str:
    """Seconds as people say them: 0:07, 12:30, 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
