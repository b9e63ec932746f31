"""What systems are compared by: the names and meanings of measures; `numbers` finds them."""

from analysis.report.headlines import Measure

MEASURES = (
    Measure(
        "wire_bytes", "bytes on the wire", "bytes",
        "All bytes of all packets on all links: messages, headers, and packets without a message.",
    ),
    Measure(
        "event_bytes", "bytes of events", "bytes",
        "Bodies of publications and of what carries them, on every line they cross.",
    ),
    Measure(
        "header_bytes", "bytes of headers", "bytes",
        "Headers of frames, TCP or UDP, IP and link, in packets that carry messages.",
    ),
    Measure(
        "control_bytes", "bytes of control messages", "bytes",
        "Bodies of all messages that carry no event.",
    ),
    Measure(
        "transport_bytes", "bytes of ACKs and handshakes", "bytes",
        "Packets that carry no message: acknowledgments, handshakes, retransmissions.",
    ),
    Measure(
        "frame_bytes", "bytes of messages", "bytes",
        "Whole frames, counted on each way from a broker to another, however long that is.",
    ),
    Measure(
        "messages", "messages", "number",
        "Messages on each way from a broker to another.",
    ),
    Measure(
        "cost", "normalized cost", "number",
        "Messages, each weighed by the filters, events and withdrawn names that it carries; one "
        "that carries none weighs 0.1.",
    ),
    Measure(
        "latency_median", "median latency", "seconds",
        "From an event's publication to its delivery, half of all deliveries are faster.",
    ),
    Measure(
        "latency_p99", "99th percentile of latency", "seconds",
        "From an event's publication to its delivery, 99 % of all deliveries are faster.",
    ),
    Measure(
        "load", "busiest broker over mean", "number",
        "Message bytes that the busiest broker handles, over the mean of all brokers.",
    ),
    Measure(
        "state", "subscriptions stored", "number",
        "Subscriptions that all brokers together hold at the end, a copy at each counted.",
    ),
    Measure(
        "due", "deliveries due", "number",
        "Events times the clients that had a matching subscription when they were published.",
    ),
    Measure(
        "missing", "deliveries missing", "number",
        "Deliveries due that were never made.",
    ),
    Measure(
        "duplicate", "deliveries twice or unasked", "number",
        "Deliveries of an event to a client that had it already, or that did not want it.",
    ),
)  # fmt: skip

BY_NAME = {measure.key: measure for measure in MEASURES}
BYTES = ("wire_bytes", "frame_bytes")
"""What bytes means, in the order of preference: the memory network has no packets."""
