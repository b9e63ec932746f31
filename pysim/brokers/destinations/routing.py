"""The matching layer of D-DBR (merc.txt, Alg. 1), for one cluster of brokers or for several.

It must not know ways and links: each cluster has a multicasting layer. D-DBR is the case of one
cluster; Alg. 3 of MERC is what `_other` clusters are for, and does nothing where there are none.
What is settled beyond the paper:

- Each subscription of each client is an item of its own, under the id of the message that its
  broker made. An edge broker that passes an item on puts its own number in the place of the source
  and an id of its own in the place of the id: if it forgets everything and passes the same item on
  again, that is a new one to all who were told that the old one is gone.
- Inserting is idempotent by id. A withdrawal goes to whoever was told, and leaves a tombstone: it
  may overtake what it withdraws. Ids are never reused.
- A subscription is kept where an advertisement that its holder announced intersects it. When that
  one is withdrawn, the holder drops what no other needs, and the subscriber's broker notes that it
  does: both know, so nothing has to be sent. Should the holder have announced something else in
  the meantime, it keeps it; so it hears of the subscription's end in any case.
- An advertisement that is new makes subscriptions go to its source that are not there; one that
  comes again, as something may have been lost, makes all of them go.
- Who becomes reachable is sent all advertisements, the subscriptions that intersect its own, and
  the withdrawals that it missed. A broker with a new incarnation has forgotten everything, so what
  it had told is forgotten too.
- A client gets an event once, however many of its subscriptions match. (Alg. 2, line 13, means the
  client that was just served; Alg. 3, line 10, means the R-PRTs of the other clusters.)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal, cast

from pysim.brokers.base import Broker
from pysim.brokers.destinations.cluster import Cluster, Withdrawal
from pysim.brokers.destinations.clusters import ClusterName
from pysim.brokers.destinations.links import LinkWatch, Watch
from pysim.brokers.destinations.multicast import Multicast
from pysim.brokers.destinations.tables import Item, Table
from pysim.brokers.promises import Promises
from pysim.filters import Event as Attributes
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, World
from pysim.wire import Envelope, Message, MessageId
from pysim.wire.messages import (
    AddressedAdvertise,
    AddressedEvent,
    AddressedSubscribe,
    AddressedUnadvertise,
    AddressedUnsubscribe,
    Event,
)


class DestinationRouting(Broker):
    """Matches at the source and at the destinations, and routes by lists of brokers in between.

    A subclass says which cluster a neighbor belongs to, by `cluster_of`; None is a link that is not
    to be used.
    """

    needs_tree: ClassVar[bool] = False
    promises: ClassVar[Promises] = Promises(
        advertised=True, links=True, crashes=True, recovers=12.0, background=("heartbeat",)
    )
    work_units: ClassVar[frozenset[str]] = frozenset(
        {
            "publication-entries",
            "matching-entries",
            "unsubscription-entries",
            "routed-destinations",
        }
    )

    def __init__(
        self, world: World, watch: Watch, updates: Literal["numbered", "published"]
    ) -> None:
        super().__init__(world)
        self._counters: Counter[str] = Counter(
            {
                "subscriptions-received": 0,
                "unsubscriptions-received": 0,
                "advertisements-received": 0,
                "ignored": 0,
                "unadvertised": 0,
                "no-route": 0,
                "dead-link-messages": 0,
                "dead-link-destinations": 0,
                "hop-alarms": 0,
                "routed-destinations": 0,
            }
        )
        self.clusters: dict[ClusterName, Cluster] = {}
        self.advertisements = Table()
        """L-SRT."""
        self.subscriptions = Table()
        """L-PRT."""
        self._updates = updates
        self._watch = watch
        self._links = LinkWatch(world, watch, self._found, self._lost)
        self._announced: dict[tuple[ClientId, Filter], Item] = {}
        self._wanted: dict[tuple[ClientId, Filter], Item] = {}
        self._work: Counter[str] = Counter()
        self._routed = 0

    # Clusters and links

    def cluster_of(self, neighbor: BrokerId) -> ClusterName | None:
        """The cluster that the link to a neighbor belongs to."""
        raise NotImplementedError

    def join_cluster(self, name: ClusterName) -> None:
        """Belong to a cluster, from the beginning."""
        latest = self._watch.latest
        multicast = Multicast(self.world, self._counters, self, latest, self._updates)
        self.clusters[name] = Cluster(name, multicast, self.world)

    def start(self) -> None:
        self._links.start()

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        if self.cluster_of(neighbor) is None:
            self._counters["links-of-no-cluster"] += 1
        else:
            self._links.link_up(neighbor)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        self._links.link_down(neighbor, notice)

    def on_heartbeat(self, sender: BrokerId, envelope: Envelope) -> None:
        if self.cluster_of(sender) is not None:
            self._links.heard(sender)

    def _found(self, neighbor: BrokerId) -> None:
        self._cluster(neighbor).multicast.found(neighbor)

    def _lost(self, neighbor: BrokerId) -> None:
        self._cluster(neighbor).multicast.lost(neighbor)

    def _cluster(self, neighbor: BrokerId) -> Cluster:
        name = self.cluster_of(neighbor)
        assert name is not None
        return self.clusters[name]

    def _other(self, cluster: Cluster | None) -> Iterator[Cluster]:
        return (other for other in self.clusters.values() if other is not cluster)

    # Topology

    def on_topology_update(self, sender: BrokerId, envelope: Envelope) -> None:
        self._links.heard(sender)
        self._cluster(sender).multicast.update_came(sender, envelope)

    def on_addressed_link_loss(self, sender: BrokerId, envelope: Envelope) -> None:
        cluster = self._from(sender)
        cluster.multicast.loss_came(envelope)
        cluster.multicast.passes(envelope)

    def reached(self, multicast: Multicast, brokers: Sequence[BrokerId]) -> None:
        """A way leads to brokers: they are told all that they may have missed."""
        cluster = self._cluster_with(multicast)
        for broker in brokers:
            cluster.make_up(broker)
        for item in self._advertisements_beside(cluster):
            cluster.tell_advertisement(item, brokers)
        wanted: dict[Item, list[BrokerId]] = {}
        for broker in brokers:
            for advertisement in cluster.advertisements.of(broker):
                for item in self._subscriptions_beside(cluster, advertisement.filter):
                    others = wanted.setdefault(item, [])
                    if broker not in others:
                        others.append(broker)
        for item, listed in wanted.items():
            cluster.tell_subscription(item, listed)

    def restarted(self, multicast: Multicast, broker: BrokerId) -> None:
        """A broker has forgotten everything: so is what came from it, and that it was told."""
        cluster = self._cluster_with(multicast)
        for item in self._told_items():
            item.forget(broker)
        for item in cluster.advertisements.of(broker):
            self._forget_advertisement(cluster, item)
        for item in cluster.subscriptions.of(broker):
            self._forget_subscription(cluster, item)

    def _cluster_with(self, multicast: Multicast) -> Cluster:
        return next(c for c in self.clusters.values() if c.multicast is multicast)

    def _told_items(self) -> Iterator[Item]:
        yield from self.advertisements
        yield from self.subscriptions
        for cluster in self.clusters.values():
            yield from cluster.advertisements
            yield from cluster.subscriptions

    # Events

    def publish(self, client: ClientId, event: Envelope) -> None:
        message = cast(Event, event.message)
        attributes = message.attributes
        if not self.advertisements.match(attributes):
            self._counters["unadvertised"] += 1
        self._deliver(event, attributes)
        self._publish_beside(None, event.id, attributes, message.payload)

    def on_addressed_event(self, sender: BrokerId, envelope: Envelope) -> None:
        cluster = self._from(sender)
        self.event_crosses(sender)
        if cluster.multicast.passes(envelope):
            message = cast(AddressedEvent, envelope.message)
            self._deliver(envelope, message.attributes)
            self.event_came(envelope)
            self._publish_beside(cluster, envelope.id, message.attributes, message.payload)

    def event_came(self, envelope: Envelope) -> None:
        """An event came to its destination; for who counts them."""

    def event_goes(self, destinations: Sequence[BrokerId]) -> None:
        """An event goes to its destinations; for who counts them."""

    def event_crosses(self, neighbor: BrokerId) -> None:
        """An event goes to a neighbor or comes from it; for who counts them."""

    def _deliver(self, envelope: Envelope, attributes: Attributes) -> None:
        """Match against L-PRT and serve each interested client once."""
        self._work["publication-entries"] += len(self.subscriptions)
        for client in self.clients.interested(attributes):
            self.world.deliver(client, envelope)

    def _publish_beside(
        self,
        home: Cluster | None,
        id: MessageId,
        attributes: dict[str, int | float | str],
        payload: bytes,
    ) -> None:
        """Match against the R-PRTs of all clusters but one."""
        for cluster in self._other(home):
            self._work["publication-entries"] += len(cluster.subscriptions)
            destinations = cluster.subscriptions.matching_sources(attributes)
            if destinations:
                self.event_goes(destinations)
                message = AddressedEvent((), attributes, payload)
                cluster.multicast.publish(message, id, destinations)

    def _from(self, sender: BrokerId) -> Cluster:
        """A message came: the cluster that it came in."""
        self._links.heard(sender)
        return self._cluster(sender)

    # Advertisements

    def advertise(self, client: ClientId, filter: Filter) -> None:
        if (client, filter) in self._announced:
            return
        item = self._new_item(AddressedAdvertise((), (self.world.id,), filter), filter)
        self._announced[client, filter] = item
        self.advertisements.add(item)
        self._spread_advertisement(None, item)

    def unadvertise(self, client: ClientId, filter: Filter) -> None:
        item = self._announced.pop((client, filter), None)
        if item is not None:
            self.advertisements.remove(item)
            self._retract_advertisement(None, item)

    def on_addressed_advertise(self, sender: BrokerId, envelope: Envelope) -> None:
        cluster = self._from(sender)
        if cluster.multicast.passes(envelope):
            message = cast(AddressedAdvertise, envelope.message)
            self._counters["advertisements-received"] += 1
            self._learn(cluster, Item(envelope.id, message.filter, message.sources[0]))

    def on_addressed_unadvertise(self, sender: BrokerId, envelope: Envelope) -> None:
        cluster = self._from(sender)
        if cluster.multicast.passes(envelope):
            id = cast(AddressedUnadvertise, envelope.message).advertisement
            cluster.withdrawn.add(id)
            item = cluster.advertisements.get(id)
            if item is None:
                self._counters["ignored"] += 1
            else:
                self._forget_advertisement(cluster, item)

    def _learn(self, cluster: Cluster, item: Item) -> None:
        """An advertisement came: subscriptions go to its source, and it goes to other clusters."""
        if item.id in cluster.withdrawn:
            self._counters["ignored"] += 1
            return
        is_new = cluster.advertisements.get(item.id) is None
        self._work["matching-entries"] += len(self.subscriptions)
        for wanted in self._subscriptions_beside(cluster, item.filter):
            if not is_new or item.source not in wanted.told:
                cluster.tell_subscription(wanted, [item.source])
        if is_new:
            cluster.advertisements.add(item)
            self._spread_advertisement(cluster, item)
        else:
            self._counters["ignored"] += 1

    def _forget_advertisement(self, cluster: Cluster, item: Item) -> None:
        """An advertisement went: its source drops what no other of its advertisements needs."""
        cluster.advertisements.remove(item)
        for wanted in self._subscriptions_beside(cluster, item.filter):
            needed = cluster.advertisements.sources(wanted.filter)
            if item.source in wanted.told and item.source not in needed:
                wanted.dismiss(item.source)
        self._retract_advertisement(cluster, item)

    def _spread_advertisement(self, home: Cluster | None, item: Item) -> None:
        for cluster in self._other(home):
            cluster.tell_advertisement(item, sorted(cluster.multicast.map.reachable()))

    def _retract_advertisement(self, home: Cluster | None, item: Item) -> None:
        """Withdraw an advertisement, and drop subscriptions that were there for it alone."""
        self._retract(home, item, AddressedUnadvertise)
        for cluster in self._other(home):
            for wanted in cluster.subscriptions.intersecting(item.filter):
                if not self._is_announced(cluster, wanted.filter):
                    cluster.subscriptions.remove(wanted)

    def _advertisements_beside(self, cluster: Cluster) -> Iterator[Item]:
        """What this broker announces in a cluster."""
        yield from self.advertisements
        for other in self._other(cluster):
            yield from other.advertisements

    def _is_announced(self, cluster: Cluster, filter: Filter) -> bool:
        """Whether something that this broker announces in a cluster intersects a filter."""
        tables = [self.advertisements, *(c.advertisements for c in self._other(cluster))]
        return any(table.intersects(filter) for table in tables)

    # Subscriptions

    def subscribe(self, client: ClientId, filter: Filter) -> None:
        if (client, filter) in self._wanted:
            return
        self.clients.add(client, filter)
        item = self._new_item(AddressedSubscribe((), (self.world.id,), filter), filter)
        self._wanted[client, filter] = item
        self.subscriptions.add(item)
        self._spread_subscription(None, item)

    def unsubscribe(self, client: ClientId, filter: Filter) -> None:
        item = self._wanted.pop((client, filter), None)
        if item is not None:
            self.clients.remove(client, filter)
            self._work["unsubscription-entries"] += len(self.subscriptions)
            self.subscriptions.remove(item)
            self._retract(None, item, AddressedUnsubscribe)

    def on_addressed_subscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        cluster = self._from(sender)
        if not cluster.multicast.passes(envelope):
            return
        self._counters["subscriptions-received"] += 1
        message = cast(AddressedSubscribe, envelope.message)
        id = envelope.id
        if id in cluster.withdrawn or cluster.subscriptions.get(id) is not None:
            self._counters["ignored"] += 1
        elif not self._is_announced(cluster, message.filter):
            self._counters["unwanted"] += 1
        else:
            item = Item(id, message.filter, message.sources[0])
            cluster.subscriptions.add(item)
            self._spread_subscription(cluster, item)

    def on_addressed_unsubscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        cluster = self._from(sender)
        if not cluster.multicast.passes(envelope):
            return
        self._counters["unsubscriptions-received"] += 1
        id = cast(AddressedUnsubscribe, envelope.message).subscription
        cluster.withdrawn.add(id)
        item = cluster.subscriptions.get(id)
        if item is None:
            self._counters["ignored"] += 1
        else:
            self._work["unsubscription-entries"] += len(cluster.subscriptions)
            self._forget_subscription(cluster, item)

    def _forget_subscription(self, cluster: Cluster, item: Item) -> None:
        cluster.subscriptions.remove(item)
        self._retract(cluster, item, AddressedUnsubscribe)

    def _spread_subscription(self, home: Cluster | None, item: Item) -> None:
        for cluster in self._other(home):
            self._work["matching-entries"] += len(cluster.advertisements)
            reachable = cluster.multicast.map.reachable()
            sources = cluster.advertisements.sources(item.filter)
            cluster.tell_subscription(item, [s for s in sources if s in reachable])

    def _subscriptions_beside(self, cluster: Cluster, filter: Filter) -> list[Item]:
        """What this broker wants from a cluster, as far as it intersects a filter."""
        found = self.subscriptions.intersecting(filter)
        for other in self._other(cluster):
            found += other.subscriptions.intersecting(filter)
        return found

    # Items

    def _new_item(self, message: Message, filter: Filter) -> Item:
        id = self.world.originate(message).id
        return Item(id, filter, self.world.id, id)

    def _retract(
        self, home: Cluster | None, item: Item, kind: Callable[[tuple[()], MessageId], Withdrawal]
    ) -> None:
        """Withdraw an item in all clusters but its own, if anybody was told of it."""
        if item.name is not None:
            for cluster in self._other(home):
                cluster.retract(item, kind((), item.name))

    # What it costs, and what is counted

    @property
    def counters(self) -> "Counter[str]":
        """What happened here, and how much is held now: see docs/protocols/destinations.md."""
        counters = self._counters
        counters["lost-heartbeats"] = self._links.lost_heartbeats
        counters["stored-remote"] = sum(len(c.subscriptions) for c in self.clusters.values())
        counters["stored-local"] = len(self.subscriptions)
        maps = [cluster.multicast.map for cluster in self.clusters.values()]
        counters["trt-bytes"] = sum(map.trt_bytes() for map in maps)
        counters["sprt-bytes"] = sum(map.sprt_bytes() for map in maps)
        return counters

    def take_work(self) -> Mapping[str, float]:
        counters, done = self._counters, dict(self._work)
        self._work.clear()
        for unit, amount in done.items():
            counters[unit] += amount
        routed = counters["routed-destinations"]  # these are counted already
        done["routed-destinations"] = routed - self._routed
        self._routed = routed
        return done

    def table_size(self) -> int:
        """The subscriptions that an event of a local client is matched against."""
        return len(self.subscriptions) + sum(len(c.subscriptions) for c in self.clusters.values())

    def stored_size(self) -> int:
        """All subscriptions, those of local clients included."""
        return self.table_size()

    # For tests and pictures

    def routing_table(self) -> Mapping[Filter, frozenset[BrokerId]]:
        """The sources of each filter of L-PRT and R-PRTs; the broker's own id for its clients."""
        table: dict[Filter, frozenset[BrokerId]] = {}
        for item in self._stored():
            table[item.filter] = table.get(item.filter, frozenset()) | {item.source}
        return table

    def _stored(self) -> Iterable[Item]:
        yield from self.subscriptions
        for cluster in self.clusters.values():
            yield from cluster.subscriptions
