"""Networks like parts of the Internet: their structure, and their statistics against the maps."""

from __future__ import annotations

import math
import random
from collections import Counter
from statistics import mean, median, stdev

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import TopologyError
from topologies.internet import isp, transit_stub, waxman


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.integers(1, 6), st.integers())
@settings(max_examples=40, deadline=None)
def test_transit_stub_has_the_nodes_asked_for_and_is_connected(
    domains: int, transit: int, stubs: int, stub_nodes: int, seed: int
) -> None:
    graph = transit_stub(
        random.Random(seed),
        transit_domains=domains,
        transit_nodes=transit,
        stubs=stubs,
        stub_nodes=stub_nodes,
    )
    assert list(graph) == list(range(domains * transit * (1 + stubs * stub_nodes)))
    assert nx.is_connected(graph)
    assert Counter(role for _, role in graph.nodes(data="role"))["transit"] == domains * transit


def test_transit_stub_keeps_stub_traffic_in_stubs_of_one_transit_node() -> None:
    graph = transit_stub(random.Random(2), transit_domains=3)
    stubs = graph.subgraph(node for node, role in graph.nodes(data="role") if role == "stub")
    for component in nx.connected_components(stubs):
        domains = {graph.nodes[node]["label"].rpartition(".")[0] for node in component}
        assert len(domains) == 1
        gates = {v for node in component for v in graph[node] if v not in component}
        assert len(gates) == 1
        assert graph.nodes[gates.pop()]["role"] == "transit"


def test_transit_stub_has_the_links_and_lengths_of_gt_itms_100_node_example() -> None:
    graphs = [transit_stub(random.Random(seed)) for seed in range(30)]
    links = [graph.number_of_edges() for graph in graphs]
    assert abs(mean(links) - 166) < 2 * stdev(links)
    assert mean(map(mean, map(lengths, graphs))) == pytest.approx(18.8, rel=0.1)
    assert max(map(max, map(lengths, graphs))) < math.hypot(89, 89)


def test_transit_stub_has_the_links_and_lengths_of_gt_itms_1000_node_example() -> None:
    graphs = [transit_stub(random.Random(seed), transit_domains=10) for seed in range(4)]
    assert mean(graph.number_of_edges() for graph in graphs) == pytest.approx(1810, rel=0.04)
    assert mean(map(median, map(lengths, graphs))) == pytest.approx(38, rel=0.05)


def lengths(graph: nx.Graph) -> list[float]:
    """Link lengths in GT-ITM's units; the default unit is a millisecond."""
    return [1000 * delay for _, _, delay in graph.edges(data="delay")]


def test_waxman_makes_m_links_for_each_router_and_prefers_near_ones() -> None:
    graph = waxman(random.Random(4), routers=200)
    assert nx.is_connected(graph)
    assert graph.number_of_edges() == 1 + 2 * 198
    places = [(data["x"], data["y"]) for _, data in graph.nodes(data=True)]
    links = mean(math.dist(places[u], places[v]) for u, v in graph.edges)
    pairs = mean(math.dist(a, b) for a in places for b in places)
    assert links < 0.75 * pairs


@pytest.mark.parametrize("routers", [1, 2, 3])
def test_waxman_of_a_few_routers_is_complete(routers: int) -> None:
    graph = waxman(random.Random(0), routers=routers)
    assert graph.number_of_edges() == routers * (routers - 1) // 2


def test_isp_has_the_statistics_of_the_rocketfuel_maps() -> None:
    graphs = [isp(random.Random(seed), pops=36) for seed in range(30)]
    assert all(nx.is_connected(graph) for graph in graphs)
    sizes, neighbors, delays = [], [], []
    for graph in graphs:
        sizes += Counter(pop for _, pop in graph.nodes(data="pop")).values()
        pairs = {
            tuple(sorted((graph.nodes[u]["pop"], graph.nodes[v]["pop"]))): delay
            for u, v, delay in graph.edges(data="delay")
            if graph.nodes[u]["pop"] != graph.nodes[v]["pop"]
        }
        degree = Counter(pop for pair in pairs for pop in pair)
        neighbors += [degree[pop] for pop in range(36)]
        delays += pairs.values()
    assert mean(sizes) == pytest.approx(4.1, rel=0.1)
    assert mean(neighbors) == pytest.approx(3.2, rel=0.1)
    assert median(delays) == pytest.approx(0.004, rel=0.15)
    assert mean(delays) == pytest.approx(0.008, rel=0.15)
    assert mean(map(mean_degree, graphs)) == pytest.approx(4.8, rel=0.1)


def mean_degree(graph: nx.Graph) -> float:
    return 2 * graph.number_of_edges() / len(graph)


def test_isp_marks_the_routers_with_links_to_other_cities() -> None:
    graph = isp(random.Random(1), pops=10)
    for node, data in graph.nodes(data=True):
        abroad = any(graph.nodes[other]["pop"] != data["pop"] for other in graph[node])
        assert data["role"] == ("backbone" if abroad else "access")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda rng: transit_stub(rng, stubs=0), r"stubs = 0 must be at least 1"),
        (
            lambda rng: transit_stub(rng, stub_links=1.5),
            r"stub_links = 1.5 must be between 0 and 1",
        ),
        (
            lambda rng: transit_stub(rng, transit_links=0.0),
            r"transit_links = 0.0 is too small: no connected domain of 4 nodes in 10000 draws",
        ),
        (lambda rng: waxman(rng, routers=0), r"routers = 0 must be at least 1"),
        (lambda rng: waxman(rng, routers=5, beta=0.0), r"beta = 0.0 must be at least 0.01"),
        (lambda rng: isp(rng, pops=0), r"pops = 0 must be at least 1"),
    ],
)
def test_error_on_impossible_values(make, sentence: str) -> None:
    with pytest.raises(TopologyError, match=sentence):
        make(random.Random(1))
