"""Messages of the covering family (codes 64..95)."""

from pysim.filters import Filter
from pysim.wire.frame import MessageId
from pysim.wire.message import Message, message_type
from pysim.wire.messages.common import Attributes


@message_type(64)
class CountedEvent(Message, frozen=True):
    """A publication whose header tells how far it came since it last met a second match."""

    attributes: Attributes
    advertisement: MessageId
    distance: int
    count: int
    payload: bytes = b""


@message_type(65)
class PrunedUnsubscribe(Message, frozen=True):
    """Withdraws a subscription by id, no further than each advertisement's pruning distance."""

    subscription: MessageId
    distances: tuple[tuple[MessageId, int], ...] = ()


@message_type(66)
class PackedUnsubscribe(Message, frozen=True):
    """One message that carries an unsubscription and all the new roots it uncovers."""

    subscription: MessageId
    new_roots: tuple[tuple[MessageId, Filter], ...]


@message_type(67)
class Withdraw(Message, frozen=True):
    """Takes subscriptions back by id: they are unsubscribed, or others cover them."""

    subscriptions: tuple[MessageId, ...]


@message_type(68)
class WithdrawAdvertisement(Message, frozen=True):
    """Takes an advertisement back by id, and floods as it did."""

    advertisement: MessageId
