"""What messages cost: how many there were of each type, in bytes, and in the published weights."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from analysis.metrics.inputs import HEADER_BYTES, binned
from analysis.metrics.metric import Setting
from pysim.wire.messages import Event, Flush, Recack, Subscribe, Unsubscribe
from pysim.wire.weights import weight_of_type

PUBLISHED_WEIGHTS = {
    kind.NAME: weight
    for kind in (Subscribe, Unsubscribe, Event, Flush, Recack)
    if (weight := weight_of_type(kind.CODE)) is not None
}
"""Table II of the reconfiguration paper (Cugola, Frey, Murphy, Picco), by type."""
REFERENCE = "event"
"""The type whose weight is 1 where bytes imply the weights."""


def message_cost(hops: DataFrame) -> DataFrame:
    """Messages by phase, type, channel and direction: what each broker sent to each other one.

    A message counts once for each time it goes from one broker to another, as captured: over an
    overlay link (channel ``link``), or by unicast (``tcp``, ``udp``), however many lines that
    crosses. `bytes` are whole frames, `body_bytes` frames without their header of 16 bytes.
    Phases are ``setup`` (before the first publication), ``reconfiguration`` (from the first change
    of a reconfiguration to its end, which `reconfiguration_overhead` defines) and ``traffic`` (the
    rest), by the time at which a message's first byte was captured.
    """
    return (
        hops.filter("counted")
        .groupBy("phase", "type", "channel", "source", "target")
        .agg(
            f.count("*").alias("messages"),
            f.sum("length").alias("bytes"),
            f.sum(f.col("length") - HEADER_BYTES).alias("body_bytes"),
        )
    )


def message_totals(hops: DataFrame) -> DataFrame:
    """`message_cost` summed over channels and brokers; `share` is of the bytes of all messages."""
    totals = (
        hops.filter("counted")
        .groupBy("phase", "type")
        .agg(f.count("*").alias("messages"), f.sum("length").alias("bytes"))
    )
    whole = totals.agg(f.sum("bytes").alias("_whole"))
    return totals.crossJoin(f.broadcast(whole)).select(
        "phase", "type", "messages", "bytes", (f.col("bytes") / f.col("_whole")).alias("share")
    )


def traffic_over_time(hops: DataFrame, setting: Setting) -> DataFrame:
    """Messages and frame bytes by type and time bin, counted as in `message_cost`.

    `bin` is the start of the bin (ns) in which a message's first byte was captured. All binned
    metrics share the length of bins: 1, 2 or 5 times a power of ten, at most 100 bins in a run.
    """
    return (
        hops.filter("counted")
        .groupBy(binned(f.col("first_time"), setting).alias("bin"), "type")
        .agg(f.count("*").alias("messages"), f.sum("length").alias("bytes"))
    )


def normalized_cost(counters: DataFrame) -> DataFrame:
    """Messages by type, weighed as published and as their bytes imply.

    `messages` are those that agents sent, each hop counted, by the run's counters (the books hold
    them against captures). `published_weight` is that of Table II of the reconfiguration paper:
    1 for subscribe, unsubscribe and event, 0.1 for flush and recack; null for types that the paper
    does not have, and for activate and rec, whose weight is the number of patterns that each one
    carries. `published_cost` is messages times weight. `implied_weight` is the type's mean frame
    length over that of event, `implied_cost` messages times that: bytes in units of an event.
    """
    totals = counters.groupBy("type").agg(
        f.sum("sent").alias("messages"), f.sum("sent_bytes").alias("bytes")
    )
    event = totals.filter(f.col("type") == REFERENCE).agg(
        f.max(f.col("bytes") / f.col("messages")).alias("event_bytes")
    )
    weights = f.create_map(*(f.lit(x) for item in PUBLISHED_WEIGHTS.items() for x in item))
    weighed = (
        totals.filter("messages > 0")
        .crossJoin(f.broadcast(event))
        .withColumn("published_weight", weights[f.col("type")])
        .withColumn("mean_bytes", f.col("bytes") / f.col("messages"))
        .withColumn("implied_weight", f.col("mean_bytes") / f.col("event_bytes"))
    )
    return weighed.select(
        "type",
        "messages",
        "published_weight",
        (f.col("messages") * f.col("published_weight")).alias("published_cost"),
        "mean_bytes",
        "implied_weight",
        (f.col("bytes") / f.col("event_bytes")).alias("implied_cost"),
    )
