"""Says what every packet is for: its connection, its role, and the share of each of its bytes.

It knows TCP, UDP and pysim's two ports; where frames begin and end is known to `streams` alone.

Connections. The packets between two ends (address and port, both ways) are a *flow*. A TCP flow
falls into *connections*, the incarnations of its 4-tuple: a SYN begins a new one if its initial
sequence number is not the one this side has begun with, if this side has said more than SYN
already, or if the former one was reset. A capture that begins within a connection begins it with
its first packet. A UDP flow is one connection. Only flows with one of pysim's ports at one end have
connections; all others are foreign.

Roles. Each packet has exactly one, the first that fits:

    reset           a TCP packet with RST
    handshake       a packet with SYN; and the first packet after a SYN/ACK, from the side that it
                    answers, if that is a bare ACK
    data            payload of which at least one byte was not seen before in this capture (also in
                    packets that carry FIN, and the byte of a probe of a closed window)
    retransmission  payload of which every byte was seen before in this capture: what was lost
                    before it came here is no retransmission here
    teardown        FIN without payload, and every bare ACK that covers the other side's FIN
    ack             what is left of TCP without payload: acknowledgments, repeated ones, window
                    updates; and keep-alives, which may carry one byte: the last one before the next
                    expected, if it was not sent as a segment of its own
    datagram        UDP, whole or in fragments
    other           foreign traffic, what is no IP, TCP in fragments or with a header cut short

Bytes. Seven columns add up to the length of each packet on the wire, always:

    link_header, ip_header, transport_header   the headers; link_header includes padding behind IP
    frame_header    payload seen for the first time: one of the 16 bytes that begin a frame
    body            payload seen for the first time: the rest of a frame, whole or not
    repeated        payload seen before in this capture
    unattributed    all else: foreign payload, payload behind a gap, behind a malformed frame, after
                    a reset, before the first frame of a capture that begins within a stream, bytes
                    that the capture did not keep
"""

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from numba import types

from analysis.addresses import DIRECT_PORT, OVERLAY_PORT
from analysis.captures.compiling import compiled
from analysis.captures.decode import TCP, UDP, Packets

ROLES = (
    "data",
    "retransmission",
    "ack",
    "handshake",
    "teardown",
    "reset",
    "datagram",
    "other",
)
DATA, RETRANSMISSION, ACK, HANDSHAKE, TEARDOWN, RESET, DATAGRAM, OTHER = range(len(ROLES))

_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16
_WORD = 0xFFFFFFFF
_HALF = 0x80000000

_Bool = npt.NDArray[np.bool_]
_Int8 = npt.NDArray[np.int8]
_Int16 = npt.NDArray[np.int16]
_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]
_UInt64 = npt.NDArray[np.uint64]
_Addresses = tuple[_UInt64, _UInt64, _UInt64, _UInt64]
_Number = Any
"""A number of one of numpy's types, in compiled functions."""

# What is known of a flow: its first packet, its present connection (-1: none), and of that one, by
# side, the initial sequence number (-1: not seen), the number behind FIN (-1: none), whether the
# side has said more than SYN; the side whose bare ACK completes the handshake (-1: none).
_FIRST, _CURRENT, _INITIAL, _CLOSED, _SPOKE, _AWAITED, _RESET = 0, 1, 2, 4, 6, 8, 9
_FLOW_FIELDS = 10
# What is kept of a connection: its flow, and by side the number of the first byte (-1: unknown).
_FLOW, _START = 0, 1
_CONNECTION_FIELDS = 3


class Traffic(NamedTuple):
    """Flows and connections of a capture; the first five arrays have an entry per packet."""

    flow: _Int32
    """Number of the flow; -1 if it is no IP."""
    side: _Int8
    """Which end of the flow sent it: 0, the one that sent the flow's first packet, or 1."""
    connection: _Int32
    """Number of the connection; -1 if it has none."""
    role: _Int8
    """An index into ROLES; which data is a retransmission is found out by `streams`."""
    late: _Bool
    """It comes after a reset of its connection."""
    first_packet: _Int64
    """The first packet of every flow."""
    connection_flow: _Int64
    """The flow of every connection."""
    stream_start: _Int64
    """Sequence number of the first byte of every stream (2 * connection + side); -1 if unknown."""


class Shares(NamedTuple):
    """The seven columns that add up to the length of every packet."""

    link_header: _Int32
    ip_header: _Int32
    transport_header: _Int32
    frame_header: _Int32
    body: _Int32
    repeated: _Int32
    unattributed: _Int32


def follow(packets: Packets) -> Traffic:
    """Sort packets into flows and connections and say what each is for."""
    count = len(packets.time)
    flow = np.empty(count, np.int32)
    side = np.empty(count, np.int8)
    connection = np.empty(count, np.int32)
    role = np.empty(count, np.int8)
    late = np.zeros(count, np.bool_)
    slots = np.zeros(1 << max(4, (2 * count).bit_length()), np.int32)
    flows, connections = _follow(
        is_pysim(packets),
        packets.ip,
        packets.protocol,
        (packets.source_high, packets.source_low, packets.target_high, packets.target_low),
        packets.source_port,
        packets.target_port,
        packets.sequence,
        packets.acknowledgment,
        packets.flags,
        packets.transport_header,
        packets.payload,
        packets.fragment,
        slots,
        flow,
        side,
        connection,
        role,
        late,
    )
    return Traffic(
        flow,
        side,
        connection,
        role,
        late,
        flows[:, _FIRST],
        connections[:, _FLOW],
        connections[:, _START:].ravel(),
    )


def share(packets: Packets, frame_header: _Int32, body: _Int32, repeated: _Int32) -> Shares:
    """Share out every packet's bytes, given what its payload was found to be."""
    length = wire_length(packets)
    link = packets.link_header.astype(np.int32)
    ip = np.minimum(packets.ip_header, length - link)  # a damaged header claims more than there is
    transport = packets.transport_header.astype(np.int32)
    behind = length - link - ip - transport
    understood = (packets.ip > 0) & ((packets.payload > 0) | (transport > 0))
    link = link + np.where(understood, behind - packets.payload, 0).astype(np.int32)
    rest = length - link - ip - transport - frame_header - body - repeated
    return Shares(link, ip, transport, frame_header, body, repeated, rest)


def wire_length(packets: Packets) -> _Int32:
    """Bytes of every packet on the wire: what was captured was there, whatever the record says."""
    return np.maximum(packets.length, packets.captured)


def is_pysim(packets: Packets) -> _Bool:
    """Which packets have one of pysim's ports at one end."""
    ours = np.zeros(len(packets.time), np.bool_)
    for port in (packets.source_port, packets.target_port):
        ours |= (port == OVERLAY_PORT) | (port == DIRECT_PORT)
    ours &= (packets.protocol == TCP) | (packets.protocol == UDP)
    return ours


_VECTOR = types.int64[::1]
_MATRIX = types.int64[:, ::1]
_ADDRESSES = cast(Any, types).UniTuple(types.uint64[::1], 4)
_TWO_MATRICES = cast(Any, types).UniTuple(_MATRIX, 2)


@compiled(types.uint64(types.uint64, types.uint64, types.int64))
def _mixed(high: _Number, low: _Number, port: _Number) -> _Number:
    value = np.uint64(high) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(low)
    value = (value ^ np.uint64(port) << np.uint64(40)) * np.uint64(0xFF51AFD7ED558CCD)
    return value ^ value >> np.uint64(29)


@compiled(types.boolean(_ADDRESSES, types.int64, types.int64, types.boolean))
def _same_addresses(addresses: _Addresses, packet: int, other: int, turned: bool) -> _Number:
    source_high, source_low, target_high, target_low = addresses
    if turned:
        return (
            source_low[packet] == target_low[other]
            and target_low[packet] == source_low[other]
            and source_high[packet] == target_high[other]
            and target_high[packet] == source_high[other]
        )
    return (
        source_low[packet] == source_low[other]
        and target_low[packet] == target_low[other]
        and source_high[packet] == source_high[other]
        and target_high[packet] == target_high[other]
    )


@compiled(_MATRIX(_MATRIX))
def _grown(rows: _Int64) -> _Int64:
    larger = np.empty((2 * len(rows), rows.shape[1]), np.int64)
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@compiled(types.void(_VECTOR, _VECTOR, types.int64, types.int64))
def _open(flow: _Int64, connection: _Int64, flow_number: int, number: int) -> None:
    """Begin a connection of which nothing is known yet."""
    connection[_FLOW] = flow_number
    flow[_CURRENT] = number
    for side in range(2):
        connection[_START + side] = flow[_INITIAL + side] = flow[_CLOSED + side] = -1
        flow[_SPOKE + side] = 0
    flow[_AWAITED] = -1
    flow[_RESET] = 0


@compiled(types.boolean(_VECTOR, types.int64, types.int64, types.boolean))
def _begins_anew(flow: _Int64, side: int, sequence: int, acknowledges: bool) -> _Number:
    """Whether a SYN begins a new connection of its flow; see this module's docstring."""
    if flow[_RESET]:
        return True
    if flow[_INITIAL + side] < 0:
        return flow[_SPOKE] != 0 or flow[_SPOKE + 1] != 0
    if flow[_INITIAL + side] != sequence:
        return True
    return not acknowledges and flow[_SPOKE + side] != 0


@compiled(types.int64(_VECTOR, types.int64, types.int64, types.int64, types.int64, types.int64))
def _tcp_role(
    flow: _Int64, side: int, sequence: int, acknowledgment: int, flags: int, payload: int
) -> int:
    """The role of a packet of the flow's present connection, whose state follows."""
    if flags & _RST:
        flow[_RESET] = 1
        return RESET
    if flags & _SYN:
        flow[_INITIAL + side] = sequence
        if flags & _ACK:
            flow[_AWAITED] = 1 - side
        return HANDSHAKE
    flow[_SPOKE + side] = 1
    completes = flow[_AWAITED] == side
    if completes:
        flow[_AWAITED] = -1
    if flags & _FIN:
        flow[_CLOSED + side] = (sequence + payload + 1) & _WORD
    if payload:
        return DATA
    if flags & _FIN:
        return TEARDOWN
    if completes:
        return HANDSHAKE
    end = flow[_CLOSED + 1 - side]
    if flags & _ACK and end >= 0 and (acknowledgment - end) & _WORD < _HALF:
        return TEARDOWN
    return ACK


@compiled(
    _TWO_MATRICES(
        types.boolean[::1],
        types.int8[::1],
        types.int16[::1],
        _ADDRESSES,
        types.int32[::1],
        types.int32[::1],
        _VECTOR,
        _VECTOR,
        types.int16[::1],
        types.int16[::1],
        types.int32[::1],
        types.boolean[::1],
        types.int32[::1],
        types.int32[::1],
        types.int8[::1],
        types.int32[::1],
        types.int8[::1],
        types.boolean[::1],
    )
)
def _follow(
    ours: _Bool,
    ip: _Int8,
    protocol: _Int16,
    addresses: _Addresses,
    source_port: _Int32,
    target_port: _Int32,
    sequence: _Int64,
    acknowledgment: _Int64,
    flags: _Int16,
    transport_header: _Int16,
    payload: _Int32,
    fragment: _Bool,
    slots: _Int32,
    flow_of: _Int32,
    side_of: _Int8,
    connection_of: _Int32,
    role_of: _Int8,
    late: _Bool,
) -> tuple[_Int64, _Int64]:
    """Fill the arrays of every packet; return what is known of flows and of connections."""
    source_high, source_low, target_high, target_low = addresses
    flows = np.empty((16, _FLOW_FIELDS), np.int64)
    connections = np.empty((16, _CONNECTION_FIELDS), np.int64)
    flow_count = connection_count = 0
    mask = np.uint64(len(slots) - 1)
    for packet in range(len(ip)):
        flow_of[packet] = connection_of[packet] = -1
        side_of[packet] = 0
        role_of[packet] = OTHER
        if ip[packet] == 0:
            continue

        # Find the flow; both directions meet in the same slot.
        here, there = source_port[packet], target_port[packet]
        source = _mixed(source_high[packet], source_low[packet], here)
        slot = source + _mixed(target_high[packet], target_low[packet], there) & mask
        side = -1
        while slots[slot] and side < 0:
            number = slots[slot] - 1
            first = flows[number, _FIRST]
            if ip[first] == ip[packet] and protocol[first] == protocol[packet]:
                straight = source_port[first] == here and target_port[first] == there
                turned = source_port[first] == there and target_port[first] == here
                if straight and _same_addresses(addresses, packet, first, False):
                    side = 0
                elif turned and _same_addresses(addresses, packet, first, True):
                    side = 1
            if side < 0:
                slot = slot + np.uint64(1) & mask
        if side < 0:
            if flow_count == len(flows):
                flows = _grown(flows)
            number, side = flow_count, 0
            flow_count += 1
            flows[number, _FIRST] = packet
            flows[number, _CURRENT] = -1
            slots[slot] = flow_count
        flow_of[packet] = number
        side_of[packet] = side
        tcp = protocol[packet] == TCP
        unread = tcp and (fragment[packet] or flags[packet] < 0 or transport_header[packet] == 0)
        if unread or not ours[packet]:
            continue

        # Find its connection, and what it is for.
        flow = flows[number]
        opening = tcp and flags[packet] & _SYN != 0 and flags[packet] & _RST == 0
        if flow[_CURRENT] < 0 or (
            opening and _begins_anew(flow, side, sequence[packet], flags[packet] & _ACK != 0)
        ):
            if connection_count == len(connections):
                connections = _grown(connections)
            _open(flow, connections[connection_count], number, connection_count)
            connection_count += 1
        connection = flow[_CURRENT]
        connection_of[packet] = connection
        if tcp:
            late[packet] = flow[_RESET] != 0
            role_of[packet] = _tcp_role(
                flow, side, sequence[packet], acknowledgment[packet], flags[packet], payload[packet]
            )
            if opening:
                connections[connection, _START + side] = (sequence[packet] + 1) & _WORD
        else:
            role_of[packet] = DATAGRAM
    return flows[:flow_count], connections[:connection_count]
