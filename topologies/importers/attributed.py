"""GraphML and GML, among them the files of the Internet Topology Zoo: networkx parses them; here
the attributes of their nodes and links become those of a topology.

Attributes that a topology knows (see `topologies.graphs`) mean what they mean there, others are
kept. The Zoo's `Longitude` and `Latitude` become x, y and delays; its `LinkSpeedRaw` is the rate,
and `Internal` the role ("internal", "external").
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import ParseError

import networkx as nx

from topologies.graphs import new_graph
from topologies.importers._builder import merge_link
from topologies.importers._geo import place
from topologies.importers._source import Source


def read_graphml(source: Source) -> nx.Graph:
    """GraphML; node ids that are integers give the order of the nodes."""
    try:
        raw = nx.parse_graphml(source.text)
    except ParseError as error:
        raise source.error(error.position[0], f"not XML: {error.msg}") from None
    except (nx.NetworkXException, KeyError, TypeError, ValueError) as error:
        raise source.error(None, f"not a GraphML graph: {_sentence(error)}") from None
    return _topology(source, raw, "graphml")


def read_gml(source: Source) -> nx.Graph:
    """GML; many of the Zoo's files have parallel links without saying so."""
    text = source.text
    if not re.search(r"^\s*multigraph\s+1", text, re.MULTILINE):
        text = re.sub(r"\bgraph\s*\[", "graph [ multigraph 1", text, count=1)
    try:
        raw = nx.parse_gml(text, label="id")
    except (nx.NetworkXException, KeyError, TypeError, ValueError) as error:
        where = re.search(r"\((\d+), \d+\)", str(error))
        line = int(where[1]) if where else None
        raise source.error(line, f"not a GML graph: {_sentence(error)}") from None
    return _topology(source, raw, "gml")


def _topology(source: Source, raw: nx.Graph, kind: str) -> nx.Graph:
    if not len(raw):
        raise source.error(None, "there are no nodes in it")
    ids = {original: node for node, original in enumerate(_in_order(list(raw)))}
    graph = new_graph(kind, len(ids))
    name = raw.graph.get("name") or raw.graph.get("label") or source.stem
    graph.graph.update(_plain(raw.graph), name=str(name), kind=raw.graph.get("kind", kind))
    for original, node in ids.items():
        graph.add_node(node, **_node(source, original, node, raw.nodes[original]))
    for u, v, data in raw.edges(data=True):
        merge_link(graph, ids[u], ids[v], _link(source, ids[u], ids[v], data))
    place(source, graph)
    return graph


def _in_order(ids: list[object]) -> list[object]:
    """By number where all ids are numbers, else as in the file."""
    if all(re.fullmatch(r"\d+", str(original)) for original in ids):
        return sorted(ids, key=lambda original: int(str(original)))
    return ids


def _node(
    source: Source, original: object, node: int, data: dict[str, object]
) -> dict[str, object]:
    attributes = _plain(data)
    if str(original) != str(node):
        attributes.setdefault("label", str(original))
    if "Longitude" in attributes and "Latitude" in attributes:
        for name, long_name in (("lon", "Longitude"), ("lat", "Latitude")):
            attributes[name] = attributes.pop(long_name)
    if "Internal" in attributes:
        internal = attributes.pop("Internal")
        attributes.setdefault("role", "internal" if internal else "external")
    for name in ("x", "y", "lon", "lat"):
        if name in attributes:
            attributes[name] = source.number(None, attributes[name], f"{name} of node {node}")
    return attributes


def _link(source: Source, a: int, b: int, data: dict[str, object]) -> dict[str, object]:
    attributes = _plain(data)
    raw_speed = attributes.pop("LinkSpeedRaw", None)
    if raw_speed:
        attributes.setdefault("rate", raw_speed)
    for name in ("delay", "rate"):
        if name in attributes:
            attributes[name] = source.amount(None, attributes[name], f"{name} of link {a}-{b}")
    if attributes.get("rate") == 0:
        raise source.error(None, f"rate of link {a}-{b} is 0")
    return attributes


def _plain(data: dict[str, object]) -> dict[str, object]:
    """What can be written again; networkx keeps defaults and nested lists among the attributes."""
    return {key: value for key, value in data.items() if isinstance(value, (str, int, float))}


def _sentence(error: Exception) -> str:
    return str(error.args[0] if error.args else error).splitlines()[0]
