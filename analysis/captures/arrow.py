"""Reads captures into Arrow batches with readable columns; it does not know Spark."""

import socket
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.captures.decode import Packets, decode, payloads
from analysis.captures.files import Part
from analysis.captures.records import CaptureError, CaptureFile, open_capture, scan
from analysis.captures.schema import SCHEMA

BATCH_PACKETS = 32_768
"""Packets in a batch: enough that the cost of a batch does not count."""
BATCH_BYTES = 64 << 20
"""Bytes of the file in a batch, at most: payloads of a batch must fit into memory."""

_MOST_ADDRESSES = 65_536


def read_part(part: Part, schema: pa.Schema = SCHEMA) -> Iterator[pa.RecordBatch]:
    """Rows of a part of a capture, in the order of the file; only the columns of `schema`."""
    capture = open_capture(part.path)
    records = scan(capture, part.start, part.stop)
    if records.end != part.stop:
        raise CaptureError(f"{part.path} has changed while it was read")
    number = part.number
    for offsets in _slices(records.offsets):
        yield to_batch(capture, decode(capture, offsets), number, schema)
        number += len(offsets)


def to_batch(
    capture: CaptureFile, packets: Packets, number: int, schema: pa.Schema = SCHEMA
) -> pa.RecordBatch:
    """These packets as rows; the first of them has this number in its file."""
    arrays = [_COLUMNS[name](capture, packets, number) for name in schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def addresses(
    ip: npt.NDArray[np.int8], high: npt.NDArray[np.uint64], low: npt.NDArray[np.uint64]
) -> pa.StringArray:
    """The addresses in `Packets` as strings; each is spelled out once, however often it occurs."""
    keys = np.empty((len(ip), 3), ">u8")
    keys[:, 0], keys[:, 1], keys[:, 2] = ip, high, low
    encoded = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(24), len(ip), [None, pa.py_buffer(keys)]
    ).dictionary_encode()
    spelled = pa.array(map(_spelled, encoded.dictionary.to_pylist()), pa.string())
    return spelled.take(encoded.indices)


@lru_cache(_MOST_ADDRESSES)
def _spelled(key: bytes) -> str | None:
    version, address = key[7], key[8:]
    if version == 4:
        return socket.inet_ntop(socket.AF_INET, address[12:])
    return socket.inet_ntop(socket.AF_INET6, address) if version == 6 else None


def _slices(offsets: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    first = 0
    while first < len(offsets):
        enough = int(np.searchsorted(offsets, offsets[first] + BATCH_BYTES))
        last = max(first + 1, min(first + BATCH_PACKETS, enough))
        yield offsets[first:last]
        first = last


_Column = Callable[[CaptureFile, Packets, int], pa.Array]


def _plain(name: str) -> _Column:
    return lambda capture, packets, number: pa.array(getattr(packets, name))


def _nullable(name: str, nothing: int) -> _Column:
    """A column in which one value says that there is none."""

    def column(capture: CaptureFile, packets: Packets, number: int) -> pa.Array:
        values = getattr(packets, name)
        absent = values == nothing
        return pa.array(values, mask=absent if absent.any() else None)

    return column


def _capture(capture: CaptureFile, packets: Packets, number: int) -> pa.Array:
    return pa.repeat(str(capture.path), len(packets.time))


def _packet(capture: CaptureFile, packets: Packets, number: int) -> pa.Array:
    return pa.array(np.arange(number, number + len(packets.time)))


def _source_address(capture: CaptureFile, packets: Packets, number: int) -> pa.Array:
    return addresses(packets.ip, packets.source_high, packets.source_low)


def _target_address(capture: CaptureFile, packets: Packets, number: int) -> pa.Array:
    return addresses(packets.ip, packets.target_high, packets.target_low)


def _payload(capture: CaptureFile, packets: Packets, number: int) -> pa.Array:
    ends, content = payloads(capture, packets)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(content)]
    return pa.BinaryArray.from_buffers(pa.binary(), len(packets.time), buffers)


_COLUMNS: dict[str, _Column] = {
    "capture": _capture,
    "packet": _packet,
    "time": _plain("time"),
    "captured": _plain("captured"),
    "length": _plain("length"),
    "ip": _nullable("ip", 0),
    "protocol": _nullable("protocol", -1),
    "source_address": _source_address,
    "source_port": _nullable("source_port", -1),
    "target_address": _target_address,
    "target_port": _nullable("target_port", -1),
    "sequence": _nullable("sequence", -1),
    "acknowledgment": _nullable("acknowledgment", -1),
    "flags": _nullable("flags", -1),
    "window": _nullable("window", -1),
    "link_header": _plain("link_header"),
    "ip_header": _plain("ip_header"),
    "transport_header": _plain("transport_header"),
    "payload_length": _plain("payload"),
    "fragment": _plain("fragment"),
    "payload": _payload,
}
