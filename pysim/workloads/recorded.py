"""A workload that users bring along: a table of events, a table of subscriptions, or both.

It says when and where; `recordings` says what the tables mean. Nothing is drawn: the same tables
give the same operations whatever the seed.
"""

import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from pysim.filters import Value
from pysim.units import Span
from pysim.workloads.base import (
    Estimate,
    Setting,
    Volume,
    WorkloadError,
    event_size,
    kind,
    subscription_size,
)
from pysim.workloads.operations import Operation
from pysim.workloads.recordings import (
    Events,
    Naming,
    Subscriptions,
    read_events,
    read_subscriptions,
)
from pysim.workloads.schedule import Place, Scheduled, again, nanoseconds, place, require_time
from pysim.workloads.tables import InputFile, TableError


@kind("recorded")
class Recorded(Scheduled, frozen=True, kw_only=True, dict=True):
    """Events and subscriptions from tables, CSV or Parquet, that users bring along.

    Each column of `events` is an attribute; an empty cell is a missing one. `subscriptions` has a
    column `filter`, and `until` if some are withdrawn. Both may have columns that say the time, the
    broker and the client; the keys below stand in for those that they lack.
    """

    events: Annotated[InputFile | None, Meta(description="table of events: its path")] = None
    subscriptions: Annotated[
        InputFile | None, Meta(description="table of subscriptions: its path")
    ] = None
    attributes: Annotated[
        tuple[str, ...] | None,
        Meta(description="columns of events that are attributes; all others if not given"),
    ] = None
    texts: Annotated[
        tuple[str, ...], Meta(description="attributes that are texts even if written like numbers")
    ] = ()
    time_column: Annotated[str, Meta(description="the column that tells times")] = "time"
    broker_column: Annotated[str, Meta(description="the column that tells brokers")] = "broker"
    client_column: Annotated[str, Meta(description="the column that tells clients")] = "client"
    origin: Annotated[
        float,
        Meta(ge=-1e15, le=1e15, description="the time in the tables at which the run begins"),
    ] = 0.0
    unit: Annotated[Span, Meta(description="what a 1 in the tables' times stands for")] = Span(1.0)

    def check(self, setting: Setting) -> None:
        if self.events is None and self.subscriptions is None:
            raise WorkloadError("events", "neither events nor subscriptions are given")
        super().check(setting)
        with _blamed("subscriptions"):
            self._check_subscriptions(setting)
        with _blamed("events"):
            self._check_events(setting)

    def earliest(self) -> float:
        return min((*self._subscription_times(), *self._event_times()), default=self.start)

    def operations(self, setting: Setting) -> Iterable[Operation]:
        places = self._places(setting)
        return heapq.merge(
            self._changes("unsubscribe", self._ends(setting, at_once=False), places),
            self._changes("subscribe", self._subscription_times(), places),
            self._publications(setting),
            self._changes("unsubscribe", self._ends(setting, at_once=True), places),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        events = [event_size(attributes) for _, attributes in self._rows()]
        filters = self._wanted.filters if self._wanted else []
        sizes = {filter: subscription_size(filter) for filter in filters}
        return Estimate(
            Volume(self.rounds * len(events), self.rounds * sum(events)),
            Volume(2 * len(filters), 2 * sum(sizes[filter] for filter in filters)),
            Volume(len(sizes), sum(sizes.values())),
            max((*events, *sizes.values()), default=0),
        )

    @cached_property
    def _offered(self) -> Events | None:
        if self.events is None:
            return None
        return read_events(Path(self.events), self._naming(), self.attributes, self.texts)

    @cached_property
    def _wanted(self) -> Subscriptions | None:
        if self.subscriptions is None:
            return None
        return read_subscriptions(Path(self.subscriptions), self._naming())

    def _naming(self) -> Naming:
        return Naming(
            self.time_column, self.broker_column, self.client_column, self.origin, self.unit
        )

    def _check_events(self, setting: Setting) -> None:
        if self._offered is None:
            return
        self._offered.told.check(setting.brokers, setting.duration)
        if self._offered.told.times is None and not self.rate:
            raise WorkloadError("rate", "nothing would ever be published")
        last = max(self._event_times(), default=0.0) + (self.rounds - 1) * self._round()
        require_time("events", last, setting)

    def _check_subscriptions(self, setting: Setting) -> None:
        if self._wanted is None:
            return
        self._wanted.told.check(setting.brokers, setting.duration)
        times = self._subscription_times()
        require_time("ramp", max(times, default=0.0), setting)
        self._wanted.check(times)
        if self._wanted.told.clients is not None:
            begins = list(map(nanoseconds, times))
            until = self._until(setting)
            ends = [math.inf if end is None else nanoseconds(end) for end in until]
            self._wanted.check_held(self._places(setting), begins, ends)

    def _event_times(self) -> Sequence[float]:
        offered = self._offered
        if offered is None:
            return ()
        if offered.told.times is not None:
            return offered.told.times
        return [self.publish_start + row / self.rate for row in range(len(offered))]

    def _subscription_times(self) -> Sequence[float]:
        wanted = self._wanted
        if wanted is None:
            return ()
        if wanted.told.times is not None:
            return wanted.told.times
        return [self.start + self.ramp * row / len(wanted) for row in range(len(wanted))]

    def _until(self, setting: Setting) -> list[float | None]:
        """When each subscription is withdrawn; None if it stands to the end of the run."""
        until = self._wanted.until if self._wanted else []
        return [None if end is None or end >= setting.duration else end for end in until]

    def _ends(self, setting: Setting, at_once: bool) -> list[float | None]:
        """The same for those that end as they begin, or for the others.

        The others come first at any time, so that a client can have the same again at once.
        """
        return [
            end if end is not None and (nanoseconds(end) == nanoseconds(time)) == at_once else None
            for time, end in zip(self._subscription_times(), self._until(setting), strict=True)
        ]

    def _round(self) -> float:
        """Seconds from the beginning of a round to that of the next."""
        times = self._event_times()
        if not times:
            return 0.0
        own = self._offered is not None and self._offered.told.times is None
        return max(times) - min(times) + (1 / self.rate if own else 0.0) + self.pause

    def _places(self, setting: Setting) -> Sequence[Place]:
        """Where each subscription's client lives; without a name it is the next of its broker."""
        wanted = self._wanted
        if wanted is None:
            return ()
        rows = range(len(wanted))
        brokers = wanted.told.brokers or [
            place(row, setting.brokers, self.subscribe_at).broker for row in rows
        ]
        if wanted.told.clients is not None:
            return list(map(Place, brokers, wanted.told.clients))
        following: defaultdict[int, Iterator[int]] = defaultdict(itertools.count)
        return [Place(broker, next(following[broker])) for broker in brokers]

    def _changes(
        self,
        action: Literal["subscribe", "unsubscribe"],
        times: Sequence[float | None],
        places: Sequence[Place],
    ) -> Iterator[Operation]:
        """What happens at those times that are told, in order."""
        due = sorted((time, row) for row, time in enumerate(times) if time is not None)
        filters = self._wanted.filters if self._wanted else []
        for time, row in due:
            broker, client = places[row]
            yield Operation(nanoseconds(time), broker, action, client, filters[row])

    def _publications(self, setting: Setting) -> Iterator[Operation]:
        if self._offered is None:
            return
        told, times, length = self._offered.told, self._event_times(), self._round()
        for turn, (row, attributes) in again(self._rows(), self.rounds):
            time = nanoseconds(times[row] + turn * length)
            if told.brokers is None:
                broker = place(row, setting.brokers, self.publish_at).broker
            else:
                broker = told.brokers[row]
            client = told.clients[row] if told.clients is not None else 0
            yield Operation(time, broker, "publish", client, attributes=attributes)

    def _rows(self) -> Iterator[tuple[int, dict[str, Value]]]:
        """The events with the numbers of their rows, in the order of their times."""
        if self._offered is None:
            return
        times = self._event_times()
        for row in sorted(range(len(times)), key=times.__getitem__):
            yield row, self._offered.attributes(row)


@contextmanager
def _blamed(key: str) -> Iterator[None]:
    """Say which key names the table that is wrong."""
    try:
        yield
    except TableError as error:
        raise WorkloadError(key, str(error)) from None
