"""Direct Delivery: an unpopular publication goes straight to the brokers that want it.

PopSub, Sec. 4.3. What this module settles:

- The publisher's broker matches against its PRT entries of the link, and sends one message to each
  distinct broker that such a subscription came from (its id names it), off the tree, by TCP.
- The receiver matches it against the subscriptions of its own clients and does not send it on.
- Counters: ``direct-forwards``. A direct forward enters the gain ratio with a gain of one, as in
  the paper. For each unpopular publication there is a record ``direct-forwards``.
"""

from collections.abc import Collection, Sequence
from typing import ClassVar, cast

from pysim.brokers.popsub.gains import GainEntry
from pysim.brokers.popsub.interests import Interest
from pysim.brokers.popsub.popularity import (
    CAPACITY,
    EVALUATION,
    PHI,
    Capacity,
    Evaluation,
    Phi,
    PopSub,
)
from pysim.network.transport import BrokerId
from pysim.network.world import World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import DirectEvent, Event


class DirectDelivery(PopSub):
    """PopSub that sends unpopular publications to each subscriber's broker by itself."""

    name: ClassVar[str] = "popsub-direct"

    def __init__(
        self,
        world: World,
        *,
        capacity: Capacity = CAPACITY,
        phi: Phi = PHI,
        evaluation: Evaluation = EVALUATION,
    ) -> None:
        super().__init__(world, capacity, phi, evaluation)
        self.counters["direct-forwards"] = 0

    def send_unpopular(
        self,
        advertisement: MessageId,
        event: Envelope,
        found: Collection[Interest],
        entries: Sequence[GainEntry],
    ) -> None:
        brokers = self._subscribers(found, [entry.link for entry in entries])
        message = cast(Event, event.message)
        direct = event.with_body(DirectEvent(message.attributes, message.payload))
        for broker in brokers:
            self.world.send_direct(broker, direct)
        forwards = len(brokers)
        self._done.direct += forwards
        self.counters.update({"direct-forwards": forwards, "gain-forwards": forwards})
        self.counters["gain"] += forwards
        self.world.record("direct-forwards", forwards)

    def _subscribers(
        self, found: Collection[Interest], links: Sequence[BrokerId]
    ) -> list[BrokerId]:
        """The brokers behind links whose subscriptions match."""
        return sorted(
            {
                origin
                for interest in found
                for link in links
                if link in interest.sides
                for origin in interest.sides[link].origins
            }
        )

    def on_direct_event(self, sender: BrokerId, event: Envelope) -> None:
        self.deliver(self.match(event), event, "direct")
