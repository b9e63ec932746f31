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

import msgspec

from pysim.wire.message import Message, decoder_of, encode_body, type_name

VERSION = 1
HEADER_SIZE = 16
MAX_FRAME_SIZE = 1 << 20

_HEADER = struct.Struct(">IBBHII")
_pack_header = _HEADER.pack
_unpack_header = _HEADER.unpack_from


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


class Envelope(msgspec.Struct, eq=False, gc=False):
    """A message with its identity and its bytes; the body is decoded when first asked for.

    `open` makes one of a received frame, `seal` of a new message. Passing an envelope on sends the
    bytes as they are, so an agent that only relays never pays for decoding.
    """

    frame: bytes
    type: int
    origin: int
    sequence: int
    body: Message | None = None
    """The decoded body, once it has been asked for as `message`."""

    @staticmethod
    def open(frame: bytes) -> "Envelope":
        """Open a received frame; raises WireError unless it is exactly one whole frame."""
        try:
            length, version, code, _, origin, sequence = _unpack_header(frame)
        except struct.error:
            length = version = code = origin = sequence = -1
        if length != len(frame) or version != VERSION or length > MAX_FRAME_SIZE:
            header = read_header(frame)  # names what is wrong with the header, if anything is
            raise WireError(f"a frame of {header.length} bytes came as {len(frame)} bytes")
        return Envelope(frame, code, origin, sequence)

    @staticmethod
    def seal(message: Message, origin: int, sequence: int, flags: int = 0) -> "Envelope":
        """Encode `message` into a new frame."""
        body = encode_body(message)
        length = HEADER_SIZE + len(body)
        if length > MAX_FRAME_SIZE:
            raise WireError(
                f"the {message.NAME} would be {length} bytes long, the limit is {MAX_FRAME_SIZE}"
            )
        code = message.CODE
        frame = _pack_header(length, VERSION, code, flags, origin, sequence) + body
        return Envelope(frame, code, origin, sequence, message)

    @property
    def id(self) -> MessageId:
        return MessageId(self.origin, self.sequence)

    @property
    def message(self) -> Message:
        """The decoded body; raises WireError if it is not a well-formed body of its type."""
        message = self.body
        if message is not None:
            return message
        decode = decoder_of(self.type)
        if decode is None:
            raise WireError(f"message type {self.type} is not known to this version")
        try:
            decoded: Message = decode(self.frame[HEADER_SIZE:])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            name = type_name(self.type)
            raise WireError(f"malformed {name} from {self.id}: {error}") from None
        self.body = decoded
        return decoded

    def with_body(self, message: Message) -> "Envelope":
        """The same message (same identity) with another body, as rewritten in transit."""
        return Envelope.seal(message, self.origin, self.sequence)

    def __repr__(self) -> str:
        return f"<{type_name(self.type)} {self.origin}:{self.sequence}, {len(self.frame)} bytes>"
