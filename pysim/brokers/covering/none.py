"""No covering: every subscription goes to wherever an advertisement intersects it.

Where an optimization says what neighbors are told, it says so of just these subscriptions, and what
it tells goes in their place. It only generalizes, so that an advertisement that intersects one of
them further on intersects what stands for it.
"""

from collections.abc import Sequence
from typing import ClassVar

from pysim.brokers.covering.routing import CoveringRouting
from pysim.brokers.covering.stores import Unrelated
from pysim.brokers.covering.summarized import Messages, Summarized
from pysim.brokers.covering.tables import Entry
from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.network.transport import BrokerId
from pysim.network.world import LinkNotice, World


class NoCovering(CoveringRouting):
    """Advertisement-based routing as it is; its table is all that it stores."""

    name: ClassVar[str] = "no-covering"
    takes_summaries: ClassVar[bool] = True

    def __init__(self, world: World, *, optimize: Optimized = UNOPTIMIZED) -> None:
        super().__init__(world, Unrelated, optimize)
        self.summarized: Summarized | None = None
        """What neighbors hold in place of entries, if that is not the entries."""
        if optimize.summarizes:
            self.summarized = Summarized(self._policies, world.originate)

    def tell(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        if self.summarized is None:
            super().tell(neighbor, entries)
        else:
            new = [entry.filter for entry in self.newly_told(neighbor, entries)]
            self._send(neighbor, self.summarized.add(neighbor, new))

    def withdraw(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        if self.summarized is None:
            super().withdraw(neighbor, entries)
        else:
            gone = [entry.filter for entry in self.newly_gone(neighbor, entries)]
            self._send(neighbor, self.summarized.remove(neighbor, gone))

    def replace(self, neighbor: BrokerId, new_roots: Sequence[Entry], old: Sequence[Entry]) -> None:
        """There are no new roots. A summary takes all that goes at once, and tells what stays."""
        if self.summarized is None:
            super().replace(neighbor, new_roots, old)
        else:
            self.withdraw(neighbor, old)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        if self.summarized is not None:
            self.summarized.forget(neighbor)
        super().link_down(neighbor, notice)

    def _send(self, neighbor: BrokerId, messages: Messages) -> None:
        """What is new goes first, so that at no time less is told than is wanted."""
        for subscription in messages.subscribe:
            self.world.send(neighbor, subscription)
        self.withdraw_ids(neighbor, messages.withdraw)
