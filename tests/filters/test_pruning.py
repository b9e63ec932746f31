from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import (
    And,
    DuplicateKeyError,
    Filter,
    Not,
    Or,
    UnknownKeyError,
    canonical,
    parse,
)
from pysim.filters.pruning import (
    Pruning,
    PruningQueue,
    Variant,
    best,
    pruned,
    prunings,
    sequence,
)
from pysim.filters.selectivity import SelectivityTable

from .samples import EVENTS, ToldCounts, counted
from .strategies import filters

BOOK = 't = 1 and e < 5 and (c = "new" and p < 30 or c = "used" and p < 18)'


def leaves(filter: Filter) -> int:
    return sum(map(leaves, filter.children)) if isinstance(filter, (And, Or)) else 1


def has_and(filter: Filter) -> bool:
    return isinstance(filter, And) or (
        isinstance(filter, Or) and any(map(has_and, filter.children))
    )


def cut(filter: Filter) -> Iterator[Filter]:
    """Every step in a canonical filter, in the plainest way."""
    if not isinstance(filter, (And, Or)):
        return
    for place, child in enumerate(filter.children):
        others = filter.children[:place] + filter.children[place + 1 :]
        if isinstance(filter, And):
            yield And(others)
        for smaller in cut(child):
            yield type(filter)((*others, smaller))


def plain_best(filter: Filter, table: SelectivityTable) -> tuple[float, int]:
    """Degradation and predicates of the best step, by estimating each one afresh."""
    filter = canonical(filter)
    before = table.estimate(filter)
    found = []
    for smaller in map(canonical, cut(filter)):
        after = table.estimate(smaller)
        differences = [new - old for new, old in zip(after, before, strict=True)]
        found.append((max(*differences, 0.0), leaves(smaller) - leaves(filter)))
    degradation, predicates = min(found)
    return degradation, -predicates


def told(**shares: float) -> SelectivityTable:
    return SelectivityTable(ToldCounts(**shares))


def texts(some: Iterator[Filter]) -> set[str]:
    return set(map(str, some))


def test_the_prunings_of_a_boolean_subscription() -> None:
    assert texts(prunings(parse(BOOK))) == {
        'e < 5 and ((c = "new" and p < 30) or (c = "used" and p < 18))',
        't = 1 and ((c = "new" and p < 30) or (c = "used" and p < 18))',
        "e < 5 and t = 1",
        'e < 5 and t = 1 and (p < 30 or (c = "used" and p < 18))',
        'e < 5 and t = 1 and (c = "new" or (c = "used" and p < 18))',
        'e < 5 and t = 1 and (p < 18 or (c = "new" and p < 30))',
        'e < 5 and t = 1 and (c = "used" or (c = "new" and p < 30))',
    }


def test_operators_that_become_neighbors_are_merged() -> None:
    assert texts(prunings(parse("a = 1 or b = 1 and (c = 1 or d = 1)"))) == {
        "a = 1 or b = 1",
        "a = 1 or c = 1 or d = 1",
    }


def test_what_has_no_and_has_no_prunings() -> None:
    for text in ("a = 1", "not a = 1", "a = 1 or not b = 1", "not (a = 1 and b = 1)"):
        assert list(prunings(parse(text))) == []
        assert best(parse(text), SelectivityTable()) is None
        assert sequence(parse(text), SelectivityTable()) == []


def test_the_best_pruning_has_the_least_of_the_largest_differences() -> None:
    # Without a: 0.5 in all three; without b: 0.1. With both: (0, 0.05, 0.1).
    step = best(parse("a = 1 and b = 1"), told(a=0.1, b=0.5))
    assert step is not None
    assert str(step.filter) == "a = 1"
    assert step.degradation == pytest.approx(0.1)
    assert step.predicates == 1


def test_of_equal_prunings_the_one_that_removes_more_comes_first() -> None:
    # What nothing fulfils hides all else: each step but the one that removes t costs nothing.
    table = SelectivityTable()
    table.learn("t", ["no number"])
    step = best(parse("t = 1 and a = 1 and (b = 1 or c = 1)"), table)
    assert step is not None
    assert (str(step.filter), step.degradation, step.predicates) == ("a = 1 and t = 1", 0.0, 2)


def test_of_prunings_that_are_equal_in_all_the_texts_decide() -> None:
    text = "b = 1 and c = 1 and a = 1"
    assert [str(step.filter) for step in sequence(parse(text), told(a=0.2, b=0.2, c=0.2))] == [
        "a = 1 and b = 1",
        "a = 1",
    ]


def test_a_sequence_of_a_boolean_subscription() -> None:
    # t is so rare that averages decide: those of the OR are 0.405, 0.51, 0.65, then it is gone.
    table = told(t=0.001, e=0.5, n=0.5, p=0.6, u=0.5, q=0.3)
    steps = sequence(parse("t = 1 and e = 1 and (n = 1 and p = 1 or u = 1 and q = 1)"), table)
    assert [(str(step.filter), step.predicates) for step in steps] == [
        ("e = 1 and t = 1 and (q = 1 or (n = 1 and p = 1))", 1),
        ("e = 1 and t = 1 and (n = 1 or q = 1)", 1),
        ("e = 1 and t = 1", 2),
        ("t = 1", 1),
    ]
    averages = [0.0005 * (0.51 - 0.405), 0.0005 * (0.65 - 0.51), 0.0005 * (1 - 0.65)]
    # The last step tells in the least selectivity, which the AND had at 0.
    assert [step.degradation for step in steps] == pytest.approx([*averages, 0.001])


def test_pruning_up_to_a_limit() -> None:
    filter = parse(BOOK)
    table = SelectivityTable()
    steps = sequence(filter, table)
    assert pruned(filter, table, -1.0) == filter
    assert pruned(filter, table, 1.0) == steps[-1].filter
    assert pruned(filter, table, steps[0].degradation) != filter


@settings(max_examples=400, deadline=None)
@given(filters)
def test_prunings_are_all_valid_steps(filter: Filter) -> None:
    found = list(prunings(filter))
    assert len(set(found)) == len(found)
    assert set(found) == set(map(canonical, cut(canonical(filter))))


@settings(max_examples=400, deadline=None)
@given(filters)
def test_every_step_generalizes_and_removes_predicates(filter: Filter) -> None:
    before = canonical(filter)
    for step in sequence(filter, SelectivityTable(counted())):
        assert step.predicates == leaves(before) - leaves(step.filter) > 0
        assert step.degradation >= 0.0
        assert step.filter == canonical(step.filter)
        assert all(step.filter.matches(event) for event in EVENTS if before.matches(event))
        before = step.filter
    assert not has_and(before)


@settings(max_examples=300, deadline=None)
@given(filters)
def test_a_sequence_takes_the_best_step_each_time(filter: Filter) -> None:
    table = SelectivityTable(counted())
    for step in sequence(filter, table):
        assert best(filter, table) == step
        assert plain_best(filter, table) == (step.degradation, step.predicates)
        filter = step.filter


class PlainQueue:
    """What a queue has to do, in the plainest way."""

    def __init__(self, table: SelectivityTable) -> None:
        self.table = table
        self.filters: dict[int, Filter] = {}

    def prune(self) -> tuple[int, Pruning] | None:
        steps = [
            (step.degradation, -step.predicates, key, step)
            for key, filter in self.filters.items()
            if (step := best(filter, self.table)) is not None
        ]
        if not steps:
            return None
        _, _, key, step = min(steps, key=lambda item: item[:3])
        self.filters[key] = step.filter
        return key, step


def drained(queue: PruningQueue[int] | PlainQueue) -> list[tuple[int, Pruning]]:
    return list(iter(queue.prune, None))


many = st.lists(filters, min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(many)
def test_a_queue_prunes_in_the_order_of_degradation(some: list[Filter]) -> None:
    table = SelectivityTable(counted())
    queue: PruningQueue[int] = PruningQueue(table)
    plain = PlainQueue(table)
    for key, filter in enumerate(some):
        queue.add(key, filter)
        plain.filters[key] = filter
    left = queue.steps_left
    done = drained(queue)
    assert done == drained(plain)
    assert len(done) == left
    assert queue.steps_left == 0
    for key in range(len(some)):
        assert queue.filter(key) == canonical(plain.filters[key])
        assert not has_and(queue.filter(key))


@settings(max_examples=150, deadline=None)
@given(many, st.randoms(use_true_random=False))
def test_a_queue_depends_on_what_is_in_it_not_on_how_it_came(
    some: list[Filter], rng: random.Random
) -> None:
    table = SelectivityTable(counted())
    queue: PruningQueue[int] = PruningQueue(table)
    order = list(range(len(some))) * 2
    rng.shuffle(order)
    for key in order * 3:
        if key in queue:
            queue.remove(key)
        else:
            queue.add(key, some[key])
        if rng.random() < 0.2 and queue.steps_left:
            pruned_key = queue.prune()
            assert pruned_key is not None
            queue.remove(pruned_key[0])
            queue.add(pruned_key[0], some[pruned_key[0]])
    fresh: PruningQueue[int] = PruningQueue(table)
    for key in range(len(some)):
        if key in queue:
            fresh.add(key, some[key])
    assert len(fresh) == len(queue)
    assert queue.steps_left == fresh.steps_left
    assert drained(queue) == drained(fresh)


@settings(max_examples=80, deadline=None)
@given(many)
def test_without_changes_of_selectivities_all_variants_do_the_same(some: list[Filter]) -> None:
    table = SelectivityTable(counted())
    found = []
    for variant in Variant:
        queue: PruningQueue[int] = PruningQueue(table, variant)
        for key, filter in enumerate(some):
            queue.add(key, filter)
        found.append(drained(queue))
    assert found[0] == found[1] == found[2]


@settings(max_examples=150, deadline=None)
@given(many, st.sampled_from(Variant))
def test_after_a_change_of_selectivities_steps_are_the_best_of_now_or_as_queued(
    some: list[Filter], variant: Variant
) -> None:
    sample = counted(EVENTS[:1])
    table = SelectivityTable(sample)
    queue: PruningQueue[int] = PruningQueue(table, variant, extent=0.01)
    queued: dict[int, Pruning | None] = {}
    current = dict(enumerate(some))
    for key, filter in current.items():
        queue.add(key, filter)
        queued[key] = best(filter, table) if variant is Variant.ALWAYS else None
    for event in EVENTS[1:]:
        sample.observe(event)
    for key, step in drained(queue):
        assert step == (queued.pop(key, None) or best(current[key], table))
        current[key] = step.filter
    assert queue.steps_left == 0
    assert not any(map(has_and, map(canonical, current.values())))


def changed_queue(variant: Variant, extent: float = 0.0) -> list[tuple[int, str]]:
    """Two subscriptions, of which the first was the cheaper one to prune, and is not any more."""
    counts = ToldCounts(a=0.1, b=0.9, c=0.2, d=0.9)
    queue: PruningQueue[int] = PruningQueue(SelectivityTable(counts), variant, extent)
    queue.add(1, parse("a = 1 and b = 1"))
    queue.add(2, parse("c = 1 and d = 1"))
    counts.tell(a=0.8, b=0.4)
    return [(key, str(step.filter)) for key, step in drained(queue)]


def test_variant_a_performs_what_was_queued() -> None:
    assert changed_queue(Variant.ALWAYS) == [(1, "a = 1"), (2, "c = 1")]


def test_variant_b_performs_what_is_still_the_least() -> None:
    assert changed_queue(Variant.IF_LEAST) == [(2, "c = 1"), (1, "b = 1")]


def test_variant_c_performs_what_has_not_changed_by_too_much() -> None:
    # The best step of the first has become that without a: 0.4 - 0.2 in the least instead of 0.
    assert changed_queue(Variant.WITHIN, extent=0.5) == [(1, "b = 1"), (2, "c = 1")]
    assert changed_queue(Variant.WITHIN, extent=0.01) == [(2, "c = 1"), (1, "b = 1")]


def test_a_queue_plans_anew_what_is_left_after_a_change() -> None:
    counts = ToldCounts(a=0.1, b=0.5, c=0.9)
    queue: PruningQueue[int] = PruningQueue(SelectivityTable(counts))
    queue.add(1, parse("a = 1 and b = 1 and c = 1"))
    counts.tell(a=0.8)
    assert [str(step.filter) for _, step in drained(queue)] == ["a = 1 and b = 1", "b = 1"]


def test_the_lower_key_comes_first() -> None:
    queue: PruningQueue[int] = PruningQueue(SelectivityTable())
    for key in (3, 1, 2):
        queue.add(key, parse(f"a = {key} and not b = {key}"))
    assert [key for key, _ in drained(queue)] == [1, 2, 3]


def test_a_queue_knows_its_keys() -> None:
    queue: PruningQueue[str] = PruningQueue(SelectivityTable())
    queue.add("ann", parse("a = 1 and b = 1"))
    with pytest.raises(DuplicateKeyError):
        queue.add("ann", parse("a = 2"))
    assert "ann" in queue
    queue.remove("ann")
    assert "ann" not in queue
    assert queue.steps_left == 0
    assert queue.prune() is None
    with pytest.raises(UnknownKeyError):
        queue.remove("ann")


def test_negated_leaves_are_pruned_like_others() -> None:
    table = told(a=0.1, b=0.01)
    step = best(And((parse("a = 1"), Not(parse("b = 1")))), table)
    assert step is not None
    assert str(step.filter) == "a = 1"
    assert step.degradation == pytest.approx(0.1 - 0.09)
