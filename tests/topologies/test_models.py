"""The fitted models against their targets, and overlays grown on latencies."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from topologies import (
    LatencyMatrix,
    TopologyError,
    king_like,
    load_matrix,
    overlay_from_matrix,
    planetlab_like,
    require_tree,
)

PERCENTS = (5, 25, 50, 75, 95, 99)
KING_MS = (39, 87, 160, 242, 418, 693)
PLANETLAB_MS = (18.8, 59.1, 133.9, 203.2, 326, 404)


def mean_percentiles(model: Callable[..., LatencyMatrix], draws: int, hosts: int) -> list[float]:
    percentiles = [
        model(random.Random(seed), hosts=hosts).rtt_percentiles(PERCENTS) for seed in range(draws)
    ]
    return [1000 * float(value) for value in np.mean(percentiles, axis=0)]


def triangle_violations(matrix: LatencyMatrix) -> float:
    """The share of ordered triples for which a detour is shorter than the direct way."""
    delays = matrix.delays[:150, :150]
    n = len(delays)
    detours = delays[:, :, None] + delays[None, :, :]
    shorter = int((detours < delays[:, None, :] - 1e-12).sum())
    return shorter / (n * (n - 1) * (n - 2))


def test_king_like_latencies_have_the_quantiles_of_the_king_data() -> None:
    assert mean_percentiles(king_like, 10, 800) == pytest.approx(KING_MS, rel=0.06)


def test_a_scale_makes_all_latencies_of_a_model_longer_or_shorter() -> None:
    whole, scaled = (king_like(random.Random(1), hosts=40, scale=scale) for scale in (1.0, 0.5))
    assert scaled.delays == pytest.approx(whole.delays / 2, abs=1e-6)


def test_planetlab_like_latencies_have_the_quantiles_of_planetlab() -> None:
    measured = mean_percentiles(planetlab_like, 12, 490)
    assert measured[0] == pytest.approx(PLANETLAB_MS[0], rel=0.25)
    assert measured[1:] == pytest.approx(PLANETLAB_MS[1:], rel=0.05)


def test_models_violate_the_triangle_inequality_about_as_often_as_measurements() -> None:
    assert 0.03 < triangle_violations(king_like(random.Random(1), hosts=150)) < 0.08
    assert triangle_violations(king_like(random.Random(1), hosts=150, sigma=0.0)) < 0.001


def test_models_give_symmetric_delays_in_whole_microseconds() -> None:
    matrix = king_like(random.Random(1), hosts=50)
    assert matrix.symmetric
    assert matrix.delays == pytest.approx(np.round(matrix.delays, 6), abs=1e-15)
    assert matrix.delays[np.triu_indices(50, 1)].min() > 0
    assert matrix.name == "king-like-50"


def test_error_on_no_hosts() -> None:
    with pytest.raises(TopologyError, match="hosts = 0 must be at least 1"):
        king_like(random.Random(1), hosts=0)


def test_king_like_latencies_are_distributed_as_the_coordinates_they_were_fitted_to(
    data: Path,
) -> None:
    real = load_matrix(data / "latency/vivaldi_coords_p2psim.syscoord.txt")
    noisy = real.with_noise(random.Random(1))
    assert [1000 * q for q in noisy.rtt_percentiles(PERCENTS)] == pytest.approx(KING_MS, rel=0.01)
    pairs = np.triu_indices(len(real), 1)
    model = [king_like(random.Random(seed), hosts=1740).delays[pairs] for seed in range(3)]
    assert ks_distance(noisy.delays[pairs], np.concatenate(model)) < 0.04


def ks_distance(a: np.ndarray, b: np.ndarray) -> float:
    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    shares = [np.searchsorted(x, both, side="right") / len(x) for x in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


@pytest.mark.parametrize("neighbors", [None, 8])
def test_an_overlay_on_latencies_is_a_tree_with_the_matrix_delays(neighbors: int | None) -> None:
    matrix = king_like(random.Random(1), hosts=300)
    graph = overlay_from_matrix(matrix, 100, random.Random(2), neighbors=neighbors)
    require_tree(graph)
    hosts = [host for _, host in graph.nodes(data="host")]
    assert len(set(hosts)) == len(graph) == 100
    for u, v, delay in graph.edges(data="delay"):
        assert delay == matrix.delay(hosts[u], hosts[v])
    assert graph.nodes[0]["role"] == "root"


def test_an_overlay_on_all_pairs_holds_the_shortest_paths_from_its_root() -> None:
    matrix = king_like(random.Random(1), hosts=60)
    graph = overlay_from_matrix(matrix, 60, random.Random(2))
    part = matrix.submatrix([host for _, host in graph.nodes(data="host")])
    complete = nx.from_numpy_array(part.delays)
    shortest = nx.single_source_dijkstra_path_length(complete, 0, weight="weight")
    on_tree = nx.single_source_dijkstra_path_length(graph, 0, weight="delay")
    assert on_tree == pytest.approx(shortest)


def test_near_neighbors_make_a_deeper_overlay() -> None:
    matrix = king_like(random.Random(1), hosts=600)

    def children_of_root(neighbors: int | None) -> float:
        graphs = [
            overlay_from_matrix(matrix, 150, random.Random(seed), neighbors=neighbors)
            for seed in range(5)
        ]
        return sum(graph.degree[0] for graph in graphs) / len(graphs)

    assert children_of_root(8) < children_of_root(None) / 2


def test_an_overlay_takes_over_labels_and_averages_directions() -> None:
    matrix = LatencyMatrix(np.array([[0.0, 1.0], [3.0, 0.0]]), ("a", "b"))
    graph = overlay_from_matrix(matrix, 2, random.Random(1))
    assert graph.edges[0, 1]["delay"] == 2.0
    assert sorted(label for _, label in graph.nodes(data="label")) == ["a", "b"]


def test_an_overlay_of_one_broker_is_its_root() -> None:
    matrix = LatencyMatrix(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert len(overlay_from_matrix(matrix, 1, random.Random(1))) == 1


def test_error_on_more_brokers_than_hosts() -> None:
    with pytest.raises(TopologyError, match="brokers = 3 must be between 1 and 2"):
        overlay_from_matrix(LatencyMatrix(np.zeros((2, 2))), 3, random.Random(1))


def test_error_on_neighborhoods_that_do_not_reach_far_enough() -> None:
    far = np.array([[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 1], [9, 9, 1, 0]], dtype=float)
    sentence = r"neighbors = 1 is too small: only 2 of 3 hosts can be reached from host \d"
    with pytest.raises(TopologyError, match=sentence):
        overlay_from_matrix(LatencyMatrix(far), 3, random.Random(1), neighbors=1)
