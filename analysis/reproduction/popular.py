"""What a run tells about popular and unpopular publications: gains, forwards, latencies, queues.

Read from the counters that `measure = ["brokers"]` samples, from the records of agents and from the
deliveries, which name the way that each came by. Latencies are in milliseconds. The gain ratio is
over all forwards of all brokers: that is what makes the published 2.65 come out.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction.captured import captured

POPULAR = "tree"
UNPOPULAR = ("direct", "batch", "gossip")
"""Ways that deliveries come by; what a publisher's own broker delivers is neither."""
CARRIERS = {
    "popular": ("event",),
    "unpopular": ("direct-event", "batch", "gossip", "retrieved"),
    "control": (
        "switch", "join", "join-reply", "leave", "retrieve", "number-request", "number-reply",
        "direct-end",
    ),
}  # fmt: skip
"""Types of messages by what they are for."""

_MILLISECONDS = NANOSECONDS // 1000


def popularity_values(run: FinishedRun) -> Iterator[tuple[str, float]]:
    """Single numbers of a run with publishers of unequal popularity; none of others."""
    if not is_popularity(run):
        return
    source = _Source(run)
    for part in (_gains, _forwards, _deliveries, _gossip, _queues):
        yield from part(source)
    yield from _wire(source)


def is_popularity(run: FinishedRun) -> bool:
    """Whether a run has that workload and measured its brokers."""
    config = run.manifest["config"]
    kind = config.get("workload", {}).get("kind")
    return kind == "popularity" and "brokers" in config.get("measure", ())


class _Source:
    """A run's tables as this module needs them, each read once."""

    def __init__(self, run: FinishedRun) -> None:
        self.run = run

    @cached_property
    def samples(self) -> pd.DataFrame:
        return self.run.table("brokers")

    @cached_property
    def _counted(self) -> "pd.Series[float]":
        last = self.samples[self.samples.time == self.samples.time.max()]
        return last.groupby("name").value.sum()

    def count(self, name: str) -> float:
        """A counter of all brokers together when the run ended."""
        return float(self._counted.get(name, 0.0))

    @cached_property
    def latencies(self) -> "dict[str, np.typing.NDArray[np.float64]]":
        """How long deliveries took (ms), by the way that they came by."""
        path = self.run.table_path("deliveries")
        columns = ["published", "delivered", "way"]
        table = pq.read_table(path, columns=columns, read_dictionary=["way"])
        taken = (table["delivered"].to_numpy() - table["published"].to_numpy()) / _MILLISECONDS
        ways = table["way"].combine_chunks()
        codes = ways.indices.to_numpy(zero_copy_only=False)
        return {name: taken[codes == code] for code, name in enumerate(ways.dictionary.to_pylist())}

    def of(self, *ways: str) -> "np.typing.NDArray[np.float64]":
        """All latencies of some ways."""
        return np.concatenate([self.latencies.get(way, np.array([])) for way in ways])


def _gains(source: _Source) -> Iterator[tuple[str, float]]:
    own, passing = source.count("gain"), source.count("passing-gain")
    forwards, passed = source.count("gain-forwards"), source.count("passing-gain-forwards")
    if forwards + passed:
        yield "gain", (own + passing) / (forwards + passed)
    if forwards:
        yield "gain of publishers", own / forwards


def _forwards(source: _Source) -> Iterator[tuple[str, float]]:
    yield "pure forwards", source.count("pure-forwards")
    yield "tree forwards", source.count("tree-forwards") + source.count("batch-forwards")
    records = source.run.table("records")
    direct = records[records.name == "direct-forwards"].value
    if len(direct):
        yield "direct forwards", float(np.percentile(direct, 99))


def _deliveries(source: _Source) -> Iterator[tuple[str, float]]:
    unpopular, popular = source.of(*UNPOPULAR), source.of(POPULAR)
    every = sum(map(len, source.latencies.values()))
    yield "unpopular deliveries", float(len(unpopular))
    if every:
        yield "unpopular percent", 100 * len(unpopular) / every
    for name, taken in (("popular", popular), ("unpopular", unpopular)):
        if len(taken):
            yield f"{name} latency", float(np.percentile(taken, 99))
            yield f"{name} latency, 90th", float(np.percentile(taken, 90))
            yield f"{name} latency, median", float(np.percentile(taken, 50))
    made = source.run.manifest["deliveries"]
    if made["due"]:
        yield "missing percent", 100 * made["missing"] / made["due"]
        yield "repeated percent", 100 * made["duplicate"] / made["due"]


def _gossip(source: _Source) -> Iterator[tuple[str, float]]:
    received = source.count("gossiped-received")
    if not received:
        return
    unmatched = source.count("gossiped-unmatched")
    agents = source.run.table("agents")
    gossips = agents[(agents.side == "received") & (agents.type == "gossip")].messages.sum()
    yield "gossip false positives", 100 * unmatched / received
    yield "match per gossip", (received - unmatched) / max(int(gossips), 1)
    yield "groups", source.count("groups")


def _queues(source: _Source) -> Iterator[tuple[str, float]]:
    """The mean queue that input joined if it had to wait, as published; the longest; how busy."""
    events = source.run.table("events").time
    if not len(events):
        return
    queues = source.run.table("queues")
    if "joined" in queues:  # campaigns keep their runs, also those of a pysim that did not count it
        yield "queue", float(queues.joined.sum()) / max(int(queues.delayed.sum()), 1)
    yield "longest queue", float(queues.longest.max())
    yield "busiest percent", 100 * float(queues.busy.max()) / int(events.max() - events.min() or 1)


def _wire(source: _Source) -> Iterator[tuple[str, float]]:
    """Bytes on the wire of a run that has captures: for each message and delivery."""
    captures = captured(source.run.directory)
    if captures is None:
        return
    messages, sizes = captures.messages, captures.sizes()
    by_type = sizes.groupby(messages.name)
    for kind in ("event", "direct-event", "batch", "gossip", "retrieved", "switch"):
        if kind in by_type.groups:
            found = by_type.get_group(kind)
            yield f"bytes of a {kind}", float(found.mean())
            yield f"least bytes of a {kind}", float(found.min())
    reached = {"popular": len(source.of(POPULAR)), "unpopular": len(source.of(*UNPOPULAR))}
    for name, count in reached.items():
        if count:
            total = sizes[messages.name.isin(CARRIERS[name])].sum()
            yield f"bytes per {name} delivery", float(total) / count
    if reached["unpopular"]:
        control = sizes[messages.name.isin(CARRIERS["control"])].sum()
        yield "control bytes per unpopular delivery", float(control) / reached["unpopular"]
    bytes_of = captures.categories()
    yield "bytes of handshakes", float(bytes_of.get("handshake", 0))
    yield "bytes of acknowledgments", float(bytes_of.get("ack", 0))
