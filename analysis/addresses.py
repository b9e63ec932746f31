"""Which address belongs to which broker; it opens no file.

The plan is that of docs/wire-format.md: node *n* (brokers first, then routers) is 10.0.0.1 + *n*;
link *k* owns four addresses from 10.128.0.0 + 4 *k* on, its ends are the second and the third of
them, the broker with the lower number first. Which brokers a link joins is in the name of its
captures: ``b3-b7`` is the device at broker 3 of a link to broker 7, ``b3-b7.2`` that of the second
link between them, ``b3-r1`` leads to a router, ``b3`` into a network of given latencies.
"""

import re
from ipaddress import AddressValueError, IPv4Address
from typing import NamedTuple

NODE_BASE = int(IPv4Address("10.0.0.1"))
LINK_BASE = int(IPv4Address("10.128.0.0"))
LINK_LIMIT = int(IPv4Address("11.0.0.0"))
OVERLAY_PORT = 7471
DIRECT_PORT = 7472

CAPTURE_NAME = r"^([br])(\d+)(?:-([br])(\d+))?(?:\.\d+)?$"


class Device(NamedTuple):
    """Where a capture was made: the node, and the one at the other end (None: everyone).

    A node is named as in captures, ``b3`` or ``r1``.
    """

    node: str
    peer: str | None


def device_of(capture: str) -> Device | None:
    """What a capture's name says; None if it is not named as a run names its captures."""
    parts = re.match(CAPTURE_NAME, capture)
    if parts is None:
        return None
    return Device(parts[1] + parts[2], parts[3] + parts[4] if parts[3] else None)


def broker_of(address: str, capture: str = "") -> int | None:
    """The node behind an address; None for a link's address in a capture of no such link."""
    try:
        number = int(IPv4Address(address))
    except AddressValueError:
        return None
    if NODE_BASE <= number < LINK_BASE:
        return number - NODE_BASE
    ends = _linked_brokers(capture)
    side = (number - LINK_BASE) % 4 - 1
    if not LINK_BASE <= number < LINK_LIMIT or side not in (0, 1) or ends is None:
        return None
    return ends[side]


def _linked_brokers(capture: str) -> list[int] | None:
    parts = re.match(CAPTURE_NAME, capture)
    if parts is None or parts[1] != "b" or parts[3] != "b":
        return None
    return sorted((int(parts[2]), int(parts[4])))
