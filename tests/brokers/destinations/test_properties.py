"""Whatever clients do on whatever overlay, nothing due is missing, and lists are short."""

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysim.brokers.destinations.overlay_map import OverlayMap
from pysim.network import Simulation, TypeCost
from pysim.workloads.operations import Operation

from . import stage
from .stage import BEGIN, HASTY, QUIET, SETTLED, Life, authors, between, cluster_authors, simulate

many = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

GENERAL = [
    pytest.param("fbr-general", {}, id="fbr-general"),
    pytest.param("d-dbr", QUIET, id="d-dbr"),
    pytest.param("d-dbr", {}, id="d-dbr-heartbeats"),
]
LETTERS = "aasssssuuuppppw"


def check_exact(run: Simulation) -> None:
    statement = run.observer.statement()
    assert statement.is_exact
    assert statement.made == statement.due


def check_arrives(run: Simulation, life: Life) -> None:
    """Everything that advertisements announce comes to whoever wants it, once."""
    made = stage.publish_everywhere(run, life, life.overlay)
    events = {
        (broker, value)
        for broker, _, filter in life.advertised
        for value in stage.values(filter)[::2]
    }
    copies = [
        (broker, value)
        for broker, _, filter in life.advertised
        for value in stage.values(filter)[::2]
    ]
    assert events <= set(copies)
    due = sum(
        len({(b, c) for b, c, f in life.subscribed if f.matches({"x": value})})
        for _, value in copies
    )
    assert len(made) == due
    assert all(row.kind == "made" for row in made)


def check_tables(run: Simulation, life: Life) -> None:
    """A subscription is at its own broker, and where an advertisement intersects it."""
    for broker, agent in stage.agents(run).items():
        announced = [f for b, _, f in life.advertised if b == broker]
        expected: dict[object, set[int]] = {}
        for source, _, wanted in life.subscribed:
            if source == broker or any(
                set(stage.values(f)) & set(stage.values(wanted)) for f in announced
            ):
                expected.setdefault(wanted, set()).add(source)
        assert agent.routing_table() == expected


@pytest.mark.parametrize(("protocol", "options"), GENERAL)
@many
@given(authors())
def test_with_time_to_settle_every_delivery_is_exact(protocol, options, author):
    writer, steps = author
    life = writer.write(steps, (SETTLED,), LETTERS)
    run = simulate(life, protocol, options)
    check_exact(run)
    if protocol == "d-dbr":
        check_tables(run, life)
    check_arrives(run, life)


@pytest.mark.parametrize(("protocol", "options"), GENERAL)
@many
@given(authors(), st.sampled_from((None, TypeCost(0.0007, {"addressed-subscribe": 0.003}))))
def test_operations_that_overlap_leave_nothing_wrong(protocol, options, author, costs):
    writer, steps = author
    life = writer.write(steps, HASTY, LETTERS)
    run = simulate(life, protocol, options, costs)
    statement = run.observer.statement()
    assert statement.duplicate == statement.spurious == 0
    if protocol == "d-dbr":
        check_tables(run, life)
    check_arrives(run, life)


@many
@given(authors(max_steps=20))
def test_what_goes_leaves_nothing_behind(author):
    writer, steps = author
    life = writer.write(steps, HASTY, "aasssuup")
    writer.wait(SETTLED)
    while life.subscribed:
        writer.unsubscribe()
        writer.wait(writer.random.choice(HASTY))
    for protocol, options in (("d-dbr", QUIET), ("fbr-general", {})):
        run = simulate(life, protocol, options)
        assert [agent.stored_size() for agent in stage.agents(run).values()] == [0] * len(
            life.overlay
        )


def check_lists(run: Simulation) -> None:
    """No hop carries a destination that it does not serve, and none is carried by two."""
    ways = {
        broker: OverlayMap.of(broker, run.overlay.graph.edges).ways.first_hops
        for broker in run.overlay.graph
    }
    carried: dict[object, dict[int, tuple[int, ...]]] = {}
    for event, source, target, listed in run.transport.lists:
        came = carried.setdefault(event, {})
        assert target not in came, "a broker gets an event once"
        came[target] = listed
        assert list(listed) == sorted(set(listed))
        assert all(ways[source][destination] == target for destination in listed)
        if source in came:
            assert set(listed) <= set(came[source]) - {source}
        else:
            assert source == event.origin
    for event, came in carried.items():
        for target, listed in came.items():
            sent = [
                set(there) for e, s, t, there in run.transport.lists if (e, s) == (event, target)
            ]
            assert sum(map(len, sent)) == len(set(listed) - {target})


@many
@given(authors(max_brokers=14))
def test_lists_shrink_at_every_hop_and_name_only_who_lies_behind(author):
    writer, steps = author
    writer.write(steps, (SETTLED,), "aassss")
    life = writer.write(15, (SETTLED,), "p")
    run = simulate(life, "d-dbr", QUIET)
    check_exact(run)
    check_lists(run)


@settings(many, max_examples=30)
@given(authors(max_brokers=12))
def test_with_all_brokers_as_destinations_lists_are_as_long_as_the_mean_distance(author):
    writer, _ = author
    overlay = writer.life.overlay
    if len(overlay) == 1:
        return
    everything = between(0, stage.SIDE)
    operations = [
        Operation(BEGIN + number * SETTLED * stage.MS, broker, action, filter=everything)
        for number, action in enumerate(("advertise", "subscribe"))
        for broker in overlay
    ]
    operations += [
        Operation(BEGIN + 4 * SETTLED * stage.MS, broker, "publish", attributes={"x": 1})
        for broker in overlay
    ]
    run = simulate(Life(overlay, operations, operations[-1].time), "d-dbr", QUIET)
    check_exact(run)
    lengths = [len(listed) for *_, listed in run.transport.lists]
    assert sum(lengths) / len(lengths) == pytest.approx(nx.average_shortest_path_length(overlay))
    counters = [agent.counters for agent in stage.agents(run).values()]
    assert sum(c["event-destinations"] for c in counters) == sum(lengths)
    assert sum(c["event-messages"] for c in counters) == len(lengths)


@many
@given(authors(max_steps=12))
def test_a_flood_of_an_advertisement_has_as_many_duplicates_as_there_are_links_too_many(author):
    writer, steps = author
    life = writer.write(steps, (SETTLED,), "a")
    run = simulate(life, "fbr-general", {})
    links, brokers = life.overlay.number_of_edges(), len(life.overlay)
    duplicates = sum(agent.counters["duplicates-dropped"] for agent in stage.agents(run).values())
    floods = len({(b, c, f) for b, c, f in life.advertised})
    assert duplicates == floods * (2 * links - 2 * (brokers - 1))


# MERC


@pytest.mark.parametrize("options", [QUIET, {}], ids=["notice", "heartbeats"])
@many
@given(author=cluster_authors())
def test_merc_delivers_exactly_on_any_tree_of_clusters(options, author):
    writer, steps = author
    life = writer.write(steps, (SETTLED,), LETTERS)
    run = simulate(life, "merc", options)
    check_exact(run)
    check_arrives(run, life)


@many
@given(cluster_authors(), st.sampled_from((None, TypeCost(0.0007))))
def test_merc_survives_operations_that_overlap(author, costs):
    writer, steps = author
    life = writer.write(steps, HASTY, LETTERS)
    run = simulate(life, "merc", QUIET, costs)
    statement = run.observer.statement()
    assert statement.duplicate == statement.spurious == 0
    check_arrives(run, life)


@many
@given(cluster_authors())
def test_merc_never_addresses_a_broker_outside_the_cluster_that_a_message_crosses(author):
    writer, steps = author
    life = writer.write(steps, HASTY, LETTERS)
    stage.check_clusters(simulate(life, "merc", {}), life.overlay)


@many
@given(cluster_authors(max_steps=20))
def test_merc_leaves_nothing_behind(author):
    writer, steps = author
    life = writer.write(steps, HASTY, "aasssuup")
    writer.wait(SETTLED)
    while life.subscribed:
        writer.unsubscribe()
        writer.wait(writer.random.choice(HASTY))
    run = simulate(life, "merc", QUIET)
    assert all(agent.stored_size() == 0 for agent in stage.agents(run).values())
