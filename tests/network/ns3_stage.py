"""What the tests of the packet-level network share: agents that log, and a look into captures."""

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dpkt
import networkx as nx

from pysim.brokers import Broker
from pysim.network.faults import SettingsRule
from pysim.network.ns3 import Ns3Settings, Ns3Transport
from pysim.network.simulation import Simulation
from pysim.network.transport import NANOSECONDS, LinkSettings
from pysim.network.world import LinkNotice, World
from pysim.wire import Envelope
from pysim.wire.messages import Event
from pysim.workloads.operations import Operation

S = NANOSECONDS
MS = S // 1000


class Relay(Broker):
    """Floods events and keeps a log of all that happens to it."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.log: list[tuple[object, ...]] = []

    def _note(self, *what: object) -> None:
        self.log.append((round(self.world.now * S), *what))

    def publish(self, client: int, event: Envelope) -> None:
        self._flood(self.world.id, event)

    def on_event(self, sender: int, event: Envelope) -> None:
        self._note("event", sender, event.sequence)
        self._flood(sender, event)

    def _flood(self, sender: int, event: Envelope) -> None:
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, event)

    def link_up(self, neighbor: int, notice: LinkNotice) -> None:
        self._note("up", neighbor)

    def link_down(self, neighbor: int, notice: LinkNotice) -> None:
        self._note("down", neighbor)


def publish(time: int, broker: int, size: int = 200) -> Operation:
    """A publication whose frame has exactly `size` bytes."""
    return Operation(time, broker, "publish", payload=payload_for(size))


def payload_for(size: int) -> bytes:
    """The payload that makes an event without attributes `size` bytes long."""
    for length in range(max(0, size - 40), size):
        if len(Envelope.seal(Event({}, bytes(length)), 0, 1).frame) == size:
            return bytes(length)
    raise ValueError(f"no event is {size} bytes long")


@contextmanager
def simulation(
    overlay: nx.Graph,
    make: Callable[[World], Broker] = Relay,
    link: LinkSettings | SettingsRule | None = None,
    seed: int = 1,
    costs: object = None,
    **settings: object,
) -> Iterator[Simulation]:
    """A packet-level simulation that is closed whatever happens."""
    transport = Ns3Transport(Ns3Settings(len(overlay), seed=seed, **settings))  # type: ignore[arg-type]
    try:
        yield Simulation(
            transport,
            overlay,
            make,
            seed=seed,
            costs=costs,  # type: ignore[arg-type]
            link_settings=(lambda a, b: link) if isinstance(link, LinkSettings) else link,
        )
    finally:
        transport.close()


@dataclass(frozen=True)
class Packet:
    """A captured packet: when (ns), how long on the link, and what IP says."""

    time: int
    size: int
    ip: dpkt.ip.IP

    @property
    def payload(self) -> bytes:
        return bytes(self.ip.data.data)


def packets(path: Path) -> list[Packet]:
    """Read a capture in nanosecond resolution, PPP."""
    data = path.read_bytes()
    magic, _, _, _, _, _, link_type = struct.unpack_from("<IHHiIII", data)
    assert (magic, link_type) == (0xA1B23C4D, 9)
    found, offset = [], 24
    while offset < len(data):
        seconds, nanoseconds, captured, size = struct.unpack_from("<IIII", data, offset)
        assert captured == size
        frame = data[offset + 16 : offset + 16 + size]
        assert frame[:2] == b"\x00\x21"
        found.append(Packet(seconds * S + nanoseconds, size, dpkt.ip.IP(frame[2:])))
        offset += 16 + size
    return found


def hashes(directory: Path) -> dict[str, str]:
    """A digest of every capture in a directory."""
    return {
        path.name: hashlib.blake2b(path.read_bytes()).hexdigest()
        for path in sorted(directory.iterdir())
    }


def events(agent: object) -> list[tuple[object, ...]]:
    """What events an agent logged: (time, sender, sequence)."""
    assert isinstance(agent, Relay)
    return [(time, *rest) for time, what, *rest in agent.log if what == "event"]


def changes(agent: object) -> list[tuple[object, ...]]:
    """What link changes an agent logged: (what, neighbor)."""
    assert isinstance(agent, Relay)
    return [tuple(entry[1:]) for entry in agent.log if entry[1] in ("up", "down")]


def total(rows: Iterable[object], field: str) -> int:
    return sum(getattr(row, field) for row in rows)
