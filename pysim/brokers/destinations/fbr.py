"""FBR: filter-based routing with advertisements on overlays without cycles (merc.txt, Sec. II).

It is advertisement-based routing as the covering family has it, without covering; only what is
compared here is counted besides.
"""

from collections.abc import Sequence
from typing import ClassVar

from pysim.brokers.covering import NoCovering
from pysim.brokers.covering.tables import Entry
from pysim.network.world import World


class FilterBasedRouting(NoCovering):
    """Matches an event at every broker on its way, against the subscriptions stored there."""

    name: ClassVar[str] = "fbr"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.counters.update({"stored-local": 0, "stored-remote": 0})

    def _enter(self, entry: Entry) -> None:
        self.counters[self._kind(entry)] += 1
        super()._enter(entry)

    def forget(self, entry: Entry) -> Sequence[Entry]:
        self.counters[self._kind(entry)] -= 1
        return super().forget(entry)

    def _kind(self, entry: Entry) -> str:
        return "stored-local" if entry.last_hop == self.world.id else "stored-remote"
