"""Algorithm 1: which entries fill a capacity, and when flags stay as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pysim.brokers import Gossiping
from pysim.brokers.popsub.gains import GainEntry
from pysim.brokers.popsub.popularity import keeps_its_flags, popular_entries
from pysim.wire import MessageId

from .scenes import Scene


def entry(gain: int, rate: float, popular: bool = True) -> GainEntry:
    made = GainEntry(1, MessageId(0, 1))
    made.count = made.hops = gain  # as if all were one hop away
    made.rate, made.popular = rate, popular
    return made


def popular(capacity: float, *entries: GainEntry) -> list[int]:
    found = popular_entries(entries, capacity)
    return [place for place, each in enumerate(entries) if each in found]


def test_entries_fill_the_capacity_in_the_order_of_their_gain():
    assert popular(30, entry(2, 10), entry(9, 10), entry(5, 10), entry(1, 10)) == [0, 1, 2]


def test_the_first_that_exceeds_it_is_unpopular_and_so_is_all_of_lower_gain():
    assert popular(30, entry(9, 10), entry(5, 21), entry(4, 1)) == [0]


def test_so_is_all_of_equal_gain():
    assert popular(30, entry(9, 10), entry(5, 15), entry(5, 15), entry(4, 1)) == [0]


def test_what_nobody_publishes_takes_no_room():
    assert popular(30, entry(9, 30), entry(5, 0), entry(0, 0)) == [0, 1, 2]


rated = st.tuples(st.integers(0, 6), st.sampled_from((0.0, 0.5, 1.0, 3.0)))


@given(st.lists(rated, max_size=12), st.sampled_from((0.0, 1.0, 2.5, 8.0)))
def test_popular_entries_fit_and_one_more_gain_would_not(entries, capacity):
    made = [entry(*each) for each in entries]
    found = popular_entries(made, capacity)
    rest = [each for each in made if each not in found]
    filled = sum(each.rate for each in found)
    assert filled <= capacity
    if rest:
        next_gain = max(each.gain for each in rest)
        assert all(each.gain > next_gain for each in found)
        assert filled + sum(each.rate for each in rest if each.gain == next_gain) > capacity


def test_flags_stay_while_popular_rates_are_within_a_tenth_of_the_capacity():
    unpopular = entry(1, 50, popular=False)
    assert keeps_its_flags([entry(9, 27), unpopular], 30)
    assert keeps_its_flags([entry(9, 33), unpopular], 30)
    assert not keeps_its_flags([entry(9, 26.9), unpopular], 30)
    assert not keeps_its_flags([entry(9, 33.1), unpopular], 30)


def test_rates_count_publications_however_they_are_sent():
    """Taken off the tree, an entry keeps its rate; so it does not come back for want of it."""
    stage = Scene(
        [(0, 1), (0, 2)],
        [(1, "x < 99"), (2, "x < 99"), (2, "x < 50")],
        "popsub-direct",
        evaluation=1.0,
        capacity=100.0,
        phi=0.12,
    )
    flags = []
    for _ in range(8):
        stage.publish(*[10] * 10)
        stage.after(1.0)
        flags.append({each.link: (each.popular, each.rate) for each in stage.agent(0).gains})
    assert flags[1:] == [{1: (False, 10.0), 2: (True, 10.0)}] * 7
    assert stage.agent(0).counters["flips"] == 1


def test_publications_of_others_that_pass_a_publishers_broker_fill_its_capacity():
    stage = Scene(
        [(0, 1), (0, 2)], [(2, "x < 99")], "popsub-direct", capacity=100.0, evaluation=1.0
    )
    stage.act("advertise", 1, "y > 0", 9)
    stage.act("subscribe", 2, "y > 0", 9)
    stage.after(0.2)
    stage.publish_at(1, {"y": 5}, {"y": 6})
    stage.after(0.1)
    seen = {each.advertisement.origin: each.seen for each in stage.agent(0).gains}
    assert seen == {0: 0, 1: 2}


@pytest.mark.parametrize("option", ["capacity", "evaluation", "interval", "view", "fanout"])
def test_an_option_that_must_be_positive_says_so(option):
    with pytest.raises(ValueError, match=rf"^{option}\(=0\) should be finite and more than 0$"):
        Gossiping.check_options({option: 0})
