"""Rocketfuel's .intra files: a line `from to value` a direction, latencies in one file, weights in
another; names end in a router's number, what precedes is its city.
"""

from __future__ import annotations

import networkx as nx

from topologies.importers._builder import Builder
from topologies.importers._source import Source


def read_latencies(source: Source, unit: float) -> nx.Graph:
    """Routers in order of appearance; a link's delay is its latency times `unit`."""
    return _read(source, "rocketfuel-latencies", "delay", unit)


def read_weights(source: Source) -> nx.Graph:
    """Routers in order of appearance; the inferred weight of a link is its attribute `weight`."""
    return _read(source, "rocketfuel-weights", "weight", 1.0)


def _read(source: Source, kind: str, attribute: str, unit: float) -> nx.Graph:
    builder = Builder(source, kind)
    for line, text in source.lines():
        a, b, value = source.fields(line, text, 3, "from to value")
        ends = [builder.meet(name, pop=name.rstrip("0123456789")) for name in (a, b)]
        builder.link(ends[0], ends[1], **{attribute: source.amount(line, value, attribute) * unit})
    return builder.finish()
