"""The values that predicates compare: which there are, which are comparable, how text spells them.

It must not know operators, trees, the parser or any index.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

Value: TypeAlias = int | float | str
Event: TypeAlias = Mapping[str, Value]

# MessagePack, and any engine that is not written in Python, ends at 64 bits.
_INT_LOW, _INT_HIGH = -(2**63), 2**63

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
KEYWORDS = frozenset(
    {"and", "or", "not", "exists", "in", "prefix", "suffix", "contains", "true", "false"}
)


class FilterError(ValueError):
    """A filter that cannot exist: the message says what was expected and what was found."""


class Kind(Enum):
    """Values compare within a kind and never across kinds."""

    NUMBER = "a number"
    STRING = "a string"

    __hash__ = object.__hash__  # members are single, and Enum's own hash is written in Python


def kind_of(value: object) -> Kind | None:
    """The kind of an event's value; None for what the language does not know, NaN included.

    Events come from outside, so such a value is no error: it counts as a missing attribute.
    """
    if isinstance(value, str):
        return Kind.STRING
    # NaN alone differs from itself; math.isnan would fail on an integer beyond all floats.
    if isinstance(value, (int, float)) and value == value:
        return Kind.NUMBER
    return None


def normalized_value(value: object) -> Value:
    """The one form of a filter's value: equal numbers become the same number, bools integers.

    A float that equals a 64-bit integer becomes that integer; any other float stays as it is.
    """
    if isinstance(value, str):
        return _well_formed(value)
    if isinstance(value, float):
        return _normalized_float(value)
    if isinstance(value, int):
        if _INT_LOW <= value < _INT_HIGH:
            return int(value)
        raise FilterError(
            f"Expected a signed integer of at most 64 bits, found one of {value.bit_length() + 1}"
        )
    raise FilterError(f"Expected an integer, a float or a string, found {type(value).__name__}")


def normalized_name(name: object) -> str:
    """An attribute's name: any string that is not empty."""
    if isinstance(name, str) and name:
        return _well_formed(name)
    raise FilterError(f"Expected the name of an attribute, found {shown(name)}")


def value_text(value: Value) -> str:
    """A value as the parser reads it; strings are JSON strings."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def name_text(name: str) -> str:
    """An attribute's name as the parser reads it, in backquotes where it needs them."""
    if PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def shown(value: object, limit: int = 40) -> str:
    """A value for an error message, which a hostile value must not flood."""
    if isinstance(value, str):
        return repr(value if len(value) <= limit else value[: limit - 3] + "...")
    small = isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= 64)
    return repr(value) if small else type(value).__name__


@dataclass(frozen=True, slots=True)
class Range:
    """The values between two ends of one kind; a range that holds no value is refused.

    It is closed below and open above unless told otherwise, as `price in [10, 20)`.
    """

    low: Value
    high: Value
    low_closed: bool = True
    high_closed: bool = False

    def __post_init__(self) -> None:
        low: Any = normalized_value(self.low)
        high: Any = normalized_value(self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if kind_of(low) is not kind_of(high):
            raise FilterError(f"Expected two ends of one kind, found the range {self}")
        closed = self.low_closed and self.high_closed
        if low > high or (low == high and not closed):
            raise FilterError(f"Expected a range that is not empty, found {self}")

    def __contains__(self, value: Any) -> bool:
        """Whether a value of the ends' kind lies in the range."""
        low: Any = self.low
        high: Any = self.high
        above = low <= value if self.low_closed else low < value
        below = value <= high if self.high_closed else value < high
        return bool(above and below)

    def __str__(self) -> str:
        opening, closing = "[" if self.low_closed else "(", "]" if self.high_closed else ")"
        return f"{opening}{value_text(self.low)}, {value_text(self.high)}{closing}"


def _normalized_float(value: float) -> Value:
    if not math.isfinite(value):
        raise FilterError(f"Expected a finite number, found {value!r}")
    if value.is_integer() and _INT_LOW <= value < _INT_HIGH:
        return int(value)
    return float(value)


def _well_formed(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FilterError("Expected well-formed Unicode, found half a surrogate pair") from None
    return str.__str__(text)  # a plain str also where a subclass came
