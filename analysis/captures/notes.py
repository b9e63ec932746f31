"""Puts into sentences what a reader of a capture's tables should know; it changes no table."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.addresses import DIRECT_PORT, OVERLAY_PORT
from analysis.captures.attribution import Traffic, wire_length
from analysis.captures.decode import Packets
from analysis.captures.ends import Ends, protocol_name
from analysis.captures.streams import GAP, MALFORMED, MIDSTREAM, UNFINISHED, Cut, Finding
from pysim.wire import HEADER_SIZE, MAX_FRAME_SIZE, VERSION, message_types

_Bool = npt.NDArray[np.bool_]
_Int64 = npt.NDArray[np.int64]


class Note(NamedTuple):
    """Something in a capture that a reader of its tables should know, in one sentence."""

    capture: str
    time: int
    """When it shows, in nanoseconds."""
    kind: str
    text: str


class NoteTaker:
    """Takes the notes on one capture."""

    def __init__(
        self, capture: str, packets: Packets, traffic: Traffic, pieces: Cut, ends: Ends
    ) -> None:
        self._capture = capture
        self._packets = packets
        self._traffic = traffic
        self._pieces = pieces
        self._ends = ends

    def notes(self, truncated: bool, joined: int) -> list[Note]:
        """All notes, in the order of time; `joined` fragments were put together to datagrams."""
        notes = [
            *self._truncated(truncated),
            *self._foreign(),
            *self._snapped(),
            *self._fragments(joined),
            *self._late(),
            *self._findings(),
            *self._newer(),
        ]
        return sorted(notes, key=lambda note: note[1:])

    def _note(self, packet: int, kind: str, text: str) -> Note:
        return Note(self._capture, int(self._packets.time[packet]), kind, text)

    def _truncated(self, truncated: bool) -> Iterator[Note]:
        if truncated:
            count = len(self._packets.time)
            time = int(self._packets.time[-1]) if count else 0
            text = f"the file ends within packet {count + 1}: that one and all later are missing"
            yield Note(self._capture, time, "truncated", text)

    def _foreign(self) -> Iterator[Note]:
        """Traffic of others, and a capture that holds nothing else; fragments have their own."""
        count = len(self._packets.time)
        foreign = np.flatnonzero((self._traffic.connection < 0) & ~self._packets.fragment)
        if 0 < len(foreign) < count:
            size = int(wire_length(self._packets)[foreign].sum())
            text = f"{len(foreign)} of {count} packets ({size} bytes) are not pysim's: "
            yield self._note(foreign[0], "foreign", text + self._kinds(foreign))
        elif count and len(foreign) == count:
            text = (
                f"none of its {count} packets is pysim's, which uses the ports {OVERLAY_PORT} and "
                f"{DIRECT_PORT}; this is a capture of another program: {self._kinds(foreign)}"
            )
            yield self._note(0, "foreign", text)
        malformed = [found for found in self._pieces.findings if found.kind == MALFORMED]
        if malformed and not len(self._pieces.frames.stream):
            text = (
                f"what it holds on the ports {OVERLAY_PORT} and {DIRECT_PORT} is not in pysim's "
                "wire format; this is a capture of another program"
            )
            yield self._note(malformed[0].packet, "foreign", text)

    def _kinds(self, chosen: _Int64) -> str:
        protocols = self._packets.protocol[chosen].tolist()
        ports = np.minimum(self._packets.source_port, self._packets.target_port)[chosen].tolist()
        counts = Counter(_protocol(*each) for each in zip(protocols, ports, strict=True))
        common = [f"{kind} ({packets})" for kind, packets in counts.most_common(3)]
        return ", ".join(common) + (" and more" if len(counts) > len(common) else "")

    def _snapped(self) -> Iterator[Note]:
        short = np.flatnonzero(
            (self._packets.payload_captured < self._packets.payload)
            & (self._traffic.connection >= 0)
        )
        if len(short):
            text = f"of {len(short)} packets only the beginning was captured: messages are missing"
            yield self._note(short[0], "snapped", text)

    def _fragments(self, joined: int) -> Iterator[Note]:
        fragments = np.flatnonzero(self._packets.fragment)
        if len(fragments):
            lost = len(fragments) - joined
            text = f"{len(fragments)} IP fragments: {joined} were put together to datagrams, "
            yield self._note(fragments[0], "fragments", text + f"{lost} could not be")

    def _late(self) -> Iterator[Note]:
        late = np.flatnonzero(self._traffic.late & (self._packets.payload > 0))
        streams = 2 * self._traffic.connection[late].astype(np.int64) + self._traffic.side[late]
        for stream in np.unique(streams).tolist():
            those = late[streams == stream]
            size = int(self._packets.payload[those].sum())
            text = f"{self._way(stream)}: {size} bytes came after the connection was reset"
            yield self._note(those[0], "after-reset", text)

    def _findings(self) -> Iterator[Note]:
        found = sorted(self._pieces.findings, key=lambda finding: finding[:2])
        for (kind, stream), group in groupby(found, key=lambda finding: finding[:2]):
            first, *rest = group
            kind_name, explain = _FINDINGS[kind]
            text = explain(first)
            if rest:  # only of datagrams there are several
                text += f"; so it is with {len(rest)} more of its datagrams"
            yield self._note(first.packet, kind_name, f"{self._way(stream)}: {text}")

    def _newer(self) -> Iterator[Note]:
        frames = self._pieces.frames
        newer = frames.version > VERSION
        unknown = ~newer & ~np.isin(frames.type, list(message_types()))
        yield from self._counted("newer-version", "are of version", frames.version, newer)
        yield from self._counted("unknown-type", "are of type", frames.type, unknown)

    def _counted(self, kind: str, verb: str, values: _Int64, chosen: _Bool) -> Iterator[Note]:
        for value in np.unique(values[chosen]).tolist():
            those = np.flatnonzero(chosen & (values == value))
            text = f"{len(those)} messages {verb} {value}, which this version does not know"
            yield self._note(self._pieces.frames.packet[those[0]], kind, text)

    def _way(self, stream: int) -> str:
        connection, side = divmod(stream, 2)
        way = self._ends.way(int(self._traffic.connection_flow[connection]), side)
        return f"connection {connection}, {way}"


def _protocol(protocol: int, port: int) -> str:
    if protocol < 0:
        return "no IP"
    name = protocol_name(protocol)
    return f"{name} port {port}" if port >= 0 else name


def _gap(finding: Finding) -> str:
    return (
        f"{finding.value} bytes are missing and never come; the {finding.size} bytes seen "
        "behind them are not read"
    )


def _unfinished(finding: Finding) -> str:
    whole = "" if finding.value < 0 else f" of {finding.value}"
    return f"the last message is unfinished: {finding.size}{whole} bytes of it are there"


def _malformed(finding: Finding) -> str:
    seen = min(finding.size, 8)
    if seen < 4:
        reason = f"it has {seen} bytes"
    else:
        length = finding.value >> 8 * (seen - 4)
        version = finding.value >> 8 * (seen - 5) & 0xFF if seen > 4 else VERSION
        is_old = HEADER_SIZE <= length <= MAX_FRAME_SIZE and version < VERSION
        reason = f"its version is {version}" if is_old else f"its length field says {length}"
    return (
        f"what begins in packet {finding.packet + 1} is no frame ({reason}); "
        f"{finding.size} bytes are not read"
    )


def _midstream(finding: Finding) -> str:
    return (
        f"the capture begins within the stream; {finding.size} bytes before the first "
        "recognizable message are not read"
    )


_FINDINGS = {
    GAP: ("gap", _gap),
    UNFINISHED: ("unfinished", _unfinished),
    MALFORMED: ("malformed", _malformed),
    MIDSTREAM: ("mid-stream", _midstream),
}
