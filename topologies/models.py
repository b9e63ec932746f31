"""Latency models fitted to measurements, and overlays grown on latencies; no file is read.

Both models put hosts at points of a plane, each with a height, in clusters (continents, good and
bad access lines). The one-way delay of a pair is distance + both heights, times log-normal noise of
sigma 0.10. The clusters are Gaussian mixtures fitted by expectation maximization to the coordinates
(x, y, log(height + offset)) of measured hosts; the sources are named at each model. The number of
clusters and the offset were then chosen, among some thirty tries a model, by the RTT percentiles
that the docstrings compare: these show the quality of a fit, and are no test of it on other data.
No measurement is contained here, only these parameters.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Annotated

import networkx as nx
import numpy as np
import numpy.typing as npt

from topologies.errors import TopologyError, check_range
from topologies.graphs import new_graph
from topologies.latency import Array, LatencyMatrix, coordinate_delays

Mask = npt.NDArray[np.bool_]

NOISE = 0.10
"""Sigma of the log-normal noise of a pair: the residual of 2-D + height fits to real matrices."""

Hosts = Annotated[int, "number of hosts that latencies are drawn for"]
Sigma = Annotated[float, "sigma of the log-normal noise of each pair"]
Scale = Annotated[float, "what every latency is multiplied by"]

KING_TO_PEERWISE = 0.74
"""Factor (`scale`) from King-like latencies to those of PeerWise, which PopSub used:
the 50-node sample known of it has a median RTT of 118 ms."""


@dataclass(frozen=True)
class _Cluster:
    """A share of the hosts; means and deviations of their coordinates, in ms one way."""

    weight: float
    x: float
    y: float
    sd_x: float
    sd_y: float
    correlation: float
    log_height: float
    sd_log_height: float


@dataclass(frozen=True)
class _Model:
    name: str
    clusters: tuple[_Cluster, ...]
    height_offset: float
    max_height: float


# Fitted to the 1740 Vivaldi coordinates of the King data set (p2psim) that SimGrid ships.
_KING = _Model(
    name="king-like",
    clusters=(
        _Cluster(0.355, 2.6, 1.9, 6.3, 11.2, -0.14, 2.13, 0.67),
        _Cluster(0.159, 3.7, 4.3, 12.1, 15.5, -0.22, 0.32, 0.79),
        _Cluster(0.114, 5.9, -60.0, 15.0, 9.4, 0.02, 0.06, 0.76),
        _Cluster(0.105, 7.4, 17.9, 27.2, 39.7, -0.08, 3.95, 0.66),
        _Cluster(0.090, -6.3, 88.3, 38.8, 16.1, 0.49, 0.64, 1.19),
        _Cluster(0.083, 3.8, -53.2, 9.4, 6.6, 0.06, 2.53, 0.73),
        _Cluster(0.051, 30.4, 18.0, 64.4, 77.6, 0.37, 0.68, 1.22),
        _Cluster(0.026, 4.3, -4.0, 7.2, 3.9, 0.05, 4.28, 0.19),
        _Cluster(0.018, -58.0, -23.1, 129.0, 60.3, -0.18, 3.70, 1.38),
    ),
    height_offset=0.2,
    max_height=300.0,
)

# Fitted to a 2-D + height embedding of the 490 x 490 PlanetLab round-trip times of Zhu et al.
_PLANETLAB = _Model(
    name="planetlab-like",
    clusters=(
        _Cluster(0.436, -35.8, 2.8, 6.6, 11.5, 0.33, 0.99, 0.93),
        _Cluster(0.377, 31.4, -2.6, 15.5, 7.1, 0.17, 0.50, 0.65),
        _Cluster(0.080, 86.9, -70.0, 27.2, 23.9, 0.82, 0.53, 0.81),
        _Cluster(0.053, 30.1, 5.8, 64.0, 13.3, 0.82, 3.23, 0.39),
        _Cluster(0.031, 21.9, -13.3, 2.6, 1.1, 0.58, 4.40, 0.18),
        _Cluster(0.024, 56.7, 95.2, 15.3, 10.6, 0.80, 1.07, 1.19),
    ),
    height_offset=1.0,
    max_height=100.0,
)


def king_like(
    rng: random.Random, *, hosts: Hosts = 1715, sigma: Sigma = NOISE, scale: Scale = 1.0
) -> LatencyMatrix:
    """Latencies like those between name servers that the King method measured.

    Source of the fit: the p2psim Vivaldi coordinates (King data set, Gummadi et al., IMW 2002).
    RTT percentiles 5/25/50/75/95/99 of the data with the same noise: 39/87/160/242/418/693 ms; the
    model: 40/86/159/244/429/681 ms (mean of 20 draws of 1715 hosts; KS distance 0.019), with 4.6 %
    of triangles violated.
    """
    return _draw(_KING, rng, hosts, sigma, scale)


def planetlab_like(
    rng: random.Random, *, hosts: Hosts = 490, sigma: Sigma = NOISE, scale: Scale = 1.0
) -> LatencyMatrix:
    """Latencies like those between PlanetLab nodes.

    Source of the fit: Zhu, Liu, Niu, Li and Zhao, "Network latency estimation for personal devices:
    a matrix completion approach", IEEE/ACM ToN 25(2), 2017. RTT percentiles 5/25/50/75/95/99 of the
    data: 19/59/134/203/326/404 ms; the model: 22/59/137/204/330/406 ms (mean of 20 draws of 490
    hosts; KS distance 0.032). The shortest come out 17 % too long, of which hosts at one site (0.5
    % of the pairs, not modelled) explain a third; 7.8 % of triangles are violated, not 5.6.
    """
    return _draw(_PLANETLAB, rng, hosts, sigma, scale)


def overlay_from_matrix(
    matrix: LatencyMatrix, brokers: int, rng: random.Random, *, neighbors: int | None = None
) -> nx.Graph:
    """An overlay tree grown on latencies, as PopSub does (popsub.txt, Sec. 5.1).

    A root is drawn, a breadth-first search from it collects `brokers` hosts, and the overlay is the
    shortest-path tree from the root within that subgraph. In a complete matrix every host is a
    neighbor of the root, so the search collects a random subset and the tree is shallow (a quarter
    to a half of 200 King-like brokers are children of the root). With `neighbors`, two hosts count
    as linked only if one is among that many nearest of the other: more local, and deeper.

    The root is broker 0. Node attributes: `host` (index in the matrix), `label` if the matrix has
    labels, `role` ("root", "top" for its children, "inner", "edge"); link attribute `delay`. The
    latencies between all brokers, for packets off the tree, are `matrix.submatrix(hosts)`, the
    hosts in broker order.
    """
    check_range("brokers", brokers, 1, len(matrix))
    linked = _linked(matrix.delays, neighbors)
    hosts = _breadth_first(linked, rng, rng.randrange(len(matrix)), brokers)
    if len(hosts) < brokers:
        raise TopologyError(
            f"neighbors = {neighbors} is too small: only {len(hosts)} of {brokers} hosts can be "
            f"reached from host {hosts[0]}"
        )
    within = np.ix_(hosts, hosts)
    # Both directions of an overlay link share one delay.
    delays = (matrix.delays[within] + matrix.delays[within].T) / 2
    parents = _shortest_path_tree(np.where(linked[within], delays, np.inf))
    graph = new_graph("overlay-from-matrix", brokers)
    for broker, host in enumerate(hosts):
        graph.nodes[broker]["host"] = host
        if matrix.labels is not None:
            graph.nodes[broker]["label"] = matrix.labels[host]
    for broker in range(1, brokers):
        parent = parents[broker]
        graph.add_edge(parent, broker, delay=float(delays[parent, broker]))
    for broker in graph:
        graph.nodes[broker]["role"] = "inner" if graph.degree[broker] > 1 else "edge"
    for child in graph.adj[0]:
        graph.nodes[child]["role"] = "top"
    graph.nodes[0]["role"] = "root"
    return graph


def _draw(
    model: _Model, rng: random.Random, hosts: int, sigma: float, scale: float
) -> LatencyMatrix:
    check_range("hosts", hosts, 1)
    check_range("scale", scale, 0)
    weights = [cluster.weight for cluster in model.clusters]
    points = [
        _point(rng, model, cluster) for cluster in rng.choices(model.clusters, weights, k=hosts)
    ]
    x, y, height = np.array(points).T
    milliseconds = coordinate_delays(x, y, height)
    noisy = LatencyMatrix(milliseconds / 1000).with_noise(rng, sigma)
    # Whole microseconds: the last bit of exp differs between machines, and must not reach a packet.
    return LatencyMatrix(np.round(noisy.delays * scale, 6), name=f"{model.name}-{hosts}")


def _point(rng: random.Random, model: _Model, cluster: _Cluster) -> tuple[float, float, float]:
    a, b = rng.gauss(0, 1), rng.gauss(0, 1)
    r = cluster.correlation
    height = math.exp(rng.gauss(cluster.log_height, cluster.sd_log_height)) - model.height_offset
    return (
        cluster.x + cluster.sd_x * a,
        cluster.y + cluster.sd_y * (r * a + math.sqrt(1 - r * r) * b),
        min(max(height, 0.0), model.max_height),
    )


def _linked(delays: Array, neighbors: int | None) -> Mask:
    """Which hosts are neighbors: all of them, or the nearest, mutually."""
    n = len(delays)
    if neighbors is None:
        return ~np.eye(n, dtype=bool)
    check_range("neighbors", neighbors, 1)
    away = delays + np.where(np.eye(n, dtype=bool), np.inf, 0.0)
    nearest = np.argsort(away, axis=1, kind="stable")[:, : min(neighbors, n - 1)]
    linked = np.zeros((n, n), dtype=bool)
    linked[np.arange(n)[:, None], nearest] = True
    return linked | linked.T


def _breadth_first(linked: Mask, rng: random.Random, root: int, size: int) -> list[int]:
    """Up to `size` hosts in the order a search from the root meets them, neighbors at random."""
    found, queue = {root}, [root]
    for host in queue:
        fresh = [int(other) for other in np.flatnonzero(linked[host]) if other not in found]
        rng.shuffle(fresh)
        found.update(fresh)
        queue.extend(fresh)
        if len(queue) >= size:
            break
    return queue[:size]


def _shortest_path_tree(lengths: Array) -> list[int]:
    """Dijkstra on a full matrix: the parent of each node on its shortest path from node 0."""
    distance = np.full(len(lengths), np.inf)
    distance[0] = 0.0
    parents = np.zeros(len(lengths), dtype=np.intp)
    waiting = np.ones(len(lengths), dtype=bool)
    for _ in range(len(lengths)):
        nearest = int(np.argmin(np.where(waiting, distance, np.inf)))
        waiting[nearest] = False
        through = distance[nearest] + lengths[nearest]
        shorter = waiting & (through < distance)
        distance[shorter] = through[shorter]
        parents[shorter] = nearest
    return [int(parent) for parent in parents]
