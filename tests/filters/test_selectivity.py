from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import And, Filter, Operator, Or, Predicate, Range, Value, canonical, parse
from pysim.filters.covering import covers
from pysim.filters.histogram import Histogram
from pysim.filters.sample import EventSample
from pysim.filters.selectivity import (
    PRIOR_WEIGHT,
    Selectivity,
    SelectivityTable,
    conjunction,
    disjunction,
)

from .samples import EVENTS, ToldCounts, counted
from .strategies import filters, predicates


def predicate(text: str) -> Predicate:
    parsed = parse(text)
    assert isinstance(parsed, Predicate)
    return parsed


def told(**shares: float) -> SelectivityTable:
    """A table in which `a = 1` has the share that is told for a, as good as exactly."""
    return SelectivityTable(ToldCounts(**shares))


def test_a_conjunction_by_algorithm_1() -> None:
    # 0.9 + 0.8 + 0.5 - 2 ; 0.9 * 0.8 * 0.5 ; the least of all
    found = told(a=0.9, b=0.8, c=0.5).estimate(parse("a = 1 and b = 1 and c = 1"))
    assert found == pytest.approx((0.2, 0.36, 0.5))
    # 0.3 + 0.4 - 1 is below zero
    found = told(a=0.3, b=0.4).estimate(parse("a = 1 and b = 1"))
    assert found == pytest.approx((0.0, 0.12, 0.3))


def test_a_disjunction_by_algorithm_2() -> None:
    # the greatest of all ; 1 - 0.9 * 0.8 * 0.5 ; 0.1 + 0.2 + 0.5
    found = told(a=0.1, b=0.2, c=0.5).estimate(parse("a = 1 or b = 1 or c = 1"))
    assert found == pytest.approx((0.5, 0.64, 0.8))
    # 0.7 + 0.4 is above one
    found = told(a=0.7, b=0.4).estimate(parse("a = 1 or b = 1"))
    assert found == pytest.approx((0.7, 0.82, 1.0))


def test_negations_are_moved_to_the_predicates() -> None:
    table = told(a=0.1, b=0.2)
    assert table.estimate(parse("not a = 1")) == pytest.approx((0.9, 0.9, 0.9))
    found = table.estimate(parse("not (a = 1 or b = 1)"))
    assert found == pytest.approx((0.7, 0.72, 0.8))
    assert found == table.estimate(parse("not a = 1 and not b = 1"))


def test_a_tree_is_estimated_from_its_leaves_upwards() -> None:
    table = told(t=0.01, e=0.5, n=0.4, p=0.3, u=0.6, q=0.2)
    text = "t = 1 and e = 1 and (n = 1 and p = 1 or u = 1 and q = 1)"
    new, used = (0.0, 0.12, 0.3), (0.0, 0.12, 0.2)
    either = disjunction([new, used])
    assert either == pytest.approx((0.0, 0.2256, 0.5))
    expected = conjunction([(0.01,) * 3, (0.5,) * 3, either])
    assert table.estimate(parse(text)) == pytest.approx(expected)
    assert expected == pytest.approx((0.0, 0.01 * 0.5 * 0.2256, 0.01))


def test_counted_hits_outweigh_the_prior_in_time() -> None:
    sample = EventSample(1000)
    table = SelectivityTable(sample)
    table.learn("a", [1, 2, 3, 4])
    assert table.of(predicate("a = 1")) == 0.25
    for _ in range(300):
        sample.observe({"a": 1, "b": 2})
    assert table.events == 300
    assert table.of(predicate("a = 1")) == (300 + 100 * 0.25) / 400
    assert table.of(predicate("a = 2")) == 100 * 0.25 / 400


def test_without_a_source_there_are_only_priors() -> None:
    table = SelectivityTable()
    assert table.events == 0
    assert table.of(predicate("a = 1")) == 0.1
    table.learn("a", [1, 2])
    assert table.of(predicate("a = 1")) == 0.5


def test_the_version_tells_when_estimates_may_have_changed() -> None:
    sample = EventSample(1)
    table = SelectivityTable(sample)
    versions = [table.version]
    table.learn("a", [1, 2])
    versions.append(table.version)
    sample.observe({"a": 1})
    versions.append(table.version)
    assert len(set(versions)) == 3
    sample.observe({"a": 1})  # one too many for the sample
    assert table.version == versions[-1]


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("a = 7", 1 / 101),
        ("a != 7", 100 / 101),
        ("a < 30", 0.3),
        ("a <= 30", 0.3),
        ("a >= 30", 0.7),
        ("a > 30", 0.7),
        ("a in [20, 50]", 0.3),
        ("a < -5", 0.0),
        ("a < 500", 1.0),
        ("a > 500", 0.0),
        ("exists a", 1.0),
        ('a = "x"', 0.0),
    ],
)
def test_the_prior_of_a_number_is_its_share_of_the_range(text: str, prior: float) -> None:
    table = SelectivityTable()
    table.learn("a", range(101))
    assert table.of(predicate(text)) == pytest.approx(prior, abs=0.01)


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ('a = "bee"', 1 / 4),
        ('a != "bee"', 3 / 4),
        ('a < "bee"', 2 / 4),
        ('a <= "bee"', 3 / 4),
        ('a prefix "b"', 2 / 4),
        ('a suffix "t"', 2 / 4),
        ('a contains "zzz"', 1 / 4),
        ('a in ["b", "c")', 2 / 4),
        ("exists a", 1),
        ("a < 5", 0),
    ],
)
def test_the_prior_of_a_string_is_its_share_of_the_strings(text: str, prior: float) -> None:
    table = SelectivityTable()
    table.learn("a", ["ant", "bat", "bee", "cow", "cow"])
    assert table.of(predicate(text)) == pytest.approx(prior)


def test_missing_values_count_for_the_prior() -> None:
    table = SelectivityTable()
    table.learn("a", [1, 2, None, None, "x", None, None, None])
    assert table.of(predicate("exists a")) == 3 / 8
    assert table.of(predicate("a = 1")) == 1 / 8
    assert table.of(predicate('a = "x"')) == 1 / 8
    assert table.of(predicate('a = "y"')) == 0.0


def test_skewed_values_are_seen_in_the_histogram() -> None:
    table = SelectivityTable()
    table.learn("a", [1] * 180 + list(range(50, 70)))
    assert table.of(predicate("a < 10")) == pytest.approx(0.9)
    assert table.of(predicate("a > 10")) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        *(("a >= 1", 0.5), ("a > 0", 0.5), ("a <= 0", 0.5), ("a < 1", 0.5), ("a in [1, 2)", 0.5)),
        *(("a in (-1, 0]", 0.5), ("a in [0, 1)", 0.5), ("a in [0, 1]", 1.0), ("a in (1, 2]", 0.0)),
        *(("a >= 0", 1.0), ("a <= 1", 1.0), ("a < 0", 0.0), ("a > 1", 0.0), ("a = 7", 0.0)),
    ],
)
def test_the_ends_of_a_range_are_values_of_it(text: str, prior: float) -> None:
    table = SelectivityTable()
    table.learn("a", [0, 1] * 50)
    assert table.of(predicate(text)) == prior


odd_values = st.sampled_from([None, 1, 2, 3.5, 1e300, 10**400, float("inf"), float("nan"), "x", ""])


@settings(max_examples=500, deadline=None)
@given(filters, st.lists(odd_values, max_size=8), st.integers(0, len(EVENTS)))
def test_estimates_are_shares_in_order(filter: Filter, values: list[object], seen: int) -> None:
    table = SelectivityTable(counted(EVENTS[:seen]))
    table.learn("a", values)  # type: ignore[arg-type]
    least, average, greatest = table.estimate(filter)
    assert 0.0 <= least <= 1.0
    assert 0.0 <= average <= 1.0
    assert 0.0 <= greatest <= 1.0
    # The order holds for exact numbers: sum(s) - (n - 1) <= product(s) <= min(s), and so for OR.
    assert least <= average + 1e-12
    assert average <= greatest + 1e-12


comparisons = st.one_of(
    st.builds(
        Predicate,
        st.just("a"),
        st.sampled_from([Operator(text) for text in ("=", "!=", "<", "<=", ">", ">=")]),
        st.one_of(st.integers(-3, 7), st.sampled_from([0.5, 1.25, "", "x", "xy", "y", "z"])),
    ),
    st.builds(
        lambda ends, *closed: Predicate("a", Operator.IN, Range(*sorted(ends), *closed)),
        st.one_of(
            st.sets(st.integers(-3, 7), min_size=2, max_size=2),
            st.sets(st.sampled_from(["", "x", "xy", "y", "z"]), min_size=2, max_size=2),
        ),
        st.booleans(),
        st.booleans(),
    ),
)
plain_values = st.one_of(st.integers(-1, 5), st.sampled_from([None, 0.5, "x", "xx", "y"]))


@settings(max_examples=1500, deadline=None)
@given(
    st.lists(comparisons, min_size=2, max_size=8),
    st.lists(plain_values, min_size=1, max_size=12),
)
def test_what_covers_a_comparison_has_no_lower_prior(
    some: list[Predicate], values: list[Value | None]
) -> None:
    histogram = Histogram(values)
    for general, special in itertools.permutations(some, 2):
        if covers(general, special):
            assert histogram.share(general) >= histogram.share(special) - 1e-12


@settings(max_examples=500, deadline=None)
@given(predicates)
def test_counts_agree_with_matching(some: Predicate) -> None:
    prior = SelectivityTable().of(some)
    hits = sum(some.matches(event) for event in EVENTS)
    expected = (hits + PRIOR_WEIGHT * prior) / (len(EVENTS) + PRIOR_WEIGHT)
    assert SelectivityTable(counted()).of(some) == expected


@settings(max_examples=250, deadline=None)
@given(filters, st.randoms(use_true_random=False))
def test_an_estimate_does_not_depend_on_the_order_of_children(
    filter: Filter, rng: random.Random
) -> None:
    table = SelectivityTable(counted())
    form = canonical(filter)
    assert table.estimate(_shuffled(form, rng)) == table.estimate(form)


def _shuffled(filter: Filter, rng: random.Random) -> Filter:
    if not isinstance(filter, (And, Or)):
        return filter
    children = [_shuffled(child, rng) for child in filter.children]
    rng.shuffle(children)
    return type(filter)(tuple(children))


def test_a_predicate_has_one_value_for_all_three() -> None:
    assert SelectivityTable().estimate(parse("a = 1")) == Selectivity(0.1, 0.1, 0.1)
