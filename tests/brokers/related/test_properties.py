"""On any connected overlay the baselines deliver what is due exactly once and route as they say."""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.brokers import make
from pysim.filters import parse
from pysim.network import AgentError, LinkSettings, MemoryTransport, Simulation, Streams
from pysim.wire import Envelope
from pysim.wire.messages import AddressedEvent, Event, VectorEvent
from pysim.workloads.operations import Operation

MS = 1_000_000
PROTOCOLS: list[tuple[str, dict[str, Any]]] = [
    ("event-flooding", {}),
    ("link-matching", {}),
    ("medym", {}),
    ("drp", {}),
    ("drp", {"bits": 3}),
    ("multicast-groups", {"groups": 4}),
    ("multicast-groups", {"groups": 1, "attribute": "price"}),
]
IDS = [f"{name}-{'-'.join(map(str, options.values()))}".rstrip("-") for name, options in PROTOCOLS]
EVENT_TYPES = (Event, VectorEvent, AddressedEvent)

WANTED = [
    parse(text)
    for text in (
        'symbol = "A"',
        'symbol = "A" and price < 5',
        'symbol = "B" and price < 7',
        "price < 3",
        'not symbol = "B"',
        "exists price",
    )
]
EVENTS: list[dict[str, Any]] = [
    {"symbol": "A", "price": 4},
    {"symbol": "B", "price": 6},
    {"symbol": "C", "price": 2},
    {"price": 9},
    {"symbol": "D"},
]


class Wiretap(MemoryTransport):
    """Notes every event that is sent, with its source, target and message."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[int, int, Envelope]] = []

    def send(self, source: int, target: int, frame: bytes) -> None:
        super().send(source, target, frame)
        self._note(source, target, frame)

    def send_direct(self, source: int, target: int, frame: bytes, protocol: Any) -> None:
        super().send_direct(source, target, frame, protocol)
        self._note(source, target, frame)

    def _note(self, source: int, target: int, frame: bytes) -> None:
        envelope = Envelope.open(frame)
        if isinstance(envelope.message, EVENT_TYPES):
            self.events.append((source, target, envelope))


@dataclass
class Case:
    """An overlay with cycles, and clients that come, publish and go."""

    graph: nx.Graph
    operations: list[Operation]
    delays: list[float]

    def run(self, protocol: str, options: dict[str, Any]) -> tuple[Simulation, Wiretap]:
        network = Wiretap()
        simulation = Simulation(
            network,
            self.graph,
            partial(make, protocol, **options),
            seed=1,
            link_settings=lambda a, b: LinkSettings(
                delay=self.delays[(7 * a + b) % len(self.delays)]
            ),
        )
        simulation.add_operations(self.operations)
        simulation.run(30.0)
        return simulation, network


def case(seed: int, brokers: int, steps: int) -> Case:
    random = Streams(seed).stream("case")
    graph = nx.Graph()
    graph.add_nodes_from(range(brokers))
    graph.add_edges_from((child, random.randrange(child)) for child in range(1, brokers))
    for _ in range(random.randrange(2 * brokers)):
        a, b = random.randrange(brokers), random.randrange(brokers)
        if a != b:
            graph.add_edge(a, b)
    held: set[tuple[int, int, int]] = set()
    operations = []
    for step in range(1, steps + 1):
        time = 1000 * MS + step * 500 * MS // 10
        who = (random.randrange(brokers), random.randrange(2), random.randrange(len(WANTED)))
        act = random.choice("ssupppp")
        if act == "p":
            event = random.choice(EVENTS)
            operations.append(Operation(time, who[0], "publish", attributes=event))
        elif act == "s":
            held.add(who)
            operations.append(Operation(time, *who[:1], "subscribe", who[1], WANTED[who[2]]))
        elif held:
            who = random.choice(sorted(held))
            held.remove(who)
            operations.append(Operation(time, who[0], "unsubscribe", who[1], WANTED[who[2]]))
    return Case(graph, operations, random.choices([0.0, 0.000_5, 0.001, 0.003], k=3))


cases = st.builds(
    case, st.integers(0, 2**64 - 1), st.integers(1, 12), st.sampled_from([5, 40, 120])
)


@pytest.mark.parametrize(("protocol", "options"), PROTOCOLS, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(cases)
def test_what_is_due_is_delivered_exactly_once(
    protocol: str, options: dict[str, Any], case: Case
) -> None:
    simulation, network = case.run(protocol, options)
    outcome = simulation.observer.statement()
    assert (outcome.missing, outcome.duplicate, outcome.spurious) == (0, 0, 0)
    assert simulation.balance() == []
    ways = Counter((source, target, event.id) for source, target, event in network.events)
    assert max(ways.values(), default=1) == 1  # never twice over one link in one direction
    if protocol != "event-flooding":
        arrivals = Counter((target, event.id) for _, target, event in network.events)
        assert max(arrivals.values(), default=1) == 1


@settings(max_examples=25, deadline=None)
@given(cases)
def test_flooding_uses_every_link(case: Case) -> None:
    _, network = case.run("event-flooding", {})
    published = [act for act in case.operations if act.action == "publish"]
    links = Counter((min(a, b), max(a, b)) for a, b, _ in network.events)
    assert all(links[min(a, b), max(a, b)] >= len(published) for a, b in case.graph.edges)
    brokers = len(case.graph)
    most = 2 * case.graph.number_of_edges() - (brokers - 1)
    assert len(network.events) <= len(published) * most


@settings(max_examples=25, deadline=None)
@given(cases)
def test_medym_sends_to_nobody_who_does_not_want_it_and_lists_shrink(case: Case) -> None:
    simulation, network = case.run("medym", {})
    received = sum(host.agent.counters["events-received"] for host in simulation.hosts.values())  # type: ignore[union-attr]
    wanted = sum(host.agent.counters["events-wanted"] for host in simulation.hosts.values())  # type: ignore[union-attr]
    assert received == wanted == len(network.events)
    came: dict[tuple[int, Any], int] = {}
    for source, target, event in network.events:
        assert isinstance(event.message, AddressedEvent)
        assert target in event.message.destinations
        length = came.get((source, event.id))
        assert length is None or len(event.message.destinations) < length
        came[target, event.id] = len(event.message.destinations)


@pytest.mark.parametrize("protocol", ["link-matching", "drp"])
@settings(max_examples=25, deadline=None)
@given(cases)
def test_an_event_goes_no_farther_than_to_who_wants_it(protocol: str, case: Case) -> None:
    """Every leaf of its tree is a broker at which it is delivered; DRP with a bit for each."""
    simulation, network = case.run(protocol, {})
    delivered = {(row.broker, *row.event) for row in simulation.observer.deliveries}
    passed_on = {(source, event.id) for source, _, event in network.events}
    for _, target, event in network.events:
        assert (target, event.id) in passed_on or (target, *event.id) in delivered


def test_a_vector_has_the_size_asked_for_whatever_is_in_it() -> None:
    plan = case(5, 12, 120)
    for bits, size in ((256, 32), (3, 1), (17, 3)):
        _, network = plan.run("drp", {"bits": bits})
        assert network.events
        for _, _, event in network.events:
            assert isinstance(event.message, VectorEvent)
            assert len(event.message.vector) == size


def received(plan: Case, protocol: str, options: dict[str, Any]) -> tuple[int, int]:
    """Events that brokers got from others and matched, and those of them that a client wanted."""
    simulation, _ = plan.run(protocol, options)
    agents: list[Any] = [host.agent for host in simulation.hosts.values()]
    names = ("events-received", "events-wanted")
    return tuple(sum(agent.counters[name] for agent in agents) for name in names)  # type: ignore[return-value]


def test_fewer_bits_and_fewer_groups_reach_more_brokers_in_vain() -> None:
    plan = case(11, 12, 120)
    exact, rough = (received(plan, "drp", {"bits": bits}) for bits in (12, 2))
    assert exact[0] == exact[1] == rough[1] < rough[0]
    many, one = (received(plan, "multicast-groups", {"groups": groups}) for groups in (64, 1))
    assert many[1] == one[1] == exact[1]
    assert exact[0] <= many[0] < one[0]


def test_subscriptions_are_at_every_broker_where_the_paper_says_so() -> None:
    plan = case(11, 12, 0)
    plan.operations = [
        Operation(1000 * MS, 3, "subscribe", 0, WANTED[0]),
        Operation(1001 * MS, 3, "subscribe", 1, WANTED[0]),
        Operation(1002 * MS, 5, "subscribe", 0, WANTED[0]),
    ]
    for protocol in ("link-matching", "medym", "drp"):
        simulation, _ = plan.run(protocol, {})
        agents: list[Any] = [host.agent for host in simulation.hosts.values()]
        stored = [agent.counters["stored-remote"] for agent in agents]
        assert stored == [2 - (broker in (3, 5)) for broker in range(12)]


@pytest.mark.parametrize(
    ("protocol", "options"), [("drp", {"bits": 0}), ("multicast-groups", {"groups": 0})]
)
def test_impossible_options_are_refused(protocol: str, options: dict[str, Any]) -> None:
    with pytest.raises(AgentError, match="should be from 1 to"):
        case(1, 3, 0).run(protocol, options)
