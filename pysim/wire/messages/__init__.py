"""The message types, one module per protocol family.

Codes are given out in blocks, so that a family grows without touching another:

    1..31     common to several families        128..159  popularity-based routing (popsub)
    32..63    reconfiguration                   160..223  kept for families to come
    64..95    covering                          224..255  third-party protocols
    96..127   destination-based routing
"""

from pysim.wire.messages.common import (
    Advertise,
    Batch,
    Event,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from pysim.wire.messages.covering import (
    CountedEvent,
    PackedUnsubscribe,
    PrunedUnsubscribe,
    Withdraw,
    WithdrawAdvertisement,
)
from pysim.wire.messages.destinations import (
    AddressedAdvertise,
    AddressedEvent,
    AddressedLinkLoss,
    AddressedSubscribe,
    AddressedUnadvertise,
    AddressedUnsubscribe,
    Heartbeat,
    OverlayAbort,
    OverlayAccept,
    OverlayBusy,
    OverlayCommit,
    OverlayPropose,
    TopologyUpdate,
    TreeAdvertise,
    TreeEvent,
    TreeSubscribe,
    TreeUnadvertise,
    TreeUnsubscribe,
    VectorEvent,
)
from pysim.wire.messages.popsub import (
    DirectEnd,
    DirectEvent,
    FlaggedEvent,
    Gossip,
    HopSubscribe,
    Join,
    JoinReply,
    Leave,
    NumberReply,
    NumberRequest,
    Retrieve,
    Retrieved,
    Switch,
)
from pysim.wire.messages.reconfiguration import Activate, Flush, Rec, Recack

__all__ = [
    "Activate",
    "AddressedAdvertise",
    "AddressedEvent",
    "AddressedLinkLoss",
    "AddressedSubscribe",
    "AddressedUnadvertise",
    "AddressedUnsubscribe",
    "Advertise",
    "Batch",
    "CountedEvent",
    "DirectEnd",
    "DirectEvent",
    "Event",
    "FlaggedEvent",
    "Flush",
    "Gossip",
    "Heartbeat",
    "HopSubscribe",
    "Join",
    "JoinReply",
    "Leave",
    "NumberReply",
    "NumberRequest",
    "OverlayAbort",
    "OverlayAccept",
    "OverlayBusy",
    "OverlayCommit",
    "OverlayPropose",
    "PackedUnsubscribe",
    "PrunedUnsubscribe",
    "Rec",
    "Recack",
    "Retrieve",
    "Retrieved",
    "Subscribe",
    "Switch",
    "TopologyUpdate",
    "TreeAdvertise",
    "TreeEvent",
    "TreeSubscribe",
    "TreeUnadvertise",
    "TreeUnsubscribe",
    "Unadvertise",
    "Unsubscribe",
    "VectorEvent",
    "Withdraw",
    "WithdrawAdvertisement",
]
