"""The workload of comparisons: who wants which topic, for how long, and who publishes it."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import settings as testing
from hypothesis import strategies as st
from msgspec import structs

from pysim.filters import Filter
from pysim.filters.covering import covers, intersects
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Share
from pysim.workloads import Operation, Setting, Topics, WorkloadError
from pysim.workloads.base import event_size, subscription_size

SETTING = Setting(20, 12.0, Streams(1))
SMALL = Topics(topics=10, subscriptions=400, churn=Frequency(20))


def acts(workload: Topics, setting: Setting = SETTING) -> list[Operation]:
    workload.check(setting)
    return list(workload.operations(setting))


def of(operations: list[Operation], action: str) -> list[Operation]:
    return [act for act in operations if act.action == action]


def filter_of(operation: Operation) -> Filter:
    assert operation.filter is not None
    return operation.filter


def topic_of(operation: Operation) -> str:
    return str(filter_of(operation)).split('"')[1]


def test_each_topic_has_one_publisher_that_advertises_what_it_publishes() -> None:
    operations = acts(SMALL)
    offers = {act.client: act for act in of(operations, "advertise")}
    assert len(offers) == 10
    for event in of(operations, "publish"):
        offer = offers[event.client]
        assert offer.broker == event.broker
        assert filter_of(offer).matches(event.attributes)


def test_every_subscription_is_to_one_topic_and_some_cover_others() -> None:
    operations = acts(SMALL)
    offers = list(map(filter_of, of(operations, "advertise")))
    wanted = list(map(filter_of, of(operations, "subscribe")))
    assert all(sum(intersects(offer, wish) for offer in offers) == 1 for wish in wanted)
    whole = [wish for wish in wanted if wish in offers]
    assert len(whole) / len(wanted) == pytest.approx(0.5, abs=0.06)
    assert any(covers(whole[0], wish) and wish != whole[0] for wish in wanted)


@pytest.mark.parametrize(("skew", "share"), [(0.0, 0.1), (1.0, 0.36), (2.0, 0.68)])
def test_the_skew_decides_how_many_want_the_first_topic(skew: float, share: float) -> None:
    """By a Zipf law the first of ten has 1 / H(10, skew) of all: 10 %, 34 %, 65 %."""
    many = structs.replace(SMALL, subscriptions=4000, skew=skew, churn=Frequency(0))
    counts = Counter(map(topic_of, of(acts(many), "subscribe")))
    assert counts["t000"] / 4000 == pytest.approx(share, abs=0.03)


def test_churn_replaces_one_subscription_by_another_at_the_same_moment() -> None:
    operations = acts(SMALL)
    held: dict[int, tuple[int, Filter]] = {}
    for act in operations:
        if act.action == "subscribe":
            assert act.client not in held
            held[act.client] = act.broker, filter_of(act)
        elif act.action == "unsubscribe":
            assert held.pop(act.client) == (act.broker, filter_of(act))
    assert len(held) == 400
    gone = of(operations, "unsubscribe")
    assert len(gone) == pytest.approx(20 * 8, abs=40)
    assert 3 * NANOSECONDS <= gone[0].time < gone[-1].time < 11 * NANOSECONDS
    moments = {(act.time, act.client, filter_of(act)) for act in of(operations, "subscribe")}
    for act in gone:
        assert (act.time, act.client, filter_of(act)) not in moments  # it is another one


def test_more_of_anything_moves_nothing_else() -> None:
    still = structs.replace(SMALL, churn=Frequency(0))
    few = of(acts(still), "subscribe")
    more = of(acts(structs.replace(still, subscriptions=600)), "subscribe")
    assert [(act.broker, act.filter) for act in few] == [
        (act.broker, act.filter) for act in more[:400]
    ]
    lively = acts(SMALL)
    assert of(lively, "publish") == of(acts(still), "publish")
    skewed = of(acts(structs.replace(still, skew=0.0)), "subscribe")
    assert [act.broker for act in skewed] == [act.broker for act in few]


def test_publishers_can_be_at_a_few_brokers_only() -> None:
    alone = {act.broker for act in of(acts(structs.replace(SMALL, homes=1)), "publish")}
    three = {act.broker for act in of(acts(structs.replace(SMALL, homes=3)), "publish")}
    assert len(alone) == 1
    assert alone < three
    assert len(three) == 3


@testing(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), churn=st.floats(0, 50), topics=st.integers(1, 2000))
def test_an_estimate_is_never_exceeded(seed: int, churn: float, topics: int) -> None:
    setting = Setting(7, 6.0, Streams(seed))
    workload = Topics(topics=topics, subscriptions=60, churn=Frequency(churn))
    operations, estimate = acts(workload, setting), workload.estimate(setting)
    published = [event_size(act.attributes, act.payload) for act in of(operations, "publish")]
    changed = [subscription_size(filter_of(act)) for act in operations if act.filter is not None]
    distinct = {act.filter for act in operations if act.filter is not None}
    assert len(published) <= estimate.publications.messages
    assert sum(published) <= estimate.publications.bytes
    assert len(changed) <= estimate.subscriptions.messages
    assert sum(changed) <= estimate.subscriptions.bytes
    assert len(distinct) <= estimate.filters.messages
    assert max(*published, *changed) <= estimate.largest


def test_facts_tell_how_interest_came_out() -> None:
    facts = structs.replace(SMALL, skew=2.0).facts(SETTING)
    assert facts["share_of_top_tenth"] > 0.5
    assert facts["unwanted_topics"] == 0


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("homes", {"homes": 21}),
        ("churn", {"subscriptions": 0}),
        ("churn", {"topics": 1, "partial": Share(0)}),
        ("advertise", {"advertise": Duration(2)}),
        ("publish_start", {"ramp": Duration(3)}),
        ("publish_stop", {"publish_stop": Duration(13)}),
        ("publish_start", {"publish_start": Duration(11.5)}),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(key: str, changes: dict[str, object]) -> None:
    with pytest.raises(WorkloadError) as refused:
        structs.replace(SMALL, **changes).check(SETTING)
    assert refused.value.key == key
