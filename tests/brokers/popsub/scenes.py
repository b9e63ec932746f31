"""A run on a small tree in which popularity changes when a test says so."""

from collections.abc import Iterable
from typing import Any

import networkx as nx

from pysim.filters import canonical, parse
from pysim.network import MemoryTransport
from pysim.wire import Envelope
from pysim.workloads.operations import Operation

from . import stage

NEVER = 1_000_000.0
"""Seconds until popularity is evaluated."""


class Tap(MemoryTransport):
    """A network that logs `(source, target, channel, type)` of all that is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[int, int, str, str]] = []
        self.frames: list[tuple[int, int, Envelope]] = []

    def send(self, source: int, target: int, frame: bytes) -> None:
        super().send(source, target, frame)
        self._note(source, target, "link", frame)

    def send_direct(self, source: int, target: int, frame: bytes, protocol: Any) -> None:
        super().send_direct(source, target, frame, protocol)
        self._note(source, target, protocol, frame)

    def _note(self, source: int, target: int, channel: str, frame: bytes) -> None:
        envelope = Envelope.open(frame)
        self.log.append((source, target, channel, type(envelope.message).NAME))
        self.frames.append((source, target, envelope))


class Scene:
    """Broker 0's client 0 advertises x in [0, 99]; all links take 1 to 3 ms.

    Publications have one attribute, x. Subscriptions are given as ``{broker: "x < 50"}``.
    """

    def __init__(
        self,
        links: Iterable[tuple[int, int]],
        subscriptions: Iterable[tuple[int, str]],
        protocol: str,
        **options: Any,
    ) -> None:
        self.network = Tap()
        self.run = stage.simulation(
            nx.Graph(list(links)),
            protocol,
            {"evaluation": NEVER, **options},
            transport=self.network,
        )
        self.after(0.1)
        self.act("advertise", 0, "x in [0, 99]")
        self.after(0.1)
        for client, (broker, filter) in enumerate(subscriptions):
            self.act("subscribe", broker, filter, client)
        self.after(0.1)
        self.take_log()

    def act(self, action: Any, broker: int, filter: str, client: int = 0) -> None:
        now = self.network.now
        wanted = canonical(parse(filter))
        self.run.add_operations([Operation(now, broker, action, client, wanted)])

    def publish(self, *values: int) -> None:
        self.publish_at(0, *({"x": value} for value in values))

    def publish_at(self, broker: int, *contents: dict[str, Any]) -> None:
        now = self.network.now
        self.run.add_operations(
            Operation(now, broker, "publish", 0, attributes=content) for content in contents
        )
        self.after(0.0)

    def after(self, seconds: float) -> None:
        self.run.run(self.network.now / 1e9 + seconds)

    def flip(self, link: int) -> None:
        """What broker 0 evaluates: a link becomes popular, or unpopular."""
        agent = self.agent(0)
        (entry,) = [entry for entry in agent.gains if entry.link == link]
        entry.popular = not entry.popular
        agent.flipped(entry)
        agent.evaluated(list(agent.gains))

    def agent(self, broker: int) -> Any:
        return self.run.hosts[broker].agent

    def take_log(self) -> list[tuple[int, int, str, str]]:
        log = list(self.network.log)
        self.network.log.clear()
        return log

    def got(self, broker: int) -> list[tuple[int, str]]:
        """What clients of a broker got: x of each publication in turn, and the way."""
        observer = self.run.observer
        contents = zip(observer.events, observer._contents, strict=True)
        values = {row.id: attributes["x"] for row, attributes in contents}
        return [
            (values[row.event], row.way)
            for row in self.run.observer.deliveries
            if row.broker == broker
        ]
