"""The numbers of one run that comparisons are made of, read where a Spark task has the run's files.

A comparison has many small runs: a task reads all captures of one, holds its books against them,
and adds up. What the metrics of `pysim analyze` say of the same run is the same, to the byte; they
say much more, and take longer than most of these runs.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from analysis.books import BooksError, keep
from analysis.finished import NANOSECONDS, FinishedRun
from analysis.ingest import read_captures
from analysis.metrics.inputs import CARRIERS, HEADER_BYTES
from analysis.sources import coverage

_PER_CORE = 8  # runs that a core reads before anybody hears of them
_CARRYING = pa.array(["data", "datagram"])
_HEADERS = ("frame_header", "transport_header", "ip_header", "link_header")
_PLACED = ("source", "target", "channel")
_SAME_FOR_ALL = {
    "links": ["a", "b", "delay", "rate"],
    "events": ["time", "broker", "client", "due"],
    "subscriptions": ["since", "until", "broker", "client", "filter"],
}


class Numbers(NamedTuple):
    """Values by measure, NaN where the run cannot tell.

    `asked` is a digest of what does not depend on the protocol: the overlay, and what clients did.
    `problem` is what was wrong with the run, if anything was; then there is nothing else.
    """

    values: Mapping[str, float]
    asked: str = ""
    problem: str = ""


def gather(session: SparkSession, directories: Sequence[Path]) -> Iterator[tuple[Path, Numbers]]:
    """The numbers of all runs, each read by a Spark task; some at a time, to tell how far it is."""
    context = session.sparkContext
    at_once = _PER_CORE * context.defaultParallelism
    for begin in range(0, len(directories), at_once):
        part = directories[begin : begin + at_once]
        places = context.parallelize([str(each.absolute()) for each in part], len(part))
        yield from zip(part, places.map(_tried).collect(), strict=True)


def numbers(directory: Path | str) -> Numbers:
    """All that a comparison asks of a run; BooksError if its books do not balance."""
    run = FinishedRun(directory)
    wires = _Wires()
    captured = bool(run.captures())
    reading = read_captures(run, coverage(run), wires.add) if captured else None
    books = keep(run, reading.counts, reading.notes) if reading else keep(run)
    if not books.balanced:
        raise BooksError(str(run.directory), books)
    parts = (_messages, _latency, _load, _costs, _deliveries)
    values = dict(wires.values() if captured else dict.fromkeys(wires.values(), math.nan))
    for part in parts:
        values |= part(run)
    return Numbers(values, _asked(run))


def _tried(directory: str) -> Numbers:
    """A task must not raise: it would take the others with it."""
    try:
        return numbers(directory)
    except (OSError, ValueError) as error:
        return Numbers({}, problem=str(error))


class _Wires:
    """Adds up what captures show: all bytes on all lines, by what they are for."""

    def __init__(self) -> None:
        self._whole = self._headers = self._events = self._control = 0

    def add(self, messages: pa.Table, packets: pa.Table) -> None:
        """Count the placed messages and packets of one capture."""
        crossing = packets.filter(packets["counted"])
        self._whole += _sum(crossing["length"])
        carrying = crossing.filter(pc.is_in(crossing["role"], _CARRYING))
        self._headers += sum(_sum(carrying[name]) for name in _HEADERS)
        ours = messages.filter(messages["crossed"])
        for name in _PLACED:
            ours = ours.filter(pc.is_valid(ours[name]))
        body = pc.subtract(ours["length"], HEADER_BYTES)
        carriers = pc.is_in(ours["name"], pa.array(CARRIERS))
        of_events = pc.or_(ours["publication"], carriers)
        self._events += _sum(body.filter(of_events))
        self._control += _sum(body.filter(pc.invert(of_events)))

    def values(self) -> dict[str, float]:
        known = self._events + self._control + self._headers
        return {
            "wire_bytes": float(self._whole),
            "event_bytes": float(self._events),
            "header_bytes": float(self._headers),
            "control_bytes": float(self._control),
            "transport_bytes": float(self._whole - known),
        }


def _sum(column: pa.ChunkedArray) -> int:
    return int(pc.sum(pc.cast(column, pa.int64())).as_py() or 0)


def _messages(run: FinishedRun) -> dict[str, float]:
    counts = run.manifest["messages"].values()
    return {
        "messages": float(sum(row["sent"] for row in counts)),
        "frame_bytes": float(sum(row["sent_bytes"] for row in counts)),
    }


def _latency(run: FinishedRun) -> dict[str, float]:
    """Quantiles that occurred, as the metric `latency` has them."""
    table = run.table("deliveries")
    made = table[table.kind == "made"]
    latency = (made.delivered - made.published).to_numpy() / NANOSECONDS
    levels = {"latency_median": 0.5, "latency_p99": 0.99}
    if not len(latency):
        return dict.fromkeys(levels, math.nan)
    found = np.quantile(latency, list(levels.values()), method="inverted_cdf")
    return dict(zip(levels, map(float, found), strict=True))


def _load(run: FinishedRun) -> dict[str, float]:
    """The busiest broker over the mean, as the metric `fairness` has it."""
    counters = run.table("counters")
    ends = pd.concat(
        [
            counters.groupby("source").sent_bytes.sum(),
            counters.groupby("target").received_bytes.sum(),
        ]
    )
    handled = ends.groupby(level=0).sum()
    whole = float(handled.sum())
    return {"load": float(handled.max()) * run.brokers / whole if whole else math.nan}


def _costs(run: FinishedRun) -> dict[str, float]:
    """What `measure = ["costs"]` leaves."""
    if "costs" not in run.manifest["config"].get("measure", []):
        return {"cost": math.nan, "state": math.nan}
    return {
        "cost": float(run.table("weights").weight.sum()),
        "state": float(run.table("state").stored.sum()),
    }


def _deliveries(run: FinishedRun) -> dict[str, float]:
    counts = run.manifest["deliveries"]
    return {
        "due": float(counts["due"]),
        "missing": float(counts["missing"]),
        "duplicate": float(counts["duplicate"] + counts["spurious"]),
    }


def _asked(run: FinishedRun) -> str:
    digest = hashlib.sha256()
    for name, columns in _SAME_FOR_ALL.items():
        table = run.table(name)[columns].sort_values(columns)
        digest.update(table.to_csv(index=False).encode())
    return digest.hexdigest()
