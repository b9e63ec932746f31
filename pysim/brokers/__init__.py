"""The protocols: every broker is an agent that reacts to messages, timers, links and clients.

A protocol is one module with one subclass of `Broker`. Those named here are always known; others
join them with `register`.
"""

from pysim.brokers.base import Broker
from pysim.brokers.clients import LocalClients
from pysim.brokers.covering import (
    ActiveCovering,
    IncrementalUnsubscription,
    LazyCovering,
    NoCovering,
    SubscriptionPacking,
)
from pysim.brokers.destinations import (
    DDbr,
    FilterBasedRouting,
    GeneralFilterBasedRouting,
    Merc,
)
from pysim.brokers.event_forwarding import EventForwarding
from pysim.brokers.informed_activation import InformedLinkActivation
from pysim.brokers.notified_deferred import NotifiedDeferredUnsubscription
from pysim.brokers.popsub import (
    Batching,
    DirectDelivery,
    Gossiping,
    PrintedGossiping,
    ReversePathForwarding,
)
from pysim.brokers.promises import Promises
from pysim.brokers.reconfiguration_path import ReconfigurationPath
from pysim.brokers.registry import (
    REQUIRED,
    Option,
    ProtocolError,
    make,
    options,
    protocols,
    register,
)
from pysim.brokers.related import (
    Drp,
    EventFlooding,
    LinkMatching,
    Medym,
    MulticastGroups,
)
from pysim.brokers.subscription_forwarding import SubscriptionForwarding
from pysim.brokers.timed_deferred import TimedDeferredUnsubscription

__all__ = [
    "REQUIRED",
    "ActiveCovering",
    "Batching",
    "Broker",
    "DDbr",
    "DirectDelivery",
    "Drp",
    "EventFlooding",
    "EventForwarding",
    "FilterBasedRouting",
    "GeneralFilterBasedRouting",
    "Gossiping",
    "IncrementalUnsubscription",
    "InformedLinkActivation",
    "LazyCovering",
    "LinkMatching",
    "LocalClients",
    "Medym",
    "Merc",
    "MulticastGroups",
    "NoCovering",
    "NotifiedDeferredUnsubscription",
    "Option",
    "PrintedGossiping",
    "Promises",
    "ProtocolError",
    "ReconfigurationPath",
    "ReversePathForwarding",
    "SubscriptionForwarding",
    "SubscriptionPacking",
    "TimedDeferredUnsubscription",
    "make",
    "options",
    "protocols",
    "register",
]

for _broker in (
    EventForwarding,
    SubscriptionForwarding,
    TimedDeferredUnsubscription,
    NotifiedDeferredUnsubscription,
    InformedLinkActivation,
    ReconfigurationPath,
    NoCovering,
    ActiveCovering,
    LazyCovering,
    SubscriptionPacking,
    IncrementalUnsubscription,
    FilterBasedRouting,
    GeneralFilterBasedRouting,
    DDbr,
    EventFlooding,
    LinkMatching,
    Medym,
    Drp,
    MulticastGroups,
    Merc,
    ReversePathForwarding,
    DirectDelivery,
    Batching,
    Gossiping,
    PrintedGossiping,
):
    register(_broker)
