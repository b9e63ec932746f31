"""Event flooding on any overlay: every event goes everywhere, and brokers drop what they have seen.

Event flooding (EF) of merc.txt, Sec. II: no routing state, subscriptions stay where they are, and
an event is matched against local ones only. On cycles it costs redundant messages: E - (N - 1)
links are no part of the tree of first arrivals, and an event may cross such a link both ways.
`event-forwarding` is the same on trees, where nothing need be remembered.
"""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from pysim.brokers.base import Broker
from pysim.brokers.promises import Promises
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, World
from pysim.wire import Envelope, MessageId


class EventFlooding(Broker):
    """Sends every event over every link that it did not come by, and drops duplicates."""

    name: ClassVar[str] = "event-flooding"
    needs_tree: ClassVar[bool] = False
    promises: ClassVar[Promises] = Promises(links=True, crashes=True)
    work_units: ClassVar[frozenset[str]] = frozenset({"publication-entries"})

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.counters: Counter[str] = Counter({"duplicates": 0})
        self._seen: set[MessageId] = set()
        self._compared = 0

    def publish(self, client: ClientId, event: Envelope) -> None:
        self._spread(self.world.id, event)

    def on_event(self, sender: BrokerId, event: Envelope) -> None:
        if event.id in self._seen:
            self.counters["duplicates"] += 1
        else:
            self._spread(sender, event)

    def _spread(self, sender: BrokerId, event: Envelope) -> None:
        self._seen.add(event.id)
        self._compared += self.table_size()
        self.deliver_locally(event)
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, event)

    def take_work(self) -> Mapping[str, float]:
        compared, self._compared = self._compared, 0
        return {"publication-entries": compared}

    def table_size(self) -> int:
        return len(self.clients)
