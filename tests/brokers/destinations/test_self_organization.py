"""Links move to where events go; nobody is ever cut off, and no broker has too many."""

import random
from collections import Counter
from typing import Any

import networkx as nx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysim.network import NANOSECONDS, BrokerCrash, BrokerRestart, Simulation
from pysim.wire import Envelope
from pysim.wire.messages import OverlayPropose
from pysim.workloads.operations import Operation

from . import stage
from .stage import BEGIN, MS, QUIET

CYCLE = 4.0
SLOT = 0.2

many = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def talk(overlay: nx.Graph, pairs: list[tuple[int, int]], until: float) -> list[Operation]:
    """Each pair's second broker wants what the first publishes, ten times a second."""
    topics = {pair: stage.canonical(stage.parse(f"x = {n}")) for n, pair in enumerate(pairs)}
    operations = [
        *(Operation(BEGIN, a, "advertise", 1, f) for (a, _), f in topics.items()),
        *(Operation(BEGIN + 50 * MS, b, "subscribe", 1, f) for (_, b), f in topics.items()),
    ]
    for tick in range(round((until - 1) * 10)):
        operations += [
            Operation(BEGIN + (200 + 100 * tick) * MS, a, "publish", attributes={"x": number})
            for number, (a, _) in enumerate(pairs)
        ]
    return operations


def simulate(
    overlay: nx.Graph, pairs: list[tuple[int, int]], max_degree: int, until: float, **options: Any
) -> Simulation:
    settings = {**QUIET, "cycle": CYCLE, "slot": SLOT, "max_degree": max_degree, **options}
    run = stage.simulation(overlay, "d-dbr", settings)
    run.add_operations(talk(overlay, pairs, until))
    watch(run, max_degree)
    return run


def watch(run: Simulation, max_degree: int) -> None:
    """After every change that agents asked for, all live brokers are connected."""
    before = dict(run.overlay.graph.degree)
    cut, join = run.cut, run.join

    def check() -> None:
        graph = run.overlay.graph.subgraph(set(run.overlay.graph) - run.overlay.down)
        assert nx.is_connected(graph)
        for broker, degree in graph.degree:
            assert degree <= max(before[broker], max_degree) + 1  # one that goes for a new one

    def checked_cut(*given: Any) -> None:
        cut(*given)
        check()

    def checked_join(*given: Any) -> None:
        join(*given)
        check()

    run.cut, run.join = checked_cut, checked_join  # type: ignore[method-assign]


def totals(run: Simulation) -> "Counter[str]":
    return sum((agent.counters for agent in stage.agents(run).values()), Counter())


def test_a_link_is_made_between_brokers_that_talk_and_one_that_is_not_used_goes():
    overlay = nx.cycle_graph(6)
    run = simulate(overlay, [(0, 3)], max_degree=2, until=12)
    run.run(12)
    assert run.overlay.graph.has_edge(0, 3)
    assert nx.is_connected(run.overlay.graph)
    assert sorted(degree for _, degree in run.overlay.graph.degree) == [1, 1, 2, 2, 2, 2]
    assert [(c.a, c.b, c.opened) for c in run.link_changes] == [
        (3, 0, True),
        (0, 5, False),
        (3, 2, False),
    ]
    statement = run.observer.statement()
    assert statement.is_exact
    assert statement.made == statement.due
    counters = totals(run)
    assert counters["handshakes-organized"] == 2
    assert counters["no-route"] == counters["dead-link-messages"] == 0
    stage.check_maps(run)


def test_brokers_propose_one_after_the_other_in_slots_of_their_own():
    overlay = nx.cycle_graph(8)
    run = simulate(overlay, [(b, (b + 4) % 8) for b in overlay], max_degree=3, until=12)
    moments: list[tuple[int, int]] = []
    send_direct = run.transport.send_direct

    def noted(source: int, target: int, frame: bytes, protocol: Any) -> None:
        if Envelope.open(frame).type == OverlayPropose.CODE:
            moments.append((run.transport.now // MS, source))
        send_direct(source, target, frame, protocol)

    run.transport.send_direct = noted  # type: ignore[method-assign]
    run.run(8)
    assert moments == [(4000 + 500 * broker, broker) for broker in range(4)]
    assert totals(run)["handshakes-refused"] == 0


def test_a_bridge_is_never_given_up():
    overlay = nx.path_graph(5)
    run = simulate(overlay, [(0, 4), (4, 0)], max_degree=1, until=12)
    run.run(12)
    assert run.link_changes == []


def test_what_the_loss_of_a_link_counts_decides_which_link_goes():
    """Events go from 0 over 1 to 2, and for a link 0-2 each end has to give one up.

    0 --- 1 --- 2      0-1 and 1-2 are between brokers that exchange nothing, so by events between
    |   /       |      their ends they cost no more than the others, and the lowest neighbor goes.
    3 --------- 4      But they carry all events there are.
    """
    overlay = nx.Graph([(0, 1), (1, 2), (0, 3), (1, 3), (3, 4), (4, 2)])
    gone = {}
    for losses in ("ends", "carried"):
        run = simulate(overlay, [(0, 2)], max_degree=2, until=12, losses=losses)
        run.run(7.05)
        gone[losses] = {frozenset((c.a, c.b)) for c in run.link_changes if not c.opened}
        assert run.overlay.graph.has_edge(0, 2)
        assert run.observer.statement().is_exact
    assert gone == {
        "ends": {frozenset((0, 1)), frozenset((1, 2))},
        "carried": {frozenset((0, 3)), frozenset((2, 4))},
    }


def test_with_a_link_to_spare_nothing_is_given_up():
    run = simulate(nx.path_graph(5), [(0, 4)], max_degree=3, until=12)
    run.run(12)
    assert [(c.a, c.b, c.opened) for c in run.link_changes] == [(4, 0, True)]


@many
@given(st.integers(0, 2**32), st.integers(3, 10), st.integers(1, 4))
def test_it_never_disconnects_the_overlay_nor_exceeds_the_degree(seed, brokers, max_degree):
    draw = random.Random(seed)
    overlay = stage.random_overlay(draw, brokers)
    pairs = [tuple(draw.sample(range(brokers), 2)) for _ in range(draw.randint(1, 8))]
    run = simulate(overlay, pairs, max_degree, until=14)
    run.run(15)
    assert nx.is_connected(run.overlay.graph)
    for broker, degree in run.overlay.graph.degree:
        assert degree <= max(overlay.degree[broker], max_degree)
    stage.check_maps(run)
    statement = run.observer.statement()
    assert statement.is_exact
    assert statement.made == statement.due


@many
@given(st.integers(0, 2**32), st.integers(4, 8))
def test_a_crash_in_the_midst_of_it_leaves_no_handshake_open(seed, brokers):
    draw = random.Random(seed)
    overlay = stage.random_overlay(draw, brokers, more=2 * brokers)
    pairs = [tuple(draw.sample(range(brokers), 2)) for _ in range(6)]
    run = stage.simulation(
        overlay, "d-dbr", {**QUIET, "cycle": CYCLE, "slot": SLOT, "max_degree": 3}
    )
    run.add_operations(talk(overlay, pairs, 10))
    victim = draw.randrange(brokers)
    moment = round(draw.uniform(4.0, 8.0) * NANOSECONDS)
    run.add_faults([BrokerCrash(moment, victim), BrokerRestart(moment + 900 * MS, victim)])
    run.run(15.9)
    assert run.observer.statement().duplicate == 0
    for agent in stage.agents(run).values():
        assert agent._organization._handshake is None
    stage.check_maps(run)
