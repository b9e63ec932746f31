"""Small runs for tests of the analysis, and a protocol that sends off the overlay."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from pysim.brokers import Broker, registry
from pysim.experiments.run import run
from pysim.network.transport import DirectProtocol
from pysim.network.world import World
from pysim.wire import Envelope, Message, message, message_type
from tests.experiments.files import small_plan

FLOOD = {"kind": "flood", "rate": "100 /s", "size": "200 B"}
LARGE = {"kind": "flood", "rate": "40 /s", "size": "4000 B"}
TREE = {"kind": "random-tree", "brokers": 10}
ROUTERS = {
    "backend": "ns3",
    "mode": "underlay",
    "underlay": {"kind": "transit-stub"},
    "capture": "both",
}
LATENCIES = {
    "backend": "ns3",
    "mode": "underlay",
    "underlay": {"kind": "king-like", "hosts": 20},
    "capture": "both",
}


NOVELTY = 240


class Direct(Broker):
    """Sends every event to all other brokers itself, by unicast."""

    name: ClassVar[str] = "test-direct"
    needs_tree: ClassVar[bool] = False

    def __init__(
        self,
        world: World,
        *,
        brokers: Annotated[int, "how many there are"] = 5,
        protocol: Annotated[str, "tcp or udp"] = "tcp",
    ) -> None:
        super().__init__(world)
        self._brokers = brokers
        self._protocol = cast(DirectProtocol, protocol)

    def publish(self, client: int, event: Envelope) -> None:
        self.deliver_locally(event)
        for broker in range(self._brokers):
            if broker != self.world.id:
                self.world.send_direct(broker, event, self._protocol)

    def on_event(self, sender: int, event: Envelope) -> None:
        self.deliver_locally(event)


class Novelty(Message):
    """A type that only this process knows: Spark's workers do not load the tests."""

    note: str


class Novel(Broker):
    """Tells its neighbors something of its own with every event."""

    name: ClassVar[str] = "test-novel"

    def publish(self, client: int, event: Envelope) -> None:
        for neighbor in self.world.neighbors:
            self.world.send(neighbor, Novelty("new"))

    def on_novelty(self, sender: int, envelope: Envelope) -> None:
        pass


def make_run(folder: Path, name: str = "run", **settings: object) -> Path:
    """Run the small experiment of the tests with other settings; the result is its directory."""
    folder.mkdir(parents=True, exist_ok=True)
    with _known():
        run(small_plan(folder, **{"network__backend": "ns3", **settings}), folder / name, name)
    return folder / name


@contextmanager
def _known() -> Iterator[None]:
    """Our protocols and our type are registered, and not so afterwards: other tests list them."""
    added = {protocol.name: protocol for protocol in (Direct, Novel)}
    message_type(NOVELTY)(Novelty)
    registry._PROTOCOLS.update(added)
    try:
        yield
    finally:
        for name in added:
            del registry._PROTOCOLS[name]
        del message._TYPES[NOVELTY], message.DECODERS[NOVELTY]


def rewrite_manifest(directory: Path, **values: Any) -> None:
    """Change what a manifest says."""
    path = directory / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **values}))
