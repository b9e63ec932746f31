"""The workload of the covering paper's workflow scenario (Sec. VI-G): processes and who watches.

It says where and when; `workflow_model` says what. The paper's traces are not public.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from random import Random
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from pysim.filters import Filter
from pysim.units import Duration, Share, Span
from pysim.workloads import workflow_model as model
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

_ACTIVITIES = {"small": 3, "medium": 10, "large": 26}
_ENGINE = 0  # the client that is a broker's engine

_Count = Annotated[int, Meta(ge=0, le=100_000)]


class _Wish(NamedTuple):
    """A client of a broker, and a filter that it subscribes to or advertises."""

    broker: int
    client: int
    filter: Filter


@kind("workflow")
class Workflow(Workload, frozen=True, kw_only=True):
    """Business processes whose activities trigger each other, watched by monitors and inspectors.

    Every broker of the role "edge" has an engine; the regions are the domains. Engines advertise
    what their activities say and subscribe to what triggers them; a client of each process triggers
    it once in a `period`. Inspectors subscribe for a while, again and again.
    """

    small: Annotated[
        _Count, Meta(description="processes of 3 activities, all at one random engine")
    ] = 80
    medium: Annotated[
        _Count, Meta(description="processes of 10 activities, at engines of one random domain")
    ] = 80
    large: Annotated[_Count, Meta(description="processes of 26 activities, at any engines")] = 40
    period: Annotated[Span, Meta(description="time from one instance of a process to the next")] = (
        Span(60.0)
    )
    work: Annotated[Span, Meta(description="time that an activity takes on average")] = Span(1.0)
    monitored: Annotated[
        Share, Meta(description="share of processes with a client that wants all their messages")
    ] = Share(0.3)
    inspectors: Annotated[
        _Count, Meta(description="clients that subscribe to triggers now and then")
    ] = 4
    inspected: Annotated[
        Literal["processes", "activities"],
        Meta(description="triggers that they want: those of processes, or of all activities too"),
    ] = "processes"
    inspect_start: Annotated[
        Duration, Meta(description="when the first inspector subscribes first")
    ] = Duration(60.0)
    inspect_every: Annotated[
        Span, Meta(description="time from one inspection of an inspector to its next")
    ] = Span(600.0)
    inspect_for: Annotated[Span, Meta(description="how long an inspection lasts")] = Span(60.0)
    stagger: Annotated[
        Duration, Meta(description="how much later than the one before an inspector subscribes")
    ] = Duration(150.0)
    start: Annotated[Duration, Meta(description="when engines and trigger clients advertise")] = (
        Duration(0.5)
    )
    ramp: Annotated[
        Duration,
        Meta(description="time over which advertisements spread, and as long the subscriptions"),
    ] = Duration(20.0)
    publish_start: Annotated[Duration, Meta(description="when processes are first triggered")] = (
        Duration(50.0)
    )
    publish_stop: Annotated[
        Duration | None,
        Meta(description="when nothing more is sent; 1 s before the run's end if not given"),
    ] = None

    def check(self, setting: Setting) -> None:
        if not setting.regions("edge"):
            problem = (
                'needs an overlay with brokers of the role "edge" in domains, such as workflow'
            )
            raise WorkloadError("kind", problem)
        require_time("ramp", self.start + 2 * self.ramp, setting)
        if self.publish_start < self.start + self.ramp:
            raise WorkloadError("publish_start", "comes before all is advertised; see `ramp`")
        stop = publishing_end(self.publish_stop, setting)
        require_time("publish_stop", stop, setting)
        if stop < self.publish_start and self._count():
            problem = f"publishing ends at {Duration(stop)}, before it begins"
            raise WorkloadError("publish_start", problem)
        if self.inspectors:
            self._check_inspections()

    def earliest(self) -> float:
        return self.start

    def operations(self, setting: Setting) -> Iterable[Operation]:
        processes = self.processes(setting)
        return heapq.merge(
            self._over_ramp(setting, "advertise", self._advertised(setting, processes), 0),
            self._over_ramp(setting, "subscribe", self._subscribed(setting, processes), 1),
            *(self._inspections(setting, number) for number in range(self.inspectors)),
            *(self._instances(setting, process) for process in processes),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        processes = self.processes(setting)
        stop = publishing_end(self.publish_stop, setting)
        instances = tick_count(self.publish_start, 1 / self.period, stop)
        published = instances * sum(1 + model.most_messages(process) for process in processes)
        event = event_size(_message(self._count(), instances, "trigger", max(_ACTIVITIES.values())))
        wishes = [*self._advertised(setting, processes), *self._subscribed(setting, processes)]
        sizes = {wish.filter: subscription_size(wish.filter) for wish in wishes}
        inspection = subscription_size(self._inspected())
        inspections = self.inspectors * tick_count(
            self.inspect_start, 1 / self.inspect_every, setting.duration
        )
        volume = sum(sizes[wish.filter] for wish in wishes) + 2 * inspections * inspection
        sizes[self._inspected()] = inspection
        return Estimate(
            Volume(published, published * event),
            Volume(len(wishes) + 2 * inspections, volume),
            Volume(len(sizes), sum(sizes.values())),
            max(event, *sizes.values()),
        )

    def processes(self, setting: Setting) -> list[model.Process]:
        """All processes, the small ones first."""
        domains = setting.regions("edge")
        anywhere = [engine for domain in domains for engine in domain]
        found: list[model.Process] = []
        for size in self._sizes():
            number = len(found)
            stream = setting.streams.stream("workload", "workflow", "process", number)
            count = _ACTIVITIES[size]
            candidates = {
                "small": [stream.choice(anywhere)],
                "medium": stream.choice(domains),
                "large": anywhere,
            }[size]
            engines = tuple(stream.choice(candidates) for _ in range(count))
            found.append(model.Process(number, engines, model.stages(stream, count)))
        return found

    # When and where

    def _check_inspections(self) -> None:
        if self.inspect_for >= self.inspect_every:
            problem = "an inspector would begin again before it ends; see `inspect_every`"
            raise WorkloadError("inspect_for", problem)
        if self.inspect_start < self.start + self.ramp:
            raise WorkloadError("inspect_start", "comes before all is advertised; see `ramp`")

    def _sizes(self) -> list[str]:
        return self.small * ["small"] + self.medium * ["medium"] + self.large * ["large"]

    def _count(self) -> int:
        return self.small + self.medium + self.large

    def _inspected(self) -> Filter:
        return model.any_trigger() if self.inspected == "processes" else model.ANYTHING

    def _starter(self, setting: Setting, process: int) -> tuple[int, int]:
        """The broker and the number of the client that triggers a process."""
        stream = setting.streams.stream("workload", "workflow", "starter", process)
        return stream.choice(setting.with_role("edge")), 1 + process

    # What clients do

    def _advertised(self, setting: Setting, processes: Sequence[model.Process]) -> list[_Wish]:
        wishes = []
        for process in processes:
            filter = model.triggered(process.number)
            wishes.append(_Wish(*self._starter(setting, process.number), filter))
            for activity, filter in model.emitted(process):
                wishes.append(_Wish(process.engines[activity], _ENGINE, filter))
        return wishes

    def _subscribed(self, setting: Setting, processes: Sequence[model.Process]) -> list[_Wish]:
        """What engines want, once even if for several activities, and what monitors want."""
        engines = dict.fromkeys(
            _Wish(process.engines[activity], _ENGINE, filter)
            for process in processes
            for activity, filter in model.awaited(process)
        )
        return [*engines, *self._monitors(setting)]

    def _monitors(self, setting: Setting) -> Iterator[_Wish]:
        stream = setting.streams.stream("workload", "workflow", "monitors")
        edges, count = setting.with_role("edge"), self._count()
        for process in sorted(stream.sample(range(count), round(self.monitored * count))):
            client = 1 + count + process
            yield _Wish(stream.choice(edges), client, model.told(process))

    def _over_ramp(
        self,
        setting: Setting,
        action: Literal["advertise", "subscribe"],
        wishes: list[_Wish],
        turn: int,
    ) -> Iterator[Operation]:
        setting.streams.stream("workload", "workflow", "order", action).shuffle(wishes)
        begin = self.start + turn * self.ramp
        for number, wish in enumerate(wishes):
            time = nanoseconds(begin + self.ramp * number / len(wishes))
            yield Operation(time, wish.broker, action, wish.client, wish.filter)

    def _inspections(self, setting: Setting, inspector: int) -> Iterator[Operation]:
        domains = setting.regions("edge")
        stream = setting.streams.stream("workload", "workflow", "inspector", inspector)
        broker = stream.choice(domains[inspector % len(domains)])
        client = 1 + 2 * self._count() + inspector
        begin = self.inspect_start + inspector * self.stagger
        for time in ticks(begin, 1 / self.inspect_every, setting.duration):
            yield Operation(time, broker, "subscribe", client, self._inspected())
            end = time + nanoseconds(self.inspect_for)
            if end < nanoseconds(setting.duration):
                yield Operation(end, broker, "unsubscribe", client, self._inspected())

    def _instances(self, setting: Setting, process: model.Process) -> Iterator[Operation]:
        """The messages of all instances of a process, which may overlap."""
        stop = publishing_end(self.publish_stop, setting)
        stream = setting.streams.stream("workload", "workflow", "instances", process.number)
        begin = self.publish_start + stream.random() * self.period
        waiting: list[Operation] = []
        for number, time in enumerate(ticks(begin, 1 / self.period, stop)):
            yield from (act for act in waiting if act.time < time)
            waiting = [act for act in waiting if act.time >= time]
            waiting += self._instance(setting, process, number, time, stream)
            waiting.sort(key=attrgetter("time"))
        yield from (act for act in waiting if act.time < nanoseconds(stop))

    def _instance(
        self, setting: Setting, process: model.Process, number: int, begin: int, stream: Random
    ) -> Iterator[Operation]:
        broker, client = self._starter(setting, process.number)
        trigger = _message(process.number, number, "trigger")
        yield Operation(begin, broker, "publish", client, attributes=trigger)
        for sent in model.instance(process, stream, self.work):
            message = _message(process.number, number, sent.type, sent.activity)
            time = begin + nanoseconds(sent.time)
            engine = process.engines[sent.activity]
            yield Operation(time, engine, "publish", _ENGINE, attributes=message)


def _message(
    process: int, instance: int, type: str, activity: int | None = None
) -> dict[str, int | float | str]:
    message: dict[str, int | float | str] = {
        "type": type,
        "process": process,
        "instance": instance,
    }
    return message if activity is None else message | {"activity": activity}
