"""Random lives of brokers on overlays with cycles, and a network that looks into every list.

Hypothesis draws the sizes and a seed; the rest comes from the seed. Filters are ranges of whole
numbers, so that whom an event is for can be told at a glance.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from pysim.brokers import make
from pysim.brokers.destinations import DestinationRouting
from pysim.filters import Filter, canonical, parse
from pysim.network import (
    NANOSECONDS,
    CostModel,
    Fault,
    LinkSettings,
    MemoryTransport,
    Simulation,
)
from pysim.wire import Envelope, Message, MessageId
from pysim.wire.messages import AddressedEvent
from pysim.workloads.operations import Operation

MS = 1_000_000
BEGIN = 300 * MS
"""By then all links are up and everybody knows the overlay."""
SETTLED = 150
"""Milliseconds after which whatever clients did has come to its end everywhere."""
HASTY = (0, 0, 1, 2, 5)
"""Milliseconds between operations that overlap; a link takes one, two or three."""
SIDE = 8

QUIET = {"detection": "notice"}
"""Options with which nothing is sent that no client asked for."""


class Lists(MemoryTransport):
    """A memory network that keeps every list of destinations: (event, source, target, list)."""

    def __init__(self) -> None:
        super().__init__()
        self.lists: list[tuple[MessageId, int, int, tuple[int, ...]]] = []
        self.log: list[tuple[int, int, Message]] = []

    def send(self, source: int, target: int, frame: bytes) -> None:
        super().send(source, target, frame)
        envelope = Envelope.open(frame)
        message = envelope.message
        self.log.append((source, target, message))
        if isinstance(message, AddressedEvent):
            self.lists.append((envelope.id, source, target, message.destinations))


@dataclass
class Life:
    """What clients do on an overlay until `end` (ns), and what stands then."""

    overlay: nx.Graph
    operations: list[Operation] = field(default_factory=list)
    end: int = BEGIN
    advertised: list[tuple[int, int, Filter]] = field(default_factory=list)
    """By broker and client; so are subscriptions."""
    subscribed: list[tuple[int, int, Filter]] = field(default_factory=list)

    def __repr__(self) -> str:
        links = sorted(self.overlay.edges)
        return "\n".join(
            [f"{len(self.overlay)} brokers, links {links}", *map(str, self.operations)]
        )


class Author:
    """Writes a life, operation by operation."""

    def __init__(self, random: random.Random, overlay: nx.Graph) -> None:
        self.random = random
        self.life = Life(overlay)
        self.clients = 0

    def write(self, steps: int, gaps: Iterable[int], letters: str) -> Life:
        acts = {
            "a": self.advertise,
            "s": self.subscribe,
            "u": self.unsubscribe,
            "p": self.publish,
            "w": self.unadvertise,
        }
        for _ in range(steps):
            acts[self.random.choice(letters)]()
            self.wait(self.random.choice(list(gaps)))
        return self.life

    def wait(self, milliseconds: int) -> None:
        self.life.end += milliseconds * MS

    def broker(self) -> int:
        return int(self.random.choice(sorted(self.life.overlay)))

    def advertise(self) -> None:
        self._begin("advertise", self.life.advertised, self._range(SIDE))

    def subscribe(self) -> None:
        self._begin("subscribe", self.life.subscribed, self._range(3))

    def unadvertise(self) -> None:
        self._end("unadvertise", self.life.advertised)

    def unsubscribe(self) -> None:
        self._end("unsubscribe", self.life.subscribed)

    def publish(self) -> None:
        """An event that an advertisement of its broker announced."""
        if self.life.advertised:
            broker, _, filter = self.random.choice(self.life.advertised)
            self.publish_at(broker, self.random.choice(values(filter)))

    def publish_at(self, broker: int, value: int) -> None:
        self.life.operations.append(
            Operation(self.life.end, broker, "publish", attributes={"x": value})
        )

    def _range(self, widest: int) -> Filter:
        low = self.random.randrange(SIDE)
        return between(low, min(SIDE - 1, low + self.random.randrange(widest)))

    def _begin(self, action: Any, standing: list[tuple[int, int, Filter]], filter: Filter) -> None:
        self.clients += self.random.randrange(2)
        who = (self.broker(), self.clients, filter)
        if who not in standing:
            standing.append(who)
        self._act(action, *who)

    def _end(self, action: Any, standing: list[tuple[int, int, Filter]]) -> None:
        if standing:
            self._act(action, *standing.pop(self.random.randrange(len(standing))))

    def _act(self, action: Any, broker: int, client: int, filter: Filter) -> None:
        self.life.operations.append(Operation(self.life.end, broker, action, client, filter))


def between(low: int, high: int) -> Filter:
    return canonical(parse(f"x in [{low}, {high}]"))


def values(filter: Filter) -> list[int]:
    return [x for x in range(SIDE) if filter.matches({"x": x})]


def random_overlay(random: random.Random, brokers: int, more: int | None = None) -> nx.Graph:
    """A connected graph: a random tree and some more links."""
    graph = nx.Graph()
    graph.add_nodes_from(range(brokers))
    graph.add_edges_from((child, random.randrange(child)) for child in range(1, brokers))
    for _ in range(random.randrange(brokers + 1) if more is None else more):
        a, b = random.randrange(brokers), random.randrange(brokers)
        if a != b:
            graph.add_edge(a, b)
    return graph


def cluster_overlay(random: random.Random, clusters: int, size: int) -> nx.Graph:
    """Clusters that are random graphs; each but the first shares a broker with an earlier one."""
    graph = nx.Graph()
    members: list[list[int]] = []
    for cluster in range(clusters):
        shared = [random.choice(random.choice(members))] if members else []
        first = len(graph)
        brokers = [*shared, *range(first, first + random.randint(1, size))]
        graph.add_nodes_from((b for b in brokers if b not in shared), cluster=cluster)
        for place, broker in enumerate(brokers[1:], 1):
            graph.add_edge(broker, random.choice(brokers[:place]), cluster=cluster)
        for _ in range(random.randrange(len(brokers))):
            a, b = random.choice(brokers), random.choice(brokers)
            if a != b:
                graph.add_edge(a, b, cluster=cluster)
        members.append(brokers)
    return graph


@st.composite
def authors(draw: st.DrawFn, max_brokers: int = 10, max_steps: int = 30) -> tuple[Author, int]:
    """An author on a random overlay, and how many steps to write."""
    seed = random.Random(draw(st.integers(0, 2**32)))
    overlay = random_overlay(seed, draw(st.integers(1, max_brokers)))
    return Author(seed, overlay), draw(st.integers(1, max_steps))


@st.composite
def cluster_authors(draw: st.DrawFn, max_steps: int = 30) -> tuple[Author, int]:
    """The same on an overlay of clusters."""
    seed = random.Random(draw(st.integers(0, 2**32)))
    overlay = cluster_overlay(seed, draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    return Author(seed, overlay), draw(st.integers(1, max_steps))


def simulation(
    overlay: nx.Graph,
    protocol: str,
    options: Mapping[str, object],
    costs: CostModel | None = None,
    seed: int = 1,
) -> Simulation:
    return Simulation(
        Lists(),
        overlay,
        partial(make, protocol, **options),
        seed=seed,
        costs=costs,
        link_settings=lambda a, b: LinkSettings(delay=0.001 * (1 + (7 * a + b) % 3)),
    )


def simulate(
    life: Life,
    protocol: str,
    options: Mapping[str, object],
    costs: CostModel | None = None,
    faults: Iterable[Fault] = (),
) -> Simulation:
    """Run a life until everything has settled."""
    run = simulation(life.overlay, protocol, options, costs)
    run.add_faults(faults)
    run.add_operations(life.operations)
    run.run(life.end / NANOSECONDS + 1)
    assert run.balance() == []
    return run


def agents(run: Simulation) -> dict[int, Any]:
    """All live agents by broker."""
    return {broker: host.agent for broker, host in run.hosts.items() if host.agent is not None}


def check_maps(run: Simulation) -> None:
    """All brokers, of one cluster, know the part of the overlay that they are connected to."""
    graph = run.overlay.graph
    for broker, agent in agents(run).items():
        assert isinstance(agent, DestinationRouting)
        (cluster,) = agent.clusters.values()
        map, part = cluster.multicast.map, nx.node_connected_component(graph, broker)
        assert map.reachable() == part - {broker}
        known = {broker: set(row) for broker, row in map.adjacency().items() if broker in part}
        assert known == {broker: set(graph.adj[broker]) for broker in part}


def check_clusters(run: Simulation, overlay: nx.Graph) -> None:
    """No message names a broker outside the cluster whose link it crosses."""
    members: dict[object, set[int]] = {}
    for a, b, cluster in overlay.edges(data="cluster"):
        members.setdefault(cluster, set()).update((a, b))
    assert isinstance(run.transport, Lists)
    for source, target, message in run.transport.log:
        named = {
            *getattr(message, "destinations", ()),
            *getattr(message, "sources", ()),
            *getattr(message, "neighbors", ()),
        }
        assert named <= members[overlay.edges[source, target]["cluster"]]


def publish_everywhere(run: Simulation, life: Life, brokers: Iterable[int]) -> list[Any]:
    """Publish what live brokers have announced; the deliveries of it."""
    start, before = run.transport.now, len(run.observer.deliveries)
    alive = set(brokers)
    run.add_operations(
        Operation(start, broker, "publish", attributes={"x": value})
        for broker, _, filter in life.advertised
        if broker in alive
        for value in values(filter)[::2]
    )
    run.run(start / NANOSECONDS + 1)
    return list(run.observer.deliveries[before:])
