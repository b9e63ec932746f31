"""Frames on their way between brokers, and brokers that take them up one after the other.

It must not know links beyond their delays, nor agents, clients, or what a frame says beyond the
type code in its header. This is the hot part of the memory network in plain Python: for trees
without a compiler, for runs that log their frames, and to hold the native one against
(`ns3-app/memory/`), which does the same in the same order.
"""

import heapq
import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pysim.network.frame_log import FrameLog
from pysim.network.transport import BrokerId, Counter, QueueReport, Upcalls, type_code

Channel = Literal["link", "tcp", "udp"]
Way = tuple[int, float]
"""From one broker to another off the overlay: its delay (ns) and the chance of survival."""
FindWay = Callable[[BrokerId, BrokerId], Way | None]

_Task = Callable[[], None]

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


class _Lane:
    """One direction between two brokers: of a link, which has a delay, or off the overlay."""

    __slots__ = ("channel", "delay", "source", "tallies", "target")

    def __init__(
        self, source: "_Station", target: "_Station", channel: Channel, delay: int = 0
    ) -> None:
        self.source = source
        self.target = target
        self.channel = channel
        self.delay = delay
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
    """A broker's place in the network: its input queue, and its one server.

    While the server is busy, all that the broker sends is held: a timer's message must not
    overtake those of the service that it fell into.
    """

    broker: BrokerId
    host: Upcalls
    service: bool
    alive: bool = True
    life: int = 0
    connections: dict[BrokerId, int] = field(default_factory=dict)
    """Off-overlay TCP connections to other brokers: when the last frame on each arrives."""
    queue: deque[tuple[int, _Frame | _Task]] = field(default_factory=deque)
    held: list[_Frame] = field(default_factory=list)
    busy_since: int | None = None
    busy: int = 0
    served: int = 0
    waiting: int = 0
    longest: int = 0
    delayed: int = 0
    joined: int = 0


class PlainPost:
    """Time, frames and input queues.

    `way` finds ways off the overlay, `draw` says which datagrams are lost on them, and `digest` is
    given when frames of which length were handed over, many at a time. With a `log`, every frame
    is noted there.
    """

    def __init__(
        self,
        way: FindWay,
        draw: Callable[[], float],
        digest: Callable[[bytes], object],
        log: FrameLog | None = None,
    ) -> None:
        self.now = 0
        """Simulated time in nanoseconds."""
        self._sequence = 0
        self._agenda: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._timers: dict[int, _Task] = {}
        self._stations: dict[BrokerId, _Station] = {}
        self._lanes: dict[tuple[BrokerId, BrokerId, Channel], _Lane] = {}
        """That of a link is here from when its source hears of the link until the link goes."""
        self._tallies: dict[tuple[BrokerId, BrokerId, Channel, int], _Tally] = {}
        self._way = way
        self._draw = draw
        self._digest = digest
        self._timings = bytearray()
        self._log = log

    # Brokers and links

    def attach(self, broker: BrokerId, host: Upcalls, service: bool) -> None:
        """Give a broker its host; with `service` its input passes a queue."""
        self._stations[broker] = _Station(broker, host, service)

    def is_alive(self, broker: BrokerId) -> bool:
        """Whether a broker has not been silenced, or was revived since."""
        return self._station(broker).alive

    def open(self, source: BrokerId, target: BrokerId, delay: int) -> None:
        """Let frames go from one end of a link to the other from now on."""
        stations = self._stations[source], self._stations[target]
        self._lanes[source, target, "link"] = _Lane(*stations, "link", delay)

    def cut(self, a: BrokerId, b: BrokerId) -> None:
        """End a link, with all that is in flight, held back for it, or not yet served from it."""
        gone = [
            lane
            for ends in ((a, b), (b, a))
            if (lane := self._lanes.pop((*ends, "link"), None)) is not None
        ]
        self._lose_where(lambda lane: lane in gone)
        for end in (a, b):
            station = self._stations[end]
            if station.queue:
                station.queue = deque(
                    (time, item)
                    for time, item in station.queue
                    if not (isinstance(item, _Frame) and item.lane in gone)
                )

    def silence(self, broker: BrokerId) -> None:
        """End a broker's life: its queue, what it held back and what was sent to it are lost."""
        station = self._station(broker)
        station.busy += self._current_service(station)
        station.busy_since = None
        station.alive = False
        station.life += 1
        station.queue.clear()
        for frame in station.held:
            self._lose(frame)
        station.held.clear()
        self._lose_where(lambda lane: lane.channel != "link" and lane.target is station)
        station.connections.clear()
        for other in self._stations.values():
            other.connections.pop(broker, None)

    def revive(self, broker: BrokerId) -> None:
        """Let a broker live again."""
        self._station(broker).alive = True

    # Sending

    def send(self, source: BrokerId, target: BrokerId, frame: bytes) -> None:
        """Send a frame over a link."""
        lane = self._lanes.get((source, target, "link"))
        if lane is None:
            self._station(source)
            raise ValueError(f"broker {source} has no link to broker {target}")
        self._accept(lane, frame)

    def send_direct(
        self, source: BrokerId, target: BrokerId, frame: bytes, protocol: Literal["tcp", "udp"]
    ) -> None:
        """Send a frame off the overlay."""
        if source == target:
            raise ValueError(f"broker {source} cannot send a direct message to itself")
        lane = self._lanes.get((source, target, protocol))
        if lane is None:
            lane = _Lane(self._station(source), self._station(target), protocol)
            self._lanes[source, target, protocol] = lane
        self._accept(lane, frame)

    def submit(self, broker: BrokerId, task: _Task) -> None:
        """Put local work into a broker's input queue (done at once without a service model)."""
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
        """Call back after `delay` ns; a ticket for `cancel`."""
        if delay < 0:
            raise ValueError(f"delay(={delay}) should be >= 0 ns")
        ticket = self._sequence + 1
        self._timers[ticket] = callback
        self._push(delay, self._fire, ticket)
        return ticket

    def cancel(self, ticket: int) -> None:
        """Forget a scheduled call."""
        self._timers.pop(ticket, None)

    def run(self, until: int, progress: Callable[[int], None] | None = None) -> None:
        """Let time pass until then."""
        if until < self.now:
            raise ValueError(f"until(={until}) should be >= the current time of {self.now} ns")
        agenda = self._agenda
        countdown = _EVENTS_PER_PROGRESS
        while agenda and agenda[0][0] <= until:
            self.now, _, action, subject = heapq.heappop(agenda)
            action(subject)
            countdown -= 1
            if countdown == 0:
                countdown = _EVENTS_PER_PROGRESS
                if progress is not None:
                    progress(self.now)
        self.now = until
        if progress is not None:
            progress(until)

    # Results

    def counters(self) -> Sequence[Counter]:
        """As of `Transport`."""
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
        """As of `Transport`."""
        return [
            QueueReport(
                broker=station.broker,
                served=station.served,
                busy=station.busy + self._current_service(station),
                waiting=station.waiting,
                longest=station.longest,
                length=len(station.queue),
                delayed=station.delayed,
                joined=station.joined,
            )
            for _, station in sorted(self._stations.items())
            if station.service
        ]

    def flush(self) -> None:
        """Let the digest have all that was handed over."""
        self._digest(bytes(self._timings))
        self._timings.clear()

    def clear(self) -> None:
        """Forget all that is to come, and everybody."""
        self._agenda.clear()
        self._timers.clear()
        self._stations.clear()
        self._lanes.clear()

    def _station(self, broker: BrokerId) -> _Station:
        station = self._stations.get(broker)
        if station is None:
            raise ValueError(f"there is no broker {broker}")
        return station

    # The agenda

    def _push(self, delay: int, action: Callable[[Any], None], subject: Any) -> None:
        """Enter an action; its sequence number orders it among those of the same time."""
        self._sequence += 1
        heapq.heappush(self._agenda, (self.now + delay, self._sequence, action, subject))

    def _fire(self, ticket: int) -> None:
        callback = self._timers.pop(ticket, None)
        if callback is not None:
            callback()

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
            frame.number = self._log.departed(source, target, lane.channel, self.now, frame.data)
        if lane.channel == "link":
            self._push(lane.delay, self._arrive, frame)
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
            self._push(arrival - self.now, self._arrive, frame)
        elif survival < 1.0 and self._draw() >= survival:
            frame.tally.flying -= 1
            frame.tally.lost_packet += 1
            self._note_loss(frame)
        else:
            self._push(delay, self._arrive, frame)

    def _connection_arrival(self, source: _Station, target: BrokerId, delay: int) -> int:
        """When a frame arrives that goes now: after a handshake if it is the first, in order."""
        latest = source.connections.get(target)
        arrival = self.now + (3 * delay if latest is None else delay)
        if latest is not None:
            arrival = max(arrival, latest)
        source.connections[target] = arrival
        return arrival

    def _arrive(self, frame: _Frame) -> None:
        if frame.is_lost:
            return
        if self._log is not None and frame.number is not None:
            self._log.arrived(frame.number, self.now)
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
        self._timings += _pack_timing(self.now, source, target.broker, len(data))
        if len(self._timings) >= _TIMINGS:
            self.flush()
        return target.host.frame_arrived(source, data)

    def _lose(self, frame: _Frame) -> None:
        if not frame.is_lost:
            frame.is_lost = True
            frame.tally.flying -= 1
            frame.tally.lost_link += 1
            self._note_loss(frame)

    def _note_loss(self, frame: _Frame) -> None:
        if self._log is not None and frame.number is not None:
            self._log.lost(frame.number, self.now)

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
        station.queue.append((self.now, item))
        length = len(station.queue)
        station.longest = max(station.longest, length)
        station.delayed += 1
        station.joined += length

    def _serve_next(self, station: _Station) -> None:
        arrived, item = station.queue.popleft()
        station.waiting += self.now - arrived
        if isinstance(item, _Frame):
            item.tally.unserved -= 1
            item.tally.unserved_bytes -= len(item.data)
        self._serve(station, item)

    def _serve(self, station: _Station, item: _Frame | _Task) -> None:
        station.served += 1
        station.busy_since = self.now
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
        return 0 if station.busy_since is None else self.now - station.busy_since
