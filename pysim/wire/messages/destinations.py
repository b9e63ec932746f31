"""Messages of destination-based routing and its baselines (codes 96..127).

Destination lists are broker ids in the bytes, shrunk at every hop. What carries one also counts its
hops, the way to the receiver included: tables that disagree may send it in a circle.
"""

from pysim.filters import Filter
from pysim.wire.frame import MessageId
from pysim.wire.message import Message, message_type
from pysim.wire.messages.common import Attributes


@message_type(96)
class AddressedEvent(Message, frozen=True):
    """An event with the brokers it is still meant for."""

    destinations: tuple[int, ...]
    attributes: Attributes
    payload: bytes = b""
    hops: int = 0


@message_type(97)
class AddressedSubscribe(Message, frozen=True):
    """A subscription on its way to the brokers whose advertisements it intersects."""

    destinations: tuple[int, ...]
    sources: tuple[int, ...]
    filter: Filter
    hops: int = 0


@message_type(98)
class AddressedUnsubscribe(Message, frozen=True):
    """Withdraws a subscription at the brokers it was sent to."""

    destinations: tuple[int, ...]
    subscription: MessageId
    hops: int = 0


@message_type(99)
class Heartbeat(Message, frozen=True):
    """A link's sign of life."""

    incarnation: int
    number: int


@message_type(100)
class TopologyUpdate(Message, frozen=True):
    """A broker's neighbor set; the newer (incarnation, number) wins."""

    originator: int
    incarnation: int
    number: int
    neighbors: tuple[int, ...]


@message_type(101)
class OverlayPropose(Message, frozen=True):
    """Self-organization: a link to the receiver would gain this much."""

    gain: float


@message_type(102)
class OverlayAccept(Message, frozen=True):
    """Self-organization: agreed, at the cost of the link that loses least."""

    lose: float
    dropped: int | None


@message_type(103)
class OverlayCommit(Message, frozen=True):
    """Self-organization: the handshake holds, links change now."""

    dropped: int | None


@message_type(104)
class OverlayAbort(Message, frozen=True):
    """Self-organization: the handshake is off."""


@message_type(105)
class OverlayBusy(Message, frozen=True):
    """Self-organization: the receiver is in another handshake."""


@message_type(106)
class TreeAdvertise(Message, frozen=True):
    """Filter-based routing on general overlays: an advertisement that floods with its tree id."""

    tree: MessageId
    filter: Filter


@message_type(107)
class TreeSubscribe(Message, frozen=True):
    """Filter-based routing on general overlays: a subscription along one advertisement tree."""

    tree: MessageId
    filter: Filter


@message_type(108)
class TreeEvent(Message, frozen=True):
    """Filter-based routing on general overlays: an event along its advertisement's tree."""

    tree: MessageId
    attributes: Attributes
    payload: bytes = b""


@message_type(109)
class VectorEvent(Message, frozen=True):
    """DRP: an event with its destinations as a bit vector of fixed size."""

    vector: bytes
    attributes: Attributes
    payload: bytes = b""


@message_type(110)
class AddressedAdvertise(Message, frozen=True):
    """An advertisement on its way to all other brokers, or to all of a cluster."""

    destinations: tuple[int, ...]
    sources: tuple[int, ...]
    filter: Filter
    hops: int = 0


@message_type(111)
class AddressedUnadvertise(Message, frozen=True):
    """Withdraws an advertisement at the brokers it was sent to."""

    destinations: tuple[int, ...]
    advertisement: MessageId
    hops: int = 0


@message_type(112)
class AddressedLinkLoss(Message, frozen=True):
    """A topology update in its published form: the originator lost a neighbor."""

    destinations: tuple[int, ...]
    originator: int
    neighbor: int
    hops: int = 0


@message_type(113)
class TreeUnsubscribe(Message, frozen=True):
    """Filter-based routing on general overlays: withdraws a subscription along one tree."""

    tree: MessageId
    subscription: MessageId


@message_type(114)
class TreeUnadvertise(Message, frozen=True):
    """Filter-based routing on general overlays: an advertisement goes, and its tree with it."""

    tree: MessageId
