"""Batching: unpopular publications wait for each other, and take the tree together.

PopSub, Sec. 4.4, Algorithms 2 and 3. What this module settles:

- Publications wait at the publisher's broker only, apart for each link and advertisement. A buffer
  goes when it has more than ceil(g_min / G) publications (g_min the least gain of a popular entry
  of the broker, G the average gain of what waits, as it was when it came), when it is as large as
  the batch-factor table's largest size, or when its first publication has waited for the timeout.
  With no popular entry there is no g_min, and only the other two count.
- When an entry becomes popular, its buffer goes first: as printed, later publications would
  overtake those that wait. So the order of each advertisement's publications is kept, whatever
  becomes popular when.
- Every publication of a batch is matched, here and at each broker that it comes to; one goes on in
  the batch for each link that wants it. A batch that goes on whole keeps its bytes, and one that
  is left with a single publication is still a batch.
- A buffer whose link is lost is lost with it.
- Counters: ``batch-forwards`` and ``batched-publications``, the batches sent over links and what
  was in them. A batch enters the gain ratio as one forward with the gains of all its publications.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar, cast

from pysim.brokers.popsub.gains import GainEntry
from pysim.brokers.popsub.popularity import (
    CAPACITY,
    EVALUATION,
    PHI,
    Capacity,
    Evaluation,
    Phi,
    PopSub,
)
from pysim.brokers.popsub.routing import Publication
from pysim.brokers.popsub.work import LARGEST_BATCH
from pysim.network.transport import BrokerId
from pysim.network.world import LinkNotice, Timer, World
from pysim.units import Duration
from pysim.wire import MAX_FRAME_SIZE, Envelope, MessageId
from pysim.wire.messages import Batch

Timeout = Annotated[Duration, "longest time that an unpopular publication waits (T)"]
TIMEOUT = Duration(3.0)

_ROOM = MAX_FRAME_SIZE - 64
_OVERHEAD = 5
"""Bytes that a frame takes in a batch beyond its own, at most."""


class _Buffer:
    """What waits for one link, of one advertisement."""

    __slots__ = ("events", "gain", "is_local", "size", "timer")

    def __init__(self, timer: Timer) -> None:
        self.events: list[Envelope] = []
        self.gain = 0.0
        self.size = 0
        self.is_local = False
        self.timer = timer

    def add(self, publication: Publication, gain: float) -> None:
        self.events.append(publication.event)
        self.gain += gain
        self.size += _size(publication.event)
        self.is_local |= publication.is_local


class Batching(PopSub):
    """PopSub that sends unpopular publications over the tree in batches."""

    name: ClassVar[str] = "popsub-batching"

    def __init__(
        self,
        world: World,
        *,
        capacity: Capacity = CAPACITY,
        phi: Phi = PHI,
        evaluation: Evaluation = EVALUATION,
        timeout: Timeout = TIMEOUT,
    ) -> None:
        super().__init__(world, capacity, phi, evaluation)
        self._timeout = timeout
        self._buffers: dict[tuple[BrokerId, MessageId], _Buffer] = {}
        self._least_gain = math.inf
        """g_min as of the last evaluation; infinite if there is none."""
        self.counters.update(dict.fromkeys(("batch-forwards", "batched-publications"), 0))

    # Algorithm 2

    def send_unpopular(self, publication: Publication, entries: Sequence[GainEntry]) -> None:
        for entry in entries:
            self._wait(entry, publication)

    def _wait(self, entry: GainEntry, publication: Publication) -> None:
        key = (entry.link, entry.advertisement)
        buffer = self._buffers.get(key)
        if buffer is not None and buffer.size + _size(publication.event) > _ROOM:
            self._flush(key)
            buffer = None
        if buffer is None:
            timer = self.world.schedule(self._timeout, lambda: self._send_batch(key))
            buffer = self._buffers[key] = _Buffer(timer)
        buffer.add(publication, entry.gain)
        if len(buffer.events) > self._enough(buffer) or len(buffer.events) == LARGEST_BATCH:
            self._flush(key)

    def _enough(self, buffer: _Buffer) -> float:
        """How many publications are worth a popular one."""
        if self._least_gain == math.inf:
            return math.inf
        return math.ceil(self._least_gain * len(buffer.events) / buffer.gain)

    def _flush(self, key: tuple[BrokerId, MessageId]) -> None:
        self._buffers[key].timer.cancel()
        self._send_batch(key)

    def _send_batch(self, key: tuple[BrokerId, MessageId]) -> None:
        buffer = self._buffers.pop(key)
        link, _ = key
        self._send(link, self.world.originate(_batch(buffer.events)), len(buffer.events))
        self.counters["gain"] += buffer.gain  # type: ignore[assignment]  # floats do as well
        self.counters["gain-forwards"] += 1
        if not buffer.is_local:
            self.count_pure_forward_at_publisher()

    def evaluated(self, entries: Iterable[GainEntry]) -> None:
        gains = (entry.gain for entry in entries if entry.popular and entry.count)
        self._least_gain = min(gains, default=math.inf)

    def flipped(self, entry: GainEntry) -> None:
        key = (entry.link, entry.advertisement)
        if entry.popular and key in self._buffers:
            self._flush(key)

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        for key in [key for key in self._buffers if key[0] == neighbor]:
            self._buffers.pop(key).timer.cancel()
        super().link_down(neighbor, notice)

    # Algorithm 3

    def on_batch(self, sender: BrokerId, envelope: Envelope) -> None:
        events = [Envelope.open(frame) for frame in cast(Batch, envelope.message).frames]
        onward: dict[BrokerId, list[Envelope]] = {}
        is_local = False
        for event in events:
            found = self.match(event)
            is_local |= self.deliver(found, event, "batch")
            links = self.next_hops(found, sender)
            if links:
                self.passed(event, found, links)
                for link in links:
                    onward.setdefault(link, []).append(event)
        self.counters["passing-gain-forwards"] += len(onward)
        for link, wanted in sorted(onward.items()):
            is_whole = len(wanted) == len(events)
            batch = envelope if is_whole else self.world.originate(_batch(wanted))
            self._send(link, batch, len(wanted))
        if onward and not is_local:
            self.counters["pure-forwards"] += 1

    def _send(self, link: BrokerId, batch: Envelope, size: int) -> None:
        self.world.send(link, batch)
        self._done.batch(size)
        self.counters["batch-forwards"] += 1
        self.counters["batched-publications"] += size


def _size(event: Envelope) -> int:
    return len(event.frame) + _OVERHEAD


def _batch(events: Sequence[Envelope]) -> Batch:
    return Batch(tuple(event.frame for event in events))
