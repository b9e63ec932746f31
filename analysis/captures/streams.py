"""Puts TCP streams and IP fragments together and cuts them into frames; knows no table, no Spark.

A *stream* is one direction of a TCP connection, numbered 2 * connection + side. Its segments are
read in the order of the capture: bytes seen before are repeated, whatever they are this time; bytes
behind a hole wait until the hole is filled. So the readable part grows as at a receiver who gets
exactly the captured packets, and a frame is there with the packet that makes its last byte
readable: that one fills the last hole before it, and need not carry it.

Frames follow each other from the first byte after SYN. Where that is not in the capture, reading
begins with the first segment that starts like a frame of this version and goes on like one. What
cannot be read is never guessed: after a hole that stays, or a header that cannot be, the rest of
the stream is left alone and a finding says how much that is.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from numba import types

from analysis.captures.attribution import ACK, DATA, DATAGRAM, HANDSHAKE, RETRANSMISSION, Traffic
from analysis.captures.compiling import BYTES, compiled
from analysis.captures.decode import UDP, Packets
from pysim.wire import HEADER_SIZE, MAX_FRAME_SIZE, VERSION, message_types

_Bytes = npt.NDArray[np.uint8]
_Bool = npt.NDArray[np.bool_]
_Int8 = npt.NDArray[np.int8]
_Int16 = npt.NDArray[np.int16]
_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]
_Number = Any
"""A number of one of numpy's types, in compiled functions."""

GAP, UNFINISHED, MALFORMED, MIDSTREAM = range(4)

# Written out, though pysim.wire has them: compiled functions are compiled anew when this file
# changes, not when another does.
_HEADER, _LONGEST, _OLDEST = 16, 1 << 20, 1
if (_HEADER, _LONGEST, _OLDEST) != (HEADER_SIZE, MAX_FRAME_SIZE, VERSION):
    raise ImportError("analysis.captures.streams was written for another wire format")


class Frames(NamedTuple):
    """Whole frames, in the order in which they became readable."""

    stream: _Int64
    first_packet: _Int64
    """The packet that carries the first byte."""
    packet: _Int64
    """The packet that makes the last byte readable."""
    segments: _Int64
    """How many packets carry its bytes."""
    length: _Int64
    version: _Int64
    type: _Int64
    origin: _Int64
    sequence: _Int64
    crc: _Int64
    """zlib.crc32 of the whole frame."""
    destinations: _Int64
    """Length of the destination list; -1 if the type has none."""


class Finding(NamedTuple):
    """Something that keeps a stream or a datagram from being read, in whole or in part."""

    kind: int
    stream: int
    packet: int
    """The packet at which it shows."""
    size: int
    """Bytes that are concerned."""
    value: int
    """GAP: bytes that are missing; UNFINISHED: the length of the frame, -1 if unknown; MALFORMED:
    the number that its first (at most) eight bytes make; MIDSTREAM: nothing."""


class Datagram(NamedTuple):
    """A UDP datagram that came in IP fragments."""

    packets: tuple[int, ...]
    """Its fragments, in the order of its bytes."""
    starts: tuple[int, ...]
    """Where their bytes start, counted from UDP's header."""
    data: bytes
    """All of it, UDP's header included."""


class Cut(NamedTuple):
    """What came out of a capture; the last four arrays have an entry per packet."""

    frames: Frames
    findings: list[Finding]
    frame_header: _Int32
    body: _Int32
    repeated: _Int32
    role: _Int8
    """As in `Traffic`, with retransmissions told apart from data."""


# Columns of the matrices in which the compiled functions keep frames, findings and chunks. A chunk
# is a run of bytes from one packet: the place of its first byte in the stream, its size, where it
# lies in the file, the packet that carries it and the one that makes it readable.
_STREAM, _FIRST_PACKET, _PACKET, _SEGMENTS, _LENGTH, _VERSION, _TYPE = range(7)
_ORIGIN, _SEQUENCE, _CHECKSUM, _DESTINATIONS = range(7, 11)
_FRAME_FIELDS, _FINDING_FIELDS = 11, 5
_BEGIN, _SIZE, _OFFSET, _CARRIER, _OPENER = range(5)
_CHUNK_FIELDS = 5
# The state of reading: the next byte of the stream, readable chunks, the chunks that wait for it
# (from, to), new bytes of the present segment; frames and findings of all streams.
_NEXT, _CHUNKS, _QUEUE, _TAIL, _FRESH, _FRAMES, _FINDINGS = range(7)
_STATE_FIELDS = 7
_NEW, _OLD, _PROBE = range(3)  # what the payload of a segment is

_SYN = 2
_WORD = 0xFFFFFFFF
_HALF = 0x80000000
_UDP_HEADER = 8
_MORE_FRAGMENTS = 0x2000
_LIST_HEADER = 5
_HEAD = _HEADER + 2 * _LIST_HEADER
"""As much of a frame as is looked at: its header, and how long the body and its first list are."""


def cut(data: _Bytes, packets: Packets, traffic: Traffic, datagrams: Sequence[Datagram]) -> Cut:
    """Read every stream and every datagram of a capture."""
    streams = 2 * traffic.connection.astype(np.int64) + traffic.side
    frame_header, body, repeated = (np.zeros(len(streams), np.int32) for _ in range(3))
    role, novelty = traffic.role.copy(), np.zeros(len(streams), np.int8)
    members = np.flatnonzero(
        ((role == DATA) | (role == HANDSHAKE)) & (packets.payload > 0) & ~traffic.late
    )
    order, bounds = _grouped(streams[members], len(traffic.stream_start))
    framed, findings = _cut_streams(
        data,
        members[order],
        bounds,
        traffic.stream_start,
        packets.sequence,
        packets.flags,
        packets.payload,
        packets.payload_captured,
        packets.payload_offset,
        _KNOWN,
        _LISTED,
        novelty,
        frame_header,
        body,
        repeated,
    )
    role[(role == DATA) & (novelty == _OLD)] = RETRANSMISSION
    role[(role == DATA) & (novelty == _PROBE)] = ACK
    whole = np.flatnonzero(
        (role == DATAGRAM) & ~packets.fragment & (packets.payload_captured == packets.payload)
    )
    single, bad = _cut_datagrams(
        data,
        whole,
        streams[whole],
        packets.payload_offset[whole],
        packets.payload[whole].astype(np.int64),
        _LISTED,
    )
    frame_header[single[:, _PACKET]] = HEADER_SIZE
    body[single[:, _PACKET]] = single[:, _LENGTH] - HEADER_SIZE
    joined, worse = _cut_joined(datagrams, streams, frame_header, body)
    rows = np.concatenate([framed, single, joined])
    order, _ = _grouped(rows[:, _PACKET].copy(), len(streams))
    found = np.concatenate([findings, bad, worse]).tolist()
    return Cut(
        Frames(*rows[order].T),
        [Finding(*row) for row in found],
        frame_header,
        body,
        repeated,
        role,
    )


# IP fragments, of which there are few ------------------------------------------------------------


def join_fragments(data: _Bytes, packets: Packets) -> list[Datagram]:
    """Put together the UDP datagrams that came in fragments of IPv4 and of which all are there."""
    fragments = packets.fragment & (packets.ip == 4) & (packets.protocol == UDP)
    fragments &= packets.payload_captured == packets.payload
    pieces: dict[tuple[int, ...], dict[int, tuple[int, int, int]]] = {}
    sizes: dict[tuple[int, ...], int] = {}
    joined = []
    for packet in np.flatnonzero(fragments).tolist():
        begin = int(packets.payload_offset[packet] - packets.transport_header[packet])
        end = int(packets.payload_offset[packet] + packets.payload[packet])
        ip = begin - int(packets.ip_header[packet])
        identification = int.from_bytes(data[ip + 4 : ip + 6].tobytes())
        place = int.from_bytes(data[ip + 6 : ip + 8].tobytes())
        start = 8 * (place & 0x1FFF)
        ends = int(packets.source_low[packet]), int(packets.target_low[packet])
        name = (*ends, identification)
        found = pieces.setdefault(name, {})
        found.setdefault(start, (packet, begin, end))
        if not place & _MORE_FRAGMENTS:
            sizes[name] = start + end - begin
        if name in sizes and _is_complete(found, sizes[name]):
            joined.append(_joined(data, found))
            del pieces[name], sizes[name]
    return joined


def _is_complete(pieces: dict[int, tuple[int, int, int]], size: int) -> bool:
    at = 0
    for start, (_, begin, end) in sorted(pieces.items()):
        if start != at:
            return False
        at += end - begin
    return at == size and size >= _UDP_HEADER


def _joined(data: _Bytes, pieces: dict[int, tuple[int, int, int]]) -> Datagram:
    starts = sorted(pieces)
    return Datagram(
        tuple(pieces[start][0] for start in starts),
        tuple(starts),
        b"".join(data[pieces[start][1] : pieces[start][2]].tobytes() for start in starts),
    )


def adopt_fragments(traffic: Traffic, datagrams: Sequence[Datagram]) -> Traffic:
    """The same traffic, in which all fragments of a datagram belong to the flow of the first."""
    traffic = traffic._replace(
        flow=traffic.flow.copy(),
        side=traffic.side.copy(),
        connection=traffic.connection.copy(),
        role=traffic.role.copy(),
    )
    for datagram in datagrams:
        first, rest = datagram.packets[0], list(datagram.packets[1:])
        traffic.flow[rest] = traffic.flow[first]
        traffic.side[rest] = traffic.side[first]
        traffic.connection[rest] = traffic.connection[first]
        traffic.role[rest] = traffic.role[first]
    return traffic


def _cut_joined(
    datagrams: Sequence[Datagram], streams: _Int64, frame_header: _Int32, body: _Int32
) -> tuple[_Int64, _Int64]:
    """Read the datagrams that were put together, and attribute the bytes of their fragments."""
    ours = {max(each.packets): each for each in datagrams if streams[each.packets[0]] >= 0}
    sizes = np.array([len(each.data) for each in ours.values()], np.int64)
    last = np.array(list(ours), np.int64)
    rows, findings = _cut_datagrams(
        np.frombuffer(b"".join(each.data for each in ours.values()), np.uint8),
        last,
        streams[last],
        np.cumsum(sizes) - sizes + _UDP_HEADER,
        sizes - _UDP_HEADER,
        _LISTED,
    )
    for row in rows:
        datagram = ours[int(row[_PACKET])]
        row[_FIRST_PACKET], row[_SEGMENTS] = datagram.packets[0], len(datagram.packets)
        bounds = np.array([*datagram.starts, len(datagram.data)]) - _UDP_HEADER
        headers = np.diff(np.clip(bounds, 0, HEADER_SIZE))
        frame_header[list(datagram.packets)] = headers
        body[list(datagram.packets)] = np.diff(np.maximum(bounds, 0)) - headers
    return rows, findings


# Compiled: what looks at every packet, frame and byte ---------------------------------------------

_KNOWN = np.zeros(256, np.bool_)
"""Whether this version knows a type."""
_LISTED = np.zeros(256, np.bool_)
"""Whether the body of a type begins with a destination list."""
for _code, _type in message_types().items():
    _KNOWN[_code] = True
    _LISTED[_code] = _type.message.__struct_fields__[:1] == ("destinations",)


def _crc_tables() -> npt.NDArray[np.uint32]:
    """Tables for eight bytes of zlib's checksum at a time."""
    tables = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ 0xEDB88320 * (value & 1)
        tables[0, byte] = value
    for step in range(1, 8):
        tables[step] = tables[step - 1] >> 8 ^ tables[0][tables[step - 1] & 0xFF]
    return tables


_CRC = _crc_tables()

_VECTOR = types.int64[::1]
_MATRIX = types.int64[:, ::1]
_WORDS = types.int32[::1]
_SWITCHES = types.boolean[::1]
_BUFFER = types.uint8[::1]
_TWO_NUMBERS = cast(Any, types).UniTuple(types.int64, 2)
_TWO_VECTORS = cast(Any, types).UniTuple(_VECTOR, 2)
_TWO_MATRICES = cast(Any, types).UniTuple(_MATRIX, 2)


@compiled(_TWO_VECTORS(_VECTOR, types.int64))
def _grouped(keys: _Int64, groups: int) -> tuple[_Int64, _Int64]:
    """The order that sorts small numbers, equal ones as they came, and where each group begins."""
    bounds = np.zeros(groups + 1, np.int64)
    for key in keys:
        bounds[key + 1] += 1
    for group in range(groups):
        bounds[group + 1] += bounds[group]
    free = np.empty(groups, np.int64)
    for group in range(groups):
        free[group] = bounds[group]
    order = np.empty(len(keys), np.int64)
    for index in range(len(keys)):
        key = keys[index]
        order[free[key]] = index
        free[key] += 1
    return order, bounds


@compiled(_MATRIX(_MATRIX))
def _grown(rows: _Int64) -> _Int64:
    larger = np.empty((2 * len(rows), rows.shape[1]), np.int64)
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@compiled(
    [types.int64(BYTES, types.int64, types.int64), types.int64(_BUFFER, types.int64, types.int64)]
)
def _number(data: _Bytes, at: int, size: int) -> _Number:
    """The number in network byte order that stands in these bytes."""
    value = np.int64(0)
    for index in range(at, at + size):
        value = value << 8 | np.int64(data[index])
    return value


@compiled(types.uint32(BYTES, types.int64, types.int64, types.uint32))
def _crc32(data: _Bytes, at: int, size: int, crc: _Number) -> _Number:
    """Goes on with zlib's checksum, whose complement it takes and gives."""
    value = np.uint32(crc)
    end = at + size
    while at + 8 <= end:
        low = value ^ (
            np.uint32(data[at])
            | np.uint32(data[at + 1]) << np.uint32(8)
            | np.uint32(data[at + 2]) << np.uint32(16)
            | np.uint32(data[at + 3]) << np.uint32(24)
        )
        value = (
            _CRC[7, low & np.uint32(0xFF)]
            ^ _CRC[6, low >> np.uint32(8) & np.uint32(0xFF)]
            ^ _CRC[5, low >> np.uint32(16) & np.uint32(0xFF)]
            ^ _CRC[4, low >> np.uint32(24)]
            ^ _CRC[3, data[at + 4]]
            ^ _CRC[2, data[at + 5]]
            ^ _CRC[1, data[at + 6]]
            ^ _CRC[0, data[at + 7]]
        )
        at += 8
    while at < end:
        value = _CRC[0, (value ^ np.uint32(data[at])) & np.uint32(0xFF)] ^ value >> np.uint32(8)
        at += 1
    return value


@compiled(types.boolean(types.int64, types.int64))
def _is_possible(length: int, version: _Number) -> bool:
    """Whether a frame of this or of a later version can begin like this."""
    return _HEADER <= length <= _LONGEST and version >= _OLDEST


@compiled(types.boolean(BYTES, types.int64, types.int64, _SWITCHES))
def _looks_like_frames(data: _Bytes, at: int, end: int, known: _Bool) -> bool:
    """Whether a frame of this version begins here, and another behind it if there is more."""
    if end - at < _HEADER:
        return False
    for _ in range(2):
        length = _number(data, at, 4)
        if not (
            _HEADER <= length <= _LONGEST
            and data[at + 4] == _OLDEST
            and known[data[at + 5]]
            and _number(data, at + 6, 2) == 0
        ):
            return False
        at += length
        if end - at < _HEADER:
            break
    return True


@compiled(_TWO_NUMBERS(_BUFFER, types.int64, types.int64))
def _list_length(head: _Bytes, at: int, end: int) -> tuple[_Number, int]:
    """How long the MessagePack array at this place is, -1 if there is none; where its items are."""
    if at < end and head[at] & 0xF0 == 0x90:
        return np.int64(head[at] & 0x0F), at + 1
    if at + 3 <= end and head[at] == 0xDC:
        return _number(head, at + 1, 2), at + 3
    if at + 5 <= end and head[at] == 0xDD:
        return _number(head, at + 1, 4), at + 5
    return -1, at


@compiled(types.void(_BUFFER, types.int64, _SWITCHES, _VECTOR))
def _describe(head: _Bytes, size: int, listed: _Bool, row: _Int64) -> None:
    """Enter what the first bytes of a frame say of it."""
    row[_LENGTH] = _number(head, 0, 4)
    row[_VERSION] = head[4]
    row[_TYPE] = head[5]
    row[_ORIGIN] = _number(head, 8, 4)
    row[_SEQUENCE] = _number(head, 12, 4)
    row[_DESTINATIONS] = -1
    if head[4] == _OLDEST and listed[head[5]]:
        fields, at = _list_length(head, _HEADER, size)
        if fields > 0:
            row[_DESTINATIONS] = _list_length(head, at, size)[0]


@compiled(_TWO_MATRICES(BYTES, _VECTOR, _VECTOR, _VECTOR, _VECTOR, _SWITCHES))
def _cut_datagrams(
    data: _Bytes,
    packets: _Int64,
    streams: _Int64,
    offsets: _Int64,
    sizes: _Int64,
    listed: _Bool,
) -> tuple[_Int64, _Int64]:
    """The frames of datagrams, one each, and findings on those that hold none."""
    rows = np.empty((len(packets), _FRAME_FIELDS), np.int64)
    findings = np.empty((len(packets), _FINDING_FIELDS), np.int64)
    head = np.empty(_HEAD, np.uint8)
    frames = 0
    for index in range(len(packets)):
        at, size = offsets[index], sizes[index]
        if (
            size < _HEADER
            or _number(data, at, 4) != size
            or not _is_possible(size, np.int64(data[at + 4]))
        ):
            finding = findings[index - frames]
            finding[0], finding[1], finding[2] = MALFORMED, streams[index], packets[index]
            finding[3], finding[4] = size, _number(data, at, min(size, 8))
            continue
        seen = min(size, _HEAD)
        for place in range(seen):
            head[place] = data[at + place]
        row = rows[frames]
        _describe(head, seen, listed, row)
        row[_STREAM], row[_SEGMENTS] = streams[index], 1
        row[_FIRST_PACKET] = row[_PACKET] = packets[index]
        row[_CHECKSUM] = ~_crc32(data, at, size, np.uint32(_WORD)) & _WORD
        frames += 1
    return rows[:frames], findings[: len(packets) - frames]


@compiled(types.void(_VECTOR, types.int64, types.int64, types.int64, types.int64, types.int64))
def _write(chunk: _Int64, begin: int, size: int, offset: int, carrier: int, opener: int) -> None:
    chunk[_BEGIN], chunk[_SIZE], chunk[_OFFSET] = begin, size, offset
    chunk[_CARRIER], chunk[_OPENER] = carrier, opener


@compiled(types.void(_VECTOR, _MATRIX, _MATRIX, types.int64))
def _release(state: _Int64, chunks: _Int64, waiting: _Int64, packet: int) -> None:
    """Let those waiting chunks be read that nothing is missing before any more."""
    while state[_QUEUE] < state[_TAIL] and waiting[state[_QUEUE], _BEGIN] == state[_NEXT]:
        chunk = chunks[state[_CHUNKS]]
        opened = waiting[state[_QUEUE]]
        _write(chunk, opened[_BEGIN], opened[_SIZE], opened[_OFFSET], opened[_CARRIER], packet)
        state[_NEXT] += chunk[_SIZE]
        state[_CHUNKS] += 1
        state[_QUEUE] += 1
    if state[_QUEUE] == state[_TAIL]:
        state[_QUEUE] = state[_TAIL] = 0


@compiled(types.void(_VECTOR, _MATRIX, _MATRIX, types.int64, types.int64, types.int64, types.int64))
def _insert(
    state: _Int64, chunks: _Int64, waiting: _Int64, start: int, end: int, offset: int, packet: int
) -> None:
    """Take those bytes of a segment, `start` to `end` of its stream, that were not there before."""
    at = max(start, state[_NEXT])
    place, high = state[_QUEUE], state[_TAIL]
    while place < high:  # find the first waiting chunk that ends behind `at`
        middle = (place + high) // 2
        if waiting[middle, _BEGIN] + waiting[middle, _SIZE] <= at:
            place = middle + 1
        else:
            high = middle
    while at < end:
        stop = end
        if place < state[_TAIL]:
            if waiting[place, _BEGIN] <= at:
                at = waiting[place, _BEGIN] + waiting[place, _SIZE]
                place += 1
                continue
            stop = min(end, waiting[place, _BEGIN])
        state[_FRESH] += stop - at
        if at > state[_NEXT]:
            for index in range(state[_TAIL], place, -1):
                for field in range(_CHUNK_FIELDS):
                    waiting[index, field] = waiting[index - 1, field]
            _write(waiting[place], at, stop - at, offset + at - start, packet, packet)
            state[_TAIL] += 1
            place += 1
        else:
            _write(chunks[state[_CHUNKS]], at, stop - at, offset + at - start, packet, packet)
            state[_CHUNKS] += 1
            state[_NEXT] = stop
            _release(state, chunks, waiting, packet)
            place = state[_QUEUE]
        at = max(stop, state[_NEXT])


@compiled(
    types.void(
        _VECTOR,
        types.int64,
        _VECTOR,
        types.int16[::1],
        _WORDS,
        _WORDS,
        _VECTOR,
        types.int8[::1],
        _WORDS,
        _VECTOR,
        _MATRIX,
        _MATRIX,
    )
)
def _reassemble(
    members: _Int64,
    start_number: int,
    sequence: _Int64,
    flags: _Int16,
    payload: _Int32,
    captured: _Int32,
    offset: _Int64,
    novelty: _Int8,
    repeated: _Int32,
    state: _Int64,
    chunks: _Int64,
    waiting: _Int64,
) -> None:
    """Read the segments of one stream into chunks; tell new ones from old ones.

    Sequence numbers wrap after 2^32: each is taken to be the nearest to the end of what was seen.
    """
    for field in range(_FRESH + 1):
        state[field] = 0
    begins_here = start_number >= 0
    base = start_number if begins_here else sequence[members[0]]
    top = last_start = np.int64(0)  # the end of what was seen, and the segment that ended there
    for packet in members:
        place = sequence[packet] + (1 if flags[packet] & _SYN else 0) - base - top
        start = top + ((place + _HALF) & _WORD) - _HALF
        end = start + captured[packet]
        unknown = 0 if begins_here else min(max(-start, 0), np.int64(captured[packet]))
        state[_FRESH] = 0
        if start == state[_NEXT] and state[_QUEUE] == state[_TAIL]:
            if end > start:
                _write(chunks[state[_CHUNKS]], start, end - start, offset[packet], packet, packet)
                state[_CHUNKS] += 1
            state[_NEXT] = end
            state[_FRESH] = end - start
        else:
            _insert(state, chunks, waiting, start, end, offset[packet], packet)
        repeated[packet] = captured[packet] - unknown - state[_FRESH]
        if repeated[packet] == payload[packet]:
            is_probe = payload[packet] == 1 and end == top and last_start != start
            novelty[packet] = _PROBE if is_probe else _OLD
        if start + payload[packet] > top:
            top = start + payload[packet]
            last_start = start


@compiled(types.int64(BYTES, _MATRIX, types.int64, types.int64, types.int64, _BUFFER))
def _gather(data: _Bytes, chunks: _Int64, chunk: int, at: int, size: int, head: _Bytes) -> int:
    """Copy the first bytes of a frame, wherever they lie; return how many there are."""
    copied = 0
    while copied < size:
        inside = at + copied - chunks[chunk, _BEGIN]
        here = min(size - copied, chunks[chunk, _SIZE] - inside)
        source = chunks[chunk, _OFFSET] + inside
        for index in range(here):
            head[copied + index] = data[source + index]
        copied += here
        chunk += 1
    return copied


@compiled(
    types.void(
        BYTES, _MATRIX, types.int64, types.int64, types.int64, types.int64, _VECTOR, _WORDS, _WORDS,
        _VECTOR,
    )
)  # fmt: skip
def _take(
    data: _Bytes,
    chunks: _Int64,
    chunk: int,
    begin: int,
    end: int,
    frame: int,
    marks: _Int64,
    frame_header: _Int32,
    body: _Int32,
    row: _Int64,
) -> None:
    """Go through the chunks of one frame: attribute its bytes, and enter what only they tell.

    `marks` has for every packet the last frame of which it carries a byte.
    """
    row[_FIRST_PACKET] = chunks[chunk, _CARRIER]
    row[_SEGMENTS] = 0
    crc = np.uint32(_WORD)
    at = begin
    while at < end:
        inside = at - chunks[chunk, _BEGIN]
        size = min(end - at, chunks[chunk, _SIZE] - inside)
        crc = _crc32(data, chunks[chunk, _OFFSET] + inside, size, crc)
        carrier = chunks[chunk, _CARRIER]
        header = min(max(begin + _HEADER - at, 0), size)
        frame_header[carrier] += header
        body[carrier] += size - header
        if marks[carrier] != frame:
            marks[carrier] = frame
            row[_SEGMENTS] += 1
        row[_PACKET] = chunks[chunk, _OPENER]
        at += size
        chunk += 1
    row[_CHECKSUM] = ~crc & _WORD


@compiled(
    types.void(_VECTOR, _MATRIX, types.int64, types.int64, types.int64, types.int64, types.int64)
)
def _report(
    state: _Int64, findings: _Int64, kind: int, stream: int, packet: int, size: int, value: int
) -> None:
    finding = findings[state[_FINDINGS]]
    finding[0], finding[1], finding[2], finding[3], finding[4] = kind, stream, packet, size, value
    state[_FINDINGS] += 1


@compiled(
    _MATRIX(
        BYTES,
        types.int64,
        types.boolean,
        _VECTOR,
        _MATRIX,
        _SWITCHES,
        _SWITCHES,
        _MATRIX,
        _MATRIX,
        _VECTOR,
        _WORDS,
        _WORDS,
    )
)
def _cut_chunks(
    data: _Bytes,
    stream: int,
    begins_here: bool,
    state: _Int64,
    chunks: _Int64,
    known: _Bool,
    listed: _Bool,
    rows: _Int64,
    findings: _Int64,
    marks: _Int64,
    frame_header: _Int32,
    body: _Int32,
) -> _Int64:
    """Cut the readable part of a stream into frames; return the frames of all streams so far."""
    head = np.empty(_HEAD, np.uint8)
    end = state[_NEXT]
    at = chunk = 0
    if not begins_here and end > 0:
        while chunk < state[_CHUNKS] and not _looks_like_frames(
            data,
            chunks[chunk, _OFFSET],
            chunks[chunk, _OFFSET] + chunks[chunk, _SIZE],
            known,
        ):
            at += chunks[chunk, _SIZE]
            chunk += 1
        _report(state, findings, MIDSTREAM, stream, chunks[0, _CARRIER], at, 0)
    while at < end:
        while chunks[chunk, _BEGIN] + chunks[chunk, _SIZE] <= at:
            chunk += 1
        seen = _gather(data, chunks, chunk, at, min(_HEAD, end - at), head)
        length = _number(head, 0, 4) if seen >= 4 else -1
        if seen >= 4 and not _is_possible(length, np.int64(head[4]) if seen > 4 else _OLDEST):
            opening = _number(head, 0, min(seen, 8))
            _report(state, findings, MALFORMED, stream, chunks[chunk, _CARRIER], end - at, opening)
            break
        if state[_FRAMES] == len(rows):
            rows = _grown(rows)
        row = rows[state[_FRAMES]]
        stop = end if length < 0 else min(end, at + length)
        _take(data, chunks, chunk, at, stop, state[_FRAMES], marks, frame_header, body, row)
        if length < 0 or at + length > end:
            _report(state, findings, UNFINISHED, stream, row[_FIRST_PACKET], end - at, length)
            break
        _describe(head, seen, listed, row)
        row[_STREAM] = stream
        state[_FRAMES] += 1
        at = stop
    return rows


@compiled(
    _TWO_MATRICES(
        BYTES,
        _VECTOR,
        _VECTOR,
        _VECTOR,
        _VECTOR,
        types.int16[::1],
        _WORDS,
        _WORDS,
        _VECTOR,
        _SWITCHES,
        _SWITCHES,
        types.int8[::1],
        _WORDS,
        _WORDS,
        _WORDS,
    )
)
def _cut_streams(
    data: _Bytes,
    members: _Int64,
    bounds: _Int64,
    starts: _Int64,
    sequence: _Int64,
    flags: _Int16,
    payload: _Int32,
    captured: _Int32,
    offset: _Int64,
    known: _Bool,
    listed: _Bool,
    novelty: _Int8,
    frame_header: _Int32,
    body: _Int32,
    repeated: _Int32,
) -> tuple[_Int64, _Int64]:
    """The frames of all TCP streams, and findings; `members` are their segments, by stream."""
    longest = 0
    for stream in range(len(starts)):
        longest = max(longest, bounds[stream + 1] - bounds[stream])
    # A segment that bridges n holes makes n chunks, but leaves n - 1 holes less.
    chunks = np.empty((2 * longest + 1, _CHUNK_FIELDS), np.int64)
    waiting = np.empty((2 * longest + 1, _CHUNK_FIELDS), np.int64)
    rows = np.empty((max(len(members), 16), _FRAME_FIELDS), np.int64)
    findings = np.empty((3 * len(starts), _FINDING_FIELDS), np.int64)
    marks = np.empty(len(sequence), np.int64)
    for packet in range(len(marks)):
        marks[packet] = -1
    state = np.zeros(_STATE_FIELDS, np.int64)
    for stream in range(len(starts)):
        if bounds[stream] == bounds[stream + 1]:
            continue
        _reassemble(
            members[bounds[stream] : bounds[stream + 1]],
            starts[stream],
            sequence,
            flags,
            payload,
            captured,
            offset,
            novelty,
            repeated,
            state,
            chunks,
            waiting,
        )
        rows = _cut_chunks(
            data,
            stream,
            starts[stream] >= 0,
            state,
            chunks,
            known,
            listed,
            rows,
            findings,
            marks,
            frame_header,
            body,
        )
        if state[_QUEUE] < state[_TAIL]:
            first = waiting[state[_QUEUE]]
            size = 0
            for index in range(state[_QUEUE], state[_TAIL]):
                size += waiting[index, _SIZE]
            hole = first[_BEGIN] - state[_NEXT]
            _report(state, findings, GAP, stream, first[_CARRIER], size, hole)
    return rows[: state[_FRAMES]], findings[: state[_FINDINGS]]
