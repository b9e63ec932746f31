"""Workloads: the same streams give the same operations, in order, at the rates asked for."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest

from pysim.experiments.schema import FieldError, convert
from pysim.filters import parse
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Share, Size
from pysim.wire import Envelope
from pysim.wire.messages import Event
from pysim.workloads import (
    Auctions,
    Covering,
    Flood,
    Mobile,
    Operation,
    Patterns,
    Popularity,
    Recorded,
    Script,
    Setting,
    Stock,
    Topics,
    Workflow,
    Workload,
    WorkloadError,
    kinds,
)
from pysim.workloads.base import subscription_size

SETTING = Setting(brokers=50, duration=10.0, streams=Streams(1))

LIVELY = Patterns(churn=Frequency(2), core=Share(0.5), rate=Frequency(5))

WORKLOADS = [
    Patterns(),
    LIVELY,
    Patterns(gaps="constant", patterns=200),
    Flood(publishers=3, rate=Frequency(20)),
    Topics(churn=Frequency(5)),
]


def acts(workload: Workload, setting: Setting = SETTING) -> list[Operation]:
    return list(workload.operations(setting))


def seconds(operation: Operation) -> float:
    return operation.time / NANOSECONDS


def test_the_registry_knows_every_kind() -> None:
    assert dict(kinds()) == {
        "auctions": Auctions,
        "covering": Covering,
        "flood": Flood,
        "mobile": Mobile,
        "patterns": Patterns,
        "popularity": Popularity,
        "recorded": Recorded,
        "script": Script,
        "stock": Stock,
        "topics": Topics,
        "workflow": Workflow,
    }


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_same_streams_give_the_same_operations(workload: Workload) -> None:
    assert acts(workload) == acts(workload)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_operations_come_in_order(workload: Workload) -> None:
    times = [operation.time for operation in acts(workload)]
    assert times == sorted(times)
    assert seconds(acts(workload)[0]) >= workload.earliest()


@pytest.mark.parametrize("workload", WORKLOADS)
def test_operations_are_made_while_they_are_read(workload: Workload) -> None:
    endless = replace(SETTING, duration=1e9)
    assert len(list(itertools.islice(workload.operations(endless), 100))) == 100


@pytest.mark.parametrize("workload", WORKLOADS)
def test_an_estimate_is_never_exceeded(workload: Workload) -> None:
    estimate = workload.estimate(SETTING)
    published = [act for act in acts(workload) if act.action == "publish"]
    others = [act for act in acts(workload) if act.filter is not None]
    sizes = [frame_size(act) for act in published]
    filters = {act.filter for act in others if act.filter is not None}
    assert len(published) <= estimate.publications.messages <= 2 * len(published) + 100
    assert sum(sizes) <= estimate.publications.bytes
    assert max(sizes) <= estimate.largest
    assert len(others) <= estimate.subscriptions.messages
    assert sum(map(subscription_size, filters)) <= estimate.filters.bytes
    assert len(filters) <= estimate.filters.messages


def frame_size(act: Operation) -> int:
    return len(Envelope.seal(Event(dict(act.attributes), act.payload), 0, 0).frame)


def test_another_seed_gives_other_operations() -> None:
    assert acts(Patterns()) != acts(Patterns(), replace(SETTING, streams=Streams(2)))


def test_more_brokers_do_not_change_what_a_broker_publishes() -> None:
    def published(setting: Setting) -> list[Operation]:
        return [act for act in acts(Patterns(), setting) if act.broker == 3 and act.attributes]

    assert published(SETTING) == published(replace(SETTING, brokers=60))


def test_patterns_follow_the_paper() -> None:
    operations = acts(Patterns())
    subscribed = Counter(act.broker for act in operations if act.action == "subscribe")
    published = [act for act in operations if act.action == "publish"]
    assert sorted(subscribed.values()) == [7] * 10
    assert {len(str(act.attributes["body"])) for act in published} == {9}
    assert {act.broker for act in published} == set(range(50))
    assert len(published) == pytest.approx(50 * 7, rel=0.15)  # 1 /s each, from 2 s to 9 s
    assert all(2 <= seconds(act) < 9 for act in published)
    assert all(0.5 <= seconds(act) < 1 for act in operations if act.action == "subscribe")


def test_the_share_of_receivers_is_that_of_equation_2() -> None:
    """Cugola et al., Eq. (2): sigma_r = sigma_s (1 - ((Pi - pi) / Pi) ^ mu) = 0.0988."""
    setting = replace(SETTING, brokers=100, duration=60.0)
    operations = acts(Patterns(), setting)
    filters: dict[int, list[str]] = {}
    for act in operations:
        if act.action == "subscribe":
            filters.setdefault(act.broker, []).append(act.filter.value)  # type: ignore[union-attr]
    bodies = [str(act.attributes["body"]) for act in operations if act.action == "publish"]
    received = sum(any(x in body for x in held) for body in bodies for held in filters.values())
    assert received / len(bodies) / 100 == pytest.approx(0.0988, rel=0.1)


def test_constant_gaps_are_constant() -> None:
    workload = Patterns(gaps="constant", rate=Frequency(4), publishers=Share(0.02))
    times = [act.time for act in acts(workload) if act.action == "publish"]
    gaps = {later - earlier for earlier, later in itertools.pairwise(times)}
    assert len(times) == 28
    assert max(gaps) - min(gaps) <= 1
    assert min(gaps) == pytest.approx(NANOSECONDS / 4, abs=1)


def test_churn_replaces_what_is_held_and_spares_the_core() -> None:
    held: dict[int, set[str]] = {}
    late = set()
    for act in acts(LIVELY):
        if act.filter is None:
            continue
        mine = held.setdefault(act.broker, set())
        pattern = str(act.filter)
        if act.action == "subscribe":
            assert pattern not in mine
            mine.add(pattern)
        else:
            mine.remove(pattern)
            if seconds(act) > LIVELY.freeze:
                late.add(act.broker)
    assert {len(mine) for mine in held.values()} == {7}
    assert len(held) == 10
    assert len(late) == 5  # half of the brokers are the core, and half of the subscribers with it


@pytest.mark.parametrize("size", [*range(40, 60), 200, 256, *range(290, 300), 1500, 65_600, 65_610])
def test_flooded_frames_have_exactly_the_size(size: int) -> None:
    workload = Flood(size=Size(size), stop=Duration(1.1))
    published = [act for act in acts(workload) if act.action == "publish"]
    assert [frame_size(act) for act in published] == [size]


def test_flood_publishes_in_turn_and_wakes_the_last_brokers() -> None:
    workload = Flood(publishers=2, subscribers=1, rate=Frequency(2), stop=Duration(2))
    assert [(seconds(act), act.broker, act.action) for act in acts(workload)] == [
        (0.5, 49, "subscribe"),
        (1.0, 0, "publish"),
        (1.25, 1, "publish"),
        (1.5, 0, "publish"),
        (1.75, 1, "publish"),
    ]
    wanted = acts(workload)[0].filter
    assert wanted is not None
    assert wanted.matches(acts(workload)[1].attributes)


def test_a_script_is_taken_at_its_word() -> None:
    script = convert(
        {
            "steps": [
                {"time": "2 s", "broker": 0, "publish": {"price": 25}},
                {"time": "1 s", "broker": 2, "client": 7, "subscribe": "price < 30"},
                {"time": "3 s", "broker": 2, "client": 7, "unsubscribe": "price < 30"},
            ]
        },
        Script,
    )
    script.check(SETTING)
    assert acts(script) == [
        Operation(NANOSECONDS, 2, "subscribe", 7, filter=parse("price < 30")),
        Operation(2 * NANOSECONDS, 0, "publish", attributes={"price": 25}),
        Operation(3 * NANOSECONDS, 2, "unsubscribe", 7, filter=parse("price < 30")),
    ]
    assert script.earliest() == 1.0
    assert script.estimate(SETTING).publications.messages == 1
    assert script.estimate(SETTING).subscriptions.messages == 2
    assert script.estimate(SETTING).filters.messages == 1


def test_a_filter_that_does_not_parse_is_shown() -> None:
    raw = {"steps": [{"time": 1, "broker": 0, "subscribe": "price <"}]}
    with pytest.raises(FieldError) as error:
        convert(raw, Script)
    assert error.value.sentence(raw) == (
        "steps[0].subscribe: Expected a number or a string, found the end of the text"
        " at column 8.\n  price <\n         ^"
    )


@pytest.mark.parametrize(
    ("workload", "key", "problem"),
    [
        (
            Patterns(patterns=5),
            "per_subscriber",
            "a broker cannot hold 7 different patterns out of 5",
        ),
        (
            Patterns(patterns=7, churn=Frequency(1)),
            "per_subscriber",
            "a broker cannot hold 7 different patterns and one to replace them with out of 7",
        ),
        (Patterns(start=Duration(11)), "start", "the run ends at 10 s"),
        (Patterns(stop=Duration(11)), "stop", "the run ends at 10 s"),
        (
            Patterns(publish_start=Duration(9.5)),
            "publish_start",
            "publishing ends at 9 s, before it begins",
        ),
        (Flood(publishers=51), "publishers", "the overlay has 50 brokers"),
        (Flood(subscribers=51), "subscribers", "the overlay has 50 brokers"),
        (Flood(size=Size(20)), "size", "the smallest event of this workload has 27 B"),
        (Flood(publish_start=Duration(11)), "publish_start", "the run ends at 10 s"),
        (
            convert({"steps": [{"time": 1, "broker": 50, "publish": {}}]}, Script),
            "steps[0].broker",
            "the overlay has 50 brokers",
        ),
        (
            convert({"steps": [{"time": 11, "broker": 0, "publish": {}}]}, Script),
            "steps[0].time",
            "the run ends at 10 s",
        ),
        (
            convert({"steps": [{"time": 1, "broker": 0}]}, Script),
            "steps[0]",
            "expected one of subscribe, unsubscribe, advertise, unadvertise, publish; 0 are given",
        ),
    ],
)
def test_what_cannot_take_place_is_refused(workload: Workload, key: str, problem: str) -> None:
    with pytest.raises(WorkloadError) as error:
        workload.check(SETTING)
    assert (error.value.key, str(error.value)) == (key, problem)
