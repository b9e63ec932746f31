"""What a run tells about optimized routing tables: curves over the prunings, and their cut-off.

Read from the tables that `measure = ["pruning"]` (one broker) and `["rounds"]` (a network) write.
The *cut-off* is the largest share of all prunings whose extra events stay within 2.5 % of what
could be: events published at one broker, events times links in a network. The *knee* is where the
curve of events is farthest from its chord.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.finished import FinishedRun

MEASURES = frozenset({"pruning", "rounds"})
TOLERATED = 0.025
"""How many events may come in addition, of all that could."""
PUBLISHED_EVENTS = 100_000
"""Numbers of events are given for as many as the paper publishes."""

Curve = dict[float, float]

_CONTROL = ("subscribe", "unsubscribe")
_CALM = 3  # rounds whose median time counts where the greatest is sought: a single one may be slow


class _Course(NamedTuple):
    """From round to round: the share of all prunings, and what goes with it."""

    share: "pd.Series[float]"
    associations: "pd.Series[float]"
    bytes: "pd.Series[float]"
    candidates: "pd.Series[float]"
    seconds: "pd.Series[float]"
    events: "pd.Series[float]"
    """Events that match, or messages with events."""
    possible: float
    """The most that these could be."""
    published: float

    @property
    def relief(self) -> "pd.Series[float]":
        """Associations removed, of those that can be."""
        most, least = self.associations.iloc[0], self.associations.iloc[-1]
        return (most - self.associations) / max(most - least, 1)

    @property
    def extra(self) -> "pd.Series[float]":
        """Events that come in addition to those without pruning."""
        return self.events - self.events.iloc[0]

    @property
    def cut_off(self) -> int:
        """The last round in which these are within what is tolerated."""
        return int(self.extra[self.extra <= TOLERATED * self.possible].index.max())


def pruning_values(run: FinishedRun) -> Iterator[tuple[str, float]]:
    """Single numbers of a run that measured tables; none of others."""
    measures = _measures(run)
    if "rounds" in measures:
        yield from _optimized(run)
    course = _course(run)
    if course is None:
        return
    cut = course.cut_off
    yield from _at_cut_off(course, cut)
    if "pruning" in measures:
        used = 1e6 * _seconds(run, "broker").groupby(level="round").sum()
        published = 1e6 * course.seconds
        for name, seconds in (("two-step", published), ("broker", used)):
            yield f"microseconds of {name} engine, unpruned", float(seconds.iloc[0])
            yield f"microseconds of {name} engine", float(seconds[cut])


def pruning_curves(run: FinishedRun) -> dict[str, Curve]:
    """Curves over the percent of all prunings, in percent too; `extra events` are numbers."""
    course = _course(run)
    if course is None:
        return {}
    found = {
        "memory relief": course.relief,
        "filter time": course.seconds / course.seconds.iloc[0],
        "candidates": course.candidates / max(course.candidates.iloc[0], 1),
        "events": course.events / course.possible,
    }
    extra = course.extra * PUBLISHED_EVENTS / course.published
    curves = {name: _curve(course.share, 100 * values) for name, values in found.items()}
    return curves | {"extra events": _curve(course.share, extra)}


def _measures(run: FinishedRun) -> frozenset[str]:
    return MEASURES.intersection(run.manifest["config"].get("measure", ()))


def _course(run: FinishedRun) -> _Course | None:
    """What went with prunings, if there were any in steps."""
    optimize = run.manifest["config"]["protocol"].get("optimize", {})
    measures = _measures(run)
    if not measures or "post-pruning" not in optimize["by"]:
        return None
    stored = run.table("stored").groupby("round").sum()
    if len(stored) < 3:  # a single state before and after is no curve
        return None
    at_broker = "pruning" in measures
    events, possible, published = (_matching if at_broker else _messages)(run)
    seconds = _seconds(run, "two-step")
    share = pd.Series(np.minimum(1.0, stored.index * float(optimize["share"])), stored.index)
    return _Course(
        share,
        stored.associations,
        stored.bytes,
        stored.candidates,
        seconds.groupby(level="round").sum() if at_broker else _total_seconds(run, seconds),
        events,
        possible,
        published,
    )


def _matching(run: FinishedRun) -> tuple["pd.Series[float]", float, float]:
    table = run.table("matching").set_index("round")
    published = float(table.events.iloc[0])
    return table.matching, published, published


def _messages(run: FinishedRun) -> tuple["pd.Series[float]", float, float]:
    """Messages with events by round, and how many there would be if each went everywhere."""
    workload = run.manifest["config"]["workload"]
    published = float(workload["events"])
    sent = _sent(run, "event").messages.reindex(range(int(workload["rounds"])), fill_value=0)
    return sent, published * (run.brokers - 1), published


def _sent(run: FinishedRun, *types: str) -> pd.DataFrame:
    table = run.table("rounds")
    return table[table.type.isin(types)].groupby("round")[["messages", "bytes"]].sum()


def _seconds(run: FinishedRun, engine: str) -> "pd.Series[float]":
    """Seconds for an event by round and broker."""
    table = run.table("filter-times")
    return table[table.engine == engine].set_index(["round", "broker"]).seconds


def _total_seconds(run: FinishedRun, seconds: "pd.Series[float]") -> "pd.Series[float]":
    """What all brokers together took for the events that each of them filtered in a round."""
    before = run.table("stored").set_index(["round", "broker"]).filtered.unstack("broker")
    filtered = before.diff().shift(-1).iloc[:-1]
    return (filtered * seconds.unstack("broker")).dropna().sum(axis=1)


def _curve(share: "pd.Series[float]", values: "pd.Series[float]") -> Curve:
    """Values by percent of the prunings; what is not known in a round has no point there."""
    known = values.dropna()
    return {round(100 * float(share[at]), 6): float(known[at]) for at in known.index}


def _at_cut_off(course: _Course, cut: int) -> Iterator[tuple[str, float]]:
    yield "cut-off", 100 * float(course.share[cut])
    yield "knee", 100 * float(course.share[_knee(course)])
    yield "extra events", float(course.extra[cut]) * PUBLISHED_EVENTS / course.published
    yield "events unpruned", float(course.events.iloc[0]) * PUBLISHED_EVENTS / course.published
    yield "relief", float(course.relief[cut])
    yield "decrease of bytes", 1 - float(course.bytes[cut]) / float(course.bytes.iloc[0])
    yield "decrease of time", 1 - float(course.seconds[cut]) / float(course.seconds.iloc[0])
    first = float(course.seconds.iloc[0])
    highest = float(course.seconds.rolling(_CALM, center=True).median().max())
    yield "rise of filter time", 100 * max(0.0, highest / first - 1)
    rise = float(course.candidates.max()) / max(float(course.candidates.iloc[0]), 1) - 1
    yield "rise of candidates", 100 * rise


def _knee(course: _Course) -> int:
    """The round in which the curve of events is farthest below its chord."""
    events = course.events
    share = course.share[events.index]
    slope = (events.iloc[-1] - events.iloc[0]) / (share.iloc[-1] - share.iloc[0])
    below = events.iloc[0] + slope * (share - share.iloc[0]) - events
    return int(below.idxmax())


def _optimized(run: FinishedRun) -> Iterator[tuple[str, float]]:
    """What a whole network has of an optimization, in the last round and after it."""
    rounds = int(run.manifest["config"]["workload"]["rounds"])
    stored = run.table("stored")
    last = stored[stored["round"] == rounds]
    for name in ("entries", "associations", "predicates", "bytes"):
        yield f"stored {name}", float(last[name].sum())
    yield "event messages", _last(_sent(run, "event").messages, rounds - 1)
    yield "event bytes", _last(_sent(run, "event").bytes, rounds - 1)
    yield "filter seconds", _last(_total_seconds(run, _seconds(run, "two-step")), rounds - 1)
    control = _sent(run, *_CONTROL)
    yield "deregistration messages", _last(control.messages, rounds)
    yield "deregistration bytes", _last(control.bytes, rounds)
    yield "registration messages", float(control.messages[control.index < rounds].sum())
    yield from _applied(run.table("applied"))
    statement = run.manifest["deliveries"]
    wrong = sum(statement[kind] for kind in ("missing", "duplicate", "spurious"))
    yield "wrong deliveries", float(wrong)


def _last(values: "pd.Series[float]", round: int) -> float:
    return float(values.get(round, 0.0))


def _applied(applied: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """Percent of remote subscriptions that an optimization changed or removed."""
    sums = applied.groupby("class")[["remote", "untouched"]].sum()
    touched = 100 * (1 - sums.untouched / sums.remote)
    yield "applied", 100 * (1 - float(sums.untouched.sum()) / max(float(sums.remote.sum()), 1))
    yield "applied to the least class", float(touched.min())
