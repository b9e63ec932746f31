"""NOTIFIED DEFERRED UNSUBSCRIPTION: a FLUSH says when a lost link's routes may be unsubscribed.

Cugola, Frey, Murphy, Picco, "Content-Based Routing for Publish-Subscribe on a Dynamic Topology",
Sec. IV-A.2 and Fig. 8. Beside changes of links it is told which of them belong together, by the
number of the reconfiguration. What this module settles beyond the paper and `timed_deferred`:

- After its SUBs each new end sends FLUSH over the new link, and who gets one passes it on to all
  neighbors but the sender. Sent into the sender's own part of the tree it would overtake the SUBs
  of the other side.
- A link without a reconfiguration is added and lost as in TIMED DEFERRED UNSUBSCRIPTION.
"""

from typing import ClassVar

from pysim.brokers.deferral import TABLE_I, LostRoutes, UnsubscribeAfter, UseFlush, pass_flush_on
from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.brokers.subscription_forwarding import Literal, SubscriptionForwarding
from pysim.network.transport import BrokerId
from pysim.network.world import LinkNotice, World
from pysim.wire import Envelope
from pysim.wire.messages import Flush


class NotifiedDeferredUnsubscription(SubscriptionForwarding):
    """Subscription forwarding that unsubscribes what a lost link served when FLUSH or T_u says so.

    The subscriptions that the new link brings have then passed.
    """

    name: ClassVar[str] = "notified-deferred-unsubscription"

    def __init__(
        self,
        world: World,
        *,
        literal: Literal = False,
        unsubscribe_after: UnsubscribeAfter = TABLE_I,
        flush: UseFlush = True,
        optimize: Optimized = UNOPTIMIZED,
    ) -> None:
        super().__init__(world, literal=literal, optimize=optimize)
        self._lost = LostRoutes(self, unsubscribe_after)
        self._use_flush = flush

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        self._lost.keep(neighbor, notice)

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        super().link_up(neighbor, notice)
        if self._use_flush and notice.reconfiguration is not None:
            self.world.send(neighbor, Flush(notice.reconfiguration))

    def on_flush(self, sender: BrokerId, envelope: Envelope) -> None:
        self._lost.release(pass_flush_on(self.world, sender, envelope))

    def unsettled(self) -> int:
        return len(self._lost)
