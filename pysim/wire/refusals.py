"""The words for frames and messages that are refused, the same for every kind of envelope."""

from typing import TYPE_CHECKING, NoReturn

import msgspec

from pysim.wire.frame import MAX_FRAME_SIZE, WireError, read_header
from pysim.wire.message import Message, type_name

if TYPE_CHECKING:
    from pysim.wire.envelope import Envelope


def refuse_frame(frame: bytes) -> NoReturn:
    """What came is not exactly one whole frame."""
    header = read_header(frame)  # names what is wrong with the header, if anything is
    raise WireError(f"a frame of {header.length} bytes came as {len(frame)} bytes")


def refuse_length(message: Message, length: int) -> NoReturn:
    """The frame of a message would be too long."""
    raise WireError(
        f"the {message.NAME} would be {length} bytes long, the limit is {MAX_FRAME_SIZE}"
    )


def refuse_type(envelope: "Envelope") -> NoReturn:
    """Nobody registered the type."""
    raise WireError(f"message type {envelope.type} is not known to this version")


def refuse_body(envelope: "Envelope", error: Exception) -> NoReturn:
    """The body could not be decoded; an error that is not the body's fault stays what it is."""
    if not isinstance(error, msgspec.DecodeError | UnicodeDecodeError | RecursionError):
        raise error
    name = type_name(envelope.type)
    raise WireError(f"malformed {name} from {envelope.id}: {error}") from None


def describe(envelope: "Envelope") -> str:
    """For error messages: what it is, whose it is, how long it is."""
    name = type_name(envelope.type)
    return f"<{name} {envelope.origin}:{envelope.sequence}, {len(envelope.frame)} bytes>"
