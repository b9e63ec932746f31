"""From places on Earth to a plane and to delays; it knows no format."""

from __future__ import annotations

import math

import networkx as nx

from topologies.importers._source import Source

EARTH_RADIUS_KM = 6371.0
FIBRE_KM_PER_S = 200_000.0


def place(source: Source, graph: nx.Graph) -> None:
    """Turn the node attributes `lon`, `lat` into x, y in km, and set the delays of their links.

    The plane is an equirectangular projection that is true at the mean latitude. A link's delay is
    the great-circle distance over the speed of light in fibre, unless it has one already; links of
    nodes without a place get none.
    """
    places = {
        node: (data["lon"], data["lat"]) for node, data in graph.nodes(data=True) if "lon" in data
    }
    for node, (lon, lat) in places.items():
        if not (-180 <= lon <= 180 and -90 <= lat <= 90):
            raise source.error(None, f"node {node} lies at longitude {lon}, latitude {lat}")
    for u, v, link in graph.edges(data=True):
        if u in places and v in places:
            link.setdefault("delay", great_circle_km(*places[u], *places[v]) / FIBRE_KM_PER_S)
    middle = sum(lat for _, lat in places.values()) / len(places) if places else 0.0
    for node, (lon, lat) in places.items():
        data = graph.nodes[node]
        del data["lon"], data["lat"]
        data["x"] = EARTH_RADIUS_KM * math.cos(math.radians(middle)) * math.radians(lon)
        data["y"] = EARTH_RADIUS_KM * math.radians(lat)


def great_circle_km(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    """The shortest way over the ground, by the haversine formula."""
    a, b = math.radians(lat1), math.radians(lat2)
    h = (
        math.sin((b - a) / 2) ** 2
        + math.cos(a) * math.cos(b) * math.sin(math.radians(lon2 - lon1) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, h)))
