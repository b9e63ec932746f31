"""Numbers as people read them: few digits, thousands apart, a unit that fits."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from analysis.figures.confidence import Estimate

_BYTES = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
_SECONDS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_WORDS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


SPACE = "\N{NO-BREAK SPACE}"  # between a number and its unit
MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"  # stands for a number that is not known


class Unit(NamedTuple):
    """A unit, and how many of the base unit it is."""

    name: str
    size: float


def byte_unit(largest: float) -> Unit:
    """The unit in which amounts of data up to this one read well."""
    return next((Unit(*unit) for unit in _BYTES if largest >= unit[1]), Unit("B", 1.0))


def time_unit(largest: float) -> Unit:
    """The unit in which times up to this one (seconds) read well."""
    return next((Unit(*unit) for unit in _SECONDS if largest >= unit[1]), Unit("s", 1.0))


def in_bytes(size: float) -> str:
    """An amount of data in three digits."""
    unit = byte_unit(abs(size))
    value = f"{size:.0f}" if unit.name == "B" else digits(size / unit.size)
    return f"{value}{SPACE}{unit.name}"


def in_seconds(seconds: float) -> str:
    """A time in three digits."""
    unit = time_unit(abs(seconds))
    return f"{digits(seconds / unit.size)}{SPACE}{unit.name}"


def digits(value: float, count: int = 3) -> str:
    """A number in a few digits, without an exponent where people would not write one."""
    if math.isnan(value):
        return NONE
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}".replace("-", MINUS)
    rounded = float(f"{value:.{count - 1}e}")
    size = math.floor(math.log10(abs(rounded)))
    if not -4 <= size < 15:
        return f"{rounded:.{count - 1}e}"
    if size + 1 >= count:
        return f"{value:,.0f}".replace("-", MINUS)
    return f"{rounded:,.{count - 1 - size}f}".replace("-", MINUS)


def percent(share: float) -> str:
    """A share in percent; what is not all never reads 100 %, and what is something never 0 %."""
    if math.isnan(share):
        return NONE
    if 0 < share < 0.0005:
        return f"under 0.1{SPACE}%"
    if 0.999 < share < 1:
        return f"{math.floor(share * 1e4) / 100:.2f}{SPACE}%"
    places = 1 if 0 < share < 0.1 or 0.9 < share < 1 else 0
    return f"{100 * share:.{places}f}{SPACE}%"


def estimated(value: Estimate, factor: float = 1.0, unit: str = "") -> str:
    """A mean, and with several seeds the interval around it, in no more than four digits."""
    mean, half = value.mean * factor, value.half * factor
    behind = f"{SPACE}{unit}" if unit else ""
    if not value.known:
        return f"{digits(mean)}{behind}"
    if half == 0:
        return f"{digits(mean)}{SPACE}±{SPACE}0{behind}"
    fitting = 1 - math.floor(math.log10(half))
    most = 3 - math.floor(math.log10(abs(mean) or half))
    places = max(0, min(fitting, most))
    return f"{mean:,.{places}f}{SPACE}±{SPACE}{half:,.{places}f}{behind}".replace("-", MINUS)


def column(values: Sequence[Estimate], factor: float = 1.0) -> list[str]:
    """Estimates that stand below each other: all with as many decimals, by the largest of them."""
    largest = max((abs(value.mean * factor) for value in values if value.seeds), default=0.0)
    places = max(0, 2 - math.floor(math.log10(largest))) if largest else 0
    return [_placed(value, factor, places) for value in values]


def _placed(value: Estimate, factor: float, places: int) -> str:
    if not value.seeds:
        return NONE
    text = f"{value.mean * factor:,.{places}f}"
    if value.known:
        text += f"{SPACE}±{SPACE}{value.half * factor:,.{places}f}"
    return text.replace("-", MINUS)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun: "one link", "seven links", "1,234 links"."""
    word = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{word} {noun if number == 1 else plural or noun + 's'}"


def joined(parts: Sequence[str]) -> str:
    """Parts of a sentence: "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def over_seeds(count: int) -> str:
    """How a caption says that there are several seeds; nothing if there is one."""
    return f" Means over {count} seeds with 95{SPACE}% confidence intervals." if count > 1 else ""
