"""Decodes the headers of captured packets into columns; knows neither Spark nor pysim's messages.

What every field means is written once, at `Packets`. A field whose bytes the capture does not hold,
or that the packet does not have, says so by the value given there; a damaged packet is decoded as
far as it makes sense, and no byte outside its record is ever looked at.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from analysis.captures.compiling import BYTES, compiled, inlined
from analysis.captures.records import ETHERNET, PPP, RAW_IPV4, RAW_IPV6, RECORD_HEADER, CaptureFile

TCP, UDP = 6, 17

_Bytes = npt.NDArray[np.uint8]
_Int8 = npt.NDArray[np.int8]
_Int16 = npt.NDArray[np.int16]
_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]
_UInt64 = npt.NDArray[np.uint64]


class Packets(NamedTuple):
    """One entry per packet in each array."""

    time: _Int64
    """Nanoseconds since 1970."""
    captured: _Int32
    """Bytes of the packet that the file holds."""
    length: _Int32
    """Bytes of the packet on the wire."""
    ip: _Int8
    """4, 6, or 0 if there is no whole, well-formed IP header."""
    protocol: _Int16
    """What IP carries: 6 is TCP, 17 UDP; -1 if unknown."""
    source_high: _UInt64
    """The upper 64 bits of an IPv6 address; 0 for IPv4."""
    source_low: _UInt64
    """The lower 64 bits of an IPv6 address, or an IPv4 address."""
    target_high: _UInt64
    target_low: _UInt64
    source_port: _Int32
    """-1 if there is none."""
    target_port: _Int32
    sequence: _Int64
    """TCP's sequence number as it stands in the packet; -1 if there is none."""
    acknowledgment: _Int64
    """TCP's acknowledgment number as it stands in the packet; -1 if there is none."""
    flags: _Int16
    """TCP's flags: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, NS 256; or -1."""
    window: _Int32
    """TCP's window as it stands in the packet, not scaled; -1 if there is none."""
    link_header: _Int16
    """Bytes of the link header; 0 if it is cut."""
    ip_header: _Int16
    """Bytes of the IP header with options or extension headers; 0 if there is none."""
    transport_header: _Int16
    """Bytes of the TCP or UDP header with options; 0 if there is none."""
    payload: _Int32
    """Bytes on the wire behind the last of these headers, by IP's length: without padding.

    0 if there is no IP header, or if the capture does not tell where a header ends."""
    payload_offset: _Int64
    """Where the payload starts in the capture's `data`."""
    payload_captured: _Int32
    """Bytes of the payload that the file holds."""
    fragment: npt.NDArray[np.bool_]
    """A fragment of an IP packet; only the first one has a transport header."""


# The kernel fills the rows of five matrices, one for each type of number. Each row becomes a column
# of `Packets`, contiguous; and the compiler has five arguments to care for instead of twenty-two.
_TIME, _SEQUENCE, _ACKNOWLEDGMENT, _OFFSET = range(4)
_SOURCE, _TARGET = 0, 2
_CAPTURED, _LENGTH, _SOURCE_PORT, _TARGET_PORT, _WINDOW, _PAYLOAD, _PAYLOAD_CAPTURED = range(7)
_PROTOCOL, _FLAGS, _LINK, _IP, _TRANSPORT = range(5)
_VERSION, _FRAGMENT = range(2)

_UNKNOWN = -1
_WHOLE, _FIRST, _LATER = range(3)
"""What of an IP packet this is: all of it, its first fragment, or another one."""

_VLAN_TAGS = (0x8100, 0x88A8, 0x9100)
_MOST_TAGS = 16
_LONGEST_HEADER = 0x7FFF
_FRAGMENTATION, _AUTHENTICATION = 44, 51
_EXTENSIONS = (0, 43, _FRAGMENTATION, _AUTHENTICATION, 60)  # and hop-by-hop, routing, destination
_NO_NEXT_HEADER = 59


def decode(capture: CaptureFile, offsets: _Int64) -> Packets:
    """Decode the records that start at these offsets, as `scan` has found them."""
    count = len(offsets)
    if count and not 0 <= offsets.min() <= offsets.max() <= len(capture.data) - RECORD_HEADER:
        raise ValueError(f"{capture.path} has no records at these offsets")
    long = np.empty((4, count), np.int64)
    address = np.zeros((4, count), np.uint64)
    word = np.empty((7, count), np.int32)
    short = np.empty((5, count), np.int16)
    byte = np.empty((2, count), np.int8)
    unit = 1 if capture.nanoseconds else 1000
    layout = np.array([capture.big_endian, unit, capture.link_type])
    offsets = np.ascontiguousarray(offsets, np.int64)
    _decode(capture.data, offsets, layout, long, address, word, short, byte)
    return Packets(
        time=long[_TIME],
        captured=word[_CAPTURED],
        length=word[_LENGTH],
        ip=byte[_VERSION],
        protocol=short[_PROTOCOL],
        source_high=address[_SOURCE],
        source_low=address[_SOURCE + 1],
        target_high=address[_TARGET],
        target_low=address[_TARGET + 1],
        source_port=word[_SOURCE_PORT],
        target_port=word[_TARGET_PORT],
        sequence=long[_SEQUENCE],
        acknowledgment=long[_ACKNOWLEDGMENT],
        flags=short[_FLAGS],
        window=word[_WINDOW],
        link_header=short[_LINK],
        ip_header=short[_IP],
        transport_header=short[_TRANSPORT],
        payload=word[_PAYLOAD],
        payload_offset=long[_OFFSET],
        payload_captured=word[_PAYLOAD_CAPTURED],
        fragment=byte[_FRAGMENT].view(np.bool_),
    )


def payloads(capture: CaptureFile, packets: Packets) -> tuple[_Int32, _Bytes]:
    """The captured payloads one after the other, and where each ends there (after a leading 0)."""
    ends = np.zeros(len(packets.time) + 1, np.int32)
    np.cumsum(packets.payload_captured, out=ends[1:])
    content = np.empty(ends[-1], np.uint8)
    _gather(capture.data, packets.payload_offset, ends, content)
    return ends, content


@compiled(types.void(BYTES, types.int64[::1], types.int32[::1], types.uint8[::1]))
def _gather(data: _Bytes, offsets: _Int64, ends: _Int32, content: _Bytes) -> None:
    for row in range(len(offsets)):
        for place in range(ends[row], ends[row + 1]):
            content[place] = data[offsets[row] + place - ends[row]]


@inlined
def _number(data: _Bytes, at: int, size: int) -> int:
    """The number in network byte order that these bytes hold; eight of them fill an int64."""
    value = 0
    for index in range(at, at + size):
        value = value << 8 | int(data[index])
    return value


@inlined
def _word(data: _Bytes, at: int, big_endian: int) -> int:
    """A number of a record's own header."""
    value = 0
    for index in range(4):
        value = value << 8 | int(data[at + (index if big_endian else 3 - index)])
    return value


@inlined
def _link(data: _Bytes, at: int, end: int, link_type: int) -> tuple[int, int]:
    """Bytes of the link header, and the IP version that it announces; 0 for anything else."""
    if link_type == ETHERNET:
        size = 14
        for _ in range(_MOST_TAGS):
            if at + size > end:
                return 0, 0
            kind = _number(data, at + size - 2, 2)
            if kind not in _VLAN_TAGS:
                return size, 4 if kind == 0x0800 else 6 if kind == 0x86DD else 0
            size += 4
        return 0, 0
    if link_type == PPP:
        size = 2 if at + 2 <= end and _number(data, at, 2) == 0xFF03 else 0  # address and control
        width = 2
        if at + size < end and data[at + size] in (0x21, 0x57):  # the field may be compressed
            width = 1
        if at + size + width > end:
            return 0, 0
        kind = _number(data, at + size, width)
        return size + width, 4 if kind == 0x21 else 6 if kind == 0x57 else 0
    version = int(data[at]) >> 4 if at < end else 0
    if (link_type == RAW_IPV4 and version != 4) or (link_type == RAW_IPV6 and version != 6):
        version = 0
    return 0, version


@inlined
def _ipv4(data: _Bytes, at: int, end: int, stop: int) -> tuple[int, int, int, int]:
    """Bytes of the header (0 if it is none), end of the packet, protocol, and which fragment."""
    if at + 20 > end or data[at] >> 4 != 4 or data[at] & 15 < 5:
        return 0, stop, _UNKNOWN, _WHOLE
    total = _number(data, at + 2, 2)
    if total:  # 0: the network card was to cut the packet and to fill it in
        stop = min(stop, at + total)
    place = _number(data, at + 6, 2)
    fragment = _LATER if place & 0x1FFF else _FIRST if place & 0x2000 else _WHOLE
    return (int(data[at]) & 15) * 4, stop, int(data[at + 9]), fragment


@inlined
def _ipv6(data: _Bytes, at: int, end: int, stop: int) -> tuple[int, int, int, int]:
    """The same for IPv6, extension headers included; no protocol if their chain is cut."""
    if at + 40 > end or data[at] >> 4 != 6:
        return 0, stop, _UNKNOWN, _WHOLE
    total = _number(data, at + 4, 2)
    kind = int(data[at + 6])
    if total or kind == _NO_NEXT_HEADER:  # else 0: a jumbogram, or left to the network card
        stop = min(stop, at + 40 + total)
    size, fragment = 40, _WHOLE
    while fragment != _LATER:
        if kind not in _EXTENSIONS:
            break
        if at + size + 8 > min(end, stop):
            return size, stop, _UNKNOWN, fragment
        length = 8
        if kind == _FRAGMENTATION:
            place = _number(data, at + size + 2, 2)
            fragment = _LATER if place & 0xFFF8 else _FIRST if place & 1 else _WHOLE
        elif kind == _AUTHENTICATION:
            length = (int(data[at + size + 1]) + 2) * 4
        else:
            length = (int(data[at + size + 1]) + 1) * 8
        if at + size + length > stop or size + length > _LONGEST_HEADER:
            return size, stop, _UNKNOWN, fragment
        kind = int(data[at + size])
        size += length
    return size, stop, kind, fragment


@inlined
def _transport(
    data: _Bytes, at: int, readable: int, protocol: int
) -> tuple[int, int, int, int, int, int, int]:
    """TCP's or UDP's header: bytes (0: unknown), ports, sequence, acknowledgment, flags, window."""
    source_port = target_port = sequence = acknowledgment = flags = window = _UNKNOWN
    size = 0
    if readable >= 4:
        source_port, target_port = _number(data, at, 2), _number(data, at + 2, 2)
    if protocol == UDP:
        return 8, source_port, target_port, sequence, acknowledgment, flags, window
    if readable >= 8:
        sequence = _number(data, at + 4, 4)
    if readable >= 12:
        acknowledgment = _number(data, at + 8, 4)
    if readable >= 14:
        size = (int(data[at + 12]) >> 4) * 4
        flags = _number(data, at + 12, 2) & 0x1FF
    if readable >= 16:
        window = _number(data, at + 14, 2)
    return size, source_port, target_port, sequence, acknowledgment, flags, window


@compiled(
    types.void(
        BYTES,
        types.int64[::1],
        types.int64[::1],
        types.int64[:, ::1],
        types.uint64[:, ::1],
        types.int32[:, ::1],
        types.int16[:, ::1],
        types.int8[:, ::1],
    )
)
def _decode(
    data: _Bytes,
    offsets: _Int64,
    layout: _Int64,
    long: _Int64,
    address: _UInt64,
    word: _Int32,
    short: _Int16,
    byte: _Int8,
) -> None:
    """Decode every record; `at` is how far reading has come.

    begin            at                  end                     stop
      |  link header  |  IP packet ...    |  not captured ...     |
    or, if the packet is padded:         stop                    end
    """
    big_endian, unit, link_type = layout[0], layout[1], layout[2]
    for row in range(len(offsets)):
        record = offsets[row]
        captured = _word(data, record + 8, big_endian)
        length = _word(data, record + 12, big_endian)
        begin = record + RECORD_HEADER
        end = min(begin + captured, len(data))
        stop = begin + max(length, captured)
        seconds, fraction = _word(data, record, big_endian), _word(data, record + 4, big_endian)
        long[_TIME, row] = seconds * 1_000_000_000 + fraction * unit
        word[_CAPTURED, row] = captured
        word[_LENGTH, row] = length

        link_header, version = _link(data, begin, end, link_type)
        at = begin + link_header
        ip_header, protocol, fragment = 0, _UNKNOWN, _WHOLE
        if version == 4:
            ip_header, stop, protocol, fragment = _ipv4(data, at, end, stop)
            if ip_header:
                address[_SOURCE + 1, row] = _number(data, at + 12, 4)
                address[_TARGET + 1, row] = _number(data, at + 16, 4)
        elif version == 6:
            ip_header, stop, protocol, fragment = _ipv6(data, at, end, stop)
            if ip_header:
                address[_SOURCE, row] = _number(data, at + 8, 8)
                address[_SOURCE + 1, row] = _number(data, at + 16, 8)
                address[_TARGET, row] = _number(data, at + 24, 8)
                address[_TARGET + 1, row] = _number(data, at + 32, 8)
        at += ip_header
        byte[_VERSION, row] = version if ip_header else 0
        byte[_FRAGMENT, row] = fragment != _WHOLE
        short[_PROTOCOL, row] = protocol
        short[_LINK, row] = link_header
        short[_IP, row] = ip_header

        source_port = target_port = sequence = acknowledgment = flags = window = _UNKNOWN
        transport_header = shortest = 0
        if fragment != _LATER and protocol in (TCP, UDP):
            shortest = 20 if protocol == TCP else 8
            readable = min(end, stop) - at
            transport_header, source_port, target_port, sequence, acknowledgment, flags, window = (
                _transport(data, at, readable, protocol)
            )
        word[_SOURCE_PORT, row] = source_port
        word[_TARGET_PORT, row] = target_port
        long[_SEQUENCE, row] = sequence
        long[_ACKNOWLEDGMENT, row] = acknowledgment
        short[_FLAGS, row] = flags
        word[_WINDOW, row] = window

        if protocol == _UNKNOWN or not shortest <= transport_header <= stop - at:
            transport_header, stop = 0, at  # what follows cannot be told from a header
        short[_TRANSPORT, row] = transport_header
        at += transport_header
        word[_PAYLOAD, row] = stop - at
        long[_OFFSET, row] = min(at, end)
        word[_PAYLOAD_CAPTURED, row] = max(0, min(end, stop) - at)
