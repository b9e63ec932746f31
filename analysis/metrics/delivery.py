"""What clients got: how late, how much of what was due, and what came more than once."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from analysis.metrics.inputs import binned
from analysis.metrics.metric import NANOSECONDS, Setting

QUANTILES = tuple(percent / 100 for percent in range(101))


def latency(deliveries: DataFrame) -> DataFrame:
    """Quantiles of the time from an event's publication to its delivery to a client.

    Of all deliveries that were due and made. A quantile q is the smallest latency that at least the
    share q of them does not exceed, so each is a latency that occurred; 0 is the least, 1 the
    greatest. `deliveries` is the number of all of them, in every row.
    """
    made = deliveries.filter(f.col("kind") == "made").select(_latency().alias("latency"))
    levels = f.array(*map(f.lit, QUANTILES))
    found = made.agg(
        f.expr(f"percentile_disc(array({_listed(QUANTILES)})) WITHIN GROUP (ORDER BY latency)")
        .alias("found"),
        f.count("*").alias("deliveries"),
    )  # fmt: skip
    return found.select(
        f.explode(f.arrays_zip(levels.alias("level"), f.col("found"))).alias("row"), "deliveries"
    ).select(
        f.col("row.level").alias("quantile"),
        _seconds(f.col("row.found")).alias("seconds"),
        "deliveries",
    )


def latency_by_hops(deliveries: DataFrame, journeys: DataFrame) -> DataFrame:
    """Latency by the number of brokers that passed the event on before it was delivered.

    `hops` are those of the event's first way to the client's broker, 0 at the publisher's own
    broker, null if captures do not show the way (events inside batches and gossip). Quantiles as in
    `latency`, all times in seconds.
    """
    ways = journeys.filter("first").select(
        "origin", "sequence", f.col("target").alias("broker"), "hops"
    )
    made = deliveries.filter(f.col("kind") == "made").withColumn("latency", _latency())
    hops = f.when(f.col("broker") == f.col("origin"), 0).otherwise(f.col("hops"))
    quantiles = f.expr("percentile_disc(array(0.5, 0.95, 0.99)) WITHIN GROUP (ORDER BY latency)")
    return (
        made.join(ways, ["origin", "sequence", "broker"], "left")
        .groupBy(hops.alias("hops"))
        .agg(
            f.count("*").alias("deliveries"),
            quantiles.alias("found"),
            f.sum("latency").alias("sum"),
        )
        .select(
            "hops",
            "deliveries",
            *(
                _seconds(f.col("found")[i]).alias(name)
                for i, name in enumerate(("p50", "p95", "p99"))
            ),
            _seconds(f.col("sum") / f.col("deliveries")).alias("mean"),
        )
    )


def delivery_over_time(
    events: DataFrame, deliveries: DataFrame, missing: DataFrame, setting: Setting
) -> DataFrame:
    """Deliveries that were due to the events published in each time bin, and what became of them.

    `published` events were due to `due` clients: to each that had a matching subscription at that
    moment. `made` deliveries came, `missing` ones never came, and of the rest, `withdrawn`, the
    client gave up its subscription before. `ratio` is made / (made + missing), null if both are 0.
    Bins in which nothing was published have no row.
    """
    event = ["origin", "sequence"]
    came = (
        deliveries.filter(f.col("kind") == "made").groupBy(*event).agg(f.count("*").alias("made"))
    )
    lost = missing.groupBy(*event).agg(f.count("*").alias("missing"))
    return (
        events.join(came, event, "left")
        .join(lost, event, "left")
        .groupBy(binned(f.col("time"), setting).alias("bin"))
        .agg(
            f.count("*").alias("published"),
            f.sum("due").alias("due"),
            f.coalesce(f.sum("made"), f.lit(0)).alias("made"),
            f.coalesce(f.sum("missing"), f.lit(0)).alias("missing"),
        )
        .withColumn("withdrawn", f.col("due") - f.col("made") - f.col("missing"))
        .withColumn("ratio", f.try_divide("made", f.col("made") + f.col("missing")))
    )


def duplicates(deliveries: DataFrame, journeys: DataFrame) -> DataFrame:
    """Events that came more often than they should have.

    `client duplicates`: deliveries of an event to a client that had it already. `spurious`:
    deliveries to a client without a matching subscription. `broker duplicates`: copies of an event
    that arrived at a broker that had it already, its publisher's included.
    """
    kinds = {"duplicate": "client duplicates", "spurious": "spurious"}
    clients = deliveries.agg(
        *(f.count_if(f.col("kind") == kind).alias(name) for kind, name in kinds.items())
    )
    brokers = journeys.agg(f.coalesce(f.sum("repeated"), f.lit(0)).alias("broker duplicates"))
    counts = clients.crossJoin(brokers)
    return counts.unpivot([], list(counts.columns), "kind", "count")


def _latency() -> Column:
    return f.col("delivered") - f.col("published")


def _seconds(nanoseconds: Column) -> Column:
    return nanoseconds / NANOSECONDS


def _listed(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number}D" for number in numbers)
