"""What metrics are computed of: hops with their phases, and the journeys of events.

It knows what a run's tables and captures mean, and no metric.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from analysis.metrics.journeys import follow_journeys
from analysis.metrics.metric import NANOSECONDS, Setting

HEADER_BYTES = 16
QUIET = 1 * NANOSECONDS
"""So long without a control message, and a reconfiguration is over."""

CARRIERS = ("batch", "gossip", "retrieved")
"""Types that carry publications under an identity of their own."""
ROUTINE = ("heartbeat",)
"""Types that are sent whatever happens, so that nothing is their cause."""


def hops(messages: DataFrame, reconfigurations: DataFrame, setting: Setting) -> DataFrame:
    """Messages between brokers, as placed, with the `phase` they belong to.

    The phase follows from the time at which a message's first byte was seen: ``reconfiguration``
    between the first change of a reconfiguration and its end, `to_time`. It ends with its last
    change, or with the last control message after it that follows a former one (or a change)
    within a second; at the latest when the next one begins or the run ends. Otherwise ``setup``
    before the first publication, and ``traffic`` after it.

    `type` is the type's name. `control` are messages that are neither publications nor carry any
    (batches, gossip) nor are sent whatever happens (heartbeats). `reconfiguration` and the times of
    the one that began last are in the row, also after its end; null before the first.
    """
    ours = messages.filter("source IS NOT NULL AND target IS NOT NULL AND channel IS NOT NULL")
    named = ours.select(
        *("capture", "direction", "channel", "source", "target"),
        *("origin", "sequence", f.col("name").alias("type"), "publication", "destinations"),
        *(f.col("length").cast("long").alias("length"), "first_time", "time"),
        *("counted", "crossed", "arrived", "transport_header", "ip_header", "link_header"),
    )
    following = _since_change(named, reconfigurations, setting).withColumn(
        "control", ~f.col("publication") & ~f.col("type").isin(*CARRIERS, *ROUTINE)
    )
    ends = _ends(following.filter("control AND reconfiguration IS NOT NULL"))
    first = setting.duration if setting.first_event is None else setting.first_event
    at = f.col("first_time")
    phase = f.when(at <= f.col("to_time"), "reconfiguration").when(at < first, "setup")
    return (
        following.join(f.broadcast(ends), "reconfiguration", "left")
        .withColumn("to_time", f.coalesce("end", "last_change"))
        .withColumn("phase", phase.otherwise("traffic"))
        .drop("end")
    )


def binned(time: Column, setting: Setting) -> Column:
    """The start of the time bin that a time lies in."""
    return time - time % setting.bin


def _since_change(messages: DataFrame, windows: DataFrame, setting: Setting) -> DataFrame:
    """Messages with the reconfiguration that began last before them.

    The bins only spare a comparison of every message with every reconfiguration.
    """
    at, begin, end = f.col("first_time"), f.col("from_time"), f.col("until")
    last = f.greatest(end - 1, begin)
    covered = f.sequence(binned(begin, setting), binned(last, setting), f.lit(setting.bin))
    by_bin = windows.withColumn("_covered", f.explode(covered))
    within = (f.col("_bin") == f.col("_covered")) & (at >= begin) & (at < end)
    return (
        messages.withColumn("_bin", binned(at, setting))
        .join(f.broadcast(by_bin), within, "left")
        .drop("_bin", "_covered")
    )


def _ends(control: DataFrame) -> DataFrame:
    """When the last control message of each reconfiguration was through."""
    earlier = Window.partitionBy("reconfiguration").orderBy("first_time", "time")
    before = f.max("time").over(earlier.rowsBetween(Window.unboundedPreceding, -1))
    so_far = earlier.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        control.withColumn("_active", f.greatest("last_change", before))
        .withColumn("_silent", f.col("first_time") - f.col("_active") > QUIET)
        .withColumn("_over", f.max("_silent").over(so_far))
        .filter("NOT _over")
        .groupBy("reconfiguration")
        .agg(f.max(f.least(f.greatest("time", "last_change"), "until")).alias("end"))
    )


_JOURNEY = """
    origin long, sequence long, source int, target int, hops int, first boolean, useful long,
    misrouted long, lost long, repeated long, pure_forward long
"""


def journeys(hops: DataFrame, deliveries: DataFrame) -> DataFrame:
    """What became of each publication on each way from one broker to another.

    A publication's journey is a tree: every broker has it from where it first came from (`first`),
    the publisher's broker is the root, and `hops` counts the way from there. Of the copies that
    went from `source` to `target`

    - `useful` is the one that arrived first, if that broker or one behind it in the tree delivered
      the event to a client that wanted it;
    - `lost` are those that never arrived, and the first one if it was not useful but a copy behind
      it was lost: nobody can tell whom that would have served;
    - `misrouted` are all others, the `repeated` ones (the target had the event already) included.

    `pure_forward` is 1 if the target delivered the event to no client and sent it on.
    """
    ways = (
        hops.filter("publication")
        .groupBy("origin", "sequence", "source", "target")
        .agg(
            f.sum(f.col("counted").cast("long")).alias("sent"),
            f.sum(f.col("arrived").cast("long")).alias("arrived"),
            f.min(f.when(f.col("arrived"), f.col("time"))).alias("time"),
        )
    )
    travelled = ways.groupBy("origin", "sequence").agg(
        f.collect_list(f.struct("source", "target", "sent", "arrived", "time")).alias("ways")
    )
    served = (
        deliveries.filter(f.col("kind").isin("made", "early"))
        .groupBy("origin", "sequence")
        .agg(f.collect_set("broker").alias("served"))
    )
    whole = travelled.join(served, ["origin", "sequence"], "left")
    return whole.mapInArrow(follow_journeys, _JOURNEY)
