"""What post-pruning makes of one broker's table, share by share, without any message.

All subscriptions are remote to the broker, so all are pruned (Bittner and Hinze, Sec. 5.3). It uses
the storage that brokers use, and must not know networks or time.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from pysim.brokers.optimizations import Optimize
from pysim.brokers.optimizations.choice import storage
from pysim.brokers.optimizations.statistics import Statistics
from pysim.experiments.filter_times import (
    FilterTimeRow,
    MeasuredTable,
    StoredRow,
    seconds_per_event,
)
from pysim.filters import Filter, MatchingIndex, canonical, new_index
from pysim.filters.values import Event
from pysim.workloads.auction_model import AuctionModel

OWN, NEIGHBOR = 0, 1
TIMED = 200
"""How many of the events are filtered for times and candidates."""


class MatchingRow(NamedTuple):
    """After a round of prunings: of so many events, how many match any subscription."""

    round: int
    events: int
    matching: int


class CurvePoint(NamedTuple):
    """All that is measured after a round of prunings."""

    stored: StoredRow
    matching: MatchingRow
    times: tuple[FilterTimeRow, FilterTimeRow]


class _Remote:
    """An entry that a neighbor wants, and nobody else."""

    __slots__ = ()

    subscribers = frozenset({NEIGHBOR})


def curve(
    filters: Sequence[Filter], events: Sequence[Event], learned: Sequence[Event], optimize: Optimize
) -> Iterator[CurvePoint]:
    """The table before any pruning, then after each share of all prunings until no AND is left.

    Selectivities come from the events `learned`, which should not be among those measured.
    """
    selectivities = Statistics.of(learned).selectivities
    stored = storage(_Remote, optimize, OWN, selectivities)
    entries = [_Remote() for _ in filters]
    for entry, filter in zip(entries, filters, strict=True):
        stored.insert(entry, filter)
    sample = events[:TIMED]
    table: MeasuredTable[int] = MeasuredTable(OWN, sample)
    unmatched: Sequence[Event] = events
    forms: list[Filter] = []
    round, more = 0, True
    while True:
        before, forms = forms, list(map(stored.form, entries, filters))
        table.take(dict(enumerate(forms)))
        # Forms only become more general: what matched once matches for ever, and what did not can
        # match those alone that have changed.
        changed = [form for form, old in zip_longest(forms, before) if form is not old]
        unmatched = _unmatched(changed, unmatched)
        yield CurvePoint(
            table.row(round, 0),
            MatchingRow(round, len(events), len(events) - len(unmatched)),
            (
                table.time(round),
                FilterTimeRow(round, OWN, "broker", seconds_per_event(stored.match, sample)),
            ),
        )
        if not more:
            return
        round += 1
        more = stored.renew(round)


def _unmatched(filters: Sequence[Filter], events: Sequence[Event]) -> Sequence[Event]:
    """The events that match none of some filters."""
    index: MatchingIndex[int] = new_index()
    for number, filter in enumerate(filters):
        index.insert(number, filter)
    return [event for event in events if not index.match(event)]


def of_auctions(
    model: AuctionModel, subscriptions: int, events: int, optimize: Optimize
) -> Iterator[CurvePoint]:
    """The curve of so many subscriptions and events; duplicates are entries of their own."""
    return curve(
        [canonical(model.subscription(number)) for number in range(subscriptions)],
        [model.event(number) for number in range(events)],
        list(model.samples(optimize.sample)),
        optimize,
    )
