"""Ground truth: who wanted what at which time, and what became of every delivery that was due.

The observer sees everything and is seen by no agent. It must not know protocols or networks: it is
told what clients did and what they got.

A delivery is due to every client, at whatever broker, that has a matching subscription when an
event is published; the publisher's own client is no exception and gets its own events if it
subscribed to them. Each due delivery ends in exactly one of three ways, so that

    due        = made + missing + withdrawn
    deliveries = made + early + duplicate + spurious

always hold, whatever the agents do.

Whom an event is due to is found with an index, since every event asks it of every subscription. It
can be trusted all the same: it is another engine than any broker has, so that an error in one of
them shows as a missing or a spurious delivery and is not repeated here; and tests hold it, and the
observer with it, against `Filter.matches`, filter by filter.
"""

import math
from array import array
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pysim.filters import Filter, MatchingIndex
from pysim.filters.boxes import BoxIndex
from pysim.network.deliveries import Deliveries, DeliveryKind, EventRow
from pysim.network.transport import NANOSECONDS, BrokerId
from pysim.network.world import ClientId
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import Event


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


_NOBODY: Mapping[ClientId, "Subscriber"] = {}
_UNKNOWN = -1
"""In the place of an event's number."""
_NOT_DUE = object()


class Subscriber:
    """A client by its broker and its number there, and what it wants, awaits and got.

    Events go by their numbers in the order of publication.
    """

    __slots__ = ("abandoned", "awaited", "broker", "client", "served", "standing")

    def __init__(self, broker: BrokerId, client: ClientId) -> None:
        self.broker = broker
        self.client = client
        self.standing: dict[Filter, int] = {}
        """Its subscriptions, and since when they stand."""
        self.awaited: dict[int, object] = {}
        """What is due and has not come; something that stands matches each."""
        self.abandoned: dict[int, bool] = {}
        """What it gave up before it came, and whether that was within patience."""
        self.served = array("I")
        """What came, ascending."""

    def serve(self, number: int) -> None:
        """Note that an event came which had not come before."""
        if self.served and number < self.served[-1]:
            insort(self.served, number)
        else:
            self.served.append(number)

    def was_served(self, number: int) -> bool:
        """Whether an event came before."""
        place = bisect_left(self.served, number)
        return place < len(self.served) and self.served[place] == number

    def wants(self, attributes: Mapping[str, int | float | str]) -> bool:
        """Whether it has a matching subscription now."""
        return any(filter.matches(attributes) for filter in self.standing)


class _Topic:
    """A filter, and who has subscribed to it."""

    __slots__ = ("filter", "subscribers")

    def __init__(self, filter: Filter) -> None:
        self.filter = filter
        self.subscribers: dict[Subscriber, None] = {}


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
        self.deliveries = Deliveries(self.events)
        self.records: list[RecordRow] = []
        self._patience = patience * NANOSECONDS
        self._index: MatchingIndex[_Topic] = BoxIndex()
        self._topics: dict[Filter, _Topic] = {}
        self._subscribers: dict[BrokerId, dict[ClientId, Subscriber]] = {}
        self._ended: list[SubscriptionRow] = []
        self._numbers: dict[MessageId, int] = {}
        self._contents: list[Mapping[str, int | float | str]] = []
        self._due = 0
        self._counts: dict[DeliveryKind, int] = dict.fromkeys(
            ("made", "early", "duplicate", "spurious"), 0
        )

    # What clients do

    def subscribed(self, broker: BrokerId, client: ClientId, filter: Filter, time: int) -> None:
        """A client subscribes; to what it has subscribed to already is no change."""
        clients = self._subscribers.setdefault(broker, {})
        subscriber = clients.get(client)
        if subscriber is None:
            subscriber = clients[client] = Subscriber(broker, client)
        if filter in subscriber.standing:
            return
        subscriber.standing[filter] = time
        topic = self._topics.get(filter)
        if topic is None:
            topic = self._topics[filter] = _Topic(filter)
            self._index.insert(topic, filter)
        topic.subscribers[subscriber] = None

    def unsubscribed(self, broker: BrokerId, client: ClientId, filter: Filter, time: int) -> None:
        """A client withdraws a subscription; one that it does not have is no change."""
        subscriber = self._subscribers.get(broker, {}).get(client)
        if subscriber is not None and filter in subscriber.standing:
            self._end_subscription(subscriber, filter, time)
            self._excuse(subscriber, filter, time)

    def broker_crashed(self, broker: BrokerId, time: int) -> None:
        """A broker lost its state: the subscriptions of all its clients end here."""
        for subscriber in self._subscribers.get(broker, {}).values():
            for filter in list(subscriber.standing):
                self._end_subscription(subscriber, filter, time)
            self._abandon(subscriber, list(subscriber.awaited), time)

    def published(self, broker: BrokerId, client: ClientId, envelope: Envelope, time: int) -> None:
        """A client publishes: whoever is interested at this moment is due a delivery."""
        message = envelope.message
        assert isinstance(message, Event)
        number = len(self.events)
        due = self._interested(message.attributes)
        for subscriber in due:
            subscriber.awaited[number] = None
        self._due += len(due)
        self._numbers[envelope.id] = number
        self._contents.append(message.attributes)
        self.events.append(EventRow(envelope.id, broker, client, time, len(due)))

    # What agents do (the protocol `Records`)

    def delivered(
        self, broker: BrokerId, client: ClientId, envelope: Envelope, time: int, way: str = ""
    ) -> None:
        """An event came to a client."""
        number = self._numbers.get(envelope.id)
        if number is None:
            raise ValueError(f"event {envelope.id} came to client {client} but was never published")
        subscriber = self._subscribers.get(broker, _NOBODY).get(client)
        kind: DeliveryKind = "spurious" if subscriber is None else self._judge(subscriber, number)
        self._counts[kind] += 1
        self.deliveries.add(number, broker, client, time, kind, way)

    def delivered_to_all(
        self,
        broker: BrokerId,
        clients: Sequence[ClientId],
        envelope: Envelope,
        time: int,
        way: str = "",
    ) -> None:
        """An event came to several clients of a broker, each of whom is there once.

        Runs with millions of deliveries spend their time here, so those of the first clients it is
        due to, which nearly always are all of them, are noted together.
        """
        number = self._numbers.get(envelope.id, _UNKNOWN)
        here = self._subscribers.get(broker, _NOBODY)
        made = 0
        for client in clients:
            subscriber = here.get(client)
            if subscriber is None or subscriber.awaited.pop(number, _NOT_DUE) is _NOT_DUE:
                break
            served = subscriber.served
            if served and number < served[-1]:
                insort(served, number)
            else:
                served.append(number)
            made += 1
        if made:
            self._counts["made"] += made
            self.deliveries.add_made(number, broker, clients[:made], time, way)
        for client in clients[made:]:
            self.delivered(broker, client, envelope, time, way)

    def recorded(self, broker: BrokerId, name: str, value: float, time: int) -> None:
        """An agent noted a measurement of its own."""
        self.records.append(RecordRow(broker, name, value, time))

    # What is known

    @property
    def subscriptions(self) -> Sequence[SubscriptionRow]:
        """All subscriptions of the run, those that ended first, in the order of their end."""
        standing = [
            SubscriptionRow(broker, client, filter, since, None)
            for broker, clients in sorted(self._subscribers.items())
            for client, subscriber in sorted(clients.items())
            for filter, since in subscriber.standing.items()
        ]
        return [*self._ended, *standing]

    def interested_brokers(self, attributes: Mapping[str, int | float | str]) -> set[BrokerId]:
        """The brokers that have an interested client at this moment."""
        return {subscriber.broker for subscriber in self._interested(attributes)}

    def missing(self) -> list[tuple[MessageId, BrokerId, ClientId]]:
        """The deliveries that are due and have not come, in order."""
        return sorted(
            (self.events[number].id, subscriber.broker, subscriber.client)
            for subscriber in self._everybody()
            for number in (*subscriber.awaited, *_overdue(subscriber))
        )

    def statement(self) -> Statement:
        """The account of the run up to now."""
        missing = withdrawn = 0
        for subscriber in self._everybody():
            excused = sum(subscriber.abandoned.values())
            missing += len(subscriber.awaited) + len(subscriber.abandoned) - excused
            withdrawn += excused
        return Statement(due=self._due, missing=missing, withdrawn=withdrawn, **self._counts)

    # How a delivery is judged

    def _judge(self, subscriber: Subscriber, number: int) -> DeliveryKind:
        if number in subscriber.awaited:
            del subscriber.awaited[number]
            subscriber.serve(number)
            return "made"
        if subscriber.was_served(number):
            return "duplicate"
        if not subscriber.wants(self._contents[number]):
            return "spurious"
        subscriber.serve(number)
        was_due = subscriber.abandoned.pop(number, None) is not None
        return "made" if was_due else "early"

    def _excuse(self, subscriber: Subscriber, ended: Filter, time: int) -> None:
        """After a subscription's end: what its client no longer wants is no longer awaited.

        Of what is awaited, that can be no more than what the subscription matched.
        """
        contents = self._contents
        unwanted = [
            number
            for number in subscriber.awaited
            if ended.matches(contents[number]) and not subscriber.wants(contents[number])
        ]
        self._abandon(subscriber, unwanted, time)

    def _abandon(self, subscriber: Subscriber, unwanted: Iterable[int], time: int) -> None:
        for number in unwanted:
            del subscriber.awaited[number]
            waited = time - self.events[number].time
            subscriber.abandoned[number] = waited <= self._patience

    def _end_subscription(self, subscriber: Subscriber, filter: Filter, time: int) -> None:
        since = subscriber.standing.pop(filter)
        self._ended.append(
            SubscriptionRow(subscriber.broker, subscriber.client, filter, since, time)
        )
        topic = self._topics[filter]
        del topic.subscribers[subscriber]
        if not topic.subscribers:
            del self._topics[filter]
            self._index.remove(topic)

    def _interested(self, attributes: Mapping[str, int | float | str]) -> Collection[Subscriber]:
        found: set[Subscriber] = set()
        for topic in self._index.match(attributes):
            found.update(topic.subscribers)
        return found

    def _everybody(self) -> Iterator[Subscriber]:
        for clients in self._subscribers.values():
            yield from clients.values()


def _overdue(subscriber: Subscriber) -> Iterator[int]:
    """What was lost so long before its client gave it up that it stays missing."""
    return (number for number, is_withdrawn in subscriber.abandoned.items() if not is_withdrawn)
