"""Messages of popularity-based routing and of its gossip groups (codes 128..159)."""

from typing import Literal

from pysim.filters import Filter
from pysim.wire.frame import MessageId
from pysim.wire.message import Message, message_type

Digest = tuple[tuple[int, int], ...]
"""Ranges of publication numbers, first and last of each."""


@message_type(128)
class HopSubscribe(Message, frozen=True):
    """A subscription that counts the hops from the broker it was made at."""

    filter: Filter
    hops: int


@message_type(129)
class Switch(Message, frozen=True):
    """Publications of an advertisement move to gossip (from `number` on) or back (up to it)."""

    advertisement: MessageId
    epoch: int
    mode: Literal["gossip", "tree"]
    number: int
    view: tuple[int, ...] = ()


@message_type(130)
class Join(Message, frozen=True):
    """Asks for membership in an advertisement's gossip group."""

    advertisement: MessageId
    broker: int


@message_type(131)
class JoinReply(Message, frozen=True):
    """Answers a join: some members to begin with and the numbers gossiped so far."""

    advertisement: MessageId
    view: tuple[int, ...]
    first: int
    last: int


@message_type(132)
class Leave(Message, frozen=True):
    """Ends a membership."""

    advertisement: MessageId
    broker: int


@message_type(133)
class Gossip(Message, frozen=True):
    """One lpbcast round to one member: new publications, a digest, and news of members."""

    advertisement: MessageId
    publications: tuple[tuple[int, bytes], ...]
    digest: Digest
    joined: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


@message_type(134)
class Retrieve(Message, frozen=True):
    """Asks for publications that a digest named and that never came."""

    advertisement: MessageId
    numbers: Digest


@message_type(135)
class Retrieved(Message, frozen=True):
    """Answers a retrieval with what the cache still held."""

    advertisement: MessageId
    publications: tuple[tuple[int, bytes], ...]


@message_type(136)
class NumberRequest(Message, frozen=True):
    """Asks a publisher for its highest publication number after silent rounds."""

    advertisement: MessageId


@message_type(137)
class NumberReply(Message, frozen=True):
    """A publisher's highest publication number."""

    advertisement: MessageId
    number: int
