"""The workload of the reconfiguration paper (Cugola, Frey, Murphy, Picco, Sec. V-A, Table I)."""

import heapq
import itertools
import random
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta

from pysim.filters import Filter, Operator, Predicate
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
from pysim.workloads.periodic import poisson, poisson_count

MAX_PATTERNS = 800
"""So many characters are printable in every version of Unicode that a Python of ours brings."""

_SETTLING = 1.0  # seconds at the end in which nothing is published unless `stop` says so


@kind("patterns")
class Patterns(Workload, frozen=True, kw_only=True):
    """Events are random characters, a subscription is one character (the reconfiguration paper's).

    The letters are the paper's: an event holds `characters` (mu) of `patterns` (Pi) characters in
    the attribute `body`; a share `subscribers` (sigma_s) of the brokers holds `per_subscriber` (pi)
    subscriptions `body contains "x"` each; a share `publishers` (sigma_p) publishes at `rate`
    (epsilon). With `churn`, brokers outside the stable core replace subscriptions to the end.
    """

    patterns: Annotated[
        int, Meta(ge=1, le=MAX_PATTERNS, description="characters that exist (the paper's Pi)")
    ] = 96
    per_subscriber: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_PATTERNS,
            description="subscriptions that a subscribing broker holds (pi)",
        ),
    ] = 7
    subscribers: Annotated[Share, Meta(description="share of brokers that subscribe (sigma_s)")] = (
        Share(0.2)
    )
    publishers: Annotated[Share, Meta(description="share of brokers that publish (sigma_p)")] = (
        Share(1.0)
    )
    characters: Annotated[int, Meta(ge=1, le=10_000, description="characters in an event (mu)")] = 9
    rate: Annotated[
        Frequency, Meta(description="events that each publishing broker publishes (epsilon)")
    ] = Frequency(1.0)
    gaps: Annotated[
        Literal["exponential", "constant"], Meta(description="time between a broker's events")
    ] = "exponential"
    start: Annotated[Duration, Meta(description="when the first subscription may be made")] = (
        Duration(0.5)
    )
    ramp: Annotated[Duration, Meta(description="time over which first subscriptions spread")] = (
        Duration(0.5)
    )
    publish_start: Annotated[Duration, Meta(description="when publishing begins")] = Duration(2.0)
    stop: Annotated[
        Duration | None,
        Meta(description="when publishing and churn end; 1 s before the end if not given"),
    ] = None
    churn: Annotated[
        Frequency, Meta(description="subscriptions that each subscribing broker replaces")
    ] = Frequency(0.0)
    core: Annotated[
        Share, Meta(description="share of brokers (the stable core) without churn after `freeze`")
    ] = Share(0.0)
    freeze: Annotated[Duration, Meta(description="when the stable core stops to replace")] = (
        Duration(2.0)
    )

    def check(self, setting: Setting) -> None:
        if self.per_subscriber + (self.churn > 0) > self.patterns:
            spare = " and one to replace them with" if self.churn else ""
            raise WorkloadError(
                "per_subscriber",
                f"a broker cannot hold {self.per_subscriber} different patterns{spare}"
                f" out of {self.patterns}",
            )
        ends = self._stop(setting)
        for key in ("start", "publish_start", "stop"):
            time = getattr(self, key)
            if time is not None and time > setting.duration:
                raise WorkloadError(key, f"the run ends at {Duration(setting.duration)}")
        if ends < self.publish_start and self.rate:
            raise WorkloadError(
                "publish_start", f"publishing ends at {Duration(ends)}, before it begins"
            )

    def earliest(self) -> float:
        return min(self.start, self.publish_start)

    def operations(self, setting: Setting) -> Iterable[Operation]:
        core = self._core(setting)
        alphabet = _alphabet(self.patterns)
        sources = [
            self._subscriptions(setting, broker, alphabet, broker in core)
            for broker in self._subscribers(setting, core)
        ]
        if self.rate:
            sources += [
                self._publications(setting, broker, alphabet)
                for broker in self._publishers(setting)
            ]
        return heapq.merge(*sources, key=attrgetter("time"))

    def estimate(self, setting: Setting) -> Estimate:
        widest = _alphabet(self.patterns)[-1]
        publishing = max(0.0, self._stop(setting) - self.publish_start)
        published = poisson_count(_part(self.publishers, setting.brokers) * self.rate * publishing)
        subscribing = _part(self.subscribers, setting.brokers) + 1  # rounded inside and outside
        replaced = poisson_count(subscribing * self.churn * self._stop(setting))
        subscribed = subscribing * self.per_subscriber + 2 * replaced
        event = event_size({"body": widest * self.characters})
        subscription = subscription_size(_filter(widest))
        return Estimate(
            Volume(published, published * event),
            Volume(subscribed, subscribed * subscription),
            Volume(self.patterns, self.patterns * subscription),
            max(event, subscription),
        )

    def _stop(self, setting: Setting) -> float:
        return max(0.0, setting.duration - _SETTLING) if self.stop is None else self.stop

    def _core(self, setting: Setting) -> frozenset[int]:
        stream = setting.streams.stream("workload", "core")
        return frozenset(stream.sample(range(setting.brokers), _part(self.core, setting.brokers)))

    def _subscribers(self, setting: Setting, core: frozenset[int]) -> list[int]:
        """The same share inside and outside the core, ascending."""
        stream = setting.streams.stream("workload", "subscribers")
        outside = [broker for broker in range(setting.brokers) if broker not in core]
        chosen = [
            broker
            for group in (sorted(core), outside)
            for broker in stream.sample(group, _part(self.subscribers, len(group)))
        ]
        return sorted(chosen)

    def _publishers(self, setting: Setting) -> list[int]:
        stream = setting.streams.stream("workload", "publishers")
        count = _part(self.publishers, setting.brokers)
        return sorted(stream.sample(range(setting.brokers), count))

    def _subscriptions(
        self, setting: Setting, broker: int, alphabet: str, core: bool
    ) -> Iterator[Operation]:
        stream = setting.streams.stream("workload", "subscriptions", broker)
        held = stream.sample(alphabet, self.per_subscriber)
        times = sorted(self.start + stream.random() * self.ramp for _ in held)
        for time, character in zip(times, held, strict=True):
            yield Operation(_ns(time), broker, "subscribe", filter=_filter(character))
        if self.churn:
            end = min(self.freeze, self._stop(setting)) if core else self._stop(setting)
            yield from self._churn(setting, broker, alphabet, held, end)

    def _churn(
        self, setting: Setting, broker: int, alphabet: str, held: list[str], end: float
    ) -> Iterator[Operation]:
        stream = setting.streams.stream("workload", "churn", broker)
        begin = self.start + self.ramp
        for time in poisson(stream, self.churn, begin, end):
            place = stream.randrange(len(held))
            fresh = stream.choice([character for character in alphabet if character not in held])
            yield Operation(_ns(time), broker, "unsubscribe", filter=_filter(held[place]))
            yield Operation(_ns(time), broker, "subscribe", filter=_filter(fresh))
            held[place] = fresh

    def _publications(self, setting: Setting, broker: int, alphabet: str) -> Iterator[Operation]:
        times = setting.streams.stream("workload", "publication times", broker)
        contents = setting.streams.stream("workload", "publication contents", broker)
        arrivals = poisson if self.gaps == "exponential" else _periodic
        for time in arrivals(times, self.rate, self.publish_start, self._stop(setting)):
            body = "".join(contents.choices(alphabet, k=self.characters))
            yield Operation(_ns(time), broker, "publish", attributes={"body": body})


def _periodic(stream: random.Random, rate: float, begin: float, end: float) -> Iterator[float]:
    phase = stream.random()
    for tick in itertools.count():
        time = begin + (tick + phase) / rate
        if time >= end:
            return
        yield time


def _alphabet(size: int) -> str:
    """The first printable characters of Unicode; ASCII has 95, the paper says 96."""
    printable = filter(str.isprintable, map(chr, itertools.count(0x20)))
    return "".join(itertools.islice(printable, size))


def _filter(character: str) -> Filter:
    return Predicate("body", Operator.CONTAINS, character)


def _part(share: float, whole: int) -> int:
    return round(share * whole)


def _ns(seconds: float) -> int:
    return round(seconds * NANOSECONDS)
