from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import Filter, Predicate, canonical, parse
from pysim.filters.covering import covers
from pysim.filters.replacement import plan, predicates_of, replaced
from pysim.filters.selectivity import SelectivityTable

from .samples import EVENTS, counted
from .strategies import filters, predicates


def some(*texts: str) -> list[Predicate]:
    return [predicate for text in texts for predicate in predicates_of(parse(text))]


def planned(
    table: SelectivityTable, limit: float, *texts: str, share: float = 1.0
) -> dict[str, str]:
    found = plan(some(*texts), table, limit, share)
    return {str(predicate): str(other) for predicate, other in found.items()}


@pytest.fixture
def table() -> SelectivityTable:
    table = SelectivityTable()
    table.learn("a", range(101))
    return table


def test_predicates_are_replaced_by_the_nearest_that_covers_them(table: SelectivityTable) -> None:
    found = planned(table, 0.11, "a < 10", "a < 20", "a < 50", "a < 62", "b < 25")
    assert found == {"a < 10": "a < 20"}


def test_chains_are_resolved_and_their_whole_length_counts(table: SelectivityTable) -> None:
    texts = ("a < 10", "a < 11", "a < 13", "a < 17", "a < 20")
    assert planned(table, 1.0, *texts) == dict.fromkeys(texts[:4], "a < 20")
    # From 10 to 13 are 0.03; from there on it would be more than 0.045, though 17 is at 0.04.
    assert planned(table, 0.045, *texts) == {
        "a < 10": "a < 13",
        "a < 11": "a < 13",
        "a < 17": "a < 20",
    }


def test_the_harmless_replacements_come_first(table: SelectivityTable) -> None:
    texts = ("a < 10", "a < 20", "a < 22", "a > 60", "a > 50")
    assert planned(table, 1.0, *texts, share=0.3) == {"a < 20": "a < 22"}
    assert planned(table, 1.0, *texts, share=0.6) == {"a < 20": "a < 22", "a > 60": "a > 50"}


def test_predicates_of_other_operators_may_cover(table: SelectivityTable) -> None:
    assert planned(table, 1.0, "a in [10, 20]", "a <= 20") == {"a in [10, 20]": "a <= 20"}
    assert planned(table, 1.0, "a = 5", "a != 7") == {"a = 5": "a != 7"}
    assert planned(table, 1.0, "a = 5", "a = 6") == {}


def test_only_predicates_that_are_not_negated_are_replaced() -> None:
    replacement = plan(some("a < 10", "a < 20"), SelectivityTable(), 1.0)
    assert replacement
    filter = parse("a < 10 and not (b = 1 and a < 10 or not a < 10)")
    assert replaced(filter, replacement) == canonical(
        parse("a < 20 and not (b = 1 and a < 10 or not a < 20)")
    )


def test_the_predicates_of_a_filter() -> None:
    found = predicates_of(parse("b = 1 and not a = 1 and (a = 1 or c = 1)"))
    assert list(map(str, found)) == ["b = 1", "a = 1", "c = 1"]


@settings(max_examples=300, deadline=None)
@given(st.lists(filters, min_size=1, max_size=5), st.floats(0, 1), st.floats(0, 1))
def test_replacements_generalize(members: list[Filter], limit: float, share: float) -> None:
    known = {predicate for filter in members for predicate in predicates_of(filter)}
    replacement = plan(known, SelectivityTable(counted()), limit, share)
    for filter in members:
        general = replaced(filter, replacement)
        assert set(predicates_of(general)) <= known
        assert all(general.matches(event) for event in EVENTS if filter.matches(event))


@settings(max_examples=300, deadline=None)
@given(st.lists(predicates, min_size=1, max_size=12), st.floats(0, 0.5))
def test_a_plan_covers_and_keeps_to_its_limit(known: list[Predicate], limit: float) -> None:
    table = SelectivityTable()
    replacement = plan(known, table, limit)
    for predicate, other in replacement.items():
        assert other in known
        assert other not in replacement
        assert covers(other, predicate)
        assert table.of(other) - table.of(predicate) <= limit
    assert replacement == plan(reversed(known), table, limit)
