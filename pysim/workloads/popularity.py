"""The workload of the PopSub paper (Sec. 5.1): publishers that few or many subscribe to.

It says who, where and when; `popularity_model` says what.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from pysim.network.transport import NANOSECONDS
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
from pysim.workloads.operations import Operation
from pysim.workloads.popularity_model import (
    EXTENT,
    FOLLOWERS,
    Offer,
    from_histogram,
    offers,
    shared_out,
    zipf,
)
from pysim.workloads.schedule import nanoseconds, require_time
from pysim.workloads.tables import InputFile, TableError

_TOP = ("root", "top")
_FEW = 0.2  # the share of publishers that most subscribe to, for the manifest


@kind("popularity")
class Popularity(Workload, frozen=True, kw_only=True):
    """Publishers at the top of a tree that few or many clients subscribe to, as on Twitter.

    Each publisher has a client and an advertisement of its own, and so has each subscription; those
    are at all brokers alike. Publishers are at brokers of the roles "root" and "top".
    """

    publishers: Annotated[
        int, Meta(ge=1, le=100_000, description="clients that publish, an advertisement each")
    ] = 200
    classes: Annotated[
        int, Meta(ge=1, le=100_000, description="classes that advertisements are of, at random")
    ] = 20
    subscriptions: Annotated[
        int, Meta(ge=0, le=10_000_000, description="subscriptions in all, of a client each")
    ] = 22_000
    popularity: Annotated[
        Literal["followers", "zipf"],
        Meta(description="how many subscribe to whom: as users follow on Twitter, or by rank"),
    ] = "followers"
    histogram: Annotated[
        InputFile | None,
        Meta(
            description="a table with columns degree and n_users_followers, instead of the fitted"
            " distribution of followers"
        ),
    ] = None
    exponent: Annotated[float, Meta(ge=0, le=10, description="of the Zipf law by rank (s)")] = 1.0
    share: Annotated[
        Share,
        Meta(description="share of an advertisement's publications that a subscription matches"),
    ] = Share(1.0)
    publish_at: Annotated[
        tuple[Annotated[int, Meta(ge=0)], ...],
        Meta(description="brokers of publishers; the root and its children if none is given"),
    ] = ()
    advertise: Annotated[Duration, Meta(description="when publishers advertise")] = Duration(5.0)
    start: Annotated[Duration, Meta(description="when the first subscription is made")] = Duration(
        10.0
    )
    ramp: Annotated[
        Duration, Meta(description="time over which subscriptions spread, in random order")
    ] = Duration(10.0)
    publish_start: Annotated[Duration, Meta(description="when publishing begins")] = Duration(25.0)
    publishing: Annotated[Duration, Meta(description="how long it lasts")] = Duration(60.0)
    rate: Annotated[Frequency, Meta(description="publications of each publisher")] = Frequency(10.0)

    def check(self, setting: Setting) -> None:
        self._check_places(setting)
        if not self.share:
            raise WorkloadError("share", "no subscription would ever match")
        if self.histogram is not None:
            self._check_histogram(self.histogram)
        if not self.advertise <= self.start:
            raise WorkloadError("advertise", f"subscriptions begin before, at {self.start}")
        if self.start + self.ramp > self.publish_start:
            raise WorkloadError("publish_start", "subscriptions are still being made then")
        require_time("publishing", self.publish_start + self.publishing, setting)

    def earliest(self) -> float:
        return self.advertise

    def operations(self, setting: Setting) -> Iterable[Operation]:
        offered, homes = self._offers(setting), self._homes(setting)
        return heapq.merge(
            self._advertisements(offered, homes),
            self._subscriptions(setting, offered),
            self._publications(setting, offered, homes),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        longest = Offer(self.classes, EXTENT / 3, 2 * EXTENT / 3)
        event = event_size(longest.point(lambda: 1 / 3))
        subscription = subscription_size(longest.filter())
        published = self.publishers * self._ticks()
        changes = self.publishers + self.subscriptions
        distinct = self.publishers if self.share >= 1.0 else changes
        return Estimate(
            Volume(published, published * event),
            Volume(changes, changes * subscription),
            Volume(distinct, distinct * subscription),
            max(event, subscription),
        )

    def facts(self, setting: Setting) -> Mapping[str, float]:
        audiences = sorted(self.audiences(setting), reverse=True)
        few = sum(audiences[: round(_FEW * self.publishers)])
        return {
            "largest_audience": audiences[0],
            "median_audience": audiences[self.publishers // 2],
            "share_of_top_fifth": few / max(self.subscriptions, 1),
        }

    def audiences(self, setting: Setting) -> list[int]:
        """The number of subscriptions to each publisher's advertisement."""
        stream = setting.streams.stream("workload", "popularity", "audiences")
        if self.popularity == "zipf":
            return shared_out(self.subscriptions, zipf(self.publishers, self.exponent, stream))
        draw = FOLLOWERS.draw
        if self.histogram is not None:
            draw = from_histogram(Path(self.histogram))  # type: ignore[assignment]
        return shared_out(self.subscriptions, [draw(stream) for _ in range(self.publishers)])

    # What cannot be

    def _check_places(self, setting: Setting) -> None:
        for broker in self.publish_at:
            if broker >= setting.brokers:
                raise WorkloadError("publish_at", f"the overlay has {setting.brokers} brokers")
        if not self.publish_at and not setting.with_role("root"):
            problem = 'needs an overlay with a "root", such as latency-tree, or `publish_at`'
            raise WorkloadError("kind", problem)

    def _check_histogram(self, file: InputFile) -> None:
        try:
            from_histogram(Path(file))
        except TableError as error:
            raise WorkloadError("histogram", str(error)) from None

    # Who, where and when

    def _offers(self, setting: Setting) -> list[Offer]:
        stream = setting.streams.stream("workload", "popularity", "classes")
        return offers(self.publishers, self.classes, stream)

    def _homes(self, setting: Setting) -> list[int]:
        """The broker of each publisher."""
        brokers = list(self.publish_at) or setting.with_role(*_TOP)
        stream = setting.streams.stream("workload", "popularity", "publishers")
        return stream.choices(brokers, k=self.publishers)

    def _ticks(self) -> int:
        """Publications of each publisher."""
        return round(self.publishing * self.rate)

    def _advertisements(self, offered: list[Offer], homes: list[int]) -> Iterator[Operation]:
        for publisher, (offer, home) in enumerate(zip(offered, homes, strict=True)):
            client = self.subscriptions + publisher
            yield Operation(nanoseconds(self.advertise), home, "advertise", client, offer.filter())

    def _subscriptions(self, setting: Setting, offered: list[Offer]) -> Iterator[Operation]:
        audiences = self.audiences(setting)
        wanted = [place for place, count in enumerate(audiences) for _ in range(count)]
        setting.streams.stream("workload", "popularity", "order").shuffle(wanted)
        place = setting.streams.stream("workload", "popularity", "places").randrange
        stream = setting.streams.stream("workload", "popularity", "parts")
        whole = [offer.filter() for offer in offered]
        for client, publisher in enumerate(wanted):
            time = nanoseconds(self.start + self.ramp * client / self.subscriptions)
            offer = offered[publisher]
            filter = whole[publisher] if self.share >= 1.0 else offer.part(self.share, stream)
            yield Operation(time, place(setting.brokers), "subscribe", client, filter)

    def _publications(
        self, setting: Setting, offered: list[Offer], homes: list[int]
    ) -> Iterator[Operation]:
        """At equal distances of time for each publisher, who began at a moment of its own."""
        if not self.rate:
            return
        gap = NANOSECONDS / self.rate
        stream = setting.streams.stream("workload", "popularity", "phases")
        phases = sorted((stream.random() * gap, each) for each in range(self.publishers))
        draw = setting.streams.stream("workload", "popularity", "publications").random
        begin = nanoseconds(self.publish_start)
        for tick in range(self._ticks()):
            base = begin + tick * gap
            for phase, publisher in phases:
                client = self.subscriptions + publisher
                point = offered[publisher].point(draw)
                time = int(base + phase)
                yield Operation(time, homes[publisher], "publish", client, attributes=point)
