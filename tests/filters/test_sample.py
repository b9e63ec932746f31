"""A sample of events counts what the language says."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.filters import parse
from pysim.filters.sample import EventSample

from .strategies import events, predicates


@settings(max_examples=1000, deadline=None)
@given(st.lists(events, max_size=12), st.lists(predicates, max_size=6), st.integers(0, 12))
def test_it_counts_the_events_that_fulfil_a_predicate(seen, asked, most):
    sample = EventSample(most)
    for event in seen:
        sample.observe(event)
    assert sample.events == min(most, len(seen))
    for predicate in asked:
        expected = sum(predicate.matches(event) for event in seen[:most])
        assert sample.fulfilled(predicate) == expected


def test_events_that_come_after_a_question_count_in_the_next_answer():
    sample = EventSample(10)
    cheap = parse("price < 5")
    sample.observe({"price": 3})
    assert sample.fulfilled(cheap) == 1
    sample.observe({"price": 1, "title": "x"})
    assert sample.fulfilled(cheap) == 2
    assert sample.attributes() == ["price", "title"]
    assert sample.values("price") == [3, 1]
