"""What a published figure is to us: what to run and draw, and the statements to hold against it.

Plain data that loads fast; nothing here computes or draws.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from analysis.reproduction.rules import Rule

if TYPE_CHECKING:
    import pandas as pd

Measure = Callable[["pd.DataFrame"], "pd.Series[float]"]
"""From the table of a figure's runs to what each seed gave."""


@dataclass(frozen=True)
class Claim:
    """A published statement: what is measured, in which unit, and which results agree with it."""

    key: str
    text: str
    rule: Rule
    measure: Measure


@dataclass(frozen=True)
class Panel:
    """A chart: column `y` against column `x`, with a line for each value of the columns `by`.

    `kind` says how it is drawn: as lines, as lines over simulated time (`y` then names a curve), or
    as bars of the columns in `parts`: a stack for each protocol (`bars`; `y` is then the whole, if
    it names one) or side by side (`groups`). Runs in which `x` means nothing become a level.
    `curves` draws the curves in `parts`, with upright lines at the columns in `marks`; `ratings` is
    a bar of `y` for each optimization in `names` and each value of `x` in `parts`, with the
    published rating and ours, by the `scale`, of the value of `x` that is `judged`.

    `only` are the runs that it shows, by the values of columns; the value may be "least" or
    "greatest" of the column. A chart over time begins at `begin` and ends at `end`. What was
    published is drawn as lines across at `levels` and upright at `uprights`. An axis has a zero
    unless `from_zero` is false.
    """

    title: str
    y: str
    x: str = ""
    x_label: str = ""
    y_label: str = ""
    by: tuple[str, ...] = ("protocol",)
    kind: Literal["lines", "time", "bars", "groups", "curves", "ratings"] = "lines"
    parts: tuple[tuple[str, str], ...] = ()
    marks: tuple[tuple[str, str], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    ratings: Mapping[str, str] = field(default_factory=dict)
    scale: Mapping[str, Rule] = field(default_factory=dict)
    judged: str = ""
    only: Mapping[str, Any] = field(default_factory=dict)
    begin: float = 2.5
    end: float = math.inf
    levels: tuple[float, ...] = ()
    uprights: tuple[float, ...] = ()
    from_zero: bool = True
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure by name; `published` says in our words what the paper shows there.

    The experiment file has its name, or is that of another figure (`file`). `settings` are
    settings of that file which it changes, and `quick` those for a quick look; in a table `sweep`
    only the lists that are named become others.
    """

    name: str
    title: str
    published: str
    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]
    quick: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """All figures of a paper, by name."""

    name: str
    paper: str
    figures: Mapping[str, Figure]
