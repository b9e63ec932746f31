"""What a run tells about covering that is withdrawn: delays, queues, new roots, tables, mistakes.

Read from the table that `measure = ["brokers"]` writes, and from the deliveries. Time counts from
the first unsubscription, in seconds (curves: in minutes); what comes before is not counted unless
its name says so. A *core* broker is one that is left when leaves are taken off the overlay until it
is a line. What was not delivered when the run ended has no delay: its share is `undelivered`.
"""

from collections.abc import Iterator
from functools import cached_property
from string import ascii_uppercase

import pandas as pd

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction.layers import Layers, layers
from analysis.tables import read

CONGESTED = 100
"""So many messages in a core broker's queue are congestion (our bound)."""
EVENTS = ("event", "counted-event")
"""Types of messages that carry publications."""
MISROUTED = "misrouted-events"
WORK = {
    "matching": ("matching-entries",),
    "covering": ("roots-examined",),
    "unsubscription": ("unsubscription-entries", "new-root-entries"),
    "publication": ("publication-entries",),
}
"""Units of work that are of a kind of processing (Table II)."""

Curve = dict[float, float]

_MINUTE = 60 * NANOSECONDS
_POINTS = 150  # of a curve of delays
_LAST = 0.1  # the share of the time at the end that says how things settled


def covering_values(run: FinishedRun) -> Iterator[tuple[str, float]]:
    """Single numbers of a run that measured its brokers; none of others."""
    if not _measures_brokers(run):
        return
    source = _Source(run)
    for part in (_delays, _probes, _queues, _triggered, _tables, _spent, _mistakes, _tiers):
        yield from part(source)


def covering_curves(run: FinishedRun) -> dict[str, Curve]:
    """Curves over the minutes since the first unsubscription."""
    if not _measures_brokers(run):
        return {}
    source = _Source(run)
    queues, entries = source.samples("queue"), source.samples("entries")
    return {
        "delay": source.minutes(source.delay_curve),
        "queue": source.minutes(queues[source.core].max(axis=1)),
        "queue anywhere": source.minutes(queues.max(axis=1)),
        "queue of publishers": source.minutes(queues[source.publishers].max(axis=1)),
        "entries": source.minutes(entries.mean(axis=1)),
        "core entries": source.minutes(entries[source.core].mean(axis=1)),
    }


def _measures_brokers(run: FinishedRun) -> bool:
    """Whether it did; runs of other families did so too, on overlays of other kinds."""
    config = run.manifest["config"]
    of_others = config.get("workload", {}).get("kind") in ("stock", "popularity")
    return "brokers" in config.get("measure", ()) and not of_others


class _Source:
    """A run's tables as this module needs them, each read once."""

    def __init__(self, run: FinishedRun) -> None:
        self.run = run

    @cached_property
    def zero(self) -> int:
        """When the first subscription is withdrawn (ns); if none is, when publishing begins."""
        until = self.run.table("subscriptions").until.dropna()
        if len(until):
            return int(until.min())
        published = self.events.time
        return int(published.min()) if len(published) else 0

    @cached_property
    def events(self) -> pd.DataFrame:
        return self.run.table("events")

    @cached_property
    def publishers(self) -> list[int]:
        """Brokers whose clients publish."""
        return sorted(map(int, self.events.broker.unique()))

    @cached_property
    def layers(self) -> Layers:
        links = self.run.table("links")
        return layers(zip(links.a.map(int), links.b.map(int), strict=True))

    @cached_property
    def core(self) -> list[int]:
        return list(self.layers.core)

    @cached_property
    def _brokers(self) -> pd.DataFrame:
        return self.run.table("brokers")

    def samples(self, name: str) -> pd.DataFrame:
        """A row for each time (ns), a column for each broker; what nobody counted is zero."""
        chosen = self._brokers[self._brokers.name == name]
        found = chosen.pivot(index="time", columns="broker", values="value")
        times = sorted(self._brokers.time.unique())
        return found.reindex(index=times, columns=range(self.run.brokers)).fillna(0.0)

    def late(self, name: str) -> pd.DataFrame:
        """The same from the first unsubscription on."""
        samples = self.samples(name)
        return samples[samples.index >= self.zero]

    def grown(self, name: str) -> "pd.Series[float]":
        """By how much a count rose since the first unsubscription, by broker."""
        samples = self.samples(name)
        before = samples[samples.index <= self.zero]
        begin = before.iloc[-1] if len(before) else 0.0
        return samples.iloc[-1] - begin

    def counts(self, name: str) -> bool:
        """Whether brokers have a number of that name."""
        return bool((self._brokers.name == name).any())

    def at_last(self, name: str) -> float:
        """A number at the end of the run, at the mean core broker."""
        return float(self.samples(name)[self.core].iloc[-1].mean())

    @cached_property
    def delays(self) -> pd.DataFrame:
        """Every delivery: when the event was published (ns), and how long it took (s)."""
        path = self.run.table_path("deliveries")
        made = read(path, columns=["published", "delivered"], filters=[("kind", "==", "made")])
        seconds = (made.delivered - made.published) / NANOSECONDS
        return pd.DataFrame({"published": made.published, "seconds": seconds})

    @cached_property
    def delay_curve(self) -> "pd.Series[float]":
        """Mean delays by the time of publication (ns)."""
        delays = self.delays
        if not len(delays):
            return pd.Series(dtype=float)
        begin = int(self.events.time.min())
        step = max(1, (self.run.duration - begin) // _POINTS)
        return delays.seconds.groupby((delays.published - begin) // step * step + begin).mean()

    def minutes(self, values: "pd.Series[float]") -> Curve:
        return {(int(at) - self.zero) / _MINUTE: float(value) for at, value in values.items()}


def _delays(source: _Source) -> Iterator[tuple[str, float]]:
    delays, zero, end = source.delays, source.zero, source.events.time.max()
    after = delays[delays.published >= zero]
    yield from _mean("delay", after.seconds)
    yield from _mean("delay before", delays[delays.published < zero].seconds)
    settled = after[after.published >= end - _LAST * (end - zero)]
    yield from _mean("delay at last", settled.seconds)
    curve = source.delay_curve
    late = curve[curve.index >= zero]
    if len(late):
        yield "peak delay", float(late.max())
        yield "swing of delay", float(late.max() - late.min())
    due = int(source.events.due.sum())
    if due:
        yield "undelivered", 100 * float(source.run.manifest["deliveries"]["missing"]) / due


def _probes(source: _Source) -> Iterator[tuple[str, float]]:
    """Delays of the publications that a client at every edge broker wants, if there are any."""
    workload = source.run.manifest["config"]["workload"]
    if not workload.get("probes"):
        return
    begin = round(workload["probe_start"] * NANOSECONDS)
    end = begin + round(workload["probes"] / workload["rate"] * NANOSECONDS)
    published = source.delays.published
    probes = source.delays[(published >= begin) & (published < end)].seconds
    yield from _mean("probe delay", probes)
    if len(probes):
        yield "probe delay, 10th percentile", float(probes.quantile(0.1))
        yield "probe delay, 90th percentile", float(probes.quantile(0.9))


def _mean(name: str, values: "pd.Series[float]") -> Iterator[tuple[str, float]]:
    if len(values):
        yield name, float(values.mean())


def _queues(source: _Source) -> Iterator[tuple[str, float]]:
    queues = source.late("queue")
    core = queues[source.core].max(axis=1)
    yield "queue", float(core.max())
    yield "queue at last", float(core.iloc[-1])
    yield "queue left", 100 * float(core.iloc[-1]) / max(float(core.max()), 1)
    yield "queue anywhere", float(queues.max().max())
    yield "queue of publishers", float(queues[source.publishers].max().max())
    congested = core[core >= CONGESTED]
    last = int(congested.index.max()) if len(congested) else source.zero
    yield "congested", (last - source.zero) / NANOSECONDS
    yield "longest queue after", (int(core.idxmax()) - source.zero) / NANOSECONDS


def _triggered(source: _Source) -> Iterator[tuple[str, float]]:
    """Subscriptions that came from neighbors since the first unsubscription: the paper's NRS."""
    received = source.grown("subscriptions-received")
    for letter, broker in zip(ascii_uppercase, source.core, strict=False):
        yield f"triggered at {letter}", float(received[broker])
    yield "triggered at the core", float(received[source.core].mean())
    yield from _mean("triggered at inner", received[source.layers.at(1)])
    yield "triggered", float(received.sum())


def _tables(source: _Source) -> Iterator[tuple[str, float]]:
    """Uncovered entries at core brokers, at the beginning and at the end, and at all brokers."""
    entries = source.late("entries")
    core = entries[source.core].mean(axis=1)
    yield "entries before", float(core.iloc[0])
    yield "entries at the core", float(core.iloc[-1])
    yield "stored at the core", float(source.late("stored")[source.core].iloc[-1].mean())
    everywhere = entries.mean(axis=1)
    yield "entries at first", float(everywhere.iloc[0])
    yield "entries", float(everywhere.mean())
    yield "swing of entries", float(everywhere.max() - everywhere.min())
    stored = source.late("stored").mean(axis=1)
    yield "stored", float(stored.mean())
    yield "swing of stored", float(stored.max() - stored.min())


def _spent(source: _Source) -> Iterator[tuple[str, float]]:
    """Processing time of the mean core broker in the whole run, and for a message of each kind."""
    prices = source.run.manifest["config"].get("service", {}).get("seconds", {})
    if not prices or not source.counts("publication-entries"):
        return
    total = 0.0
    handled = _handled(source)
    for kind, units in WORK.items():
        done = sum(prices.get(unit, 0.0) * source.at_last(unit) for unit in units)
        total += done
        yield f"seconds of {kind}", done
        if handled[kind]:
            yield f"milliseconds of {kind}", 1000 * done / handled[kind]
    yield "seconds of all", total


def _handled(source: _Source) -> dict[str, float]:
    """Messages of each kind that the mean core broker got."""
    agents = source.run.table("agents")
    events = agents[(agents.side == "received") & agents.type.isin(EVENTS)]
    subscriptions = source.at_last("subscriptions-received")
    return {
        "matching": subscriptions,
        "covering": subscriptions,
        "unsubscription": source.at_last("unsubscriptions-received"),
        "publication": events[events.broker.isin(source.core)].messages.sum() / len(source.core),
    }


def _mistakes(source: _Source) -> Iterator[tuple[str, float]]:
    """False positives: publications sent to where nobody wanted them, by tier of who got them."""
    if "misrouted" not in source.run.manifest["config"]["measure"]:
        return
    records = source.run.table("records")
    wrong = records[records.name == MISROUTED].groupby("broker").value.sum()
    sent = source.run.manifest["messages"]
    hops = sum(sent[kind]["sent"] for kind in EVENTS if kind in sent)
    yield "false positives", float(wrong.sum())
    yield "false positive percent", 100 * float(wrong.sum()) / max(hops, 1)
    for tier in _all_tiers(source.layers):
        brokers = source.layers.at(tier)
        yield f"false positives at tier {tier}", float(wrong.reindex(brokers).fillna(0.0).mean())


def _tiers(source: _Source) -> Iterator[tuple[str, float]]:
    """Publications that a broker of each tier receives from others, on average."""
    agents = source.run.table("agents")
    received = agents[(agents.side == "received") & agents.type.isin(EVENTS)]
    count = received.groupby("broker").messages.sum()
    for tier in _all_tiers(source.layers):
        brokers = source.layers.at(tier)
        yield f"publications at tier {tier}", float(count.reindex(brokers).fillna(0.0).mean())


def _all_tiers(layers: Layers) -> list[int]:
    return sorted(set(layers.tier.values()))
