"""Ground truth: who wanted what at which time, and what became of every delivery that was due.

The observer sees everything and is seen by no agent. It must not know protocols or networks: it is
told what clients did and what they got.

A delivery is due to every client, at whatever broker, that has a matching subscription when an
event is published; the publisher's own client is no exception and gets its own events if it
subscribed to them. Each due delivery ends in exactly one of three ways, so that

    due        = made + missing + withdrawn
    deliveries = made + early + duplicate + spurious

always hold, whatever the agents do.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pysim.filters import CountingIndex, Filter, MatchingIndex
from pysim.network.transport import NANOSECONDS, BrokerId
from pysim.network.world import ClientId
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import Event

DeliveryKind = Literal["made", "early", "duplicate", "spurious"]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a run delivered, against what was due.

    `missing`: due, and it never came. `withdrawn`: due, but the client gave up its last matching
    subscription (or its broker crashed) before it came. `early`: the client subscribed after the
    event was published and got it nevertheless; no error. `duplicate`: the same event came to the
    same client again. `spurious`: it came to a client without any matching subscription.
    """

    due: int
    made: int
    missing: int
    withdrawn: int
    early: int
    duplicate: int
    spurious: int

    @property
    def is_exact(self) -> bool:
        """Nothing due is missing, nothing came twice, nothing came unasked."""
        return self.missing == self.duplicate == self.spurious == 0


class EventRow(NamedTuple):
    """A publication; `due` is the number of clients it was due to."""

    id: MessageId
    broker: BrokerId
    client: ClientId
    time: int
    due: int


class DeliveryRow(NamedTuple):
    """An event that came to a client."""

    event: MessageId
    broker: BrokerId
    client: ClientId
    published: int
    delivered: int
    kind: DeliveryKind


class SubscriptionRow(NamedTuple):
    """A subscription and the time it stood; `until` is None while it stands."""

    broker: BrokerId
    client: ClientId
    filter: Filter
    since: int
    until: int | None


class RecordRow(NamedTuple):
    """A measurement that an agent noted."""

    broker: BrokerId
    name: str
    value: float
    time: int


class Subscriber(NamedTuple):
    """A client by its broker and its number there."""

    broker: BrokerId
    client: ClientId


class _Publication(NamedTuple):
    attributes: Mapping[str, int | float | str]
    time: int
    served: set[Subscriber]


class Observer:
    """Sees what clients do and get; `statement()` sums it up, the rows say it in full.

    With finite `patience` (seconds), a due event that has not come for so long is missing even if
    the client gives up its subscriptions later. Set it where clients come and go during runs that
    lose events, else what was lost long before counts as withdrawn.
    """

    def __init__(self, patience: float = math.inf) -> None:
        if not patience >= 0:
            raise ValueError(f"patience(={patience}) should be >= 0 seconds")
        self.events: list[EventRow] = []
        self.deliveries: list[DeliveryRow] = []
        self.records: list[RecordRow] = []
        self._patience = patience * NANOSECONDS
        self._index: MatchingIndex[Filter] = CountingIndex()
        self._subscribers: dict[Filter, dict[Subscriber, None]] = {}
        self._standing: dict[Subscriber, dict[Filter, int]] = {}
        self._ended: list[SubscriptionRow] = []
        self._publications: dict[MessageId, _Publication] = {}
        self._outstanding: dict[Subscriber, dict[MessageId, None]] = {}
        self._abandoned: dict[tuple[Subscriber, MessageId], bool] = {}
        """Due deliveries whose client lost interest, and whether that was within patience."""
        self._due = 0
        self._counts: dict[DeliveryKind, int] = dict.fromkeys(
            ("made", "early", "duplicate", "spurious"), 0
        )

    # What clients do

    def subscribed(self, broker: BrokerId, client: ClientId, filter: Filter, time: int) -> None:
        """A client subscribes; to what it has subscribed to already is no change."""
        subscriber = Subscriber(broker, client)
        standing = self._standing.setdefault(subscriber, {})
        if filter in standing:
            return
        standing[filter] = time
        if filter not in self._subscribers:
            self._subscribers[filter] = {}
            self._index.insert(filter, filter)
        self._subscribers[filter][subscriber] = None

    def unsubscribed(self, broker: BrokerId, client: ClientId, filter: Filter, time: int) -> None:
        """A client withdraws a subscription; one that it does not have is no change."""
        subscriber = Subscriber(broker, client)
        if filter in self._standing.get(subscriber, ()):
            self._end_subscription(subscriber, filter, time)
            self._excuse(subscriber, time)

    def broker_crashed(self, broker: BrokerId, time: int) -> None:
        """A broker lost its state: the subscriptions of all its clients end here."""
        for subscriber in [s for s in self._standing if s.broker == broker]:
            for filter in list(self._standing[subscriber]):
                self._end_subscription(subscriber, filter, time)
            self._excuse(subscriber, time)

    def published(self, broker: BrokerId, client: ClientId, envelope: Envelope, time: int) -> None:
        """A client publishes: whoever is interested at this moment is due a delivery."""
        message = envelope.message
        assert isinstance(message, Event)
        event = envelope.id
        due = self._interested(message.attributes)
        self._publications[event] = _Publication(message.attributes, time, set())
        for subscriber in due:
            self._outstanding.setdefault(subscriber, {})[event] = None
        self._due += len(due)
        self.events.append(EventRow(event, broker, client, time, len(due)))

    # What agents do (the protocol `Records`)

    def delivered(self, broker: BrokerId, client: ClientId, envelope: Envelope, time: int) -> None:
        """An event came to a client."""
        event = envelope.id
        publication = self._publications.get(event)
        if publication is None:
            raise ValueError(f"event {event} came to client {client} but was never published")
        subscriber = Subscriber(broker, client)
        kind = self._judge(subscriber, event, publication)
        self._counts[kind] += 1
        self.deliveries.append(DeliveryRow(event, broker, client, publication.time, time, kind))

    def recorded(self, broker: BrokerId, name: str, value: float, time: int) -> None:
        """An agent noted a measurement of its own."""
        self.records.append(RecordRow(broker, name, value, time))

    # What is known

    @property
    def subscriptions(self) -> Sequence[SubscriptionRow]:
        """All subscriptions of the run, those that ended first, in the order of their end."""
        standing = [
            SubscriptionRow(subscriber.broker, subscriber.client, filter, since, None)
            for subscriber, filters in sorted(self._standing.items(), key=lambda item: item[0])
            for filter, since in filters.items()
        ]
        return [*self._ended, *standing]

    def interested_brokers(self, attributes: Mapping[str, int | float | str]) -> set[BrokerId]:
        """The brokers that have an interested client at this moment."""
        return {subscriber.broker for subscriber in self._interested(attributes)}

    def missing(self) -> list[tuple[MessageId, BrokerId, ClientId]]:
        """The deliveries that are due and have not come, in order."""
        overdue = [key for key, is_withdrawn in self._abandoned.items() if not is_withdrawn]
        outstanding = [
            (subscriber, event)
            for subscriber, events in self._outstanding.items()
            for event in events
        ]
        return sorted(
            (event, subscriber.broker, subscriber.client)
            for subscriber, event in overdue + outstanding
        )

    def statement(self) -> Statement:
        """The account of the run up to now."""
        outstanding = sum(map(len, self._outstanding.values()))
        withdrawn = sum(self._abandoned.values())
        return Statement(
            due=self._due,
            missing=outstanding + len(self._abandoned) - withdrawn,
            withdrawn=withdrawn,
            **self._counts,
        )

    # How a delivery is judged

    def _judge(
        self, subscriber: Subscriber, event: MessageId, publication: _Publication
    ) -> DeliveryKind:
        if subscriber in publication.served:
            return "duplicate"
        outstanding = self._outstanding.get(subscriber)
        if outstanding is not None and event in outstanding:
            del outstanding[event]
            publication.served.add(subscriber)
            return "made"
        if not self._wants(subscriber, publication):
            return "spurious"
        publication.served.add(subscriber)
        was_due = self._abandoned.pop((subscriber, event), None) is not None
        return "made" if was_due else "early"

    def _wants(self, subscriber: Subscriber, publication: _Publication) -> bool:
        filters = self._standing.get(subscriber, ())
        return any(filter.matches(publication.attributes) for filter in filters)

    def _excuse(self, subscriber: Subscriber, time: int) -> None:
        """After a subscription's end: what its client no longer wants is no longer awaited."""
        outstanding = self._outstanding.get(subscriber, {})
        for event in list(outstanding):
            publication = self._publications[event]
            if not self._wants(subscriber, publication):
                del outstanding[event]
                is_withdrawn = time - publication.time <= self._patience
                self._abandoned[subscriber, event] = is_withdrawn

    def _end_subscription(self, subscriber: Subscriber, filter: Filter, time: int) -> None:
        since = self._standing[subscriber].pop(filter)
        self._ended.append(SubscriptionRow(*subscriber, filter, since, time))
        subscribers = self._subscribers[filter]
        del subscribers[subscriber]
        if not subscribers:
            del self._subscribers[filter]
            self._index.remove(filter)

    def _interested(self, attributes: Mapping[str, int | float | str]) -> Collection[Subscriber]:
        return {
            subscriber
            for filter in self._index.match(attributes)
            for subscriber in self._subscribers[filter]
        }
