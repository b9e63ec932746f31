"""Advertisement-based routing on a tree, with as much covering as its relation graphs know of.

It must not know how a protocol of the family withdraws what it told: that is in their modules.

The paper of the family is the technical report on subscription covering and its withdrawal
(Middleware Systems Research Group, Toronto, June 2011); PHB and SHB are its names for the brokers
of publishers and of subscribers. Advertisements flood the tree; a subscription goes where
advertisements came from, an event where subscriptions came from. What is settled beyond it:

- Each subscription of each client is an entry of its own, under the id of the SUBSCRIBE that its
  SHB made. That message travels as it is, so the id does too; ids are never reused.
- An entry goes to a neighbor U iff an advertisement from U intersects it, it did not come from U,
  and no other entry that U holds covers it. One relation graph for each neighbor, over what may go
  there, says so: its roots are what U holds. What lies below a new root is withdrawn from U after
  the root was sent, and new roots are sent before the old one is withdrawn: at no time does U hold
  less than is wanted.
- A further graph over all entries tells the routing-table size n, the uncovered entries, and how
  many of them a new subscription is compared with.
- An advertisement that goes takes along, on the links that it came over, what no other needs: the
  side that had sent these subscriptions withdraws them, all in one message. Were the receiver to
  drop them by itself, one that was still on its way could stay for good.
- A lost link's subscriptions and advertisements are withdrawn as if the neighbor had done so.
- An event that no advertisement of its broker announced goes where entries lead it, which may be
  nowhere; it is counted.
- Routing tables may be optimized (`pysim.brokers.optimizations`). What changes the form in which
  remote entries are stored goes with every protocol of the family: none asks the index for more
  than what an event reaches. What changes what neighbors are told goes with `no-covering` alone:
  the others are such policies themselves, their own graphs say what a neighbor holds and their
  messages name its entries one by one. Covering as a policy of `no-covering` leaves the tables of
  active covering, and can be combined with the other policies.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, cast

from pysim.brokers.base import Broker
from pysim.brokers.covering.tables import Advertisement, Advertisements, Entry, Subscriptions
from pysim.brokers.optimizations import UNOPTIMIZED, Optimize, Policies
from pysim.brokers.promises import Promises
from pysim.filters import Filter
from pysim.filters.covering import intersects
from pysim.filters.relations import GraphKind, RelationGraph
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import Advertise, Event, Subscribe, Withdraw, WithdrawAdvertisement

Graph = Annotated[GraphKind, "the subscription relation graph: see docs/protocols/covering.md"]

_MOST_IDS = 50_000
"""In one message; more might not fit a frame."""


class CoveringRouting(Broker):
    """What all protocols of the family share; `new_graph` makes the relation graphs they go by.

    A subclass may say how neighbors are told: `replace` when new roots take the place of entries
    that go, `untell` when a new root displaced some, `release` when advertisements went; and how
    events find entries, by `index` and `unindex`. It gets `drop`, which removes entries and tells
    everybody, and what that is made of: `join` and `take_out` for one neighbor's graph, `tell` and
    `withdraw` for what the neighbor holds, `forget` for the broker's own tables.
    """

    promises: ClassVar[Promises] = Promises(advertised=True, links=True, crashes=True)

    takes_summaries: ClassVar[bool] = False
    """Whether neighbors may be told what stands for entries in place of the entries."""
    work_units: ClassVar[frozenset[str]] = frozenset(
        {
            "publication-entries",
            "matching-entries",
            "roots-examined",
            "unsubscription-entries",
            "new-root-entries",
        }
    )

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        optimize: Optimize = options.get("optimize", UNOPTIMIZED)
        if optimize.summarizes and not cls.takes_summaries:
            raise ValueError(
                f"{cls.name} itself says what neighbors are told, so it takes post-pruning or"
                " predicate-replacement only; no-covering takes all optimizations"
            )

    def __init__(
        self, world: World, new_graph: Callable[[], RelationGraph[Entry]], optimize: Optimize
    ) -> None:
        super().__init__(world)
        self.counters: Counter[str] = Counter(
            {
                "subscriptions-received": 0,
                "unsubscriptions-received": 0,
                "ignored": 0,
                "unadvertised": 0,
            }
        )
        """What happened here: also messages that were `ignored`, which named an entry that is not
        there or came from elsewhere, and events of local clients that nobody had announced."""
        self.advertisements = Advertisements(world.id)
        self.subscriptions = Subscriptions()
        self.towards: dict[BrokerId, RelationGraph[Entry]] = {}
        """For each neighbor, what may go there; its roots are what it holds."""
        self._new_graph = new_graph
        self._uncovered: RelationGraph[Entry] = new_graph()
        self._policies = Policies(Entry, optimize, world.id)
        self._observe = self._policies.observe
        self._storage = self._policies.storage
        self._match = self._storage.match
        self._announced: dict[tuple[ClientId, Filter], MessageId] = {}
        self._wanted: dict[tuple[ClientId, Filter], Entry] = {}
        self._publications = 0
        self._work: Counter[str] = Counter()

    def start(self) -> None:
        self._policies.start(self.world.schedule)

    # Events

    def publish(self, client: ClientId, event: Envelope) -> None:
        message = cast(Event, event.message)
        if self.advertisements.announcing(message.attributes) is None:
            self.counters["unadvertised"] += 1
        self._route(self.world.id, event)

    def _route(self, sender: BrokerId, event: Envelope) -> None:
        """To every local client with a matching entry, and on to where the others came from."""
        message: Event = event.message  # type: ignore[assignment]  # the only type with a handler
        if self._observe is not None:
            self._observe(message.attributes)
        self._publications += self._uncovered.root_count
        own = self.world.id
        clients = set()
        neighbors = set()
        for entry in self._match(message.attributes):
            hop = entry.last_hop
            if hop == own:
                clients.add(entry.client)
            elif hop != sender:
                neighbors.add(hop)
        for client in sorted(clients):
            self.world.deliver(client, event)
        for neighbor in sorted(neighbors):
            self.world.send(neighbor, event)

    on_event = _route

    # Advertisements

    def advertise(self, client: ClientId, filter: Filter) -> None:
        if (client, filter) not in self._announced:
            id = self.world.originate(Advertise(filter)).id
            self._announced[client, filter] = id
            self._learn(self.world.id, id, filter)

    def unadvertise(self, client: ClientId, filter: Filter) -> None:
        id = self._announced.pop((client, filter), None)
        if id is not None:
            self._unlearn(self.world.id, id)

    def on_advertise(self, sender: BrokerId, envelope: Envelope) -> None:
        self._learn(sender, envelope.id, cast(Advertise, envelope.message).filter)

    def on_withdraw_advertisement(self, sender: BrokerId, envelope: Envelope) -> None:
        self._unlearn(sender, cast(WithdrawAdvertisement, envelope.message).advertisement)

    def _learn(self, hop: BrokerId, id: MessageId, filter: Filter) -> None:
        """An advertisement came: subscriptions that were waiting for it go there."""
        advertisement = self.advertisements.learn(id, filter, hop)
        if advertisement is None:
            self.counters["ignored"] += 1
            return
        self._announce(advertisement)
        graph = self.towards.get(hop)
        if graph is not None:
            waiting = [
                entry
                for entry in self.subscriptions
                if entry.live and entry.last_hop != hop and entry not in graph
            ]
            self.join(hop, [entry for entry in waiting if intersects(filter, entry.filter)])

    def _unlearn(self, hop: BrokerId, id: MessageId) -> None:
        """An advertisement went: what no other from there needs is not for that side any more."""
        advertisement = self.advertisements.unlearn(id, hop)
        if advertisement is None:
            self.counters["ignored"] += 1
            return
        self._announce(advertisement)
        graph = self.towards.get(hop)
        if graph is not None:
            needless = [
                entry
                for entry in self.subscriptions
                if entry in graph
                and intersects(advertisement.filter, entry.filter)
                and not self.advertisements.is_wanted(hop, entry.filter)
            ]
            self.release(hop, needless)

    def _announce(self, advertisement: Advertisement) -> None:
        """Let those neighbors know of an advertisement that it did not come from, and no others."""
        for neighbor in self.world.neighbors:
            is_known = any(hop != neighbor for hop in advertisement.hops)
            if is_known and neighbor not in advertisement.told:
                advertisement.told.add(neighbor)
                message = Advertise(advertisement.filter)
                self.world.send(neighbor, Envelope.seal(message, *advertisement.id))
            elif not is_known and neighbor in advertisement.told:
                advertisement.told.discard(neighbor)
                self.world.send(neighbor, WithdrawAdvertisement(advertisement.id))

    # Subscriptions and unsubscriptions

    def subscribe(self, client: ClientId, filter: Filter) -> None:
        if (client, filter) not in self._wanted:
            id = self.world.originate(Subscribe(filter)).id
            entry = self._wanted[client, filter] = Entry(id, filter, self.world.id, client)
            self._enter(entry)

    def unsubscribe(self, client: ClientId, filter: Filter) -> None:
        entry = self._wanted.pop((client, filter), None)
        if entry is not None:
            self.unsubscribed(entry)

    def unsubscribed(self, entry: Entry) -> None:
        """A local client gave up the subscription of an entry."""
        self.drop([entry])

    def on_subscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        self.accept(sender, envelope.id, cast(Subscribe, envelope.message).filter)

    def on_withdraw(self, sender: BrokerId, envelope: Envelope) -> None:
        found = self.named(sender, cast(Withdraw, envelope.message).subscriptions)
        if found:
            self.drop(found)

    def accept(self, sender: BrokerId, id: MessageId, filter: Filter) -> None:
        """A neighbor subscribes."""
        self.receive_entry(Entry(id, filter, sender))

    def receive_entry(self, entry: Entry) -> None:
        """An entry came from a neighbor; one that is there already is no change."""
        self.counters["subscriptions-received"] += 1
        if self.subscriptions.find(entry.id, entry.last_hop) is None:
            self._enter(entry)
        else:
            self.counters["ignored"] += 1

    def named(self, sender: BrokerId, ids: Collection[MessageId]) -> list[Entry]:
        """The live entries that a neighbor unsubscribes by their ids; others are ignored."""
        self.counters["unsubscriptions-received"] += len(ids)
        entries = [self.subscriptions.find(id, sender) for id in ids]
        found = [entry for entry in entries if entry is not None and entry.live]
        self.counters["ignored"] += len(ids) - len(found)
        return found

    def _enter(self, entry: Entry) -> None:
        self.work("matching-entries", self.table_size())
        self.subscriptions.add(entry)
        self.index(entry)
        self.work("roots-examined", self._uncovered.insert(entry, entry.filter).roots_examined)
        self.offer(entry)

    def offer(self, entry: Entry) -> None:
        """Let an entry go to wherever an advertisement wants it."""
        for neighbor in self.world.neighbors:
            is_new = neighbor != entry.last_hop and entry not in self.towards[neighbor]
            if is_new and self.advertisements.is_wanted(neighbor, entry.filter):
                self.join(neighbor, [entry])

    def drop(self, entries: Sequence[Entry]) -> None:
        """Remove entries, and withdraw them where they were sent."""
        size, triggered = self.table_size(), 0
        for neighbor in self.world.neighbors:
            graph = self.towards[neighbor]
            leaving = [entry for entry in entries if entry in graph]
            if leaving:
                new_roots = self.take_out(neighbor, leaving)
                triggered = max(triggered, len(new_roots))
                self.replace(neighbor, new_roots, [e for e in leaving if neighbor in e.fwd])
        uncovered = sum(len(self.forget(entry)) for entry in entries)
        self.work("unsubscription-entries", size * len(entries))
        self.work("new-root-entries", size * max(triggered, uncovered))

    def index(self, entry: Entry) -> None:
        """Let events find an entry."""
        self._storage.insert(entry, entry.filter)

    def unindex(self, entry: Entry) -> None:
        """Let events find an entry no more."""
        self._storage.remove(entry)

    def forget(self, entry: Entry) -> Sequence[Entry]:
        """Take an entry out of the broker's own tables; the entries that are uncovered by it."""
        self.subscriptions.remove(entry)
        if entry.live:
            self.unindex(entry)
        return self._uncovered.remove(entry)

    # Links

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        self.towards[neighbor] = self._new_graph()
        for advertisement in self.advertisements:
            self._announce(advertisement)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        del self.towards[neighbor]
        for entry in self.subscriptions:
            entry.fwd = tuple(hop for hop in entry.fwd if hop != neighbor)
        for advertisement in self.advertisements:
            advertisement.told.discard(neighbor)
        for advertisement in self.advertisements.side(neighbor):
            self._unlearn(neighbor, advertisement.id)
        self.drop([entry for entry in self.subscriptions if entry.last_hop == neighbor])

    # What a neighbor holds

    def join(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        """Entries may go to a neighbor that could not: those that nothing covers do."""
        graph = self.towards[neighbor]
        uncovered: list[Entry] = []
        displaced: list[Entry] = []
        for entry in entries:
            placed = graph.insert(entry, entry.filter)
            if not placed.covered:
                uncovered.append(entry)
                displaced += placed.displaced
        self.tell(neighbor, [entry for entry in uncovered if graph.is_root(entry)])
        self.untell(neighbor, [entry for entry in displaced if neighbor in entry.fwd])

    def take_out(self, neighbor: BrokerId, entries: Sequence[Entry]) -> list[Entry]:
        """Entries may not go to a neighbor any more; the new roots, which it does not hold yet."""
        graph = self.towards[neighbor]
        new_roots = [root for entry in entries for root in graph.remove(entry)]
        return [root for root in new_roots if root in graph and neighbor not in root.fwd]

    def tell(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        """Send a neighbor the subscriptions of entries."""
        for entry in self.newly_told(neighbor, entries):
            self.world.send(neighbor, Envelope.seal(Subscribe(entry.filter), *entry.id))

    def newly_told(self, neighbor: BrokerId, entries: Sequence[Entry]) -> Iterator[Entry]:
        """Note that a neighbor is told of entries; those whose ids it does not hold already."""
        for entry in entries:
            is_told = self.subscriptions.is_told(entry.id, neighbor)
            entry.fwd = (*entry.fwd, neighbor)
            if not is_told:
                yield entry

    def untell(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        """Withdraw entries that a new root covers."""
        for entry in entries:
            self.withdraw(neighbor, [entry])

    def replace(self, neighbor: BrokerId, new_roots: Sequence[Entry], old: Sequence[Entry]) -> None:
        """Send what entries that go had quenched, and then withdraw them."""
        self.tell(neighbor, new_roots)
        for entry in old:
            self.withdraw(neighbor, [entry])

    def release(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        """Let go of entries that a neighbor has no more use for, in one message."""
        self.tell(neighbor, self.take_out(neighbor, entries))
        self.withdraw(neighbor, entries)

    def withdraw(self, neighbor: BrokerId, entries: Sequence[Entry]) -> None:
        """Withdraw entries, in one message; those that were not sent need not be."""
        self.withdraw_ids(neighbor, [entry.id for entry in self.newly_gone(neighbor, entries)])

    def withdraw_ids(self, neighbor: BrokerId, ids: Sequence[MessageId]) -> None:
        """Withdraw what a neighbor holds under these ids."""
        for start in range(0, len(ids), _MOST_IDS):
            self.world.send(neighbor, Withdraw(tuple(ids[start : start + _MOST_IDS])))

    def newly_gone(self, neighbor: BrokerId, entries: Sequence[Entry]) -> Iterator[Entry]:
        """Note that entries are withdrawn; those whose ids a neighbor has to be told of."""
        for entry in entries:
            if neighbor in entry.fwd:
                entry.fwd = tuple(hop for hop in entry.fwd if hop != neighbor)
                if not self.subscriptions.is_told(entry.id, neighbor):
                    yield entry

    # What it costs

    def work(self, unit: str, amount: float) -> None:
        self._work[unit] += amount  # type: ignore[assignment]  # counters of floats do as well

    def take_work(self) -> Mapping[str, float]:
        publications, self._publications = self._publications, 0
        self.counters["publication-entries"] += publications
        if not self._work:
            return {"publication-entries": publications}
        done = {**self._work, "publication-entries": publications}
        self.counters.update(self._work)
        self._work.clear()
        return done

    def table_size(self) -> int:
        """The paper's routing-table size n: the entries that no other covers."""
        return self._uncovered.root_count

    def stored_size(self) -> int:
        """All entries, covered or not."""
        return len(self.subscriptions)

    # For tests and pictures

    def stored(self) -> Iterator[tuple[Entry, Filter, Filter]]:
        """Each entry that routes: its filter, and the form that stands for it in the index."""
        for entry in self.subscriptions:
            if entry.live:
                yield entry, entry.filter, self._storage.form(entry, entry.filter)

    def routing_table(self) -> Mapping[Filter, frozenset[BrokerId]]:
        """Where each filter leads; the broker's own id stands for its clients."""
        table: dict[Filter, frozenset[BrokerId]] = {}
        for entry in self.subscriptions:
            if entry.live:
                table[entry.filter] = table.get(entry.filter, frozenset()) | {entry.last_hop}
        return table
