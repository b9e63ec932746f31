"""A discrete-event network in plain Python, for tests, for teaching and for a quick look.

It knows frames, links and time; it must not know agents, clients, or what a frame says beyond the
type code in its header. Bandwidth is infinite and packets are not modelled: a link has a delay and
keeps order, and its loss rate touches datagrams only, since what TCP carries arrives in the end.

Links and ways are here; how frames travel and wait is in `plain_post`, and natively in
`ns3-app/memory`.
"""

import hashlib
import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pysim.network.agent_books import AgentBooks
from pysim.network.frame_log import FrameLog
from pysim.network.outlet import Originate, Send, plain_outlet
from pysim.network.plain_post import Way
from pysim.network.post import new_books, new_post
from pysim.network.streams import Streams
from pysim.network.transport import (
    NANOSECONDS,
    BrokerId,
    Counter,
    DirectProtocol,
    LinkSettings,
    QueueReport,
    Upcalls,
)

Latency = Callable[[BrokerId, BrokerId], float | None]
"""The delay in seconds of the way from one broker to another, None where there is none."""


@dataclass(slots=True, eq=False)
class _Link:
    """One incarnation of an overlay link; `up` are the ends that have heard of it."""

    ends: tuple[BrokerId, BrokerId]
    delay: int
    loss: float
    up: set[BrokerId] = field(default_factory=set)

    def other(self, end: BrokerId) -> BrokerId:
        return self.ends[1] if end == self.ends[0] else self.ends[0]


class MemoryTransport:
    """The `Transport` without packets.

    `latency` is given for an underlay: the delay between any two brokers off the overlay, and
    `loss` is then the loss rate of datagrams on that way. Without it, such messages take the
    shortest way over the live overlay links. With a `log`, every frame is noted there.
    """

    name = "memory"

    def __init__(
        self,
        seed: int = 0,
        latency: Latency | None = None,
        loss: float = 0.0,
        log: FrameLog | None = None,
    ) -> None:
        _check_loss(loss)
        self._links: dict[BrokerId, dict[BrokerId, _Link]] = {}
        self._hosts: dict[BrokerId, Upcalls] = {}
        self._ways: dict[BrokerId, dict[BrokerId, Way | None]] = {}
        """Ways from a broker; void on any change of a link."""
        self._latency = latency
        self._loss = loss
        self._timing = hashlib.blake2b(digest_size=16)
        self._malformed_frames = 0
        draw = Streams(seed).stream("network", "datagrams").random
        self._post = new_post(self._way, draw, self._timing.update, log)

    @property
    def now(self) -> int:
        return self._post.now

    @property
    def malformed_frames(self) -> int:
        """How many frames the hosts refused."""
        return self._malformed_frames

    # Brokers and links

    def attach(self, broker: BrokerId, host: Upcalls, service: bool) -> None:
        if broker in self._hosts:
            raise ValueError(f"broker {broker} is attached already")
        self._hosts[broker] = host
        self._links[broker] = {}
        self._post.attach(broker, host, service)

    def connect(self, a: BrokerId, b: BrokerId, settings: LinkSettings | None = None) -> None:
        settings = settings or LinkSettings()
        ends = (min(a, b), max(a, b))
        self._check_connectable(ends, settings)
        link = _Link(ends, round(settings.delay * NANOSECONDS), settings.loss)
        for end in ends:
            self._links[end][link.other(end)] = link
        self._ways.clear()
        self.schedule(2 * link.delay, lambda: self._raise_link(link, ends[0]))
        self.schedule(3 * link.delay, lambda: self._raise_link(link, ends[1]))

    def disconnect(self, a: BrokerId, b: BrokerId) -> None:
        link = self._remove_link(self._link(a, b))
        for end in link.ends:
            self._announce_down(link, end)

    def set_loss(self, a: BrokerId, b: BrokerId, loss: float) -> None:
        _check_loss(loss)
        self._link(a, b).loss = loss
        self._ways.clear()

    def crash(self, broker: BrokerId) -> None:
        if not self._post.is_alive(broker):
            raise ValueError(f"broker {broker} is down already")
        self._post.silence(broker)
        links = [self._remove_link(link) for _, link in sorted(self._links[broker].items())]
        for link in links:
            self._announce_down(link, link.other(broker))

    def restart(self, broker: BrokerId) -> None:
        if self._post.is_alive(broker):
            raise ValueError(f"broker {broker} is not down")
        self._post.revive(broker)

    def malformed(self, broker: BrokerId, sender: BrokerId) -> None:
        self._malformed_frames += 1
        if sender in self._links_of(broker):
            self.disconnect(broker, sender)

    # Sending

    def books(self, broker: BrokerId) -> AgentBooks:
        return new_books()

    def outlet(self, broker: BrokerId, originate: Originate, books: AgentBooks) -> Send:
        return plain_outlet(self.send, broker, originate, books)

    def send(self, source: BrokerId, target: BrokerId, frame: bytes) -> None:
        self._post.send(source, target, frame)

    def send_direct(
        self, source: BrokerId, target: BrokerId, frame: bytes, protocol: DirectProtocol
    ) -> None:
        self._post.send_direct(source, target, frame, protocol)

    def submit(self, broker: BrokerId, task: Callable[[], None]) -> None:
        self._post.submit(broker, task)

    # Time

    def schedule(self, delay: int, callback: Callable[[], None]) -> int:
        return self._post.schedule(delay, callback)

    def cancel(self, ticket: int) -> None:
        self._post.cancel(ticket)

    def run(self, until: int, progress: Callable[[int], None] | None = None) -> None:
        self._post.run(until, progress)

    # Results

    def counters(self) -> Sequence[Counter]:
        return [Counter(*row) for row in self._post.counters()]

    def queues(self) -> Sequence[QueueReport]:
        return [QueueReport(*row) for row in self._post.queues()]

    def timing_fingerprint(self) -> str:
        self._post.flush()
        return self._timing.hexdigest()

    def close(self) -> None:
        self._post.clear()

    # Links

    def _links_of(self, broker: BrokerId) -> dict[BrokerId, _Link]:
        if broker not in self._links:
            raise ValueError(f"there is no broker {broker}")
        return self._links[broker]

    def _link(self, a: BrokerId, b: BrokerId) -> _Link:
        link = self._links_of(a).get(b)
        if link is None:
            raise ValueError(f"there is no link between brokers {a} and {b}")
        return link

    def _check_connectable(self, ends: tuple[BrokerId, BrokerId], settings: LinkSettings) -> None:
        a, b = ends
        if a == b:
            raise ValueError(f"broker {a} cannot be linked to itself")
        for end in ends:
            if not self._post.is_alive(end):
                raise ValueError(f"brokers {a} and {b} cannot be linked: broker {end} is down")
        if b in self._links[a]:
            raise ValueError(f"brokers {a} and {b} are linked already")
        if settings.delay < 0:
            raise ValueError(f"delay(={settings.delay}) should be >= 0 seconds")
        _check_loss(settings.loss)

    def _raise_link(self, link: _Link, end: BrokerId) -> None:
        neighbor = link.other(end)
        if self._links[end].get(neighbor) is link:
            link.up.add(end)
            self._post.open(end, neighbor, link.delay)
            self._hosts[end].link_up(neighbor)

    def _remove_link(self, link: _Link) -> _Link:
        for end in link.ends:
            del self._links[end][link.other(end)]
        self._post.cut(*link.ends)
        self._ways.clear()
        return link

    def _announce_down(self, link: _Link, end: BrokerId) -> None:
        if end in link.up:
            self._hosts[end].link_down(link.other(end))

    # Ways off the overlay

    def _way(self, source: BrokerId, target: BrokerId) -> Way | None:
        """Delay and chance of survival from one broker to another; None if there is no way."""
        ways = self._ways.get(source)
        if ways is None:
            ways = {} if self._latency is not None else self._shortest_ways(source)
            self._ways[source] = ways
        if self._latency is not None and target not in ways:
            seconds = self._latency(source, target)
            ways[target] = (
                None if seconds is None else (round(seconds * NANOSECONDS), 1.0 - self._loss)
            )
        return ways.get(target)

    def _shortest_ways(self, source: BrokerId) -> dict[BrokerId, Way | None]:
        """Dijkstra by delay; among equals the way through the lower id was found first."""
        ways: dict[BrokerId, Way | None] = {}
        frontier = [(0, source, 1.0)]
        best = {source: 0}
        while frontier:
            delay, broker, survival = heapq.heappop(frontier)
            if broker in ways:
                continue
            ways[broker] = (delay, survival)
            for neighbor, link in sorted(self._links[broker].items()):
                longer = delay + link.delay
                if neighbor not in best or longer < best[neighbor]:
                    best[neighbor] = longer
                    heapq.heappush(frontier, (longer, neighbor, survival * (1.0 - link.loss)))
        return ways


def _check_loss(loss: float) -> None:
    if not 0.0 <= loss <= 1.0:
        raise ValueError(f"loss(={loss}) should be between 0 and 1")
