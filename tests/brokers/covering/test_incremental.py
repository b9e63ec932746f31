r"""Incremental unsubscription: the paper's Fig. 6 and 7, its guarantee, and its Property 3.

      L     J                       K
      |     |                       |
A --- B --- C --- D --- E --- F --- G --- H --- I

A to L are 0 to 11. A publishes x from 0 to 100; S, at I, wants all of it; J wants [0, 40], K
[0, 20] and L [90, 100].
"""

from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysim.brokers.covering.statistics import Statistics, pruning_distance
from pysim.brokers.covering.tables import Advertisement, Entry
from pysim.filters import parse
from pysim.network import NANOSECONDS
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import PrunedUnsubscribe
from pysim.workloads.operations import Operation

from . import stage
from .lab import Lab
from .stage import SETTLED, Author, authors, simulate

INCREMENTAL = "incremental-unsubscription"
FIGURE_6 = [*nx.path_graph(9).edges, (2, 9), (6, 10), (1, 11)]
PATH = list(range(9))
A, B, C, D, E, F, G, H, I, J, K, L = range(12)  # noqa: E741  (the figure's names)

many = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def figure_6(threshold: float) -> Lab:
    lab = Lab(FIGURE_6, INCREMENTAL, threshold=threshold)
    lab.do(f"{A} advertise x in [0, 100]")
    lab.do(f"{I} subscribe x in [0, 100]")
    lab.do(f"{J} subscribe x in [0, 40]")
    lab.do(f"{K} subscribe x in [0, 20]")
    lab.do(f"{L} subscribe x in [90, 100]")
    for value in (30, 10, 10, 30, 95):
        lab.do(f"{A} publish {value}")
    return lab


def test_figure_6_and_table_1_the_shb_records_how_far_the_next_match_is():
    lab = figure_6(0.9)
    (entry,) = stage.agents(lab.run)[I].subscriptions
    assert entry.window is not None
    assert [distance for _, _, distance in entry.window] == [6, 2, 2, 6, 7]


def test_distance_and_count_travel_with_the_publication():
    """The last hop is the one to I, which counts itself in before it records."""
    lab = figure_6(0.9)
    for value, header in ((10, (1, 2)), (30, (5, 1)), (95, (6, 1)), (50, (7, 0))):
        lab.do(f"{A} publish {value}")
        event = lab.run.transport.last_event  # type: ignore[attr-defined]
        assert lab.hops()[-1] == (H, I)
        assert (event.distance, event.count) == header


@pytest.mark.parametrize(
    ("threshold", "stops_at"), [(1.0, B), (0.85, B), (0.8, C), (0.5, C), (0.4, G), (0.0, G)]
)
def test_figure_7_the_subscription_is_preserved_from_the_critical_broker_on(threshold, stops_at):
    """With a threshold of zero it would stand at H, but I and H quench nothing with it."""
    lab = figure_6(threshold)
    lab.do(f"{I} unsubscribe x in [0, 100]")
    assert lab.holders("x in [0, 100]") == PATH[:stops_at]


def test_figure_7_new_roots_precede_the_unsubscription_at_every_hop():
    lab = figure_6(0.8)
    k, s = "SUB x in [0, 20]", "UNSUB x in [0, 100]"
    assert lab.do(f"{I} unsubscribe x in [0, 100]") == [
        (I, H, f"{s} [5]"),
        (H, G, f"{s} [4]"),
        (G, F, k),
        (G, F, f"{s} [3]"),
        (F, E, k),
        (F, E, f"{s} [2]"),
        (E, D, k),
        (E, D, f"{s} [1]"),
        (D, C, k),
        (D, C, f"{s} [0]"),
    ]
    assert lab.table(C) == {"x in [0, 40]": [J], "x in [0, 20]": [D]}
    assert stage.agents(lab.run)[C].counters["orphans"] == 1


def test_what_the_preserved_part_attracts_ends_at_the_critical_broker():
    lab = figure_6(0.8)
    lab.do(f"{I} unsubscribe x in [0, 100]")
    lab.do(f"{A} publish 50")
    assert lab.hops() == [(A, B), (B, C)]
    lab.do(f"{A} publish 10")
    assert lab.hops()[-1] == (G, K)
    assert lab.run.observer.statement().is_exact


def test_an_orphan_quenches_newcomers_where_it_stands():
    lab = figure_6(0.8)
    lab.do(f"{I} unsubscribe x in [0, 100]")
    assert lab.do(f"{C} subscribe x in [60, 70]") == []
    assert lab.do(f"{D} subscribe x in [50, 55]") == [(D, C, "SUB x in [50, 55]")]
    assert lab.do(f"{I} subscribe x in [0, 100]")[-3:] == [
        (D, C, "SUB x in [0, 100]"),
        (D, C, "UNSUB x in [0, 20]"),
        (D, C, "UNSUB x in [50, 55]"),
    ]
    lab.do(f"{A} publish 52")
    assert [(row.broker) for row in lab.run.observer.deliveries[-2:]] == [D, I]


def test_a_new_covering_subscription_cleans_the_orphan_on_its_links():
    lab = figure_6(0.8)
    lab.do(f"{I} unsubscribe x in [0, 100]")
    assert lab.do(f"{C} subscribe x in [0, 200]") == [
        (C, B, "SUB x in [0, 200]"),
        (C, B, "UNSUB x in [0, 100]"),
        (B, A, "SUB x in [0, 200]"),
        (B, A, "UNSUB x in [0, 100]"),
    ]
    assert lab.holders("x in [0, 100]") == []
    assert stage.agents(lab.run)[C].counters["orphans"] == 0


def test_clean_up_follows_the_last_quenched_and_goes_on_while_it_triggers_nothing():
    lab = figure_6(0.8)
    lab.do(f"{I} unsubscribe x in [0, 100]")
    lab.do(f"{K} unsubscribe x in [0, 20]")
    log = lab.do(f"{J} unsubscribe x in [0, 40]")
    assert log == [(J, C, "UNSUB x in [0, 40] [0]"), (C, B, "UNSUB x in [0, 100] []")]
    assert lab.holders("x in [0, 100]") == [A]  # L's is quenched at B
    assert lab.do(f"{L} unsubscribe x in [90, 100]")[1:] == [(B, A, "UNSUB x in [0, 100] []")]
    assert all(agent.stored_size() == 0 for agent in stage.agents(lab.run).values())


def test_a_second_unsubscription_of_an_orphan_is_ignored_and_counted():
    lab = figure_6(0.8)
    lab.do(f"{I} unsubscribe x in [0, 100]")
    agent = stage.agents(lab.run)[C]
    (orphan,) = [entry for entry in agent.subscriptions if not entry.live]
    again = Envelope.seal(PrunedUnsubscribe(orphan.id, ()), D, 999)
    agent.receive(D, again)
    assert agent.counters["ignored"] == 1
    assert lab.settle() == []


def test_unadvertising_drops_orphans_too():
    lab = figure_6(0.8)
    lab.do(f"{I} unsubscribe x in [0, 100]")
    lab.do(f"{A} unadvertise x in [0, 100]")
    for broker, agent in stage.agents(lab.run).items():
        assert agent.stored_size() == (1 if broker in (J, K, L) else 0)
        assert agent.counters["orphans"] == 0


def test_of_several_advertisements_the_largest_distance_counts_and_an_idle_branch_keeps_it():
    r"""0 --- 1 --- 2 --- 3 (A1)       S is at 0; 1 has what S covers, and matches all of A2's
                    \
                     4 (A2)
    """
    lab = Lab([(0, 1), (1, 2), (2, 3), (2, 4)], INCREMENTAL, threshold=0.9)
    lab.do("3 advertise x in [0, 9]")
    lab.do("4 advertise x in [10, 19]")
    lab.do("0 subscribe x in [0, 19]")
    lab.do("1 subscribe x in [10, 19]")
    lab.do("1 subscribe x in [0, 2]")
    lab.do("2 subscribe x in [0, 2]")
    lab.do("3 publish 5")  # nobody else wants it: distance 3
    lab.do("4 publish 15")  # 1 wants it: distance 1
    assert lab.do("0 unsubscribe x in [0, 19]") == [
        (0, 1, "UNSUB x in [0, 19] [2, 0]"),
        (1, 2, "SUB x in [10, 19]"),
        (1, 2, "SUB x in [0, 2]"),
        (1, 2, "UNSUB x in [0, 19] [1]"),
        (2, 3, "SUB x in [0, 2]"),
        (2, 3, "UNSUB x in [0, 19] [0]"),
    ]
    assert lab.holders("x in [0, 19]") == [4]


def test_the_window_slides_and_rows_by_advertisement_decide():
    one, other = (Advertisement(MessageId(1, n), parse("x > 0")) for n in (1, 2))
    entry = Entry(MessageId(0, 1), parse("x > 0"), 0)
    statistics = Statistics(10.0)
    for time, advertisement, distance in ((0, one, 9), (4, one, 1), (5, other, 2), (11, one, 3)):
        statistics.record(time, [entry], advertisement, distance)
    assert statistics.distances(11, entry) == {one: [1, 3], other: [2]}
    assert statistics.distances(15, entry) == {one: [3], other: [2]}
    assert statistics.distances(30, entry) == {}


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=40),
    st.integers(0, 100).map(lambda n: n / 100),
)
@settings(max_examples=500)
def test_the_pruning_distance_is_the_smallest_that_enough_do_not_exceed(distances, threshold):
    found = pruning_distance(distances, threshold)
    within = [sum(d <= bound for d in distances) / len(distances) for bound in range(found + 1)]
    assert within[-1] >= threshold
    assert all(share < threshold for share in within[:-1])


# The guarantee


def crowd(author: Author, subscriptions: int) -> None:
    """Publishers at some brokers, one advertisement each, and subscriptions of all sizes."""
    life = author.life
    for broker in author.random.sample(range(len(life.tree)), min(3, len(life.tree))):
        author._begin("advertise", life.advertised, broker, author.box(stage.SIDE))
        author.wait(SETTLED)
    for _ in range(subscriptions):
        author.subscribe(widest=author.random.choice((2, 4, stage.SIDE)))
        author.wait(SETTLED)


def publish(author: Author, times: int) -> list[tuple[int, dict[str, object]]]:
    events = []
    for _ in range(times):
        broker, client, filter = author.random.choice(author.life.advertised)
        point = author.point(filter)
        author.publish_event(broker, client, point)
        author.wait(SETTLED)
        events.append((broker, point))
    return events


@many
@given(authors(), st.sampled_from((0.0, 0.3, 0.5, 0.9, 1.0)))
def test_of_the_windows_publications_at_most_one_minus_theta_travel_in_vain(author, threshold):
    """Replayed after the unsubscription, for each advertisement apart, over whichever link.

    Nothing travels in vain before. The publisher's broker may be the subscription's own: then there
    are no statistics, and nothing to prune.
    """
    writer, steps = author
    crowd(writer, 3 + steps // 3)
    events = publish(writer, 20)
    life = writer.life
    broker, client, filter = max(life.subscribed, key=lambda row: len(stage.points_of(row[2])))
    life.subscribed.remove((broker, client, filter))
    writer._act("unsubscribe", broker, client, filter)
    run = simulate(life, INCREMENTAL, {"threshold": threshold})
    published = len(run.observer.events)
    window = [event for event in events if filter.matches(event[1])]
    start = run.transport.now
    run.add_operations(
        Operation(start, where, "publish", attributes=point) for where, point in window
    )
    run.run((start + 10 * NANOSECONDS) / NANOSECONDS)
    assert run.observer.statement().is_exact
    replayed = run.observer.events[published:]
    for publisher in {where for where, _ in window if where != broker}:
        in_vain = [
            stage.needless_hops(run, row.id, point) > 0
            for row, (where, point) in zip(replayed, window, strict=True)
            if where == publisher
        ]
        assert sum(in_vain) / len(in_vain) <= 1 - threshold + 1e-9


@settings(many, max_examples=120)
@given(authors())
def test_similarity_never_falls_along_a_path_and_distances_tell_it(author):
    """Property 3, on the tables of no covering, which hold what a full withdrawal would leave."""
    writer, steps = author
    crowd(writer, 3 + steps // 3)
    events = publish(writer, 15)
    life = writer.life
    full = stage.agents(simulate(life, "no-covering", {}))
    counted = stage.agents(simulate(life, INCREMENTAL, {}))
    for broker, client, filter in life.subscribed:
        (entry,) = [
            e
            for e in counted[broker].subscriptions
            if e.last_hop == broker and (e.client, e.filter) == (client, filter)
        ]
        for publisher in {where for where, _, _ in life.advertised} - {broker}:
            points = [p for where, p in events if where == publisher and filter.matches(p)]
            path = nx.shortest_path(life.tree, broker, publisher)
            similar = [
                sum(_meets(full[here], beyond, point) for point in points)
                for here, beyond in pairwise(path)
            ]
            assert similar == sorted(similar)
            distances = [
                distance
                for _, advertisement, distance in entry.window or ()
                if advertisement.hops == [path[1]] and advertisement.id.origin == publisher
            ]
            assert len(distances) == len(points)
            assert similar == [
                sum(distance <= hops for distance in distances) for hops in range(len(similar))
            ]


def _meets(agent, beyond: int, point: dict[str, object]) -> bool:
    """Whether a second entry wants an event that comes from there."""
    return sum(e.last_hop != beyond and e.filter.matches(point) for e in agent.subscriptions) >= 2
