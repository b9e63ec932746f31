"""Reverse path forwarding with gain tables: what all of PopSub has in common, and its baseline.

It must not know what becomes of unpopular publications; here all are popular.

The paper is PopSub (popularity-based publication routing for content-based pub/sub). Its baseline
decides as `no-covering` does, and is made of the same routing: advertisements flood, a subscription
goes to where advertisements came from that it intersects, a publication back. On top of that,
subscriptions count their hops, so that each broker has a gain table, and what an experiment on
popularity wants to know is counted. What is settled beyond the paper:

- An event belongs to one advertisement: at its publisher's broker to the first (by id) of its
  client that announces it, or else to the first of another client there. Elsewhere it is the only
  one that a matching subscription intersects, or else the first of the event's origin that
  announces it.
- Deliveries name their way: ``local`` (the publisher's own broker), ``tree``, or as an unpopular
  publication ``direct``, ``batch`` or ``gossip``.
- Counters: ``tree-forwards`` (publications sent on alone over a link), ``pure-forwards``
  (publications, or batches, that a broker sent on over links and delivered to none of its clients)
  and of these ``pure-forwards-at-publisher``. The gain ratio is ``gain`` / ``gain-forwards`` over
  the brokers of publishers: each forward of one of their own publications enters with the gain of
  its link. ``passing-gain`` / ``passing-gain-forwards`` is the same for publications of others.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, cast

from pysim.brokers.covering.routing import CoveringRouting
from pysim.brokers.covering.stores import Unrelated
from pysim.brokers.covering.tables import Advertisement, Entry
from pysim.brokers.popsub.gains import GainEntry, GainTable
from pysim.brokers.popsub.interests import Interest, Interests
from pysim.brokers.popsub.work import WORK_UNITS, Work
from pysim.filters import Filter
from pysim.filters.covering import intersects
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import Event, HopSubscribe

_COUNTERS = (
    "tree-forwards",
    "pure-forwards",
    "pure-forwards-at-publisher",
    "gain",
    "gain-forwards",
    "passing-gain",
    "passing-gain-forwards",
)


class GainRouting(CoveringRouting):
    """Advertisement-based routing whose subscriptions count hops.

    A subclass may override `send_published`, which a publication of a local client passes when its
    advertisement and its next hops are known, and `passed`, which those of others do.
    """

    work_units: ClassVar[frozenset[str]] = WORK_UNITS

    def __init__(self, world: World) -> None:
        super().__init__(world, Unrelated)
        self.interests = Interests(world.id)
        self.gains = GainTable()
        self.counters.update(dict.fromkeys(_COUNTERS, 0))
        self._done = Work()
        self._owners: dict[MessageId, ClientId] = {}

    # Publications

    def publish(self, client: ClientId, event: Envelope) -> None:
        attributes = cast(Event, event.message).attributes
        found = self.match(event)
        links = self.next_hops(found, self.world.id)
        is_local = self.deliver(found, event, "local")
        announced = self._announced_by(client, attributes)
        if announced is None:
            self.counters["unadvertised"] += 1
            self.send_on(links, event)
        elif links and self.send_published(announced.id, event, found, links) and not is_local:
            self.counters["pure-forwards"] += 1
            self.counters["pure-forwards-at-publisher"] += 1

    def on_event(self, sender: BrokerId, event: Envelope) -> None:
        found = self.match(event)
        links = self.next_hops(found, sender)
        is_local = self.deliver(found, event, "tree")
        if links:
            self.passed(event, found, links)
            self.send_on(links, event)
            if not is_local:
                self.counters["pure-forwards"] += 1

    def send_published(
        self,
        advertisement: MessageId,
        event: Envelope,
        found: Collection[Interest],
        links: Sequence[BrokerId],
    ) -> bool:
        """Let a local client's publication go; whether it is sent on over any link now."""
        gains = self.gains.of(advertisement)
        for link in links:
            self.count_gain(gains.get(link))
        self.send_on(links, event)
        return True

    def passed(self, event: Envelope, found: Collection[Interest], links: list[BrokerId]) -> None:
        """Note what passes on its way from another broker."""
        gains = self.gains_of(event, found)
        for link in links:
            entry = gains.get(link)
            if entry is not None:
                self.counters["passing-gain"] += entry.gain  # type: ignore[assignment]
                self.counters["passing-gain-forwards"] += 1

    def send_on(self, links: Sequence[BrokerId], event: Envelope) -> None:
        """Send a publication over links, alone."""
        send = self.world.send
        for link in links:
            send(link, event)
        self._done.messages += len(links)
        self.counters["tree-forwards"] += len(links)

    def count_gain(self, entry: GainEntry | None) -> None:
        """A publication of a local client goes over the link of an entry."""
        if entry is not None:
            self.counters["gain"] += entry.gain  # type: ignore[assignment]  # floats do as well
            self.counters["gain-forwards"] += 1

    # Who wants it

    def match(self, event: Envelope) -> Collection[Interest]:
        message: Event = event.message  # type: ignore[assignment]  # or of another type with them
        self._done.matched += 1
        return self.interests.match(message.attributes)

    def next_hops(self, found: Collection[Interest], sender: BrokerId) -> list[BrokerId]:
        """The neighbors that matching entries came from, but not the sender."""
        links = {link for interest in found for link in interest.sides}
        links.discard(sender)
        return sorted(links)

    def deliver(self, found: Collection[Interest], event: Envelope, way: str) -> bool:
        """Deliver to each local client with a matching entry, once; whether there is any."""
        clients = {client for interest in found for client in interest.clients}
        deliver = self.world.deliver
        for client in sorted(clients):
            deliver(client, event, way)
        return bool(clients)

    def gains_of(
        self, event: Envelope, found: Collection[Interest]
    ) -> Mapping[BrokerId, GainEntry]:
        """The gains, by link, of the advertisement that a passing event belongs to."""
        for interest in found:
            if len(interest.advertisements) == 1:
                return self.gains.of(interest.advertisements[0].id)
        attributes = cast(Event, event.message).attributes
        announcing = [
            each.id
            for each in {each for interest in found for each in interest.advertisements}
            if each.id.origin == event.origin and each.filter.matches(attributes)
        ]
        return self.gains.of(min(announcing)) if announcing else {}

    def _announced_by(
        self, client: ClientId, attributes: Mapping[str, int | float | str]
    ) -> Advertisement | None:
        owners = self._owners
        return min(
            self.advertisements.all_announcing(attributes),
            key=lambda found: (owners[found.id] != client, found.id),
            default=None,
        )

    # Advertisements

    def advertise(self, client: ClientId, filter: Filter) -> None:
        super().advertise(client, filter)
        self._owners[self._announced[client, filter]] = client

    def _learn(self, hop: BrokerId, id: MessageId, filter: Filter) -> None:
        is_new = self.advertisements.get(id) is None
        super()._learn(hop, id, filter)
        advertisement = self.advertisements.get(id)
        assert advertisement is not None
        intersecting = [each for each in self.interests if intersects(filter, each.filter)]
        if is_new:
            for interest in intersecting:
                interest.advertisements.append(advertisement)
        self.gains.recount(advertisement, intersecting)

    def _unlearn(self, hop: BrokerId, id: MessageId) -> None:
        advertisement = self.advertisements.get(id)
        super()._unlearn(hop, id)
        if advertisement is None:
            return
        concerned = [each for each in self.interests if advertisement in each.advertisements]
        if advertisement.hops:
            self.gains.recount(advertisement, concerned)
            return
        for interest in concerned:
            interest.advertisements.remove(advertisement)
        self.gains.forget(id)
        self._owners.pop(id, None)

    # Subscriptions

    def on_hop_subscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(HopSubscribe, envelope.message)
        self.receive_entry(Entry(envelope.id, message.filter, sender, hops=message.hops))

    def tell(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        for entry in self.newly_told(neighbor, entries):
            message = HopSubscribe(entry.filter, entry.hops + 1)
            self.world.send(neighbor, Envelope.seal(message, *entry.id))

    def index(self, entry: Entry) -> None:
        interest = self.interests.of(entry.filter)
        if interest is None:
            wanting = [a for a in self.advertisements if intersects(a.filter, entry.filter)]
            interest = self.interests.open(entry.filter, wanting)
        self.interests.add(interest, entry)
        if entry.last_hop != self.world.id:
            self.gains.count(interest, entry.last_hop, entry.hops, 1)

    def unindex(self, entry: Entry) -> None:
        interest = self.interests.of(entry.filter)
        assert interest is not None
        self.interests.remove(interest, entry)
        if entry.last_hop != self.world.id:
            self.gains.count(interest, entry.last_hop, entry.hops, -1)

    def offer(self, entry: Entry) -> None:
        interest = self.interests.of(entry.filter)
        assert interest is not None
        wanting = {hop for each in interest.advertisements for hop in each.hops}
        for neighbor in self.world.neighbors:
            if neighbor in wanting and neighbor != entry.last_hop:
                self.join(neighbor, [entry])

    # What it costs

    def work(self, unit: str, amount: float) -> None:
        """Work on subscriptions has no price in this family."""

    def take_work(self) -> Mapping[str, float]:
        return self._done.take()


class ReversePathForwarding(GainRouting):
    """Every publication takes the tree, whoever wants it: PopSub's baseline."""

    name: ClassVar[str] = "reverse-path-forwarding"
