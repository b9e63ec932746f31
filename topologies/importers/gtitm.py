"""GT-ITM's .alt files: a part VERTICES `index name x y`, a part EDGES `from to length policy`."""

from __future__ import annotations

import networkx as nx

from topologies.importers._builder import Builder
from topologies.importers._source import Source

_ROLES = {"T": "transit", "S": "stub"}


def read_gtitm(source: Source, unit: float) -> nx.Graph:
    """The nodes in file order; a link's delay is its length times `unit`."""
    builder = Builder(source, "gtitm")
    part = ""
    names: dict[str, int] = {}
    for line, text in source.lines():
        word = text.split()[0]
        if word in ("GRAPH", "VERTICES", "EDGES"):
            part = word
        elif part == "VERTICES":
            index, name, *place = source.fields(line, text, 4, "index name x y")
            if index in names:
                raise source.error(line, f"node {index} is declared twice")
            x, y = (source.number(line, value, "coordinate") for value in place)
            names[index] = builder.declare(line, name, x=x, y=y)
            if name[0] in _ROLES:
                builder.graph.nodes[names[index]]["role"] = _ROLES[name[0]]
        elif part == "EDGES":
            a, b, length = source.fields(line, text, 3, "from to length")
            for end in (a, b):
                if end not in names:
                    raise source.error(line, f"node {end} was not declared")
            delay = source.amount(line, length, "length") * unit
            builder.link(names[a], names[b], delay=delay)
        elif part == "":
            raise source.error(line, f"expected 'GRAPH (', got '{text[:60]}'")
    return builder.finish()
