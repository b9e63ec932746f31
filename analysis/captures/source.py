"""The Spark data source `pcap`: packets of captures as rows; it knows nothing of pysim's messages.

    register(spark)
    packets = spark.read.format("pcap").load("results/demo/captures")

A session of `analysis.session` has it registered. docs/captures.md describes columns and options.
What looks at bytes is imported where it is used: Spark loads this module into processes that only
want to know the schema.
"""

import gc
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from analysis.captures.schema import SCHEMA, WITH_PAYLOAD

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analysis.captures.files import Part, Survey

JAVA_OPTIONS = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
"""Let Java read Arrow's vectors without checking every index, a third faster; Spark stays within
them anyway. For a session's `spark.driver.defaultJavaOptions`, or the executors' of a cluster."""

_OPTIONS = ("path", "paths", "payload", "bad_files", "partition_bytes")


def register(spark: "SparkSession") -> None:
    """Make the format `pcap` known to a session."""
    spark.dataSource.register(PcapDataSource)


class OptionError(ValueError):
    """An option or a schema that the data source does not know; the text says what it knows."""


@dataclass(frozen=True)
class Options:
    """What the user has asked for."""

    paths: tuple[str, ...]
    payload: bool
    skip_bad_files: bool
    partition_bytes: int | None

    @classmethod
    def read(cls, options: Mapping[str, str]) -> "Options":
        for name in options:
            if name not in _OPTIONS:
                raise OptionError(f"pcap has no option {name}; it knows {', '.join(_OPTIONS)}")
        return cls(
            paths=_paths(options),
            payload=_choice(options, "payload", no="false", yes="true"),
            skip_bad_files=_choice(options, "bad_files", no="fail", yes="skip"),
            partition_bytes=_size(options, "partition_bytes"),
        )


class PcapDataSource(DataSource):
    """What `spark.read.format("pcap")` stands for."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = Options.read(options)

    @classmethod
    def name(cls) -> str:
        return "pcap"

    def schema(self) -> StructType:
        return from_arrow_schema(WITH_PAYLOAD if self._options.payload else SCHEMA)

    def reader(self, schema: StructType) -> "PcapReader":
        return PcapReader(self._options, _checked(to_arrow_schema(schema, timezone="UTC")))


class PcapPartition(InputPartition):
    """What one task reads: parts of captures, in order."""

    def __init__(self, parts: tuple["Part", ...]) -> None:
        self.parts = parts


class PcapReader(DataSourceReader):
    """Shares captures out to tasks, and reads them there."""

    def __init__(self, options: Options, schema: pa.Schema) -> None:
        self._options = options
        self._schema = schema

    def partitions(self) -> list[PcapPartition]:
        import analysis.captures.decode  # noqa: F401  compiled here once, not in every task
        from analysis.captures.files import find_captures, group, survey, task_bytes

        _settle()
        captures = find_captures(self._options.paths)
        size = self._options.partition_bytes or task_bytes(captures)
        surveys = [survey(path, size) for path in captures]
        self._report(surveys)
        parts = [part for found in surveys for part in found.parts]
        return [PcapPartition(parts) for parts in group(parts, size) or [()]]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from analysis.captures.arrow import read_part

        _settle()
        assert isinstance(partition, PcapPartition)
        for part in partition.parts:
            yield from read_part(part, self._schema)

    def _report(self, surveys: list["Survey"]) -> None:
        """Refuse captures that cannot be read, or say that they are skipped, as the user wishes."""
        from analysis.captures.records import CaptureError

        for found in surveys:
            if found.problem and not self._options.skip_bad_files:
                raise CaptureError(found.problem)
            if found.problem or found.truncated:
                print(f"pcap: {found}{'; skipped' if found.problem else ''}", file=sys.stderr)


@cache
def _settle() -> None:
    """Keep the garbage collector, which Spark calls after each task, off all that is imported."""
    gc.collect()
    gc.freeze()


def _paths(options: Mapping[str, str]) -> tuple[str, ...]:
    """What was given to `load`: Spark hands several paths over as JSON."""
    if "paths" in options:
        return tuple(json.loads(options["paths"]))
    if "path" in options:
        return (options["path"],)
    raise OptionError("pcap needs a path: load(file, directory or pattern)")


def _choice(options: Mapping[str, str], name: str, *, no: str, yes: str) -> bool:
    value = options.get(name, no).lower()
    if value not in (no, yes):
        raise OptionError(f"pcap's option {name} is {no} or {yes}, not {value}")
    return value == yes


def _size(options: Mapping[str, str], name: str) -> int | None:
    value = options.get(name)
    if value is None:
        return None
    if not value.isdecimal() or int(value) == 0:
        raise OptionError(f"pcap's option {name} is a number of bytes above 0, not {value}")
    return int(value)


def _checked(schema: pa.Schema) -> pa.Schema:
    """The columns that are asked for, if they are ours."""
    for field in schema:
        index = WITH_PAYLOAD.get_field_index(field.name)
        if index < 0:
            known = ", ".join(WITH_PAYLOAD.names)
            raise OptionError(f"pcap has no column {field.name}; it has {known}")
        ours = WITH_PAYLOAD.field(index)
        if field.type != ours.type:
            raise OptionError(f"pcap's column {field.name} is {ours.type}, not {field.type}")
        if ours.nullable and not field.nullable:
            raise OptionError(f"pcap's column {field.name} may be null")
    return schema
