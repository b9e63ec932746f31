"""The bytes of captured frames, for who wants to read messages and not only to count them.

A frame is known by its identity, its length and the checksum that was taken when it was cut out of
its stream, and its bytes are held against that: what is given is what was there. It knows no run.
"""

import zlib
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.captures.attribution import Traffic, follow
from analysis.captures.decode import UDP, Packets, decode
from analysis.captures.records import open_capture, scan
from analysis.captures.streams import Cut, Datagram, adopt_fragments, cut, join_fragments

_Bytes = npt.NDArray[np.uint8]
_Int64 = npt.NDArray[np.int64]

_WORD = 0xFFFFFFFF
_UDP_HEADER = 8


class FrameKey(NamedTuple):
    """What tells frames of different bytes apart, as a table of messages has it."""

    origin: int
    sequence: int
    length: int
    crc: int


def read_contents(path: str | PathLike[str]) -> dict[FrameKey, bytes]:
    """The bytes of all frames of a capture, but for those whose beginning it does not have."""
    capture = open_capture(path)
    packets = decode(capture, scan(capture).offsets)
    datagrams = join_fragments(capture.data, packets)
    traffic = adopt_fragments(follow(packets), datagrams)
    pieces = cut(capture.data, packets, traffic, datagrams)
    found: dict[FrameKey, bytes] = {}
    for number, frame in _frames(capture.data, packets, traffic, datagrams, pieces):
        crc = int(pieces.frames.crc[number])
        if zlib.crc32(frame) == crc:
            origin, sequence = pieces.frames.origin[number], pieces.frames.sequence[number]
            found[FrameKey(int(origin), int(sequence), len(frame), crc)] = frame
    return found


def _frames(
    data: _Bytes,
    packets: Packets,
    traffic: Traffic,
    datagrams: Sequence[Datagram],
    pieces: Cut,
) -> Iterator[tuple[int, bytes]]:
    """The frames of all streams by their number; what was not read whole may be wrong."""
    is_datagram = packets.protocol[pieces.frames.packet] == UDP
    joined = {max(each.packets): each.data[_UDP_HEADER:] for each in datagrams}
    for number in np.flatnonzero(is_datagram).tolist():
        packet, length = int(pieces.frames.packet[number]), int(pieces.frames.length[number])
        begin = int(packets.payload_offset[packet])
        whole = joined.get(packet) or data[begin : begin + length].tobytes()
        yield number, whole[:length]
    streams = _members(2 * traffic.connection.astype(np.int64) + traffic.side)
    framed = np.flatnonzero(~is_datagram)
    for stream, members in _members(pieces.frames.stream[framed]).items():
        numbers = framed[members]
        lengths = pieces.frames.length[numbers]
        content = _joined(data, packets, streams[stream], traffic.stream_start[stream], lengths)
        ends = np.cumsum(lengths).tolist()
        for number, length, end in zip(numbers.tolist(), lengths.tolist(), ends, strict=True):
            yield number, content[end - length : end]


def _joined(data: _Bytes, packets: Packets, members: _Int64, start: int, lengths: _Int64) -> bytes:
    """The beginning of a stream, as long as its whole frames."""
    content = bytearray(int(lengths.sum()))
    for packet in members[packets.payload_captured[members] > 0].tolist():
        place = (int(packets.sequence[packet]) - int(start)) & _WORD
        size = min(int(packets.payload_captured[packet]), len(content) - place)
        if size > 0:
            begin = int(packets.payload_offset[packet])
            content[place : place + size] = data[begin : begin + size].tobytes()
    return bytes(content)


def _members(keys: _Int64) -> dict[int, _Int64]:
    """Where each number stands, in order."""
    order = np.argsort(keys, kind="stable")
    numbers, begins = np.unique(keys[order], return_index=True)
    bounds = [*begins.tolist(), len(order)]
    return {
        number: order[begin:end]
        for number, begin, end in zip(numbers.tolist(), bounds, bounds[1:], strict=False)
    }
