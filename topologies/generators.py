"""Lines, stars, trees and flat random graphs of any size; they know no protocol and no paper.

A generator that draws takes the stream `rng` first; every parameter is a keyword whose annotation
carries its help text, which is where the registry finds it.
"""

from __future__ import annotations

import math
import random
from typing import Annotated, Literal

import networkx as nx

from topologies.errors import TopologyError, check_range
from topologies.graphs import Link, mean_degree, new_graph

Brokers = Annotated[int, "number of brokers"]
MaxDegree = Annotated[int, "largest number of links at a broker"]

# Drawing until connected is hopeless when many brokers are expected to draw no link at all: with
# seven, about one graph in a thousand is connected, and with twelve one in a hundred thousand.
_MOST_ISOLATED = 7.0
_MOST_DRAWS = 100_000


def line(*, brokers: Brokers) -> nx.Graph:
    """A line: broker i is linked to i + 1."""
    check_range("brokers", brokers, 1)
    return new_graph("line", brokers, ((i, i + 1) for i in range(brokers - 1)))


def star(*, brokers: Brokers) -> nx.Graph:
    """A star: broker 0 is linked to every other."""
    check_range("brokers", brokers, 1)
    return new_graph("star", brokers, ((0, i) for i in range(1, brokers)))


def balanced_tree(*, brokers: Brokers, max_degree: MaxDegree = 4) -> nx.Graph:
    """A tree filled level by level, in which no broker has more than the given number of links.

    The root counts like any other broker: it has max_degree children, the others one fewer.
    """
    _check_tree(brokers, max_degree)
    graph = new_graph("balanced-tree", brokers)
    parent = 0
    for child in range(1, brokers):
        if graph.degree[parent] == max_degree:
            parent += 1
        graph.add_edge(parent, child)
    return graph


def random_tree(rng: random.Random, *, brokers: Brokers, max_degree: MaxDegree = 4) -> nx.Graph:
    """A random tree: each broker joins one drawn among the earlier ones with a link to spare."""
    _check_tree(brokers, max_degree)
    graph = new_graph("random-tree", brokers)
    free = [0]
    for child in range(1, brokers):
        slot = rng.randrange(len(free))
        parent = free[slot]
        graph.add_edge(parent, child)
        if graph.degree[parent] == max_degree:
            free[slot] = free[-1]
            free.pop()
        if max_degree > 1:
            free.append(child)
    return graph


def random_graph(
    rng: random.Random,
    *,
    brokers: Brokers,
    degree: Annotated[float, "mean number of links at a broker"] = 6.0,
    connect: Annotated[
        Literal["draw", "tree"],
        "draw until connected, or start from a random tree (for sparse graphs)",
    ] = "draw",
) -> nx.Graph:
    """A connected flat random graph of a given mean degree.

    The number of links is the nearest to brokers * degree / 2, and the links are drawn uniformly
    among all pairs. "draw" repeats that until the graph is connected, so that all connected graphs
    of that size are equally likely. "tree" first links each broker to one drawn among the earlier
    ones and draws the rest freely: connected at any degree, but not uniform. The realized mean
    degree is the graph attribute `mean_degree`.
    """
    check_range("brokers", brokers, 1)
    count = _link_count(brokers, degree)
    if connect == "tree":
        links = _tree_and_more(rng, brokers, count)
    else:
        try:
            links = connected_links(rng, brokers, count)
        except TopologyError as error:
            raise TopologyError(f"{error}, or set connect = 'tree'") from None
    graph = new_graph("random-graph", brokers, links)
    graph.graph["mean_degree"] = mean_degree(graph)
    return graph


def connected_links(rng: random.Random, size: int, count: int) -> list[Link]:
    """`count` links drawn among the nodes 0..size-1 until they connect them all, in order."""
    if size == 1:
        return []
    isolated = size * (1 - 2 * count / (size * (size - 1))) ** (size - 1)
    if isolated <= _MOST_ISOLATED:
        for _ in range(_MOST_DRAWS):
            links = _draw_links(rng, size, count)
            if connects(size, links):
                return links
    raise TopologyError(
        f"a random graph of {size} brokers and {count} links is too sparse to be drawn until "
        f"connected (about {isolated:.0f} brokers would have no link): raise the degree towards "
        f"{math.log(size):.1f}"
    )


def connects(size: int, links: list[Link]) -> bool:
    """Whether the links join the nodes 0..size-1 into one component."""
    # Most failures are nodes without any link; finding those costs a fraction of a traversal.
    if len({end for link in links for end in link}) < size:
        return size == 1
    return bool(nx.is_connected(nx.Graph(links)))


def _check_tree(brokers: int, max_degree: int) -> None:
    check_range("brokers", brokers, 1)
    check_range("max_degree", max_degree, 1)
    if max_degree == 1 and brokers > 2:
        raise TopologyError(
            f"max_degree = 1 cannot hold {brokers} brokers: a tree of more than 2 needs at least 2"
        )


def _link_count(brokers: int, degree: float) -> int:
    check_range("degree", degree, 0)
    count = round(brokers * degree / 2)
    fewest, most = brokers - 1, brokers * (brokers - 1) // 2
    if fewest <= count <= most:
        return count
    raise TopologyError(
        f"degree = {degree} is impossible for a connected graph of {brokers} brokers: it must be "
        f"between {2 * fewest / brokers:g} and {2 * most / brokers:g}"
    )


def _draw_links(rng: random.Random, size: int, count: int) -> list[Link]:
    pairs = rng.sample(range(size * (size - 1) // 2), count)
    return [_pair(index) for index in sorted(pairs)]


def _pair(index: int) -> Link:
    """The index-th pair in the order 0-1, 0-2, 1-2, 0-3, ..."""
    larger = (1 + math.isqrt(1 + 8 * index)) // 2
    return index - larger * (larger - 1) // 2, larger


def _tree_and_more(rng: random.Random, size: int, count: int) -> list[Link]:
    order = list(range(size))
    rng.shuffle(order)
    links = set[Link]()
    for i in range(1, size):
        links.add(_ordered(order[i], order[rng.randrange(i)]))
    while len(links) < count:
        links.add(_ordered(*rng.sample(range(size), 2)))
    return sorted(links)


def _ordered(u: int, v: int) -> Link:
    return (u, v) if u < v else (v, u)
