"""What every topology has in common, so that generators and importers make the same kind of graph;
it knows no particular topology.

A topology is a `networkx.Graph` whose nodes are exactly the integers 0..n-1, the brokers (or, for
an underlay, the routers). What it may carry:

- graph: `name`, `kind`
- node: `label` (its original name), `x`, `y`, `role` ("core", "edge", "transit", ...)
- link: `delay` (one way, in seconds), `rate` (bit/s)

Generators add what their model knows besides (`cluster`, `tier`, `region`, ...) and say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import networkx as nx

from topologies.errors import TopologyError

Link = tuple[int, int]


def new_graph(kind: str, size: int, links: Iterable[Link] = ()) -> nx.Graph:
    """A topology of `size` unconnected nodes and the given links."""
    graph = nx.Graph(name=f"{kind}-{size}", kind=kind)
    graph.add_nodes_from(range(size))
    graph.add_edges_from(links)
    return graph


def hang(graph: nx.Graph, parent: int, **attributes: object) -> int:
    """Add a broker below `parent`; its id is the next free one."""
    child = len(graph)
    graph.add_node(child, **attributes)
    graph.add_edge(parent, child)
    return child


def mean_degree(graph: nx.Graph) -> float:
    """Links per broker, counted at both ends."""
    return float(2 * graph.number_of_edges() / len(graph))


def require_connected(graph: nx.Graph) -> None:
    """Refuse a topology in which some broker cannot reach some other."""
    reached = nx.node_connected_component(graph, 0) if len(graph) else set()
    lost = sorted(set(graph) - reached)
    if lost or not reached:
        raise TopologyError(_not_connected(graph, lost))


def require_tree(graph: nx.Graph) -> None:
    """Refuse a topology that is not connected, or has a cycle."""
    require_connected(graph)
    cycle = _some_cycle(graph)
    if cycle:
        path = "-".join(map(str, [*cycle, cycle[0]]))
        raise TopologyError(f"topology '{graph.name}' is not a tree: {path} is a cycle")


def describe(graph: nx.Graph) -> dict[str, object]:
    """What a reader wants to know first; None is what does not apply (no delays, not connected)."""
    degrees = [degree for _, degree in graph.degree()]
    delays = [delay for _, _, delay in graph.edges(data="delay") if delay is not None]
    components = nx.number_connected_components(graph)
    return {
        "name": graph.name,
        "kind": graph.graph.get("kind"),
        "nodes": len(graph),
        "links": graph.number_of_edges(),
        "mean_degree": mean_degree(graph) if degrees else 0.0,
        "max_degree": max(degrees, default=0),
        "diameter": nx.diameter(graph, usebounds=True) if components == 1 else None,
        "tree": components == 1 and graph.number_of_edges() == len(graph) - 1,
        "components": components,
        "delay_range": (min(delays), max(delays)) if delays else None,
    }


def _not_connected(graph: nx.Graph, lost: Sequence[int]) -> str:
    if not lost:
        return f"topology '{graph.name}' has no brokers"
    return (
        f"topology '{graph.name}' is not connected: broker {lost[0]} cannot be reached from "
        f"broker 0 ({len(lost)} of {len(graph)} brokers are cut off)"
    )


def _some_cycle(graph: nx.Graph) -> list[int]:
    """A cycle of a connected graph, or nothing; breadth first, because a short one reads better."""
    tree = nx.Graph(nx.bfs_edges(graph, 0))
    for u, v in graph.edges:
        if u == v:
            return [u]
        if not tree.has_edge(u, v):
            return list(nx.shortest_path(tree, u, v))
    return []
