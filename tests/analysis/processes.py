"""Processes that tests look for: the server of a process, and the run that it has started."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found.extend(map(int, path.read_text().split()))
        except OSError:  # a thread that has ended since
            continue
    return found


def server_of(process: int) -> int | None:
    """The server for runs that a process has."""
    return next((child for child in children(process) if _is_server(child)), None)


def run_of(process: int) -> int | None:
    """The run that the server of a process has forked; while it loads, it has other children."""
    server = server_of(process)
    return next(filter(_leads_session, children(server)), None) if server else None


def awaited(look: Callable[[], Found | None], seconds: float = 60.0) -> Found:
    """What is found as soon as there is something to be found."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, "it has not come"
        time.sleep(0.01)
    return found


def is_alive(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def _is_server(process: int) -> bool:
    try:
        return b"pysim.cli.server" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def _leads_session(process: int) -> bool:
    try:
        return os.getsid(process) == process
    except OSError:
        return False
