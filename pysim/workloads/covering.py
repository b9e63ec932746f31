"""The workload of the covering paper (Sec. VI-A, VI-C to VI-F, VI-H and VI-I): roots that go.

It says where and when; `covering_model` says what.
"""

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta

from pysim.units import Duration, Frequency, Share
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
from pysim.workloads.covering_model import (
    SHRINK,
    Shape,
    Wanted,
    achieved_degree,
    offered,
    population,
    symbol_is,
)
from pysim.workloads.operations import Operation
from pysim.workloads.periodic import publishing_end, tick_count, ticks
from pysim.workloads.schedule import nanoseconds, require_time
from pysim.workloads.squares import LONGEST, places, side

_PROBE_DELAY = 600.0  # seconds from the last unsubscription to the first probe (Sec. VI-H)


@kind("covering")
class Covering(Workload, frozen=True, kw_only=True):
    """Subscriptions of a given covering degree, some of whose roots are unsubscribed.

    A root wants all publications of its symbol, each of its children a square of them, and the rest
    of the subscriptions a part of some child's, at that child's broker. Subscribers are at brokers
    of the role "edge", a client each; those of the role "publisher" advertise, and publish in turn.
    """

    roots: Annotated[
        int,
        Meta(ge=1, le=1_000_000, description="subscriptions that nothing covers, a symbol each"),
    ] = 20
    degree: Annotated[
        int, Meta(ge=0, le=1_000_000, description="children of each root: the covering degree")
    ] = 2100
    subscriptions: Annotated[
        int, Meta(ge=1, le=10_000_000, description="subscriptions in all, of a client each")
    ] = 80_000
    size: Annotated[
        Share, Meta(description="share of its root's publications that a child wants (w)")
    ] = Share(0.005)
    placement: Annotated[
        Literal["scattered", "clustered"],
        Meta(description="where: at any edge broker, or a root and all below it in one region"),
    ] = "scattered"
    advertise: Annotated[Duration, Meta(description="when publishers advertise")] = Duration(0.5)
    start: Annotated[Duration, Meta(description="when the first subscription is made")] = Duration(
        1.0
    )
    ramp: Annotated[
        Duration, Meta(description="time over which subscriptions spread, in random order")
    ] = Duration(100.0)
    publish_start: Annotated[Duration, Meta(description="when publishing begins")] = Duration(110.0)
    rate: Annotated[Frequency, Meta(description="publications of all publishers together")] = (
        Frequency(100.0)
    )
    publish_stop: Annotated[
        Duration | None,
        Meta(description="when publishing ends; 1 s before the run's end if not given"),
    ] = None
    unsubscriptions: Annotated[
        int, Meta(ge=0, le=1_000_000, description="roots that are unsubscribed, in random order")
    ] = 20
    unsubscribe_start: Annotated[Duration, Meta(description="when the first one is")] = Duration(
        170.0
    )
    unsubscribe_gap: Annotated[Duration, Meta(description="time from one to the next")] = Duration(
        0.5
    )
    probes: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000_000,
            description="publications that a client at each edge and publisher broker wants,"
            " in place of others",
        ),
    ] = 0
    probe_start: Annotated[
        Duration | None,
        Meta(
            description="when these begin; 600 s after the last unsubscription if not given",
        ),
    ] = None

    def check(self, setting: Setting) -> None:
        self._check_overlay(setting)
        self._check_shape()
        self._check_times(setting)
        if self.probes:
            self._check_probes(setting)

    def earliest(self) -> float:
        return self.advertise

    def operations(self, setting: Setting) -> Iterable[Operation]:
        return heapq.merge(
            self._advertisements(setting),
            self._changes(setting),
            self._publications(setting),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        published = tick_count(
            self.publish_start, self.rate, publishing_end(self.publish_stop, setting)
        )
        event = event_size({"symbol": self._symbols(), "x": 1 / 3, "y": 1 / 3})
        filters = [Wanted(0, self._symbols(), LONGEST).filter(), offered(self._symbols())]
        subscription = max(map(subscription_size, filters))
        distinct = self.subscriptions + 2  # what probes want, and what is advertised
        changes = (
            self.subscriptions
            + self.unsubscriptions
            + len(self._probed(setting))
            + len(setting.with_role("publisher"))
        )
        return Estimate(
            Volume(published, published * event),
            Volume(changes, changes * subscription),
            Volume(distinct, distinct * subscription),
            max(event, subscription),
        )

    def facts(self, setting: Setting) -> Mapping[str, float]:
        return {"covering_degree": achieved_degree(self.population(setting), self.roots)}

    def population(self, setting: Setting) -> list[Wanted]:
        """All subscriptions but those to probes, by number: roots, children, the rest."""
        return population(setting.streams, self._shape(), self._homes(setting))

    # What cannot be

    def _check_overlay(self, setting: Setting) -> None:
        for role in ("publisher", "edge"):
            if not setting.with_role(role):
                problem = f'needs an overlay with brokers of the role "{role}", such as overlay49'
                raise WorkloadError("kind", problem)
        if self.placement == "clustered" and not setting.regions("edge"):
            raise WorkloadError("placement", "no edge broker of the overlay is in a region")

    def _check_shape(self) -> None:
        shape = self._shape()
        if side(self.size) < SHRINK:
            raise WorkloadError("size", "is too small for a square with a smaller one in it")
        if places(side(self.size)) < self.degree:
            raise WorkloadError("size", f"leaves no room for {self.degree:,} different squares")
        if shape.rest < 0:
            needed = self.roots + shape.children
            problem = f"{self.roots:,} roots with {self.degree:,} children each are {needed:,}"
            raise WorkloadError("subscriptions", problem)
        if shape.rest and not self.degree:
            problem = f"{shape.rest:,} of them would specialize children, and there are none"
            raise WorkloadError("subscriptions", problem)
        if self.unsubscriptions > self.roots:
            raise WorkloadError("unsubscriptions", f"there are {self.roots:,} roots")

    def _check_times(self, setting: Setting) -> None:
        if self.advertise > self.start:
            raise WorkloadError("advertise", f"subscriptions begin before, at {self.start}")
        if self.rate and self.advertise > self.publish_start:
            raise WorkloadError("advertise", f"publishing begins before, at {self.publish_start}")
        require_time("ramp", self.start + self.ramp, setting)
        stop = publishing_end(self.publish_stop, setting)
        require_time("publish_stop", stop, setting)
        if self.rate and stop < self.publish_start:
            problem = f"publishing ends at {Duration(stop)}, before it begins"
            raise WorkloadError("publish_start", problem)
        if not self.unsubscriptions:
            return
        if self.unsubscribe_start < self.start + self.ramp:
            made = Duration(round(self.start + self.ramp, 9))
            raise WorkloadError("unsubscribe_start", f"subscriptions are made until {made}")
        require_time("unsubscriptions", self._last_unsubscription(), setting)

    def _check_probes(self, setting: Setting) -> None:
        if not self.rate:
            raise WorkloadError("rate", "no probe would ever be published")
        if self._probe_start() < self.publish_start:
            raise WorkloadError("probe_start", f"publishing begins at {self.publish_start}")
        stop = publishing_end(self.publish_stop, setting)
        if self.publish_start + self._probe_ticks().stop / self.rate > stop:
            problem = f"are not over when publishing ends, at {Duration(stop)}"
            raise WorkloadError("probes", problem)

    # When and where

    def _shape(self) -> Shape:
        return Shape(self.roots, self.degree, self.subscriptions, self.size)

    def _symbols(self) -> int:
        """Symbols that are published; the last one is the probes'."""
        return self.roots + (self.probes > 0)

    def _last_unsubscription(self) -> float:
        return self.unsubscribe_start + max(0, self.unsubscriptions - 1) * self.unsubscribe_gap

    def _probe_start(self) -> float:
        if self.probe_start is not None:
            return self.probe_start
        return self._last_unsubscription() + _PROBE_DELAY

    def _homes(self, setting: Setting) -> list[list[int]]:
        """The brokers of each symbol's subscribers."""
        if self.placement == "scattered":
            return [setting.with_role("edge")] * self.roots
        clusters = setting.regions("edge")
        stream = setting.streams.stream("workload", "covering", "clusters")
        return [stream.choice(clusters) for _ in range(self.roots)]

    def _probed(self, setting: Setting) -> list[int]:
        return setting.with_role("edge", "publisher") if self.probes else []

    # What clients do

    def _advertisements(self, setting: Setting) -> Iterator[Operation]:
        filter = offered(self._symbols())
        for broker in setting.with_role("publisher"):
            yield Operation(
                nanoseconds(self.advertise), broker, "advertise", self._publisher(), filter
            )

    def _changes(self, setting: Setting) -> Iterator[Operation]:
        for broker in self._probed(setting):
            client, filter = self.subscriptions, symbol_is(self.roots)
            yield Operation(nanoseconds(self.start), broker, "subscribe", client, filter)
        wanted = self.population(setting)
        order = list(range(self.subscriptions))
        setting.streams.stream("workload", "covering", "order").shuffle(order)
        for turn, number in enumerate(order):
            time = nanoseconds(self.start + self.ramp * turn / self.subscriptions)
            mine = wanted[number]
            yield Operation(time, mine.broker, "subscribe", number, mine.filter())
        stream = setting.streams.stream("workload", "covering", "unsubscriptions")
        leaving = stream.sample(range(self.roots), self.roots)[: self.unsubscriptions]
        for turn, number in enumerate(leaving):
            time = nanoseconds(self.unsubscribe_start + turn * self.unsubscribe_gap)
            mine = wanted[number]
            yield Operation(time, mine.broker, "unsubscribe", number, mine.filter())

    def _publications(self, setting: Setting) -> Iterator[Operation]:
        """Points of random symbols; for a probe they are drawn too, so that it moves no other."""
        publishers = setting.with_role("publisher")
        client, probing = self._publisher(), self._probe_ticks()
        draw = setting.streams.stream("workload", "covering", "publications").random
        times = ticks(self.publish_start, self.rate, publishing_end(self.publish_stop, setting))
        for number, time in enumerate(times):
            symbol, x, y = int(draw() * self.roots), draw(), draw()
            if number in probing:
                symbol = self.roots
            yield Operation(
                time,
                publishers[number % len(publishers)],
                "publish",
                client,
                attributes={"symbol": symbol, "x": x, "y": y},
            )

    def _probe_ticks(self) -> range:
        """Which publications are probes: the first ones from `probe_start` on."""
        first = math.ceil(round((self._probe_start() - self.publish_start) * self.rate, 6))
        return range(first, first + self.probes)

    def _publisher(self) -> int:
        """The client that publishes at a broker; the one before wants probes."""
        return self.subscriptions + 1
