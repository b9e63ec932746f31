"""BRITE's .brite files: a `Nodes:` part and an `Edges:` part with length, delay and bandwidth."""

from __future__ import annotations

import networkx as nx

from topologies.importers._builder import Builder
from topologies.importers._source import Source

_MEGABIT = 1e6


def read_brite(source: Source, unit: float) -> nx.Graph:
    """The nodes in file order; BRITE's delay times `unit`, its bandwidth in Mbit/s."""
    builder = Builder(source, "brite")
    part = ""
    for line, text in source.lines():
        word = text.split()[0]
        if word in ("Topology:", "Nodes:", "Edges:"):
            part = word
        elif part == "Nodes:":
            words = source.fields(line, text, 7, "id x y indegree outdegree as type")
            x, y = (source.number(line, value, "coordinate") for value in words[1:3])
            domain = int(source.number(line, words[5], "AS"))
            role = words[6].removeprefix("RT_").removeprefix("AS_").lower()
            builder.declare(line, words[0], x=x, y=y, role=role, domain=domain)
        elif part == "Edges:":
            words = source.fields(line, text, 6, "id from to length delay bandwidth")
            delay = source.number(line, words[4], "delay") * unit
            link: dict[str, object] = {"delay": delay} if delay >= 0 else {}
            rate = source.number(line, words[5], "bandwidth") * _MEGABIT
            # BRITE writes -1 (AS-level edges) or 0 where it assigned none.
            if rate > 0:
                link["rate"] = rate
            builder.link(builder.find(line, words[1]), builder.find(line, words[2]), **link)
        elif part == "":
            raise source.error(line, f"expected 'Topology: (', got '{text[:60]}'")
    return builder.finish()
