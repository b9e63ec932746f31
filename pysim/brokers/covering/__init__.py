"""Covering and its withdrawal: five protocols on advertisement-based routing.

`routing` is what they share, and a module each says how a protocol differs.
"""

from pysim.brokers.covering.active import ActiveCovering
from pysim.brokers.covering.incremental import IncrementalUnsubscription
from pysim.brokers.covering.lazy import LazyCovering
from pysim.brokers.covering.none import NoCovering
from pysim.brokers.covering.packing import SubscriptionPacking
from pysim.brokers.covering.routing import CoveringRouting

__all__ = [
    "ActiveCovering",
    "CoveringRouting",
    "IncrementalUnsubscription",
    "LazyCovering",
    "NoCovering",
    "SubscriptionPacking",
]
