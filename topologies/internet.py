"""Random networks that look like parts of the Internet, for underlays; they read no file.

The defaults are those of published generators, or were fitted to published maps, as each docstring
says, so that everything runs without data of others.
"""

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import Annotated

import networkx as nx

from topologies.errors import TopologyError, check_range
from topologies.generators import connects
from topologies.graphs import Link, hang, new_graph

Routers = Annotated[int, "number of routers"]

# GT-ITM's own constants: the area of the plane per node, the share of the plane's side that a
# transit domain spans, the area of a stub per node, and how far the sizes of domains vary.
_AREA_PER_NODE = 80.0
_TRANSIT_SPREAD = 0.5
_AREA_PER_STUB_NODE = 16.0
_SHIFTS_PER_DOMAIN = 3

_MOST_DRAWS = 10_000

_LIGHT_KM_PER_S = 299_792.458

# Rocketfuel-like networks: see `isp`.
_POP_SIZE_MU, _POP_SIZE_SIGMA = 0.92, 1.0
_POP_NEIGHBORS_MORE = 0.37
_PARALLEL_MORE = 0.62
_INTRA_LINKS_PER_ROUTER = 0.09
_INTRA_DELAY = 0.001
_INTER_DELAY_MU, _INTER_DELAY_SIGMA = math.log(0.0043), 1.05


def transit_stub(
    rng: random.Random,
    *,
    transit_domains: Annotated[int, "number of transit domains"] = 1,
    transit_nodes: Annotated[int, "mean number of nodes in a transit domain"] = 4,
    stubs: Annotated[int, "mean number of stub domains at a transit node"] = 3,
    stub_nodes: Annotated[int, "mean number of nodes in a stub domain"] = 8,
    domain_links: Annotated[float, "probability of a link between two transit domains"] = 1.0,
    transit_links: Annotated[float, "probability of a link inside a transit domain"] = 0.6,
    stub_links: Annotated[float, "probability of a link inside a stub domain"] = 0.42,
    unit: Annotated[float, "delay of one unit of length, in seconds"] = 0.001,
) -> nx.Graph:
    """A transit-stub network after GT-ITM: transit domains, with stub domains at their nodes.

    The model of Zegura, Calvert and Bhattacharjee (INFOCOM 1996), as GT-ITM implements it: domains
    are random graphs drawn until connected, their sizes vary around the mean without changing the
    total of transit_domains * transit_nodes * (1 + stubs * stub_nodes) nodes, nodes lie in a plane,
    and a link's length is the distance. The defaults are the parameters of GT-ITM's 100-node
    example ({1,89,3,1.0}{4,44,3,0.6}{8,36,3,0.42}); its 1000-node one differs in
    transit_domains = 10. Node attributes: `role` ("transit", "stub"), `label` as GT-ITM writes it.
    """
    for name, number in (
        ("transit_domains", transit_domains),
        ("transit_nodes", transit_nodes),
        ("stubs", stubs),
        ("stub_nodes", stub_nodes),
    ):
        check_range(name, number, 1)
    check_range("unit", unit, 0)
    size = transit_domains * transit_nodes * (1 + stubs * stub_nodes)
    side = math.sqrt(size * _AREA_PER_NODE)
    stub_side = min(_stub_side(transit_domains, transit_nodes, stubs, stub_nodes), side / 2)
    graph = new_graph("transit-stub", 0)
    graph.graph["name"] = f"transit-stub-{size}"

    top = _probable_links(rng, transit_domains, domain_links, "domain_links")
    domains = []
    for domain, nodes in enumerate(_uneven(rng, transit_domains, transit_nodes)):
        corner = (rng.random() * side * _TRANSIT_SPREAD, rng.random() * side * _TRANSIT_SPREAD)
        transit = _add_domain(graph, rng, nodes, corner, side * _TRANSIT_SPREAD)
        _link(graph, transit, _probable_links(rng, nodes, transit_links, "transit_links"))
        for number, node in enumerate(transit):
            graph.nodes[node].update(role="transit", label=f"T:{domain}.{number}")
        domains.append(transit)
    for transit in domains:
        for node, count in zip(transit, _uneven(rng, len(transit), stubs), strict=True):
            for stub, nodes in enumerate(_uneven(rng, count, stub_nodes)):
                _add_stub(graph, rng, node, stub, nodes, stub_side, side, stub_links)
    for a, b in top:
        # GT-ITM draws the two ends of a link between domains once from either side.
        for _ in range(2):
            graph.add_edge(rng.choice(domains[a]), rng.choice(domains[b]))
    _set_delays(graph, unit)
    return graph


def waxman(
    rng: random.Random,
    *,
    routers: Routers,
    links: Annotated[int, "links that each new router makes (BRITE's m)"] = 2,
    beta: Annotated[float, "how far links reach, as a share of the diagonal"] = 0.2,
    side: Annotated[float, "side of the square the routers lie in, in km"] = 1000.0,
) -> nx.Graph:
    """A Waxman network grown like BRITE's: each router joins earlier ones, near ones more likely.

    Routers lie uniformly in a square; each new one makes `links` links to distinct earlier routers,
    drawn with weight exp(-distance / (beta * diagonal)). Delay is distance over the speed of light
    in vacuum, as in BRITE. The defaults are those of BRITE's router-level Waxman model (m = 2,
    beta = 0.2, HS = 1000; alpha only scales all weights and plays no part here). Medina, Lakhina,
    Matta and Byers, "BRITE: An approach to universal topology generation", MASCOTS 2001.
    """
    check_range("routers", routers, 1)
    check_range("links", links, 1)
    check_range("beta", beta, 0.01)
    check_range("side", side, 0)
    graph = new_graph("waxman", routers)
    reach = beta * math.sqrt(2)
    places: list[tuple[float, float]] = []
    for router in range(routers):
        here = (rng.random(), rng.random())
        graph.add_node(router, x=here[0] * side, y=here[1] * side)
        weights = [math.exp(-math.dist(here, there) / reach) for there in places]
        while graph.degree[router] < min(links, router):
            graph.add_edge(router, rng.choices(range(router), weights)[0])
        places.append(here)
    _set_delays(graph, 1 / _LIGHT_KM_PER_S)
    return graph


def isp(
    rng: random.Random, *, pops: Annotated[int, "number of points of presence"] = 40
) -> nx.Graph:
    """A provider's backbone like those that Rocketfuel mapped: cities of routers, and their links.

    Fitted to the router-level maps of six providers (AS 1221, 1239, 1755, 3257, 3967, 6461) of
    Mahajan, Spring, Wetherall and Anderson, "Inferring link weights using end-to-end measurements",
    IMW 2002, pooled, with the spread of city sizes and delays set by hand to meet the means: a city
    has a log-normal number of routers (mean 4.1, median 2); it is linked to 3.2 other cities in the
    mean, large cities to more; two linked cities share 2.6 links in the mean; a city of s routers
    has about (s - 1)(1 + 0.09 s) links; delays are 1 ms inside a city and log-normal between cities
    (median 4 ms, mean 8 ms). The model meets these within 10 %, but for the median city (3 routers)
    and the links shared (2.3, since parallel ones fall together). Node attributes: `pop`, `role`
    ("backbone" for routers with links to other cities, else "access").
    """
    check_range("pops", pops, 1)
    graph = new_graph("isp", 0)
    cities = [_add_city(graph, rng, pop, size) for pop, size in enumerate(_city_sizes(rng, pops))]
    sizes = [len(city) for city in cities]
    for pop in range(1, pops):
        # Large cities come first and attract by size: that is what makes them well connected.
        wanted = min(pop, 1 + _geometric(rng, _POP_NEIGHBORS_MORE))
        neighbors: list[int] = []
        while len(neighbors) < wanted:
            city = rng.choices(range(pop), sizes[:pop])[0]
            if city not in neighbors:
                neighbors.append(city)
                _join_cities(graph, rng, cities[city], cities[pop])
    graph.graph["name"] = f"isp-{len(graph)}"
    return graph


def _stub_side(domains: int, transit_nodes: int, stubs: int, stub_nodes: int) -> float:
    """GT-ITM sizes every stub's square for the largest stub that uneven sizes could make."""
    most_transit_nodes = transit_nodes + _SHIFTS_PER_DOMAIN * domains
    most_stubs = stubs + _SHIFTS_PER_DOMAIN * most_transit_nodes
    most_stub_nodes = stub_nodes + _SHIFTS_PER_DOMAIN * most_stubs
    return math.sqrt(most_stub_nodes * _AREA_PER_STUB_NODE)


def _uneven(rng: random.Random, count: int, mean: int) -> list[int]:
    """Sizes of `count` domains, at least 1 each, that vary around the mean but keep the total."""
    sizes = [mean] * count
    for _ in range(_SHIFTS_PER_DOMAIN * count):
        grown, shrunk = rng.randrange(count), rng.randrange(count)
        if sizes[shrunk] > 1:
            sizes[shrunk] -= 1
            sizes[grown] += 1
    return sizes


def _probable_links(rng: random.Random, size: int, probability: float, name: str) -> list[Link]:
    """Each pair of nodes 0..size-1 with the given probability, drawn until connected."""
    check_range(name, probability, 0, 1)
    for _ in range(_MOST_DRAWS):
        links = [pair for pair in combinations(range(size), 2) if rng.random() < probability]
        if connects(size, links):
            return links
    raise TopologyError(
        f"{name} = {probability} is too small: no connected domain of {size} nodes "
        f"in {_MOST_DRAWS} draws"
    )


def _add_domain(
    graph: nx.Graph, rng: random.Random, nodes: int, corner: tuple[float, float], side: float
) -> range:
    """Place new nodes in a square; what links them is the caller's affair."""
    first = len(graph)
    for node in range(first, first + nodes):
        graph.add_node(node, x=corner[0] + rng.random() * side, y=corner[1] + rng.random() * side)
    return range(first, first + nodes)


def _add_stub(
    graph: nx.Graph,
    rng: random.Random,
    transit: int,
    stub: int,
    nodes: int,
    stub_side: float,
    side: float,
    probability: float,
) -> None:
    """Hang a stub domain at a transit node, in a square near it that stays within the plane."""
    middle = graph.nodes[transit]
    corner = (
        rng.uniform(max(middle["x"] - stub_side, 0.0), min(middle["x"], side - stub_side)),
        rng.uniform(max(middle["y"] - stub_side, 0.0), min(middle["y"], side - stub_side)),
    )
    members = _add_domain(graph, rng, nodes, corner, stub_side)
    _link(graph, members, _probable_links(rng, nodes, probability, "stub_links"))
    prefix = "S" + middle["label"][1:]
    for number, node in enumerate(members):
        graph.nodes[node].update(role="stub", label=f"{prefix}/{stub}.{number}")
    graph.add_edge(transit, rng.choice(members))


def _link(graph: nx.Graph, nodes: range, links: list[Link]) -> None:
    graph.add_edges_from((nodes[u], nodes[v]) for u, v in links)


def _set_delays(graph: nx.Graph, unit: float) -> None:
    for u, v, link in graph.edges(data=True):
        a, b = graph.nodes[u], graph.nodes[v]
        link["delay"] = math.hypot(a["x"] - b["x"], a["y"] - b["y"]) * unit


def _city_sizes(rng: random.Random, pops: int) -> list[int]:
    sizes = [round(rng.lognormvariate(_POP_SIZE_MU, _POP_SIZE_SIGMA)) for _ in range(pops)]
    return sorted((max(1, size) for size in sizes), reverse=True)


def _add_city(graph: nx.Graph, rng: random.Random, pop: int, size: int) -> range:
    """New routers in a random tree, with more links among them the larger the city."""
    first = len(graph)
    graph.add_node(first, pop=pop, role="access")
    for router in range(first + 1, first + size):
        hang(graph, rng.randrange(first, router), pop=pop, role="access")
    city = range(first, first + size)
    pairs = size * (size - 1) // 2
    more = min(round((size - 1) * _INTRA_LINKS_PER_ROUTER * size), pairs - (size - 1))
    links = graph.number_of_edges() + more
    while graph.number_of_edges() < links:
        graph.add_edge(*rng.sample(city, 2))
    for u, v in graph.edges(city):
        graph.edges[u, v]["delay"] = _INTRA_DELAY
    return city


def _join_cities(graph: nx.Graph, rng: random.Random, a: range, b: range) -> None:
    delay = max(_INTRA_DELAY, rng.lognormvariate(_INTER_DELAY_MU, _INTER_DELAY_SIGMA))
    for _ in range(1 + _geometric(rng, _PARALLEL_MORE)):
        u, v = rng.choice(a), rng.choice(b)
        graph.add_edge(u, v, delay=delay)
        graph.nodes[u]["role"] = graph.nodes[v]["role"] = "backbone"


def _geometric(rng: random.Random, more: float) -> int:
    """How often in a row something of probability `more` happens."""
    count = 0
    while rng.random() < more:
        count += 1
    return count
