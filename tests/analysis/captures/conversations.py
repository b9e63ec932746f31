"""Conversations as a capture may see them, and a slow reading of them to compare with.

The reading looks at every byte by itself and is told what the tests made up (where streams begin,
which bytes are a frame), so that it shares no step with what it checks.
"""

import random
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from pysim.wire import Envelope
from pysim.wire.messages import AddressedEvent
from tests.analysis.captures.pcaps import PPP, Record, ipv4, pcap, ppp, tcp, udp

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
WORD = 1 << 32
TICK = 1000

PPP_HEADER, IP_HEADER, TCP_HEADER, UDP_HEADER = 2, 20, 20, 8


@dataclass(frozen=True)
class End:
    """An address and a port."""

    address: str
    port: int


@dataclass(frozen=True)
class Frame:
    """A frame, and the length of its destination list if it has one."""

    data: bytes
    destinations: int | None = None

    @property
    def summary(self) -> tuple[int, int, int, int, int, int | None]:
        """Type, origin, sequence, length, checksum, destinations."""
        length, _, code, _, origin, sequence = struct.unpack_from(">IBBHII", self.data)
        return code, origin, sequence, length, zlib.crc32(self.data), self.destinations


@dataclass
class Stream:
    """One direction of a connection, from the byte after SYN on."""

    source: End
    target: End
    initial: int
    frames: Sequence[Frame]

    @property
    def data(self) -> bytes:
        return b"".join(frame.data for frame in self.frames)

    def segment(self, start: int, end: int, flags: int = ACK) -> "Packet":
        """The bytes `start` to `end` of the stream."""
        return self.packet(self.data[start:end], start, flags)

    def packet(
        self, payload: bytes = b"", start: int = 0, flags: int = ACK, ack: int = 0
    ) -> "Packet":
        sequence = (self.initial + (not flags & SYN) + start) % WORD
        return Packet(self.source, self.target, payload, sequence, ack, flags, self, start)


@dataclass
class Packet:
    """A TCP packet, or UDP if it has no flags; `stream` and `start` say what it carries."""

    source: End
    target: End
    payload: bytes = b""
    sequence: int = 0
    acknowledgment: int = 0
    flags: int = 0
    stream: Stream | None = None
    start: int = 0
    role: str = "data"
    """What it is for, if it has no payload."""

    @property
    def bytes(self) -> bytes:
        """The packet on a PPP link."""
        ports = self.source.port, self.target.port
        if not self.flags:
            return ip_packet(self.source, self.target, 17, udp(self.payload, ports=ports))
        content = tcp(
            self.payload,
            ports=ports,
            sequence=self.sequence,
            acknowledgment=self.acknowledgment,
            flags=self.flags,
        )
        return ip_packet(self.source, self.target, 6, content)


def ip_packet(
    source: End, target: End, protocol: int, content: bytes, number: int = 0, place: int = 0
) -> bytes:
    """A packet on a PPP link; `number` and `place` are IP's identification and fragment field."""
    packet = ipv4(content, source.address, target.address, protocol)
    return ppp(packet[:4] + struct.pack(">HH", number, place) + packet[8:])


def write_capture(
    path: Path, packets: Iterable[bytes], link_type: int = PPP, kept: int = 65535
) -> Path:
    """A capture that kept the beginning of packets; the n-th came at n * TICK nanoseconds."""
    records = [
        Record(number * TICK, packet, len(packet)) for number, packet in enumerate(packets, start=1)
    ]
    path.write_bytes(pcap(records, link_type, snaplen=kept))
    return path


# What a capture of pysim may hold -----------------------------------------------------------------


def random_frame(rng: random.Random) -> Frame:
    """A frame with any body, most of them short."""
    if rng.random() < 0.2:
        size = rng.choice([0, 1, 15, 16, 70, 300])
        sealed = Envelope.seal(
            AddressedEvent(tuple(range(size)), {}), rng.randrange(100), rng.randrange(WORD)
        )
        return Frame(sealed.frame, size)
    body = rng.randbytes(rng.choice([0, 1, 10, 30, 184, rng.randrange(700)]))
    code = rng.choice([1, 2, 3, 4, 5, 32, 64, 133])
    header = struct.pack(
        ">IBBHII", 16 + len(body), 1, code, 0, rng.randrange(WORD), rng.randrange(WORD)
    )
    return Frame(header + body)


def random_stream(rng: random.Random, source: End, target: End) -> Stream:
    initial = rng.choice([0, rng.randrange(WORD), WORD - 1, WORD - 1 - rng.randrange(3000)])
    return Stream(source, target, initial, [random_frame(rng) for _ in range(rng.randrange(12))])


def random_segments(rng: random.Random, stream: Stream) -> list[Packet]:
    """A stream as it may come by: cut, repeated, overlapping, out of order, with holes at times."""
    size = len(stream.data)
    largest = rng.choice([1, 7, 100, 536, 1448]) if size < 2000 else 1448
    cuts = sorted({0, size, *(rng.randrange(size + 1) for _ in range(size // largest))})
    spans = list(pairwise(cuts))
    for _ in range(rng.choice([0, 0, 1, len(spans) // 3])):
        start = rng.randrange(size) if size else 0
        spans.insert(
            rng.randrange(len(spans) + 1), (start, min(size, start + 1 + rng.randrange(900)))
        )
    if rng.random() < 0.2 and spans:
        del spans[rng.randrange(len(spans))]
    reach = rng.choice([0, 0, 3, len(spans)])
    places = [index + rng.uniform(0, reach) for index in range(len(spans))]
    order = sorted(range(len(spans)), key=places.__getitem__)
    return [stream.segment(*spans[index]) for index in order if spans[index][0] < spans[index][1]]


def random_connection(rng: random.Random, client: End, server: End) -> list[Packet]:
    """From SYN to FIN, RST or nothing, both ways."""
    there, back = random_stream(rng, client, server), random_stream(rng, server, client)
    packets = [_plain(there, SYN, "handshake")] * rng.choice([1, 1, 2])
    packets += [_plain(back, SYN | ACK, "handshake")] * rng.choice([1, 1, 2])
    packets += [_plain(there, ACK, "handshake")]
    queues = [random_segments(rng, there), random_segments(rng, back)]
    while any(queues):
        queue = rng.choice([each for each in queues if each])
        packets.append(queue.pop(0))
        if rng.random() < 0.3:
            packets.append(_plain(rng.choice([there, back]), ACK, "ack"))
    return packets + random_end(rng, there, back)


def random_end(rng: random.Random, there: Stream, back: Stream) -> list[Packet]:
    end = rng.choice(["cut", "reset", "close"])
    if end == "cut":
        return []
    if end == "reset":
        return [_plain(rng.choice([there, back]), RST | ACK, "reset")]
    packets = []
    for stream, other in rng.sample([(there, back), (back, there)], 2):
        size = len(stream.data)
        packets.append(_plain(stream, FIN | ACK, "teardown", start=size))
        acknowledged = (stream.initial + 1 + size + 1) % WORD
        packets.append(_plain(other, ACK, "teardown", len(other.data), acknowledged))
    return packets


def _plain(stream: Stream, flags: int, role: str, start: int = 0, ack: int = 0) -> Packet:
    packet = stream.packet(b"", start, flags, ack)
    packet.role = role
    return packet


def interleaved(rng: random.Random, lists: Sequence[Sequence[Packet]]) -> list[Packet]:
    """One order of them all in which each list keeps its own."""
    turns = [index for index, packets in enumerate(lists) for _ in packets]
    rng.shuffle(turns)
    sources = [iter(packets) for packets in lists]
    return [next(sources[turn]) for turn in turns]


# The slow reading ---------------------------------------------------------------------------------


@dataclass
class Reading:
    """What must come out: the role and the shares of every packet, messages with their times."""

    roles: list[str] = field(default_factory=list)
    shares: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Frame header, body, repeated, unattributed."""
    messages: list[tuple[object, ...]] = field(default_factory=list)
    """Source, target, `Frame.summary`, first time, time, segments; ordered by time."""


@dataclass
class _Progress:
    seen: dict[int, int] = field(default_factory=dict)
    readable: int = 0
    opened: dict[int, int] = field(default_factory=dict)
    top: int = 0
    last_start: int = 0


def slow_reading(packets: Sequence[Packet]) -> Reading:
    """Go through the packets byte by byte; streams must begin in the capture."""
    reading = Reading()
    progress: dict[int, _Progress] = {}
    fresh: list[list[int]] = []
    for number, packet in enumerate(packets):
        if packet.stream is None or not packet.payload:
            reading.roles.append(packet.role)
            fresh.append([])
            continue
        state = progress.setdefault(id(packet.stream), _Progress())
        places = range(packet.start, packet.start + len(packet.payload))
        new = [place for place in places if place not in state.seen]
        state.seen.update(dict.fromkeys(new, number))
        while state.readable in state.seen:
            state.opened[state.readable] = number
            state.readable += 1
        probe = len(places) == 1 and places.stop == state.top and state.last_start != places.start
        reading.roles.append("data" if new else "ack" if probe else "retransmission")
        if places.stop > state.top:
            state.top, state.last_start = places.stop, places.start
        fresh.append(new)
    for packet, new in zip(packets, fresh, strict=True):
        reading.shares.append(_shares(packet, new, progress))
    for stream in {id(p.stream): p.stream for p in packets if p.stream}.values():
        if id(stream) in progress:
            reading.messages += _messages(stream, progress[id(stream)])
    reading.messages.sort(key=lambda message: message[-2])  # type: ignore[arg-type, return-value]
    return reading


def _shares(
    packet: Packet, new: list[int], progress: dict[int, _Progress]
) -> tuple[int, int, int, int]:
    if packet.stream is None or not packet.payload:
        return 0, 0, 0, len(packet.payload)
    headers: set[int] = set()
    at = 0
    for frame in packet.stream.frames:
        headers.update(range(at, at + 16))
        at += len(frame.data)
    readable = [place for place in new if place < progress[id(packet.stream)].readable]
    header = sum(place in headers for place in readable)
    repeated = len(packet.payload) - len(new)
    return header, len(readable) - header, repeated, len(new) - len(readable)


def _messages(stream: Stream, state: _Progress) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    at = 0
    for frame in stream.frames:
        places = range(at, at + len(frame.data))
        at = places.stop
        if at <= state.readable:
            times = (1 + state.seen[places.start]) * TICK, (1 + state.opened[at - 1]) * TICK
            segments = len({state.seen[place] for place in places})
            found.append((stream.source, stream.target, frame.summary, *times, segments))
    return found
