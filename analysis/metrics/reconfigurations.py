"""What changes of the overlay cost in control messages."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

NOT_INVOLVED_BY = ("flush",)
"""Types that reach everyone, so that they say nothing about who was involved."""


def reconfiguration_overhead(reconfigurations: DataFrame, hops: DataFrame) -> DataFrame:
    """Control messages of each reconfiguration, by type.

    A reconfiguration is a broken link and the one that takes its place, if the run numbered them so
    (`broken`, `created`: ``3-7``); any other break, new link, crash or restart (``3``: a broker)
    is one by itself. They are numbered by time. One begins with its first change, `from_time`, and
    ends at `to_time`: with its last change, or with the last control message after it that begins
    within a second of the end of a former one (or of the change); at the latest when the next one
    begins or the run ends. All control messages that begin in between are its overhead, whatever
    caused them. Control messages are all but publications, what carries them (batch, gossip,
    retrieved) and heartbeats. One row with type null and no messages if there were none.
    """
    overhead = (
        hops.filter(f.col("counted") & f.col("control") & (f.col("phase") == "reconfiguration"))
        .groupBy("reconfiguration", "type")
        .agg(
            f.count("*").alias("messages"),
            f.sum("length").alias("bytes"),
            f.max("to_time").alias("to_time"),
        )
    )
    return reconfigurations.join(overhead, "reconfiguration", "left").select(
        "reconfiguration",
        "broken",
        "created",
        "from_time",
        f.coalesce("to_time", "last_change").alias("to_time"),
        "type",
        f.coalesce("messages", f.lit(0)).alias("messages"),
        f.coalesce("bytes", f.lit(0)).alias("bytes"),
    )


def dispatchers_per_reconfiguration(reconfigurations: DataFrame, hops: DataFrame) -> DataFrame:
    """Brokers involved in each reconfiguration.

    These are the ends of its links (or the broker that crashed or restarted) and all that sent or
    were sent one of its control messages, as `reconfiguration_overhead` defines them, flush not
    counted.
    """
    handled = hops.filter(
        f.col("control")
        & (f.col("phase") == "reconfiguration")
        & ~f.col("type").isin(*NOT_INVOLVED_BY)
    ).select("reconfiguration", f.explode(f.array("source", "target")).alias("broker"))
    named = f.concat_ws(", ", "broken", "created")
    ends = reconfigurations.select(
        "reconfiguration", f.explode(f.split(named, "-|, ").cast("array<int>")).alias("broker")
    )
    return (
        ends.unionByName(handled)
        .groupBy("reconfiguration")
        .agg(f.count_distinct("broker").alias("brokers"))
    )
