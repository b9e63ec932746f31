"""Who is where in a tree of brokers, told by its links alone; it knows no overlay by name."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Layers(NamedTuple):
    """The core's brokers, ascending, and how many links away from the core each broker is."""

    core: tuple[int, ...]
    tier: Mapping[int, int]

    def at(self, tier: int) -> list[int]:
        """The brokers of a tier, ascending; tier 0 is the core."""
        return sorted(broker for broker, its in self.tier.items() if its == tier)


def layers(links: Iterable[tuple[int, int]]) -> Layers:
    """Take the leaves off a tree until a line is left, or a single broker: that is the core."""
    neighbors: dict[int, set[int]] = {}
    for a, b in links:
        neighbors.setdefault(a, set()).add(b)
        neighbors.setdefault(b, set()).add(a)
    left = {broker: set(others) for broker, others in neighbors.items()}
    while any(len(others) > 2 for others in left.values()):
        leaves = {broker for broker, others in left.items() if len(others) <= 1}
        if not leaves:
            raise ValueError("the overlay is no tree: it has no core")
        left = {broker: others - leaves for broker, others in left.items() if broker not in leaves}
    return Layers(tuple(sorted(left)), _distances(neighbors, left))


def _distances(neighbors: Mapping[int, set[int]], core: Iterable[int]) -> dict[int, int]:
    found = dict.fromkeys(core, 0)
    fresh = list(found)
    for broker in fresh:
        for neighbor in sorted(neighbors[broker] - found.keys()):
            found[neighbor] = found[broker] + 1
            fresh.append(neighbor)
    return found
