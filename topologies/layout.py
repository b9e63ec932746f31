"""Where to put the nodes of a topology on a page; it knows nothing of colours and files.

Every layout is a function of the graph alone: nothing is drawn at random.
"""

from __future__ import annotations

import math
from typing import Literal

import networkx as nx
import numpy as np

from topologies.errors import TopologyError
from topologies.graphs import require_tree
from topologies.latency import Array

Layout = Literal["auto", "line", "tree", "place", "force"]

_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))

# On a map, links reach to neighbors: mean link over mean distance, times sqrt(n), is 2.1 in the
# median of the Topology Zoo's maps and 4.0 at most. For 100 nodes in the plane of the GT-ITM or
# Waxman model it is about 7, for 1000 above 10, and the nodes' places show a tangle.
_TELLING_PLACES = 5.0


def positions(graph: nx.Graph, layout: Layout = "auto") -> Array:
    """A point for each node, in its order; one unit is a good length for a link of a tree.

    "line" winds through rows; "tree" is radial, around the tree's centre; "place" takes the nodes'
    own x, y; "force" brings the distances on the page close to the hops between nodes.
    """
    chosen = _choose(graph) if layout == "auto" else layout
    layouts = {"line": _line, "tree": _radial_tree, "place": _own_places, "force": _stress}
    if chosen not in layouts:
        raise TopologyError(f"layout = '{layout}' must be one of auto, {', '.join(layouts)}")
    return layouts[chosen](graph)


def distances(places: Array) -> Array:
    """The distance of every pair of points."""
    x = places[:, 0, None] - places[:, 0]
    y = places[:, 1, None] - places[:, 1]
    return np.sqrt(x * x + y * y)


def _choose(graph: nx.Graph) -> Layout:
    if _has_places(graph) and _places_tell(graph):
        return "place"
    if len(graph) > 1 and nx.is_tree(graph):
        return "line" if max(degree for _, degree in graph.degree()) <= 2 else "tree"
    return "force"


def _has_places(graph: nx.Graph) -> bool:
    return all("x" in data and "y" in data for _, data in graph.nodes(data=True))


def _places_tell(graph: nx.Graph) -> bool:
    """Whether linked nodes lie near each other, so that a map of them can be read."""
    distance = distances(_own_places(graph))
    links = [float(distance[u, v]) for u, v in graph.edges]
    return bool(sum(links) * math.sqrt(len(graph)) < _TELLING_PLACES * len(links) * distance.mean())


def _own_places(graph: nx.Graph) -> Array:
    if not _has_places(graph):
        raise TopologyError("layout = 'place' needs x and y at every node")
    places = np.array([(data["x"], data["y"]) for _, data in graph.nodes(data=True)], dtype=float)
    return _spread_coincident(places)


def _spread_coincident(places: Array) -> Array:
    """Put nodes of one place around it, so that each can be seen."""
    step = 0.02 * float(np.ptp(places, axis=0).max() or 1.0)
    taken: dict[tuple[float, float], int] = {}
    spread = places.copy()
    for node, (x, y) in enumerate(places):
        count = taken.get((x, y), 0)
        taken[x, y] = count + 1
        angle = count * _GOLDEN_ANGLE
        spread[node] += step * math.sqrt(count) * np.array([math.cos(angle), math.sin(angle)])
    return spread


def _line(graph: nx.Graph) -> Array:
    """Along the line, turning back at the end of each row."""
    require_tree(graph)
    if max(degree for _, degree in graph.degree()) > 2:
        raise TopologyError(
            f"topology '{graph.name}' is not a line: some broker has more than 2 links"
        )
    ends = [node for node, degree in graph.degree() if degree <= 1]
    order = list(nx.dfs_preorder_nodes(graph, ends[0]))
    row_length = max(20, math.ceil(math.sqrt(3 * len(order))))
    places = np.empty((len(order), 2))
    for i, node in enumerate(order):
        row, column = divmod(i, row_length)
        places[node] = (column if row % 2 == 0 else row_length - 1 - column, -row)
    return places


def _radial_tree(graph: nx.Graph) -> Array:
    """The centre in the middle, each level on a circle, each branch in a sector for its leaves."""
    require_tree(graph)
    root = min(nx.center(graph))
    children = nx.dfs_tree(graph, root)
    leaves = dict.fromkeys(graph, 1)
    for node in nx.dfs_postorder_nodes(children, root):
        leaves[node] = sum(leaves[child] for child in children[node]) or 1
    places = np.zeros((len(graph), 2))
    queue = [(root, 0, 0.0, 2 * math.pi)]
    for node, depth, start, width in queue:
        angle = start + width / 2
        places[node] = depth * math.cos(angle), depth * math.sin(angle)
        for child in sorted(children[node]):
            share = width * leaves[child] / leaves[node]
            queue.append((child, depth + 1, start, share))
            start += share
    return places


def _stress(graph: nx.Graph) -> Array:
    """Stress majorization (Gansner, Koren and North, GD 2004) started by classical scaling."""
    hops = _hops(graph)
    n = len(hops)
    if n < 3:
        return np.array([(float(i), 0.0) for i in range(n)])
    places = _first_places(hops)
    weights = 1 / np.where(hops == 0, np.inf, hops) ** 2
    laplacian = np.diag(weights.sum(axis=1)) - weights
    # The laplacian is singular along shifts of the whole; any constant there makes it invertible.
    inverse = np.linalg.inv(laplacian + 1 / n)
    for _ in range(150 if n <= 500 else 50):
        distance = distances(places)
        pull = -weights * hops / np.where(distance == 0, np.inf, distance)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        places = inverse @ (pull @ places)
    return _level(places)


def _hops(graph: nx.Graph) -> Array:
    """Hops between all pairs; parts that are not connected are kept apart by a little more."""
    hops = np.full((len(graph), len(graph)), -1.0)
    for node, distances in nx.all_pairs_shortest_path_length(graph):
        hops[node, list(distances)] = list(distances.values())
    hops[hops < 0] = hops.max() + 2
    return hops


def _first_places(hops: Array) -> Array:
    """Classical scaling; a few steps of power iteration are near enough to start from."""
    n = len(hops)
    squares = hops**2
    centred = squares.mean(axis=0) + squares.mean(axis=1)[:, None] - squares - squares.mean()
    angles = np.arange(n) * _GOLDEN_ANGLE
    places: Array = np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(30):
        places, _ = np.linalg.qr(centred @ places)
    # Nodes with equal distances to all others would coincide, and never come apart.
    return places * math.sqrt(n) + 0.05 * np.column_stack([np.cos(angles), np.sin(angles)])


def _level(places: Array) -> Array:
    """Turn the longest extent into the horizontal."""
    centred = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned: Array = centred @ axes[:, ::-1]
    return turned
