"""Lines, stars, trees and flat random graphs: what every one of them must be."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import TopologyError, require_tree
from topologies.generators import (
    balanced_tree,
    connected_links,
    line,
    random_graph,
    random_tree,
    star,
)

sizes = st.integers(1, 120)
degrees = st.integers(2, 8)
seeds = st.integers(0, 2**32)


def max_degree(graph: nx.Graph) -> int:
    return max(degree for _, degree in graph.degree())


@given(sizes)
def test_a_line_links_each_broker_to_the_next(brokers: int) -> None:
    assert list(line(brokers=brokers).edges) == [(i, i + 1) for i in range(brokers - 1)]


@given(sizes)
def test_a_star_links_broker_0_to_all_others(brokers: int) -> None:
    assert list(star(brokers=brokers).edges) == [(0, i) for i in range(1, brokers)]


def test_a_balanced_tree_gives_the_root_as_many_links_as_any_other_broker() -> None:
    graph = balanced_tree(brokers=8, max_degree=3)
    assert list(graph.edges) == [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (2, 7)]


@given(sizes, degrees)
def test_a_balanced_tree_is_a_tree_within_its_degree(brokers: int, degree: int) -> None:
    graph = balanced_tree(brokers=brokers, max_degree=degree)
    assert list(graph) == list(range(brokers))
    require_tree(graph)
    assert max_degree(graph) <= degree


@given(sizes, degrees)
def test_a_balanced_tree_has_leaves_on_its_two_last_levels_only(brokers: int, degree: int) -> None:
    graph = balanced_tree(brokers=brokers, max_degree=degree)
    depths = nx.single_source_shortest_path_length(graph, 0)
    leaves = [depths[node] for node in graph if node and graph.degree[node] == 1]
    assert all(depth >= max(depths.values()) - 1 for depth in leaves)


@given(sizes, degrees, seeds)
def test_a_random_tree_is_a_tree_within_its_degree(brokers: int, degree: int, seed: int) -> None:
    graph = random_tree(random.Random(seed), brokers=brokers, max_degree=degree)
    assert list(graph) == list(range(brokers))
    require_tree(graph)
    assert max_degree(graph) <= degree


def test_a_random_tree_is_deeper_than_a_balanced_one() -> None:
    depths = [
        nx.diameter(random_tree(random.Random(seed), brokers=100, max_degree=4))
        for seed in range(10)
    ]
    assert min(depths) > nx.diameter(balanced_tree(brokers=100, max_degree=4))


def test_a_tree_of_degree_1_holds_two_brokers() -> None:
    assert list(balanced_tree(brokers=2, max_degree=1).edges) == [(0, 1)]
    assert list(random_tree(random.Random(0), brokers=2, max_degree=1).edges) == [(0, 1)]


@given(st.integers(2, 60), st.floats(0, 1), seeds)
@settings(max_examples=60, deadline=None)
def test_a_random_graph_from_a_tree_is_connected_at_any_degree(
    brokers: int, share: float, seed: int
) -> None:
    sparsest, densest = 2 * (brokers - 1) / brokers, brokers - 1
    degree = sparsest + share * (densest - sparsest)
    graph = random_graph(random.Random(seed), brokers=brokers, degree=degree, connect="tree")
    assert list(graph) == list(range(brokers))
    assert nx.is_connected(graph)
    assert graph.graph["mean_degree"] == pytest.approx(degree, abs=1 / brokers + 1e-9)


@pytest.mark.parametrize(("brokers", "degree"), [(1, 0.0), (2, 1.0), (70, 3.0), (100, 6.0)])
def test_a_random_graph_is_drawn_until_connected(brokers: int, degree: float) -> None:
    graph = random_graph(random.Random(1), brokers=brokers, degree=degree)
    assert nx.is_connected(graph)
    assert graph.graph["mean_degree"] == degree


def test_random_links_are_uniform_among_all_pairs() -> None:
    rng = random.Random(5)
    counts = dict.fromkeys([(u, v) for v in range(4) for u in range(v)], 0)
    for _ in range(3000):
        for link in connected_links(rng, 4, 4):
            counts[link] += 1
    assert all(abs(count - 2000) < 150 for count in counts.values())


def test_the_same_stream_gives_the_same_graph_and_another_another() -> None:
    first, again, other = (
        list(random_graph(random.Random(seed), brokers=50).edges) for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: line(brokers=0), r"brokers = 0 must be at least 1"),
        (lambda: star(brokers=-3), r"brokers = -3 must be at least 1"),
        (
            lambda: balanced_tree(brokers=3, max_degree=1),
            r"max_degree = 1 cannot hold 3 brokers: a tree of more than 2 needs at least 2",
        ),
        (
            lambda: random_tree(random.Random(), brokers=5, max_degree=0),
            r"max_degree = 0 must be at least 1",
        ),
        (
            lambda: random_graph(random.Random(), brokers=10, degree=10.0),
            r"degree = 10.0 is impossible for a connected graph of 10 brokers: it must be between "
            r"1.8 and 9$",
        ),
        (
            lambda: random_graph(random.Random(), brokers=10, degree=float("nan")),
            r"degree = nan must be at least 0",
        ),
        (
            lambda: random_graph(random.Random(), brokers=1000, degree=3.0),
            r"1000 brokers and 1500 links is too sparse .* \(about 50 brokers would have no link\)"
            r": raise the degree towards 6.9, or set connect = 'tree'",
        ),
    ],
)
def test_error_on_impossible_values(make, sentence: str) -> None:
    with pytest.raises(TopologyError, match=sentence):
        make()
