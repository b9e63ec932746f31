"""The multicasting layer of D-DBR (Sec. III-B, III-C): lists of destinations on shortest ways.

It must not know filters or clients. It keeps the map of one cluster up to date and carries messages
to the brokers in it. What is settled beyond the paper:

- A topology update carries originator, incarnation, number and neighbor set; the newer wins. It is
  flooded over every link that its broker sees up; the ends of a link that comes up exchange all
  they know. Changes within `_GATHER` are announced in one update.
- The published form, an option, multicasts the loss of a neighbor over the ways that its sender
  knows, without a number and once. Links that come up are told as above: the paper is silent there.
- Advertisements, subscriptions and their withdrawals must not be lost for good, or deliveries would
  be missing for ever. They are numbered by their ids, so a repetition does no harm: when a link is
  lost anywhere in the cluster, each broker sends again what it sent while that link may have been
  dead and unnoticed. One that meets a broker which knows no way yet waits there for `_PATIENCE`.
- Events are never repeated. An id without a way is dropped and counted, a message that has gone
  farther than any shortest way can be is dropped with an alarm.
"""

from collections import Counter, deque
from collections.abc import Sequence
from typing import Annotated, Literal, Protocol, cast

import msgspec

from pysim.brokers.destinations.overlay_map import OverlayMap
from pysim.network.transport import BrokerId
from pysim.network.world import Timer, World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import (
    AddressedAdvertise,
    AddressedEvent,
    AddressedLinkLoss,
    AddressedSubscribe,
    AddressedUnadvertise,
    AddressedUnsubscribe,
    TopologyUpdate,
)

Addressed = (
    AddressedAdvertise
    | AddressedEvent
    | AddressedLinkLoss
    | AddressedSubscribe
    | AddressedUnadvertise
    | AddressedUnsubscribe
)
"""What carries a list of destinations and counts its hops."""

Updates = Annotated[
    Literal["numbered", "published"],
    "topology updates: numbered and flooded, or as published, which loses some",
]

_GATHER = 0.01
_SPREAD = 0.5
"""Seconds in which an update is taken to have come to everybody."""
_PATIENCE = 1.0
_LEAST_LIMIT = 32
"""Hops that are never an alarm: a map may know few brokers yet."""

_EVENT = ("event-messages", "event-destinations", "event-list-bytes")
_CONTROL = ("control-messages", "control-destinations", "control-list-bytes")
_encode = msgspec.msgpack.Encoder().encode


class Upper(Protocol):
    """The matching layer as this one needs it."""

    def reached(self, multicast: "Multicast", brokers: Sequence[BrokerId]) -> None:
        """A way leads to brokers to which none did."""

    def restarted(self, multicast: "Multicast", broker: BrokerId) -> None:
        """A broker has come back and forgotten everything."""

    def event_crosses(self, neighbor: BrokerId) -> None:
        """An event goes to a neighbor."""


class _Sent(msgspec.Struct, frozen=True, gc=False):
    """A message that may have to be sent again."""

    time: float
    message: Addressed
    id: MessageId
    destinations: Sequence[BrokerId]


class Multicast:
    """Carries messages within one cluster; `up` are the neighbors in it that the broker sees."""

    def __init__(
        self,
        world: World,
        counters: "Counter[str]",
        upper: Upper,
        unnoticed: float,
        updates: Literal["numbered", "published"] = "numbered",
    ) -> None:
        self.map = OverlayMap(world.id)
        self.up: dict[BrokerId, None] = {}
        self._world = world
        self._counters = counters
        self._upper = upper
        self._memory = unnoticed + 2 * _SPREAD
        self._updates = updates
        self._latest: dict[BrokerId, Envelope] = {}
        """The newest update of each broker, as it came."""
        self._number = 0
        self._retiring: set[BrokerId] = set()
        self._unannounced: set[BrokerId] = set()
        """Neighbors that were lost since the last announcement."""
        self._announcement: Timer | None = None
        self._repetition: Timer | None = None
        self._is_review_due = False
        self._reached: set[BrokerId] = set()
        self._sent: deque[_Sent] = deque()
        self._waiting: list[_Sent] = []

    # Links

    def found(self, neighbor: BrokerId) -> None:
        """A link is up: its ends exchange what they know."""
        if neighbor in self._unannounced:
            self.announce()  # everybody is to know that it was down in between
        self.up[neighbor] = None
        self._retiring.discard(neighbor)
        for update in list(self._latest.values()):
            self._transmit(neighbor, update)
        self._links_changed()
        self._announce_soon()

    def lost(self, neighbor: BrokerId) -> None:
        """A link is down."""
        del self.up[neighbor]
        self._retiring.discard(neighbor)
        self._links_changed()
        self._repeat_soon()
        if self._updates == "published":
            self._tell_loss(neighbor)
        else:
            self._unannounced.add(neighbor)
            self._announce_soon()

    def retire(self, neighbor: BrokerId) -> None:
        """Use a link no more and let everybody know, before it is closed."""
        if neighbor in self.up:
            self._retiring.add(neighbor)
            self._links_changed()
            self.announce()

    def _links_changed(self) -> None:
        own = self._world.id
        self.map.set_row(own, [n for n in self.up if n not in self._retiring])
        self._review_soon()

    # Updates

    def announce(self) -> None:
        """Flood the broker's own neighbor set."""
        if self._announcement is not None:
            self._announcement.cancel()
            self._announcement = None
        self._unannounced.clear()
        self._number += 1
        own, incarnation = self._world.id, self._world.incarnation
        row = tuple(sorted(self.map.row(own)))
        envelope = self._world.originate(TopologyUpdate(own, incarnation, self._number, row))
        self._latest[own] = envelope
        for neighbor in self.up:
            self._transmit(neighbor, envelope)

    def _announce_soon(self) -> None:
        if self._announcement is None:
            self._announcement = self._world.schedule(_GATHER, self.announce)

    def update_came(self, sender: BrokerId, envelope: Envelope) -> None:
        """Learn from a newer update and pass it on."""
        update = cast(TopologyUpdate, envelope.message)
        broker, version = update.originator, (update.incarnation, update.number)
        before, row = self.map.version(broker), self.map.row(broker)
        if broker == self._world.id or not self.map.learn(broker, version, update.neighbors):
            self._counters["old-updates"] += 1
            return
        self._latest[broker] = envelope
        for neighbor in self.up:
            if neighbor != sender:
                self._transmit(neighbor, envelope)
        if before is not None and before[0] < update.incarnation:
            self._forget_sent(broker)
            self._upper.restarted(self, broker)
            self._reached.discard(broker)
        if not row <= set(update.neighbors):
            self._repeat_soon()
        self._review_soon()

    def _tell_loss(self, neighbor: BrokerId) -> None:
        """The published form: everybody that a way leads to is told, once."""
        own = self._world.id
        self._unlink(own, neighbor)
        message = AddressedLinkLoss((), own, neighbor)
        self._send(message, self._world.originate(message).id, sorted(self.map.reachable()), 1)

    def loss_came(self, envelope: Envelope) -> None:
        """The published form: a link is struck out at both its ends."""
        message = cast(AddressedLinkLoss, envelope.message)
        self._unlink(message.originator, message.neighbor)
        self._repeat_soon()
        self._review_soon()

    def _unlink(self, a: BrokerId, b: BrokerId) -> None:
        for broker, other in ((a, b), (b, a)):
            self.map.set_row(broker, self.map.row(broker) - {other})

    # What follows from a changed map

    def _review_soon(self) -> None:
        if not self._is_review_due:
            self._is_review_due = True
            self._world.schedule(_GATHER, self._review)

    def _review(self) -> None:
        self._is_review_due = False
        reachable = self.map.reachable()
        new = sorted(reachable - self._reached)
        self._reached = set(reachable)
        waiting, self._waiting = self._waiting, []
        for sent in waiting:
            if self._world.now - sent.time <= _PATIENCE:
                self._send(sent.message, sent.id, sent.destinations, sent.message.hops, sent.time)
            else:
                self._counters["no-route"] += len(sent.destinations)
        if new:
            self._upper.reached(self, new)

    def _repeat_soon(self) -> None:
        """Repeat what may be lost when it is quiet: then everybody knows of the lost link."""
        self._forget_old()
        if self._repetition is not None:
            self._repetition.cancel()
        self._repetition = self._world.schedule(_SPREAD, self._repeat)

    def _repeat(self) -> None:
        self._repetition = None
        reachable = self.map.reachable()
        for sent in list(self._sent):
            again = [broker for broker in sent.destinations if broker in reachable]
            self._counters["repeated"] += len(again)
            self._send(sent.message, sent.id, again, 1)

    def _forget_old(self) -> None:
        """Keep what may be lost in a link of which nobody knows yet, or is about to be repeated."""
        if self._repetition is not None:
            return
        oldest = self._world.now - self._memory
        while self._sent and self._sent[0].time < oldest:
            self._sent.popleft()

    def _forget_sent(self, broker: BrokerId) -> None:
        """What a broker was sent before it forgot everything is not to be repeated."""
        kept = [
            msgspec.structs.replace(
                sent, destinations=[b for b in sent.destinations if b != broker]
            )
            for sent in self._sent
        ]
        self._sent = deque(sent for sent in kept if sent.destinations)

    # Messages

    def publish(self, message: AddressedEvent, id: MessageId, to: Sequence[BrokerId]) -> None:
        """Send an event to brokers of this cluster."""
        self._send(message, id, to, 1)

    def tell(self, message: Addressed, id: MessageId, to: Sequence[BrokerId]) -> None:
        """Send something that must arrive, even if a link is found to be dead."""
        if self._announcement is not None:
            self.announce()  # whoever hears of us first hears who we are now
        self._forget_old()
        self._sent.append(_Sent(self._world.now, message, id, to))
        self._send(message, id, to, 1)

    def passes(self, envelope: Envelope) -> bool:
        """Pass a message on to its other destinations; True if this broker is one of them."""
        message = cast(Addressed, envelope.message)
        own = self._world.id
        others = [broker for broker in message.destinations if broker != own]
        if others:
            if message.hops < max(_LEAST_LIMIT, len(self.map.brokers())):
                self._send(message, envelope.id, others, message.hops + 1)
            else:
                self._counters["hop-alarms"] += 1
                self._counters["looped-destinations"] += len(others)
        return len(others) < len(message.destinations)

    def _send(
        self,
        message: Addressed,
        id: MessageId,
        destinations: Sequence[BrokerId],
        hops: int,
        since: float | None = None,
    ) -> None:
        """The paper's Multicast: one copy for each next hop, with the destinations behind it."""
        self._counters["routed-destinations"] += len(destinations)
        split = self.map.split(destinations)
        for neighbor, listed in split.by_neighbor.items():
            copy = msgspec.structs.replace(message, destinations=tuple(listed), hops=hops)
            self._count(neighbor, message, listed)
            self._transmit(neighbor, Envelope.seal(copy, *id), len(listed))
        if split.lost:
            self._without_way(message, id, split.lost, hops, since)

    def _without_way(
        self,
        message: Addressed,
        id: MessageId,
        lost: Sequence[BrokerId],
        hops: int,
        since: float | None,
    ) -> None:
        if isinstance(message, AddressedEvent | AddressedLinkLoss):
            self._counters["no-route"] += len(lost)
            return
        kept = msgspec.structs.replace(message, hops=hops)
        began = self._world.now if since is None else since
        self._waiting.append(_Sent(began, kept, id, lost))
        if since is None:
            self._world.schedule(_PATIENCE, self._review_soon)

    def _count(self, neighbor: BrokerId, message: Addressed, listed: Sequence[BrokerId]) -> None:
        counters, names = self._counters, _CONTROL
        if isinstance(message, AddressedEvent):
            self._upper.event_crosses(neighbor)
            names = _EVENT
        messages, destinations, size = names
        counters[messages] += 1
        counters[destinations] += len(listed)
        counters[size] += len(_encode(listed))

    def _transmit(self, neighbor: BrokerId, envelope: Envelope, destinations: int = 0) -> None:
        """Send over a link that is believed to be up; it may be dead."""
        if neighbor in self._world.neighbors:
            self._world.send(neighbor, envelope)
        else:
            self._counters["dead-link-messages"] += 1
            self._counters["dead-link-destinations"] += destinations
