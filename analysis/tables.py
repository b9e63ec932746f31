"""Reads tables, and writes those of an analysis: with pyarrow, in a stable order, so that equal
rows are equal bytes. It knows no metric and no run."""

import heapq
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import LocalFileSystem

_ROWS_AT_ONCE = 1 << 17


def read(path: Path, **chosen: Any) -> pd.DataFrame:
    """A table, or the columns and rows that are chosen.

    Left to itself pandas hands pyarrow an open Python file, and a thread of pyarrow that still lets
    go of it when the process ends aborts the process (apache/arrow issues 34314 and 45017).
    """
    return pd.read_parquet(path, filesystem=LocalFileSystem(), **chosen)


def write_sorted(table: pa.Table, order: Sequence[str], path: Path) -> None:
    """Write a small table, its rows sorted by `order`."""
    pq.write_table(table.sort_by([(name, "ascending") for name in order]), path)


def merge_parts(directory: Path, order: Sequence[str], path: Path) -> int:
    """Merge the files that Spark wrote, each sorted by capture, into one; how many rows it has.

    Rows are sorted by capture, then by `order`. A capture is wholly in one of the files, and no
    more of them than one a file is held in memory, so that a run may be larger than that.
    """
    files = sorted(directory.glob("part-*.parquet"))
    schema = pa.schema([each.remove_metadata() for each in pq.read_schema(files[0])])
    captures = heapq.merge(*map(_captures, files), key=lambda one: one[0])
    rows = 0
    with pq.ParquetWriter(path, schema) as writer:
        for table in _gathered(captures, order):
            writer.write_table(table.cast(schema))
            rows += len(table)
    return rows


def _captures(file: Path) -> Iterator[tuple[str, pa.Table]]:
    batches = pq.ParquetFile(file).iter_batches(_ROWS_AT_ONCE)
    pieces = (piece for batch in batches for piece in _runs(pa.table(batch)))
    for capture, same in groupby(pieces, key=lambda piece: piece[0]):
        yield capture, pa.concat_tables([table for _, table in same])


def _runs(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Split a table that is sorted by capture."""
    encoded = table["capture"].combine_chunks().dictionary_encode()
    lengths = encoded.indices.value_counts()
    at = 0
    for length in lengths.field("counts").to_pylist():
        yield table["capture"][at].as_py(), table.slice(at, length)
        at += length


def _gathered(captures: Iterator[tuple[str, pa.Table]], order: Sequence[str]) -> Iterator[pa.Table]:
    """Whole captures, put together so that the file has few row groups."""
    held: list[pa.Table] = []
    for _, table in captures:
        held.append(table.sort_by([(name, "ascending") for name in order]))
        if sum(map(len, held)) >= _ROWS_AT_ONCE:
            yield pa.concat_tables(held)
            held.clear()
    if held:
        yield pa.concat_tables(held)
