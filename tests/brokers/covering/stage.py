"""Random lives of advertisement-based brokers, and what their tables must be, from scratch.

Hypothesis draws the sizes and a seed; the rest of a life comes from the seed, as in `plans`.
Filters are boxes of whole numbers, some in one of two classes, so that covering is frequent and two
filters mean the same only if they are equal.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from pysim.brokers import make
from pysim.brokers.covering import CoveringRouting
from pysim.filters import Filter, canonical, parse
from pysim.filters.covering import covers, intersects
from pysim.network import NANOSECONDS, CostModel, LinkSettings, MemoryTransport, Simulation
from pysim.network.observer import Observer
from pysim.wire import Envelope, Message, MessageId
from pysim.wire.messages import (
    CountedEvent,
    Event,
    PackedUnsubscribe,
    PrunedUnsubscribe,
    Subscribe,
    Withdraw,
)
from pysim.workloads.operations import Operation

MS = 1_000_000
BEGIN = 20 * MS
"""By then all links are up."""
SETTLED = 100
"""Milliseconds after which whatever happened has come to its end everywhere."""
HASTY = (0, 0, 1, 2, 5)
"""Milliseconds between operations that overlap; a link takes one, two or three."""
SIDE = 8

PROTOCOLS = (
    "no-covering",
    "active-covering",
    "lazy-covering",
    "subscription-packing",
    "incremental-unsubscription",
)


@dataclass
class Life:
    """What clients do on a tree until `end` (ns), and what stands then."""

    tree: nx.Graph
    operations: list[Operation] = field(default_factory=list)
    end: int = BEGIN
    advertised: list[tuple[int, int, Filter]] = field(default_factory=list)
    """By broker and client; so are subscriptions."""
    subscribed: list[tuple[int, int, Filter]] = field(default_factory=list)

    def __repr__(self) -> str:
        return "\n".join([f"tree {sorted(self.tree.edges)}", *map(str, self.operations)])


class Author:
    """Writes a life, operation by operation."""

    def __init__(self, seed: int, brokers: int) -> None:
        self.random = random.Random(seed)
        tree = nx.Graph()
        tree.add_nodes_from(range(brokers))
        tree.add_edges_from((child, self.random.randrange(child)) for child in range(1, brokers))
        self.life = Life(tree)
        self.clients = 0

    def wait(self, milliseconds: int) -> None:
        self.life.end += milliseconds * MS

    def broker(self) -> int:
        return self.random.randrange(len(self.life.tree))

    def advertise(self) -> None:
        """Wide boxes mostly; some narrow ones that few subscriptions intersect."""
        filter = self.box(widest=SIDE if self.random.random() < 0.6 else 3)
        self._begin("advertise", self.life.advertised, self.broker(), filter)

    def subscribe(self, widest: int = SIDE) -> None:
        """Two clients of one broker, or one, may well want the same."""
        known = self.life.subscribed
        if known and self.random.random() < 0.2:
            broker, client, filter = self.random.choice(known)
            if self.random.random() < 0.5:
                broker, client = self.broker(), client + 1000
            self._act("subscribe", broker, client, filter)
            if (broker, client, filter) not in known:
                known.append((broker, client, filter))
        else:
            self._begin("subscribe", known, self.broker(), self.box(widest))

    def unadvertise(self) -> None:
        self._end("unadvertise", self.life.advertised)

    def unsubscribe(self) -> None:
        self._end("unsubscribe", self.life.subscribed)

    def publish(self) -> None:
        """An event that an advertisement of its broker announced."""
        if self.life.advertised:
            broker, client, filter = self.random.choice(self.life.advertised)
            self.publish_event(broker, client, self.point(filter))

    def publish_event(self, broker: int, client: int, event: Mapping[str, Any]) -> None:
        self.life.operations.append(
            Operation(self.life.end, broker, "publish", client, attributes=dict(event))
        )

    def box(self, widest: int) -> Filter:
        parts = []
        for name in ("x", "y"):
            low = self.random.randrange(SIDE)
            high = min(SIDE - 1, low + self.random.randrange(widest))
            if name == "x" or self.random.random() < 0.6:
                parts.append(f"{name} in [{low}, {high}]")
        if self.random.random() < 0.4:
            parts.append(f'class = "{self.random.choice("ab")}"')
        return _filter(" and ".join(parts))

    def point(self, filter: Filter) -> dict[str, Any]:
        return self.random.choice(points_of(filter))

    def _begin(
        self, action: Any, standing: list[tuple[int, int, Filter]], broker: int, filter: Filter
    ) -> None:
        self.clients += 1
        standing.append((broker, self.clients, filter))
        self._act(action, broker, self.clients, filter)

    def _end(self, action: Any, standing: list[tuple[int, int, Filter]]) -> None:
        if standing:
            place = self.random.randrange(len(standing))
            self._act(action, *standing.pop(place))

    def _act(self, action: Any, broker: int, client: int, filter: Filter) -> None:
        self.life.operations.append(Operation(self.life.end, broker, action, client, filter=filter))


@cache
def _filter(text: str) -> Filter:
    return canonical(parse(text))


@cache
def all_points() -> tuple[dict[str, Any], ...]:
    return tuple(
        {"x": x, "y": y, "class": c} for x in range(SIDE) for y in range(SIDE) for c in "ab"
    )


@cache
def points_of(filter: Filter) -> tuple[dict[str, Any], ...]:
    """The events that a filter matches, of those with whole numbers."""
    return tuple(point for point in all_points() if filter.matches(point))


@st.composite
def authors(draw: st.DrawFn, max_brokers: int = 9) -> tuple[Author, int]:
    """An author, and how many operations it is to write."""
    brokers = draw(st.integers(1, max_brokers))
    steps = draw(st.sampled_from((2, 5, 10, 20, 30, 40)))
    return Author(draw(st.integers(0, 2**64 - 1)), brokers), steps


class Eavesdropper(MemoryTransport):
    """A memory network that remembers where each event went, and logs all else in words."""

    def __init__(self) -> None:
        super().__init__()
        self.hops: dict[MessageId, list[tuple[int, int]]] = {}
        self.log: list[tuple[int, int, str]] = []
        self._filters: dict[MessageId, Filter] = {}

    def send(self, source: int, target: int, frame: bytes) -> None:
        super().send(source, target, frame)
        envelope = Envelope.open(frame)
        message = envelope.message
        if isinstance(message, Event | CountedEvent):
            self.hops.setdefault(envelope.id, []).append((source, target))
            self.last_event = message
        else:
            self.log.append((source, target, self._words(envelope.id, message)))

    def _words(self, id: MessageId, message: Message) -> str:
        match message:
            case Subscribe(filter):
                self._filters[id] = filter
                return f"SUB {filter}"
            case Withdraw(subscriptions):
                return "UNSUB " + ", ".join(str(self._filters[each]) for each in subscriptions)
            case PrunedUnsubscribe(subscription, distances):
                left = [distance for _, distance in distances]
                return f"UNSUB {self._filters[subscription]} {left}"
            case PackedUnsubscribe(subscription, new_roots):
                self._filters.update(new_roots)
                roots = ", ".join(str(filter) for _, filter in new_roots)
                return f"UNSUB {self._filters[subscription]} FOR {roots}".rstrip()
            case _:
                return message.NAME.upper()


def simulation(
    tree: nx.Graph,
    protocol: str,
    options: Mapping[str, Any],
    costs: CostModel | None = None,
    observer: Observer | None = None,
) -> Simulation:
    return Simulation(
        Eavesdropper(),
        tree,
        partial(make, protocol, **options),
        seed=1,
        costs=costs,
        link_settings=lambda a, b: LinkSettings(delay=(1 + (a + b) % 3) / 1000),
        observer=observer,
    )


def simulate(
    life: Life, protocol: str, options: Mapping[str, Any], costs: CostModel | None = None
) -> Simulation:
    """Carry a life out and wait until nothing moves any more."""
    run = simulation(life.tree, protocol, options, costs)
    run.add_operations(life.operations)
    run.run((life.end + 10 * NANOSECONDS) / NANOSECONDS)
    assert run.balance() == []
    return run


def agents(run: Simulation) -> dict[int, Any]:
    return {broker: host.agent for broker, host in run.hosts.items()}


# What tables must be


def expected_tables(
    life: Life, summary: Callable[[list[Filter]], Iterable[Filter]]
) -> dict[int, Counter[tuple[int, Filter]]]:
    """For each broker, how many entries of each filter it has from each side.

    `summary` says what a neighbor holds in place of filters that are wanted of it: `list` if
    nothing covers, `maximal` if covering is all there is.
    """
    tree = life.tree
    told: dict[tuple[int, int], list[Filter]] = {}

    def filters_at(broker: int, but: int | None) -> list[tuple[int, Filter]]:
        """What a broker has from all sides but one."""
        own = [(broker, filter) for where, _, filter in life.subscribed if where == broker]
        return own + [
            (neighbor, filter)
            for neighbor in tree.adj[broker]
            if neighbor != but
            for filter in sent(neighbor, broker)
        ]

    def sent(source: int, target: int) -> list[Filter]:
        if (source, target) not in told:
            side = behind(tree, source, target)
            announced = [filter for broker, _, filter in life.advertised if broker in side]
            wanted = [
                filter
                for _, filter in filters_at(source, target)
                if any(intersects(filter, each) for each in announced)
            ]
            told[source, target] = list(summary(wanted))
        return told[source, target]

    return {broker: Counter(filters_at(broker, None)) for broker in tree.nodes}


def maximal(filters: Iterable[Filter]) -> list[Filter]:
    """Each filter that no other covers, once."""
    distinct = list(dict.fromkeys(filters))
    return [f for f in distinct if not any(g != f and covers(g, f) for g in distinct)]


@cache
def _component(edges: frozenset[frozenset[int]], source: int, target: int) -> frozenset[int]:
    graph = nx.Graph([tuple(edge) for edge in edges])
    graph.remove_edge(source, target)
    return frozenset(nx.node_connected_component(graph, target))


def behind(tree: nx.Graph, source: int, target: int) -> frozenset[int]:
    """The brokers on the target's side of a link."""
    return _component(frozenset(map(frozenset, tree.edges)), source, target)


def tables(run: Simulation) -> dict[int, Counter[tuple[int, Filter]]]:
    return {
        broker: Counter((entry.last_hop, entry.filter) for entry in agent.subscriptions)
        for broker, agent in agents(run).items()
    }


def check_links(run: Simulation) -> None:
    """Both ends of a link agree on what was told, and it covers all that is wanted."""
    everyone: dict[int, CoveringRouting] = agents(run)
    for broker, agent in everyone.items():
        for neighbor, graph in agent.towards.items():
            told = [e for e in agent.subscriptions if neighbor in e.fwd]
            held = [e for e in everyone[neighbor].subscriptions if e.live and e.last_hop == broker]
            assert sorted(e.id for e in told) == sorted(e.id for e in held)
            assert set(graph.roots()) == set(told)
            wanted = [
                e
                for e in agent.subscriptions
                if e.live
                and e.last_hop != neighbor
                and agent.advertisements.is_wanted(neighbor, e.filter)
            ]
            assert set(wanted) == {e for e in agent.subscriptions if e.live and e in graph}
            assert all(any(covers(t.filter, e.filter) for t in told) for e in wanted)
        index = agent._storage._index
        assert all((entry in index) == entry.live for entry in agent.subscriptions)
        assert len(index) == sum(entry.live for entry in agent.subscriptions)
        assert agent.stored_size() == len(list(agent.subscriptions))


def check_orphans(run: Simulation) -> None:
    """Each orphan quenches something wherever it stands."""
    for agent in agents(run).values():
        orphans = [entry for entry in agent.subscriptions if not entry.live]
        assert agent.counters["orphans"] == len(orphans)
        for orphan in orphans:
            assert orphan.fwd
            for neighbor in orphan.fwd:
                graph = agent.towards[neighbor]
                others = [e for e in graph.roots() if e is not orphan]
                quenched = [e for e in agent.subscriptions if e in graph and e is not orphan]
                assert any(
                    covers(orphan.filter, e.filter)
                    and not any(covers(other.filter, e.filter) for other in others)
                    for e in quenched
                )


def needless_hops(run: Simulation, event: MessageId, attributes: Mapping[str, Any]) -> int:
    """How often an event crossed a link although nobody beyond it wants it now."""
    wanting = run.observer.interested_brokers(attributes)
    hops = run.transport.hops.get(event, [])  # type: ignore[attr-defined]
    tree = run.overlay.graph
    return sum(wanting.isdisjoint(behind(tree, source, target)) for source, target in hops)
