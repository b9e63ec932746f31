"""Writes small captures for tests, with nothing but `struct`."""

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ETHERNET, PPP, RAW = 1, 9, 101


class Record(NamedTuple):
    """A packet as a capture holds it."""

    time: int
    """Nanoseconds since 1970."""
    frame: bytes
    length: int | None = None
    """Bytes on the wire, if the frame is not all of them."""


def file_header(
    link_type: int = PPP,
    *,
    big_endian: bool = False,
    nanoseconds: bool = True,
    snaplen: int = 65535,
    version: tuple[int, int] = (2, 4),
) -> bytes:
    order = ">" if big_endian else "<"
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    return struct.pack(order + "IHHiIII", magic, *version, 0, 0, snaplen, link_type)


def record(
    content: Record, *, big_endian: bool = False, nanoseconds: bool = True, snaplen: int = 65535
) -> bytes:
    seconds, rest = divmod(content.time, 1_000_000_000)
    length = len(content.frame) if content.length is None else content.length
    kept = content.frame[:snaplen]
    fraction = rest if nanoseconds else rest // 1000
    order = ">" if big_endian else "<"
    return struct.pack(order + "IIII", seconds, fraction, len(kept), length) + kept


def pcap(
    records: Iterable[Record],
    link_type: int = PPP,
    *,
    big_endian: bool = False,
    nanoseconds: bool = True,
    snaplen: int = 65535,
) -> bytes:
    """A whole capture; packets are cut to `snaplen` bytes."""
    start = file_header(link_type, big_endian=big_endian, nanoseconds=nanoseconds, snaplen=snaplen)
    return start + b"".join(
        record(content, big_endian=big_endian, nanoseconds=nanoseconds, snaplen=snaplen)
        for content in records
    )


def write_pcap(
    path: Path, records: Iterable[Record], link_type: int = PPP, **options: bool
) -> Path:
    path.write_bytes(pcap(records, link_type, **options))
    return path


def ipv4(
    content: bytes, source: str = "10.0.0.1", target: str = "10.0.0.2", protocol: int = 6
) -> bytes:
    """An IPv4 packet without options; its checksum is left 0."""
    addresses = b"".join(bytes(map(int, text.split("."))) for text in (source, target))
    size = 20 + len(content)
    return struct.pack(">BBHHHBBH", 0x45, 0, size, 0, 0, 64, protocol, 0) + addresses + content


def tcp(
    payload: bytes,
    *,
    ports: tuple[int, int] = (49153, 7471),
    sequence: int = 0,
    acknowledgment: int = 0,
    flags: int = 0x18,
    window: int = 65535,
    options: bytes = b"",
) -> bytes:
    size = 20 + len(options)
    head = (*ports, sequence, acknowledgment, size << 10 | flags, window, 0, 0)
    return struct.pack(">HHIIHHHH", *head) + options + payload


def udp(payload: bytes, *, ports: tuple[int, int] = (7472, 7472)) -> bytes:
    return struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload


def ppp(packet: bytes) -> bytes:
    """As ns-3's point-to-point devices frame an IP packet."""
    return struct.pack(">H", 0x0021 if packet[0] >> 4 == 4 else 0x0057) + packet
