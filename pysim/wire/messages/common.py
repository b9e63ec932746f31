"""Message types that several families share (codes 1..31)."""

from pysim.filters import Filter
from pysim.wire.message import Message, message_type

Attributes = dict[str, int | float | str]


@message_type(1)
class Advertise(Message, frozen=True):
    """A publisher announces the events it may publish; the header's identity is the id."""

    filter: Filter


@message_type(2)
class Unadvertise(Message, frozen=True):
    """The sender's side no longer publishes events of this advertisement."""

    filter: Filter


@message_type(3)
class Subscribe(Message, frozen=True):
    """Matching events are wanted on the sender's side; the header's identity is the id."""

    filter: Filter


@message_type(4)
class Unsubscribe(Message, frozen=True):
    """The sender's side wants no more events of this subscription."""

    filter: Filter


@message_type(5)
class Event(Message, frozen=True):
    """A published event: what subscriptions match on, and a payload that they do not see."""

    attributes: Attributes
    payload: bytes = b""


@message_type(6)
class Batch(Message, frozen=True):
    """Several whole frames in one, in the order in which they were published."""

    frames: tuple[bytes, ...]
