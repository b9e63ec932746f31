"""Every protocol of the family decides the same on packets as on the plain network."""

import random
from collections.abc import Mapping
from functools import partial
from typing import Any

import networkx as nx
import pytest

from pysim.brokers import make
from pysim.network import (
    BrokerCrash,
    BrokerRestart,
    LinkBreak,
    LinkSettings,
    MemoryTransport,
    Simulation,
)
from pysim.workloads.operations import Operation
from tests.network.ns3_stage import simulation
from topologies.published import clusters

from . import stage
from .stage import BEGIN, MS, QUIET, Author, between

LINK = LinkSettings(delay=0.002, rate=1e9)
SLOW = {"heartbeat": 0.4, "misses": 2}

GENERAL = stage.random_overlay(random.Random(3), 14, more=10)
CLUSTERS = clusters(random.Random(5), clusters=4, size=4, degree=3.0)
TREE = nx.Graph(nx.bfs_edges(GENERAL, 0))

CASES = [
    pytest.param("fbr", {}, TREE, id="fbr"),
    pytest.param("fbr-general", {}, GENERAL, id="fbr-general"),
    pytest.param("d-dbr", SLOW, GENERAL, id="d-dbr"),
    pytest.param("merc", QUIET, CLUSTERS, id="merc"),
]


LOST, CRASHED = (0, 11), 13
"""A link and a broker without which the others are still connected."""


def outcome(run: Simulation, end: float) -> dict[str, Any]:
    run.run(end)
    assert run.balance() == []
    at = stage.agents(run)
    return {
        "deliveries": sorted((r.event, r.broker, r.client) for r in run.observer.deliveries),
        "tables": {broker: agent.routing_table() for broker, agent in at.items()},
        "counters": {broker: _decided(agent.counters) for broker, agent in at.items()},
        "links": sorted(map(sorted, run.overlay.graph.edges)),
    }


def _decided(counters: Mapping[str, int]) -> dict[str, int]:
    """Without what depends on which of two copies came first by a nanosecond."""
    return {name: value for name, value in counters.items() if name != "old-updates"}


def both(overlay: nx.Graph, protocol: str, options: dict[str, Any], prepare: Any) -> list[Any]:
    """What comes of a run on either network; `prepare` fills it and says when it ends."""
    broker = partial(make, protocol, **options)
    with simulation(overlay, broker, LINK) as packets:
        on_packets = outcome(packets, prepare(packets))
    plain = Simulation(MemoryTransport(), overlay, broker, seed=1, link_settings=lambda a, b: LINK)
    return [on_packets, outcome(plain, prepare(plain))]


@pytest.mark.parametrize(("protocol", "options", "overlay"), CASES)
def test_both_networks_come_to_the_same_decisions(protocol, options, overlay):
    def prepare(run: Simulation) -> float:
        author = Author(random.Random(11), overlay)
        life = author.write(60, (40,), "aasssuuppppw")
        run.add_operations(life.operations)
        return life.end / 1e9 + 0.5

    on_packets, plain = both(overlay, protocol, options, prepare)
    assert on_packets == plain
    assert plain["deliveries"]


def test_both_networks_recover_alike_from_failures_that_heartbeats_find():
    everything = between(0, 7)
    rest = nx.restricted_view(GENERAL, [CRASHED], [LOST])
    assert nx.is_connected(rest)

    def prepare(run: Simulation) -> float:
        run.add_operations(
            [
                *(Operation(BEGIN, b, "advertise", 1, everything) for b in (0, 5, 9)),
                *(Operation(BEGIN + 200 * MS, b, "subscribe", 1, everything) for b in GENERAL),
                *(
                    Operation(BEGIN + second * 1000 * MS, b, "publish", attributes={"x": 1})
                    for second in (1, 4, 8)
                    for b in (0, 5, 9)
                ),
            ]
        )
        a, b = LOST
        run.add_faults(
            [
                LinkBreak(BEGIN + 1500 * MS, a, b),
                BrokerCrash(BEGIN + 1700 * MS, CRASHED),
                BrokerRestart(BEGIN + 5000 * MS, CRASHED),
            ]
        )
        return 10.0

    on_packets, plain = both(GENERAL, "d-dbr", SLOW, prepare)
    assert on_packets["deliveries"] == plain["deliveries"]
    assert on_packets["tables"] == plain["tables"]
    assert len(plain["deliveries"]) == 3 * (14 + 13 + 13)


def test_both_networks_reorganize_alike():
    options = {**QUIET, "cycle": 4.0, "slot": 0.25, "max_degree": 3}
    overlay = nx.cycle_graph(8)

    def prepare(run: Simulation) -> float:
        from .test_self_organization import talk

        run.add_operations(talk(overlay, [(0, 4), (2, 6), (4, 0)], 12))
        return 13.0

    on_packets, plain = both(overlay, "d-dbr", options, prepare)
    assert on_packets == plain
    assert [0, 4] in plain["links"]
    assert [2, 6] in plain["links"]
