"""Agents that are members of one gossip group, on a network of equal delays."""

from collections.abc import Callable
from typing import Any

import networkx as nx

from pysim.brokers import Broker
from pysim.gossip import GossipSettings, Lpbcast
from pysim.network import MemoryTransport, Simulation
from pysim.network.world import World
from pysim.wire import MessageId

GROUP = MessageId(0, 1)
"""Broker 0 publishes."""


class Member(Broker):
    """Takes part in `GROUP` and writes down what it delivers, with the time."""

    name = "gossip-member"

    def __init__(self, world: World, settings: GossipSettings) -> None:
        super().__init__(world)
        self.log: list[tuple[float, int]] = []
        self.sent: list[int] = []
        self.gossip = Lpbcast(world, GROUP, self.delivered, settings, self.sent.append)

    def delivered(self, number: int, payload: bytes) -> None:
        assert payload == b"message %d" % number
        self.log.append((self.world.now, number))

    def handle(self, sender: int, envelope: Any) -> None:
        self.gossip.handle(sender, envelope.message)

    on_gossip = on_join = on_join_reply = on_leave = handle
    on_retrieve = on_retrieved = on_number_request = on_number_reply = handle


class Stage:
    """A group of that many brokers; every message takes a millisecond."""

    def __init__(
        self,
        brokers: int,
        seed: int = 1,
        loss: float = 0.0,
        make: Callable[..., Member] = Member,
        **settings: Any,
    ) -> None:
        self.settings = GossipSettings(**settings)
        self.network = MemoryTransport(seed, latency=lambda a, b: 0.001, loss=loss)
        everyone = nx.empty_graph(brokers)
        self.run = Simulation(
            self.network, everyone, lambda world: make(world, self.settings), seed=seed
        )
        self.run.run(0.0)

    def __getitem__(self, broker: int) -> Member:
        agent = self.run.hosts[broker].agent
        assert isinstance(agent, Member)
        return agent

    def members(self) -> list[Member]:
        return [self[broker] for broker in self.run.hosts if self.run.hosts[broker].agent]

    def join_all(self, phase: float | None = None) -> None:
        for broker in range(1, len(self.run.hosts)):
            self[broker].gossip.join(1, (), phase)

    def publish(self, count: int = 1) -> None:
        gossip = self[0].gossip
        for _ in range(count):
            gossip.publish(b"message %d" % (gossip.highest + 1))

    def after(self, seconds: float) -> None:
        self.run.run(self.network.now / 1e9 + seconds)

    def holders(self, number: int) -> int:
        return sum(number in member.gossip.received for member in self.members())
