"""Places captured messages and packets: from whom to whom, and what a row stands for.

The same message is seen at both ends of its link, a packet at every device it passes. So that each
is counted once, every row gets, besides `source`, `target` (brokers, null for addresses that are
not of this run) and `channel` (``link``, ``tcp``, ``udp``; null for other programs' ports):

`counted` (messages)
    the row stands for the message's way from source to target: it was captured on the first line
    that the message took, at the source's end of it if that end was captured.
`arrived` (messages)
    the row stands for the message's arrival: it was captured at the target's end, or, where lines
    are captured at one end only, it is the row that is counted.
`crossed` (messages)
    the row stands for the message's crossing of this line: as `counted` of packets.
`link_header`, `ip_header`, `transport_header` (messages)
    bytes of the headers of the packets that carried it, as `share_headers` defines them.
`name`, `publication` (messages)
    the type's name; whether the message is an event of a client: an event keeps its identity on its
    way, whatever the type of the message that it travels in.
`counted` (packets)
    the row stands for the packet's crossing of this line: it was captured where the packet began
    to cross it, or at the only end that was captured. Where neither end of the line is the
    packet's source or target, it cannot be told where it began, and the lower end counts.
`departure` (packets)
    as `counted` of messages.
`a`, `b`, `directed` (packets)
    the ends of the line, by name; `a` is where the packet began to cross it, if `directed`.

It knows the address plan and how a run names its captures, nothing of protocols or of Spark.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from analysis.addresses import DIRECT_PORT, OVERLAY_PORT, Device, broker_of, device_of
from pysim.wire import type_name

_Bool = npt.NDArray[np.bool_]
_Int64 = npt.NDArray[np.int64]

_NOBODY = -1
_NO_NODE = Device("", None)


@dataclass(frozen=True)
class Coverage:
    """What a run has captured of its `brokers`.

    `paired`: each captured line is captured at both ends. `both_views`: of each message that is
    captured at its source, the arrival at its target is captured too. `types` are the names that
    the run gave to codes of message types; others may have registered some that are not ours.
    """

    brokers: int
    paired: bool
    both_views: bool
    types: Mapping[int, str] = field(default_factory=dict)

    def type_name(self, code: int) -> str:
        return self.types.get(code) or type_name(code)


def event_keys(events: pa.Table) -> _Int64:
    """The identities of publications, in order, as `placed` takes them."""
    return np.unique(_keys(events))


def placed(
    messages: pa.Table, packets: pa.Table, coverage: Coverage, publications: _Int64
) -> tuple[pa.Table, pa.Table]:
    """The messages and packets of one capture, with the columns above."""
    whole = share_headers(messages, packets)
    return _placed_messages(whole, coverage, publications), _placed_packets(packets, coverage)


def _placed_messages(messages: pa.Table, coverage: Coverage, publications: _Int64) -> pa.Table:
    ends = _Ends(messages, coverage)
    known = np.append(publications, np.int64(-1))
    keys = _keys(messages)
    is_publication = known[np.searchsorted(publications, keys)] == keys
    return _with_columns(
        ends.placed(),
        name=_mapped(messages["type"], coverage.type_name, pa.string()),
        publication=pa.array(is_publication),
        counted=pa.array(ends.is_departure),
        crossed=pa.array(ends.begins_to_cross | ends.one_sided),
        arrived=pa.array(ends.at_target if coverage.both_views else ends.is_departure),
    )


def _placed_packets(packets: pa.Table, coverage: Coverage) -> pa.Table:
    ends = _Ends(packets, coverage)
    at_start = ends.begins_to_cross
    names = pa.array([ends.device.node or None, ends.device.peer], pa.string())
    return _with_columns(
        ends.placed(),
        counted=pa.array(at_start | ends.one_sided),
        departure=pa.array(ends.is_departure),
        a=names.take(pa.array(np.where(at_start, 0, 1))),
        b=names.take(pa.array(np.where(at_start, 1, 0))),
        directed=pa.array(ends.departs | ends.arrives),
    )


def share_headers(messages: pa.Table, packets: pa.Table) -> pa.Table:
    """The messages of one capture, with their share in the headers of its packets.

    The headers of a packet that carries messages go to those that it completes, in proportion to
    their length and in whole bytes; those of a packet that completes none go to the messages that
    are completed next on that connection in that direction. Packets behind the last whole message
    are not shared out.
    """
    carrying = packets.filter(pc.is_in(packets["role"], pa.array(["data", "datagram"])))
    done, sent, span = _moments(messages, carrying)
    completions, group = np.unique(done, return_inverse=True)
    length = messages["length"].to_numpy().astype(np.int64)
    whole, upper = _running_totals(group, length)
    leads_to = np.searchsorted(completions, sent)
    in_time = np.append(completions // span, _NOBODY)[leads_to] == sent // span
    shares = {}
    for name in ("link_header", "ip_header", "transport_header"):
        sizes = carrying[name].to_numpy()[in_time]
        led = np.bincount(leads_to[in_time], sizes, len(completions)).astype(np.int64)[group]
        shares[name] = led * upper // whole - led * (upper - length) // whole
    return _with_columns(
        messages, **{name: pa.array(share, pa.int32()) for name, share in shares.items()}
    )


def _moments(messages: pa.Table, packets: pa.Table) -> tuple[_Int64, _Int64, int]:
    """When messages were whole and packets seen: numbers that grow with time within a stream.

    Two of them are of the same stream if the third number divides them equally often.
    """
    times = np.unique(np.concatenate([rows["time"].to_numpy() for rows in (messages, packets)]))
    span = len(times) + 1

    def moment(rows: pa.Table) -> _Int64:
        side = pc.greater(rows["source_address"], rows["target_address"])
        stream = 2 * rows["connection"].to_numpy().astype(np.int64) + side.to_numpy()
        found: _Int64 = stream * span + np.searchsorted(times, rows["time"].to_numpy())
        return found

    return moment(messages), moment(packets), span


def _running_totals(group: _Int64, length: _Int64) -> tuple[_Int64, _Int64]:
    """For each row the sum of its group, and the sum of its group up to this row."""
    whole = np.bincount(group, length).astype(np.int64)
    order = np.argsort(group, kind="stable")
    upto = np.empty_like(length)
    upto[order] = np.cumsum(length[order]) - (np.cumsum(whole) - whole)[group[order]]
    return whole[group], upto


class _Ends:
    """Sources and targets of the rows of one capture, and how they lie to its device."""

    def __init__(self, rows: pa.Table, coverage: Coverage) -> None:
        capture = rows["capture"][0].as_py() if len(rows) else ""
        self._rows = rows
        self.device = device_of(capture) or _NO_NODE
        self._source, self._target = (
            _mapped(rows[f"{end}_address"], _broker_in(capture, coverage.brokers), pa.int32())
            for end in ("source", "target")
        )
        source, target = (
            pc.fill_null(brokers, _NOBODY).to_numpy(zero_copy_only=False)
            for brokers in (self._source, self._target)
        )
        node, peer = _number(self.device.node), _number(self.device.peer)
        self.at_source: _Bool = (source == node) & (node >= 0)
        self.at_target: _Bool = (target == node) & (node >= 0) & ~self.at_source
        self.from_peer: _Bool = (source == peer) & (peer >= 0)
        self.to_peer: _Bool = (target == peer) & (peer >= 0)
        self.is_departure = self.at_source | (self.from_peer & (not coverage.both_views))
        self.departs: _Bool = self.at_source | self.from_peer
        self.arrives: _Bool = self.at_target | self.to_peer
        self.one_sided = self.device.peer is not None and not coverage.paired

    @property
    def begins_to_cross(self) -> _Bool:
        """The capturing end is where the line was entered; the lower one if nobody can tell."""
        passing = np.where(self.arrives, ~self.at_target, self.is_lower)
        return np.where(self.departs, self.at_source, passing)

    @property
    def is_lower(self) -> bool:
        """The capturing end is the lower one: brokers before routers, then by number."""
        node, peer = self.device
        return peer is None or (node[:1], int(node[1:])) < (peer[:1], int(peer[1:]))

    def placed(self) -> pa.Table:
        rows = self._rows
        ports = [rows[f"{end}_port"] for end in ("source", "target")]
        overlay, direct = (
            pc.or_(*(pc.fill_null(pc.equal(port, number), False) for port in ports))
            for number in (OVERLAY_PORT, DIRECT_PORT)
        )
        nothing = pa.scalar(None, pa.string())
        channel = pc.if_else(overlay, "link", pc.if_else(direct, rows["protocol"], nothing))
        return _with_columns(rows, source=self._source, target=self._target, channel=channel)


def _broker_in(capture: str, brokers: int) -> Callable[[str], int | None]:
    def find(address: str) -> int | None:
        broker = broker_of(address, capture)
        return broker if broker is not None and broker < brokers else None

    return find


def _number(node: str | None) -> int:
    return int(node[1:]) if node and node[0] == "b" else _NOBODY


def _keys(rows: pa.Table) -> _Int64:
    """Origin and sequence number in one number."""
    origin, sequence = (rows[name].to_numpy().astype(np.int64) for name in ("origin", "sequence"))
    keys: _Int64 = (origin << 32) | sequence
    return keys


def _mapped(column: pa.ChunkedArray, find: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    """A function of a column's values, called once for each different one."""
    encoded = column.combine_chunks().dictionary_encode()
    found = [find(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(found, kind).take(encoded.indices)


def _with_columns(table: pa.Table, **columns: Any) -> pa.Table:
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table
