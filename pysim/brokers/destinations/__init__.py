"""Destination-based routing, and filter-based routing that it is compared with.

`overlay_map`, `links` and `multicast` are what protocols that route by destinations share;
`routing` is the matching layer of D-DBR and MERC.
"""

from pysim.brokers.destinations.d_dbr import DDbr
from pysim.brokers.destinations.routing import DestinationRouting

__all__ = ["DDbr", "DestinationRouting"]
