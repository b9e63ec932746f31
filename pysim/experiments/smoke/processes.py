"""Work in processes of its own, several at a time: none of it can harm the rest.

It must not know what the work is. Processes are forked, so that they know what this one does, the
protocols that it has registered among it.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, TypeVar

_T = TypeVar("_T")

_PATIENCE = 5.0  # seconds that a process has to end when it is told to


@dataclass(frozen=True, slots=True)
class Failure:
    """Work that came to nothing, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Running:
    name: str
    process: BaseProcess
    answer: Connection
    deadline: float


def in_processes(
    work: Mapping[str, Callable[[], _T]], at_once: int, seconds: float
) -> Iterator[tuple[str, _T | Failure]]:
    """Do all work, `at_once` pieces at a time; yields each with its result as it ends.

    What takes more than `seconds` is stopped, and fails. If the iteration ends early, what still
    runs is stopped.
    """
    waiting = list(work.items())
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(_started(*waiting.pop(0), seconds))
            patience = max(0.0, min(item.deadline for item in running) - monotonic())
            ended = wait([item.answer for item in running], timeout=patience)
            for item in [item for item in running if item.answer in ended]:
                running.remove(item)
                yield item.name, _result(item)
            for item in [item for item in running if item.deadline <= monotonic()]:
                running.remove(item)
                _stop(item)
                yield item.name, Failure(f"it was stopped after {seconds:g} s")
    finally:
        for item in running:
            _stop(item)


def _started(name: str, work: Callable[[], object], seconds: float) -> _Running:
    context = multiprocessing.get_context("fork")
    answer, its_end = context.Pipe(duplex=False)
    process = context.Process(target=_do, args=(work, its_end), name=name, daemon=True)
    process.start()
    its_end.close()  # so that the pipe ends when the process does
    return _Running(name, process, answer, monotonic() + seconds)


def _do(work: Callable[[], object], answer: Connection) -> None:
    """The process: an interruption is for the parent to report, which then stops this one."""
    with suppress(KeyboardInterrupt):
        try:
            answer.send(work())
        except Exception as error:
            answer.send(Failure(f"{type(error).__name__}: {error}"))


def _result(item: _Running) -> Any:
    try:
        result = item.answer.recv()
    except EOFError:
        item.process.join()
        result = Failure(f"its process ended with code {item.process.exitcode}")
    item.process.join()
    item.answer.close()
    return result


def _stop(item: _Running) -> None:
    item.process.terminate()
    item.process.join(_PATIENCE)
    if item.process.is_alive():
        item.process.kill()
        item.process.join()
    item.answer.close()
