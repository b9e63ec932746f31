"""Event forwarding: every event floods the tree, and subscriptions never leave their broker.

The simplest broker there is, the other end of the scale from subscription forwarding, and a first
example of a protocol.
"""

from typing import ClassVar

from pysim.brokers.base import Broker
from pysim.brokers.promises import Promises
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId
from pysim.wire import Envelope


class EventForwarding(Broker):
    """Sends every event to everyone and matches it against local subscriptions only."""

    name: ClassVar[str] = "event-forwarding"
    promises: ClassVar[Promises] = Promises(links=True, crashes=True)

    def publish(self, client: ClientId, event: Envelope) -> None:
        self._spread(self.world.id, event)

    def _spread(self, sender: BrokerId, event: Envelope) -> None:
        """Pass an event on to where it did not come from."""
        world = self.world
        self.deliver_locally(event)
        for neighbor in world.neighbors:
            if neighbor != sender:
                world.send(neighbor, event)

    on_event = _spread
