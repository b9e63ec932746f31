"""MEDYM: events are matched at their source and travel from destination to destination.

Cao and Singh, Middleware 2005, as merc.txt, Sec. II tells it: every broker knows all subscriptions
and has a connection to every other broker, an event carries its destinations, and the way among
them is computed for each event, so that no broker gets it that does not want it. Here brokers are
connected by unicast over the network (`send_direct`); the way is a minimum spanning tree of the
source and the destinations by the overlay's distances, of which each broker hands every branch to
its first member. Of equal distances the lowest ids win.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from pysim.brokers.destinations.overlay_map import shortest_ways
from pysim.brokers.promises import Promises
from pysim.brokers.related.mapped import MappedBroker
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import AddressedEvent, Event, TopologyUpdate


class Medym(MappedBroker):
    """Match early, then multicast dynamically among those that want an event."""

    name: ClassVar[str] = "medym"
    promises: ClassVar[Promises] = Promises()  # what is sent to whom cannot be reached is lost

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._distances: dict[BrokerId, Mapping[BrokerId, int]] = {}
        self._known: set[BrokerId] = set()

    # The map, and who is told what

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        super().link_up(neighbor, notice)
        self._distances.clear()

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        super().link_down(neighbor, notice)
        self._distances.clear()

    def on_topology_update(self, sender: BrokerId, envelope: Envelope) -> None:
        super().on_topology_update(sender, envelope)
        self._distances.clear()
        broker = cast(TopologyUpdate, envelope.message).originator
        if broker != self.world.id and broker not in self._known:
            self._known.add(broker)
            for (origin, _), wish in list(self._wishes.items()):
                if origin == self.world.id:
                    self.world.send_direct(broker, wish)

    def spread_wish(self, sender: BrokerId, envelope: Envelope) -> None:
        """A broker's own wishes go straight to everybody; nobody passes any on."""
        if sender == self.world.id:
            for broker in sorted(self._known):
                self.world.send_direct(broker, envelope)

    # Events

    def publish(self, client: ClientId, event: Envelope) -> None:
        self.serve(event)
        message = cast(Event, event.message)
        addressed = AddressedEvent((), message.attributes, message.payload)
        self._multicast(addressed, event.id, self.wanting(message.attributes))

    def on_addressed_event(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(AddressedEvent, envelope.message)
        self.serve(envelope)
        others = [broker for broker in message.destinations if broker != self.world.id]
        self._multicast(message, envelope.id, others)

    def _multicast(self, message: AddressedEvent, id: MessageId, to: Sequence[BrokerId]) -> None:
        for first, members in self._branches_to(to).items():
            part = AddressedEvent(tuple(members), message.attributes, message.payload)
            self.world.send_direct(first, Envelope.seal(part, *id))

    def _branches_to(self, destinations: Sequence[BrokerId]) -> dict[BrokerId, list[BrokerId]]:
        """The branches of a minimum spanning tree at this broker: first members, all members."""
        own = self.world.id
        nearest = {each: (self._distance(own, each), own) for each in destinations}
        branch: dict[BrokerId, BrokerId] = {}
        members: dict[BrokerId, list[BrokerId]] = {}
        while nearest:
            joining = min(nearest, key=lambda each: (*nearest[each], each))
            parent = nearest.pop(joining)[1]
            branch[joining] = joining if parent == own else branch[parent]
            members.setdefault(branch[joining], []).append(joining)
            for other, (distance, _) in list(nearest.items()):
                nearer = self._distance(joining, other)
                if nearer < distance:
                    nearest[other] = nearer, joining
        return {first: sorted(found) for first, found in sorted(members.items())}

    def _distance(self, a: BrokerId, b: BrokerId) -> int:
        if a not in self._distances:
            adjacent = self.map.adjacency()
            self._distances[a] = shortest_ways(adjacent, a).distances if a in adjacent else {}
        return self._distances[a].get(b, len(self.map.brokers()))
