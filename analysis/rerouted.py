"""Connections that moved from one line of a broker to another, read as one.

Where overlay links are lines of their own, unicast takes another way when one of them breaks: then
no capture holds the connection whole, but those of the broker's devices together do. It knows how
captures are read, and nothing of runs.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.addresses import DIRECT_PORT, device_of
from analysis.captures.messages import Tables, read_messages
from analysis.captures.notes import Note
from analysis.captures.records import FILE_HEADER, RECORD_HEADER, open_capture, scan

_SHARES = (
    *("link_header", "ip_header", "transport_header"),
    *("frame_header", "body", "repeated", "unattributed"),
)


_SENDER = ("time", "source_address", "source_port")


class _Record(NamedTuple):
    time: int
    path: Path
    row: int
    """Which of its capture's packets it is."""
    data: bytes


def reunite(captures: Mapping[Path, Tables]) -> dict[Path, Tables]:
    """The captures of one broker, in which connections that moved are read as if they had not.

    A message is in the capture of the packet that completes it.
    """
    keys = {path: _connections(tables.packets) for path, tables in captures.items()}
    moved = _moved(keys.values())
    if not moved:
        return dict(captures)
    records = sorted(
        record for path in captures for record in _records(path, pc.is_in(keys[path], moved))
    )
    whole = _read(records)
    result = {
        path: _replaced(path, tables, keys[path], moved, records, whole)
        for path, tables in captures.items()
    }
    next(iter(result.values())).notes.extend(whole.notes)
    return result


def _connections(packets: pa.Table) -> pa.Array:
    """A name for the TCP connection off the overlay that each packet of this broker belongs to."""
    ports = [packets[f"{end}_port"] for end in ("source", "target")]
    direct = pc.or_(*(pc.fill_null(pc.equal(port, DIRECT_PORT), False) for port in ports))
    own = pc.and_(direct, pc.fill_null(pc.equal(packets["protocol"], "tcp"), False))
    out, into = (pc.fill_null(pc.equal(packets["direction"], way), False) for way in ("out", "in"))
    source, target = (
        pc.binary_join_element_wise(
            packets[f"{end}_address"], pc.cast(packets[f"{end}_port"], pa.string()), ":"
        )
        for end in ("source", "target")
    )
    here, there = pc.if_else(out, source, target), pc.if_else(out, target, source)
    named = pc.binary_join_element_wise(here, there, " ")
    known = pc.if_else(pc.and_(own, pc.or_(out, into)), named, pa.scalar(None, pa.string()))
    return known.combine_chunks()


def _moved(keys: Iterable[pa.Array]) -> pa.Array:
    """The connections of which several captures have packets."""
    seen = Counter(name for each in keys for name in each.unique().drop_null().to_pylist())
    return pa.array(sorted(name for name, captures in seen.items() if captures > 1), pa.string())


def _records(path: Path, chosen: pa.Array) -> Iterator[_Record]:
    """The chosen records of a capture, as they are in the file."""
    capture = open_capture(path)
    offsets = scan(capture).offsets
    byte_order: Literal["big", "little"] = "big" if capture.big_endian else "little"
    for row in np.flatnonzero(chosen.to_numpy(zero_copy_only=False)).tolist():
        start = int(offsets[row])
        header = capture.data[start : start + RECORD_HEADER].tobytes()
        seconds, fraction, size = (
            int.from_bytes(header[at : at + 4], byte_order) for at in (0, 4, 8)
        )
        time = seconds * 1_000_000_000 + fraction  # as a run's captures count it
        end = start + RECORD_HEADER + size
        yield _Record(time, path, row, capture.data[start:end].tobytes())


def _read(records: list[_Record]) -> Tables:
    """Read records of several captures of one broker as one capture of that broker."""
    some = records[0].path
    device = device_of(some.stem)
    assert device is not None
    with tempfile.TemporaryDirectory(prefix="pysim-") as directory:
        whole = Path(directory, f"{device.node}.pcap")
        with whole.open("wb") as file:
            file.write(open_capture(some).data[:FILE_HEADER].tobytes())
            file.writelines(record.data for record in records)
        return read_messages(whole)


def _replaced(
    path: Path,
    tables: Tables,
    keys: pa.Array,
    moved: pa.Array,
    records: list[_Record],
    whole: Tables,
) -> Tables:
    """What one capture holds, with the moved connections as they are read as a whole."""
    mine = [number for number, record in enumerate(records) if record.path == path]
    packets = tables.packets
    chosen = pc.is_in(keys, moved)
    read = whole.packets.take(pa.array(mine, pa.int64()))
    for name in ("role", *_SHARES):
        column = pc.replace_with_mask(packets[name], chosen, read[name].combine_chunks())
        packets = packets.set_column(packets.schema.get_field_index(name), name, column)
    stay = pc.invert(pc.is_in(_connections(tables.messages), moved))
    completed = _completed_here(path, tables, records, whole)
    messages = pa.concat_tables([tables.messages.filter(stay), completed])
    return Tables(messages, packets, [note for note in tables.notes if not _is_about(note, moved)])


def _completed_here(path: Path, tables: Tables, records: list[_Record], whole: Tables) -> pa.Table:
    """The messages of moved connections whose last packet is in this capture, numbered as there."""
    place = {
        (time, address, port): (record.path, record.row)
        for record, time, address, port in zip(
            records, *(whole.packets[name].to_pylist() for name in _SENDER), strict=True
        )
    }
    spots = [
        place[spot]
        for spot in zip(*(whole.messages[name].to_pylist() for name in _SENDER), strict=True)
    ]
    here = [number for number, (capture, _) in enumerate(spots) if capture == path]
    rows = pa.array([spots[number][1] for number in here], pa.int64())
    found = whole.messages.take(pa.array(here, pa.int64()))
    columns = {
        "capture": pa.repeat(path.stem, len(here)),
        "connection": tables.packets["connection"].take(rows),
    }
    for name, column in columns.items():
        found = found.set_column(found.schema.get_field_index(name), name, column)
    return found


def _is_about(note: Note, moved: pa.Array) -> bool:
    """Whether a note on a single capture complains about a connection that is read as a whole."""
    return any(all(end in note.text for end in name.split()) for name in moved.to_pylist())
