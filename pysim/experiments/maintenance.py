"""The tree maintenance module: an oracle outside the agents that replaces links of the tree.

It draws its schedule from its stream and the overlay alone, so that all protocols see the same one.
At t a link breaks; t_rep later a new one joins the two parts that then hold the old ends, between
brokers drawn among those with a link to spare, never the old link itself (unless its ends are all
that is left to join, as when every link is broken at once). Reconfigurations may overlap: broken
links that wait for repair and live ones are together always a tree.
"""

import random
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import networkx as nx

from pysim.network.faults import LinkReplace
from pysim.network.world import LinkNotice


class _Break(NamedTuple):
    number: int
    time: int
    link: tuple[int, int]


def reconfigurations(
    stream: random.Random, overlay: nx.Graph, times: Iterable[int], repair: int, max_degree: int
) -> Iterator[LinkReplace]:
    """A replaced link for each of the ascending `times` (ns) at which there is a link to break."""
    tree = nx.Graph(overlay)
    broken: deque[_Break] = deque()
    for number, time in enumerate(times):
        while broken and broken[0].time + repair <= time:
            yield _repaired(stream, tree, broken.popleft(), repair, max_degree)
        links = sorted((min(link), max(link)) for link in tree.edges)
        if links:
            broken.append(_Break(number, time, stream.choice(links)))
            tree.remove_edge(*broken[-1].link)
    while broken:
        yield _repaired(stream, tree, broken.popleft(), repair, max_degree)


def _repaired(
    stream: random.Random, tree: nx.Graph, broken: _Break, repair: int, max_degree: int
) -> LinkReplace:
    parts = [
        sorted(n for n in nx.node_connected_component(tree, end) if tree.degree[n] < max_degree)
        for end in broken.link
    ]
    only_old = parts == [[end] for end in broken.link]
    new = broken.link
    while new == broken.link and not only_old:
        new = (stream.choice(parts[0]), stream.choice(parts[1]))
    tree.add_edge(*new)
    notice = LinkNotice(reconfiguration=broken.number)
    return LinkReplace(broken.time, broken.link, new, repair, notice=notice)
