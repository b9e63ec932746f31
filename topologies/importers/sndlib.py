"""SNDlib networks as JSON: nodes with longitude and latitude, links with capacities."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx

from topologies.importers._builder import Builder
from topologies.importers._geo import place
from topologies.importers._source import Source

# A capacity in any other unit (SNDlib has networks in channels or without a unit) is no rate.
_BITS_PER_UNIT = {"MBITPERSEC": 1e6}


def read_sndlib(source: Source) -> nx.Graph:
    """Rate: the capacity installed, or else that of the smallest module one can buy."""
    try:
        data = json.loads(source.text)
        bits = _BITS_PER_UNIT.get(data.get("meta", {}).get("unit"))
        return _topology(source, data, bits)
    except json.JSONDecodeError as error:
        raise source.error(error.lineno, f"not JSON: {error.msg}") from None
    except KeyError as error:
        raise source.error(None, f"not an SNDlib network: {error} is missing") from None
    except (AttributeError, TypeError) as error:
        raise source.error(None, f"not an SNDlib network: {error}") from None


def _topology(source: Source, data: Any, bits: float | None) -> nx.Graph:
    builder = Builder(source, "sndlib")
    for node in data["nodes"]:
        lon = source.number(None, node["longitude"], f"longitude of node {node['id']}")
        lat = source.number(None, node["latitude"], f"latitude of node {node['id']}")
        builder.declare(None, str(node["id"]), lon=lon, lat=lat)
    for link in data["links"]:
        a, b = (builder.find(None, str(link[end])) for end in ("source", "target"))
        capacity = _capacity(link)
        if bits and capacity:
            builder.link(a, b, rate=capacity * bits)
        else:
            builder.link(a, b)
    graph = builder.finish()
    place(source, graph)
    return graph


def _capacity(link: dict[str, Any]) -> float:
    modules = [float(module["module_capacity"]) for module in link.get("modules", [])]
    return float(link.get("pre_installed_capacity") or 0) or min(modules, default=0.0)
