"""Where the bytes on the wires go: messages, headers, and what TCP sends of its own."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from analysis.metrics.inputs import CARRIERS, HEADER_BYTES

_CARRYING = ("data", "datagram")
_OF_THEIR_OWN = ("ack", "handshake", "teardown", "reset", "retransmission", "other")
_HEADERS = ("transport_header", "ip_header", "link_header")


def byte_breakdown(packets: DataFrame) -> DataFrame:
    """All bytes on the wires by what they are for; every packet counts on each line it crosses.

    Packets that carry messages are taken apart: `body`, `frame header` (16 bytes a message),
    `transport header` (TCP or UDP with options), `ip header`, `link header` (PPP); bytes in them
    that were sent before are `retransmission`, bytes that belong to no message `other`. Packets
    that carry none count whole: `ack` (pure acknowledgments), `handshake`, `teardown`, `reset`,
    `retransmission` (nothing new in it), `other`. `packets` are those with at least one such byte,
    `share` is of all bytes.
    """
    carries = f.col("role").isin(*_CARRYING)
    parts = {
        "body": f.when(carries, f.col("body")),
        "frame header": f.when(carries, f.col("frame_header")),
        **{_label(name): f.when(carries, f.col(name)) for name in _HEADERS},
        **{role: _whole(role) for role in _OF_THEIR_OWN},
        "retransmission": f.coalesce(_whole("retransmission"), f.when(carries, f.col("repeated"))),
        "other": f.coalesce(_whole("other"), f.when(carries, f.col("unattributed"))),
    }
    listed = f.explode(f.array(*(_part(name, size) for name, size in parts.items())))
    sums = (
        packets.filter("counted")
        .select(listed.alias("part"))
        .groupBy(f.col("part.category").alias("category"))
        .agg(
            f.sum((f.col("part.bytes") > 0).cast("long")).alias("packets"),
            f.sum("part.bytes").alias("bytes"),
        )
    )
    whole = sums.agg(f.sum("bytes").alias("_whole"))
    return sums.crossJoin(f.broadcast(whole)).select(
        "category", "packets", "bytes", f.try_divide("bytes", "_whole").alias("share")
    )


def byte_breakdown_by_type(hops: DataFrame) -> DataFrame:
    """What the messages of each type took on the first line of their way, headers included.

    `body` and `frame header` are the messages' own. The headers of a packet go to the messages that
    it completes, in proportion to their length and in whole bytes; those of a packet that completes
    none go to the messages that are completed next on that connection in that direction. Packets
    behind the last whole message, retransmissions and packets without messages are not shared out.
    """
    parts = {
        "body": f.col("length") - HEADER_BYTES,
        "frame header": f.lit(HEADER_BYTES),
        **{_label(name): f.col(name) for name in _HEADERS},
    }
    return (
        hops.filter("counted")
        .groupBy("type")
        .agg(*(f.sum(size.cast("long")).alias(name) for name, size in parts.items()))
        .unpivot("type", list(parts), "category", "bytes")
    )


def bytes_by_purpose(packets: DataFrame, hops: DataFrame) -> DataFrame:
    """All bytes on the wires by what they serve; every packet counts on each line it crosses.

    `events` are the bodies of publications and of what carries them (batch, gossip, retrieved),
    `control` those of all other messages; `headers` are those of frames, TCP or UDP, IP and link,
    in packets that carry messages. `transport` is all else: acknowledgments, handshakes, teardowns,
    resets, retransmissions, and messages that never became whole. The sum is that of
    `byte_breakdown`.
    """
    carries = f.col("role").isin(*_CARRYING)
    headers = sum((f.col(name) for name in _HEADERS), f.col("frame_header"))
    seen = packets.filter("counted").agg(
        f.coalesce(f.sum("length"), f.lit(0)).alias("whole"),
        f.coalesce(f.sum(f.when(carries, headers)), f.lit(0)).alias("headers"),
    )
    body = (f.col("length") - HEADER_BYTES).cast("long")
    of_events = f.col("publication") | f.col("type").isin(*CARRIERS)
    bodies = hops.filter("crossed").agg(
        f.coalesce(f.sum(f.when(of_events, body)), f.lit(0)).alias("events"),
        f.coalesce(f.sum(f.when(~of_events, body)), f.lit(0)).alias("control"),
    )
    known = f.col("events") + f.col("control") + f.col("headers")
    return (
        seen.crossJoin(bodies)
        .withColumn("transport", f.col("whole") - known)
        .unpivot("whole", ["events", "control", "headers", "transport"], "purpose", "bytes")
        .select("purpose", "bytes", f.try_divide("bytes", "whole").alias("share"))
    )


def retransmissions(packets: DataFrame) -> DataFrame:
    """What brokers sent again, as seen where the packets left their source.

    `packets` are those with at least one byte of payload that was captured there before; `bytes`
    are these packets with their headers if nothing in them is new, else the repeated payload.
    """
    again = f.when(f.col("role") == "retransmission", f.col("length")).otherwise(f.col("repeated"))
    return (
        packets.filter(f.col("departure") & (again > 0) & f.col("target").isNotNull())
        .groupBy("source", "target")
        .agg(f.count("*").alias("packets"), f.sum(again).alias("bytes"))
    )


def _label(column: str) -> str:
    return column.replace("_", " ")


def _whole(role: str) -> Column:
    return f.when(f.col("role") == role, f.col("length"))


def _part(category: str, size: Column) -> Column:
    count = f.coalesce(size, f.lit(0)).cast("long")
    return f.struct(f.lit(category).alias("category"), count.alias("bytes"))
