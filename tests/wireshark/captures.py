"""Captures for tests: frames in TCP segments, cut wherever one likes, or in UDP datagrams."""

import random
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import dpkt

NANOSECONDS, PPP, IPV4 = 0xA1B23C4D, 9, b"\x00\x21"
CLIENT, SERVER = bytes((10, 128, 0, 1)), bytes((10, 128, 0, 2))
OVERLAY, DIRECT = 7471, 7472


def tcp(payloads: Iterable[bytes], port: int = OVERLAY) -> list[bytes]:
    """One direction of a connection, a packet for each payload."""
    packets, sequence = [], 1
    for payload in payloads:
        segment = dpkt.tcp.TCP(
            sport=49152, dport=port, seq=sequence, flags=dpkt.tcp.TH_ACK, data=payload
        )
        packets.append(_packet(dpkt.ip.IP_PROTO_TCP, segment))
        sequence += len(payload)
    return packets


def udp(payloads: Iterable[bytes]) -> list[bytes]:
    """A packet for each datagram."""
    return [
        _packet(
            dpkt.ip.IP_PROTO_UDP,
            dpkt.udp.UDP(sport=49153, dport=DIRECT, ulen=8 + len(payload), data=payload),
        )
        for payload in payloads
    ]


def pieces(stream: bytes, rng: random.Random) -> Iterator[bytes]:
    """A stream in segments: from single bytes to the largest that a link takes."""
    at = 0
    while at < len(stream):
        length = rng.choice((1, rng.randrange(2, 60), rng.randrange(60, 1448), 1448))
        yield stream[at : at + length]
        at += length


def write(path: Path, packets: Iterable[bytes], snaplen: int = 65535 + 2) -> Path:
    """A capture of these packets, a millisecond apart, each cut to `snaplen` bytes."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", NANOSECONDS, 2, 4, 0, 0, snaplen, PPP))
        for number, packet in enumerate(packets):
            seconds, milliseconds = divmod(number, 1000)
            captured = packet[:snaplen]
            file.write(
                struct.pack("<IIII", seconds, milliseconds * 1_000_000, len(captured), len(packet))
            )
            file.write(captured)
    return path


def _packet(protocol: int, segment: object) -> bytes:
    return IPV4 + bytes(dpkt.ip.IP(src=CLIENT, dst=SERVER, p=protocol, data=segment))
