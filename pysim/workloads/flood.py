"""Events of one exact size at a constant rate, for benchmarks and closed forms."""

import heapq
import itertools
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Annotated, NamedTuple

from msgspec import Meta

from pysim.filters import Operator, Predicate
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Size
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

_WANTED = Predicate("flood", Operator.EXISTS)


class _Content(NamedTuple):
    attributes: dict[str, int | float | str]
    payload: bytes


@kind("flood")
class Flood(Workload, frozen=True, kw_only=True):
    """Events of one exact frame size at a constant rate, wanted by every subscriber.

    The first `publishers` brokers publish in turn, at equal distances; the last `subscribers`
    brokers subscribe, all at `start`.
    """

    publishers: Annotated[int, Meta(ge=1, description="brokers that publish: the first ones")] = 1
    subscribers: Annotated[
        int | None, Meta(description="brokers that subscribe: the last ones; all if not given")
    ] = None
    rate: Annotated[Frequency, Meta(description="events that each publisher publishes")] = (
        Frequency(10.0)
    )
    size: Annotated[Size, Meta(description="bytes of an event's whole frame")] = Size(200)
    start: Annotated[Duration, Meta(description="when the subscriptions are made")] = Duration(0.5)
    publish_start: Annotated[Duration, Meta(description="when publishing begins")] = Duration(1.0)
    stop: Annotated[
        Duration | None, Meta(description="when publishing ends; the run's end if not given")
    ] = None

    def check(self, setting: Setting) -> None:
        for key in ("publishers", "subscribers"):
            count = getattr(self, key)
            if count is not None and not 0 <= count <= setting.brokers:
                raise WorkloadError(key, f"the overlay has {setting.brokers} brokers")
        for key in ("start", "publish_start", "stop"):
            time = getattr(self, key)
            if time is not None and time > setting.duration:
                raise WorkloadError(key, f"the run ends at {Duration(setting.duration)}")
        smallest = event_size({"flood": 1})
        if self.size < smallest:
            raise WorkloadError("size", f"the smallest event of this workload has {smallest} B")

    def earliest(self) -> float:
        return min(self.start, self.publish_start)

    def operations(self, setting: Setting) -> Iterable[Operation]:
        content = _content(int(self.size))
        return heapq.merge(
            self._subscriptions(setting),
            *(self._publications(setting, broker, content) for broker in range(self.publishers)),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        publishing = max(0.0, self._stop(setting) - self.publish_start)
        published = self.publishers * (int(publishing * self.rate) + 1)
        subscribed = len(self._subscribers(setting))
        subscription = subscription_size(_WANTED)
        return Estimate(
            Volume(published, published * int(self.size)),
            Volume(subscribed, subscribed * subscription),
            Volume(1, subscription),
            max(int(self.size), subscription),
        )

    def _stop(self, setting: Setting) -> float:
        return setting.duration if self.stop is None else self.stop

    def _subscribers(self, setting: Setting) -> range:
        count = setting.brokers if self.subscribers is None else self.subscribers
        return range(setting.brokers - count, setting.brokers)

    def _subscriptions(self, setting: Setting) -> Iterator[Operation]:
        for broker in self._subscribers(setting):
            yield Operation(round(self.start * NANOSECONDS), broker, "subscribe", filter=_WANTED)

    def _publications(
        self, setting: Setting, broker: int, content: _Content
    ) -> Iterator[Operation]:
        if not self.rate:
            return
        end = self._stop(setting)
        for tick in itertools.count():
            time = self.publish_start + (tick + broker / self.publishers) / self.rate
            if time >= end:
                return
            yield Operation(
                round(time * NANOSECONDS),
                broker,
                "publish",
                attributes=content.attributes,
                payload=content.payload,
            )


def _content(size: int) -> _Content:
    """What makes an event's frame exactly `size` bytes long.

    MessagePack writes a payload's length in one, two or four bytes, so that some sizes are out of
    reach of the payload alone; an attribute that takes a byte more fills the gap.
    """
    for value, length_bytes in itertools.product((1, 255), (1, 2, 4)):
        empty = event_size({"flood": value}) - 1
        payload = bytes(max(0, size - empty - length_bytes))
        if event_size({"flood": value}, payload) == size:
            return _Content({"flood": value}, payload)
    raise AssertionError(f"no event has a frame of {size} bytes")
