"""Destination-based routing, and filter-based routing that it is compared with.

`overlay_map`, `links` and `multicast` are what protocols that route by destinations share;
`routing` is the matching layer of D-DBR and MERC.
"""

from pysim.brokers.destinations.d_dbr import DDbr
from pysim.brokers.destinations.fbr import FilterBasedRouting
from pysim.brokers.destinations.fbr_general import GeneralFilterBasedRouting
from pysim.brokers.destinations.merc import Merc
from pysim.brokers.destinations.routing import DestinationRouting

__all__ = [
    "DDbr",
    "DestinationRouting",
    "FilterBasedRouting",
    "GeneralFilterBasedRouting",
    "Merc",
]
