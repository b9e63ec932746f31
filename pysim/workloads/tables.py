"""Tables that users bring along, CSV or Parquet, column by column, with errors that name the cell.

It must not know what the columns mean.
"""

import csv
import gzip
import math
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Protocol, Self

import msgspec

from pysim.filters import Value
from pysim.naming import nearest

Column = list[Value | None]
"""The values of a column from its first row to its last; None where a cell is empty."""

_NUMBER = re.compile(
    r"[+-]?(?:(?P<whole>0|[1-9][0-9]*)(?P<point>\.[0-9]*)?|\.[0-9]+)(?P<power>[eE][+-]?[0-9]+)?"
)
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


class TableError(ValueError):
    """A table that cannot be used; the text names the file, and the row and the column if any."""


class InputFile(str):
    """The path of a table, from the experiment file's directory."""

    WHAT: ClassVar[str] = "a file"
    __slots__ = ()

    @classmethod
    def parse(cls, given: object) -> Self:
        """Read a path; ValueError if it is none."""
        if not isinstance(given, str) or not given or "\0" in given:
            raise ValueError('expected the path of a table such as "events.csv"')
        return cls(given)


def input_files(workload: msgspec.Struct) -> dict[str, InputFile]:
    """The tables that a workload names, by key."""
    fields = msgspec.structs.asdict(workload)
    return {key: value for key, value in fields.items() if isinstance(value, InputFile)}


class Table(Protocol):
    """What is known of any table: its file's name, its columns' names, its number of rows."""

    name: str
    names: Sequence[str]
    rows: int

    def column(self, name: str, text: bool = False) -> Column:
        """All values of a column, as texts if `text`; TableError if it has none we know."""


def read(path: Path) -> Table:
    """Read a table in the format that its name tells; TableError says why it cannot be read."""
    if path.is_dir():
        raise TableError(f"cannot read {path}: is a directory")
    try:
        if path.name.endswith(".parquet"):
            return ParquetTable(path)
        if path.name.endswith((".csv", ".csv.gz")):
            return CsvTable(path)
    except OSError as error:  # of which a damaged archive is one
        reason = (error.strerror or str(error)).lower()
        raise TableError(f"cannot read {path}: {reason}") from None
    known = "CSV (.csv, .csv.gz) and Parquet (.parquet)"
    raise TableError(f"{path.name} is not one of the formats that are read, {known}")


def refuse(table: Table, row: int, column: str, problem: str) -> NoReturn:
    """Raise what is wrong with a cell; rows are counted from 0 here and from 1 by readers."""
    raise TableError(f'{table.name}, row {row + 1}, column "{column}": {problem}')


def require_column(table: Table, name: str) -> None:
    """Refuse a table that lacks a column, with the nearest name that it has."""
    if name not in table.names:
        raise TableError(f'{table.name} has no column "{name}"; {nearest(name, table.names)}')


class CsvTable:
    """A table in UTF-8 with commas, double quotes and a first row of names.

    A column is one of numbers if all its cells are. One in which most cells are, but not all, is
    refused: a single "n/a" would turn all prices into texts that no comparison finds.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        try:
            self._read(path)
        except UnicodeDecodeError:
            raise TableError(f"{self.name} is not a text in UTF-8") from None
        except csv.Error as error:
            raise TableError(f"{self.name}, after row {self.rows}: {error}") from None
        except (EOFError, zlib.error):
            raise TableError(f"{self.name} is a damaged archive") from None

    def column(self, name: str, text: bool = False) -> Column:
        cells = self._cells[self.names.index(name)]
        numbers = [None if cell == "" else number(cell) for cell in cells]
        if text or not any(number is not None for number in numbers):
            return [cell or None for cell in cells]
        texts = [
            row
            for row, (cell, number) in enumerate(zip(cells, numbers, strict=True))
            if cell and number is None
        ]
        if not texts:
            return list(numbers)
        if 2 * len(texts) < sum(map(bool, cells)):
            problem = f"{shown(cells[texts[0]])} is no number, but most cells of this column are"
            refuse(self, texts[0], name, f"{problem}; name it in `texts` if all are texts")
        return [cell or None for cell in cells]

    def _read(self, path: Path) -> None:
        self.names: Sequence[str] = ()
        self.rows = 0
        opened: Any = gzip.open if path.name.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            lines = (line for line in csv.reader(file, strict=True) if line)
            self.names = next(lines, [])
            _check_names(self.name, self.names)
            self._cells: list[list[str]] = [[] for _ in self.names]
            for line in lines:
                self._add(line)

    def _add(self, line: list[str]) -> None:
        if len(line) != len(self.names):
            problem = f"row {self.rows + 1} has {len(line)} cells"
            raise TableError(f"{self.name}, {problem} instead of {len(self.names)}")
        for cells, cell in zip(self._cells, line, strict=True):
            cells.append(cell)
        self.rows += 1


class ParquetTable:
    """A table whose columns have types; those of integers, floats, texts and booleans are read."""

    def __init__(self, path: Path) -> None:
        import pyarrow  # takes longer to load than a small run takes
        import pyarrow.parquet

        self.name = path.name
        try:
            self._table = pyarrow.parquet.ParquetFile(path).read()
        except pyarrow.ArrowException as error:
            reason = str(error).partition("\n")[0]
            raise TableError(f"{self.name} is not a Parquet file: {reason}") from None
        self.names: Sequence[str] = self._table.column_names
        self.rows: int = self._table.num_rows
        _check_names(self.name, self.names)

    def column(self, name: str, text: bool = False) -> Column:
        from pyarrow import types

        column = self._table.column(name)
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
        if not (numeric or types.is_string(kind) or types.is_large_string(kind)):
            known = "integers, floats, texts and booleans are read"
            raise TableError(f'{self.name}, column "{name}" is of the type {kind}; {known}')
        values = [None if _empty(value) else value for value in column.to_pylist()]
        if text:
            return [None if value is None else str(value) for value in values]
        return [self._checked(row, name, value) for row, value in enumerate(values)]

    def _checked(self, row: int, name: str, value: Value | None) -> Value | None:
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, int) and value > _HIGHEST:
            refuse(self, row, name, f"{value} is beyond signed integers of 64 bits")
        if isinstance(value, float) and not math.isfinite(value):
            refuse(self, row, name, f"{value} is not finite")
        return value


def _empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _check_names(file: str, names: Sequence[str]) -> None:
    if not names:
        raise TableError(f"{file} has no columns")
    for place, name in enumerate(names):
        if not name:
            raise TableError(f"{file}: column {place + 1} has no name")
        if name in names[:place]:
            raise TableError(f'{file} has two columns "{name}"')


def number(cell: str) -> int | float | None:
    """The number that a cell says; "007" is none, nor is what 64 bits do not hold."""
    written = _NUMBER.fullmatch(cell.strip())
    if written is None:
        return None
    if written["whole"] and written["point"] is None and written["power"] is None:
        whole = int(written[0]) if len(written[0]) <= 20 else _HIGHEST + 1
        return whole if _LOWEST <= whole <= _HIGHEST else None
    value = float(written[0])
    return value if math.isfinite(value) else None


def shown(cell: str) -> str:
    """A cell as an error shows it."""
    return f'"{cell if len(cell) <= 40 else cell[:37] + "..."}"'
