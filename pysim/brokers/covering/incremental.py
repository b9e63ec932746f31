"""Incremental unsubscription: a subscription is withdrawn only as far as that is worth it.

Subscription covering and its withdrawal (Toronto, 2011), Sec. V; the sections below are its
statistics collection (V-A) and Algorithm 2 (V-B). Otherwise it is active covering. What this module
settles beyond the paper:

- Distance and count are zero at the PHB. At every other broker, the SHB included before it records:
  if two or more entries match that do not come from the sender, the distance is zero again and the
  count grows by one; otherwise the distance does. Entries are counted, not last hops; orphans do
  not count. So the distance is how far from the SHB the next one is that wants the publication.
- The pruning distance is the smallest at which at least the threshold's share of the window's
  publications has met another match (the paper's "less than" is one hop too far). Without
  statistics it is the whole path. With several advertisements on a path the largest counts.
- An unsubscribed entry becomes an orphan: it routes nothing. Towards a neighbor beyond which a
  distance is left it goes: new roots first, then the unsubscription. Elsewhere the subscription
  stands at the neighbor and the orphan quenches as it did. It is never sent again, and covers
  nothing towards others.
- A new subscription that covers an orphan is sent and displaces it, like any other entry. An orphan
  that quenches nothing towards a neighbor, or no longer does, is unsubscribed there without any
  distances; that goes on, by the same rule, as far as it triggers nothing.
- An orphan stays where it is in the relation graph, so its broker re-inserts nothing and counts it
  as one uncovered entry.
- Where remote entries are stored in a more general form, matches are counted in that form: then the
  distance says how far the next one is that gets the publication, wanted there or not.
- A link loss withdraws what came over it the whole path: only an SHB has statistics.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, ClassVar, cast

from pysim.brokers.covering.routing import CoveringRouting, Graph
from pysim.brokers.covering.statistics import Statistics, pruning_distance
from pysim.brokers.covering.tables import Entry
from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.filters import Filter
from pysim.filters.covering import covers
from pysim.filters.relations import new_graph
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, World
from pysim.units import Share, Span
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import CountedEvent, Event, PrunedUnsubscribe

Threshold = Annotated[
    Share, "similarity from which a subscription is preserved (theta); the rest are false positives"
]
Window = Annotated[Span, "for how long an SHB remembers the publications of a subscription"]

Distances = Sequence[tuple[MessageId, int]]
"""Advertisements with how far an unsubscription is still to go towards them (the tuple list)."""

THRESHOLD = Share(0.9)
WINDOW = Span(600.0)
"""The threshold of the paper's default experiment; it does not tell the window."""

WHOLE_PATH = 65_535
"""A pruning distance that is longer than any path."""


class IncrementalUnsubscription(CoveringRouting):
    """Active covering that leaves parts of a subscription's tree in place, for what it covers."""

    name: ClassVar[str] = "incremental-unsubscription"

    def __init__(
        self,
        world: World,
        *,
        graph: Graph = "simplified",
        threshold: Threshold = THRESHOLD,
        window: Window = WINDOW,
        optimize: Optimized = UNOPTIMIZED,
    ) -> None:
        super().__init__(world, partial(new_graph, graph), optimize)
        self._threshold = threshold
        self._statistics = Statistics(window)
        self._orphans: dict[BrokerId, dict[Entry, Entry]] = {}
        """Where orphans stand, each with one entry that it alone quenches there."""
        self._unannounced = MessageId(world.id, 0)
        self.counters["orphans"] = 0

    # Statistics collection

    def publish(self, client: ClientId, event: Envelope) -> None:
        """The PHB's part: the publication gets its header."""
        message = cast(Event, event.message)
        announced = self.advertisements.announcing(message.attributes)
        if announced is None:
            self.counters["unadvertised"] += 1
        local, neighbors, _ = self._receivers(self.world.id, message)
        self._deliver(local, event)
        if neighbors:
            id = self._unannounced if announced is None else announced.id
            counted = CountedEvent(message.attributes, id, 0, 0, message.payload)
            self._forward(neighbors, event.with_body(counted))

    def on_counted_event(self, sender: BrokerId, event: Envelope) -> None:
        message: CountedEvent = event.message  # type: ignore[assignment]  # as in its name
        local, neighbors, matching = self._receivers(sender, message)
        distance, count = message.distance + 1, message.count
        if matching >= 2:
            distance, count = 0, count + 1
        if local:
            announced = self.advertisements.get(message.advertisement)
            if announced is not None:
                self._statistics.record(self.world.now, local, announced, distance)
            self._deliver(local, event)
        if neighbors:
            counted = CountedEvent(
                message.attributes, message.advertisement, distance, count, message.payload
            )
            self._forward(neighbors, event.with_body(counted))

    def _receivers(
        self, sender: BrokerId, message: Event | CountedEvent
    ) -> tuple[list[Entry], set[BrokerId], int]:
        """Matching local entries, where the others came from, and how many both are."""
        if self._observe is not None:
            self._observe(message.attributes)
        self._publications += self._uncovered.root_count
        own = self.world.id
        local: list[Entry] = []
        neighbors: set[BrokerId] = set()
        remote = 0
        for entry in self._match(message.attributes):
            hop = entry.last_hop
            if hop == own:
                local.append(entry)
            elif hop != sender:
                remote += 1
                neighbors.add(hop)
        return local, neighbors, len(local) + remote

    def _deliver(self, local: list[Entry], event: Envelope) -> None:
        for client in sorted({entry.client for entry in local}):
            self.world.deliver(client, event)

    def _forward(self, neighbors: set[BrokerId], event: Envelope) -> None:
        for neighbor in sorted(neighbors):
            self.world.send(neighbor, event)

    # Subscription tree pruning

    def unsubscribed(self, entry: Entry) -> None:
        """The SHB's part: how far it is to the critical broker of each advertisement."""
        known = self._statistics.distances(self.world.now, entry)
        distances = [
            (
                advertisement.id,
                pruning_distance(known[advertisement], self._threshold)
                if advertisement in known
                else WHOLE_PATH,
            )
            for neighbor in entry.fwd
            for advertisement in self.advertisements.intersecting(neighbor, entry.filter)
        ]
        self._prune(entry, distances)

    def on_pruned_unsubscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(PrunedUnsubscribe, envelope.message)
        for entry in self.named(sender, [message.subscription]):
            self._prune(entry, message.distances)

    def _prune(self, entry: Entry, distances: Distances) -> None:
        """Algorithm 2, and what becomes of the entry here."""
        size, triggered = self.table_size(), 0
        self.unindex(entry)
        entry.live = False
        entry.window = None
        self.counters["orphans"] += 1
        left = self._distances_left(distances)
        for neighbor in self.world.neighbors:
            if entry not in self.towards[neighbor]:
                continue
            if neighbor in entry.fwd and neighbor not in left:
                self._settle(neighbor, entry)
                continue
            new_roots = self.take_out(neighbor, [entry])
            triggered = max(triggered, len(new_roots))
            self.tell(neighbor, new_roots)
            self._unsubscribe(neighbor, entry, left.get(neighbor, ()))
            self._tidy(neighbor)
        if not entry.fwd:
            triggered = max(triggered, len(self.forget(entry)))
        self.work("unsubscription-entries", size)
        self.work("new-root-entries", size * triggered)

    def _distances_left(self, distances: Distances) -> dict[BrokerId, Distances]:
        """For each neighbor, the tuples that an unsubscription goes there with, if any."""
        left: dict[BrokerId, list[tuple[MessageId, int]]] = {}
        for id, distance in distances:
            advertisement = self.advertisements.get(id)
            if advertisement is not None and distance > 0:
                for hop in advertisement.hops:
                    left.setdefault(hop, []).append((id, distance - 1))
        return dict(left)

    def _unsubscribe(self, neighbor: BrokerId, entry: Entry, distances: Distances = ()) -> None:
        for gone in self.newly_gone(neighbor, [entry]):
            self.world.send(neighbor, PrunedUnsubscribe(gone.id, tuple(distances)))

    # Orphans

    def _settle(self, neighbor: BrokerId, orphan: Entry) -> None:
        """Let an orphan stand at a neighbor if it quenches anything there, else clean it up."""
        graph = self.towards[neighbor]
        quenched = graph.remove(orphan)
        if not quenched:
            self._orphans.get(neighbor, {}).pop(orphan, None)
            self._unsubscribe(neighbor, orphan)
            return
        self._put_back(neighbor, orphan, quenched)
        self._orphans.setdefault(neighbor, {})[orphan] = quenched[0]

    def _put_back(self, neighbor: BrokerId, orphan: Entry, uncovered: Sequence[Entry]) -> None:
        """Undo an orphan's removal from a neighbor's graph, which uncovered these."""
        graph = self.towards[neighbor]
        graph.insert(orphan, orphan.filter)
        heads = uncovered
        while heads and not graph.is_root(orphan):  # equal filters are one root, led by the first
            head = heads[0]
            heads = graph.remove(head)
            graph.insert(head, head.filter)
        # None are left, unless covering cannot be proven when it is asked in another order.
        self.tell(neighbor, [entry for entry in uncovered if graph.is_root(entry)])

    def _tidy(self, neighbor: BrokerId, new_roots: Sequence[Entry] = ()) -> None:
        """After a change: settle those orphans anew that may quench nothing any more."""
        graph = self.towards[neighbor]
        for orphan, quenched in list(self._orphans.get(neighbor, {}).items()):
            if quenched not in graph or any(covers(r.filter, quenched.filter) for r in new_roots):
                self._settle(neighbor, orphan)
                if not orphan.fwd:
                    self.forget(orphan)

    def forget(self, entry: Entry) -> Sequence[Entry]:
        if not entry.live:
            self.counters["orphans"] -= 1
            for standing in self._orphans.values():
                standing.pop(entry, None)
        return super().forget(entry)

    def accept(self, sender: BrokerId, id: MessageId, filter: Filter) -> None:
        """As ever; but a neighbor that sends an orphan again relies on it, so it lives again.

        That happens only if paths move while links are replaced.
        """
        orphan = self.subscriptions.find(id, sender)
        if orphan is None or orphan.live:
            super().accept(sender, id, filter)
            return
        self.counters["subscriptions-received"] += 1
        self.counters["orphans"] -= 1
        orphan.live = True
        self.index(orphan)
        for standing in self._orphans.values():
            standing.pop(orphan, None)
        self.offer(orphan)

    def join(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        super().join(neighbor, entries)
        graph = self.towards[neighbor]
        self._tidy(neighbor, [entry for entry in entries if graph.is_root(entry)])

    def take_out(self, neighbor: BrokerId, entries: Sequence[Entry]) -> list[Entry]:
        for entry in entries:
            self._orphans.get(neighbor, {}).pop(entry, None)
        return super().take_out(neighbor, entries)

    def release(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        super().release(neighbor, entries)
        for entry in entries:
            if not entry.live and not entry.fwd:
                self.forget(entry)
        self._tidy(neighbor)

    def untell(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        """What a new root displaces is withdrawn; an orphan quenches nothing there from then on."""
        super().untell(neighbor, entries)
        for orphan in entries:
            if not orphan.live:
                self.take_out(neighbor, [orphan])
                if not orphan.fwd:
                    self.forget(orphan)

    def replace(self, neighbor: BrokerId, new_roots: Sequence[Entry], old: Sequence[Entry]) -> None:
        super().replace(neighbor, new_roots, old)
        self._tidy(neighbor)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        stood = self._orphans.pop(neighbor, {})
        super().link_down(neighbor, notice)
        for orphan in stood:
            if not orphan.fwd and self.subscriptions.find(orphan.id, orphan.last_hop) is orphan:
                self.forget(orphan)
