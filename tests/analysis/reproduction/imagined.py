"""Numbers that all runs of an experiment might have given, to try what figures make of them."""

from collections.abc import Callable, Iterable, Mapping

from analysis.reproduction.figure import Figure
from analysis.reproduction.judging import judge
from analysis.reproduction.numbers import Curve, Numbers, _leaves
from analysis.reproduction.table import table
from pysim.experiments.config import Config, expand, plain


def imagined(
    config: Config,
    columns: Iterable[str],
    fixed: Mapping[str, float] | None = None,
    curves: Callable[[int], dict[str, Curve]] = lambda number: {},
) -> list[Numbers]:
    """One for each run; no two are the same, but for those that are fixed."""
    names = sorted(columns)
    return [
        Numbers(
            dict(_leaves(plain(point.config.experiment))),
            1,
            {name: 10.0 * number + place for place, name in enumerate(names, start=1)}
            | dict(fixed or {}),
            curves(number),
        )
        for number, point in enumerate(expand(config), start=1)
    ]


def unmeasured(family: str, figure: Figure, runs: list[Numbers]) -> list[str]:
    """The statements of a figure that find no number in these runs."""
    rows = judge(family, figure, table(runs))
    return [row.claim for row in rows if row.verdict == "not measured"]
