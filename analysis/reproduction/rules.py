"""When a measured number agrees with a published statement; it knows not what was measured."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from analysis.figures.confidence import Estimate

Verdict = Literal["holds", "differs", "unclear", "measured", "not measured"]


@dataclass(frozen=True)
class Rule:
    """The numbers that agree with a statement, from `low` to `high`, and the statement in short."""

    words: str
    low: float = -math.inf
    high: float = math.inf

    def judge(self, found: "Estimate") -> Verdict:
        """Whether the whole interval around a mean agrees, none of it, or only a part."""
        if not found.seeds:
            return "not measured"
        if math.isinf(self.low) and math.isinf(self.high):
            return "measured"
        half = found.half if found.known else 0.0
        if self.low == self.high:  # said of each run, so that one run refutes it
            return "holds" if found.mean == self.low and not half else "differs"
        low, high = found.mean - half, found.mean + half
        if self.low <= low and high <= self.high:
            return "holds"
        return "differs" if high < self.low or low > self.high else "unclear"


def about(value: float, within: float) -> Rule:
    """A number that was published, or read off a figure, with the tolerance that this allows."""
    return Rule(f"about {value:g} (± {within:g})", value - within, value + within)


def at_least(value: float) -> Rule:
    """A lower bound."""
    return Rule(f"at least {value:g}", low=value)


def at_most(value: float) -> Rule:
    """An upper bound."""
    return Rule(f"at most {value:g}", high=value)


def exactly(value: float) -> Rule:
    """A number without any tolerance, neither in the mean nor among runs."""
    return Rule(f"exactly {value:g}", value, value)


UNPUBLISHED = Rule("not published")
"""For numbers that no paper has: there is nothing to judge."""
