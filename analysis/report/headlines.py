"""The few numbers that a run comes down to: for the top of a report, and the axes of a sweep."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from analysis.figures.breakdown import HEADERS, OWN
from analysis.figures.confidence import Estimate, estimate
from analysis.figures.numbers import NONE, Unit, byte_unit, estimated, percent, time_unit
from analysis.report.source import AnalysedRun, Sample
from analysis.sources import AbsentError

_EVENT_CARRIERS = ("batch", "gossip", "retrieved")


@dataclass(frozen=True)
class Measure:
    """A number that a run has: its name, what it measures, and how it is written."""

    key: str
    label: str
    kind: Literal["bytes", "share", "seconds", "number"]
    meaning: str

    def unit(self, largest: float) -> Unit:
        """The unit for values up to this one."""
        if self.kind == "bytes":
            return byte_unit(largest)
        if self.kind == "seconds":
            return time_unit(largest)
        return Unit("%", 0.01) if self.kind == "share" else Unit("", 1.0)

    def shown(self, value: Estimate) -> str:
        """A value as it is printed."""
        if math.isnan(value.mean):
            return NONE
        if self.kind == "share" and not value.known:
            return percent(value.mean)
        unit = self.unit(abs(value.mean))
        return estimated(value, 1 / unit.size, unit.name)


@dataclass(frozen=True)
class Headline(Measure):
    """A measure, and how an analysed run tells it."""

    measure: Callable[[AnalysedRun], float]

    def of(self, sample: Sample) -> Estimate:
        """Its mean over the seeds of a sample."""
        return estimate(map(self.known, sample.runs))

    def known(self, run: AnalysedRun) -> float:
        """Its value in one run; NaN where the run cannot tell it."""
        try:
            return float(self.measure(run))
        except AbsentError:
            return math.nan


def is_event(kind: str) -> bool:
    """Whether messages of this type carry events; all others are control messages."""
    return "event" in kind or kind in _EVENT_CARRIERS


def wire_bytes(run: AnalysedRun, categories: Sequence[str] | None = None) -> float:
    """Bytes on the wire, of some categories or all."""
    table = run.metric("byte_breakdown").set_index("category").bytes
    return float(table.sum() if categories is None else table.reindex(categories).sum())


def _made(run: AnalysedRun) -> int:
    return int(run.manifest["deliveries"]["made"])


def hops(run: AnalysedRun) -> "pd.Series[int]":
    """Message hops by type, as the network counted them."""
    return pd.Series(
        {kind: row["sent"] for kind, row in run.manifest["messages"].items()}, dtype="int64"
    )


def _event_body(run: AnalysedRun) -> float:
    cost = run.metric("message_cost")
    return float(cost.body_bytes[cost.type.map(is_event)].sum())


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan


def _quantile(run: AnalysedRun, level: float) -> float:
    table = run.metric("latency")
    nearest = (table["quantile"] - level).abs().idxmin()
    return float(table.seconds[nearest])


def _control_share(run: AnalysedRun) -> float:
    sizes = pd.Series(
        {kind: row["sent_bytes"] for kind, row in run.manifest["messages"].items()}, dtype=float
    )
    return _ratio(sizes[[not is_event(kind) for kind in sizes.index]].sum(), sizes.sum())


def _per_reconfiguration(run: AnalysedRun) -> float:
    table = run.metric("reconfiguration_overhead")
    return _ratio(table.messages.sum(), table.reconfiguration.nunique())


HEADLINES = (
    Headline(
        "wire_bytes", "bytes on the wire", "bytes",
        "All bytes of all packets on all links: messages, headers, and packets without a message.",
        wire_bytes,
    ),
    Headline(
        "wire_per_event_byte", "wire bytes per event byte", "number",
        "Bytes on the wire, over the bytes of event bodies that crossed links.",
        lambda run: _ratio(wire_bytes(run), _event_body(run)),
    ),
    Headline(
        "wire_per_delivery", "wire bytes per delivery", "bytes",
        "Bytes on the wire, over the deliveries made.",
        lambda run: _ratio(wire_bytes(run), _made(run)),
    ),
    Headline(
        "header_share", "share of TCP/IP and link headers", "share",
        "Headers below the frames of messages, over all bytes on the wire; packets without a "
        "message are not counted in.",
        lambda run: _ratio(wire_bytes(run, tuple(HEADERS)), wire_bytes(run)),
    ),
    Headline(
        "own_share", "share of packets without a message", "share",
        "Bytes of ACKs, handshakes, teardowns, resets and retransmissions, over all bytes.",
        lambda run: _ratio(wire_bytes(run, tuple(OWN)), wire_bytes(run)),
    ),
    Headline(
        "message_hops", "message hops", "number",
        "Messages sent, counted on every link they cross.",
        lambda run: float(hops(run).sum()),
    ),
    Headline(
        "control_share", "control share of message bytes", "share",
        "Bytes of frames that carry no event, over the bytes of all frames.",
        _control_share,
    ),
    Headline(
        "delivered", "delivered of what was due", "share",
        "Deliveries made over deliveries due, for clients subscribed when the event was published.",
        lambda run: _ratio(_made(run), run.manifest["deliveries"]["due"]),
    ),
    Headline(
        "latency_median", "median latency", "seconds",
        "From an event's publication to its delivery, half of all deliveries are faster.",
        lambda run: _quantile(run, 0.5),
    ),
    Headline(
        "latency_p99", "99th percentile of latency", "seconds",
        "From an event's publication to its delivery, 99 % of all deliveries are faster.",
        lambda run: _quantile(run, 0.99),
    ),
    Headline(
        "busiest_link", "busiest link", "share",
        "Largest share of its life that one direction of a link spends sending.",
        lambda run: run.metric("link_load").busy_share.max(),
    ),
    Headline(
        "jain", "Jain index of broker load", "number",
        "Evenness of the message bytes that brokers handle: 1 is even, 1/n is one broker alone.",
        lambda run: run.metric("fairness").jain_index_bytes.iloc[0],
    ),
    Headline(
        "normalized_cost", "normalized cost", "number",
        "Message hops weighted as published; an event is 1.",
        lambda run: run.metric("normalized_cost").published_cost.sum(),
    ),
    Headline(
        "per_reconfiguration", "control messages per reconfiguration", "number",
        "Hops of control messages from a link's break to quiescence, in the mean.",
        _per_reconfiguration,
    ),
)  # fmt: skip

BY_KEY = {headline.key: headline for headline in HEADLINES}
