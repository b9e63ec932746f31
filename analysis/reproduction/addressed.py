"""What a run tells about routing by destinations: lists, copies of subscriptions, latency, load.

Read from the tables of runs of the workload `stock`; of others nothing is told. Latencies are those
of deliveries that were made before the run ended. Numbers of brokers are those at the end of a run.
Bytes are those of frames, headers of packets not among them, unless they are called wire bytes.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import pandas as pd

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction.addressed_wire import addressed_wire_values
from analysis.tables import read

EVENTS = ("event", "addressed-event", "tree-event", "vector-event")
"""Types of messages that carry one event over one hop."""
SHORT, LONG = 5, 12
"""The lengths of lists that Fig. 20 is told by."""
KINDS = {
    "events": EVENTS,
    "subscriptions": ("subscribe", "addressed-subscribe", "tree-subscribe"),
    "advertisements": ("advertise", "addressed-advertise", "tree-advertise"),
    "heartbeats": ("heartbeat",),
    "topology updates": ("topology-update", "addressed-link-loss"),
}
"""Types of messages by what they are for."""

Curve = dict[float, float]

_FEW = 10  # brokers of which each one's load is told


def addressed_values(run: FinishedRun) -> Iterator[tuple[str, float]]:
    """Single numbers of a run of the workload `stock`; none of others."""
    if not _applies(run):
        return
    source = _Source(run)
    for part in (_latency, _delivered, _events, _load, _stored, _lists, _bytes, _wire, _hops):
        yield from part(source)


def addressed_curves(run: FinishedRun) -> dict[str, Curve]:
    """Curves: lists by length, hops of an event by simulated time (s)."""
    if not _applies(run):
        return {}
    source = _Source(run)
    curves = {}
    lists = source.lists
    if len(lists):
        lengths = lists.groupby("length").messages.sum()
        shares = 100 * lengths / lengths.sum()
        curves["lists of length"] = _curve(shares)
        curves["lists up to length"] = _curve(shares.cumsum())
    if len(source.hops):
        curves["hops"] = _curve(source.hops)
    return curves


def _applies(run: FinishedRun) -> bool:
    return bool(run.manifest["config"]["workload"].get("kind") == "stock")


def _curve(values: "pd.Series[float]") -> Curve:
    return {float(at): float(value) for at, value in values.items()}


class _Source:
    """A run's tables as this module needs them, each read once."""

    def __init__(self, run: FinishedRun) -> None:
        self.run = run
        self.config = run.manifest["config"]
        self.measures = set(self.config.get("measure", ()))
        self.messages: dict[str, dict[str, int]] = run.manifest["messages"]

    @cached_property
    def events(self) -> pd.DataFrame:
        return self.run.table("events")

    @cached_property
    def made(self) -> pd.DataFrame:
        return read(
            self.run.table_path("deliveries"),
            columns=["origin", "sequence", "broker", "published", "delivered"],
            filters=[("kind", "==", "made")],
        )

    @cached_property
    def window(self) -> tuple[int, int]:
        """When publishing begins and ends (ns)."""
        workload = self.config["workload"]
        begin = round(workload["publish_start"] * NANOSECONDS)
        stop = workload.get("publish_stop")
        return begin, self.run.duration if stop is None else round(stop * NANOSECONDS)

    @cached_property
    def brokers(self) -> pd.DataFrame:
        return self.run.table("brokers")

    def at_last(self, name: str) -> "pd.Series[float]":
        """A number of each broker at the end of the run; empty if none has it."""
        last = self.brokers[self.brokers.time == self.brokers.time.max()]
        return last[last.name == name].set_index("broker").value

    def sent(self, kinds: tuple[str, ...], what: str = "sent") -> int:
        return sum(self.messages[kind][what] for kind in kinds if kind in self.messages)

    @cached_property
    def lists(self) -> pd.DataFrame:
        """Lists of events; those of other messages are longer and rarer."""
        if "lists" not in self.measures:
            return pd.DataFrame(columns=["source", "target", "first", "length", "messages"])
        found = self.run.table("lists")
        return found[found.type.isin(EVENTS)]

    @cached_property
    def hops(self) -> "pd.Series[float]":
        """Messages for an event, by the time (s) at which a bin begins."""
        if "traffic" not in self.measures or not len(self.events):
            return pd.Series(dtype=float)
        traffic = self.run.table("traffic")
        sent = traffic[traffic.type.isin(EVENTS)].groupby("time").messages.sum()
        times = sorted(traffic.time.unique())
        step = min(b - a for a, b in pairwise(times))
        published = self.events.groupby(self.events.time // step * step).size()
        begin, end = self.window
        inside = [t for t in published.index if t >= begin and t + step <= end]
        found = sent.reindex(inside).fillna(0) / published.reindex(inside)
        found.index = found.index / NANOSECONDS
        return found


def _latency(source: _Source) -> Iterator[tuple[str, float]]:
    made = source.made
    if len(made):
        seconds = (made.delivered - made.published) / NANOSECONDS
        yield "latency", 1000 * float(seconds.mean())
        yield "latency, 99th percentile", 1000 * float(seconds.quantile(0.99))


def _delivered(source: _Source) -> Iterator[tuple[str, float]]:
    """What came of all that was due: by live brokers, and of all pairs there were at first."""
    made, due = len(source.made), int(source.events.due.sum())
    if due:
        yield "delivered", 100 * made / due
        yield "undelivered", 100 - 100 * made / due
    yield "delivered of all pairs", 100 * made / source.run.brokers**2


def _events(source: _Source) -> Iterator[tuple[str, float]]:
    """Messages and bytes for an event, and how many of them came to a broker that wanted it."""
    count = len(source.events)
    messages, size = source.sent(EVENTS), source.sent(EVENTS, "sent_bytes")
    if not count or not messages:
        return
    made = source.made[["origin", "sequence", "broker"]].drop_duplicates()
    elsewhere = made[made.origin != made.broker]
    yield "events a minute", 60 * source.config["workload"]["rate"]
    yield "messages of an event", messages / count
    yield "bytes of an event", size / count
    yield "bytes of an event's frame", size / messages
    yield "accuracy", len(elsewhere) / messages
    yield "destinations of an event", len(elsewhere) / count


def _load(source: _Source) -> Iterator[tuple[str, float]]:
    """For which share of the time, while events were published, each server worked (percent)."""
    if "brokers" not in source.measures or not len(source.events):
        return
    busy = source.brokers[source.brokers.name == "busy"]
    if not len(busy):
        return
    samples = busy.pivot(index="time", columns="broker", values="value")
    begin, end = source.window
    inside = samples[(samples.index >= begin) & (samples.index <= end)]
    span = (inside.index[-1] - inside.index[0]) / NANOSECONDS
    load = 100 * (inside.iloc[-1] - inside.iloc[0]) / span
    yield "greatest load", float(load.max())
    yield "mean load", float(load.mean())
    yield "loaded brokers", float((load > load.max() / 2).sum())
    if source.run.brokers <= _FEW:
        for broker, percent in load.items():
            yield f"load of broker {broker}", float(percent)
        inner = load.iloc[1:-1]
        quiet = inner[inner <= load.max() / 2]
        if len(inner):
            yield "least load inside", float(inner.min())
        if len(quiet):
            yield "load of quiet brokers", float(quiet.mean())
        yield "load of busy brokers", float(load[load > load.max() / 2].mean())


def _stored(source: _Source) -> Iterator[tuple[str, float]]:
    """Subscriptions that brokers hold of others, advertisements that came twice, tables' memory."""
    if "brokers" not in source.measures:
        return
    remote, local = source.at_last("stored-remote"), source.at_last("stored-local")
    issued = len(source.run.table("subscriptions"))
    if len(remote) and issued:
        yield "copies", float(remote.sum()) / issued
        yield "stored", float(remote.mean())
        yield "stored, least", float(remote.min())
        yield "stored, greatest", float(remote.max())
        yield "stored with local", float(remote.mean() + local.mean())
    yield from _advertised(source)
    tables = source.at_last("trt-bytes").add(source.at_last("sprt-bytes"), fill_value=0.0)
    if len(tables):
        yield "table bytes", float(tables.mean())


def _advertised(source: _Source) -> Iterator[tuple[str, float]]:
    """Copies of advertisements that came to a broker that had one.

    Who routes by destinations counts them among all that it ignores, so there may be fewer.
    """
    for name in ("duplicates-dropped", "ignored"):
        dropped = source.at_last(name)
        if len(dropped):
            yield "duplicate advertisements", float(dropped.sum())
            return


def _lists(source: _Source) -> Iterator[tuple[str, float]]:
    """Lengths of events' lists: over all messages, at each broker, where they begin, and bytes."""
    lists = source.lists
    if not len(lists):
        return
    yield "list length", _mean(lists)
    ends = [lists.assign(broker=lists[end]) for end in ("source", "target")]
    by_broker = pd.concat(ends).groupby("broker").apply(_mean, include_groups=False)
    yield "list length, least broker", float(by_broker.min())
    yield "list length, greatest broker", float(by_broker.max())
    first = lists[lists["first"]]
    if len(first):
        yield "list length at the source", _mean(first)
    whole = lists.messages.sum()
    for limit in (SHORT, LONG):
        below = lists[lists.length < limit].messages.sum()
        yield f"lists below {limit}", 100 * float(below / whole)
    size = float(lists.bytes.sum() / whole)
    frame = source.sent(EVENTS, "sent_bytes") / source.sent(EVENTS)
    yield "list bytes", size
    yield "list share", 100 * size / frame


def _mean(lists: pd.DataFrame) -> float:
    return float((lists.length * lists.messages).sum() / lists.messages.sum())


def _bytes(source: _Source) -> Iterator[tuple[str, float]]:
    """Bytes of all frames by what they are for; those of lists are among them, and apart."""
    for name, kinds in KINDS.items():
        yield f"bytes of {name}", float(source.sent(kinds, "sent_bytes"))
        yield f"messages of {name}", float(source.sent(kinds))
    beat = source.sent(KINDS["heartbeats"], "sent_bytes")
    yield "bytes of heartbeats in an hour", beat / source.run.duration * 3600 * NANOSECONDS
    if "lists" in source.measures:
        lists = source.run.table("lists")
        for name, kinds in KINDS.items():
            yield f"list bytes of {name}", float(lists[lists.type.isin(kinds)].bytes.sum())
        yield "list bytes in all", float(lists.bytes.sum())


def _wire(source: _Source) -> Iterator[tuple[str, float]]:
    """The same on the wire, if there are captures, and which part of events there is lists."""
    found = dict(addressed_wire_values(source.run, KINDS, source.window))
    yield from found.items()
    events = found.get("wire bytes of events")
    if events and len(source.lists):
        yield "wire list share", 100 * float(source.lists.bytes.sum()) / events


def _hops(source: _Source) -> Iterator[tuple[str, float]]:
    """Messages for an event in the first and in the last part of the time."""
    hops = source.hops
    if len(hops) > 1:
        part = max(1, len(hops) // 8)
        yield "hops at first", float(hops.iloc[:part].mean())
        yield "hops at last", float(hops.iloc[-part:].mean())
