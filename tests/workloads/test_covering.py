"""The covering workload: the degree asked for, to the subscription, and who acts where and when."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pysim.filters import Filter
from pysim.filters.covering import covers, intersects
from pysim.filters.relations import RelationGraph, new_graph
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Share
from pysim.workloads import Covering, Operation, Setting, WorkloadError
from pysim.workloads.covering_model import SHRINK, Wanted, achieved_degree
from pysim.workloads.squares import GRID, Square, places, side, within
from tests.workloads.scenes import OVERLAY49, Clients, setting_on

SETTING = setting_on(OVERLAY49, 60.0)
EDGES = SETTING.with_role("edge")

SMALL = Covering(
    roots=4,
    degree=12,
    subscriptions=100,
    size=Share(0.05),
    ramp=Duration(4),
    publish_start=Duration(6),
    rate=Frequency(50),
    publish_stop=Duration(30),
    unsubscriptions=3,
    unsubscribe_start=Duration(10),
    probes=20,
    probe_start=Duration(20),
)


@st.composite
def workloads(draw: st.DrawFn) -> Covering:
    roots = draw(st.integers(1, 4))
    degree = draw(st.integers(1, 7))
    return Covering(
        roots=roots,
        degree=degree,
        subscriptions=roots * (degree + 1) + draw(st.integers(0, 12)),
        size=Share(draw(st.sampled_from([1e-6, 0.005, 0.2, 0.9]))),
        placement=draw(st.sampled_from(["scattered", "clustered"])),
        ramp=Duration(draw(st.sampled_from([0.0, 1.0, 7.3]))),
        publish_start=Duration(10),
        rate=Frequency(draw(st.sampled_from([0.0, 0.3, 7.0]))),
        unsubscriptions=draw(st.integers(0, roots)),
        unsubscribe_start=Duration(15),
        unsubscribe_gap=Duration(draw(st.sampled_from([0.0, 0.5]))),
    )


drawn_settings = st.integers(0, 10_000).map(lambda seed: setting_on(OVERLAY49, 60.0, seed))


def acts(workload: Covering, setting: Setting = SETTING) -> list[Operation]:
    return list(workload.operations(setting))


def done(operations: list[Operation], action: str) -> list[Operation]:
    return [act for act in operations if act.action == action]


def seconds(operation: Operation) -> float:
    return operation.time / NANOSECONDS


def box(wanted: Wanted) -> Square:
    assert wanted.square is not None
    return wanted.square


# What is wanted


@settings(max_examples=300, deadline=None)
@given(workloads(), drawn_settings)
def test_the_degree_is_exactly_the_one_asked_for(workload: Covering, setting: Setting) -> None:
    assert achieved_degree(workload.population(setting), workload.roots) == workload.degree


@settings(max_examples=100, deadline=None)
@given(workloads(), drawn_settings)
def test_the_degree_agrees_with_one_graph_of_all_and_with_covering_itself(
    workload: Covering, setting: Setting
) -> None:
    filters = [wanted.filter() for wanted in workload.population(setting)]
    graph: RelationGraph[int] = new_graph("simplified")
    for number, filter in enumerate(filters):
        graph.insert(number, filter)
    assert list(graph.roots()) == list(range(workload.roots))
    for root in range(workload.roots):
        brought = graph.remove(root)
        assert sorted(brought) == _brought(filters, root)
        graph.insert(root, filters[root])


def _brought(filters: list[Filter], root: int) -> list[int]:
    """NRS by its definition: what only the root, or what lies below it, covers."""
    covered = [number for number, filter in enumerate(filters) if covers(filters[root], filter)]
    covered.remove(root)
    first = {filters[number]: number for number in reversed(covered)}  # equal ones are one
    return sorted(
        number
        for filter, number in first.items()
        if not any(covers(other, filter) for other in first if other != filter)
    )


@settings(max_examples=200, deadline=None)
@given(workloads(), drawn_settings)
def test_children_are_an_antichain_below_their_root(workload: Covering, setting: Setting) -> None:
    population = workload.population(setting)
    roots, degree = workload.roots, workload.degree
    children = [wanted.filter() for wanted in population[roots : roots * (degree + 1)]]
    for number, child in enumerate(children):
        assert covers(population[number // degree].filter(), child)
    assert not any(covers(one, other) for one, other in itertools.permutations(children, 2))


@settings(max_examples=200, deadline=None)
@given(workloads(), drawn_settings)
def test_the_rest_lies_strictly_inside_a_child_at_its_broker(
    workload: Covering, setting: Setting
) -> None:
    population = workload.population(setting)
    first = workload.roots * (workload.degree + 1)
    children = [(child.broker, child.filter()) for child in population[workload.roots : first]]
    for special in population[first:]:
        filter = special.filter()
        above = [child for broker, child in children if broker == special.broker]
        assert any(covers(child, filter) and not covers(filter, child) for child in above)
        assert box(special).side == side(workload.size) // SHRINK


@given(st.floats(1e-9, 1), st.integers(0, 2**64))
def test_a_square_inside_another_is_inside_it(share: float, seed: int) -> None:
    stream = Streams(seed).stream("test")
    outer = within(stream, side(share), Square(0, 0, GRID))
    inner = within(stream, max(1, outer.side // SHRINK), outer)
    assert 0 <= outer.x <= inner.x <= inner.x + inner.side <= outer.x + outer.side <= GRID
    assert 0 <= outer.y <= inner.y <= inner.y + inner.side <= outer.y + outer.side <= GRID


def test_the_smallest_and_the_largest_squares_have_all_places() -> None:
    assert places(GRID) == 1
    assert places(GRID - 1) == 4
    assert places(1) == GRID**2
    assert places(1, Square(7, 7, 3)) == 9


@pytest.mark.parametrize("share", [1e-6, 0.005, 0.3])
def test_a_child_wants_the_given_share_of_publications(share: float) -> None:
    workload = structs.replace(SMALL, size=Share(share))
    child = workload.population(SETTING)[workload.roots]
    assert (box(child).side / GRID) ** 2 == pytest.approx(share, rel=1e-5)
    low, high = box(child).x / GRID, (box(child).x + box(child).side) / GRID
    assert 0 <= low < high <= 1
    assert high - low == box(child).side / GRID  # no sum of theirs is rounded


def test_publications_hit_children_as_often_as_they_should() -> None:
    workload = structs.replace(
        SMALL, rate=Frequency(2000), degree=5, roots=1, unsubscriptions=0, probes=0
    )
    published = [act.attributes for act in done(acts(workload), "publish")]
    for child in workload.population(SETTING)[1:6]:
        hits = sum(map(child.filter().matches, published))
        deviation = math.sqrt(len(published) * 0.05 * 0.95)
        assert abs(hits - len(published) * 0.05) < 5 * deviation


# Where


def test_scattered_subscriptions_are_at_all_edge_brokers_alike() -> None:
    workload = Covering(roots=20, degree=290, subscriptions=5820, unsubscriptions=0)
    count = Counter(wanted.broker for wanted in workload.population(SETTING))
    assert sorted(count) == EDGES
    assert len(EDGES) == 29
    assert all(abs(number - 5820 / 29) < 5 * math.sqrt(5820 / 29) for number in count.values())


@settings(max_examples=200, deadline=None)
@given(workloads(), drawn_settings)
def test_clustered_subscriptions_of_a_symbol_share_a_region(
    workload: Covering, setting: Setting
) -> None:
    homes: dict[int, set[int]] = {}
    for wanted in structs.replace(workload, placement="clustered").population(setting):
        homes.setdefault(wanted.symbol, set()).add(wanted.broker)
    regions = [set(region) for region in setting.regions("edge")]
    assert all(any(home <= region for region in regions) for home in homes.values())


def test_clusters_are_of_two_or_three_edge_brokers_and_all_are_used() -> None:
    workload = Covering(
        roots=200, degree=30, subscriptions=6200, placement="clustered", unsubscriptions=0
    )
    assert {len(region) for region in SETTING.regions("edge")} == {2, 3}
    assert {wanted.broker for wanted in workload.population(SETTING)} == set(EDGES)


def test_the_placement_changes_no_filter() -> None:
    def filters(placement: str) -> list[Filter]:
        workload = structs.replace(SMALL, placement=placement)
        return [wanted.filter() for wanted in workload.population(SETTING)]

    assert filters("scattered") == filters("clustered")


# Who acts when


def test_the_run_goes_through_its_phases() -> None:
    operations = acts(SMALL)
    phases = [(act.action, seconds(act)) for act in operations]
    assert phases[:3] == [("advertise", 0.5)] * 3
    subscribed = done(operations, "subscribe")
    assert [seconds(act) for act in subscribed[:33]] == [1.0] * 33  # 32 want probes, and the first
    assert [seconds(act) for act in subscribed[33:36]] == [1.04, 1.08, 1.12]
    assert seconds(subscribed[-1]) == pytest.approx(4.96)
    assert [seconds(act) for act in done(operations, "unsubscribe")] == [10.0, 10.5, 11.0]
    published = done(operations, "publish")
    assert [seconds(act) for act in published[:3]] == [6.0, 6.02, 6.04]
    assert len(published) == 24 * 50
    assert {act.broker for act in published} == set(SETTING.with_role("publisher"))


def test_each_subscription_has_a_client_of_its_number() -> None:
    population = SMALL.population(SETTING)
    made = [act for act in done(acts(SMALL), "subscribe") if act.client < SMALL.subscriptions]
    assert [act.client for act in made] != sorted(act.client for act in made)  # random order
    for act in made:
        assert (act.broker, act.filter) == (
            population[act.client].broker,
            population[act.client].filter(),
        )
    assert sorted(act.client for act in made) == list(range(100))


@settings(max_examples=100, deadline=None)
@given(workloads(), drawn_settings)
def test_only_roots_that_are_held_are_unsubscribed_each_once(
    workload: Covering, setting: Setting
) -> None:
    operations = list(Clients().follow(workload.operations(setting)))
    gone = [act.client for act in done(operations, "unsubscribe")]
    assert len(set(gone)) == len(gone) == workload.unsubscriptions
    assert all(client < workload.roots for client in gone)


@settings(max_examples=100, deadline=None)
@given(workloads(), drawn_settings)
def test_publishers_advertise_all_they_publish_and_all_that_is_wanted(
    workload: Covering, setting: Setting
) -> None:
    operations = acts(workload, setting)
    offers = {(act.broker, act.client): act.filter for act in done(operations, "advertise")}
    (offer,) = set(offers.values())
    assert offer is not None
    for act in done(operations, "publish"):
        assert (act.broker, act.client) in offers
        assert offer.matches(act.attributes)
    for act in done(operations, "subscribe"):
        assert act.filter is not None
        assert intersects(offer, act.filter)


def test_probes_reach_a_subscriber_at_each_of_the_32_edge_brokers() -> None:
    operations = acts(SMALL)
    subscribed = done(operations, "subscribe")
    probes = [act for act in done(operations, "publish") if act.attributes["symbol"] == SMALL.roots]
    assert [seconds(act) for act in probes] == [pytest.approx(20 + k / 50) for k in range(20)]
    advertised = done(operations, "advertise")[0].filter
    assert advertised is not None
    for probe in probes:
        assert advertised.matches(probe.attributes)
        receivers = [
            act.broker
            for act in subscribed
            if act.filter is not None and act.filter.matches(probe.attributes)
        ]
        assert len(receivers) == 32
        assert set(receivers) == set(SETTING.with_role("edge", "publisher"))


def test_probes_move_nothing_else() -> None:
    without = acts(structs.replace(SMALL, probes=0))
    kept = [
        act
        for act in acts(SMALL)
        if act.action != "advertise"
        and act.attributes.get("symbol") != SMALL.roots
        and not (act.action == "subscribe" and act.client == SMALL.subscriptions)
    ]
    replaced = range(14 * 50, 14 * 50 + 20)  # of the publications, which begin at 6 s
    published = done(without, "publish")
    gone = {published[number].time for number in replaced}
    others = [
        act
        for act in without
        if act.action != "advertise" and not (act.action == "publish" and act.time in gone)
    ]

    def essence(act: Operation) -> tuple[object, ...]:  # the publisher's number tells of probes
        return act.time, act.broker, act.action, act.filter, dict(act.attributes)

    assert list(map(essence, kept)) == list(map(essence, others))


def test_probes_come_600_s_after_the_last_unsubscription_unless_told() -> None:
    setting = setting_on(OVERLAY49, 700.0)
    workload = structs.replace(SMALL, probe_start=None, publish_stop=None, rate=Frequency(2.5))
    workload.check(setting)
    probes = [act for act in acts(workload, setting) if act.attributes.get("symbol") == 4]
    assert len(probes) == 20
    assert seconds(probes[0]) == pytest.approx(611.2)  # the first tick from 611 s on


@pytest.mark.parametrize(("begin", "rate"), [(0.8, 10.0), (0.7, 10.0), (1.1, 3.0), (2.3, 0.7)])
def test_the_first_probe_is_the_first_publication_from_its_time_on(
    begin: float, rate: float
) -> None:
    workload = Covering(
        roots=1,
        degree=1,
        subscriptions=2,
        advertise=Duration(0),
        start=Duration(0),
        ramp=Duration(0),
        publish_start=Duration(0.1),
        rate=Frequency(rate),
        unsubscriptions=0,
        probes=2,
        probe_start=Duration(begin),
    )
    workload.check(SETTING)
    published = done(acts(workload), "publish")
    probes = [act for act in published if act.attributes["symbol"] == 1]
    assert probes == [act for act in published if act.time >= round(begin * NANOSECONDS)][:2]


# Streams


def test_the_rate_of_publications_moves_no_subscription() -> None:
    def changes(workload: Covering) -> list[Operation]:
        return [act for act in acts(workload) if act.action != "publish"]

    assert changes(SMALL) == changes(structs.replace(SMALL, rate=Frequency(49)))


def test_more_unsubscriptions_begin_with_the_same_ones() -> None:
    few = done(acts(structs.replace(SMALL, unsubscriptions=2)), "unsubscribe")
    many = done(acts(structs.replace(SMALL, unsubscriptions=4)), "unsubscribe")
    assert many[:2] == few


def test_more_subscriptions_move_neither_roots_nor_children() -> None:
    more = structs.replace(SMALL, subscriptions=150)
    assert more.population(SETTING)[:100] == SMALL.population(SETTING)


def test_another_rate_publishes_the_same_points() -> None:
    slow, fast = (
        [
            act.attributes
            for act in done(acts(structs.replace(SMALL, rate=Frequency(r), probes=0)), "publish")
        ]
        for r in (5, 50)
    )
    assert fast[: len(slow)] == slow


def test_another_seed_gives_other_operations() -> None:
    assert acts(SMALL) != acts(SMALL, replace(SETTING, streams=Streams(2)))


# What is told and what is refused


def test_the_achieved_degree_is_a_fact_of_the_run() -> None:
    assert SMALL.facts(SETTING) == {"covering_degree": 12.0}


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        (
            {"subscriptions": 51},
            "subscriptions",
            "4 roots with 12 children each are 52",
        ),
        (
            {"degree": 0},
            "subscriptions",
            "96 of them would specialize children, and there are none",
        ),
        ({"unsubscriptions": 5}, "unsubscriptions", "there are 4 roots"),
        ({"size": Share(0)}, "size", "is too small for a square with a smaller one in it"),
        ({"size": Share(1)}, "size", "leaves no room for 12 different squares"),
        ({"advertise": Duration(2)}, "advertise", "subscriptions begin before, at 1 s"),
        (
            {"publish_start": Duration(0.2)},
            "advertise",
            "publishing begins before, at 0.2 s",
        ),
        ({"ramp": Duration(60)}, "ramp", "takes until 61 s, the run ends at 60 s"),
        ({"publish_stop": Duration(61)}, "publish_stop", "takes until 61 s, the run ends at 60 s"),
        (
            {"publish_start": Duration(31)},
            "publish_start",
            "publishing ends at 30 s, before it begins",
        ),
        (
            {"unsubscribe_start": Duration(4.9)},
            "unsubscribe_start",
            "subscriptions are made until 5 s",
        ),
        (
            {"unsubscribe_gap": Duration(30)},
            "unsubscriptions",
            "takes until 70 s, the run ends at 60 s",
        ),
        ({"rate": Frequency(0)}, "rate", "no probe would ever be published"),
        ({"probe_start": Duration(5)}, "probe_start", "publishing begins at 6 s"),
        ({"probes": 501}, "probes", "are not over when publishing ends, at 30 s"),
    ],
)
def test_what_cannot_take_place_is_refused(
    changes: dict[str, object], key: str, problem: str
) -> None:
    SMALL.check(SETTING)
    with pytest.raises(WorkloadError) as error:
        structs.replace(SMALL, **changes).check(SETTING)
    assert (error.value.key, str(error.value)) == (key, problem)


def test_as_many_probes_as_fit_are_not_refused() -> None:
    workload = structs.replace(SMALL, probes=500)
    workload.check(SETTING)
    assert sum(act.attributes.get("symbol") == 4 for act in acts(workload)) == 500


def test_an_overlay_without_roles_is_refused() -> None:
    with pytest.raises(WorkloadError) as error:
        SMALL.check(Setting(49, 60.0, Streams(1)))
    assert (error.value.key, str(error.value)) == (
        "kind",
        'needs an overlay with brokers of the role "publisher", such as overlay49',
    )


def test_clusters_need_regions() -> None:
    sites = tuple(site._replace(region=None) for site in SETTING.sites)
    with pytest.raises(WorkloadError, match="no edge broker of the overlay is in a region"):
        structs.replace(SMALL, placement="clustered").check(replace(SETTING, sites=sites))
