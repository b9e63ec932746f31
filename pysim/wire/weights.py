"""What messages weigh in the normalized cost: the one place that says so, for all families.

Table II of the reconfiguration paper (Cugola, Frey, Murphy, Picco) has weights for one family:
SUB, UNSUB and EVENT 1, FLUSH and RECACK 0.1, ACTIVATE and REC the number of patterns they carry.
One rule gives all of these, and goes on for the others: **a message weighs as many filters, events
and names of withdrawn ones as it carries; one that carries none is a notice and weighs 0.1.** So a
destination list weighs nothing: what it costs, the bytes tell.

A type of others (see docs/extending.md) weighs 1, like most of ours.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pysim.wire.message import Message, message_types
from pysim.wire.messages import (
    Activate,
    AddressedLinkLoss,
    Batch,
    DirectEnd,
    Flush,
    Gossip,
    Heartbeat,
    Join,
    JoinReply,
    Leave,
    NumberReply,
    NumberRequest,
    OverlayAbort,
    OverlayAccept,
    OverlayBusy,
    OverlayCommit,
    OverlayPropose,
    PackedUnsubscribe,
    Rec,
    Recack,
    Retrieve,
    Retrieved,
    Switch,
    TopologyUpdate,
    Withdraw,
)

NOTICE = 0.1
"""The weight of a message that carries no filter, no event and no name of either."""

NOTICES: frozenset[type[Message]] = frozenset(
    {
        Flush,
        Recack,
        Heartbeat,
        TopologyUpdate,
        AddressedLinkLoss,
        OverlayPropose,
        OverlayAccept,
        OverlayCommit,
        OverlayAbort,
        OverlayBusy,
        Switch,
        Join,
        JoinReply,
        Leave,
        Retrieve,
        NumberRequest,
        NumberReply,
        DirectEnd,
    }
)
"""Types that carry nothing of the kind."""

CARRIERS: Mapping[type[Message], Callable[[Any], int]] = {
    Activate: lambda message: len(message.patterns),
    Rec: lambda message: len(message.patterns_to_add) + len(message.patterns_to_delete),
    Batch: lambda message: len(message.frames),
    Gossip: lambda message: len(message.publications),
    Retrieved: lambda message: len(message.publications),
    PackedUnsubscribe: lambda message: 1 + len(message.new_roots),
    Withdraw: lambda message: len(message.subscriptions),
}
"""Types that carry several, and how many one of them carries; all other types carry one."""


def weight(message: Message) -> float:
    """What one hop of a message weighs."""
    carried = CARRIERS.get(type(message))
    if carried is not None:
        return float(carried(message)) or NOTICE
    return NOTICE if type(message) in NOTICES else 1.0


def weight_of_type(code: int) -> float | None:
    """The same for any message of a type; None if it depends on what the message carries."""
    known = message_types().get(code)
    if known is None or known.message in CARRIERS:
        return None if known else 1.0
    return NOTICE if known.message in NOTICES else 1.0
