"""From a finished run to its analysis: captures to messages, books, metrics, files.

`analyze` is the whole way. It writes the directory ``analysis`` of a run, which is complete or
absent: messages, packets and notes as tables, a table for every metric, and the books. The same run
gives the same bytes. What a metric is, is defined in `analysis.metrics`; what must balance, in
`analysis.books`.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import pandas as pd
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from analysis.books import Books, BooksError, keep
from analysis.finished import FinishedRun, sha256
from analysis.ingest import ingest, read_captures
from analysis.metrics import METRICS
from analysis.metrics.metric import Metric
from analysis.sources import AbsentError, Sources, coverage, why_no_captures
from analysis.tables import merge_parts, read, write_sorted

STATE = "analysis.json"
_MESSAGE_ORDER = ("time", "connection", "source_address", "origin", "sequence", "length", "crc")
_AT_ONCE = 4
"""Metrics that are computed at the same time: planning one takes longer than a small one takes."""


@dataclass(frozen=True)
class Analysis:
    """The analysis of a run.

    `absent` says why a metric is not there. `seconds` are those that each stage took; there are
    none if the analysis was there already (`reused`).
    """

    run: FinishedRun
    absent: dict[str, str]
    reused: bool
    seconds: dict[str, float]

    @property
    def directory(self) -> Path:
        return self.run.directory / "analysis"

    @property
    def books(self) -> Books:
        return Books.from_dict(json.loads((self.directory / "books.json").read_bytes()))

    def table(self, name: str) -> pd.DataFrame:
        """``messages``, ``packets`` or ``notes``."""
        path = self.directory / f"{name}.parquet"
        if not path.is_file():
            raise LookupError(f"{self.run.directory} has no {name}: {why_no_captures(self.run)}")
        return read(path)

    def metric(self, name: str) -> pd.DataFrame:
        """A metric's table; LookupError says why there is none."""
        if name not in METRICS:
            known = ", ".join(METRICS)
            raise LookupError(f"there is no metric {name}; known are {known}")
        if name in self.absent:
            raise LookupError(f"{self.run.directory} has no {name}: {self.absent[name]}")
        return read(self.directory / "metrics" / f"{name}.parquet")


class AnalysisError(OSError):
    """An analysis that could not be finished; the text says why."""


def present(directory: Path) -> Analysis | None:
    """The analysis of a run as it is now, if there is one already."""
    run = FinishedRun(directory)
    return _former(run, _key(run))


def analyze(spark: SparkSession, directory: Path, *, force: bool = False) -> Analysis:
    """Analyse a run, unless its present state has been analysed already (`force`: nevertheless).

    BooksError if its books do not balance; then no analysis is left, neither a former one.
    """
    run = FinishedRun(directory)
    with _locked(run.directory):
        key = _key(run)
        former = None if force else _former(run, key)
        if former is not None:
            return former
        shutil.rmtree(run.directory / "analysis", ignore_errors=True)
        with _complete_or_absent(run.directory / "analysis") as place, _in_a_sentence(run):
            return _Work(spark, run, place).do(key)


def balance(directory: Path) -> Books:
    """The books of a run, from its analysis if it has one; else its captures are read here."""
    known = present(directory)
    if known is not None:
        return known.books
    run = FinishedRun(directory)
    if not run.captures():
        return keep(run)
    found = read_captures(run, coverage(run))
    return keep(run, found.counts, found.notes)


class _Work:
    """One analysis on its way."""

    def __init__(self, spark: SparkSession, run: FinishedRun, place: Path) -> None:
        self._spark = spark
        self._run = run
        self._place = place
        self._parts = place / "parts"
        self._has_captures = bool(run.captures())
        self._sources = Sources(spark, run, self._parts if self._has_captures else None)
        self._seconds: dict[str, float] = {}

    def do(self, key: str) -> Analysis:
        """Everything; BooksError if the books do not balance."""
        (self._place / "metrics").mkdir()
        try:
            with self._timed("captures and books"):
                self._read_captures()
            with self._timed("metrics"), pool(_AT_ONCE) as threads:
                work = [threads.submit(self._merge)]
                absent = {}
                for metric in METRICS.values():
                    try:
                        frame = metric.of(self._sources)
                    except AbsentError as reason:
                        absent[metric.name] = str(reason)
                    else:
                        work.append(threads.submit(self._write_metric, metric, frame))
                for part in work:
                    part.result()
        finally:
            self._sources.release()
        shutil.rmtree(self._parts, ignore_errors=True)
        state = {"key": key, "absent": absent}
        (self._place / STATE).write_text(json.dumps(state, indent=2) + "\n")
        return Analysis(self._run, absent, False, self._seconds)

    def _read_captures(self) -> None:
        """Read messages and packets, and check the books before anything is made of them."""
        if self._has_captures:
            notes, counts = ingest(self._spark, self._run, coverage(self._run), self._parts)
            write_sorted(notes, ("capture", "time", "kind", "text"), self._place / "notes.parquet")
            books = keep(self._run, counts, notes)
        else:
            books = keep(self._run)
        if not books.balanced:
            raise BooksError(str(self._run.directory), books)
        (self._place / "books.json").write_text(json.dumps(books.as_dict(), indent=2) + "\n")

    def _merge(self) -> None:
        if self._has_captures:
            merge_parts(self._parts / "messages", _MESSAGE_ORDER, self._place / "messages.parquet")
            merge_parts(self._parts / "packets", ("number",), self._place / "packets.parquet")

    def _write_metric(self, metric: Metric, frame: DataFrame) -> None:
        path = self._place / "metrics" / f"{metric.name}.parquet"
        write_sorted(frame.toArrow(), metric.order, path)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        begin = perf_counter()
        yield
        self._seconds[stage] = round(perf_counter() - begin, 3)


@contextmanager
def pool(size: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that leave what they have not begun when something has gone wrong."""
    with ThreadPoolExecutor(size) as threads:
        try:
            yield threads
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def _former(run: FinishedRun, key: str) -> Analysis | None:
    """The analysis that is there, if it is one of the same run by the same code."""
    path = run.directory / "analysis" / STATE
    if not path.is_file():
        return None
    state = json.loads(path.read_bytes())
    return Analysis(run, state["absent"], True, {}) if state["key"] == key else None


def _key(run: FinishedRun) -> str:
    """A digest of all that an analysis depends on."""
    tables = sorted((run.directory / "tables").glob("*.parquet"))
    manifest = {name: value for name, value in run.manifest.items() if name != "timings"}
    parts = [
        code_version(),
        json.dumps(manifest, sort_keys=True),
        json.dumps(run.capture_digests),
        *(path.name for path in run.strangers()),
        *(f"{path.name} {sha256(path)}" for path in tables),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def code_version() -> str:
    """A digest of the code that makes an analysis: another definition is another analysis."""
    package = Path(__file__).parent
    files = [*package.glob("*.py"), *package.glob("captures/*.py"), *package.glob("metrics/*.py")]
    digest = hashlib.sha256(pa.__version__.encode())
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _in_a_sentence(run: FinishedRun) -> Iterator[None]:
    """What goes wrong inside Spark comes with pages of traces; a reader needs one line of them."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # a sentence of ours, which names the run
            raise
        raise AnalysisError(f"{run.directory} cannot be analysed: {error}") from error
    except (PySparkException, Py4JError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        told = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
        reason = (told or lines or [type(error).__name__])[-1 if told else 0]
        raise AnalysisError(f"{run.directory} cannot be analysed: {reason}") from error


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Nobody else analyses this run at the same time; the system lets go if the process dies."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _complete_or_absent(final: Path) -> Iterator[Path]:
    """A directory to write into that takes its `final` place if the body does not raise."""
    with _scratch(final.with_name(f".{final.name}.partial")) as partial:
        yield partial
        partial.rename(final)


@contextmanager
def _scratch(place: Path) -> Iterator[Path]:
    """A new directory that is gone afterwards, unless it was moved elsewhere."""
    shutil.rmtree(place, ignore_errors=True)  # the rest of a process that was killed
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
