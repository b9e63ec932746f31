"""The forms in which remote subscriptions are stored are those that an experiment asks for."""

from typing import Any

import pytest

from pysim.brokers.optimizations import Optimize
from pysim.brokers.optimizations.choice import storage
from pysim.filters import parse
from pysim.filters.selectivity import SelectivityTable
from pysim.units import Share

from ...filters.samples import ToldCounts


class Remote:
    """An entry that a neighbor wants."""

    subscribers = frozenset({1})


@pytest.mark.parametrize(
    ("variant", "forms"),
    [
        ({"variant": "a"}, ["a = 1", "c = 1 and d = 1"]),
        ({"variant": "b"}, ["a = 1 and b = 1", "c = 1"]),
        ({"variant": "c", "extent": Share(0.5)}, ["b = 1", "c = 1 and d = 1"]),
        ({"variant": "c", "extent": Share(0.01)}, ["a = 1 and b = 1", "c = 1"]),
    ],
)
def test_steps_that_were_queued_are_performed_as_the_variant_says(
    variant: dict[str, Any], forms: list[str]
) -> None:
    """The first step was queued as the one that loses least, and is not any more."""
    counts = ToldCounts(a=0.1, b=0.9, c=0.2, d=0.9)
    optimize = Optimize(by=("post-pruning",), share=Share(0.2), **variant)
    stored = storage(Remote, optimize, 0, SelectivityTable(counts))
    filters = [parse("a = 1 and b = 1"), parse("c = 1 and d = 1")]
    entries = [Remote(), Remote()]
    for entry, filter in zip(entries, filters, strict=True):
        stored.insert(entry, filter)
    stored.renew(1)
    assert list(map(stored.form, entries, filters)) == filters  # a fifth of two steps is none
    counts.tell(a=0.8, b=0.4)
    stored.renew(3)
    assert [str(stored.form(*each)) for each in zip(entries, filters, strict=True)] == forms
