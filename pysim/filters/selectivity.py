"""How many of all events match a filter: what tells a harmless generalization from a costly one.

It must not know what the estimates are used for, nor where the events come from.

Bittner and Hinze (subscription tree pruning, Sec. 4.1) estimate three values: the least selectivity
that any distribution of events can lead to, the average one if predicates are independent, and the
greatest. For a predicate all three are the share of events that fulfil it, counted as they pass.
Until enough were counted, a prior from a histogram of the attribute's values weighs as much as 100
events do: (hits + 100 prior) / (n + 100).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, Protocol

from pysim.filters.histogram import Histogram, guess
from pysim.filters.language import And, Filter, Not, Or, Predicate
from pysim.filters.values import Value

PRIOR_WEIGHT = 100


class Selectivity(NamedTuple):
    """The paper's three estimates (min, avg, max) of the share of events that match."""

    least: float
    average: float
    greatest: float


class HitCounts(Protocol):
    """Who counts, for a predicate, how many of the events so far fulfil it.

    As long as `events` stays the same, so do the counts.
    """

    @property
    def events(self) -> int: ...

    def fulfilled(self, predicate: Predicate) -> int: ...


class SelectivityTable:
    """The paper's selectivity table: hits of predicates, and what is expected before they tell.

    Hits and events are those of a source; without one, a predicate has its prior.
    """

    def __init__(self, source: HitCounts | None = None) -> None:
        self._source = source
        self._learned = 0
        self._histograms: dict[str, Histogram] = {}

    @property
    def events(self) -> int:
        """The events from which selectivities are counted."""
        return 0 if self._source is None else self._source.events

    @property
    def version(self) -> Hashable:
        """Equal as long as no estimate can have changed."""
        return self._learned, self.events

    def learn(self, attribute: str, values: Iterable[Value | None]) -> None:
        """Take the priors of an attribute's predicates from these values of it, one per event.

        None stands for an event without the attribute. What was learned of it before is forgotten.
        """
        self._histograms[attribute] = Histogram(values)
        self._learned += 1

    def of(self, predicate: Predicate) -> float:
        """The share of events that fulfil a predicate."""
        histogram = self._histograms.get(predicate.attribute)
        prior = guess(predicate) if histogram is None else histogram.share(predicate)
        hits = 0 if self._source is None else self._source.fulfilled(predicate)
        return min(1.0, (hits + PRIOR_WEIGHT * prior) / (self.events + PRIOR_WEIGHT))

    def estimate(self, filter: Filter) -> Selectivity:
        """The three estimates for a filter as it is written, by Algorithms 1 and 2."""
        return self._estimate(filter, negated=False)

    def _estimate(self, filter: Filter, negated: bool) -> Selectivity:
        if isinstance(filter, Predicate):
            share = 1.0 - self.of(filter) if negated else self.of(filter)
            return Selectivity(share, share, share)
        if isinstance(filter, Not):
            return self._estimate(filter.child, not negated)
        assert isinstance(filter, And | Or)
        parts = [self._estimate(child, negated) for child in filter.children]
        return conjunction(parts) if isinstance(filter, And) is not negated else disjunction(parts)


def conjunction(parts: Sequence[tuple[float, float, float]]) -> Selectivity:
    """Algorithm 1: what an AND of parts with these selectivities has.

    Parts are taken in the order of their values, here and below. So the estimate does not depend,
    to the last bit, on how a filter is written, and equal degradations are exactly equal.
    """
    least = average = greatest = 1.0
    for part_least, part_average, part_greatest in sorted(parts):
        least += part_least - 1.0
        average *= part_average
        greatest = min(greatest, part_greatest)
    return Selectivity(max(least, 0.0), average, greatest)


def disjunction(parts: Sequence[tuple[float, float, float]]) -> Selectivity:
    """Algorithm 2: what an OR of parts with these selectivities has."""
    least = average = greatest = 0.0
    for part_least, part_average, part_greatest in sorted(parts):
        least = max(least, part_least)
        average += part_average - average * part_average
        greatest += part_greatest
    return Selectivity(least, average, min(greatest, 1.0))
