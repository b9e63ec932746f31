"""The Abilene topology file: a part `router` of names and places, a part `link` of capacities and
OSPF weights.
"""

from __future__ import annotations

import networkx as nx

from topologies.importers._builder import Builder
from topologies.importers._geo import place
from topologies.importers._source import Source

_KILOBIT = 1e3


def read_abilene(source: Source) -> nx.Graph:
    """Capacities are in kbit/s; delays follow from the places; `weight` is the OSPF weight."""
    builder = Builder(source, "abilene")
    part = ""
    for line, text in source.lines():
        if text in ("router", "link"):
            part = text
        elif part == "router":
            name, city, *degrees = source.fields(line, text, 4, "name city latitude longitude")
            lat, lon = (source.number(line, value, "coordinate") for value in degrees)
            builder.declare(line, name, city=city, lon=lon, lat=lat)
        elif part == "link":
            a, b, capacity, weight = source.fields(line, text, 4, "from to capacity weight")
            builder.link(
                builder.find(line, a),
                builder.find(line, b),
                rate=source.amount(line, capacity, "capacity") * _KILOBIT,
                weight=source.amount(line, weight, "weight"),
            )
        else:
            raise source.error(line, f"expected 'router', got '{text[:60]}'")
    graph = builder.finish()
    place(source, graph)
    return graph
