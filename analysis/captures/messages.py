"""Turns captures into tables of messages and attributed packets, alone or as a Spark job.

It knows no run: which broker an address belongs to, and what was to be expected of it, is known
elsewhere. docs/captures.md describes the tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.captures.attribution import ROLES, Traffic, follow, share, wire_length
from analysis.captures.decode import Packets, decode
from analysis.captures.ends import DIRECTIONS, Ends, find_ends, protocol_name
from analysis.captures.files import find_captures
from analysis.captures.notes import Note, NoteTaker
from analysis.captures.records import CaptureError, open_capture, scan
from analysis.captures.streams import Cut, adopt_fragments, cut, join_fragments

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MESSAGES = pa.schema(
    {
        "capture": pa.string(),
        "connection": pa.int32(),
        "direction": pa.string(),
        "source_address": pa.string(),
        "target_address": pa.string(),
        "source_port": pa.int32(),
        "target_port": pa.int32(),
        "protocol": pa.string(),
        "type": pa.int16(),
        "origin": pa.int64(),
        "sequence": pa.int64(),
        "length": pa.int32(),
        "first_time": pa.int64(),
        "time": pa.int64(),
        "segments": pa.int32(),
        "destinations": pa.int32(),
        "version": pa.int16(),
        "crc": pa.int64(),
    }
)
PACKETS = pa.schema(
    {
        "capture": pa.string(),
        "number": pa.int64(),
        "time": pa.int64(),
        "direction": pa.string(),
        "source_address": pa.string(),
        "target_address": pa.string(),
        "source_port": pa.int32(),
        "target_port": pa.int32(),
        "protocol": pa.string(),
        "connection": pa.int32(),
        "length": pa.int32(),
        "role": pa.string(),
        "link_header": pa.int32(),
        "ip_header": pa.int32(),
        "transport_header": pa.int32(),
        "frame_header": pa.int32(),
        "body": pa.int32(),
        "repeated": pa.int32(),
        "unattributed": pa.int32(),
    }
)
NOTES = pa.schema(
    {"capture": pa.string(), "time": pa.int64(), "kind": pa.string(), "text": pa.string()}
)

_DIRECTIONS = pa.array(DIRECTIONS)
_ROLES = pa.array(ROLES)
_PROTOCOLS = pa.array([protocol_name(number) for number in range(256)])

_BATCH = 65_536
_TASK_BYTES = 64 << 20


class Tables(NamedTuple):
    """What one capture holds."""

    messages: pa.Table
    packets: pa.Table
    notes: list[Note]


def read_messages(path: str | PathLike[str], local: str | None = None) -> Tables:
    """Read one capture: its messages, its packets with their bytes attributed, and notes.

    `local` is the address of the device that captured, for captures of other makers.
    """
    capture = open_capture(path)
    records = scan(capture)
    packets = decode(capture, records.offsets)
    datagrams = join_fragments(capture.data, packets)
    traffic = adopt_fragments(follow(packets), datagrams)
    pieces = cut(capture.data, packets, traffic, datagrams)
    name = capture.path.stem
    ends = find_ends(packets, traffic, name, local)
    joined = sum(len(datagram.packets) for datagram in datagrams)
    taker = NoteTaker(name, packets, traffic, pieces, ends)
    return Tables(
        _message_table(name, packets, traffic, pieces, ends),
        _packet_table(name, packets, traffic, pieces, ends),
        taker.notes(records.truncated, joined),
    )


def _message_table(
    name: str, packets: Packets, traffic: Traffic, pieces: Cut, ends: Ends
) -> pa.Table:
    frames = pieces.frames
    connection, side = frames.stream // 2, frames.stream % 2
    flow = traffic.connection_flow[connection]
    source, target = 2 * flow + side, 2 * flow + 1 - side
    columns = [
        pa.repeat(name, len(flow)),
        connection,
        _DIRECTIONS.take(pa.array(ends.direction[source])),
        ends.address.take(pa.array(source)),
        ends.address.take(pa.array(target)),
        ends.port[source],
        ends.port[target],
        _protocol_names(packets.protocol[traffic.first_packet[flow]]),
        frames.type,
        frames.origin,
        frames.sequence,
        frames.length,
        packets.time[frames.first_packet],
        packets.time[frames.packet],
        frames.segments,
        _absent(frames.destinations, pa.int32()),
        frames.version,
        frames.crc,
    ]
    return _table(columns, MESSAGES)


def _packet_table(
    name: str, packets: Packets, traffic: Traffic, pieces: Cut, ends: Ends
) -> pa.Table:
    count = len(packets.time)
    known = traffic.flow >= 0
    flow = np.where(known, traffic.flow, 0).astype(np.int64)
    source = pa.array(2 * flow + traffic.side, mask=~known)
    target = pa.array(2 * flow + 1 - traffic.side, mask=~known)
    columns = [
        pa.repeat(name, count),
        np.arange(1, count + 1),
        packets.time,
        _DIRECTIONS.take(pa.array(ends.direction).take(source)),
        ends.address.take(source),
        ends.address.take(target),
        _absent(ends.port, pa.int32()).take(source),
        _absent(ends.port, pa.int32()).take(target),
        _protocol_names(packets.protocol),
        _absent(traffic.connection, pa.int32()),
        wire_length(packets),
        _ROLES.take(pa.array(pieces.role)),
        *share(packets, pieces.frame_header, pieces.body, pieces.repeated),
    ]
    return _table(columns, PACKETS)


def _table(columns: Sequence[Any], schema: pa.Schema) -> pa.Table:
    arrays = [
        column
        if isinstance(column, pa.Array)
        else pa.array(column.astype(field.type.to_pandas_dtype()))
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _protocol_names(protocol: npt.NDArray[np.int16]) -> pa.Array:
    return _PROTOCOLS.take(_absent(protocol, pa.int16()))


def _absent(numbers: npt.NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Numbers in which -1 stands for nothing."""
    return pa.array(numbers.astype(kind.to_pandas_dtype()), mask=numbers < 0)


# The Spark job ------------------------------------------------------------------------------------


def run_tables(spark: "SparkSession", directory: Path) -> "tuple[DataFrame, DataFrame, DataFrame]":
    """The messages, packets and notes of all captures of a run, or of a directory of captures.

    The captures are read once, when one of the three is first used, by tasks of about equal size;
    what they found stays with the executors, packed. No row has a place of its own: order by
    `capture` and `number`, or `time`, if that matters. A capture that cannot be read is a note of
    kind "unreadable".
    """
    inner = directory / "captures"
    captures = find_captures([str(inner if inner.is_dir() else directory)])
    groups = balanced_groups(
        [(str(path.resolve()), path.stat().st_size) for path in captures],
        spark.sparkContext.defaultParallelism,
    )

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from pack_tables(groups[task])

    packed = (
        spark.range(0, len(groups), 1, len(groups))
        .mapInArrow(read, "messages binary, packets binary, notes binary")
        .persist()
    )
    messages, packets, notes = (
        packed.select(name).where(f"{name} is not null").mapInArrow(_unpack, _spark_schema(schema))
        for name, schema in _SCHEMAS.items()
    )
    return messages, packets, notes


_SCHEMAS = {"messages": MESSAGES, "packets": PACKETS, "notes": NOTES}
_SPARK_TYPES = {
    pa.string(): "string",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
}


def _spark_schema(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {_SPARK_TYPES[field.type]}" for field in schema)


def balanced_groups(sizes: Sequence[tuple[str, int]], least: int) -> list[list[str]]:
    """Files in groups of about equal size: as many as `least`, or more if they are large."""
    total = sum(size for _, size in sizes)
    count = min(len(sizes), max(least, -(-total // _TASK_BYTES)))
    groups: list[list[str]] = [[] for _ in range(count)]
    loads = [0] * count
    for name, size in sorted(sizes, key=lambda entry: (-entry[1], entry[0])):
        lightest = loads.index(min(loads))
        groups[lightest].append(name)
        loads[lightest] += size + 1  # empty files are spread as well
    return groups


def pack_tables(paths: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """Read captures into rows that have packed Arrow batches of one of the three tables each."""
    held: dict[str, list[pa.Table]] = {name: [] for name in _SCHEMAS}
    for path in paths:
        for name, table in zip(_SCHEMAS, _read_or_note(path), strict=True):
            held[name].append(table)
            if sum(map(len, held[name])) >= _BATCH:
                yield _packed(name, held[name])
    for name, tables in held.items():
        if any(map(len, tables)):
            yield _packed(name, tables)


def _read_or_note(path: str) -> tuple[pa.Table, pa.Table, pa.Table]:
    try:
        messages, packets, notes = read_messages(path)
    except (CaptureError, OSError) as error:
        messages, packets = MESSAGES.empty_table(), PACKETS.empty_table()
        notes = [Note(Path(path).stem, 0, "unreadable", str(error))]
    return messages, packets, pa.Table.from_pylist([note._asdict() for note in notes], NOTES)


def _packed(name: str, tables: list[pa.Table]) -> pa.RecordBatch:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _SCHEMAS[name]) as writer:
        writer.write_table(pa.concat_tables(tables).combine_chunks(), _BATCH)
    tables.clear()
    columns = [[sink.getvalue().to_pybytes() if name == each else None] for each in _SCHEMAS]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, pa.binary()) for column in columns], list(_SCHEMAS)
    )


def _unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for value in batch.column(0):
            with pa.ipc.open_stream(value.as_buffer()) as reader:
                yield from reader
