"""From names in a file to a topology of nodes 0..n-1; it knows no format."""

from __future__ import annotations

from typing import Any

import networkx as nx

from topologies.graphs import new_graph
from topologies.importers._source import Source


class Builder:
    """Collects nodes by their names in the file, numbers them as they come, and links them.

    Both directions of a link, or parallel ones, become a single link with the smallest delay and
    the largest rate, and the first value of anything else; a link of a node to itself is dropped.
    """

    def __init__(self, source: Source, kind: str) -> None:
        self.source = source
        self.graph = new_graph(kind, 0)
        self.graph.graph["name"] = source.stem
        self._ids: dict[str, int] = {}

    def declare(self, line: int | None, name: str, **attributes: object) -> int:
        """A new node; the file must not have named it before."""
        if name in self._ids:
            raise self.source.error(line, f"node '{name}' is declared twice")
        return self.meet(name, **attributes)

    def meet(self, name: str, **attributes: object) -> int:
        """The node of that name, made if it is met for the first time."""
        node = self._ids.setdefault(name, len(self._ids))
        self.graph.add_node(node, label=name, **attributes)
        return node

    def find(self, line: int | None, name: str) -> int:
        """The node of that name, which the file must have declared."""
        if name not in self._ids:
            raise self.source.error(line, f"node '{name}' was not declared")
        return self._ids[name]

    def link(self, a: int, b: int, **attributes: object) -> None:
        """A link between two nodes, merged with what links them already."""
        merge_link(self.graph, a, b, attributes)

    def finish(self) -> nx.Graph:
        """The topology; a file without a single node is refused."""
        if not len(self.graph):
            raise self.source.error(None, "there are no nodes in it")
        return self.graph


def merge_link(graph: nx.Graph, a: int, b: int, attributes: dict[str, Any]) -> None:
    """Add a link to a graph by the rules of `Builder`."""
    if a == b:
        return
    known: dict[str, Any] = graph.get_edge_data(a, b, default={})
    merged = attributes | known
    for name, better in (("delay", min), ("rate", max)):
        values = [link[name] for link in (known, attributes) if name in link]
        if values:
            merged[name] = better(values)
    graph.add_edge(a, b, **merged)
