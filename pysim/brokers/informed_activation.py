"""INFORMED LINK ACTIVATION: a new link is not told what served only the link that it replaces.

Cugola, Frey, Murphy, Picco, "Content-Based Routing for Publish-Subscribe on a Dynamic Topology",
Sec. IV-B and Fig. 9. Beside what NOTIFIED DEFERRED UNSUBSCRIPTION is told, the ends of a lost link
hear which ends the new one has. What this module settles beyond the paper and `notified_deferred`:

- P is read when the replacement is known: the pending patterns without a subscriber in the table,
  none at a leaf or after T_u. A broker that is an end of both links tells itself, at no cost.
- What is withheld counts as not told: ordinary (un)subscriptions go over the new link as usual, and
  when T_s is over the new neighbor is told what it still lacks.
- ACTIVATE and the link that it is for wait for each other, whichever is first, for T_s at most. A
  link that waited in vain (its ACTIVATE was lost, or an end of the old link crashed) is activated
  with an empty P; an ACTIVATE whose link is gone is forgotten.
- Where neighbors are told summaries, P names what the end of the old link was told, which may be in
  no other table: then less is withheld than could be.
"""

from typing import Annotated, ClassVar, cast

from pysim.brokers.deferral import (
    TABLE_I,
    LostRoutes,
    UnsubscribeAfter,
    UseFlush,
    WaitingRoom,
    pass_flush_on,
)
from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.brokers.subscription_forwarding import Literal, SubscriptionForwarding
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import LinkNotice, Replacement, World
from pysim.units import Duration
from pysim.wire import Envelope
from pysim.wire.messages import Activate, Flush


class InformedLinkActivation(SubscriptionForwarding):
    """Subscription forwarding whose new links are told only what their side really wants.

    What the lost link served follows after T_s, if it is still wanted then.
    """

    name: ClassVar[str] = "informed-link-activation"

    def __init__(
        self,
        world: World,
        *,
        literal: Literal = False,
        unsubscribe_after: UnsubscribeAfter = TABLE_I,
        activate_after: Annotated[
            Duration, "time until withheld subscriptions are sent all the same (T_s)"
        ] = TABLE_I,
        flush: UseFlush = True,
        optimize: Optimized = UNOPTIMIZED,
    ) -> None:
        super().__init__(world, literal=literal, optimize=optimize)
        self._lost = LostRoutes(self, unsubscribe_after)
        self._use_flush = flush
        self._links: WaitingRoom[int, BrokerId] = WaitingRoom(world, activate_after)
        """New neighbors that wait for the ACTIVATE of their reconfiguration."""
        self._activations: WaitingRoom[int, tuple[Filter, ...]] = WaitingRoom(world, activate_after)
        """The P of reconfigurations that wait for their link."""
        self._withheld: WaitingRoom[BrokerId, list[Filter]] = WaitingRoom(world, activate_after)
        """What new neighbors are not told yet (the paper's taggedSubs)."""

    # The old link

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        self._withheld.take(neighbor)
        for reconfiguration, waiting in self._links.items():
            if waiting == neighbor:
                self._links.take(reconfiguration)
        self._lost.keep(neighbor, notice)

    def link_replaced(self, replacement: Replacement) -> None:
        """The paper's substituteLinkTo: the new end in this part hears what served the old link."""
        number, near = replacement.reconfiguration, replacement.near
        served = tuple(p for p in self._lost.of(number) if not self.subscribers(p))
        if near == self.world.id:
            self._activated(number, served)
        else:
            self.world.send_direct(near, Activate(number, served))

    def on_flush(self, sender: BrokerId, envelope: Envelope) -> None:
        self._lost.release(pass_flush_on(self.world, sender, envelope))

    # The new link

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        number = notice.reconfiguration
        if number is None:
            super().link_up(neighbor, notice)
            return
        served = self._activations.take(number)
        if served is not None:
            self._activate(neighbor, number, served)
        else:
            self._links.put(number, neighbor, lambda: self._activate(neighbor, number, ()))

    def on_activate(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(Activate, envelope.message)
        self._activated(message.reconfiguration, message.patterns)

    def _activated(self, number: int, served: tuple[Filter, ...]) -> None:
        neighbor = self._links.take(number)
        if neighbor is not None:
            self._activate(neighbor, number, served)
        else:
            self._activations.put(number, served, lambda: None)

    def _activate(self, neighbor: BrokerId, number: int, served: tuple[Filter, ...]) -> None:
        """Tell a new neighbor all that is local or did not serve the old link, the rest later."""
        withheld = {p for p in served if self.world.id not in self.subscribers(p)}
        later = []
        for pattern in self.wanted_beside(neighbor):
            if pattern in withheld:
                later.append(pattern)
            else:
                self.tell(neighbor, pattern)
        if later:
            self._withheld.put(neighbor, later, lambda: self._tell_late(neighbor, later))
        if self._use_flush:
            self.world.send(neighbor, Flush(number))

    def _tell_late(self, neighbor: BrokerId, patterns: list[Filter]) -> None:
        for pattern in patterns:
            if self.subscribers(pattern) - {neighbor}:
                self.tell(neighbor, pattern)

    def unsettled(self) -> int:
        waiting = len(self._links) + len(self._activations)
        return len(self._lost) + waiting + len(self._withheld)
