"""What statements are measured by: from the table of a figure's runs to a number for each seed."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from analysis.reproduction.figure import Measure

if TYPE_CHECKING:
    import pandas as pd

LEAST, GREATEST, LOWEST, HIGHEST = "least", "greatest", "lowest", "highest"
"""Places along a key: its ends, and where the mean of what is measured is lowest or highest."""

OPTIMIZATION = "protocol.optimize.by"
"""The column that says how a run's routing tables are optimized."""
RELATIVE = " of unoptimized"
"""Ends the name of a column in percent of what the run without any optimization has."""


def number(
    value: str,
    protocols: str | Sequence[str],
    at: Mapping[str, Any] = MappingProxyType({}),
) -> Measure:
    """A column's mean over some protocols, and over all places that `at` does not settle."""
    names = [protocols] if isinstance(protocols, str) else list(protocols)

    def measure(rows: "pd.DataFrame") -> "pd.Series[float]":
        from analysis.reproduction.table import by_seed  # pandas, which a mere list does without

        chosen = rows[rows["protocol"].isin(names) & rows[value].notna()]
        for key, place in at.items():
            chosen = chosen[chosen[key] == _place(chosen, value, key, place)]
        return by_seed(chosen, value)

    return measure


def column(value: str) -> Measure:
    """A column's mean over all runs of a seed."""

    def measure(rows: "pd.DataFrame") -> "pd.Series[float]":
        from analysis.reproduction.table import by_seed

        return by_seed(rows[rows[value].notna()], value)

    return measure


def difference(one: Measure, other: Measure) -> Measure:
    """By how much the first exceeds the second, seed by seed."""
    return lambda rows: (one(rows) - other(rows)).dropna()


def ratio(one: Measure, other: Measure) -> Measure:
    """The mean of the first over that of the second, paired by seed."""

    def measure(rows: "pd.DataFrame") -> "pd.Series[float]":
        from analysis.reproduction.table import ratio_of_means

        return ratio_of_means(one(rows), other(rows))

    return measure


def total(*measures: Measure) -> Measure:
    """The sum of several, seed by seed."""

    def measure(rows: "pd.DataFrame") -> "pd.Series[float]":
        first, *others = (each(rows) for each in measures)
        return sum(others, first).dropna()

    return measure


def least(measures: Sequence[Measure]) -> Measure:
    """The one whose mean over seeds is the least."""
    return lambda rows: min((each(rows) for each in measures), key=_mean)


def greatest(measures: Sequence[Measure]) -> Measure:
    """The one whose mean over seeds is the greatest."""
    return lambda rows: max((each(rows) for each in measures), key=_mean)


def within(key: str, value: Any, measure: Measure) -> Measure:
    """The same of those runs alone in which a key has a value."""
    return lambda rows: measure(rows[rows[key] == value])


def between(key: str, low: float, high: float, measure: Measure) -> Measure:
    """The same of those runs alone in which a key is above one value and below another."""
    return lambda rows: measure(rows[(rows[key] > low) & (rows[key] < high)])


def _mean(series: "pd.Series[float]") -> float:
    return float(series.mean())


def _place(rows: "pd.DataFrame", value: str, key: str, place: Any) -> Any:
    known = rows[rows[key].notna()]
    if known.empty or place not in (LEAST, GREATEST, LOWEST, HIGHEST):
        return place
    if place in (LEAST, GREATEST):
        return known[key].min() if place == LEAST else known[key].max()
    from analysis.reproduction.table import by_seed

    means = {at: by_seed(there, value).mean() for at, there in known.groupby(key)}
    return (min if place == LOWEST else max)(means, key=lambda at: means[at])
