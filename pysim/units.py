"""Quantities with units, as people write them in experiment files: "50 ms", "10 Mbit/s", "1 %".

A quantity is a plain number in its SI base unit (s, bit/s, B, 1/s) that remembers how to print
itself. It must not know which experiment it belongs to.
"""

import math
import re
from fractions import Fraction
from typing import ClassVar, Self

_WRITTEN = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S*)\s*")


class Quantity(float):
    """A number in a base unit.

    A subclass supplies `WHAT` (its name in errors), `EXAMPLE`, `UNITS` (by name, with the factor to
    the base unit) and `HIGHEST`; it may set `POSITIVE`. It gets conversion from text, correctly
    rounded, and back.
    """

    WHAT: ClassVar[str]
    EXAMPLE: ClassVar[str]
    UNITS: ClassVar[dict[str, Fraction]]
    POSITIVE: ClassVar[bool] = False
    HIGHEST: ClassVar[float]

    @classmethod
    def parse(cls, given: object) -> Self:
        """Read text with a unit, or a bare number in the base unit; ValueError if it is neither."""
        if isinstance(given, bool) or not isinstance(given, int | float | str):
            raise ValueError(cls._expected())
        return cls._checked(cls._convert(given))

    @classmethod
    def _convert(cls, given: float | str) -> float:
        written = _WRITTEN.fullmatch(given if isinstance(given, str) else repr(given))
        if written is None or (written[2] and written[2] not in cls.UNITS):
            raise ValueError(cls._expected())
        try:
            return float(Fraction(written[1]) * cls.UNITS.get(written[2], 1))
        except OverflowError:
            raise ValueError(f"{cls.WHAT} must be finite") from None

    @classmethod
    def _checked(cls, value: float) -> Self:
        if value < 0 or (cls.POSITIVE and value == 0):
            raise ValueError(f"{cls.WHAT} must be {'more than' if cls.POSITIVE else 'at least'} 0")
        if value > cls.HIGHEST:
            raise ValueError(f"{cls.WHAT} must be at most {cls(cls.HIGHEST)}")
        return cls(value)

    @classmethod
    def _expected(cls) -> str:
        units = ", ".join(cls.UNITS)
        return f'expected {cls.WHAT} such as "{cls.EXAMPLE}" (units: {units})'

    def __str__(self) -> str:
        """The shortest text that parses to this value again, without an exponent if possible."""
        written = (f"{float(self / factor):.15g} {name}" for name, factor in self.UNITS.items())
        exact = [text for text in written if self._convert(text) == self]
        return min(exact, key=lambda text: ("e" in text, len(text)), default=repr(float(self)))

    __repr__ = __str__


class Duration(Quantity):
    """Simulated time, in seconds."""

    WHAT = "a duration"
    EXAMPLE = "50 ms"
    UNITS: ClassVar = {
        "ns": Fraction(1, 10**9),
        "us": Fraction(1, 10**6),
        "ms": Fraction(1, 10**3),
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3600),
    }
    HIGHEST = 1e9  # 64 bits hold nine times as many seconds in nanoseconds


class Span(Duration):
    """A duration that is not zero."""

    POSITIVE = True


class Rate(Quantity):
    """A transmission rate, in bits per second."""

    WHAT = "a rate"
    EXAMPLE = "10 Mbit/s"
    UNITS: ClassVar = {
        "bit/s": Fraction(1),
        "kbit/s": Fraction(10**3),
        "Mbit/s": Fraction(10**6),
        "Gbit/s": Fraction(10**9),
    }
    POSITIVE = True
    HIGHEST = 1e15


class Frequency(Quantity):
    """How often something happens, per second."""

    WHAT = "a frequency"
    EXAMPLE = "3 /s"
    UNITS: ClassVar = {"/s": Fraction(1), "/min": Fraction(1, 60), "/h": Fraction(1, 3600)}
    HIGHEST = 1e9


class Share(Quantity):
    """A part of a whole, from 0 to 1."""

    WHAT = "a share"
    EXAMPLE = "1 %"
    UNITS: ClassVar = {"%": Fraction(1, 100)}
    HIGHEST = 1.0


class Size(Quantity):
    """An amount of data, in whole bytes."""

    WHAT = "a size"
    EXAMPLE = "200 B"
    UNITS: ClassVar = {
        "B": Fraction(1),
        "kB": Fraction(10**3),
        "KiB": Fraction(2**10),
        "MB": Fraction(10**6),
        "MiB": Fraction(2**20),
        "GB": Fraction(10**9),
        "GiB": Fraction(2**30),
    }
    HIGHEST = 1e15

    @classmethod
    def _checked(cls, value: float) -> Self:
        if value != math.floor(value):
            raise ValueError(f"{cls.WHAT} must be a whole number of bytes")
        return super()._checked(value)


def readable(size: float) -> str:
    """An amount of data in three digits, for people: 1,234,567 bytes are "1.23 MB"."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{float(f'{size / factor:.3g}'):g} {unit}"
    return f"{size:.0f} B"
