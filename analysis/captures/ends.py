"""Names the ends of flows and tells which way their packets went past the capturing device.

It knows how a run names its captures and its addresses, but opens no file.
"""

import ipaddress
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.addresses import broker_of, device_of
from analysis.captures.attribution import Traffic
from analysis.captures.decode import TCP, UDP, Packets

OUT, IN, PASSING = range(3)
DIRECTIONS = ("out", "in", "passing")
"""Sent by the capturing device's node, received by it, or neither as far as can be told."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Test = Callable[[_Address], bool]


def protocol_name(number: int) -> str:
    """What IP calls a protocol by a number."""
    return {1: "icmp", TCP: "tcp", UDP: "udp", 58: "icmpv6"}.get(number, str(number))


class Ends(NamedTuple):
    """Both ends of every flow: the one at 2 * flow + side sends the packets of that side."""

    address: pa.StringArray
    port: npt.NDArray[np.int32]
    """-1 if there is none."""
    direction: npt.NDArray[np.int8]
    """Of the packets that come from there: an index into DIRECTIONS."""

    def name(self, end: int) -> str:
        """Address and port, as one writes them."""
        address, port = self.address[end].as_py(), self.port[end]
        return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

    def way(self, flow: int, side: int) -> str:
        """From where to where a side of a flow speaks."""
        return f"{self.name(2 * flow + side)} to {self.name(2 * flow + 1 - side)}"


def find_ends(packets: Packets, traffic: Traffic, capture: str, local: str | None) -> Ends:
    """The ends of all flows of a capture; `local` is the address of the device, if it is known.

    Otherwise it follows from the capture's name, if a run gave it ("b3-b7", "b3", "b3-r0"). In
    other captures it is the one address that is an end of every connection, if there is exactly
    one. All is passing where even that does not help, and at routers, to whom nobody speaks.
    """
    addresses = _addresses(packets, traffic.first_packet)
    is_local = (
        _given(local)
        if local is not None
        else _planned(capture) or _shared(addresses, traffic.connection_flow)
    )
    mine = np.array([is_local(address) for address in addresses], np.bool_)
    others = mine.reshape(-1, 2)[:, ::-1].ravel()
    direction = np.where(mine & ~others, OUT, np.where(others & ~mine, IN, PASSING))
    first = traffic.first_packet
    ports = np.stack([packets.source_port[first], packets.target_port[first]], axis=1)
    return Ends(
        pa.array([str(address) for address in addresses], pa.string()),
        ports.ravel(),
        direction.astype(np.int8),
    )


def _addresses(packets: Packets, first: npt.NDArray[np.int64]) -> list[_Address]:
    high = np.stack([packets.source_high[first], packets.target_high[first]], axis=1).ravel()
    low = np.stack([packets.source_low[first], packets.target_low[first]], axis=1).ravel()
    version = np.repeat(packets.ip[first], 2)
    return [
        ipaddress.IPv4Address(lower) if ip == 4 else ipaddress.IPv6Address(upper << 64 | lower)
        for ip, upper, lower in zip(version.tolist(), high.tolist(), low.tolist(), strict=True)
    ]


def _given(local: str) -> _Test:
    wanted = ipaddress.ip_address(local)
    return lambda address: address == wanted


def _planned(capture: str) -> _Test | None:
    device = device_of(capture)
    if device is None:
        return None
    kind, number = device.node[0], int(device.node[1:])
    return lambda address: kind == "b" and broker_of(str(address), capture) == number


def _shared(addresses: Sequence[_Address], flows: npt.NDArray[np.int64]) -> _Test:
    ends = [set(addresses[2 * flow : 2 * flow + 2]) for flow in set(flows.tolist())]
    shared = set.intersection(*ends) if ends else set()
    return lambda address: shared == {address}
