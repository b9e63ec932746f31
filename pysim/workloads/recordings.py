"""What the columns of a table of events and of a table of subscriptions mean.

It must not know workloads or simulations; what is wrong is a TableError that names the cell.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pysim.filters import Filter, FilterError, Value, canonical, parse
from pysim.naming import nearest
from pysim.units import Duration
from pysim.workloads.tables import (
    Column,
    Table,
    TableError,
    number,
    read,
    refuse,
    require_column,
    shown,
)

_FILTER, _UNTIL = "filter", "until"


class Naming(NamedTuple):
    """Which columns tell the time, the broker and the client, and how times are to be read."""

    time: str
    broker: str
    client: str
    origin: float
    unit: float


@dataclass(frozen=True)
class Circumstances:
    """When, where and for whom the rows of a table happen; None is what the table does not tell."""

    table: Table
    naming: Naming
    times: list[float] | None
    brokers: list[int] | None
    clients: list[int] | None

    def check(self, brokers: int, duration: float) -> None:
        """Refuse rows outside of a run of so many brokers and seconds."""
        for row, broker in enumerate(self.brokers or ()):
            if broker >= brokers:
                problem = f"{broker} is not a broker, the overlay has {brokers}"
                refuse(self.table, row, self.naming.broker, problem)
        for row, time in enumerate(self.times or ()):
            if time < 0:
                refuse(self.table, row, self.naming.time, "is before the run begins")
            if time > duration:
                problem = f"is {Duration(round(time, 9))}, and the run ends at {Duration(duration)}"
                refuse(self.table, row, self.naming.time, problem)


@dataclass(frozen=True)
class Events:
    """A table of events."""

    told: Circumstances
    columns: dict[str, Column]

    def __len__(self) -> int:
        return self.told.table.rows

    def attributes(self, row: int) -> dict[str, Value]:
        """The attributes of the event of a row: its cells that are not empty."""
        cells = ((name, values[row]) for name, values in self.columns.items())
        return {name: value for name, value in cells if value is not None}


@dataclass(frozen=True)
class Subscriptions:
    """A table of subscriptions; `until` is None for one that stands to the end."""

    told: Circumstances
    filters: list[Filter]
    until: list[float | None]

    def __len__(self) -> int:
        return self.told.table.rows

    def check(self, times: Sequence[float]) -> None:
        """Refuse what would be withdrawn before it is made, at these times."""
        for row, (time, until) in enumerate(zip(times, self.until, strict=True)):
            if until is not None and until < time:
                problem = f"it would end before it begins, at {Duration(round(time, 9))}"
                refuse(self.told.table, row, _UNTIL, problem)

    def check_held(
        self, places: Sequence[tuple[int, int]], begins: Sequence[int], ends: Sequence[float]
    ) -> None:
        """Refuse a filter that a client of a broker would hold twice at a time, by such times."""
        clients: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for row in sorted(range(len(self)), key=lambda row: (begins[row], ends[row])):
            clients[places[row]].append(row)
        for (broker, client), rows in clients.items():
            for one, other in self._successions(rows):
                if begins[other] < ends[one] or begins[other] == begins[one]:
                    first, second = sorted((one + 1, other + 1))
                    problem = f"client {client} at broker {broker} would hold the same filter twice"
                    raise TableError(
                        f"{self.told.table.name}, rows {first} and {second}: {problem} at a time,"
                        " and the end of one would end both"
                    )

    def _successions(self, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Each of the rows with the one before it that has the same filter, if there is one."""
        if len(rows) == 1:  # as most are; a canonical form takes time
            return
        latest: dict[Filter, int] = {}
        for row in rows:
            form = canonical(self.filters[row])
            if form in latest:
                yield latest[form], row
            latest[form] = row


def read_events(
    path: Path, naming: Naming, attributes: Sequence[str] | None, texts: Sequence[str]
) -> Events:
    """Read a table of events; without `attributes`, every column with no other meaning is one."""
    table = read(path)
    if attributes is None:
        attributes = [name for name in table.names if name not in naming[:3]]
    for name in (*attributes, *texts):
        require_column(table, name)
    columns = {name: table.column(name, text=name in texts) for name in attributes}
    return Events(_circumstances(table, naming), columns)


def read_subscriptions(path: Path, naming: Naming) -> Subscriptions:
    """Read a table of subscriptions; a column with no meaning is refused."""
    table = read(path)
    known = (_FILTER, _UNTIL, *naming[:3])
    for name in table.names:
        if name not in known:
            problem = f'column "{name}" is not known; {nearest(name, known)}'
            raise TableError(f"{table.name}: {problem}")
    require_column(table, _FILTER)
    told = _circumstances(table, naming)
    return Subscriptions(told, list(_filters(table)), list(_until(table, naming)))


def _circumstances(table: Table, naming: Naming) -> Circumstances:
    return Circumstances(
        table,
        naming,
        list(_times(table, naming)) if naming.time in table.names else None,
        list(_whole(table, naming.broker)) if naming.broker in table.names else None,
        list(_whole(table, naming.client)) if naming.client in table.names else None,
    )


def _times(table: Table, naming: Naming) -> Iterator[float]:
    for row, cell in enumerate(table.column(naming.time, text=True)):
        yield _time(table, row, naming.time, cell, naming)


def _until(table: Table, naming: Naming) -> Iterator[float | None]:
    if _UNTIL not in table.names:
        yield from [None] * table.rows
        return
    for row, cell in enumerate(table.column(_UNTIL, text=True)):
        yield None if cell is None else _time(table, row, _UNTIL, cell, naming)


def _time(table: Table, row: int, column: str, cell: Value | None, naming: Naming) -> float:
    time = (_number(table, row, column, cell) - naming.origin) * naming.unit
    if not math.isfinite(time):
        refuse(table, row, column, f"{shown(str(cell))} is not a finite time")
    return time


def _whole(table: Table, column: str) -> Iterator[int]:
    for row, cell in enumerate(table.column(column, text=True)):
        value = _number(table, row, column, cell)
        if value < 0 or value != int(value):
            refuse(table, row, column, f"expected a whole number, found {cell}")
        yield int(value)


def _number(table: Table, row: int, column: str, cell: Value | None) -> int | float:
    if cell is None:
        refuse(table, row, column, "is empty")
    value = number(str(cell))
    if value is None:
        refuse(table, row, column, f"expected a number, found {shown(str(cell))}")
    return value


def _filters(table: Table) -> Iterator[Filter]:
    known: dict[str, Filter] = {}  # tables of many rows often have few different filters
    for row, cell in enumerate(table.column(_FILTER, text=True)):
        if cell is None:
            refuse(table, row, _FILTER, "is empty")
        text = str(cell)
        if text not in known:
            try:
                known[text] = parse(text)
            except FilterError as error:
                refuse(table, row, _FILTER, str(error))
        yield known[text]
