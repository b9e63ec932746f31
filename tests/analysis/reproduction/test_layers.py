"""Where brokers stand in an overlay, told by its links."""

from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topologies
from analysis.reproduction.layers import layers


@st.composite
def trees(draw: st.DrawFn) -> nx.Graph:
    size = draw(st.integers(2, 30))
    parents = [draw(st.integers(0, child - 1)) for child in range(1, size)]
    return nx.Graph((child, parent) for child, parent in enumerate(parents, start=1))


@given(trees())
def test_the_core_is_a_line_and_everything_else_hangs_on_it(tree: nx.Graph) -> None:
    found = layers(tree.edges)
    core = tree.subgraph(found.core)
    assert nx.is_connected(core)
    assert max(degree for _, degree in core.degree) <= 2
    assert set(found.tier) == set(tree)
    for broker, tier in found.tier.items():
        assert tier == min(nx.shortest_path_length(tree, broker, each) for each in found.core)


@given(trees())
def test_one_peeling_less_would_leave_no_line(tree: nx.Graph) -> None:
    found = layers(tree.edges)
    around = set(found.core).union(*(tree.neighbors(broker) for broker in found.core))
    if set(found.core) != set(tree):
        assert max(degree for _, degree in tree.subgraph(around).degree) > 2


def test_the_published_overlay_has_five_core_brokers_and_twelve_inner_ones() -> None:
    overlay = topologies.build("overlay49", Random(1))
    found = layers(overlay.edges)
    roles = {role: [b for b in overlay if overlay.nodes[b]["role"] == role]
             for role in ("core", "inner", "edge", "publisher")}  # fmt: skip
    assert list(found.core) == roles["core"] == found.at(0)
    assert found.at(1) == roles["inner"]
    assert found.at(2) == sorted(roles["edge"] + roles["publisher"])


def test_the_tiered_overlay_has_one_core_broker_and_its_own_tiers() -> None:
    overlay = topologies.build("tiered", Random(1))
    found = layers(overlay.edges)
    assert found.core == (0,)
    assert dict(found.tier) == {broker: overlay.nodes[broker]["tier"] for broker in overlay}


def test_the_heads_of_a_workflows_domains_are_its_core() -> None:
    assert layers(topologies.build("workflow", Random(1)).edges).core == (0, 1, 2, 3)


def test_a_mesh_has_no_core() -> None:
    with pytest.raises(ValueError, match="no tree"):
        layers(nx.complete_graph(4).edges)
