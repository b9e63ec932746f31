"""The bytes on the wire: frames, their header, and the message types of every protocol family.

This layer knows nothing of brokers, networks or time. The analysis imports it, and only it, from
pysim. `docs/wire-format.md` is its specification.
"""

from pysim.wire import messages as messages  # registers the built-in types
from pysim.wire.envelope import Envelope
from pysim.wire.frame import (
    HEADER_SIZE,
    MAX_FRAME_SIZE,
    VERSION,
    Header,
    MessageId,
    WireError,
    read_header,
)
from pysim.wire.message import Message, MessageType, message_type, message_types, type_name

__all__ = [
    "HEADER_SIZE",
    "MAX_FRAME_SIZE",
    "VERSION",
    "Envelope",
    "Header",
    "Message",
    "MessageId",
    "MessageType",
    "WireError",
    "message_type",
    "message_types",
    "messages",
    "read_header",
    "type_name",
]
