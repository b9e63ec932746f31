"""Processes for runs, from a server that has loaded beforehand what every run needs.

It knows the command line of `python -m pysim.cli.server` and the lines that it reads and writes,
and nothing of Spark. A server is kept for the next run, which finds it warm. It belongs to the
thread that started it, as the kernel sees it: both end together, and with the server its run.
"""

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

_PATIENCE = 120.0  # seconds that a server has for all but the run itself
_TIME_IS_OVER = 124  # as the command `timeout` says it

_kept = threading.local()


class Ended(NamedTuple):
    """How a process ended: its exit code, negative if a signal killed it, and its last words."""

    code: int
    words: str


def run(arguments: Sequence[str], seconds: float) -> Ended:
    """Carry out `pysim` with these arguments in a process of its own, which dies with us.

    It is stopped when its time is over. If the server ends on the way, so does the run, and as it
    ended so has the run; the next one has another server.
    """
    server = _server()
    try:
        code, words = server.run(arguments, seconds)
    except BaseException:
        server.kill()
        raise
    if code is None:
        return Ended(_TIME_IS_OVER, f"stopped after {seconds:g} s, which is the time limit")
    return Ended(code, words)


def _server() -> "_Server":
    """The server of this thread: the one that is there, if it lives and would be started as such.

    A run finds the environment and the current directory that its server was started with.
    """
    server: _Server | None = getattr(_kept, "server", None)
    if server is not None and not server.fits():
        server.kill()
        server = None
    if server is None:
        server = _kept.server = _Server()
    return server


class _Server:
    """A server, and what we say to each other."""

    def __init__(self) -> None:
        self._surroundings = _surroundings()
        self._words = os.fdopen(os.memfd_create("words"), "rb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pysim.cli.server", "--parent", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def fits(self) -> bool:
        """Whether it lives, and runs find there what they would find here."""
        return self._process.poll() is None and self._surroundings == _surroundings()

    def run(self, arguments: Sequence[str], seconds: float) -> tuple[int | None, str]:
        """Exit code and last words of a run; None if its time is over."""
        request = json.dumps({"arguments": arguments, "seconds": seconds})
        with suppress(BrokenPipeError):  # then there is no answer either
            print(request, file=self._requests, flush=True)
        ready, _, _ = select.select([self._answers], [], [], seconds + _PATIENCE)
        if not ready:
            self.kill()
            return None, ""
        line = self._answers.readline()
        if not line:
            return self._end()
        answer = json.loads(line)
        return answer["code"], answer["words"]

    def kill(self) -> None:
        """End the server and its run, and see their end: both hold the answers open till then."""
        if not self._answers.closed:
            self._process.kill()
            self._answers.read()
            self._process.wait()
            self._close()

    def _end(self) -> tuple[int, str]:
        """How the server has ended; it is never well as long as someone waits for an answer."""
        code = self._process.wait()
        self._words.seek(0)
        words = self._words.read().decode(errors="replace")
        self._close()
        return code or 1, words

    def _close(self) -> None:
        self._answers.close()
        self._words.close()
        with suppress(BrokenPipeError):  # a request that was never read
            self._requests.close()


def _surroundings() -> tuple[dict[str, str], int, int]:
    """What a process takes over from its parent."""
    here = os.stat(".")
    return dict(os.environ), here.st_dev, here.st_ino
