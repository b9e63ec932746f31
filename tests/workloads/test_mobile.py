"""The mobile workload: who moves where, how often, and what never moves."""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pysim.filters import Filter, Or
from pysim.filters.covering import covers, intersects
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Share
from pysim.workloads import Mobile, Operation, Setting, WorkloadError
from pysim.workloads.squares import WHOLE, filter_of, parts
from tests.workloads.scenes import TIERED, Clients, setting_on
from topologies.published import tiered

SETTING = setting_on(TIERED, 60.0)
REGIONS = [set(region) for region in SETTING.regions()]
EVERYTHING = filter_of(WHOLE)

SMALL = Mobile(
    players=50,
    publishers=6,
    size=Share(0.04),
    monitor_moves=Frequency(0.5),
    moves=Frequency(2),
    ramp=Duration(4),
    publish_start=Duration(6),
    rate=Frequency(10),
    move_start=Duration(10),
)

drawn_settings = st.integers(0, 10_000).map(lambda seed: setting_on(TIERED, 60.0, seed))
rates = st.sampled_from([Frequency(0), Frequency(0.1), Frequency(3)])


def acts(workload: Mobile, setting: Setting = SETTING) -> list[Operation]:
    return list(workload.operations(setting))


def done(operations: list[Operation], action: str) -> list[Operation]:
    return [act for act in operations if act.action == action]


def moves(operations: list[Operation]) -> list[tuple[Operation, Operation]]:
    """Each time, what a client does where it leaves and where it arrives."""
    steps = [act for act in operations if act.time >= 10 * NANOSECONDS and act.filter is not None]
    return list(zip(steps[::2], steps[1::2], strict=True))


@settings(max_examples=150, deadline=None)
@given(drawn_settings, rates, rates)
def test_every_client_holds_its_one_subscription_at_one_broker(
    setting: Setting, monitors: Frequency, players: Frequency
) -> None:
    workload = structs.replace(SMALL, monitor_moves=monitors, moves=players)
    clients = Clients()
    for act in clients.follow(workload.operations(setting)):
        if act.time >= 10 * NANOSECONDS and act.action != "subscribe":
            assert len(clients.subscribed) == 54
            assert len({client for _, client, _ in clients.subscribed}) == 54
    assert len(clients.advertised) == 6


@settings(max_examples=100, deadline=None)
@given(drawn_settings)
def test_who_moves_takes_the_subscription_to_another_broker_at_once(setting: Setting) -> None:
    for left, arrived in moves(acts(SMALL, setting)):
        assert (left.action, arrived.action) == ("unsubscribe", "subscribe")
        assert (left.time, left.client, left.filter) == (
            arrived.time,
            arrived.client,
            arrived.filter,
        )
        assert left.broker != arrived.broker


@settings(max_examples=100, deadline=None)
@given(drawn_settings)
def test_players_stay_in_their_regions(setting: Setting) -> None:
    homes: dict[int, set[int]] = defaultdict(set)
    for act in acts(SMALL, setting):
        if act.filter is not None and act.client < 50:
            homes[act.client].add(act.broker)
    assert all(any(home <= region for region in REGIONS) for home in homes.values())


def test_monitors_begin_in_a_region_each_and_move_in_turn_to_anywhere() -> None:
    workload = structs.replace(SMALL, moves=Frequency(0), monitor_moves=Frequency(20))
    operations = acts(workload)
    first = {act.client: act.broker for act in done(operations, "subscribe")[:54]}
    assert all(first[50 + number] in REGIONS[number] for number in range(4))
    moved = moves(operations)
    assert [left.client - 50 for left, _ in moved] == [number % 4 for number in range(len(moved))]
    visited = {arrived.broker for _, arrived in moved}
    assert visited == set(range(53))
    assert {left.filter for left, _ in moved} == {EVERYTHING}


def test_monitors_may_be_kept_in_their_regions() -> None:
    workload = structs.replace(
        SMALL, moves=Frequency(0), monitor_moves=Frequency(20), monitor_range="region"
    )
    for left, arrived in moves(acts(workload)):
        assert arrived.broker in REGIONS[left.client - 50]


@settings(max_examples=50, deadline=None)
@given(drawn_settings, st.sampled_from([0.5, 3.0, 7.9]))
def test_monitors_may_be_away_between_two_brokers(setting: Setting, away: float) -> None:
    workload = structs.replace(SMALL, moves=Frequency(0), monitor_absence=Duration(away))
    workload.check(setting)
    operations = acts(workload, setting)
    assert operations == sorted(operations, key=lambda act: act.time)
    at_once = moves(acts(structs.replace(SMALL, moves=Frequency(0)), setting))
    arrivals = [replace(there, time=there.time + round(away * 1e9)) for _, there in at_once]
    assert done(operations, "unsubscribe") == [here for here, _ in at_once]
    assert done(operations, "subscribe")[54:] == [
        act for act in arrivals if act.time < 60 * NANOSECONDS
    ]


def test_movements_of_the_paper() -> None:
    """Sec. VI-J: a monitor every 2 minutes for 6 hours; the others, 60 movements a minute."""
    begin = 230
    setting = setting_on(TIERED, begin + 6 * 3600 + 1)
    workload = Mobile(moves=Frequency(1), rate=Frequency(0))
    workload.check(setting)
    operations = acts(workload, setting)
    left = done(operations, "unsubscribe")
    monitors = [act.time for act in left if act.client >= 5000]
    others = [act.time for act in left if act.client < 5000]
    assert len(monitors) == 6 * 30
    assert {b - a for a, b in itertools.pairwise(monitors)} == {120 * NANOSECONDS}
    assert len(others) == 6 * 3600
    assert monitors[0] == begin * NANOSECONDS
    assert len(done(operations, "advertise")) == 40
    assert len(done(operations, "subscribe")) == 5000 + 4 + len(left)


def test_players_want_equal_squares_of_which_none_covers_another() -> None:
    wanted = [act.filter for act in done(acts(SMALL), "subscribe") if act.client < 50]
    filters = {filter for filter in wanted if filter is not None}
    assert len(filters) == 50
    assert not any(covers(one, other) for one, other in itertools.permutations(filters, 2))
    assert all(covers(EVERYTHING, filter) for filter in filters)


@settings(max_examples=50, deadline=None)
@given(drawn_settings)
def test_in_a_divided_world_a_region_and_its_monitor_want_a_part_of_their_own(
    setting: Setting,
) -> None:
    workload = structs.replace(SMALL, world="divided", size=Share(0.01))
    workload.check(setting)
    watched = [filter_of(part) for part in parts(4)]
    wanted: dict[int, set[Filter]] = defaultdict(set)
    for act in done(acts(workload, setting), "subscribe"):
        assert act.filter is not None
        wanted[act.client].add(act.filter)
        if act.client >= 50:
            assert act.filter == watched[act.client - 50]
        else:
            (own,) = (number for number in range(4) if act.broker in REGIONS[number])
            assert covers(watched[own], act.filter)
    assert all(len(filters) == 1 for filters in wanted.values())
    assert len(set.union(*wanted.values())) == 54


def test_the_parts_of_a_divided_world_have_nothing_in_common_and_leave_nothing_out() -> None:
    watched = [filter_of(part) for part in parts(4)]
    assert not any(intersects(one, other) for one, other in itertools.combinations(watched, 2))
    assert covers(Or(tuple(watched)), EVERYTHING)


def test_players_are_spread_over_all_brokers_of_regions() -> None:
    workload = structs.replace(SMALL, players=5200, moves=Frequency(0), size=Share(0.001))
    count = Counter(act.broker for act in done(acts(workload), "subscribe") if act.client < 5200)
    assert set(count) == set(range(1, 53))  # the core broker is in no region
    assert all(abs(number - 100) < 5 * math.sqrt(100) for number in count.values())


@settings(max_examples=50, deadline=None)
@given(drawn_settings)
def test_publishers_advertise_what_they_publish_and_never_move(setting: Setting) -> None:
    operations = acts(SMALL, setting)
    advertised = {(act.broker, act.client) for act in done(operations, "advertise")}
    published = done(operations, "publish")
    assert {(act.broker, act.client) for act in published} == advertised
    assert {act.filter for act in done(operations, "advertise")} == {EVERYTHING}
    assert all(EVERYTHING.matches(act.attributes) for act in published)
    for act in done(operations, "subscribe"):
        assert act.filter is not None
        assert intersects(EVERYTHING, act.filter)


def test_streams_are_split_by_purpose() -> None:
    base = acts(structs.replace(SMALL, moves=Frequency(0)))
    with_moves = acts(SMALL)
    assert [act for act in with_moves if act.client >= 50] == [
        act for act in base if act.client >= 50
    ]
    faster = acts(structs.replace(SMALL, rate=Frequency(17)))
    assert [act for act in faster if act.filter] == [act for act in with_moves if act.filter]
    still = acts(structs.replace(SMALL, monitor_moves=Frequency(0)))
    assert [act for act in still if act.client < 50] == [
        act for act in with_moves if act.client < 50
    ]
    assert with_moves != acts(SMALL, replace(SETTING, streams=Streams(2)))


def test_movement_stops_when_told() -> None:
    workload = structs.replace(SMALL, move_stop=Duration(20))
    assert acts(workload) == [
        act for act in acts(SMALL) if act.action == "publish" or act.time < 20 * NANOSECONDS
    ]


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"size": Share(1)}, "size", "leaves no room for 50 different squares"),
        ({"size": Share(0)}, "size", "is too small for a square"),
        (
            {"world": "divided", "size": Share(0.25)},
            "size",
            "leaves no room for 50 different squares",
        ),
        ({"advertise": Duration(2)}, "advertise", "subscriptions begin before, at 1 s"),
        ({"publish_start": Duration(0.4)}, "advertise", "publishing begins before, at 0.4 s"),
        ({"ramp": Duration(60)}, "ramp", "takes until 61 s, the run ends at 60 s"),
        ({"publish_stop": Duration(61)}, "publish_stop", "takes until 61 s, the run ends at 60 s"),
        ({"publish_start": Duration(60)}, "publish_start", "comes after the end, 59 s"),
        ({"move_stop": Duration(61)}, "move_stop", "takes until 61 s, the run ends at 60 s"),
        ({"move_start": Duration(60)}, "move_start", "comes after the end, 59 s"),
        (
            {"monitor_absence": Duration(8)},
            "monitor_absence",
            "a monitor would move again before it arrived",
        ),
        ({"move_start": Duration(4.5)}, "move_start", "subscriptions are made until 5 s"),
    ],
)
def test_what_cannot_take_place_is_refused(
    changes: dict[str, object], key: str, problem: str
) -> None:
    SMALL.check(SETTING)
    with pytest.raises(WorkloadError) as error:
        structs.replace(SMALL, **changes).check(SETTING)
    assert (error.value.key, str(error.value)) == (key, problem)


def test_an_overlay_without_regions_is_refused() -> None:
    with pytest.raises(WorkloadError) as error:
        SMALL.check(Setting(53, 60.0, Streams(1)))
    assert (error.value.key, str(error.value)) == (
        "kind",
        "needs an overlay with regions, such as tiered",
    )


def test_nobody_can_move_within_a_region_of_one_broker() -> None:
    setting = setting_on(tiered(tiers=2), 60.0)
    lonely = "a region of the overlay has one broker, so that nobody can move within it"
    with pytest.raises(WorkloadError, match=lonely) as error:
        SMALL.check(setting)
    assert error.value.key == "moves"
    with pytest.raises(WorkloadError, match=lonely) as error:
        structs.replace(SMALL, moves=Frequency(0), monitor_range="region").check(setting)
    assert error.value.key == "monitor_moves"
    roaming = structs.replace(SMALL, moves=Frequency(0))
    roaming.check(setting)
    assert acts(roaming, setting)


def test_nobody_moves_at_the_very_moment_of_a_publication() -> None:
    workload = structs.replace(SMALL, rate=Frequency(10), moves=Frequency(10))
    operations = acts(workload)
    published = [act.time for act in done(operations, "publish")]
    assert not {left.time for left, _ in moves(operations)} & set(published)
    assert {b - a for a, b in itertools.pairwise(published)} <= {10**8 - 1, 10**8, 10**8 + 1}
    assert 6 * NANOSECONDS <= published[0] < 6.1 * NANOSECONDS
