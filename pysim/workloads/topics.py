"""A workload for comparisons: topics that clients want, change their minds about, and publish.

Every family of protocols can serve it: publishers advertise, subscriptions cover one another, some
topics are popular, and neither the overlay's shape nor its roles play a part.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from random import Random
from typing import Annotated, NamedTuple

from msgspec import Meta

from pysim.filters import And, Filter, Operator, Predicate, Range
from pysim.units import Duration, Frequency, Share, Size
from pysim.workloads.base import (
    Estimate,
    Setting,
    Volume,
    Workload,
    WorkloadError,
    event_size,
    kind,
    subscription_size,
)
from pysim.workloads.books import Popularity
from pysim.workloads.operations import Operation
from pysim.workloads.periodic import (
    poisson,
    poisson_count,
    publishing_end,
    tick_count,
    ticks,
)
from pysim.workloads.schedule import nanoseconds, require_time

EXTENT = 1000
"""The values of an event are whole numbers from 0 up to this."""

_FEW = 0.1  # the share of topics that most subscriptions are to, for the manifest


class Wish(NamedTuple):
    """What a subscription is to: a topic by its rank, and values from `low` up to `high`."""

    topic: int
    low: int = 0
    high: int = EXTENT

    def filter(self) -> Filter:
        topic = Predicate("topic", Operator.EQ, name(self.topic))
        if (self.low, self.high) == (0, EXTENT):
            return topic
        return And((topic, Predicate("value", Operator.IN, Range(self.low, self.high))))


@kind("topics")
class Topics(Workload, frozen=True, kw_only=True):
    """Topics of Zipf popularity that clients subscribe to and swap: the one for comparisons.

    Each subscription has a client of its own at a random broker, each topic a publisher that
    advertises it. More subscriptions, or brokers with publishers, are the same ones and others.
    """

    topics: Annotated[int, Meta(ge=1, le=100_000, description="topics that there are")] = 100
    skew: Annotated[
        float, Meta(ge=0, le=3, description="exponent of the topics' popularity in subscriptions")
    ] = 1.0
    subscriptions: Annotated[
        int, Meta(ge=0, le=1_000_000, description="subscriptions in all, of a client each")
    ] = 500
    partial: Annotated[
        Share, Meta(description="share of subscriptions to a part of a topic; others are to all")
    ] = Share(0.5)
    churn: Annotated[
        Frequency,
        Meta(description="subscriptions that are replaced, in all, while events are published"),
    ] = Frequency(0.0)
    homes: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="brokers that the publishers are at; all brokers if not given"),
    ] = None
    rate: Annotated[Frequency, Meta(description="events of all publishers together")] = Frequency(
        50.0
    )
    payload: Annotated[Size, Meta(description="bytes of an event that nobody filters by")] = Size(
        100
    )
    advertise: Annotated[Duration, Meta(description="when publishers advertise")] = Duration(0.5)
    start: Annotated[Duration, Meta(description="when the first subscription is made")] = Duration(
        1.0
    )
    ramp: Annotated[Duration, Meta(description="time over which subscriptions spread")] = Duration(
        1.0
    )
    publish_start: Annotated[Duration, Meta(description="when publishing and churn begin")] = (
        Duration(3.0)
    )
    publish_stop: Annotated[
        Duration | None,
        Meta(description="when both end; 1 s before the run's end if not given"),
    ] = None

    def check(self, setting: Setting) -> None:
        if self.homes is not None and self.homes > setting.brokers:
            raise WorkloadError("homes", f"the overlay has {setting.brokers} brokers")
        if self.churn and not self.subscriptions:
            raise WorkloadError("churn", "there is no subscription to replace")
        if self.churn and self.topics == 1 and not self.partial:
            raise WorkloadError("churn", "there is one topic only, and all of it is wanted")
        if self.advertise > self.start:
            raise WorkloadError("advertise", f"subscriptions begin before, at {self.start}")
        if self.start + self.ramp > self.publish_start:
            raise WorkloadError("publish_start", "subscriptions are still being made then")
        stop = publishing_end(self.publish_stop, setting)
        require_time("publish_stop", stop, setting)
        if stop < self.publish_start:
            problem = f"publishing ends at {Duration(stop)}, before it begins"
            raise WorkloadError("publish_start", problem)

    def earliest(self) -> float:
        return self.advertise

    def operations(self, setting: Setting) -> Iterable[Operation]:
        homes = self._homes(setting)
        places, wishes = self._wishes(setting)
        return heapq.merge(
            self._advertisements(homes),
            self._subscriptions(setting, places, wishes),
            self._changes(setting, places, wishes),
            self._publications(setting, homes),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        stop = publishing_end(self.publish_stop, setting)
        published = tick_count(self.publish_start, self.rate, stop)
        widest = Wish(self.topics - 1, EXTENT - 2, EXTENT - 1)
        event = event_size(_attributes(widest.topic, EXTENT - 1), bytes(int(self.payload)))
        subscription = subscription_size(widest.filter())
        replaced = poisson_count(self.churn * (stop - self.publish_start))
        changes = self.topics + self.subscriptions + 2 * replaced
        distinct = self.topics + self.subscriptions + replaced
        return Estimate(
            Volume(published, published * event),
            Volume(changes, changes * subscription),
            Volume(distinct, distinct * subscription),
            max(event, subscription),
        )

    def facts(self, setting: Setting) -> Mapping[str, float]:
        _, wishes = self._wishes(setting)
        wanted = [0] * self.topics
        for wish in wishes:
            wanted[wish.topic] += 1
        few = max(1, round(_FEW * self.topics))
        top = sum(sorted(wanted, reverse=True)[:few])
        return {
            "unwanted_topics": wanted.count(0),
            "share_of_top_tenth": top / max(self.subscriptions, 1),
        }

    # Who, where and when

    def _homes(self, setting: Setting) -> list[int]:
        """The broker of each topic's publisher."""
        order = setting.streams.stream("workload", "topics", "homes")
        brokers = order.sample(range(setting.brokers), setting.brokers)[: self.homes]
        place = setting.streams.stream("workload", "topics", "publishers")
        return [brokers[int(place.random() * len(brokers))] for _ in range(self.topics)]

    def _wishes(self, setting: Setting) -> tuple[list[int], list[Wish]]:
        """The broker of each subscription, and what it is to at first."""
        places = setting.streams.stream("workload", "topics", "places")
        stream = setting.streams.stream("workload", "topics", "wishes")
        popularity = Popularity(self.topics, self.skew)
        count = range(self.subscriptions)
        return (
            [int(places.random() * setting.brokers) for _ in count],
            [self._wish(stream, popularity) for _ in count],
        )

    def _wish(self, stream: Random, popularity: Popularity) -> Wish:
        """As many draws for each, so that another skew or share moves no other draw."""
        topic, whole, length, begin = (stream.random() for _ in range(4))
        rank = popularity.rank(topic)
        if whole >= self.partial:
            return Wish(rank)
        size = 1 + int(length * (EXTENT - 1))
        low = int(begin * (EXTENT - size + 1))
        return Wish(rank, low, low + size)

    def _advertisements(self, homes: list[int]) -> Iterator[Operation]:
        for topic, home in enumerate(homes):
            client, wish = self.subscriptions + topic, Wish(topic)
            yield Operation(nanoseconds(self.advertise), home, "advertise", client, wish.filter())

    def _subscriptions(
        self, setting: Setting, places: list[int], wishes: list[Wish]
    ) -> Iterator[Operation]:
        for client, (place, wish) in enumerate(zip(places, wishes, strict=True)):
            time = nanoseconds(self.start + self.ramp * client / self.subscriptions)
            yield Operation(time, place, "subscribe", client, wish.filter())

    def _changes(
        self, setting: Setting, places: list[int], wishes: list[Wish]
    ) -> Iterator[Operation]:
        """At random times a random client replaces its subscription by another one."""
        if not self.churn:
            return
        stream = setting.streams.stream("workload", "topics", "churn")
        popularity = Popularity(self.topics, self.skew)
        held = dict(enumerate(wishes))
        end = publishing_end(self.publish_stop, setting)
        moments = setting.streams.stream("workload", "topics", "churn times")
        for time in poisson(moments, self.churn, self.publish_start, end):
            client = stream.randrange(self.subscriptions)
            fresh = self._wish(stream, popularity)
            while fresh == held[client]:
                fresh = self._wish(stream, popularity)
            at, place = nanoseconds(time), places[client]
            yield Operation(at, place, "unsubscribe", client, held[client].filter())
            yield Operation(at, place, "subscribe", client, fresh.filter())
            held[client] = fresh

    def _publications(self, setting: Setting, homes: list[int]) -> Iterator[Operation]:
        """At equal distances of time, each of a random topic."""
        stream = setting.streams.stream("workload", "topics", "events")
        payload = bytes(int(self.payload))
        end = publishing_end(self.publish_stop, setting)
        for time in ticks(self.publish_start, self.rate, end):
            topic, value = (int(stream.random() * size) for size in (self.topics, EXTENT))
            yield Operation(
                time,
                homes[topic],
                "publish",
                self.subscriptions + topic,
                attributes=_attributes(topic, value),
                payload=payload,
            )


def name(topic: int) -> str:
    """What a topic is called in filters and events, by its rank."""
    return f"t{topic:03}"


def _attributes(topic: int, value: int) -> dict[str, int | float | str]:
    return {"topic": name(topic), "value": value}
