"""Subscription packing: an unsubscription carries all its new roots in one message.

Subscription covering and its withdrawal (Toronto, 2011), Sec. IV-C. Otherwise it is active
covering. What this module settles:

- A receiver enters the new roots, which the leaving subscription still covers, and then removes
  that one. Its own new roots go on in one message again.
- In work, one thing differs. The new roots are known to lie below the leaving subscription and are
  put there, so no root is examined for them; when it goes, each is compared with the roots once,
  as with active covering. Matching with advertisements is done one by one as well.
- Subscriptions that a new root displaces are withdrawn in one message, too.
- What does not fit the largest frame goes ahead as ordinary subscriptions.
"""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, cast

from pysim.brokers.covering.routing import CoveringRouting, Graph
from pysim.brokers.covering.tables import Entry
from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.filters.relations import new_graph
from pysim.network.transport import BrokerId
from pysim.network.world import World
from pysim.wire import MAX_FRAME_SIZE, Envelope
from pysim.wire.messages import PackedUnsubscribe, Subscribe

_MARGIN = 64
"""Bytes of a packed message that are no new roots, generously."""


class SubscriptionPacking(CoveringRouting):
    """Active covering with few and large messages."""

    name: ClassVar[str] = "subscription-packing"

    def __init__(
        self, world: World, *, graph: Graph = "simplified", optimize: Optimized = UNOPTIMIZED
    ) -> None:
        super().__init__(world, partial(new_graph, graph), optimize)
        self._packed = False

    def on_packed_unsubscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(PackedUnsubscribe, envelope.message)
        self._packed = True
        for id, filter in message.new_roots:
            self.accept(sender, id, filter)
        self._packed = False
        found = self.named(sender, [message.subscription])
        if found:
            self.drop(found)

    def replace(self, neighbor: BrokerId, new_roots: Sequence[Entry], old: Sequence[Entry]) -> None:
        roots = list(self.newly_told(neighbor, new_roots))
        gone = list(self.newly_gone(neighbor, old))
        sealed = [Envelope.seal(Subscribe(root.filter), *root.id) for root in roots]
        excess = _MARGIN + sum(len(each.frame) for each in sealed) - MAX_FRAME_SIZE
        while sealed and (excess > 0 or not gone):
            roots.pop()
            ahead = sealed.pop()
            excess -= len(ahead.frame)
            self.world.send(neighbor, ahead)
        for entry in gone:
            packed = tuple((root.id, root.filter) for root in roots)
            self.world.send(neighbor, PackedUnsubscribe(entry.id, packed))
            roots.clear()

    def untell(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        self.withdraw(neighbor, entries)

    def work(self, unit: str, amount: float) -> None:
        if not (self._packed and unit == "roots-examined"):
            super().work(unit, amount)
