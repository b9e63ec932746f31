"""The tree maintenance module: an oracle outside the agents that replaces links of the tree.

It draws its schedule from its streams and the overlay alone, so that all protocols see the same
one. At t a link breaks; t_rep later a new one joins the two parts that then hold the old ends,
between brokers drawn among those with a link to spare, never the old link itself (unless its ends
are all that is left to join, as when every link is broken at once). Reconfigurations may overlap:
broken links that wait for repair and live ones are together always a tree.
"""

import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, product
from typing import NamedTuple

import networkx as nx

from pysim.network.faults import LinkReplace
from pysim.network.world import LinkNotice


class _Break(NamedTuple):
    number: int
    time: int
    link: tuple[int, int]


@dataclass(frozen=True)
class TreeMaintenance:
    """How links are replaced: `repair` (ns) after they break, by links drawn from `stream`.

    With `near` the new ends are the old ones or their neighbors, or else the nearest there are;
    with `shared_end` one of them is an old end, if one has a link to spare and the other part has
    another broker to join. The one old end that is told the whole reconfiguration path is drawn
    from `initiators`.
    """

    stream: random.Random
    initiators: random.Random
    repair: int
    max_degree: int
    near: bool = False
    shared_end: bool = False

    def schedule(
        self, overlay: nx.Graph, times: Iterable[int], numbers: Iterable[int] | None = None
    ) -> Iterator[LinkReplace]:
        """A replaced link for each of the ascending `times` at which there is a link to break.

        They are numbered by `numbers`, or else from 0 on, a time without a link included.
        """
        tree = nx.Graph(overlay)
        broken: deque[_Break] = deque()
        for time, number in zip(times, numbers or count(), strict=False):
            while broken and broken[0].time + self.repair <= time:
                yield self._repaired(tree, broken.popleft())
            links = sorted((min(link), max(link)) for link in tree.edges)
            if links:
                broken.append(_Break(number, time, self.stream.choice(links)))
                tree.remove_edge(*broken[-1].link)
        while broken:
            yield self._repaired(tree, broken.popleft())

    def _repaired(self, tree: nx.Graph, broken: _Break) -> LinkReplace:
        new = self._new_link(tree, broken.link)
        tree.add_edge(*new)
        notice = LinkNotice(reconfiguration=broken.number)
        initiator = self.initiators.choice(broken.link)
        return LinkReplace(
            broken.time, broken.link, new, self.repair, notice=notice, initiator=initiator
        )

    def _new_link(self, tree: nx.Graph, old: tuple[int, int]) -> tuple[int, int]:
        parts = [self._candidates(tree, end) for end in old]
        if [*map(set, parts)] == [{end} for end in old]:
            return old
        if self.shared_end:
            parts = self._sharing(parts, old)
        if self.near:
            return self.stream.choice(_nearest(parts, old))
        new = old
        while new == old:
            new = (self.stream.choice([*parts[0]]), self.stream.choice([*parts[1]]))
        return new

    def _sharing(self, parts: list[dict[int, int]], old: tuple[int, int]) -> list[dict[int, int]]:
        """The candidates once one of the old ends has been chosen to be a new one."""
        possible = [
            side
            for side in (0, 1)
            if old[side] in parts[side] and parts[1 - side].keys() - {old[1 - side]}
        ]
        if not possible:
            return parts
        kept = self.stream.choice(possible)
        return [{old[side]: 0} if side == kept else parts[side] for side in (0, 1)]

    def _candidates(self, tree: nx.Graph, end: int) -> dict[int, int]:
        """The brokers in the part of `end` that have a link to spare, with their distances."""
        distances = nx.single_source_shortest_path_length(tree, end)
        return {n: distances[n] for n in sorted(distances) if tree.degree[n] < self.max_degree}


def _nearest(parts: list[dict[int, int]], old: tuple[int, int]) -> list[tuple[int, int]]:
    """The links whose ends are within one hop of the old ones, or else within as few as needed."""
    for radius in count(1):
        within = [[n for n, hops in part.items() if hops <= radius] for part in parts]
        links = [link for link in product(within[0], within[1]) if link != old]
        if links:
            return links
    raise AssertionError("some link other than the old one is possible")
