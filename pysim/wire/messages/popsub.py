"""Messages of popularity-based routing and of gossip groups (codes 128..159).

A gossip group has one publisher, the origin of its id; its publications carry consecutive numbers.
With PopSub a group's id is that of its advertisement.
"""

from typing import Literal

from pysim.filters import Filter
from pysim.wire.frame import MessageId
from pysim.wire.message import Message, message_type
from pysim.wire.messages.common import Attributes

Numbers = tuple[tuple[int, int], ...]
"""Ranges of publication numbers, first and last of each, ascending and apart."""

Publications = tuple[tuple[int, bytes], ...]
"""Numbers, each with the whole frame of its publication."""


@message_type(128)
class HopSubscribe(Message, frozen=True):
    """A subscription with the hops from its broker to the receiver; the header's id is its id."""

    filter: Filter
    hops: int


@message_type(129)
class Switch(Message, frozen=True):
    """Publications of an advertisement come by `mode` from now on.

    To gossip: numbers from `number` on, and some members. To the tree: numbers up to it. It is for
    all brokers with a subscription to the advertisement, or for the broker of one `subscription`.
    """

    advertisement: MessageId
    epoch: int
    mode: Literal["gossip", "tree", "direct"]
    number: int = 0
    view: tuple[int, ...] = ()
    subscription: MessageId | None = None


@message_type(130)
class Join(Message, frozen=True):
    """Asks a group's publisher for membership, and for publications from `first` on."""

    group: MessageId
    first: int


@message_type(131)
class JoinReply(Message, frozen=True):
    """Answers a join: some members to begin with, and the numbers that there are to be had."""

    group: MessageId
    view: tuple[int, ...]
    first: int
    last: int


@message_type(132)
class Leave(Message, frozen=True):
    """Tells a group's publisher that the sender's membership ends."""

    group: MessageId


@message_type(133)
class Gossip(Message, frozen=True):
    """One lpbcast round to one member: new publications, a digest, and news of members."""

    group: MessageId
    publications: Publications
    digest: Numbers
    joined: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


@message_type(134)
class Retrieve(Message, frozen=True):
    """Asks for publications that are known to be there and that never came."""

    group: MessageId
    numbers: Numbers


@message_type(135)
class Retrieved(Message, frozen=True):
    """Answers a retrieval with what the cache still holds, and what it does not."""

    group: MessageId
    publications: Publications
    absent: Numbers = ()


@message_type(136)
class NumberRequest(Message, frozen=True):
    """Asks a publisher for its highest publication number after silent rounds."""

    group: MessageId


@message_type(137)
class NumberReply(Message, frozen=True):
    """A publisher's highest publication number."""

    group: MessageId
    number: int


@message_type(138)
class DirectEvent(Message, frozen=True):
    """A publication for the receiver's clients only, sent off the tree by its publisher's broker.

    Where order is kept, `epoch` tells which change to direct delivery it comes after, and
    `advertisement` of what.
    """

    attributes: Attributes
    payload: bytes = b""
    advertisement: MessageId | None = None
    epoch: int = 0


@message_type(139)
class DirectEnd(Message, frozen=True):
    """No publication of an advertisement's epoch comes directly after this."""

    advertisement: MessageId
    epoch: int


@message_type(140)
class FlaggedEvent(Message, frozen=True):
    """A publication with PopSub's printed flags: its successors come by `mode`, say members."""

    attributes: Attributes
    advertisement: MessageId
    mode: Literal["gossip", "tree"]
    view: tuple[int, ...] = ()
    payload: bytes = b""
