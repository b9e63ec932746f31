"""The numbers of one run that the papers' figures are made of, read from the run's own tables.

They need no captures and no Spark session; of a run whose captures were analysed there are more.
What a run did not measure is not among its numbers.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.metrics.cost import PUBLISHED_WEIGHTS
from analysis.reproduction.addressed import addressed_curves, addressed_values
from analysis.reproduction.burst import burst_values
from analysis.reproduction.captured import captured
from analysis.reproduction.popular import popularity_values
from analysis.reproduction.pruned import pruning_curves, pruning_values
from analysis.reproduction.wire import wire_numbers
from analysis.reproduction.withdrawn import covering_curves, covering_values

CONTROL = ("subscribe", "unsubscribe", "flush", "activate", "rec", "recack")
CARRIERS = ("activate", "rec")
"""Types whose published weight is the number of patterns that each one carries."""
INVOLVING = ("subscribe", "unsubscribe", "rec", "activate")
"""Types that involve a dispatcher that handles them in a reconfiguration."""
FREEZE = 2 * NANOSECONDS
"""From here on the stable core changes no subscription."""

_REPAIRED = NANOSECONDS // 5
"""So long after a break its link is replaced, and most of what that takes is done."""

Curve = dict[float, float]


class Numbers(NamedTuple):
    """What a run gave: single numbers, and curves over simulated time in seconds."""

    config: dict[str, Any]
    seed: int
    values: dict[str, float]
    curves: dict[str, Curve]


def numbers(directory: Path | str) -> Numbers:
    """All that can be known of a run in its directory."""
    source = _Source(FinishedRun(directory))
    manifest = source.run.manifest
    values = dict(wire_numbers(source.run, CONTROL))
    for part in (_costs, _involved, _events, _delivery, _traffic):
        values |= part(source)
    values |= _misrouted_bytes(values)
    for family in (
        pruning_values,
        covering_values,
        burst_values,
        addressed_values,
        popularity_values,
    ):
        values |= family(source.run)
    curves = _curves(source)
    for more in (pruning_curves, covering_curves, addressed_curves):
        curves |= more(source.run)
    return Numbers(dict(_leaves(manifest["config"])), manifest["seed"], values, curves)


class _Source:
    """A run's tables, each read once."""

    def __init__(self, run: FinishedRun) -> None:
        self.run = run

    @cached_property
    def breaks(self) -> pd.DataFrame:
        changes = self.run.table("changes")
        return changes[(changes.change == "break") & changes.reconfiguration.notna()]

    @cached_property
    def traffic(self) -> pd.DataFrame:
        return self.run.table("traffic")

    @cached_property
    def flows(self) -> "dict[str, pd.Series[float]]":
        """Messages, and bytes of packets if there are captures, by the time in ns."""
        flows = {"traffic": self.traffic.groupby("time").messages.sum()}
        found = captured(self.run.directory)
        if found is not None:
            flows["wire traffic"] = found.packets.groupby("time").length.sum()
        return flows

    @cached_property
    def sent(self) -> dict[str, int]:
        """Hops by type from the first reconfiguration on; control messages have no other cause."""
        late = self.traffic[self.traffic.time >= self.breaks.time.min()]
        return {str(kind): int(n) for kind, n in late.groupby("type").messages.sum().items()}

    @cached_property
    def records(self) -> "pd.Series[float]":
        return self.run.table("records").groupby("name").value.sum()

    def recorded(self, name: str) -> float:
        return float(self.records.get(name, 0.0))

    @cached_property
    def measures(self) -> set[str]:
        return set(self.run.manifest["config"].get("measure", []))


def _costs(source: _Source) -> Iterator[tuple[str, float]]:
    """Control messages per reconfiguration, plain and normalized by the published weights."""
    count = len(source.breaks)
    if not count or "traffic" not in source.measures:
        return
    sent = {kind: source.sent.get(kind, 0) for kind in CONTROL}
    carried = source.recorded("patterns-carried")  # no protocol has more than one such type
    weighed = {
        kind: carried * (hops > 0) if kind in CARRIERS else PUBLISHED_WEIGHTS[kind] * hops
        for kind, hops in sent.items()
    }
    yield "reconfigurations", count
    for kind, hops in sent.items():
        yield f"messages of {kind}", hops / count
        yield f"cost of {kind}", weighed[kind] / count
    on_head = source.run.table("records").query("name == 'patterns-carried-on-head'").value
    yield "messages of rec on the head", len(on_head) / count
    yield "cost of rec on the head", float(on_head.sum()) / count
    yield "messages", sum(sent.values()) / count
    yield "cost", sum(weighed.values()) / count
    yield "flush percent", 100 * weighed["flush"] / max(sum(weighed.values()), 1)


def _involved(source: _Source) -> Iterator[tuple[str, float]]:
    """Dispatchers that a reconfiguration involves: ends of its links, and who handled for it."""
    if "causes" not in source.measures or not len(source.breaks):
        return
    causes = source.run.table("causes")
    handled = causes[causes.type.isin(INVOLVING)][["reconfiguration", "broker"]]
    changes = source.run.table("changes").dropna(subset=["reconfiguration"])
    ends = [changes[["reconfiguration", end]].set_axis(["reconfiguration", "broker"], axis=1)
            for end in ("a", "b")]  # fmt: skip
    pairs = pd.concat([handled, *ends]).drop_duplicates()
    mean = len(pairs) / len(source.breaks)
    yield "involved", mean
    yield "involved share", 100 * mean / source.run.brokers


def _events(source: _Source) -> Iterator[tuple[str, float]]:
    """Events: how many receive one, and how much of their traffic served nobody."""
    events = source.run.table("events")
    if len(events):
        yield "receivers", float(events.due.mean()) / source.run.brokers
    if "misrouted" not in source.measures:
        return
    hops = source.run.manifest["messages"].get("event", {"sent": 0})["sent"]
    misrouted = source.recorded("misrouted-events")
    yield "useful events", hops - misrouted
    yield "misrouted events", misrouted
    count = len(source.breaks)
    if count:
        control = sum(value for name, value in _costs(source) if name == "cost")
        yield "misrouted", misrouted / count
        yield "cost with events", control + misrouted / count
        yield "misrouted percent", 100 * misrouted / max(control * count + misrouted, 1)
        overhead = control * count + misrouted
        yield "overhead of useful events", overhead
        yield "useful events per overhead", _per(hops - misrouted, overhead)


def _misrouted_bytes(values: dict[str, float]) -> Iterator[tuple[str, float]]:
    """Misrouted events as bytes on the wire beside those of control messages."""
    if not {"misrouted", "wire bytes", "wire bytes of an event"} <= set(values):
        return
    size = values["wire bytes of an event"]
    misrouted = values["misrouted"] * size
    overhead = values["wire bytes"] + misrouted
    yield "wire bytes misrouted", misrouted
    yield "wire bytes with events", overhead
    yield "wire bytes misrouted percent", 100 * misrouted / max(overhead, 1)
    useful = values["useful events"] * size
    whole = overhead * values["reconfigurations"]
    yield "useful wire bytes", useful
    yield "overhead of useful wire bytes", whole
    yield "useful wire bytes per overhead", _per(useful, whole)


def _per(useful: float, overhead: float) -> float:
    return useful / overhead if overhead else float("nan")


def _delivery(source: _Source) -> Iterator[tuple[str, float]]:
    """Events due to the stable core: the share that came while links changed, and afterwards, and
    how many seconds after the last break one that was missed was still published."""
    if not len(source.breaks):
        return
    due = _core_deliveries(source)
    if not len(due):
        return
    first, last = source.breaks.time.min(), source.breaks.time.max()
    changing = due[(due.published >= first) & (due.published < last)]
    settled = due[due.published >= last + _REPAIRED]
    for name, part in (("delivered", changing), ("delivered at last", settled)):
        if len(part):
            yield name, 100 * float(part.made.mean())
    missed = due.published[(due.made == 0) & (due.published >= last)]
    yield "missed for", float(missed.max() - last) / NANOSECONDS if len(missed) else 0.0


def _traffic(source: _Source) -> Iterator[tuple[str, float]]:
    """Bytes of frames per reconfiguration, and traffic of all types in a second."""
    traffic = source.traffic
    if not len(traffic):
        return
    if len(source.breaks):
        late = traffic[(traffic.time >= source.breaks.time.min()) & traffic.type.isin(CONTROL)]
        yield "frame bytes", float(late.bytes.sum()) / len(source.breaks)
    for name, amounts in source.flows.items():
        if len(source.breaks):
            first, last = source.breaks.time.min(), source.breaks.time.max()
            yield f"{name} before", _rate(amounts, first - NANOSECONDS, first)
            yield f"{name} within", _rate(amounts, first, last + _REPAIRED)
        yield name, _rate(amounts, 3 * NANOSECONDS, 7 * NANOSECONDS)


def _rate(amounts: "pd.Series[float]", begin: int, end: int) -> float:
    """How much of something there is in a second, by when there is how much."""
    chosen = amounts[(amounts.index >= begin) & (amounts.index < end)]
    return float(chosen.sum()) * NANOSECONDS / int(end - begin)


def _curves(source: _Source) -> dict[str, Curve]:
    found: dict[str, Curve] = {}
    if len(source.traffic):
        moments = source.flows["traffic"].index
        size = min(set(moments[1:] - moments[:-1]), default=NANOSECONDS)
        for name, amounts in source.flows.items():
            bins = amounts.groupby(amounts.index // size * size).sum()
            found[name] = _curve(bins * (NANOSECONDS / size))
    if not len(source.breaks):  # nobody asks for the core's deliveries, which may be millions
        return found
    due = _core_deliveries(source)
    if len(due):
        step = NANOSECONDS // 10
        found["delivered"] = _curve(100 * due.groupby(due.published // step * step).made.mean())
    return found


def _curve(bins: "pd.Series[float]") -> Curve:
    return {int(time) / NANOSECONDS: float(value) for time, value in bins.items()}


def _core_deliveries(source: _Source) -> pd.DataFrame:
    """What was due to brokers whose subscriptions stood from the freeze on, and whether it came."""
    subscriptions = source.run.table("subscriptions")
    changed = subscriptions[(subscriptions.since > FREEZE) | (subscriptions.until > FREEZE)]
    core = set(subscriptions.broker) - set(changed.broker)
    deliveries = source.run.table("deliveries")
    made = deliveries[deliveries.kind == "made"][["broker", "published"]].assign(made=1.0)
    events = source.run.table("events")[["origin", "sequence", "time"]]
    missing = source.run.table("missing").merge(events, on=["origin", "sequence"])
    lost = missing[["broker", "time"]].set_axis(["broker", "published"], axis=1).assign(made=0.0)
    due = pd.concat([made, lost])
    return due[due.broker.isin(core)]


def _leaves(item: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The plain values of a configuration by dotted key."""
    if isinstance(item, dict):
        for name, value in item.items():
            yield from _leaves(value, f"{key}.{name}" if key else name)
    elif isinstance(item, list) and item and isinstance(item[0], dict):
        for number, value in enumerate(item):
            yield from _leaves(value, f"{key}[{number}]")
    else:
        yield key, str(item) if isinstance(item, list) else item
