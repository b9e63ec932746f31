"""The protocols: every broker is an agent that reacts to messages, timers, links and clients.

A protocol is one module with one subclass of `Broker`. Those named here are always known; others
join them with `register`.
"""

from pysim.brokers.base import Broker
from pysim.brokers.clients import LocalClients
from pysim.brokers.event_forwarding import EventForwarding
from pysim.brokers.registry import (
    REQUIRED,
    Option,
    ProtocolError,
    make,
    options,
    protocols,
    register,
)
from pysim.brokers.subscription_forwarding import SubscriptionForwarding

__all__ = [
    "REQUIRED",
    "Broker",
    "EventForwarding",
    "LocalClients",
    "Option",
    "ProtocolError",
    "SubscriptionForwarding",
    "make",
    "options",
    "protocols",
    "register",
]

for _broker in (EventForwarding, SubscriptionForwarding):
    register(_broker)
