"""A run as the DataFrames that metrics are computed of, each made once, when first asked for.

What a run does not have is said in a sentence instead (`AbsentError`). It computes no metric.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from analysis.changes import reconfigurations, wires_with_lives
from analysis.finished import FinishedRun
from analysis.metrics import inputs
from analysis.metrics.metric import Setting
from analysis.placing import Coverage

_SMALL = 64 << 20
"""Bytes of captures up to which a run is small."""

TABLES = ("counters", "deliveries", "events", "missing")
"""The run's own tables that metrics use as they are."""


class AbsentError(LookupError):
    """Something that a run does not have; the text says why, in words that follow "because"."""


class Sources:
    """The inputs of metrics by name, for one run.

    `placed` is the directory of its placed messages and packets, None if it has no captures.
    """

    def __init__(self, spark: SparkSession, run: FinishedRun, placed: Path | None) -> None:
        self._spark = spark
        self._run = run
        self._placed = placed
        self._is_small = run.manifest["captures"]["bytes"] < _SMALL
        self._made: dict[str, Any] = {}
        self._lock = RLock()

    def __call__(self, name: str) -> Any:
        """An input; AbsentError if the run cannot have it."""
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    @cached_property
    def cached(self) -> list[DataFrame]:
        """Frames that were kept because several metrics need them."""
        return []

    def release(self) -> None:
        """Let go of what was kept."""
        for frame in self.cached:
            frame.unpersist()
        self.cached.clear()

    def _make(self, name: str) -> Any:
        if name in TABLES:
            return self._parquet(self._run.table_path(name))
        make: Callable[[], Any] = getattr(self, f"_{name}")
        return make()

    def _setting(self) -> Setting:
        times = pq.read_table(self._run.table_path("events"), columns=["time"])["time"]
        return Setting(self._run.duration, self._run.brokers, pc.min(times).as_py())

    def _wires(self) -> DataFrame:
        wires = wires_with_lives(self._run)
        return self._frame(
            wires, {"a": pa.string(), "b": pa.string(), "rate": pa.float64(), "life": pa.int64()}
        )

    def _messages(self) -> DataFrame:
        return self._parquet(self._captured() / "messages")

    def _packets(self) -> DataFrame:
        return self._parquet(self._captured() / "packets")

    def _hops(self) -> DataFrame:
        """Kept in memory: most metrics begin here."""
        made = inputs.hops(self("messages"), self("reconfigurations"), self("setting"))
        return self._kept(made)

    def _reconfigurations(self) -> DataFrame:
        found = reconfigurations(self._run.table("changes"), self._run.duration)
        return self._frame(
            found,
            {
                name: pa.string() if name in ("broken", "created") else pa.int64()
                for name in found.columns
            },
        )

    def _journeys(self) -> DataFrame:
        if isinstance(self._run.capture_policy, list):
            count = len(self._run.capture_policy)
            raise AbsentError(f"only {count} chosen links were captured: events cannot be followed")
        return self._kept(inputs.journeys(self("hops"), self("deliveries")))

    def _captured(self) -> Path:
        if self._placed is None:
            raise AbsentError(why_no_captures(self._run))
        return self._placed

    def _kept(self, frame: DataFrame) -> DataFrame:
        self.cached.append(frame.persist())
        return frame

    def _frame(self, rows: pd.DataFrame, kinds: dict[str, pa.DataType]) -> DataFrame:
        table = pa.Table.from_pandas(rows, pa.schema(kinds), preserve_index=False)
        return self._gathered(self._spark.createDataFrame(table))

    def _parquet(self, path: Path) -> DataFrame:
        return self._gathered(
            self._spark.read.schema(spark_schema(path)).parquet(str(path.resolve()))
        )

    def _gathered(self, frame: DataFrame) -> DataFrame:
        """All rows of a small run in one partition: then Spark has nothing to exchange.

        An exchange takes longer than all else that is done to so few rows.
        """
        return frame.coalesce(1) if self._is_small else frame


def coverage(run: FinishedRun) -> Coverage:
    """What a run has captured."""
    at_both_ends = run.capture_policy == "both" or isinstance(run.capture_policy, list)
    return Coverage(
        brokers=run.brokers,
        paired=at_both_ends or (run.has_underlay and not run.has_routers),
        both_views=at_both_ends or run.has_underlay,
        types=run.type_names,
    )


def why_no_captures(run: FinishedRun) -> str:
    """The reason that a run has no captures."""
    if run.manifest["network"].get("backend") == "memory":
        return "the memory network has no packets to capture"
    return "nothing was captured (network.capture)"


def spark_schema(path: Path) -> StructType:
    """The columns of a Parquet file or directory; to let Spark find them out costs a job each."""
    file = path if path.is_file() else min(path.glob("part-*.parquet"))
    return StructType([StructField(each.name, _SPARK[each.type]) for each in pq.read_schema(file)])


_SPARK: dict[pa.DataType, DataType] = {
    pa.bool_(): BooleanType(),
    pa.int16(): ShortType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.uint32(): LongType(),
    pa.float64(): DoubleType(),
    pa.string(): StringType(),
}
