"""Routing tables under measurement: their size, their work and their time on some events.

It must not know which optimization made them, nor whose tables they are. Times are of this machine
and of this moment: they are kept apart from everything that a repeated run gives again.
"""

from collections.abc import Callable, Mapping, Sequence
from time import process_time
from typing import Generic, NamedTuple

from pysim.filters import Filter
from pysim.filters.index import K
from pysim.filters.two_step import TwoStepIndex
from pysim.filters.values import Event

PASSES = 3
"""How often the same events are filtered; the calmest pass counts."""


class StoredRow(NamedTuple):
    """A broker's table as it stands when a round of events begins.

    `associations` (of predicates with subscriptions), `predicates` and `bytes` are those of the
    published two-step engine; `candidates` is how many subscriptions it evaluates for the first
    `sampled` events in all; `filtered` is how many events the broker has filtered before.
    """

    round: int
    broker: int
    entries: int
    associations: int
    predicates: int
    bytes: int
    sampled: int
    candidates: int
    filtered: int


class FilterTimeRow(NamedTuple):
    """Seconds of CPU time that an engine takes for an event, at a broker in a round."""

    round: int
    broker: int
    engine: str
    seconds: float


class MeasuredTable(Generic[K]):
    """What stands in a broker's table, kept also in the published engine, and measured there."""

    def __init__(self, broker: int, sample: Sequence[Event]) -> None:
        self._broker = broker
        self._sample = sample
        self._index: TwoStepIndex[K] = TwoStepIndex()
        self._forms: dict[K, Filter] = {}

    def take(self, stored: Mapping[K, Filter]) -> None:
        """Hold these entries from now on; those that are as they were cost nothing."""
        for key in [key for key in self._forms if key not in stored]:
            self._index.remove(key)
            del self._forms[key]
        for key, form in stored.items():
            before = self._forms.get(key)
            if before is None:
                self._index.insert(key, form)
            elif before is not form:
                self._index.replace(key, form)
            self._forms[key] = form

    def row(self, round: int, filtered: int) -> StoredRow:
        """Size and work of the table now."""
        index = self._index
        before = index.candidates
        for event in self._sample:
            index.match(event)
        return StoredRow(
            round,
            self._broker,
            len(index),
            index.associations,
            index.predicates,
            index.bytes,
            len(self._sample),
            index.candidates - before,
            filtered,
        )

    def time(self, round: int) -> FilterTimeRow:
        """What an event costs the published engine now."""
        seconds = seconds_per_event(self._index.match, self._sample)
        return FilterTimeRow(round, self._broker, "two-step", seconds)


def seconds_per_event(match: Callable[[Event], object], events: Sequence[Event]) -> float:
    """CPU time of the calmest of several passes over some events."""
    return min(_one_pass(match, events) for _ in range(PASSES)) / max(len(events), 1)


def _one_pass(match: Callable[[Event], object], events: Sequence[Event]) -> float:
    begin = process_time()
    for event in events:
        match(event)
    return process_time() - begin
