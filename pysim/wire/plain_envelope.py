"""Envelopes in plain Python, for trees without a compiler, and to hold the native ones against."""

import struct
from typing import Any

import msgspec

from pysim.wire import refusals
from pysim.wire.frame import (
    HEADER_SIZE,
    MAX_FRAME_SIZE,
    VERSION,
    MessageId,
    pack_header,
    read_header,
)
from pysim.wire.message import DECODERS, Message, encode_body


class Envelope(msgspec.Struct, eq=False, gc=False):
    """A message with its identity and its bytes; the body is decoded when first asked for.

    `open` makes one of a received frame, `seal` of a new message. Passing an envelope on sends the
    bytes as they are, so an agent that only relays never pays for decoding.
    """

    frame: bytes
    type: int
    origin: int
    sequence: int
    _body: Message | None = None

    @staticmethod
    def open(frame: bytes) -> "Envelope":
        """Open a received frame; raises WireError unless it is exactly one whole frame."""
        header = read_header(frame)
        if header.length != len(frame):
            refusals.refuse_frame(frame)
        return Envelope(frame, header.type, header.origin, header.sequence)

    @staticmethod
    def seal(message: Message, origin: int, sequence: int, flags: int = 0) -> "Envelope":
        """Encode `message` into a new frame."""
        body = encode_body(message)
        length = HEADER_SIZE + len(body)
        if length > MAX_FRAME_SIZE:
            refusals.refuse_length(message, length)
        code = message.CODE
        try:
            header = pack_header(length, VERSION, code, flags, origin, sequence)
        except struct.error:
            raise ValueError(
                f"origin(={origin}), sequence(={sequence}) and flags(={flags}) "
                "should fit the header"
            ) from None
        return Envelope(header + body, code, origin, sequence, message)

    @property
    def id(self) -> MessageId:
        return MessageId(self.origin, self.sequence)

    @property
    def message(self) -> Message:
        """The decoded body; raises WireError if it is not a well-formed body of its type."""
        if self._body is None:
            decode = DECODERS.get(self.type)
            if decode is None:
                refusals.refuse_type(self)
            try:
                self._body = decode(self.frame[HEADER_SIZE:])
            except Exception as error:
                refusals.refuse_body(self, error)
        assert self._body is not None
        return self._body

    def with_body(self, message: Message) -> "Envelope":
        """The same message (same identity) with another body, as rewritten in transit."""
        return Envelope.seal(message, self.origin, self.sequence)

    def __repr__(self) -> str:
        return refusals.describe(self)


def receive_by_type(agent: Any, sender: int, envelope: Envelope) -> None:
    """Call the handler that `agent._handlers` has for the message's type, else `_unhandled`."""
    handler = agent._handlers.get(envelope.type)
    if handler is None:
        agent._unhandled(envelope)
    else:
        handler(agent, sender, envelope)
