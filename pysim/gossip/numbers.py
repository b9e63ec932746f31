"""Sets of whole numbers as ranges: what came, what is missing, what a digest says.

They must not know what is numbered. Numbers mostly come in order, so ranges are few.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

Ranges = tuple[tuple[int, int], ...]
"""First and last of each range, ascending and apart."""


class NumberSet:
    """A set of numbers; its ranges are ascending, and no two of them touch."""

    __slots__ = ("_firsts", "_lasts")

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        for first, last in ranges:
            self.add(first, last)

    def add(self, first: int, last: int | None = None) -> None:
        """Add a number, or all from `first` to `last`; none if that is less."""
        last = first if last is None else last
        if last < first:
            return
        begin = bisect_left(self._lasts, first - 1)
        end = bisect_left(self._firsts, last + 2)
        if begin < end:
            first = min(first, self._firsts[begin])
            last = max(last, self._lasts[end - 1])
        self._firsts[begin:end] = [first]
        self._lasts[begin:end] = [last]

    def update(self, other: NumberSet) -> None:
        for first, last in other.ranges():
            self.add(first, last)

    def ranges(self) -> Ranges:
        return tuple(zip(self._firsts, self._lasts, strict=True))

    def within(self, first: int, last: int) -> NumberSet:
        """Those from `first` to `last`."""
        begin = bisect_left(self._lasts, first)
        end = bisect_left(self._firsts, last + 1)
        return NumberSet(
            (max(first, low), min(last, high)) for low, high in self.ranges()[begin:end]
        )

    def __and__(self, other: NumberSet) -> NumberSet:
        found = NumberSet()
        for first, last in other.ranges():
            found.update(self.within(first, last))
        return found

    def __sub__(self, other: NumberSet) -> NumberSet:
        found = NumberSet()
        for first, last in self.ranges():
            begin = first
            for low, high in other.within(first, last).ranges():
                found.add(begin, low - 1)
                begin = high + 1
            found.add(begin, last)
        return found

    @property
    def highest(self) -> int:
        """The greatest number; 0 if there is none."""
        return self._lasts[-1] if self._lasts else 0

    @property
    def lowest(self) -> int:
        """The smallest number; 0 if there is none."""
        return self._firsts[0] if self._firsts else 0

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self._lasts, number)
        return place < len(self._firsts) and self._firsts[place] <= number

    def __iter__(self) -> Iterator[int]:
        for first, last in self.ranges():
            yield from range(first, last + 1)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges())

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberSet) and self.ranges() == other.ranges()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"NumberSet({list(self.ranges())})"
