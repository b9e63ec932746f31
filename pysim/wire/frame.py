"""Frames: a fixed 16-byte header that C++ and Spark can read, and a MessagePack body.

     0        4     5     6      8         12        16
     +--------+-----+-----+------+---------+---------+------------...
     | length | ver | typ | flags| origin  | sequence| body
     +--------+-----+-----+------+---------+---------+------------...
       u32      u8    u8    u16    u32       u32       MessagePack      (big-endian)

`length` counts the whole frame. `origin` and `sequence` together name a message for the length of
a run: a broker that passes a message on keeps them, a broker that makes a new one draws the next.
"""

import struct
from typing import NamedTuple

VERSION = 1
HEADER_SIZE = 16
MAX_FRAME_SIZE = 1 << 20

_HEADER = struct.Struct(">IBBHII")
pack_header = _HEADER.pack


class WireError(ValueError):
    """A frame that is not of the documented form; the text says what is wrong and where."""


class MessageId(NamedTuple):
    """Names a message: the broker that made it and its running number there."""

    origin: int
    sequence: int

    def __str__(self) -> str:
        return f"{self.origin}:{self.sequence}"


class Header(NamedTuple):
    """The fixed header, decoded."""

    length: int
    version: int
    type: int
    flags: int
    origin: int
    sequence: int


def read_header(frame: bytes, offset: int = 0) -> Header:
    """Decode and check the header of the frame that starts at `offset`."""
    if len(frame) - offset < HEADER_SIZE:
        raise WireError(
            f"a frame needs {HEADER_SIZE} bytes of header, {len(frame) - offset} are there"
        )
    header = Header._make(_HEADER.unpack_from(frame, offset))
    if header.version != VERSION:
        raise WireError(f"wire version {header.version} is not version {VERSION}")
    if not HEADER_SIZE <= header.length <= MAX_FRAME_SIZE:
        raise WireError(
            f"frame length {header.length} is outside {HEADER_SIZE}..{MAX_FRAME_SIZE} bytes"
        )
    return header
