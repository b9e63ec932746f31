"""Opens classic pcap files and finds their records; what is inside a packet is not known here."""

import mmap
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from analysis.captures.compiling import BYTES, compiled, inlined

FILE_HEADER = 24
RECORD_HEADER = 16
MOST_CAPTURED = 262_144
"""More bytes than this no capturing program takes of a packet; such a record is damage."""
MOST_ON_WIRE = 0x7FFFFFFF

ETHERNET, PPP, RAW_IPV4, RAW_IPV6 = 1, 9, 228, 229
LINK_TYPES = {
    ETHERNET: "Ethernet",
    PPP: "PPP",
    12: "raw IP",
    14: "raw IP",
    101: "raw IP",
    RAW_IPV4: "raw IPv4",
    RAW_IPV6: "raw IPv6",
}
"""Link types that can be decoded, by their number in the file."""

_ORDERS: tuple[Literal["little", "big"], ...] = ("little", "big")
_MICROSECONDS, _NANOSECONDS = 0xA1B2C3D4, 0xA1B23C4D
_FOREIGN = {
    b"\x0a\x0d\x0d\x0a": "is a pcapng file; convert it with `editcap -F nsecpcap IN OUT`",
    b"\xa1\xb2\xcd\x34": "is a modified pcap file; convert it with `editcap -F nsecpcap IN OUT`",
    b"\x34\xcd\xb2\xa1": "is a modified pcap file; convert it with `editcap -F nsecpcap IN OUT`",
    b"\x1f\x8b": "is compressed with gzip; unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it first",
    b"\xfd7zXZ": "is compressed with xz; unpack it first",
}
_CHUNK = 1 << 20
_AHEAD = 16
_WHOLE, _CUT, _ABSURD, _FULL = range(4)


class CaptureError(ValueError):
    """A capture that cannot be read; the text names the file and what is wrong with it."""


@dataclass(frozen=True, eq=False)
class CaptureFile:
    """An open capture: what its header says, and its bytes."""

    path: Path
    data: npt.NDArray[np.uint8]
    """The whole file, memory-mapped and read-only."""
    big_endian: bool
    nanoseconds: bool
    """Time stamps count nanoseconds; else microseconds."""
    link_type: int
    snaplen: int


class Records(NamedTuple):
    """Where the records of a capture start, in order."""

    offsets: npt.NDArray[np.int64]
    truncated: bool
    """The file ends within a record; that one is left out."""
    end: int
    """Where the last whole record ends."""


def open_capture(path: str | PathLike[str]) -> CaptureFile:
    """Map a capture into memory and read its header."""
    path = Path(path)
    data = _map(path)
    start = data[:FILE_HEADER].tobytes()
    if not start:
        raise CaptureError(f"{path} is empty")
    for magic, problem in _FOREIGN.items():
        if start.startswith(magic):
            raise CaptureError(f"{path} {problem}")
    order = _byte_order(start)
    if order is None:
        raise CaptureError(f"{path} is not a pcap file: it starts with {start[:4].hex(' ')}")
    if len(start) < FILE_HEADER:
        raise CaptureError(f"{path} ends within its file header, after {len(start)} bytes")
    magic, major, minor, _, _, snaplen, network = np.frombuffer(
        start, np.dtype("u4,u2,u2,u4,u4,u4,u4").newbyteorder(order)
    )[0].item()
    if (major, minor) != (2, 4):
        raise CaptureError(f"{path} has pcap version {major}.{minor}; only 2.4 can be read")
    link_type = network & 0xFFFF  # the upper bits tell the length of a frame check sequence
    if link_type not in LINK_TYPES:
        known = ", ".join(f"{number} ({name})" for number, name in sorted(LINK_TYPES.items()))
        raise CaptureError(f"{path} has the unknown link type {link_type}; known are {known}")
    return CaptureFile(path, data, order == "big", magic == _NANOSECONDS, link_type, snaplen)


def scan(capture: CaptureFile, start: int = FILE_HEADER, stop: int | None = None) -> Records:
    """Find every record; a record that the end of the file cuts is left out, and that is said.

    A part of a file is scanned from `start` to `stop`, both of which lie between records.
    """
    data = capture.data[:stop]
    found, total, stopped, verdict = [], 0, start, _FULL
    while verdict == _FULL:
        offsets = np.empty(_CHUNK, np.int64)  # untouched pages of it cost nothing
        count, stopped, verdict = _scan(data, stopped, capture.big_endian, offsets)
        found.append(offsets[:count])
        total += count
    if verdict == _ABSURD:
        sizes = data[stopped + 8 : stopped + 16].view(">u4" if capture.big_endian else "<u4")
        raise CaptureError(
            f"{capture.path} is damaged: packet {total + 1}, at byte {stopped}, claims "
            f"{sizes[0]} captured bytes of {sizes[1]}"
        )
    return Records(np.concatenate(found), verdict == _CUT, stopped)


def _map(path: Path) -> npt.NDArray[np.uint8]:
    with path.open("rb") as file:
        if not path.stat().st_size:  # nothing can be mapped of an empty file
            return np.empty(0, np.uint8)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, np.uint8)


def _byte_order(start: bytes) -> Literal["little", "big"] | None:
    for order in _ORDERS:
        if int.from_bytes(start[:4], order) in (_MICROSECONDS, _NANOSECONDS):
            return order
    return None


@inlined
def _word(data: npt.NDArray[np.uint8], at: int, big_endian: bool) -> int:
    value = 0
    for index in range(4):
        value = value << 8 | int(data[at + (index if big_endian else 3 - index)])
    return value


@compiled(
    types.UniTuple(types.int64, 3)(  # type: ignore[no-untyped-call]
        BYTES, types.int64, types.boolean, types.int64[::1]
    )
)
def _scan(
    data: npt.NDArray[np.uint8], start: int, big_endian: bool, offsets: npt.NDArray[np.int64]
) -> tuple[int, int, int]:
    """How many records there are, where reading stopped, and why.

    Each record tells where the next one is, so the processor would wait for memory at every one of
    them. Most are as long as the one before: to look where a later one probably starts brings it
    near in time, and is no harm where it is wrong.
    """
    at, count, size = start, 0, len(data)
    seen = 0  # what was looked at must seem to matter, or the compiler leaves it out
    while at + RECORD_HEADER <= size:
        captured = _word(data, at + 8, big_endian)
        ahead = at + _AHEAD * (RECORD_HEADER + captured)
        if ahead < size:
            seen += int(data[ahead])
        if captured > MOST_CAPTURED or _word(data, at + 12, big_endian) > MOST_ON_WIRE:
            return count, at, _ABSURD
        end = at + RECORD_HEADER + captured
        if end > size:
            return count, at, _CUT
        if count == len(offsets):
            return count, at, _FULL
        offsets[count] = at
        count += 1
        at = end
    if seen < 0:
        return 0, at, _ABSURD
    return count, at, _WHOLE if at == size else _CUT
