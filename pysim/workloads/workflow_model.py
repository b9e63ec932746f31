"""Business processes and what their engines say to each other: a model of the workflow scenario.

It says which activities there are, who executes them and in which order; `workflow` says when.

A process is a sequence of stages. A stage is an activity, a parallel split into branches that are
all waited for, or a loop; a branch and the body of a loop are sequences of activities.

    process  =  activity stage*
    stage    =  activity  |  split (branch branch+) join  |  loop (branch)
    branch   =  activity+
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pysim.filters import And, Filter, Operator, Predicate, Value

MOST_PASSES = 4
"""How often the body of a loop runs at most."""

_AGAIN = 1 / 3  # chance that a loop runs once more
_LONGEST_BRANCH = 3
_MOST_BRANCHES = 3

ANYTHING = Predicate("process", Operator.EXISTS)
"""All messages of all processes."""


class Stage(NamedTuple):
    """Activities by number: branches that run at the same time, or one that may run again."""

    branches: tuple[tuple[int, ...], ...]
    loops: bool = False

    @property
    def firsts(self) -> list[int]:
        return [branch[0] for branch in self.branches]

    @property
    def lasts(self) -> list[int]:
        return [branch[-1] for branch in self.branches]


class Process(NamedTuple):
    """A process: the broker of each activity's engine, and the order of the activities."""

    number: int
    engines: tuple[int, ...]
    stages: tuple[Stage, ...]


class Sent(NamedTuple):
    """A message of a process instance and when it is sent, in seconds after the trigger."""

    time: float
    activity: int
    type: str


def stages(stream: random.Random, activities: int) -> tuple[Stage, ...]:
    """The control flow of a process with activities 0, 1, 2, ...; the first stands alone."""
    found = [Stage(((0,),))]
    begin = 1
    while begin < activities:
        left = activities - begin
        form = stream.choice(("activity", "split", "loop")) if left > 1 else "activity"
        lengths = _lengths(stream, form, left)
        branches = []
        for length in lengths:
            branches.append(tuple(range(begin, begin + length)))
            begin += length
        found.append(Stage(tuple(branches), form == "loop"))
    return tuple(found)


def emitted(process: Process) -> Iterator[tuple[int, Filter]]:
    """What each activity's engine advertises, by activity; a loop's last may also say "again"."""
    repeating = {stage.lasts[0] for stage in process.stages if stage.loops}
    for activity in range(len(process.engines)):
        yield activity, said(process.number, activity, "done")
        if activity in repeating:
            yield activity, said(process.number, activity, "again")


def awaited(process: Process) -> Iterator[tuple[int, Filter]]:
    """What each activity's engine subscribes to, by activity: all that triggers the activity."""
    before: Sequence[int] = ()
    for stage in process.stages:
        for first in stage.firsts:
            if not before:
                yield first, triggered(process.number)
            for last in before:
                yield first, said(process.number, last, "done")
        for branch in stage.branches:
            for earlier, later in itertools.pairwise(branch):
                yield later, said(process.number, earlier, "done")
        if stage.loops:
            yield stage.firsts[0], said(process.number, stage.lasts[0], "again")
        before = stage.lasts


def instance(process: Process, stream: random.Random, work: float) -> list[Sent]:
    """What the engines send once the process is triggered, by time.

    An activity begins when all that it waits for is done, and takes half to three halves of `work`.
    """
    sent: list[Sent] = []
    begin = 0.0
    for stage in process.stages:
        passes = _passes(stream) if stage.loops else 1
        for turn in range(1, passes + 1):
            ends = []
            for branch in stage.branches:
                time = begin
                for activity in branch:
                    time += work * (0.5 + stream.random())
                    sent.append(Sent(time, activity, "done"))
                ends.append(time)
            begin = max(ends)
            if turn < passes:
                sent[-1] = sent[-1]._replace(type="again")
    return sorted(sent)


def most_messages(process: Process) -> int:
    """How many messages the engines of an instance send at most."""
    return sum(
        sum(map(len, stage.branches)) * (MOST_PASSES if stage.loops else 1)
        for stage in process.stages
    )


def triggered(process: int) -> Filter:
    """The messages that start an instance of a process."""
    return _all_of(process=process, type="trigger")


def any_trigger() -> Filter:
    """The messages that start an instance of any process."""
    return _all_of(type="trigger")


def said(process: int, activity: int, type: str) -> Filter:
    """The messages of one type that tell the end of an activity."""
    return _all_of(activity=activity, process=process, type=type)


def told(process: int) -> Filter:
    """All messages of a process."""
    return _all_of(process=process)


def _all_of(**attributes: Value) -> Filter:
    parts = tuple(Predicate(name, Operator.EQ, value) for name, value in attributes.items())
    return parts[0] if len(parts) == 1 else And(parts)


def _lengths(stream: random.Random, form: str, left: int) -> list[int]:
    """How long the branches of a stage are; `left` activities are there to be shared out."""
    if form == "activity":
        return [1]
    if form == "loop":
        return [stream.randint(1, min(_LONGEST_BRANCH, left))]
    lengths: list[int] = []
    wanted = stream.randint(2, min(_MOST_BRANCHES, left))
    for further in reversed(range(wanted)):  # each further branch needs an activity
        length = stream.randint(1, min(_LONGEST_BRANCH, left - further))
        lengths.append(length)
        left -= length
    return lengths


def _passes(stream: random.Random) -> int:
    passes = 1
    while passes < MOST_PASSES and stream.random() < _AGAIN:
        passes += 1
    return passes
