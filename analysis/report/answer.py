"""The answer first: a few sentences and numbers that are computed from the data."""

import math
from collections.abc import Iterator

from analysis.figures.breakdown import HEADERS, OWN
from analysis.figures.confidence import Estimate
from analysis.figures.numbers import SPACE, counted, digits, in_bytes, joined, percent
from analysis.report import books
from analysis.report.headlines import BY_KEY, hops, wire_bytes
from analysis.report.markup import Markup, tag
from analysis.report.page import paragraph
from analysis.report.source import Sample
from analysis.sources import AbsentError

NUMBERS = (
    "wire_bytes",
    "wire_per_event_byte",
    "wire_per_delivery",
    "delivered",
    "latency_median",
    "latency_p99",
    "message_hops",
    "control_share",
)
_PARTS = {
    "are message bodies": ("body",),
    "frame headers": ("frame header",),
    "TCP/IP and link headers": tuple(HEADERS),
    "packets that carry no new message": tuple(OWN),
}


def words(sample: Sample) -> Iterator[Markup]:
    """The sentences, the most important one first, the key numbers, and whether to trust them."""
    for sentences in (_cost(sample), _service(sample), _control(sample)):
        yield paragraph(" ".join(sentences))
    values = {key: BY_KEY[key].of(sample) for key in NUMBERS}
    known = {key: value for key, value in values.items() if value.seeds}
    yield tag("dl", *(_tile(key, value) for key, value in known.items()), class_="numbers")
    yield tag("p", books.verdict(sample), class_="note good")


def _tile(key: str, value: Estimate) -> Markup:
    """A key number, with its interval below if there are several seeds."""
    headline = BY_KEY[key]
    below = Markup("")
    if value.known:
        unit = headline.unit(abs(value.mean))
        half = f"±{SPACE}{digits(value.half / unit.size, 2)}{SPACE}{unit.name}"
        below = tag("small", half.rstrip(SPACE))
    shown = headline.shown(Estimate(value.mean, math.nan, value.seeds))
    return tag("div", tag("dt", headline.label), tag("dd", shown, below))


def _cost(sample: Sample) -> Iterator[str]:
    """What it cost."""
    count = len(sample.runs)
    if count > 1:
        yield f"In the mean of {count} seeds:"
    made = sample.mean(lambda run: run.manifest["deliveries"]["made"])
    try:
        total = sample.mean(wire_bytes)
    except AbsentError as reason:
        yield f"{digits(sample.mean(lambda run: float(hops(run).sum())))} message hops led to"
        yield f"{digits(made)} deliveries. How many bytes crossed the wires is not known:"
        yield f"{reason}."
        return
    yield f"{in_bytes(total)} crossed the links for {digits(made)} deliveries"
    yield f"({_shown(sample, 'wire_per_delivery')} each)." if made else "."
    if not math.isnan(BY_KEY["wire_per_event_byte"].of(sample).mean):
        yield f"An event byte costs {_shown(sample, 'wire_per_event_byte')} bytes on the wire."
    shares = {
        name: sample.mean(lambda run, parts=parts: wire_bytes(run, parts)) / total  # type: ignore[misc]
        for name, parts in _PARTS.items()
    }
    listed = joined([f"{percent(share)} {name}" for name, share in shares.items() if share])
    yield f"Of all bytes {listed}."


def _service(sample: Sample) -> Iterator[str]:
    """What subscribers got."""
    counts = [run.manifest["deliveries"] for run in sample.runs]
    due, made, missing, twice = (
        sum(count[key] for count in counts) / len(counts)
        for key in ("due", "made", "missing", "duplicate")
    )
    if not due:
        yield "Nothing was due to be delivered."
        return
    if missing:
        yield f"Of {digits(due)} deliveries due {percent(made / due)} were made and"
        yield f"{digits(missing)} are missing;"
    else:
        yield f"All {digits(made)} deliveries due were made;"
    yield f"{digits(twice) if twice else 'nothing'} was delivered twice."
    if not math.isnan(BY_KEY["latency_median"].of(sample).mean):
        yield f"Half of the deliveries arrive within {_shown(sample, 'latency_median')},"
        yield f"99{SPACE}% within {_shown(sample, 'latency_p99')}."


def _control(sample: Sample) -> Iterator[str]:
    """What the protocol itself needs."""
    if not BY_KEY["control_share"].of(sample).mean:
        yield "There are no control messages."
        return
    yield f"Control messages are {_shown(sample, 'control_share')} of the message bytes."
    try:
        frames = sample.frames("reconfiguration_overhead")
    except AbsentError:
        return
    count = sum(frame.reconfiguration.nunique() for frame in frames)
    if count:
        size = sum(int(frame.bytes.sum()) for frame in frames) / count
        number = counted(round(count / len(frames)), "reconfiguration")
        yield f"In the mean, each of the {number} cost {_shown(sample, 'per_reconfiguration')}"
        yield f"control messages ({in_bytes(size)} of frames)."


def _shown(sample: Sample, key: str) -> str:
    return BY_KEY[key].shown(BY_KEY[key].of(sample))
