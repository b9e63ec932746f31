"""An engine for very many filters of one form: equalities, and ranges of numbers, joined by AND.

It must not know brokers or clients. Such a filter is a box in the space of events. Boxes with the
same pinned values lie in the cells of a grid, and an event is compared with all boxes of its cell
at once. That is exact and no mere preselection: numpy's floats are Python's. A filter or an event
with an integer that no float equals goes the slow way, and filters that are no boxes are left to
another engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Generic, NamedTuple, TypeAlias

import numpy as np

from pysim.filters.counting import CountingIndex
from pysim.filters.index import DuplicateKeyError, K, MatchingIndex
from pysim.filters.language import And, Filter, Operator, Predicate
from pysim.filters.values import Event, Kind, Range, Value, kind_of

_all = np.logical_and.reduce

_FARTHEST = 2.0**52
"""How many cells away from zero a box may lie: farther out, a float has no next one."""
_WIDEST = 2.0**1000
_ROOM = 4
"""For how many boxes a new cell has room."""

_Column: TypeAlias = "np.typing.NDArray[np.float64]"

_Place = tuple[Value | None, ...]
"""A cell: its number along each axis, and the pinned values."""


class _Interval(NamedTuple):
    """The least and the greatest number that belong to it."""

    low: float
    high: float


_ALL = _Interval(-math.inf, math.inf)


class _Axis(NamedTuple):
    """An attribute, and how far cells extend along it."""

    name: str
    width: float


class _Grid(NamedTuple):
    """What boxes must have in common to lie in one grid.

    `pinned` are the attributes with one value, `confined` those with an interval; `axes` are those
    of the latter along which there are cells, at most two.
    """

    pinned: tuple[str, ...]
    confined: tuple[str, ...]
    axes: tuple[_Axis, ...]


class _Box(NamedTuple):
    """Where a filter lies."""

    filter: Filter
    grid: _Grid
    places: tuple[_Place, ...]
    intervals: tuple[_Interval, ...]


class BoxIndex(Generic[K]):
    """A `MatchingIndex` for tens of thousands of boxes in few grids; `rest` takes what is none."""

    def __init__(self, rest: MatchingIndex[K] | None = None) -> None:
        self._rest: MatchingIndex[K] = CountingIndex() if rest is None else rest
        self._grids: dict[_Grid, dict[_Place, _Cell[K]]] = {}
        self._boxes: dict[K, _Box] = {}

    def insert(self, key: K, filter: Filter) -> None:
        if key in self:
            raise DuplicateKeyError(key)
        box = _box(filter)
        if box is None:
            self._rest.insert(key, filter)
            return
        self._boxes[key] = box
        cells = self._grids.setdefault(box.grid, {})
        for place in box.places:
            cell = cells.get(place)
            if cell is None:
                cell = cells[place] = _Cell(len(box.intervals))
            cell.add(key, box.intervals)

    def remove(self, key: K) -> None:
        box = self._boxes.pop(key, None)
        if box is None:
            self._rest.remove(key)
            return
        cells = self._grids[box.grid]
        for place in box.places:
            cells[place].remove(key)
            if not cells[place].keys:
                del cells[place]
        if not cells:
            del self._grids[box.grid]

    def match(self, event: Event) -> set[K]:
        found = self._rest.match(event) if len(self._rest) else set()
        known: dict[str, Value] = {}
        numbers: dict[str, float] = {}
        for name, value in event.items():
            kind = kind_of(value)
            if kind is not None:
                known[name] = value
            if kind is Kind.NUMBER:
                number = _as_float(value)
                if number is None:
                    return found.union(self._evaluated(event))
                numbers[name] = number
        points: dict[tuple[str, ...], _Column | None] = {}
        for (pinned, confined, axes), cells in self._grids.items():
            if confined not in points:
                points[confined] = _point(confined, numbers)
            point = points[confined]
            if point is None:
                continue
            place = [numbers[name] // width for name, width in axes]
            cell = cells.get((*place, *[known.get(name) for name in pinned]))
            if cell is not None:
                found.update(cell.around(point))
        return found

    def __len__(self) -> int:
        return len(self._boxes) + len(self._rest)

    def __contains__(self, key: object) -> bool:
        return key in self._boxes or key in self._rest

    def _evaluated(self, event: Event) -> Iterator[K]:
        return (key for key, box in self._boxes.items() if box.filter.matches(event))


class _Cell(Generic[K]):
    """Boxes that lie near each other, in the columns of an array with room to grow.

    A point lies in a box if no number in the box's `_column` is greater than that in the point's.
    """

    __slots__ = ("_columns", "keys")

    def __init__(self, intervals: int) -> None:
        self.keys: list[K] = []
        self._columns = np.empty((2 * intervals, _ROOM))

    def add(self, key: K, intervals: tuple[_Interval, ...]) -> None:
        place = len(self.keys)
        self.keys.append(key)
        columns = self._columns
        if place == columns.shape[1]:
            self._columns = np.empty((len(columns), 2 * place))
            self._columns[:, :place] = columns
        self._columns[:, place] = _column(intervals)

    def remove(self, key: K) -> None:
        """Take a box out; the last one takes its place."""
        place = self.keys.index(key)
        last = self.keys.pop()
        if place < len(self.keys):
            self.keys[place] = last
            self._columns[:, place] = self._columns[:, len(self.keys)]

    def around(self, point: _Column) -> Iterable[K]:
        """The boxes that a point lies in, whose intervals have no extent."""
        if not len(point):
            return self.keys
        keys = self.keys
        inside = _all(self._columns[:, : len(keys)] <= point[:, None]).nonzero()[0]
        return [keys[place] for place in inside.tolist()]


def _point(names: Sequence[str], numbers: Mapping[str, float]) -> _Column | None:
    """The column of an event, or None if it lacks one of the attributes."""
    try:
        return _column([(numbers[name], numbers[name]) for name in names])
    except KeyError:
        return None


def _column(intervals: Sequence[tuple[float, float]]) -> _Column:
    """The low ends of all intervals, and then the high ends with their signs changed."""
    return np.array([low for low, _ in intervals] + [-high for _, high in intervals])


def _box(filter: Filter) -> _Box | None:
    """Where a filter lies, or None if it is no box."""
    pins: dict[str, Value] = {}
    intervals: dict[str, _Interval] = {}
    for predicate in filter.children if isinstance(filter, And) else (filter,):
        if not isinstance(predicate, Predicate):
            return None
        name, value = predicate.attribute, predicate.value
        if predicate.operator is Operator.EQ and isinstance(value, int | float | str):
            if pins.setdefault(name, value) != value:
                return None
            continue
        interval = _interval(predicate)
        if interval is None:
            return None
        before = intervals.get(name, _ALL)
        intervals[name] = _Interval(max(before.low, interval.low), min(before.high, interval.high))
    return _placed(filter, dict(sorted(pins.items())), dict(sorted(intervals.items())))


def _placed(filter: Filter, pins: dict[str, Value], intervals: dict[str, _Interval]) -> _Box:
    widths = ((name, _cell_width(interval)) for name, interval in intervals.items())
    axes = tuple([_Axis(name, width) for name, width in widths if width][:2])
    numbers = product(*(_cell_numbers(intervals[name], width) for name, width in axes))
    return _Box(
        filter,
        _Grid(tuple(pins), tuple(intervals), axes),
        tuple((*numbered, *pins.values()) for numbered in numbers),
        tuple(intervals.values()),
    )


def _interval(predicate: Predicate) -> _Interval | None:
    """The numbers that fulfil a predicate, or None if that is no interval with floats for ends."""
    value, operator = predicate.value, predicate.operator
    if predicate.kind is not Kind.NUMBER:
        return None
    low: float | None = -math.inf
    high: float | None = math.inf
    if isinstance(value, Range):
        low, high = _as_float(value.low), _as_float(value.high)
    elif operator in (Operator.GE, Operator.GT):
        low = _as_float(value)
    elif operator in (Operator.LE, Operator.LT):
        high = _as_float(value)
    else:
        return None
    if low is None or high is None:
        return None
    if operator is Operator.GT or (isinstance(value, Range) and not value.low_closed):
        low = math.nextafter(low, math.inf)
    if operator is Operator.LT or (isinstance(value, Range) and not value.high_closed):
        high = math.nextafter(high, -math.inf)
    return _Interval(low, high)


def _cell_width(interval: _Interval) -> float:
    """A power of four that an interval just fits in; 0 if cells are of no use for it."""
    extent = interval.high - interval.low
    if not 0 < extent < _WIDEST:
        return 0.0
    exponent = math.frexp(extent)[1]
    width = math.ldexp(1.0, exponent + exponent % 2)
    farthest = max(abs(interval.low), abs(interval.high)) / width
    return width if farthest < _FARTHEST else 0.0


def _cell_numbers(interval: _Interval, width: float) -> tuple[float, ...]:
    """The cells that an interval touches: as it fits in one, there are one or two."""
    first, last = interval.low // width, interval.high // width
    return (first,) if first == last else (first, last)


def _as_float(value: object) -> float | None:
    """The float that equals a number, or None if there is none."""
    if isinstance(value, float):
        return value
    assert isinstance(value, int)
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number == value else None
