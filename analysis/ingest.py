"""Reads the captures of a run, here or in Spark's tasks, and says what is in them.

Messages and packets are written to files where they are read, by the tasks themselves: what a run
captured may be larger than any memory. It knows no metric.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.books import captured_counts
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

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TABLES = ("messages", "packets")


class Reading(NamedTuple):
    """What was found in captures, besides the messages and packets themselves."""

    notes: pa.Table
    counts: pa.Table
    """What `analysis.books.captured_counts` says of them."""

    def packed(self) -> pa.RecordBatch:
        """As one row of bytes, to be sent."""
        columns = [pa.array([_packed(table)], pa.binary()) for table in self]
        return pa.RecordBatch.from_arrays(columns, list(self._fields))


Heard = Callable[[pa.Table, pa.Table], None]
"""Is given the placed messages and packets of each capture."""


def read_captures(
    run: FinishedRun, coverage: Coverage, heard: Heard = lambda messages, packets: None
) -> Reading:
    """Read all captures of a run here and now, for what can be said of them in short."""
    reading = _read(_nodes(run), coverage, run.table_path("events"), heard)
    return reading._replace(notes=pa.concat_tables([reading.notes, _left_out(run)]))


def ingest(spark: "SparkSession", run: FinishedRun, coverage: Coverage, place: Path) -> Reading:
    """Read all captures of a run in Spark's tasks, into ``place/messages`` and ``place/packets``.

    A file of either directory holds some captures, each wholly, in the order of their names. A
    capture that cannot be read is a note of kind ``unreadable``, one that is not of this run is
    left out (``left-out``).
    """
    for name in _TABLES:
        (place / name).mkdir(parents=True)
    tasks = _tasks(_nodes(run), spark.sparkContext.defaultParallelism)
    read = _reader(tasks, coverage, run.table_path("events").resolve(), place.resolve())
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    packed = numbers.mapInArrow(read, "notes binary, counts binary").toArrow().to_pylist()
    notes, counts = (
        pa.concat_tables(_unpacked(row[name]) for row in packed) for name in Reading._fields
    )
    return Reading(pa.concat_tables([notes, _left_out(run)]), counts)


def _nodes(run: FinishedRun) -> list[list[Path]]:
    """The captures of each node of the network, in the order of their names."""
    nodes: dict[str, list[Path]] = {}
    for path in sorted(path.resolve() for path in run.captures() if path.is_file()):
        nodes.setdefault(path.stem.split("-")[0], []).append(path)
    return [nodes[name] for name in sorted(nodes)]


def _tasks(nodes: list[list[Path]], least: int) -> list[list[list[Path]]]:
    """Nodes in groups of about equal size; the captures of a node are together, for `reunite`."""
    sizes = [
        (str(number), sum(path.stat().st_size for path in paths))
        for number, paths in enumerate(nodes)
    ]
    groups = balanced_groups(sizes, least) or [[]]
    return [[nodes[number] for number in sorted(map(int, group))] for group in groups]


def _reader(
    tasks: list[list[list[Path]]], coverage: Coverage, events: Path, place: Path
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                with _Parts(place, f"part-{number:05}.parquet") as parts:
                    reading = _read(tasks[number], coverage, events, parts.write)
                yield reading.packed()

    return read


def _read(nodes: list[list[Path]], coverage: Coverage, events: Path, heard: Heard) -> Reading:
    """Read the captures of some nodes."""
    publications = event_keys(pq.read_table(events, columns=["origin", "sequence"]))
    nothing = placed(MESSAGES.empty_table(), PACKETS.empty_table(), coverage, publications)
    heard(*nothing)
    notes: list[Note] = []
    counts = [captured_counts(nothing[0])]
    for paths in nodes:
        for read in reunite(_readable(paths, notes)).values():
            messages, packets = placed(read.messages, read.packets, coverage, publications)
            heard(messages, packets)
            counts.append(captured_counts(messages))
            notes += read.notes
    return Reading(
        pa.Table.from_pylist([note._asdict() for note in notes], NOTES), pa.concat_tables(counts)
    )


class _Parts:
    """Files for the tables of some captures, whole or absent: a task may be tried twice."""

    def __init__(self, place: Path, name: str) -> None:
        self._paths = [place / table / name for table in _TABLES]
        self._writers: list[pq.ParquetWriter] = []

    def __enter__(self) -> Self:
        return self

    def write(self, *tables: pa.Table) -> None:
        """Add the tables of one capture."""
        for number, (path, table) in enumerate(zip(self._paths, tables, strict=True)):
            if number == len(self._writers):
                self._writers.append(pq.ParquetWriter(self._partial(path), table.schema))
            self._writers[number].write_table(table)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            self._give_up()
            return
        try:
            for writer in self._writers:
                writer.close()
        except OSError:
            self._give_up()
            raise
        for path in self._paths:
            self._partial(path).replace(path)

    def _give_up(self) -> None:
        """Leave nothing behind; what went wrong is told already, and closing would say it again."""
        for writer in self._writers:
            with suppress(OSError):
                writer.close()
        for path in self._paths:
            self._partial(path).unlink(missing_ok=True)

    def _partial(self, path: Path) -> Path:
        return path.with_name(f".{path.name}.{os.getpid()}")


def _readable(paths: list[Path], notes: list[Note]) -> dict[Path, Tables]:
    """What captures hold; one that cannot be read is noted."""
    found: dict[Path, Tables] = {}
    for path in paths:
        try:
            found[path] = read_messages(path)
        except (CaptureError, OSError) as error:
            notes.append(Note(path.stem, 0, "unreadable", str(error)))
    return found


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


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
