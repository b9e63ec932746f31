"""`python -m pysim.cli.server`: runs that start at once, for who has many of them.

To start Python and load ns-3 and Arrow takes longer than many a simulation. This process loads them
once, and then forks for each run: a run still has a process of its own, in which it does what the
command line does. It knows nothing of experiments, nor who asks.

Requests come on the standard input, a line of JSON each, and their answers go to the standard
output, one after the other: ``{"arguments": ["run", ...], "seconds": 60.0}`` is answered by
``{"code": 0, "words": ""}`` when the run has ended. `code` is as Python's `subprocess` has it
(negative: killed by that signal), or null if the time was over; `words` is what the run wrote to
its standard error, the end of it. The server ends at the end of its input and dies with its parent,
and a run dies with the server.
"""

import argparse
import ctypes
import gc
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import NamedTuple, NoReturn

from pysim.cli import main as command_line

_STOP_PATIENCE = 5.0  # seconds that a run has to clear up when its time is over
_MOST_WORDS = 1 << 16  # bytes of a run's last words that are passed on
_PR_SET_PDEATHSIG = 1
_NEEDED = (  # and loaded by a run only in its course
    "pysim.cli.run",
    "pysim.experiments.parquet",
    "pandas",  # Arrow looks for it as soon as it is given a list
    "pyarrow.pandas_compat",
    "numpy.random",
)
_NO_THREADS = {  # read when numpy and Arrow are loaded
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}

_prctl = ctypes.CDLL(None).prctl


class _Place(NamedTuple):
    """Where a run comes into the world: its parent, and the signals that it does not block."""

    parent: int
    signals: set[signal.Signals]


def main() -> int:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser(prog="python -m pysim.cli.server")
    parser.add_argument("--parent", type=int, required=True, metavar="PID", help="who asks")
    _die_with(parser.parse_args().parent)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # who prints while it loads is no answer
    _load()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    place = _Place(os.getpid(), {signal.Signals(number) for number in blocked})
    for line in sys.stdin:
        request = json.loads(line)
        code, words = _perform(request["arguments"], request["seconds"], place)
        print(json.dumps({"code": code, "words": words}), file=answers, flush=True)
    return 0


def _die_with(parent: int) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was too late already
        os._exit(1)


def _load() -> None:
    """Load what runs need; what cannot be loaded is left to a run that needs it, to say so."""
    with _environment(_NO_THREADS):  # a process should have but one thread when it forks
        for module in _NEEDED:
            with suppress(Exception):
                import_module(module)
        with suppress(Exception):
            _load_ns3()
    gc.collect()
    gc.freeze()  # or every run copies all of this when it looks for garbage


def _load_ns3() -> None:
    """Load the native library, and let cppyy compile what it passes; no network is made here."""
    from pysim.network import ns3

    native = ns3.native_library()
    _ = native.Settings(), native.LinkParameters(), native.Simulation


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    former = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name)
        os.environ.update(former)


def _perform(arguments: Sequence[str], seconds: float, place: _Place) -> tuple[int | None, str]:
    """Carry a command out in a process of its own; its code, None if its time is over, and words.

    The words go to memory: what is to be said when a disk is full must not need one.
    """
    words = os.memfd_create("words")
    try:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _become(arguments, words, place)
        code = _code(child, seconds)
        if code is None:
            _stop(child)
        size = os.fstat(words).st_size
        last = os.pread(words, _MOST_WORDS, max(0, size - _MOST_WORDS))
    finally:
        os.close(words)
    return code, last.decode(errors="replace")


def _code(child: int, seconds: float) -> int | None:
    """How a child ended, None if it has not within some seconds; SIGCHLD must be blocked."""
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        signal.sigtimedwait([signal.SIGCHLD], left)


def _stop(child: int) -> None:
    os.kill(child, signal.SIGTERM)
    if _code(child, _STOP_PATIENCE) is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _become(arguments: Sequence[str], words: int, place: _Place) -> NoReturn:
    """Be the process of a command, to its end.

    The end is a short one: what Python takes down otherwise, piece by piece, is only a copy. The
    stream of the answers stays open, so that it ends only when a server and its run are gone.
    """
    code = 1
    try:
        _die_with(place.parent)
        os.setsid()
        signal.pthread_sigmask(signal.SIG_SETMASK, place.signals)
        _set_streams(words)
        code = _exit_code(arguments)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def _set_streams(words: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream, target in enumerate((nothing, nothing, words)):
        os.dup2(target, stream)
    os.close(nothing)


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        return command_line(arguments)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
