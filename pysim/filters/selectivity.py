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
from pysim.filters.predicates import PredicateIndex
from pysim.filters.values import Event, Value

PRIOR_WEIGHT = 100


class Selectivity(NamedTuple):
    """The paper's three estimates (min, avg, max) of the share of events that match."""

    least: float
    average: float
    greatest: float


class HitCounts(Protocol):
    """Who counts, for a predicate, how many of the events so far fulfil it."""

    @property
    def events(self) -> int: ...

    def fulfilled(self, predicate: Predicate) -> int: ...


class SelectivityTable:
    """The paper's selectivity table: counters of predicates, and what is expected before they tell.

    It counts by itself (`register`, `observe`), is told counts (`events`, `count`), or reads those
    of a `source`, and then of that source only. A predicate that nobody counts has its prior.
    """

    def __init__(self, source: HitCounts | None = None) -> None:
        self._source = source
        self._events = 0
        self._changes = 0
        self._counters: dict[Predicate, _Counter] = {}
        self._index: PredicateIndex[_Counter] = PredicateIndex()
        self._histograms: dict[str, Histogram] = {}

    @property
    def events(self) -> int:
        """The events from which selectivities are counted."""
        return self._events if self._source is None else self._source.events

    @events.setter
    def events(self, events: int) -> None:
        self._refuse_with_source()
        self._events = events
        self._changes += 1

    @property
    def version(self) -> Hashable:
        """Equal as long as no estimate can have changed."""
        return self._changes, self.events

    def learn(self, attribute: str, values: Iterable[Value | None]) -> None:
        """Take the priors of an attribute's predicates from these values of it, one per event.

        None stands for an event without the attribute. What was learned of it before is forgotten.
        """
        self._histograms[attribute] = Histogram(values)
        self._changes += 1

    def register(self, filter: Filter) -> None:
        """Count from now on the events that fulfil each predicate of a filter."""
        self._refuse_with_source()
        for predicate in _predicates(filter):
            if predicate not in self._counters:
                self._new_counter(predicate, since=self._events)
            self._counters[predicate].users += 1

    def release(self, filter: Filter) -> None:
        """Undo a `register`: predicates that no registered filter has are not counted any more."""
        for predicate in _predicates(filter):
            counter = self._counters[predicate]
            counter.users -= 1
            if not counter.users:
                del self._counters[predicate]
                self._index.remove(predicate)
        self._changes += 1

    def observe(self, event: Event) -> None:
        """Count an event for all predicates that it fulfils."""
        self._refuse_with_source()
        self._events += 1
        for counter in self._index.fulfilled(event):
            counter.hits += 1

    def count(self, predicate: Predicate, hits: int) -> None:
        """Be told how many of all events so far fulfil a predicate."""
        self._refuse_with_source()
        if predicate not in self._counters:
            self._new_counter(predicate, since=0).users = 1
        self._counters[predicate].hits = hits
        self._counters[predicate].since = 0
        self._changes += 1

    def of(self, predicate: Predicate) -> float:
        """The share of events that fulfil a predicate."""
        histogram = self._histograms.get(predicate.attribute)
        prior = guess(predicate) if histogram is None else histogram.share(predicate)
        hits, events = self._counted(predicate)
        return min(1.0, (hits + PRIOR_WEIGHT * prior) / (events + PRIOR_WEIGHT))

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

    def _counted(self, predicate: Predicate) -> tuple[int, int]:
        """The hits of a predicate, and the events among which they were counted."""
        if self._source is not None:
            return self._source.fulfilled(predicate), self._source.events
        counter = self._counters.get(predicate)
        return (counter.hits, self._events - counter.since) if counter else (0, 0)

    def _new_counter(self, predicate: Predicate, since: int) -> _Counter:
        counter = self._counters[predicate] = _Counter(since)
        self._index.insert(predicate, counter)
        return counter

    def _refuse_with_source(self) -> None:
        if self._source is not None:
            raise ValueError("This table reads the counts of its source; it cannot count as well.")


class _Counter:
    __slots__ = ("hits", "since", "users")

    def __init__(self, since: int) -> None:
        self.since = since  # events before the predicate was known
        self.hits = 0
        self.users = 0


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


def _predicates(filter: Filter) -> frozenset[Predicate]:
    if isinstance(filter, Predicate):
        return frozenset({filter})
    if isinstance(filter, Not):
        return _predicates(filter.child)
    assert isinstance(filter, And | Or)
    return frozenset[Predicate]().union(*map(_predicates, filter.children))
