"""Latency matrices: what they refuse, and what they give."""

from __future__ import annotations

import random

import numpy as np
import pytest

from topologies import LatencyMatrix, TopologyError

THREE = [[0.0, 0.1, 0.2], [0.3, 0.0, 0.4], [0.5, 0.6, 0.0]]


def test_a_way_is_half_of_a_round_trip() -> None:
    matrix = LatencyMatrix.from_rtt([[0, 80], [80, 0]], unit=1e-3)
    assert matrix.delay(0, 1) == pytest.approx(0.040)


def test_a_submatrix_holds_the_hosts_named_in_that_order() -> None:
    part = LatencyMatrix(np.array(THREE), ("a", "b", "c")).submatrix([2, 0])
    assert part.delays.tolist() == [[0.0, 0.5], [0.2, 0.0]]
    assert part.labels == ("c", "a")


def test_the_array_is_a_copy_that_nobody_can_change() -> None:
    given = np.array(THREE)
    matrix = LatencyMatrix(given)
    given[0, 1] = 9.0
    assert matrix.delay(0, 1) == 0.1
    with pytest.raises(ValueError, match="read-only"):
        matrix.delays[0, 1] = 9.0


def test_symmetry_and_scale() -> None:
    assert not LatencyMatrix(np.array(THREE)).symmetric
    double = LatencyMatrix.from_rtt([[0, 2], [2, 0]]).scaled(2.0)
    assert double.symmetric
    assert double.delay(1, 0) == 2.0


def test_noise_is_log_normal_and_the_same_both_ways() -> None:
    flat = LatencyMatrix(np.ones((200, 200)) - np.eye(200))
    noisy = flat.with_noise(random.Random(1), 0.1)
    assert noisy.symmetric
    logs = np.log(noisy.delays[np.triu_indices(200, 1)])
    assert logs.std() == pytest.approx(0.1, rel=0.03)
    assert logs.mean() == pytest.approx(0.0, abs=0.005)
    assert np.array_equal(flat.with_noise(random.Random(1), 0.1).delays, noisy.delays)


def test_percentiles_are_of_round_trips_over_pairs() -> None:
    assert LatencyMatrix(np.array(THREE)).rtt_percentiles([0, 100]) == pytest.approx([0.4, 1.0])


@pytest.mark.parametrize(
    ("delays", "sentence"),
    [
        ([[0.0, 1.0]], r"must be square, not of shape \(1, 2\)"),
        ([0.0, 1.0], r"must be square, not of shape \(2,\)"),
        ([[0.0, float("nan")], [1.0, 0.0]], r"from host 0 to 1 is nan: it must be finite"),
        ([[0.0, 1.0], [-2.0, 0.0]], r"from host 1 to 0 is -2.0: it must be at least 0"),
        ([[0.0, 1.0], [1.0, 3.0]], r"from host 1 to 1 is 3.0: it must be 0 from a host to itself"),
    ],
)
def test_error_on_what_is_no_latency_matrix(delays: list[object], sentence: str) -> None:
    with pytest.raises(TopologyError, match=sentence):
        LatencyMatrix(np.array(delays))


def test_error_on_labels_that_do_not_fit() -> None:
    with pytest.raises(TopologyError, match="2 labels do not fit 3 hosts"):
        LatencyMatrix(np.array(THREE), ("a", "b"))


@pytest.mark.parametrize("index", [3, -1])
def test_error_on_a_host_that_does_not_exist(index: int) -> None:
    with pytest.raises(TopologyError, match=f"there is no host {index}: there are 3, from 0"):
        LatencyMatrix(np.array(THREE)).submatrix([0, index])
