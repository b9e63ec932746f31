"""The numbers of a run that systems are compared by: what each is, and where it comes from."""

from analysis.report.headlines import BY_KEY, Headline
from analysis.report.source import AnalysedRun
from analysis.sources import AbsentError


def _purpose(run: AnalysedRun, purpose: str) -> float:
    table = run.metric("bytes_by_purpose").set_index("purpose").bytes
    return float(table[purpose])


def _asked(run: AnalysedRun, table: str, column: str) -> float:
    """The sum of a column of what `measure = ["costs"]` leaves."""
    if "costs" not in run.manifest["config"].get("measure", []):
        raise AbsentError('the run did not measure "costs"')
    return float(run.table(table)[column].sum())


def _delivered(run: AnalysedRun, kind: str) -> float:
    return float(run.manifest["deliveries"][kind])


MEASURES = (
    BY_KEY["wire_bytes"],
    Headline(
        "event_bytes", "bytes of events", "bytes",
        "Bodies of publications and of what carries them, on every line they cross.",
        lambda run: _purpose(run, "events"),
    ),
    Headline(
        "header_bytes", "bytes of headers", "bytes",
        "Headers of frames, TCP or UDP, IP and link, in packets that carry messages.",
        lambda run: _purpose(run, "headers"),
    ),
    Headline(
        "control_bytes", "bytes of control messages", "bytes",
        "Bodies of all messages that carry no event.",
        lambda run: _purpose(run, "control"),
    ),
    Headline(
        "transport_bytes", "bytes of ACKs and handshakes", "bytes",
        "Packets that carry no message: acknowledgments, handshakes, retransmissions.",
        lambda run: _purpose(run, "transport"),
    ),
    Headline(
        "frame_bytes", "bytes of messages", "bytes",
        "Whole frames, counted on each way from a broker to another, however long that is.",
        lambda run: float(sum(row["sent_bytes"] for row in run.manifest["messages"].values())),
    ),
    Headline(
        "messages", "messages", "number",
        "Messages on each way from a broker to another.",
        BY_KEY["message_hops"].measure,
    ),
    Headline(
        "cost", "normalized cost", "number",
        "Messages, each weighed by the filters, events and withdrawn names that it carries; one "
        "that carries none weighs 0.1.",
        lambda run: _asked(run, "weights", "weight"),
    ),
    BY_KEY["latency_median"],
    BY_KEY["latency_p99"],
    Headline(
        "load", "load of the busiest broker", "number",
        "Message bytes that the busiest broker handles, over the mean of all brokers.",
        lambda run: run.metric("fairness").max_over_mean.iloc[0],
    ),
    Headline(
        "state", "subscriptions stored", "number",
        "Subscriptions that all brokers together hold at the end, a copy at each counted.",
        lambda run: _asked(run, "state", "stored"),
    ),
    Headline(
        "due", "deliveries due", "number",
        "Events times the clients that had a matching subscription when they were published.",
        lambda run: _delivered(run, "due"),
    ),
    Headline(
        "missing", "deliveries missing", "number",
        "Deliveries due that were never made.",
        lambda run: _delivered(run, "missing"),
    ),
    Headline(
        "duplicate", "deliveries made twice", "number",
        "Deliveries of an event to a client that had it already, or that did not want it.",
        lambda run: _delivered(run, "duplicate") + _delivered(run, "spurious"),
    ),
)  # fmt: skip

BY_NAME = {measure.key: measure for measure in MEASURES}
BYTES = ("wire_bytes", "frame_bytes")
"""What bytes means, in the order of preference: the memory network has no packets."""
