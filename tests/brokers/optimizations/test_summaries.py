"""What a neighbor is told stands for all that is wanted, after every change and within it."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.brokers.optimizations import Change, Optimize
from pysim.brokers.optimizations.choice import summary
from pysim.brokers.optimizations.statistics import Statistics
from pysim.filters import Event, Filter, parse
from pysim.filters.covering import covers

from ...filters.strategies import events, filters

EXACT = [("covering",), ("perfect-merging",), ("perfect-merging", "covering"), ()]
GENERAL = [("pre-pruning",), ("imperfect-merging",), ("pre-pruning", "covering")]
GENERAL += [("pre-pruning", "perfect-merging", "covering")]

many = settings(max_examples=400, deadline=None)


class OneByOne:
    """What a neighbor is told if filters come and go one at a time."""

    def __init__(self, by: tuple[str, ...], seen: Iterable[Event]) -> None:
        selectivities = Statistics.of(list(seen)).selectivities
        self._chain = summary(Optimize(by=by, limit=0.2), selectivities)

    def add(self, *filters: Filter) -> Change:
        return self._chain.add(filters)

    def remove(self, *filters: Filter) -> Change:
        return self._chain.remove(filters)


def make(by: tuple[str, ...], seen: Iterable[Event] = ()) -> OneByOne:
    return OneByOne(by, seen)


def matches(some: Iterable[Filter], event: Event) -> bool:
    return any(filter.matches(event) for filter in some)


@pytest.mark.parametrize("by", [*EXACT, *GENERAL], ids="+".join)
@many
@given(
    steps=st.lists(st.integers(0, 7), max_size=30),
    pool=st.lists(filters, min_size=1, max_size=8, unique=True),
    seen=st.lists(events, min_size=1, max_size=8),
)
def test_what_is_told_matches_all_that_is_wanted_at_every_moment(by, steps, pool, seen):
    wanted: set[Filter] = set()
    told: set[Filter] = set()
    part = make(by, seen)

    def complete() -> bool:
        return all(matches(told, event) for event in seen if matches(wanted, event))

    for step in steps:
        filter = pool[step % len(pool)]
        if filter in wanted:
            wanted.remove(filter)
            change = part.remove(filter)
        else:
            wanted.add(filter)
            change = part.add(filter)
        assert told.isdisjoint(change.subscribe)
        told.update(change.subscribe)
        assert complete()
        for each in change.unsubscribe:
            told.remove(each)  # it was told
            assert complete()
        if by in EXACT:
            assert all(matches(wanted, event) for event in seen if matches(told, event))
    for filter in sorted(wanted, key=str):
        change = part.remove(filter)
        told = (told | set(change.subscribe)) - set(change.unsubscribe)
    assert told == set()


@many
@given(
    steps=st.lists(st.integers(0, 9), max_size=40),
    pool=st.lists(filters, min_size=1, max_size=10, unique=True),
)
def test_covering_tells_no_filter_that_another_told_one_covers(steps, pool):
    wanted: set[Filter] = set()
    told: set[Filter] = set()
    part = make(("covering",))
    for step in steps:
        filter = pool[step % len(pool)]
        change = part.remove(filter) if filter in wanted else part.add(filter)
        wanted ^= {filter}
        told = (told | set(change.subscribe)) - set(change.unsubscribe)
        assert told <= wanted
        assert not any(covers(one, other) for one in told for other in told if one != other)


def test_a_covering_filter_replaces_what_it_covers_and_gives_it_back():
    part = make(("covering",))
    narrow, wide, other = parse("x < 3"), parse("x < 5"), parse("y = 1")
    assert part.add(narrow) == ((narrow,), ())
    assert part.add(other) == ((other,), ())
    assert part.add(wide) == ((wide,), (narrow,))
    assert part.remove(other) == ((), (other,))
    assert part.remove(wide) == ((narrow,), (wide,))


def test_a_merger_grows_and_shrinks_with_its_members():
    part = make(("perfect-merging",))
    low, high = parse('price < 5 and title = "Emma"'), parse('price < 9 and title = "Emma"')
    sought = parse('bids > 3 and title = "Emma"')
    both = parse('title = "Emma" and (bids > 3 or price < 5)')
    assert part.add(low) == ((low,), ())
    assert part.add(high) == ((high,), (low,))
    assert part.remove(high) == ((low,), (high,))
    assert part.add(sought) == ((both,), (low,))


def test_a_large_group_is_told_in_parts():
    part = make(("perfect-merging",))
    filters = [parse(f'title = "Emma" and n{i} = 1 and p{i} > 0') for i in range(3)]
    filters += [parse(f'title = "Emma" and price in [{3 * i}, {3 * i + 1}]') for i in range(40)]
    told: set[Filter] = set()
    for filter in filters:
        change = part.add(filter)
        told = (told | set(change.subscribe)) - set(change.unsubscribe)
    assert len(told) == 3 + 3


def test_pruned_filters_of_one_form_are_told_once():
    sample = [{"a": 1, "b": 1, "c": n} for n in range(50)]
    part = make(("pre-pruning",), sample)
    first, second = parse("b = 1 and c = 3 and a > 0"), parse("b = 1 and c = 3")
    (form,) = part.add(first).subscribe
    assert str(form) == "c = 3"
    assert part.add(second) == ((), ())
    assert part.remove(first) == ((), ())
    assert part.remove(second) == ((), (form,))


def test_of_filters_that_come_together_only_what_stays_is_told():
    part = make(("covering",))
    nested = [parse(f"x < {n}") for n in range(16)]
    assert part.add(*nested) == ((nested[-1],), ())
    assert part.remove(*nested[8:]) == ((nested[7],), (nested[-1],))
