"""Reverse path forwarding with gain tables: what all of PopSub has in common, and its baseline.

It must not know what becomes of unpopular publications; here all are popular.

The paper is PopSub (popularity-based publication routing for content-based pub/sub). Its baseline
decides as `no-covering` does, and is made of the same routing: advertisements flood, a subscription
goes to where advertisements came from that it intersects, a publication back. On top of that,
subscriptions count their hops, so that each broker has a gain table, and what an experiment on
popularity wants to know is counted. What is settled beyond the paper:

- An event belongs to the first advertisement, by id, of its broker that announces it. All brokers
  come to the same result, as they know all advertisements; it need not travel. (Publishers of one
  broker whose advertisements overlap are one publisher for what they have in common.)
- Deliveries name their way: ``local`` (the publisher's own broker), ``tree``, or as an unpopular
  publication ``direct``, ``batch`` or ``gossip``.
- Counters: ``tree-forwards`` (publications sent on alone over a link), ``pure-forwards``
  (publications, or batches, that a broker sent on over links and delivered to none of its clients)
  and of these ``pure-forwards-at-publisher``. The gain ratio is ``gain`` / ``gain-forwards`` over
  the brokers of publishers: each forward of one of their own publications enters with the gain of
  its link. ``passing-gain`` / ``passing-gain-forwards`` is the same for publications of others.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, NamedTuple, cast

from pysim.brokers.covering.routing import CoveringRouting
from pysim.brokers.covering.stores import Unrelated
from pysim.brokers.covering.tables import Entry
from pysim.brokers.optimizations import UNOPTIMIZED
from pysim.brokers.popsub.gains import GainEntry, GainTable
from pysim.brokers.popsub.interests import Interest, Interests
from pysim.brokers.popsub.work import WORK_UNITS, Work
from pysim.filters import Filter
from pysim.filters.covering import intersects
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, World
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


class Publication(NamedTuple):
    """What the broker of its publisher knows of a publication.

    `found` are the entries that match it; `is_local` says whether a local client has one of them.
    """

    advertisement: MessageId
    event: Envelope
    found: Collection[Interest]
    is_local: bool


class GainRouting(CoveringRouting):
    """Advertisement-based routing whose subscriptions count hops.

    A subclass may override `send_published`, which a publication of a local client passes when its
    advertisement and its next hops are known, and `passed`, which those of others do.
    """

    work_units: ClassVar[frozenset[str]] = WORK_UNITS

    def __init__(self, world: World) -> None:
        super().__init__(world, Unrelated, UNOPTIMIZED)
        self.interests = Interests(world.id)
        self.gains = GainTable()
        self.counters.update(dict.fromkeys(_COUNTERS, 0))
        self._done = Work()

    # Publications

    def publish(self, client: ClientId, event: Envelope) -> None:
        attributes = cast(Event, event.message).attributes
        found = self.match(event)
        links = self.next_hops(found, self.world.id)
        is_local = self.deliver(found, event, "local")
        announced = self.advertisements.announcing(attributes)
        if announced is None:
            self.counters["unadvertised"] += 1
            self.send_on(links, event)
        elif links:
            self.send_published(Publication(announced.id, event, found, is_local), links)

    def on_event(self, sender: BrokerId, event: Envelope) -> None:
        self.relay(sender, event, self.match(event))

    def relay(self, sender: BrokerId, event: Envelope, found: Collection[Interest]) -> None:
        """Deliver what came by the tree, and send it on."""
        links = self.next_hops(found, sender)
        is_local = self.deliver(found, event, "tree")
        if links:
            self.passed(event, found, links)
            self.counters["passing-gain-forwards"] += len(links)
            self.send_on(links, event)
            if not is_local:
                self.counters["pure-forwards"] += 1

    def send_published(self, publication: Publication, links: Sequence[BrokerId]) -> None:
        """Let a local client's publication go."""
        gains = self.gains.of(publication.advertisement)
        self.send_along_tree(publication, [gains[link] for link in links])

    def send_along_tree(self, publication: Publication, entries: Sequence[GainEntry]) -> None:
        """Send a local client's publication over the links of entries."""
        self.count_along_tree(publication, entries)
        self.send_on([entry.link for entry in entries], publication.event)

    def count_along_tree(self, publication: Publication, entries: Sequence[GainEntry]) -> None:
        for entry in entries:
            self.counters["gain"] += entry.gain  # type: ignore[assignment]  # floats do as well
        self.counters["gain-forwards"] += len(entries)
        if not publication.is_local:
            self.count_pure_forward_at_publisher()

    def count_pure_forward_at_publisher(self) -> None:
        self.counters["pure-forwards"] += 1
        self.counters["pure-forwards-at-publisher"] += 1

    def passed(self, event: Envelope, found: Collection[Interest], links: list[BrokerId]) -> None:
        """Note what passes on its way from another broker to these links."""
        advertisement = self.advertisement_of(event, found)
        gains = self.gains.of(advertisement) if advertisement is not None else {}
        for link in links:
            if link in gains:
                self.counters["passing-gain"] += gains[link].gain  # type: ignore[assignment]
                gains[link].seen += 1

    def send_on(self, links: Sequence[BrokerId], event: Envelope) -> None:
        """Send a publication over links, alone."""
        send = self.world.send
        for link in links:
            send(link, event)
        self._done.messages += len(links)
        self.counters["tree-forwards"] += len(links)

    # Who wants it

    def match(self, event: Envelope) -> Collection[Interest]:
        message: Event = event.message  # type: ignore[assignment]  # or of another type with them
        self._done.matched += 1
        return self.interests.match(message.attributes)

    def next_hops(self, found: Collection[Interest], sender: BrokerId) -> list[BrokerId]:
        """The neighbors that matching entries came from, but not the sender."""
        if len(found) == 1:
            (interest,) = found
            return [link for link in interest.links if link != sender]
        links = {link for interest in found for link in interest.links}
        links.discard(sender)
        return sorted(links)

    def deliver(self, found: Collection[Interest], event: Envelope, way: str) -> bool:
        """Deliver to each local client with a matching entry, once; whether there is any."""
        clients: Sequence[ClientId]
        if len(found) == 1:
            (interest,) = found
            clients = interest.audience
        else:
            clients = sorted({client for interest in found for client in interest.audience})
        if clients:
            self.world.deliver_to_all(clients, event, way)
        return bool(clients)

    def advertisement_of(self, event: Envelope, found: Collection[Interest]) -> MessageId | None:
        """The advertisement that an event belongs to, from what matches it.

        If a matching subscription intersects only one, it is that.
        """
        for interest in found:
            if len(interest.advertisements) == 1:
                return interest.advertisements[0].id
        attributes = cast(Event, event.message).attributes
        announcing = [
            each.id
            for each in {each for interest in found for each in interest.advertisements}
            if each.id.origin == event.origin and each.filter.matches(attributes)
        ]
        return min(announcing, default=None)

    # Advertisements

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

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        super().link_down(neighbor, notice)
        self.gains.forget_link(neighbor)

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
            wanting = self.advertisements.all_intersecting(entry.filter)
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
