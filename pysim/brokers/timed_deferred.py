"""TIMED DEFERRED UNSUBSCRIPTION: a lost link's routes are unsubscribed only after a while.

Cugola, Frey, Murphy, Picco, "Content-Based Routing for Publish-Subscribe on a Dynamic Topology",
Sec. IV-A.1 and Fig. 7. It is told of links that go and come and nothing else. What this module
settles beyond the paper:

- A leaf is a broker whose lost link was its only one (Fig. 7 asks for one or more of those that
  are left to include it).
- Pending routes are no subscribers: they count neither among the first, second and only ones of a
  pattern, nor for what a new neighbor is told.
- When T_u is over, UNSUB goes where the table of that moment has nobody else who wants the
  pattern; no live entry is removed, so a neighbor that came back meanwhile keeps its own.
"""

from typing import ClassVar

from pysim.brokers.deferral import TABLE_I, LostRoutes, UnsubscribeAfter
from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.brokers.subscription_forwarding import Literal, SubscriptionForwarding
from pysim.network.transport import BrokerId
from pysim.network.world import LinkNotice, World


class TimedDeferredUnsubscription(SubscriptionForwarding):
    """Subscription forwarding that waits for T_u before it unsubscribes what a lost link served."""

    name: ClassVar[str] = "timed-deferred-unsubscription"

    def __init__(
        self,
        world: World,
        *,
        literal: Literal = False,
        unsubscribe_after: UnsubscribeAfter = TABLE_I,
        optimize: Optimized = UNOPTIMIZED,
    ) -> None:
        super().__init__(world, literal=literal, optimize=optimize)
        self._lost = LostRoutes(self, unsubscribe_after)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        self._lost.keep(neighbor, notice)

    def unsettled(self) -> int:
        return len(self._lost)
