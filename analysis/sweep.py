"""Runs of a sweep as Spark tasks, each simulation in a process of its own.

It knows the command line of `pysim run` and nothing else of experiments. A task never raises: what
goes wrong with a run becomes its outcome, and the others go on.
"""

import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext, TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession

from analysis import runners

_GROUP = "pysim-sweep"
_PAUSE = 0.2  # seconds between two looks at the outcomes
_START_PATIENCE = 60.0  # seconds until the first worker of a cluster is ready
_CANCEL_PATIENCE = 15.0  # seconds until a cancelled job has ended
_AFTERLIFE = 2.0  # seconds in which what a dead worker left running has died too


class SweepError(OSError):
    """The sweep cannot go on; runs that are complete stay."""


class Task(NamedTuple):
    """One run: its name, its experiment file by name and contents, and where its results go.

    `sources` are files that the experiment file expects beside itself, by name and contents.
    """

    run: str
    file: str
    configuration: str
    directory: str
    replace: bool
    sources: tuple[tuple[str, str], ...] = ()


class Limits(NamedTuple):
    """What a run may take: seconds, and attempts if its process is killed."""

    seconds: float
    attempts: int = 3


class Outcome(NamedTuple):
    """What became of a run; `error` is empty if it is complete."""

    run: str
    error: str
    seconds: float
    host: str


class News(NamedTuple):
    """Runs that have ended since the last news, and for how long nobody has worked on the rest."""

    outcomes: list[Outcome]
    waiting: float


def perform(
    session: SparkSession, tasks: Sequence[Task], limits: Limits, patience: float
) -> Generator[News]:
    """Run all tasks, the first ones first, with news now and then.

    SweepError if a cluster has had no worker for `patience` seconds, or for a minute at the start.
    When the iterator is closed, what still runs is stopped.
    """
    context = session.sparkContext
    outcomes: Accumulator[list[Outcome]] = context.accumulator([], _Lists())
    job = _Job(context, tasks, partial(_task, limits=limits, outcomes=outcomes))
    workers = _Workers(context, patience)
    seen = 0
    job.start()
    try:
        while True:
            alive = job.is_alive()
            news = outcomes.value[seen:]
            seen += len(news)
            yield News(news, workers.missed())
            if not alive:
                break
            workers.require()
            job.join(_PAUSE)
    finally:
        job.cancel()
    if job.error:
        raise SweepError(f"Spark has given up: {job.error}")


class _Workers:
    """Watches whether a cluster has workers for us; one machine always has."""

    def __init__(self, context: SparkContext, patience: float) -> None:
        self._context = context
        self._local = str(context.master).startswith("local")
        self._patience = patience
        self._limit = max(patience, _START_PATIENCE)
        self._last = time.monotonic()

    def missed(self) -> float:
        """For how many seconds there has been none."""
        if self._local or self._found():
            self._last = time.monotonic()
            self._limit = self._patience
        return time.monotonic() - self._last

    def require(self) -> None:
        """SweepError if there has been none for too long."""
        if time.monotonic() - self._last > self._limit:
            raise SweepError(f"{self._context.master} has had no worker for {self._limit:g} s")

    def _found(self) -> bool:
        try:
            known = self._context._jsc.sc().statusTracker().getExecutorInfos()
        except Py4JError:
            return False
        return len(known) > 1  # the first is this process


class _Job(threading.Thread):
    """The Spark job in a thread, so that others can watch it."""

    def __init__(self, context: SparkContext, tasks: Sequence[Task], function: Any) -> None:
        super().__init__(daemon=True)
        self.error = ""
        self._context = context
        self._tasks = tasks
        self._function = function

    def run(self) -> None:
        context = self._context
        try:
            context.setJobGroup(_GROUP, "runs of a sweep", interruptOnCancel=True)
            context.parallelize(self._tasks, len(self._tasks)).foreach(self._function)
        except Exception as error:
            self.error = (str(error).strip() or type(error).__name__).partition("\n")[0]

    def cancel(self) -> None:
        """Stop what still runs."""
        if self.is_alive():
            with suppress(Exception):  # an interrupt may have garbled the talk with Java
                self._context.cancelJobGroup(_GROUP)
            self.join(_CANCEL_PATIENCE)


class _Lists(AccumulatorParam[list[Outcome]]):
    """Outcomes of finished tasks, brought together as they come in."""

    def zero(self, value: list[Outcome]) -> list[Outcome]:
        return []

    def addInPlace(self, value1: list[Outcome], value2: list[Outcome]) -> list[Outcome]:  # noqa: N802
        return value1 + value2


def _task(task: Task, limits: Limits, outcomes: "Accumulator[list[Outcome]]") -> None:
    begin = time.monotonic()
    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        time.sleep(_AFTERLIFE)
    try:
        error = _run(task, limits)
    except Exception as problem:  # a full disk, say, or no more processes
        error = f"cannot be started: {problem}"
    outcomes.add([Outcome(task.run, error, time.monotonic() - begin, socket.gethostname())])


def _run(task: Task, limits: Limits) -> str:
    """Run a task's simulation; the result is what went wrong."""
    place = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0]  # which Spark clears away
    with tempfile.TemporaryDirectory(prefix="pysim-run-", dir=place or None) as directory:
        file = Path(directory, task.file)
        for name, text in (*task.sources, (task.file, task.configuration)):
            Path(directory, name).write_text(text, encoding="utf-8")
        options = ["--out", task.directory, "--name", task.run, "--quiet"]
        if task.replace:
            options.append("--force")
        for _ in range(limits.attempts):
            code, words = runners.run(["run", str(file), *options], limits.seconds)
            if code == 0:
                return ""
            if code > 0:
                return _complaint(words, code)
    killer = signal.Signals(-code).name
    return f"killed by {killer}, {limits.attempts} times; the machine may lack memory"


def _complaint(words: str, code: int) -> str:
    """The sentence that a command ended with."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return lines[-1].removeprefix("pysim: ") if lines else f"ended with {code} and no word"
