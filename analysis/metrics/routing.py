"""Where events went: which hops served a client, and how many brokers had to do with an event."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

SUMMARY = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def wasted_hops(journeys: DataFrame) -> DataFrame:
    """The hops of events, and how many of them served nobody; one row.

    `total` = `useful` + `misrouted` + `lost`. Every broker has an event from where it first came
    from, so that its way is a tree. A hop is useful if the broker that it led to, or one behind it
    in this tree, delivered the event to a client that wanted it. It is lost if the event did not
    arrive, or if it is not useful but a copy was lost behind it, so that nobody can tell. All
    others are misrouted, those to a broker that had the event already included. Independently of
    that, a hop is a `pure_forward` if its broker delivered the event to no client and sent it on.
    """
    parts = ("useful", "misrouted", "lost", "pure_forward")
    sums = journeys.agg(*(f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in parts))
    total = f.col("useful") + f.col("misrouted") + f.col("lost")
    return sums.select(total.alias("total"), *parts)


def destination_list(hops: DataFrame) -> DataFrame:
    """How many messages had a destination list of which length, each hop counted.

    The list is the one in the bytes on that hop, the receiver included. Types without a list do not
    count.
    """
    return (
        hops.filter(f.col("counted") & f.col("destinations").isNotNull())
        .groupBy(f.col("destinations").alias("length"))
        .agg(f.count("*").alias("messages"))
    )


def dispatchers_involved(events: DataFrame, journeys: DataFrame) -> DataFrame:
    """For each event the number of brokers that had it: the publisher's and all that it reached."""
    reached = journeys.groupBy("origin", "sequence").agg(
        f.sum(f.col("first").cast("long")).alias("reached")
    )
    return events.join(reached, ["origin", "sequence"], "left").select(
        "origin", "sequence", (f.coalesce("reached", f.lit(0)) + 1).alias("brokers")
    )


def dispatchers_summary(events: DataFrame, journeys: DataFrame) -> DataFrame:
    """Quantiles over events of `dispatchers_involved`, and in every row the mean.

    A quantile q is the smallest number that at least the share q of the events does not exceed.
    """
    found = dispatchers_involved(events, journeys).agg(
        f.expr(
            f"percentile_disc(array({', '.join(f'{level}D' for level in SUMMARY)}))"
            " WITHIN GROUP (ORDER BY brokers)"
        ).alias("found"),
        f.sum("brokers").alias("sum"),
        f.count("*").alias("count"),
    )
    levels = f.array(*map(f.lit, SUMMARY)).alias("level")
    return found.select(
        f.explode(f.arrays_zip(levels, f.col("found"))).alias("row"),
        f.try_divide("sum", "count").alias("mean"),
    ).select(
        f.col("row.level").alias("quantile"),
        f.col("row.found").cast("long").alias("brokers"),
        "mean",
    )
