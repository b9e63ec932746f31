"""The workload of the covering paper's mobile scenario (Sec. VI-J): who moves between brokers."""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta

from pysim.filters import Filter
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
from pysim.workloads.periodic import publishing_end, tick_count, ticks
from pysim.workloads.schedule import nanoseconds, require_time
from pysim.workloads.squares import (
    LONGEST,
    WHOLE,
    Square,
    different,
    filter_of,
    parts,
    places,
    side,
)


@kind("mobile")
class Mobile(Workload, frozen=True, kw_only=True):
    """Players each want a square of the game's world, monitors all of it, and both move.

    Publishers are at random brokers and stay there; players are at random brokers of the overlay's
    regions, a monitor in each region. Who moves unsubscribes and subscribes at another broker, as
    the same client number there. In a divided world every region of the overlay has a part of it,
    which is all that its players and its monitor want.
    """

    players: Annotated[
        int, Meta(ge=0, le=10_000_000, description="subscribers, of a client each")
    ] = 5000
    publishers: Annotated[
        int, Meta(ge=1, le=1_000_000, description="clients that publish, at random brokers")
    ] = 40
    size: Annotated[
        Share, Meta(description="share of the world, so of the publications, that a player wants")
    ] = Share(0.001)
    world: Annotated[
        Literal["shared", "divided"],
        Meta(description="whether clients of all regions want any of it, or of a part each"),
    ] = "shared"
    monitor_moves: Annotated[
        Frequency, Meta(description="movements of monitors, each in turn, to any other broker")
    ] = Frequency(1 / 120)
    monitor_range: Annotated[
        Literal["overlay", "region"],
        Meta(description="where a monitor moves to: any broker, or one of its region"),
    ] = "overlay"
    monitor_absence: Annotated[
        Duration, Meta(description="how long a monitor is nowhere when it moves")
    ] = Duration(0.0)
    moves: Annotated[
        Frequency, Meta(description="movements of random players, within their regions")
    ] = Frequency(0.0)
    advertise: Annotated[Duration, Meta(description="when publishers advertise")] = Duration(0.5)
    start: Annotated[Duration, Meta(description="when the first subscription is made")] = Duration(
        1.0
    )
    ramp: Annotated[
        Duration, Meta(description="time over which subscriptions spread, in random order")
    ] = Duration(100.0)
    publish_start: Annotated[Duration, Meta(description="when publishing begins")] = Duration(110.0)
    rate: Annotated[Frequency, Meta(description="publications of all publishers together")] = (
        Frequency(2.5)
    )
    publish_stop: Annotated[
        Duration | None,
        Meta(description="when publishing ends; 1 s before the run's end if not given"),
    ] = None
    move_start: Annotated[Duration, Meta(description="when clients begin to move")] = Duration(
        230.0
    )
    move_stop: Annotated[
        Duration | None,
        Meta(description="when they stop; 1 s before the run's end if not given"),
    ] = None

    def check(self, setting: Setting) -> None:
        regions = setting.regions()
        if not regions:
            raise WorkloadError("kind", "needs an overlay with regions, such as tiered")
        if places(side(self.size), self._parts(setting)[0]) < self.players:
            raise WorkloadError("size", f"leaves no room for {self.players:,} different squares")
        if side(self.size) < 1:
            raise WorkloadError("size", "is too small for a square")
        if min(map(len, regions)) < 2:
            self._check_lonely(setting)
        if self.monitor_moves * self.monitor_absence >= len(regions):
            raise WorkloadError("monitor_absence", "a monitor would move again before it arrived")
        self._check_times(setting)

    def earliest(self) -> float:
        return self.advertise

    def operations(self, setting: Setting) -> Iterable[Operation]:
        return heapq.merge(
            self._advertisements(setting),
            self._arrivals(setting),
            self._monitor_moves(setting),
            self._player_moves(setting),
            self._publications(setting),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        stop = publishing_end(self.publish_stop, setting)
        published = tick_count(self.publish_start, self.rate, stop)
        event = event_size({"x": 1 / 3, "y": 1 / 3})
        still = publishing_end(self.move_stop, setting)
        moved = sum(
            tick_count(self.move_start, rate, still) for rate in (self.monitor_moves, self.moves)
        )
        monitors = len(setting.regions())
        changes = self.publishers + self.players + monitors + 2 * moved
        subscription = subscription_size(filter_of(LONGEST))
        return Estimate(
            Volume(published, published * event),
            Volume(changes, changes * subscription),
            Volume(self.players + 1, (self.players + 1) * subscription),
            max(event, subscription),
        )

    # What cannot be

    def _check_lonely(self, setting: Setting) -> None:
        problem = "a region of the overlay has one broker, so that nobody can move within it"
        if self.moves and self.players:
            raise WorkloadError("moves", problem)
        if self.monitor_moves and (self.monitor_range == "region" or setting.brokers < 2):
            raise WorkloadError("monitor_moves", problem)

    def _check_times(self, setting: Setting) -> None:
        if self.advertise > self.start:
            raise WorkloadError("advertise", f"subscriptions begin before, at {self.start}")
        if self.rate and self.advertise > self.publish_start:
            raise WorkloadError("advertise", f"publishing begins before, at {self.publish_start}")
        require_time("ramp", self.start + self.ramp, setting)
        for key, begin, active in (
            ("publish", self.publish_start, self.rate),
            ("move", self.move_start, self.moves or self.monitor_moves),
        ):
            stop = publishing_end(getattr(self, f"{key}_stop"), setting)
            require_time(f"{key}_stop", stop, setting)
            if active and stop < begin:
                problem = f"comes after the end, {Duration(stop)}"
                raise WorkloadError(f"{key}_start", problem)
        if (self.moves or self.monitor_moves) and self.move_start < self.start + self.ramp:
            arrived = Duration(round(self.start + self.ramp, 9))
            raise WorkloadError("move_start", f"subscriptions are made until {arrived}")

    # Who is where

    def _homes(self, setting: Setting) -> list[int]:
        """The first broker of each player, at any broker that is in a region."""
        stream = setting.streams.stream("workload", "mobile", "homes")
        inhabited = sorted(broker for region in setting.regions() for broker in region)
        return [stream.choice(inhabited) for _ in range(self.players)]

    def _posts(self, setting: Setting) -> list[int]:
        """The first broker of each monitor."""
        stream = setting.streams.stream("workload", "mobile", "posts")
        return [stream.choice(region) for region in setting.regions()]

    def _parts(self, setting: Setting) -> list[Square]:
        """What the clients of each region want of the world; its monitor wants all of that."""
        regions = len(setting.regions())
        return [WHOLE] * regions if self.world == "shared" else parts(regions)

    def _squares(self, setting: Setting) -> list[Square]:
        """What each player wants."""
        stream = setting.streams.stream("workload", "mobile", "squares")
        length = side(self.size)
        if self.world == "shared":
            return list(different(stream, length, self.players))
        homes = self._homes(setting)
        drawn: dict[int, Iterator[Square]] = {}
        for region, part in zip(setting.regions(), self._parts(setting), strict=True):
            inhabitants = sum(home in region for home in homes)
            squares = iter(list(different(stream, length, inhabitants, part)))
            drawn.update(dict.fromkeys(region, squares))
        return [next(drawn[home]) for home in homes]

    def _stands(self, setting: Setting) -> list[int]:
        """The broker of each publisher."""
        stream = setting.streams.stream("workload", "mobile", "publishers")
        return [stream.randrange(setting.brokers) for _ in range(self.publishers)]

    def _monitor(self, number: int) -> int:
        """The number of a monitor's client; players have the first ones."""
        return self.players + number

    def _publisher(self, setting: Setting, number: int) -> int:
        return self.players + len(setting.regions()) + number

    # What clients do

    def _advertisements(self, setting: Setting) -> Iterator[Operation]:
        time, everything = nanoseconds(self.advertise), filter_of(WHOLE)
        for number, broker in enumerate(self._stands(setting)):
            client = self._publisher(setting, number)
            yield Operation(time, broker, "advertise", client, everything)

    def _arrivals(self, setting: Setting) -> Iterator[Operation]:
        """Players and monitors subscribe, in random order."""
        arriving = [*self._homes(setting), *self._posts(setting)]
        wanted = [*self._squares(setting), *self._parts(setting)]
        order = list(range(len(arriving)))
        setting.streams.stream("workload", "mobile", "order").shuffle(order)
        for turn, client in enumerate(order):
            time = nanoseconds(self.start + self.ramp * turn / len(order))
            yield Operation(time, arriving[client], "subscribe", client, filter_of(wanted[client]))

    def _monitor_moves(self, setting: Setting) -> Iterator[Operation]:
        """In the order of time: one may leave while others are away."""
        away, end = nanoseconds(self.monitor_absence), nanoseconds(setting.duration)
        arriving: deque[Operation] = deque()
        for left, arrived in self._monitor_steps(setting):
            while arriving and arriving[0].time <= left.time:
                yield arriving.popleft()
            yield left
            arriving.append(replace(arrived, time=arrived.time + away))
        yield from (arrival for arrival in arriving if arrival.time < end)

    def _monitor_steps(self, setting: Setting) -> Iterator[tuple[Operation, Operation]]:
        """Where each leaves and where it arrives, as if it were never away."""
        stream = setting.streams.stream("workload", "mobile", "monitor moves")
        at, watched = self._posts(setting), self._parts(setting)
        regions = setting.regions()
        anywhere = list(range(setting.brokers))
        for number, time in enumerate(self._moments(setting, self.monitor_moves)):
            monitor = number % len(at)
            reach = anywhere if self.monitor_range == "overlay" else regions[monitor]
            to = stream.choice([broker for broker in reach if broker != at[monitor]])
            wanted = filter_of(watched[monitor])
            yield _move(time, self._monitor(monitor), wanted, at[monitor], to)
            at[monitor] = to

    def _player_moves(self, setting: Setting) -> Iterator[Operation]:
        if not self.moves or not self.players:
            return
        stream = setting.streams.stream("workload", "mobile", "moves")
        at, squares = self._homes(setting), self._squares(setting)
        neighborhood = {broker: region for region in setting.regions() for broker in region}
        for time in self._moments(setting, self.moves):
            player = stream.randrange(self.players)
            near = [broker for broker in neighborhood[at[player]] if broker != at[player]]
            to = stream.choice(near)
            yield from _move(time, player, filter_of(squares[player]), at[player], to)
            at[player] = to

    def _moments(self, setting: Setting, rate: float) -> Iterator[int]:
        return ticks(self.move_start, rate, publishing_end(self.move_stop, setting))

    def _publications(self, setting: Setting) -> Iterator[Operation]:
        """Points at equal distances of time, of a random phase: no move comes at the same moment.

        Otherwise a share of all publications would just miss who moves, by the choice of rates.
        """
        stands = self._stands(setting)
        clients = [self._publisher(setting, number) for number in range(self.publishers)]
        draw = setting.streams.stream("workload", "mobile", "publications").random
        begin = self.publish_start + (draw() / self.rate if self.rate else 0.0)
        times = ticks(begin, self.rate, publishing_end(self.publish_stop, setting))
        for number, time in enumerate(times):
            turn = number % self.publishers
            point: dict[str, int | float | str] = {"x": draw(), "y": draw()}
            yield Operation(time, stands[turn], "publish", clients[turn], attributes=point)


def _move(
    time: int, client: int, filter: Filter, old: int, new: int
) -> tuple[Operation, Operation]:
    """Leave one broker and turn up at another one at the same moment."""
    return (
        Operation(time, old, "unsubscribe", client, filter),
        Operation(time, new, "subscribe", client, filter),
    )
