"""A discrete-event network in plain Python, for tests, for teaching and for a quick look.

It knows frames, links and time; it must not know agents, clients, or what a frame says beyond the
type code in its header. Bandwidth is infinite and packets are not modelled: a link has a delay and
keeps order, and its loss rate touches datagrams only, since what TCP carries arrives in the end.
"""

import hashlib
import heapq
import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pysim.network.agent_books import AgentBooks, PlainBooks
from pysim.network.frame_log import FrameLog
from pysim.network.outlet import Originate, Send, plain_outlet
from pysim.network.streams import Streams
from pysim.network.transport import (
    NANOSECONDS,
    BrokerId,
    Counter,
    DirectProtocol,
    LinkSettings,
    QueueReport,
    Upcalls,
    type_code,
)

Latency = Callable[[BrokerId, BrokerId], float | None]
"""The delay in seconds of the way from one broker to another, None where there is none."""

_Channel = Literal["link", "tcp", "udp"]
_Task = Callable[[], None]
_Way = tuple[int, float]

_EVENTS_PER_PROGRESS = 4096
_TIMINGS = 1 << 16
_pack_timing = struct.Struct(">QIII").pack


@dataclass(slots=True)
class _Tally:
    """The running values of one `Counter`; `flying` is its `unfinished` at this moment."""

    sent: int = 0
    sent_bytes: int = 0
    received: int = 0
    received_bytes: int = 0
    lost_link: int = 0
    lost_packet: int = 0
    flying: int = 0
    unserved: int = 0
    unserved_bytes: int = 0


@dataclass(slots=True, eq=False)
class _Link:
    """One incarnation of an overlay link; `up` are the ends that have heard of it."""

    ends: tuple[BrokerId, BrokerId]
    delay: int
    loss: float
    up: set[BrokerId] = field(default_factory=set)

    def other(self, end: BrokerId) -> BrokerId:
        return self.ends[1] if end == self.ends[0] else self.ends[0]


class _Lane:
    """One direction between two brokers: of a link, or off the overlay, where `link` is None."""

    __slots__ = ("channel", "link", "source", "tallies", "target")

    def __init__(
        self, source: "_Station", target: "_Station", channel: _Channel, link: _Link | None = None
    ) -> None:
        self.source = source
        self.target = target
        self.channel = channel
        self.link = link
        self.tallies: dict[int, _Tally] = {}
        """By type code."""


class _Frame:
    """A frame from when it is handed in until it is handed over, or lost."""

    __slots__ = ("data", "is_lost", "lane", "number", "tally")

    def __init__(self, lane: _Lane, data: bytes, tally: _Tally) -> None:
        self.lane = lane
        self.data = data
        self.tally = tally
        self.is_lost = False
        self.number: int | None = None
        """Its number in the log, if it has left and there is one."""


@dataclass(slots=True, eq=False)
class _Station:
    """A broker's place in the network: its links, its input queue, and its one server.

    While the server is busy, all that the broker sends is held: a timer's message must not
    overtake those of the service that it fell into.
    """

    broker: BrokerId
    host: Upcalls
    service: bool
    alive: bool = True
    life: int = 0
    links: dict[BrokerId, _Link] = field(default_factory=dict)
    connections: dict[BrokerId, int] = field(default_factory=dict)
    """Off-overlay TCP connections to other brokers: when the last frame on each arrives."""
    queue: deque[tuple[int, _Frame | _Task]] = field(default_factory=deque)
    held: list[_Frame] = field(default_factory=list)
    busy_since: int | None = None
    busy: int = 0
    served: int = 0
    waiting: int = 0
    longest: int = 0


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
        self._now = 0
        self._sequence = 0
        self._agenda: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._timers: dict[int, _Task] = {}
        self._stations: dict[BrokerId, _Station] = {}
        self._lanes: dict[tuple[BrokerId, BrokerId, _Channel], _Lane] = {}
        """That of a link is here from when its source hears of the link until the link goes."""
        self._tallies: dict[tuple[BrokerId, BrokerId, _Channel, int], _Tally] = {}
        self._ways: dict[BrokerId, dict[BrokerId, _Way | None]] = {}
        """Ways from a broker, as delay and chance of survival; void on any change of a link."""
        self._latency = latency
        self._loss = loss
        self._log = log
        self._datagrams = Streams(seed).stream("network", "datagrams")
        self._timing = hashlib.blake2b(digest_size=16)
        self._timings = bytearray()
        """What is not in the digest yet: many at a time take a fraction of what each one does."""
        self._malformed_frames = 0

    @property
    def now(self) -> int:
        return self._now

    @property
    def malformed_frames(self) -> int:
        """How many frames the hosts refused."""
        return self._malformed_frames

    # Brokers and links

    def attach(self, broker: BrokerId, host: Upcalls, service: bool) -> None:
        if broker in self._stations:
            raise ValueError(f"broker {broker} is attached already")
        self._stations[broker] = _Station(broker, host, service)

    def connect(self, a: BrokerId, b: BrokerId, settings: LinkSettings | None = None) -> None:
        settings = settings or LinkSettings()
        ends = (min(a, b), max(a, b))
        self._check_connectable(ends, settings)
        link = _Link(ends, round(settings.delay * NANOSECONDS), settings.loss)
        for end in ends:
            self._stations[end].links[link.other(end)] = link
        self._ways.clear()
        self._push(2 * link.delay, self._raise_link, (link, ends[0]))
        self._push(3 * link.delay, self._raise_link, (link, ends[1]))

    def disconnect(self, a: BrokerId, b: BrokerId) -> None:
        link = self._remove_link(self._link(a, b))
        for end in link.ends:
            self._announce_down(link, end)

    def set_loss(self, a: BrokerId, b: BrokerId, loss: float) -> None:
        _check_loss(loss)
        self._link(a, b).loss = loss
        self._ways.clear()

    def crash(self, broker: BrokerId) -> None:
        station = self._station(broker)
        if not station.alive:
            raise ValueError(f"broker {broker} is down already")
        self._silence(station)
        links = [self._remove_link(link) for _, link in sorted(station.links.items())]
        for link in links:
            self._announce_down(link, link.other(broker))

    def restart(self, broker: BrokerId) -> None:
        station = self._station(broker)
        if station.alive:
            raise ValueError(f"broker {broker} is not down")
        station.alive = True

    def malformed(self, broker: BrokerId, sender: BrokerId) -> None:
        self._malformed_frames += 1
        if sender in self._station(broker).links:
            self.disconnect(broker, sender)

    # Sending

    def books(self, broker: BrokerId) -> PlainBooks:
        return PlainBooks()

    def outlet(self, broker: BrokerId, originate: Originate, books: AgentBooks) -> Send:
        return plain_outlet(self.send, broker, originate, books)

    def send(self, source: BrokerId, target: BrokerId, frame: bytes) -> None:
        lane = self._lanes.get((source, target, "link"))
        if lane is None:
            self._station(source)
            raise ValueError(f"broker {source} has no link to broker {target}")
        self._accept(lane, frame)

    def send_direct(
        self, source: BrokerId, target: BrokerId, frame: bytes, protocol: DirectProtocol
    ) -> None:
        if source == target:
            raise ValueError(f"broker {source} cannot send a direct message to itself")
        lane = self._lanes.get((source, target, protocol))
        if lane is None:
            lane = _Lane(self._station(source), self._station(target), protocol)
            self._lanes[source, target, protocol] = lane
        self._accept(lane, frame)

    def submit(self, broker: BrokerId, task: Callable[[], None]) -> None:
        station = self._station(broker)
        if not station.alive:
            raise ValueError(f"broker {broker} is down and takes no work")
        if not station.service:
            station.host.work(task)
        elif station.busy_since is None:
            self._serve(station, task)
        else:
            self._enqueue(station, task)

    # Time

    def schedule(self, delay: int, callback: Callable[[], None]) -> int:
        if delay < 0:
            raise ValueError(f"delay(={delay}) should be >= 0 ns")
        ticket = self._sequence + 1
        self._timers[ticket] = callback
        self._push(delay, self._fire, ticket)
        return ticket

    def cancel(self, ticket: int) -> None:
        self._timers.pop(ticket, None)

    def run(self, until: int, progress: Callable[[int], None] | None = None) -> None:
        if until < self._now:
            raise ValueError(f"until(={until}) should be >= the current time of {self._now} ns")
        agenda = self._agenda
        countdown = _EVENTS_PER_PROGRESS
        while agenda and agenda[0][0] <= until:
            self._now, _, action, subject = heapq.heappop(agenda)
            action(subject)
            countdown -= 1
            if countdown == 0:
                countdown = _EVENTS_PER_PROGRESS
                if progress is not None:
                    progress(self._now)
        self._now = until
        if progress is not None:
            progress(until)

    # Results

    def counters(self) -> Sequence[Counter]:
        return [
            Counter(
                *key,
                sent=tally.sent,
                sent_bytes=tally.sent_bytes,
                received=tally.received,
                received_bytes=tally.received_bytes,
                lost_link=tally.lost_link,
                lost_packet=tally.lost_packet,
                unfinished=tally.flying,
                unserved=tally.unserved,
                unserved_bytes=tally.unserved_bytes,
            )
            for key, tally in sorted(self._tallies.items(), key=lambda item: item[0])
        ]

    def queues(self) -> Sequence[QueueReport]:
        return [
            QueueReport(
                broker=station.broker,
                served=station.served,
                busy=station.busy + self._current_service(station),
                waiting=station.waiting,
                longest=station.longest,
                length=len(station.queue),
            )
            for _, station in sorted(self._stations.items())
            if station.service
        ]

    def timing_fingerprint(self) -> str:
        self._digest_timings()
        return self._timing.hexdigest()

    def close(self) -> None:
        self._agenda.clear()
        self._timers.clear()
        self._stations.clear()
        self._lanes.clear()

    # The agenda

    def _push(self, delay: int, action: Callable[[Any], None], subject: Any) -> None:
        """Enter an action; its sequence number orders it among those of the same time."""
        self._sequence += 1
        heapq.heappush(self._agenda, (self._now + delay, self._sequence, action, subject))

    def _fire(self, ticket: int) -> None:
        callback = self._timers.pop(ticket, None)
        if callback is not None:
            callback()

    # Links

    def _station(self, broker: BrokerId) -> _Station:
        station = self._stations.get(broker)
        if station is None:
            raise ValueError(f"there is no broker {broker}")
        return station

    def _link(self, a: BrokerId, b: BrokerId) -> _Link:
        link = self._station(a).links.get(b)
        if link is None:
            raise ValueError(f"there is no link between brokers {a} and {b}")
        return link

    def _check_connectable(self, ends: tuple[BrokerId, BrokerId], settings: LinkSettings) -> None:
        a, b = ends
        if a == b:
            raise ValueError(f"broker {a} cannot be linked to itself")
        for end in ends:
            if not self._station(end).alive:
                raise ValueError(f"brokers {a} and {b} cannot be linked: broker {end} is down")
        if b in self._stations[a].links:
            raise ValueError(f"brokers {a} and {b} are linked already")
        if settings.delay < 0:
            raise ValueError(f"delay(={settings.delay}) should be >= 0 seconds")
        _check_loss(settings.loss)

    def _raise_link(self, subject: tuple[_Link, BrokerId]) -> None:
        link, end = subject
        station = self._stations[end]
        neighbor = link.other(end)
        if station.links.get(neighbor) is link:
            link.up.add(end)
            self._lanes[end, neighbor, "link"] = _Lane(
                station, self._stations[neighbor], "link", link
            )
            station.host.link_up(neighbor)

    def _remove_link(self, link: _Link) -> _Link:
        """Take a link off both ends, with all that was in flight or not yet served from it."""
        self._lose_where(lambda lane: lane.link is link)
        for end in link.ends:
            station = self._stations[end]
            del station.links[link.other(end)]
            self._lanes.pop((end, link.other(end), "link"), None)
            if station.queue:
                station.queue = deque(
                    (time, item)
                    for time, item in station.queue
                    if not (isinstance(item, _Frame) and item.lane.link is link)
                )
        self._ways.clear()
        return link

    def _announce_down(self, link: _Link, end: BrokerId) -> None:
        if end in link.up:
            self._stations[end].host.link_down(link.other(end))

    def _silence(self, station: _Station) -> None:
        """End a broker's life: its queue, what it held back and what was sent to it are lost."""
        station.busy += self._current_service(station)
        station.busy_since = None
        station.alive = False
        station.life += 1
        station.queue.clear()
        for frame in station.held:
            self._lose(frame)
        station.held.clear()
        self._lose_where(lambda lane: lane.link is None and lane.target is station)
        station.connections.clear()
        for other in self._stations.values():
            other.connections.pop(station.broker, None)

    # The way of a frame

    def _accept(self, lane: _Lane, data: bytes) -> None:
        code = type_code(data)
        tally = lane.tallies.get(code)
        if tally is None:
            tally = lane.tallies[code] = self._tally(lane, code)
        tally.sent += 1
        tally.sent_bytes += len(data)
        tally.flying += 1
        frame = _Frame(lane, data, tally)
        station = lane.source
        if station.busy_since is None:
            self._depart(frame)
        else:
            station.held.append(frame)

    def _tally(self, lane: _Lane, code: int) -> _Tally:
        """What all lanes between two brokers have counted, those of links that are gone too."""
        key = (lane.source.broker, lane.target.broker, lane.channel, code)
        return self._tallies.setdefault(key, _Tally())

    def _depart(self, frame: _Frame) -> None:
        lane = frame.lane
        if self._log is not None:
            source, target = lane.source.broker, lane.target.broker
            frame.number = self._log.departed(
                source, target, lane.channel, self._now, frame.data
            )
        if lane.link is not None:
            self._push(lane.link.delay, self._arrive, frame)
        else:
            self._depart_directly(frame, lane)

    def _depart_directly(self, frame: _Frame, lane: _Lane) -> None:
        source, target = lane.source, lane.target
        way = self._way(source.broker, target.broker) if target.alive else None
        if way is None:
            self._lose(frame)
            return
        delay, survival = way
        if lane.channel == "tcp":
            arrival = self._connection_arrival(source, target.broker, delay)
            self._push(arrival - self._now, self._arrive, frame)
        elif survival < 1.0 and self._datagrams.random() >= survival:
            frame.tally.flying -= 1
            frame.tally.lost_packet += 1
            self._note_loss(frame)
        else:
            self._push(delay, self._arrive, frame)

    def _connection_arrival(self, source: _Station, target: BrokerId, delay: int) -> int:
        """When a frame arrives that goes now: after a handshake if it is the first, in order."""
        latest = source.connections.get(target)
        arrival = self._now + (3 * delay if latest is None else delay)
        if latest is not None:
            arrival = max(arrival, latest)
        source.connections[target] = arrival
        return arrival

    def _arrive(self, frame: _Frame) -> None:
        if frame.is_lost:
            return
        if self._log is not None and frame.number is not None:
            self._log.arrived(frame.number, self._now)
        tally = frame.tally
        tally.flying -= 1
        tally.received += 1
        tally.received_bytes += len(frame.data)
        station = frame.lane.target
        if not station.service:
            self._hand_over(frame)
        elif station.busy_since is None:
            self._serve(station, frame)
        else:
            tally.unserved += 1
            tally.unserved_bytes += len(frame.data)
            self._enqueue(station, frame)

    def _hand_over(self, frame: _Frame) -> int | None:
        lane, data = frame.lane, frame.data
        source, target = lane.source.broker, lane.target
        self._timings += _pack_timing(self._now, source, target.broker, len(data))
        if len(self._timings) >= _TIMINGS:
            self._digest_timings()
        return target.host.frame_arrived(source, data)

    def _digest_timings(self) -> None:
        self._timing.update(self._timings)
        self._timings.clear()

    def _lose(self, frame: _Frame) -> None:
        if not frame.is_lost:
            frame.is_lost = True
            frame.tally.flying -= 1
            frame.tally.lost_link += 1
            self._note_loss(frame)

    def _note_loss(self, frame: _Frame) -> None:
        if self._log is not None and frame.number is not None:
            self._log.lost(frame.number, self._now)

    def _lose_where(self, is_cut: Callable[[_Lane], bool]) -> None:
        """Lose what is under way, or held back for it. Links seldom go, frames always come."""
        for _, _, _, subject in self._agenda:
            if isinstance(subject, _Frame) and is_cut(subject.lane):
                self._lose(subject)
        for station in self._stations.values():
            for frame in station.held:
                if is_cut(frame.lane):
                    self._lose(frame)

    # Service

    def _enqueue(self, station: _Station, item: _Frame | _Task) -> None:
        station.queue.append((self._now, item))
        station.longest = max(station.longest, len(station.queue))

    def _serve_next(self, station: _Station) -> None:
        arrived, item = station.queue.popleft()
        station.waiting += self._now - arrived
        if isinstance(item, _Frame):
            item.tally.unserved -= 1
            item.tally.unserved_bytes -= len(item.data)
        self._serve(station, item)

    def _serve(self, station: _Station, item: _Frame | _Task) -> None:
        station.served += 1
        station.busy_since = self._now
        life = station.life
        if isinstance(item, _Frame):
            service = self._hand_over(item) or 0
        else:
            service = station.host.work(item) or 0
        if service < 0:
            raise ValueError(f"service(={service}) should be >= 0 ns at broker {station.broker}")
        self._push(service, self._end_service, (station, life))

    def _end_service(self, subject: tuple[_Station, int]) -> None:
        station, life = subject
        if station.life != life:
            return
        station.busy += self._current_service(station)
        station.busy_since = None
        held, station.held = station.held, []
        for frame in held:
            if not frame.is_lost:
                self._depart(frame)
        if station.queue:
            self._serve_next(station)

    def _current_service(self, station: _Station) -> int:
        return 0 if station.busy_since is None else self._now - station.busy_since

    # Ways off the overlay

    def _way(self, source: BrokerId, target: BrokerId) -> _Way | None:
        """Delay and chance of survival from one broker to another; None if there is no way."""
        ways = self._ways.get(source)
        if ways is None:
            ways = {} if self._latency is not None else self._shortest_ways(source)
            self._ways[source] = ways
        if self._latency is not None and target not in ways:
            seconds = self._latency(source, target)
            known = seconds is not None
            ways[target] = (round(seconds * NANOSECONDS), 1.0 - self._loss) if known else None
        return ways.get(target)

    def _shortest_ways(self, source: BrokerId) -> dict[BrokerId, _Way | None]:
        """Dijkstra by delay; among equals the way through the lower id was found first."""
        ways: dict[BrokerId, _Way | None] = {}
        frontier = [(0, source, 1.0)]
        best = {source: 0}
        while frontier:
            delay, broker, survival = heapq.heappop(frontier)
            if broker in ways:
                continue
            ways[broker] = (delay, survival)
            for neighbor, link in sorted(self._stations[broker].links.items()):
                longer = delay + link.delay
                if neighbor not in best or longer < best[neighbor]:
                    best[neighbor] = longer
                    heapq.heappush(frontier, (longer, neighbor, survival * (1.0 - link.loss)))
        return ways


def _check_loss(loss: float) -> None:
    if not 0.0 <= loss <= 1.0:
        raise ValueError(f"loss(={loss}) should be between 0 and 1")
