"""Whatever clients do on whatever tree, nothing due is missing, and tables are what they must be.

With time to settle between operations every delivery is exact. With operations that overlap on
their way, deliveries are promised to those who were there before, at every moment, and to everybody
once it is quiet.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysim.network import NANOSECONDS, Simulation, TypeCost
from pysim.workloads.operations import Operation
from tests.brokers.plans import LINKS_UP, Plan, plans
from tests.brokers.test_properties import check_deliveries, check_quiet
from tests.brokers.test_properties import simulate as simulate_plan

from . import stage
from .stage import HASTY, PROTOCOLS, SETTLED, Author, Life, authors, simulate

many = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

VARIANTS = [
    pytest.param("no-covering", {}, id="none"),
    *(
        pytest.param(protocol, {"graph": graph}, id=f"{protocol}-{graph}")
        for protocol in PROTOCOLS[1:4]
        for graph in ("simplified", "traditional")
    ),
    *(
        pytest.param(
            "incremental-unsubscription",
            {"graph": graph, "threshold": threshold, "window": window},
            id=f"incremental-{graph}-{threshold}",
        )
        for graph, threshold, window in (
            ("simplified", 0.9, 600.0),
            ("traditional", 0.5, 600.0),
            ("simplified", 0.1, 1.0),
        )
    ),
]


def write(author: Author, steps: int, gaps: tuple[int, ...], letters: str) -> Life:
    acts = {
        "a": author.advertise,
        "s": author.subscribe,
        "u": author.unsubscribe,
        "p": author.publish,
        "w": author.unadvertise,
    }
    for _ in range(steps):
        acts[author.random.choice(letters)]()
        author.wait(author.random.choice(gaps))
    return author.life


def check_tables(run: Simulation, life: Life, protocol: str) -> None:
    stage.check_links(run)
    if protocol == "incremental-unsubscription":
        stage.check_orphans(run)
    elif protocol == "lazy-covering":
        least, most = (stage.expected_tables(life, held) for held in (stage.maximal, list))
        for broker, table in stage.tables(run).items():
            assert set(least[broker]) <= set(table)
            assert table <= most[broker]
    else:
        held = list if protocol == "no-covering" else stage.maximal
        assert stage.tables(run) == stage.expected_tables(life, held)


def check_everything_arrives(run: Simulation, life: Life) -> None:
    """Publish whatever advertisements announce: all that is due comes, once."""
    start = run.transport.now
    before = len(run.observer.deliveries)
    publications = [
        (broker, point)
        for broker, client, filter in life.advertised
        for point in stage.points_of(filter)[:: 1 + 2 * len(life.advertised)]
    ]
    run.add_operations(
        Operation(start, broker, "publish", attributes=point) for broker, point in publications
    )
    run.run((start + 10 * NANOSECONDS) / NANOSECONDS)
    due = sum(
        len({(where, client) for where, client, f in life.subscribed if f.matches(point)})
        for _, point in publications
    )
    made = run.observer.deliveries[before:]
    assert len(made) == due
    assert all(row.kind == "made" for row in made)


def overlapping(writer: Author, steps: int) -> tuple[Life, Life]:
    """A life of operations that overlap, with events for those who were there before; and these."""
    write(writer, 8, (SETTLED,), "aass")
    writer.wait(SETTLED)
    lasting = replace(
        writer.life, advertised=[*writer.life.advertised], subscribed=[*writer.life.subscribed]
    )
    changing = Author(writer.random.getrandbits(64), len(lasting.tree))
    changing.life = Life(lasting.tree, lasting.operations, lasting.end)
    changing.clients = 100
    for _ in range(steps):
        write(changing, 1, HASTY, "aassssuuuuw")
        if lasting.advertised:
            broker, client, filter = writer.random.choice(lasting.advertised)
            changing.publish_event(broker, client, changing.point(filter))
    changing.life.advertised += lasting.advertised
    changing.life.subscribed += lasting.subscribed
    return changing.life, lasting


def check_promises(run: Simulation, lasting: Life) -> None:
    """Whoever was there before missed nothing, and nobody got anything twice or unasked."""
    statement = run.observer.statement()
    assert statement.duplicate == statement.spurious == 0
    published = [operation for operation in lasting.operations if operation.action == "publish"]
    assert len(run.observer.events) == len(published)
    lasting_clients = {(broker, client) for broker, client, _ in lasting.subscribed}
    assert not [row for row in run.observer.missing() if row[1:] in lasting_clients]


@pytest.mark.parametrize(("protocol", "options"), VARIANTS)
@many
@given(authors())
def test_with_time_to_settle_every_delivery_is_exact(protocol, options, author):
    life = write(*author, (SETTLED,), "aasssssuuuppppw")
    run = simulate(life, protocol, options)
    statement = run.observer.statement()
    assert statement.is_exact
    assert statement.made == statement.due
    assert all(agent.counters["ignored"] == 0 for agent in stage.agents(run).values())
    check_tables(run, life, protocol)
    check_everything_arrives(run, life)


@pytest.mark.parametrize(("protocol", "options"), VARIANTS)
@many
@given(authors(), st.sampled_from((None, TypeCost(0.0007, {"withdraw": 0.003}))))
def test_operations_that_overlap_lose_nothing_of_who_was_there_before(
    protocol, options, author, costs
):
    life, lasting = overlapping(*author)
    run = simulate(life, protocol, options, costs)
    check_promises(run, lasting)
    check_tables(run, life, protocol)
    check_everything_arrives(run, life)


@many
@given(authors(max_brokers=7))
def test_without_statistics_incremental_unsubscription_is_active_covering(author):
    life = write(*author, (SETTLED,), "aassssssuuuuw")
    run = simulate(life, "incremental-unsubscription", {"threshold": 0.0})
    assert stage.tables(run) == stage.expected_tables(life, stage.maximal)
    assert all(agent.counters["orphans"] == 0 for agent in stage.agents(run).values())


@pytest.mark.parametrize("protocol", ["no-covering", "lazy-covering", "active-covering"])
@many
@given(authors())
def test_what_goes_leaves_nothing_behind(protocol, author):
    """With the last subscription goes the last entry, in whatever order they go."""
    writer, steps = author
    life = write(writer, steps, HASTY, "asssuup")
    writer.wait(SETTLED)
    while life.subscribed:
        writer.unsubscribe()
        writer.wait(writer.random.choice(HASTY))
    run = simulate(life, protocol, {})
    for agent in stage.agents(run).values():
        assert agent.stored_size() == agent.table_size() == 0


@settings(many, max_examples=150)
@given(authors())
def test_orphans_go_with_the_last_that_they_quench(author):
    writer, steps = author
    life = write(writer, steps, (SETTLED,), "aasssspppppuuw")
    while life.subscribed:
        writer.unsubscribe()
        writer.wait(writer.random.choice((SETTLED, *HASTY)))
    run = simulate(life, "incremental-unsubscription", {"threshold": 0.5})
    for agent in stage.agents(run).values():
        assert agent.stored_size() == 0


EVERYTHING: Any = stage.parse("exists body or not exists body")


def announced_everywhere(plan: Plan) -> Plan:
    """The plan with advertisements of all events at all brokers, anew at its end."""
    brokers = sorted(plan.tree.nodes)
    first = [Operation(LINKS_UP, broker, "advertise", filter=EVERYTHING) for broker in brokers]
    plan.operations += first
    plan.operations += [replace(operation, time=plan.end + LINKS_UP) for operation in first]
    plan.operations.sort(key=lambda operation: operation.time)
    plan.end += 2 * LINKS_UP
    return plan


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(many, max_examples=80)
@given(plan=plans(max_brokers=9, max_steps=40))
def test_links_that_break_and_brokers_that_crash_leave_nothing_wrong(protocol, plan):
    run = simulate_plan(announced_everywhere(plan), protocol, {})
    check_quiet(run)
    stage.check_links(run)
    check_deliveries(run)
    check_quiet(run)
