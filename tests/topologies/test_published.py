"""The papers' overlays, held against what the papers and our decisions say of them."""

from __future__ import annotations

import random
from collections import Counter

import networkx as nx
import pytest

from topologies import TopologyError, require_tree
from topologies.published import cluster_line, clusters, overlay49, tiered, workflow


def roles(graph: nx.Graph) -> Counter[str]:
    return Counter(role for _, role in graph.nodes(data="role"))


def by_label(graph: nx.Graph) -> dict[str, int]:
    return {label: node for node, label in graph.nodes(data="label")}


def test_overlay49_has_5_core_12_inner_29_edge_and_3_publisher_brokers() -> None:
    graph = overlay49()
    require_tree(graph)
    assert list(graph) == list(range(49))
    assert roles(graph) == {"core": 5, "inner": 12, "edge": 29, "publisher": 3}


def test_overlay49_has_its_core_in_a_line_and_its_publishers_at_e() -> None:
    graph = overlay49()
    label = by_label(graph)
    core = graph.subgraph(label[letter] for letter in "ABCDE")
    assert sorted(core.edges) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    publishers = [node for node, role in graph.nodes(data="role") if role == "publisher"]
    assert [graph.nodes[node]["label"] for node in publishers] == ["E4a", "E4b", "E4c"]
    assert all(nx.shortest_path_length(graph, label["E"], node) == 2 for node in publishers)


def test_overlay49_hangs_3_and_2_edges_below_a_to_d_and_four_times_3_below_e() -> None:
    graph = overlay49()
    below = {
        letter: [graph.degree[inner] - 1 for inner in graph[core] if inner > 4]
        for letter, core in zip("ABCDE", range(5), strict=True)
    }
    assert below == {"A": [3, 2], "B": [3, 2], "C": [3, 2], "D": [3, 2], "E": [3, 3, 3, 3]}


def test_overlay49_regions_are_3_or_4_adjacent_brokers() -> None:
    graph = overlay49()
    for region in range(12):
        members = [node for node, number in graph.nodes(data="region") if number == region]
        assert len(members) in (3, 4)
        assert nx.is_connected(graph.subgraph(members))


def test_tiered_has_four_equal_regions_below_one_core_broker() -> None:
    graph = tiered()
    require_tree(graph)
    assert Counter(tier for _, tier in graph.nodes(data="tier")) == {0: 1, 1: 4, 2: 12, 3: 36}
    assert Counter(region for _, region in graph.nodes(data="region")) == {
        None: 1, 0: 13, 1: 13, 2: 13, 3: 13,
    }  # fmt: skip
    assert roles(graph) == {"core": 1, "inner": 16, "edge": 36}


def test_tiered_links_join_neighboring_tiers_of_one_region() -> None:
    graph = tiered(regions=3, tiers=5, fanout=2)
    for upper, lower in graph.edges:
        assert graph.nodes[lower]["tier"] == graph.nodes[upper]["tier"] + 1
        assert upper == 0 or graph.nodes[lower]["region"] == graph.nodes[upper]["region"]


def test_tiered_of_two_tiers_is_a_star() -> None:
    graph = tiered(tiers=2)
    assert sorted(graph.edges) == [(0, 1), (0, 2), (0, 3), (0, 4)]
    assert roles(graph) == {"core": 1, "edge": 4}


def test_workflow_has_four_domains_of_ten_brokers_in_three_levels() -> None:
    graph = workflow()
    require_tree(graph)
    assert len(graph) == 40
    for domain in range(4):
        members = [node for node, number in graph.nodes(data="domain") if number == domain]
        levels = Counter(graph.nodes[node]["level"] for node in members)
        assert levels == {0: 1, 1: 3, 2: 6}
        assert nx.is_connected(graph.subgraph(members))


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_ten_of_ten_with_mean_degree_6(seed: int) -> None:
    graph = clusters(random.Random(seed))
    assert list(graph) == list(range(100))
    assert graph.graph["mean_degree"] == 6.0
    assert roles(graph) == {"edge": 10, "internal": 90}
    for cluster in range(10):
        members = range(cluster * 10, cluster * 10 + 10)
        assert {graph.nodes[node]["cluster"] for node in members} == {cluster}
        assert graph.nodes[members[0]]["role"] == "edge"
        assert nx.is_connected(graph.subgraph(members))
    assert nx.is_connected(graph.subgraph(range(0, 100, 10)))


def test_clusters_touch_each_other_in_the_core_only() -> None:
    graph = clusters(random.Random(3))
    for u, v, cluster in graph.edges(data="cluster"):
        homes = {graph.nodes[u]["cluster"], graph.nodes[v]["cluster"]}
        if cluster == 10:
            assert {graph.nodes[u]["role"], graph.nodes[v]["role"]} == {"edge"}
        else:
            assert homes == {cluster}


def test_cluster_line_shares_its_middle_broker_between_two_clusters() -> None:
    graph = cluster_line(brokers=10)
    assert [cluster for _, _, cluster in graph.edges(data="cluster")] == [0] * 5 + [1] * 4
    assert [node for node, role in graph.nodes(data="role") if role == "edge"] == [5]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tiered(tiers=1), r"tiers = 1 must be at least 2"),
        (lambda: tiered(fanout=0), r"fanout = 0 must be at least 1"),
        (lambda: workflow(domains=0), r"domains = 0 must be at least 1"),
        (lambda: clusters(random.Random(), size=0), r"size = 0 must be at least 1"),
        (
            lambda: clusters(random.Random(), degree=12.0),
            r"degree = 12.0 is impossible for these clusters: it must be between 1.98 and 9.9",
        ),
    ],
)
def test_error_on_impossible_values(make, sentence: str) -> None:
    with pytest.raises(TopologyError, match=sentence):
        make()
