"""The workload of the pruning paper (Bittner and Hinze, Sec. 5.2): who wants and who offers books.

It says where and when; `auction_model` says what.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta

from pysim.filters import Operator, Predicate, Value
from pysim.units import Duration, Share
from pysim.workloads import books
from pysim.workloads.auction_model import (
    CLASSES,
    AuctionModel,
    SubscriptionClass,
    largest_event,
    largest_subscription,
)
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
from pysim.workloads.schedule import Scheduled, again, nanoseconds, place, require_time

_TITLES_PER_SUBSCRIPTION = 10


@kind("auctions")
class Auctions(Scheduled, frozen=True, kw_only=True):
    """Book auctions of ten attributes, wanted by three classes of Boolean subscriptions.

    Each subscription has a client of its own. Subscriptions come at equal distances over `ramp`,
    events at `rate` in all; brokers take turns unless one is named.
    """

    subscriptions: Annotated[
        int, Meta(ge=0, le=10_000_000, description="subscriptions in all, of a client each")
    ] = 1000
    events: Annotated[
        int, Meta(ge=0, le=100_000_000, description="different events that are published")
    ] = 1000
    classes: Annotated[
        tuple[SubscriptionClass, ...],
        Meta(min_length=1, description="classes of subscriptions that take part, in equal shares"),
    ] = CLASSES
    titles: Annotated[
        Annotated[int, Meta(ge=2, le=books.MAX_TITLES)] | None,
        Meta(description="titles that exist; 10 for each subscription if not given"),
    ] = None
    skew: Annotated[
        float,
        Meta(ge=0, le=3, description="exponent of the titles' popularity in events; 0: all equal"),
    ] = books.TITLE_SKEW
    interest: Annotated[
        float, Meta(ge=0, le=3, description="the same exponent in subscriptions")
    ] = 0.0
    advertise: Annotated[
        Duration | None,
        Meta(description="when all who publish advertise it; nobody does if not given"),
    ] = None
    pause: Annotated[Duration, Meta(description="time between two rounds, and after the last")] = (
        Duration(1.0)
    )
    rehearsal: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000_000,
            description="other events before the first subscription, to learn selectivities from",
        ),
    ] = 0
    unsubscribe: Annotated[
        Share, Meta(description="share of subscriptions withdrawn in the end, over `ramp` again")
    ] = Share(0.0)

    def check(self, setting: Setting) -> None:
        super().check(setting)
        if len(set(self.classes)) < len(self.classes):
            raise WorkloadError("classes", "names a class twice")
        if self._titles() > books.MAX_TITLES:
            problem = f"would be {self._titles():,} titles; {books.MAX_TITLES:,} are possible"
            raise WorkloadError("subscriptions", f"{problem}, give `titles`")
        if (self.events or self.rehearsal) and not self.rate:
            raise WorkloadError("rate", "nothing would ever be published")
        if self._rehearsal(0) < 0:
            needed = Duration(self.rehearsal / self.rate)
            raise WorkloadError("rehearsal", f"takes {needed}, before `start`")
        if self.advertise is not None and self.advertise > self._first_event():
            begin = Duration(self._first_event())
            raise WorkloadError("advertise", f"publishing begins before, at {begin}")
        self._check_times(setting)

    def earliest(self) -> float:
        first = min(self._rehearsal(0), self.publish_start)
        return first if self.advertise is None else min(first, self.advertise)

    def operations(self, setting: Setting) -> Iterable[Operation]:
        model = self.model(setting)
        return heapq.merge(
            self._advertisements(setting),
            self._rehearsals(setting, model),
            self._subscriptions(setting, model),
            self._publications(setting, model),
            self._withdrawals(setting, model),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        published = self.events * self.rounds + self.rehearsal
        event = event_size(largest_event())
        subscription = max(
            subscription_size(largest_subscription(number)) for number in self.classes
        )
        advertised = 0 if self.advertise is None else len(self._publishers(setting))
        changes = self.subscriptions + self._withdrawn() + advertised
        distinct = self.subscriptions + min(1, advertised)
        return Estimate(
            Volume(published, published * event),
            Volume(changes, changes * subscription),
            Volume(distinct, distinct * subscription),
            max(event, subscription),
        )

    def model(self, setting: Setting) -> AuctionModel:
        """What is wanted and offered in that setting, by number."""
        return AuctionModel(setting.streams, self._titles(), self.classes, self.skew, self.interest)

    def round_starts(self) -> list[float]:
        """When each round of events begins, and when the one after the last would."""
        return [self.publish_start + turn * self._round() for turn in range(self.rounds + 1)]

    def _check_times(self, setting: Setting) -> None:
        ends = {
            "ramp": self.start + self.ramp if self.subscriptions else 0.0,
            "events": self._last_event() if self.events else 0.0,
            "unsubscribe": self._withdrawal(self._withdrawn()) if self._withdrawn() else 0.0,
        }
        for key, end in ends.items():
            require_time(key, end, setting)
        if self._withdrawn() and self._withdrawal(0) < self.start + self.ramp:
            raise WorkloadError(
                "unsubscribe", "would begin before all subscriptions are made; see `publish_start`"
            )

    def _titles(self) -> int:
        if self.titles is not None:
            return self.titles
        return max(2, _TITLES_PER_SUBSCRIPTION * self.subscriptions)

    def _withdrawn(self) -> int:
        return round(self.unsubscribe * self.subscriptions)

    def _round(self) -> float:
        """Seconds from the beginning of a round to that of the next."""
        return self.events / self.rate + self.pause if self.events else 0.0

    def _last_event(self) -> float:
        return self.publish_start + self.rounds * self._round() - self.pause - 1 / self.rate

    def _first_event(self) -> float:
        return self._rehearsal(0) if self.rehearsal else self.publish_start

    def _rehearsal(self, number: int) -> float:
        return self.start - (self.rehearsal - number) / self.rate if self.rehearsal else self.start

    def _subscription(self, number: int) -> float:
        return self.start + self.ramp * number / self.subscriptions

    def _withdrawal(self, number: int) -> float:
        begin = self.publish_start + self.rounds * self._round()
        return begin + self.ramp * number / self._withdrawn()

    def _advertisements(self, setting: Setting) -> Iterator[Operation]:
        if self.advertise is not None:
            time, offered = nanoseconds(self.advertise), Predicate("title", Operator.EXISTS)
            for broker in self._publishers(setting):
                yield Operation(time, broker, "advertise", self.subscriptions, offered)

    def _publishers(self, setting: Setting) -> Sequence[int]:
        return range(setting.brokers) if self.publish_at is None else [self.publish_at]

    def _subscriptions(self, setting: Setting, model: AuctionModel) -> Iterator[Operation]:
        for number in range(self.subscriptions):
            yield self._change(setting, model, number, self._subscription(number), "subscribe")

    def _withdrawals(self, setting: Setting, model: AuctionModel) -> Iterator[Operation]:
        stream = setting.streams.stream("workload", "auctions", "withdrawals")
        chosen = stream.sample(range(self.subscriptions), self._withdrawn())
        for turn, number in enumerate(chosen):
            yield self._change(setting, model, number, self._withdrawal(turn), "unsubscribe")

    def _rehearsals(self, setting: Setting, model: AuctionModel) -> Iterator[Operation]:
        for number, attributes in enumerate(model.samples(self.rehearsal)):
            yield self._publication(setting, number, self._rehearsal(number), attributes)

    def _publications(self, setting: Setting, model: AuctionModel) -> Iterator[Operation]:
        events = ((number, model.event(number)) for number in range(self.events))
        for turn, (number, attributes) in again(events, self.rounds):
            time = self.publish_start + turn * self._round() + number / self.rate
            yield self._publication(setting, number, time, attributes)

    def _publication(
        self, setting: Setting, number: int, time: float, attributes: Mapping[str, Value]
    ) -> Operation:
        broker, _ = place(number, setting.brokers, self.publish_at)
        client = self.subscriptions  # one that nobody who subscribes has
        return Operation(nanoseconds(time), broker, "publish", client, attributes=attributes)

    def _change(
        self,
        setting: Setting,
        model: AuctionModel,
        number: int,
        time: float,
        action: Literal["subscribe", "unsubscribe"],
    ) -> Operation:
        broker, client = place(number, setting.brokers, self.subscribe_at)
        filter = model.subscription(number)
        return Operation(nanoseconds(time), broker, action, client, filter)
