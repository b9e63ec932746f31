"""Tables in a stable order, larger than memory if need be."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import tables
from analysis.tables import merge_parts, write_sorted


def part(path: Path, rows: list[tuple[str, int]]) -> None:
    names, numbers = zip(*rows, strict=True) if rows else ((), ())
    columns = {"capture": pa.array(names, pa.string()), "number": pa.array(numbers, pa.int64())}
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path)


@pytest.mark.parametrize("rows_at_once", [1, 3, 1 << 17])
def test_parts_are_merged_by_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_at_once: int
) -> None:
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", rows_at_once)
    part(tmp_path / "parts" / "part-0.parquet", [("a", 2), ("a", 1), ("d", 9), ("d", 8), ("d", 10)])
    part(tmp_path / "parts" / "part-1.parquet", [("b", 1), ("c", 2), ("c", 1)])
    part(tmp_path / "parts" / "part-2.parquet", [])
    assert merge_parts(tmp_path / "parts", ("number",), tmp_path / "whole.parquet") == 8
    found = pq.read_table(tmp_path / "whole.parquet").to_pydict()
    assert list(zip(found["capture"], found["number"], strict=True)) == [
        *[("a", 1), ("a", 2), ("b", 1), ("c", 1), ("c", 2), ("d", 8), ("d", 9), ("d", 10)]
    ]


def test_equal_rows_are_equal_bytes_whatever_their_order(tmp_path: Path) -> None:
    rows = [{"a": 2, "b": None}, {"a": 1, "b": "x"}, {"a": None, "b": "y"}]
    for name, order in (("one", rows), ("two", rows[::-1])):
        write_sorted(pa.Table.from_pylist(order), ("a",), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert pq.read_table(tmp_path / "one")["a"].to_pylist() == [1, 2, None]
