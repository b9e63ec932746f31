"""How loaded lines and brokers were."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from analysis.metrics.inputs import binned
from analysis.metrics.metric import NANOSECONDS, Setting

_LINE = ("a", "b", "directed")


def link_load(
    packets: DataFrame, hops: DataFrame, events: DataFrame, wires: DataFrame, setting: Setting
) -> DataFrame:
    """Load of each line, by direction, from the end `a` to the end `b`.

    Ends are named as captures are: ``b3`` is broker 3 (also in `source` and `target`), ``r1`` a
    router; a host's line into a network of given latencies has no `b`. `bytes` are those of all
    packets with all headers. `busy_share` is their bits over what the line could have carried
    while it was up; `peak_share` is the greatest share of a time bin in which the line was sending.
    Packets that only pass both ends of a line, so that captures do not tell their direction, count
    for both directions together (`directed` is false), against twice the line's rate.

    Waiting is that of messages that a broker passed on or that its client published: from the
    arrival of the whole message (or its publication) to the departure of its first byte. So it
    contains the broker's service time, what TCP held back, and the line's queue. `waits` messages
    waited `mean_wait` and at most `max_wait` (ns); only where the broker's end was captured.
    """
    crossings = packets.filter(f.col("counted") & f.col("a").isNotNull())
    ways = f.when(f.col("directed"), 1).otherwise(2)
    lines = crossings.join(f.broadcast(_both_ways(wires)), _same_line(), "left")
    sums = lines.groupBy(*_LINE).agg(
        f.count("*").alias("packets"),
        f.sum("length").alias("bytes"),
        f.max(f.col("rate") * ways * f.col("life") / NANOSECONDS).alias("capacity"),
    )
    return (
        sums.join(
            _peaks(lines.withColumn("rate", f.col("rate") * ways), setting), _same_row("peak")
        )
        .join(_waits(hops, events), _same_row("wait") & f.col("directed"), "left")
        .select(
            _broker("a").alias("source"),
            _broker("b").alias("target"),
            *_LINE,
            "packets",
            "bytes",
            (f.col("bytes") * 8 / f.col("capacity")).alias("busy_share"),
            "peak_share",
            f.coalesce("waits", f.lit(0)).alias("waits"),
            (f.col("waited") / f.col("waits")).alias("mean_wait"),
            "max_wait",
        )
    )


def load_fairness(counters: DataFrame, setting: Setting) -> DataFrame:
    """Messages and frame bytes that each broker handled: what it sent and what it received.

    By the run's counters (the books hold them against captures), all channels. `share` is of the
    bytes of all brokers together. Brokers that handled nothing have a row of zeros.
    """
    ends = counters.select(
        f.explode(
            f.array(
                _handled("source", "sent", "sent_bytes"),
                _handled("target", "received", "received_bytes"),
            )
        ).alias("end")
    ).select("end.*")
    every = ends.sparkSession.range(setting.brokers).select(
        f.col("id").alias("broker"), f.lit(0).alias("messages"), f.lit(0).alias("bytes")
    )
    sums = (
        ends.unionByName(every)
        .groupBy(f.col("broker").cast("int").alias("broker"))
        .agg(f.sum("messages").alias("messages"), f.sum("bytes").alias("bytes"))
    )
    whole = sums.agg(f.sum("bytes").alias("_whole"))
    return sums.crossJoin(f.broadcast(whole)).select(
        "broker", "messages", "bytes", f.try_divide("bytes", "_whole").alias("share")
    )


def fairness(counters: DataFrame, setting: Setting) -> DataFrame:
    """How evenly brokers share the load of `load_fairness`; one row.

    Jain's index of x over n brokers is (sum x)^2 / (n sum x^2), 1 if all are equal and 1/n if one
    does everything: `jain_index_messages`, `jain_index_bytes`. Of the bytes: `max_over_mean`, and
    `gini`, the mean difference between two brokers over twice the mean, 0 if all are equal. All are
    null if nobody handled anything.
    """
    load = load_fairness(counters, setting)
    rank = f.row_number().over(Window.orderBy("bytes", "broker"))
    sums = load.withColumn("rank", rank).agg(
        f.count("*").alias("n"),
        f.sum("messages").alias("messages"),
        f.sum("bytes").alias("bytes"),
        f.max("bytes").alias("most"),
        f.sum(_exact("messages") * _exact("messages")).alias("messages_squared"),
        f.sum(_exact("bytes") * _exact("bytes")).alias("bytes_squared"),
        f.sum(_exact("rank") * _exact("bytes")).alias("ranked"),
    )
    n, size = f.col("n"), f.col("bytes").cast("double")
    return sums.select(
        _jain("messages").alias("jain_index_messages"),
        _jain("bytes").alias("jain_index_bytes"),
        f.try_divide(f.col("most") * n, size).alias("max_over_mean"),
        (f.try_divide(2 * f.col("ranked").cast("double"), n * size) - (n + 1) / n).alias("gini"),
    )


def _same_line() -> Column:
    return (f.col("a") == f.col("wire_a")) & f.col("b").eqNullSafe(f.col("wire_b"))


def _same_row(prefix: str) -> Column:
    same = (f.col("a") == f.col(f"{prefix}_a")) & f.col("b").eqNullSafe(f.col(f"{prefix}_b"))
    return same & (f.col("directed") == f.col("peak_directed")) if prefix == "peak" else same


def _both_ways(wires: DataFrame) -> DataFrame:
    there, back = (
        wires.select(f.col(a).alias("wire_a"), f.col(b).alias("wire_b"), "rate", "life")
        for a, b in (("a", "b"), ("b", "a"))
    )
    return there.unionByName(back.filter("wire_a IS NOT NULL"))


def _peaks(lines: DataFrame, setting: Setting) -> DataFrame:
    """The busiest bin of each line; a packet is in all bins in which it is being sent."""
    start = f.col("time")
    end = start + f.ceil(f.col("length") * 8.0 * NANOSECONDS / f.col("rate"))
    bins = f.sequence(binned(start, setting), binned(end - 1, setting), f.lit(setting.bin))
    sent = lines.select(
        *_LINE, start.alias("start"), end.alias("end"), f.explode(bins).alias("bin")
    )
    within = f.least("end", f.col("bin") + setting.bin) - f.greatest("start", "bin")
    busy = sent.groupBy(*_LINE, "bin").agg(f.sum(within).alias("busy"))
    return busy.groupBy(*(f.col(name).alias(f"peak_{name}") for name in _LINE)).agg(
        (f.max("busy") / setting.bin).alias("peak_share")
    )


def _waits(hops: DataFrame, events: DataFrame) -> DataFrame:
    came = hops.filter("arrived AND target <> origin").groupBy("origin", "sequence", "target")
    reasons = came.agg(f.min("time").alias("reason")).unionByName(
        events.select(
            "origin", "sequence", f.col("broker").alias("target"), f.col("time").alias("reason")
        )
    )
    passed_on = hops.filter("direction = 'out'").withColumnsRenamed(
        {"source": "at", "target": "to"}
    )
    waited = f.col("first_time") - f.col("reason")
    return (
        passed_on.join(reasons.withColumnRenamed("target", "at"), ["origin", "sequence", "at"])
        .groupBy(
            _end(1).alias("wait_a"),
            _end(2).alias("wait_b"),
        )
        .agg(
            f.count("*").alias("waits"),
            f.sum(waited).alias("waited"),
            f.max(waited).alias("max_wait"),
        )
    )


def _end(number: int) -> Column:
    """An end of the line that a capture is named after, ``b3-r1.2``."""
    line = f.substring_index("capture", ".", 1)
    return f.nullif(f.split_part(line, f.lit("-"), f.lit(number)), f.lit(""))


def _broker(end: str) -> Column:
    return f.regexp_extract(end, r"^b(\d+)$", 1).try_cast("int")


def _handled(end: str, messages: str, size: str) -> Column:
    return f.struct(
        f.col(end).cast("long").alias("broker"),
        f.col(messages).alias("messages"),
        f.col(size).alias("bytes"),
    )


def _exact(column: str) -> Column:
    """Squares of byte counts do not fit into 64 bits."""
    return f.col(column).cast("decimal(19,0)")


def _jain(column: str) -> Column:
    total = f.col(column).cast("double")
    return f.try_divide(total * total, f.col("n") * f.col(f"{column}_squared").cast("double"))
