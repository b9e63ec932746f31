"""Checks and descriptions of topologies."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import pytest

from topologies import TopologyError, describe, require_connected, require_tree
from topologies.graphs import new_graph


def test_a_tree_passes_both_checks() -> None:
    graph = new_graph("line", 3, [(0, 1), (1, 2)])
    require_connected(graph)
    require_tree(graph)


def test_error_on_an_unreachable_broker_names_it() -> None:
    graph = new_graph("pieces", 5, [(0, 1), (2, 3)])
    sentence = (
        r"^topology 'pieces-5' is not connected: broker 2 cannot be reached from broker 0 "
        r"\(3 of 5 brokers are cut off\)$"
    )
    with pytest.raises(TopologyError, match=sentence):
        require_connected(graph)
    with pytest.raises(TopologyError, match=sentence):
        require_tree(graph)


def test_error_on_a_cycle_shows_it() -> None:
    graph = new_graph("ring", 5, [(0, 1), (1, 2), (2, 3), (1, 3), (3, 4)])
    with pytest.raises(
        TopologyError, match=r"^topology 'ring-5' is not a tree: 2-1-3-2 is a cycle"
    ):
        require_tree(graph)


def test_the_cycle_shown_is_a_cycle_of_the_graph() -> None:
    graph = nx.petersen_graph()
    with pytest.raises(TopologyError) as caught:
        require_tree(graph)
    cycle = [int(node) for node in str(caught.value).split(": ")[1].split(" ")[0].split("-")]
    assert cycle[0] == cycle[-1]
    assert all(graph.has_edge(u, v) for u, v in pairwise(cycle))
    assert len(set(cycle)) == len(cycle) - 1


def test_error_on_a_topology_without_brokers() -> None:
    with pytest.raises(TopologyError, match=r"^topology 'none-0' has no brokers$"):
        require_connected(new_graph("none", 0))


def test_a_description_holds_what_a_reader_asks_first() -> None:
    graph = new_graph("star", 4)
    graph.add_edge(0, 1, delay=0.001)
    graph.add_edge(0, 2, delay=0.004)
    graph.add_edge(0, 3)
    assert describe(graph) == {
        "name": "star-4",
        "kind": "star",
        "nodes": 4,
        "links": 3,
        "mean_degree": 1.5,
        "max_degree": 3,
        "diameter": 2,
        "tree": True,
        "components": 1,
        "delay_range": (0.001, 0.004),
    }


def test_a_description_of_pieces_has_no_diameter() -> None:
    facts = describe(new_graph("pieces", 4, [(0, 1), (1, 2), (0, 2)]))
    assert (facts["diameter"], facts["components"], facts["tree"]) == (None, 2, False)
    assert facts["delay_range"] is None


def test_a_description_of_nothing_does_not_fail() -> None:
    assert describe(new_graph("none", 0))["mean_degree"] == 0.0
