"""What a broker knows of the overlay (TRT), and the shortest ways over it (SPRT).

It must not know messages, worlds or what is sent: protocols that route by destinations share it.

D-DBR (Sec. III-B) has a matrix of link costs, 1 or infinite, that all brokers share, and a list of
next hops by destination. Here each broker's row carries a version; the newer wins. A link counts
only if both its ends list it. Of several shortest ways SPRT takes the one over the neighbor with
the lowest id: then the copies of one message form a tree, whoever routes them on.
"""

from collections.abc import Collection, Iterable, Mapping, Set
from typing import NamedTuple

from pysim.network.transport import BrokerId

Link = tuple[BrokerId, BrokerId]
Version = tuple[int, int]
"""Incarnation and number of an update."""

_TRT_BYTES_PER_CELL = 1
_SPRT_BYTES_PER_RECORD = 8


class Ways(NamedTuple):
    """The shortest ways from a broker: the first hop to each other one, and how far it is."""

    first_hops: Mapping[BrokerId, BrokerId]
    distances: Mapping[BrokerId, int]


def shortest_ways(adjacent: Mapping[BrokerId, Collection[BrokerId]], start: BrokerId) -> Ways:
    """All shortest ways from a broker; ties go to the lowest of its neighbors.

    Neighbors are taken up in ascending order. A broker farther out is found first from one whose
    first hop is the lowest, as those are looked at first: that orders the next distance alike.
    """
    first_hops: dict[BrokerId, BrokerId] = {}
    distances = {start: 0}
    for neighbor in sorted(adjacent[start]):
        first_hops[neighbor] = neighbor
        distances[neighbor] = 1
    found = list(first_hops)
    for broker in found:  # grows while it is gone through
        first, farther = first_hops[broker], distances[broker] + 1
        for neighbor in adjacent[broker]:
            if neighbor not in distances:
                distances[neighbor] = farther
                first_hops[neighbor] = first
                found.append(neighbor)
    return Ways(first_hops, distances)


class Split(NamedTuple):
    """Destinations by the neighbor they are reached over, and those that no way leads to."""

    by_neighbor: Mapping[BrokerId, list[BrokerId]]
    lost: list[BrokerId]


class OverlayMap:
    """The overlay as one broker knows it; its own row is what it sees itself."""

    def __init__(self, own: BrokerId) -> None:
        self.own = own
        self._rows: dict[BrokerId, frozenset[BrokerId]] = {own: frozenset()}
        self._adjacent: dict[BrokerId, set[BrokerId]] = {own: set()}
        """The links that both ends list; kept along, as updates change many rows by little."""
        self._versions: dict[BrokerId, Version] = {}
        self._ways: Ways | None = None

    @classmethod
    def of(cls, own: BrokerId, links: Iterable[Link]) -> "OverlayMap":
        """The map of an overlay that does not change, known from the beginning."""
        rows: dict[BrokerId, set[BrokerId]] = {own: set()}
        for a, b in links:
            rows.setdefault(a, set()).add(b)
            rows.setdefault(b, set()).add(a)
        made = cls(own)
        for broker, row in rows.items():
            made.set_row(broker, row)
        return made

    # TRT

    def version(self, broker: BrokerId) -> Version | None:
        """That of a broker's row; None if it never told one."""
        return self._versions.get(broker)

    def learn(self, broker: BrokerId, version: Version, neighbors: Iterable[BrokerId]) -> bool:
        """Take over a row if it is newer than the one that is known."""
        known = self._versions.get(broker)
        if known is not None and known >= version:
            return False
        self._versions[broker] = version
        self.set_row(broker, neighbors)
        return True

    def set_row(self, broker: BrokerId, neighbors: Iterable[BrokerId]) -> None:
        """Replace a row, whatever its version."""
        row, former = frozenset(neighbors), self.row(broker)
        self._rows[broker] = row
        adjacent = self._adjacent.setdefault(broker, set())
        for other in former - row:
            if other in adjacent:
                adjacent.remove(other)
                self._adjacent[other].remove(broker)
                self._ways = None
        for other in row - former:
            if broker in self.row(other):
                adjacent.add(other)
                self._adjacent[other].add(broker)
                self._ways = None

    def row(self, broker: BrokerId) -> Set[BrokerId]:
        """The neighbors that a broker lists; none of one that is not known."""
        return self._rows.get(broker, frozenset())

    def brokers(self) -> Set[BrokerId]:
        """Everyone that ever told of itself, this broker included."""
        return self._rows.keys()

    def adjacency(self) -> Mapping[BrokerId, Set[BrokerId]]:
        """The links that both ends list, by broker; it changes with the map."""
        return self._adjacent

    # SPRT

    @property
    def ways(self) -> Ways:
        """The shortest ways from this broker."""
        if self._ways is None:
            self._ways = shortest_ways(self._adjacent, self.own)
        return self._ways

    def reachable(self) -> Set[BrokerId]:
        """All other brokers that a way leads to."""
        return self.ways.first_hops.keys()

    def split(self, destinations: Iterable[BrokerId]) -> Split:
        """The paper's ShortestPath: destinations by the next hop to them, in ascending order."""
        first_hops = self.ways.first_hops
        by_neighbor: dict[BrokerId, list[BrokerId]] = {}
        lost: list[BrokerId] = []
        for destination in destinations:
            hop = first_hops.get(destination)
            if hop is None:
                lost.append(destination)
            elif hop in by_neighbor:
                by_neighbor[hop].append(destination)
            else:
                by_neighbor[hop] = [destination]
        return Split(dict(sorted(by_neighbor.items())), lost)

    # What it would be like

    def changed(self, added: Iterable[Link] = (), removed: Iterable[Link] = ()) -> Ways:
        """The shortest ways from this broker if some links were added and others removed."""
        adjacent = {broker: set(row) for broker, row in self._adjacent.items()}
        for a, b in removed:
            adjacent.get(a, set()).discard(b)
            adjacent.get(b, set()).discard(a)
        for a, b in added:
            adjacent.setdefault(a, set()).add(b)
            adjacent.setdefault(b, set()).add(a)
        return shortest_ways(adjacent, self.own)

    # What it takes

    def trt_bytes(self) -> int:
        """The memory of the matrix as the paper counts it."""
        return _TRT_BYTES_PER_CELL * len(self._rows) ** 2

    def sprt_bytes(self) -> int:
        """The memory of the list of next hops as the paper counts it."""
        return _SPRT_BYTES_PER_RECORD * len(self.ways.first_hops)
