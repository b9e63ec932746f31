"""Reads the captures of a run in Spark's tasks and leaves placed messages and packets as files.

The files are written where they are read, by the tasks themselves: what a run captured may be
larger than any memory. It knows neither books nor metrics.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from analysis.captures.messages import (
    MESSAGES,
    NOTES,
    PACKETS,
    Tables,
    balanced_groups,
    read_messages,
)
from analysis.captures.notes import Note
from analysis.captures.records import CaptureError
from analysis.finished import FinishedRun
from analysis.placing import Coverage, event_keys, placed
from analysis.rerouted import reunite

_NOTES = "capture string, time long, kind string, text string"


def ingest(spark: SparkSession, run: FinishedRun, coverage: Coverage, place: Path) -> pa.Table:
    """Read all captures of a run into ``place/messages`` and ``place/packets``; give the notes.

    A file of either directory holds some captures, each wholly, in the order of their names. A
    capture that cannot be read is a note of kind ``unreadable``, one that is not of this run is
    left out (``left-out``).
    """
    for name in ("messages", "packets"):
        (place / name).mkdir(parents=True)
    tasks = _tasks(run, spark.sparkContext.defaultParallelism)
    read = _reader(tasks, coverage, run.table_path("events").resolve(), place.resolve())
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    notes = numbers.mapInArrow(read, _NOTES).toArrow().cast(NOTES)
    return pa.concat_tables([notes, _left_out(run)])


def _tasks(run: FinishedRun, least: int) -> list[list[list[Path]]]:
    """Captures in groups of about equal size; those of one node are together, for `reunite`."""
    nodes: dict[str, list[Path]] = {}
    for path in sorted(path.resolve() for path in run.captures() if path.is_file()):
        nodes.setdefault(path.stem.split("-")[0], []).append(path)
    sizes = [(node, sum(path.stat().st_size for path in nodes[node])) for node in nodes]
    groups = balanced_groups(sizes, least) or [[]]
    return [[nodes[node] for node in sorted(group)] for group in groups]


def _reader(
    tasks: list[list[list[Path]]], coverage: Coverage, events: Path, place: Path
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                name = f"part-{number:05}.parquet"
                yield from _read_nodes(tasks[number], coverage, events, place, name).to_batches()

    return read


def _read_nodes(
    nodes: list[list[Path]], coverage: Coverage, events: Path, place: Path, name: str
) -> pa.Table:
    """Read the captures of some nodes into two files of that name; give the notes on them."""
    publications = event_keys(pq.read_table(events, columns=["origin", "sequence"]))
    nothing = placed(MESSAGES.empty_table(), PACKETS.empty_table(), coverage, publications)
    notes: list[Note] = []
    with (
        _file(place / "messages" / name, nothing[0].schema) as message_file,
        _file(place / "packets" / name, nothing[1].schema) as packet_file,
    ):
        for paths in nodes:
            for read in reunite(_readable(paths, notes)).values():
                messages, packets = placed(read.messages, read.packets, coverage, publications)
                message_file.write_table(messages)
                packet_file.write_table(packets)
                notes += read.notes
    return pa.Table.from_pylist([note._asdict() for note in notes], NOTES)


def _readable(paths: list[Path], notes: list[Note]) -> dict[Path, Tables]:
    """What captures hold; one that cannot be read is noted."""
    found: dict[Path, Tables] = {}
    for path in paths:
        try:
            found[path] = read_messages(path)
        except (CaptureError, OSError) as error:
            notes.append(Note(path.stem, 0, "unreadable", str(error)))
    return found


@contextmanager
def _file(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A Parquet file that is whole or absent: a task may be tried twice."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with pq.ParquetWriter(partial, schema) as writer:
        yield writer
    partial.replace(path)


def _left_out(run: FinishedRun) -> pa.Table:
    rows = [
        {
            "capture": path.stem,
            "time": 0,
            "kind": "left-out",
            "text": f"captures/{path.name} is not of this run and was left out",
        }
        for path in run.strangers()
    ]
    return pa.Table.from_pylist(rows, NOTES)
