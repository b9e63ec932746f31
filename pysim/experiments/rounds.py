"""What brokers' tables hold and what crosses links, from round to round of the same events.

It watches from outside: no agent sees it. It must not know which optimization brokers have; what it
needs is a workload that publishes its events in rounds, and brokers that show what they store.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol, cast

from pysim.experiments.filter_times import FilterTimeRow, MeasuredTable, StoredRow
from pysim.filters import Filter, canonical
from pysim.filters.two_step import TwoStepIndex
from pysim.network.observer import Observer, Subscriber
from pysim.network.simulation import Simulation
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId
from pysim.wire import type_name
from pysim.wire.messages import CountedEvent, Event
from pysim.workloads.auctions import Auctions
from pysim.workloads.base import Setting
from pysim.workloads.schedule import nanoseconds, place

_EVENTS = (Event.CODE, CountedEvent.CODE)
"""The types of messages that carry an event."""

TIMED = 200
"""How many of the events are filtered for times and candidates."""


class RoundRow(NamedTuple):
    """Messages of one type that were sent in a round.

    Round -1 is what comes before the first, and the number of rounds what comes after the last.
    """

    round: int
    type: int
    messages: int
    bytes: int


class AppliedRow(NamedTuple):
    """Of the subscriptions of a class that are remote to a broker, how many stand there untouched.

    Others stand there in another form, as a part of a merger, or not at all.
    """

    broker: int
    subscription_class: int
    remote: int
    untouched: int


class _Stores(Protocol):
    """A broker that shows its table: each entry, its filter and the form that stands for it."""

    def stored(self) -> Iterator[tuple[Hashable, Filter, Filter]]: ...


class Rounds:
    """Looks at all tables and counters 1 ns before each round, and after the last."""

    def __init__(self, simulation: Simulation, workload: Auctions, setting: Setting) -> None:
        self._rounds: list[RoundRow] = []
        self._stored: list[StoredRow] = []
        self._applied: list[AppliedRow] = []
        self._times: list[FilterTimeRow] = []
        self._simulation = simulation
        self._workload = workload
        self._setting = setting
        model = workload.model(setting)
        sample = [model.event(number) for number in range(min(TIMED, workload.events))]
        self._tables: dict[BrokerId, MeasuredTable[Hashable]] = {
            broker: MeasuredTable(broker, sample) for broker in simulation.hosts
        }
        self._sent: dict[int, tuple[int, int]] = {}
        self._published: Counter[BrokerId] = Counter()
        self._seen = 0
        for round, time in enumerate(workload.round_starts()):
            simulation.transport.schedule(nanoseconds(time) - 1, partial(self._look, round))

    def tables(self) -> dict[str, Sequence[tuple[object, ...]]]:
        """The rows of all tables, once the run is over."""
        self._count(self._workload.rounds)
        return {
            "stored": self._stored,
            "rounds": [(row.round, type_name(row.type), *row[2:]) for row in self._rounds],
            "applied": self._applied,
            "filter-times": self._times,
        }

    def _look(self, round: int) -> None:
        self._count(round - 1)
        self._count_published()
        for broker, host in self._simulation.hosts.items():
            table = self._tables[broker]
            stored = cast(_Stores, host.agent).stored()
            table.take({entry: form for entry, _, form in stored})
            received = sum(host.books.received.get(code, (0, 0))[0] for code in _EVENTS)
            self._stored.append(table.row(round, received + self._published[broker]))
            self._times.append(table.time(round))
        if round == self._workload.rounds:
            self._applied += self._compared()

    def _count(self, round: int) -> None:
        """What was sent since this was last asked, by type."""
        now: dict[int, tuple[int, int]] = {}
        for row in self._simulation.transport.counters():
            messages, size = now.get(row.type, (0, 0))
            now[row.type] = messages + row.sent, size + row.sent_bytes
        for kind, (messages, size) in sorted(now.items()):
            messages_before, size_before = self._sent.get(kind, (0, 0))
            if messages > messages_before:
                grown = messages - messages_before, size - size_before
                self._rounds.append(RoundRow(round, kind, *grown))
        self._sent = now

    def _count_published(self) -> None:
        events = self._simulation.observer.events
        self._published.update(row.broker for row in events[self._seen :])
        self._seen = len(events)

    def _compared(self) -> Iterator[AppliedRow]:
        as_they_are = {
            broker: {
                filter for _, filter, form in cast(_Stores, host.agent).stored() if form == filter
            }
            for broker, host in self._simulation.hosts.items()
        }
        remote: Counter[tuple[BrokerId, int]] = Counter()
        untouched: Counter[tuple[BrokerId, int]] = Counter()
        for home, number, filter in self._subscriptions():
            for broker, filters in as_they_are.items():
                if broker != home:
                    remote[broker, number] += 1
                    untouched[broker, number] += filter in filters
        for (broker, number), count in sorted(remote.items()):
            yield AppliedRow(broker, number, count, untouched[broker, number])

    def _subscriptions(self) -> Iterator[tuple[BrokerId, int, Filter]]:
        """All subscriptions: where each was made, its class and its filter."""
        workload = self._workload
        model = workload.model(self._setting)
        for number in range(workload.subscriptions):
            home = place(number, self._setting.brokers, workload.subscribe_at).broker
            filter = canonical(model.subscription(number))
            yield home, model.subscription_class(number), filter


class RepeatedEvents(Observer):
    """An observer that finds out once who wants an event, however often it is published.

    It does so with another engine than brokers have.
    """

    def __init__(self) -> None:
        super().__init__()
        self._index = TwoStepIndex()
        self._known: dict[tuple[object, ...], Collection[Subscriber]] = {}

    def subscribed(self, broker: BrokerId, client: ClientId, filter: Filter, time: int) -> None:
        super().subscribed(broker, client, filter, time)
        self._known.clear()

    def unsubscribed(self, broker: BrokerId, client: ClientId, filter: Filter, time: int) -> None:
        super().unsubscribed(broker, client, filter, time)
        self._known.clear()

    def broker_crashed(self, broker: BrokerId, time: int) -> None:
        super().broker_crashed(broker, time)
        self._known.clear()

    def _interested(self, attributes: Mapping[str, int | float | str]) -> Collection[Subscriber]:
        event = tuple(attributes.items())
        found = self._known.get(event)
        if found is None:
            found = self._known[event] = super()._interested(attributes)
        return found
