"""The one error of this package, and the checks that word it; it knows no graph and no file."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable


class TopologyError(ValueError):
    """A topology, or a request for one, that cannot be; its text is one sentence for the user."""


def check_range(name: str, value: float, low: float, high: float = math.inf) -> None:
    """Refuse a value outside low..high (both included); infinity and NaN are always outside."""
    if math.isfinite(value) and low <= value <= high:
        return
    bounds = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
    raise TopologyError(f"{name} = {value} must be {bounds}")


def suggest(name: str, choices: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest right one, or all of them."""
    known = sorted(choices)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return "choose one of: " + ", ".join(known)
