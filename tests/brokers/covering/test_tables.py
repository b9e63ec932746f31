"""The routing tables by themselves, against searching through everything; and the lesser graphs."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.brokers.covering.stores import Lazy, Unrelated
from pysim.brokers.covering.tables import Advertisements, Entry, Subscriptions
from pysim.filters import Filter, canonical, parse
from pysim.filters.covering import covers, intersects
from pysim.filters.relations import Placed, new_graph
from pysim.wire import MessageId

FILTERS = [
    canonical(parse(text))
    for text in (
        'kind = "a"',
        'kind = "b"',
        'kind = "a" and n = 1',
        'kind = "b" and n = 1.0',
        'kind = "a" and n = "1"',
        "n = 1",
        "n in [0, 3]",
        'n in [0, 3] and kind = "c"',
        'n = 2 or kind = "a"',
        "not exists n",
        'm = 5 and kind = "b"',
        "n = 1 and n = 2",
    )
]

filters = st.sampled_from(FILTERS)
changes = st.lists(st.tuples(st.booleans(), st.integers(0, 7), filters, st.integers(0, 2)))


@settings(max_examples=400)
@given(changes, filters)
def test_the_srt_finds_what_a_search_through_all_finds(steps, wanted: Filter):
    table = Advertisements(own=0)
    standing: dict[tuple[MessageId, int], Filter] = {}
    known: dict[MessageId, Filter] = {}
    for is_new, number, filter, hop in steps:
        id = MessageId(9, number)
        if is_new:
            filter = known.setdefault(id, filter)
            learned = table.learn(id, filter, hop)
            assert (learned is None) == ((id, hop) in standing)
            standing[id, hop] = filter
        else:
            unlearned = table.unlearn(id, hop)
            assert (unlearned is None) == (standing.pop((id, hop), None) is None)
            if not any(other == id for other, _ in standing):
                known.pop(id, None)
    for hop in range(3):
        here = {id: filter for (id, side), filter in standing.items() if side == hop}
        expected = {id for id, filter in here.items() if intersects(filter, wanted)}
        assert {found.id for found in table.intersecting(hop, wanted)} == expected
        assert table.is_wanted(hop, wanted) == bool(expected)
        assert {found.id for found in table.side(hop)} == set(here)
    assert {found.id for found in table} == {id for id, _ in standing}


def test_an_event_belongs_to_the_first_local_advertisement_that_announces_it():
    table = Advertisements(own=0)
    for number, hop in ((3, 0), (1, 1), (2, 0)):
        table.learn(MessageId(0, number), parse("n in [0, 3]"), hop)
    found = table.announcing({"n": 1})
    assert found is not None
    assert found.id == MessageId(0, 2)
    assert table.announcing({"n": 7}) is None


def test_a_subscription_from_two_sides_is_two_entries_of_one_id():
    table = Subscriptions()
    one, other = (Entry(MessageId(5, 1), parse("n > 0"), hop) for hop in (1, 2))
    table.add(one)
    table.add(other)
    other.fwd = (3,)
    assert (table.find(one.id, 1), table.find(one.id, 2), table.find(one.id, 3)) == (
        one,
        other,
        None,
    )
    assert table.is_told(one.id, 3)
    table.remove(other)
    assert not table.is_told(one.id, 3)
    assert list(table) == [one]
    assert len(table) == 1


def box(low: int, high: int) -> Filter:
    return parse(f"n in [{low}, {high}]")


def test_where_nothing_is_related_everything_is_a_root():
    graph: Unrelated[str] = Unrelated()
    assert graph.insert("wide", box(0, 9)) == Placed(False, (), 0)
    assert graph.insert("narrow", box(1, 2)) == Placed(False, (), 0)
    assert list(graph.roots()) == ["wide", "narrow"]
    assert graph.remove("wide") == ()
    assert (graph.root_count, len(graph), "wide" in graph) == (1, 1, False)


def test_lazily_a_root_stays_one_and_what_was_covered_on_arrival_becomes_one_late():
    graph: Lazy[str] = Lazy(new_graph("simplified"))
    assert not graph.insert("old", box(1, 2)).covered
    assert graph.insert("wide", box(0, 9)) == Placed(False, (), 1)
    assert graph.insert("late", box(3, 4)).covered
    assert list(graph.roots()) == ["old", "wide"]
    assert graph.insert("other", box(20, 21)) == Placed(False, (), 2)  # all that stand
    assert graph.remove("wide") == ["late"]
    assert list(graph.roots()) == ["old", "other", "late"]


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25), st.randoms())
def test_lazy_roots_cover_all_and_are_roots_for_a_reason(bounds, draw):
    """At any time each key is covered by a root, and no root was covered by one when it came."""
    graph: Lazy[int] = Lazy(new_graph("simplified"))
    stored: dict[int, Filter] = {}
    for number, (low, high) in enumerate(bounds):
        if stored and draw.random() < 0.4:
            gone = draw.choice(sorted(stored))
            del stored[gone]
            new = graph.remove(gone)
            assert all(graph.is_root(key) for key in new)
        filter = box(min(low, high), max(low, high))
        was_covered = any(covers(stored[key], filter) for key in graph.roots())
        stored[number] = filter
        assert graph.insert(number, filter).covered == was_covered
        assert graph.is_root(number) != was_covered
        for key, each in stored.items():
            assert any(covers(stored[root], each) for root in graph.roots())
            assert key in graph
