"""Advertisement-based brokers with optimized tables: exact for clients, and right from scratch.

What neighbors are told is optimized with `no-covering` only; what is stored, with the whole family.
"""

import random
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.brokers.optimizations import Optimize
from pysim.brokers.optimizations.choice import summary
from pysim.brokers.optimizations.statistics import Statistics
from pysim.experiments.probes import MISROUTED, MisroutedEvents
from pysim.filters import Filter, parse
from pysim.network import NANOSECONDS, AgentError, LinkBreak, Simulation, TypeCost
from pysim.units import Duration, Share
from pysim.workloads.operations import Operation

from ..covering import stage
from ..covering.lab import Lab
from ..covering.stage import HASTY, PROTOCOLS, SETTLED, Life, authors
from ..covering.test_properties import (
    EVERYTHING,
    announced_everywhere,
    check_everything_arrives,
    check_promises,
    overlapping,
    write,
)
from ..plans import EVENTS, PATTERNS, Plan, plans
from ..test_properties import check_deliveries, check_quiet
from ..test_properties import simulate as simulate_plan
from .test_optimized_brokers import OF_STORAGE, POLICIES, optimizing, some

VARIANTS = [
    *(pytest.param("no-covering", by, id=f"none-{'+'.join(by)}") for by in POLICIES),
    *(
        pytest.param(protocol, by, id=f"{protocol}-{by[0]}")
        for protocol in PROTOCOLS[1:]
        for by in OF_STORAGE
    ),
]
SUMMARIES = [by for by in POLICIES if by not in OF_STORAGE]

few = settings(some, max_examples=25)


def matches(filters: Iterable[Filter], point: dict[str, Any]) -> bool:
    return any(filter.matches(point) for filter in filters)


def check_forms(run: Simulation) -> None:
    """What local clients registered stands as it is; what neighbors want, in no narrower form."""
    for broker, agent in stage.agents(run).items():
        for entry, filter, form in agent.stored():
            assert filter == entry.filter
            if entry.last_hop == broker:
                assert form == filter
            assert all(map(form.matches, stage.points_of(filter)))


def check_registered(run: Simulation, life: Life) -> None:
    """The entries of local clients are all that they registered, and nothing else."""
    for broker, agent in stage.agents(run).items():
        local = [
            (e.client, e.filter) for e in agent.subscriptions if e.live and e.last_hop == broker
        ]
        registered = [(client, filter) for b, client, filter in life.subscribed if b == broker]
        assert sorted(local, key=str) == sorted(registered, key=str)


def check_summaries(run: Simulation) -> None:
    """Both ends of a link agree on what stands for all that is wanted, which it does."""
    everyone = stage.agents(run)
    for broker, agent in everyone.items():
        for neighbor, graph in agent.towards.items():
            wanted = [
                entry
                for entry in agent.subscriptions
                if entry.last_hop != neighbor
                and agent.advertisements.is_wanted(neighbor, entry.filter)
            ]
            assert set(graph.roots()) == set(wanted)
            assert all((neighbor in e.fwd) == (e in graph) for e in agent.subscriptions)
            held = [e for e in everyone[neighbor].subscriptions if e.last_hop == broker]
            assert {e.filter: e.id for e in held} == agent.summarized.held(neighbor)
            forms = [entry.filter for entry in held]
            assert len(forms) == len(set(forms))
            for event in (*stage.all_points(), *EVENTS):
                if matches([entry.filter for entry in wanted], event):
                    assert matches(forms, event)


def check_tables(run: Simulation, protocol: str, by: tuple[str, ...]) -> None:
    check_forms(run)
    if by in SUMMARIES:
        check_summaries(run)
    else:
        stage.check_links(run)
    if protocol == "incremental-unsubscription":
        stage.check_orphans(run)


@pytest.mark.parametrize(("protocol", "by"), VARIANTS)
@few
@given(authors())
def test_with_time_to_settle_every_delivery_is_exact(protocol, by, author):
    life = write(*author, (SETTLED,), "aasssssuuuppppw")
    run = stage.simulate(life, protocol, optimizing(by))
    statement = run.observer.statement()
    assert statement.is_exact
    assert statement.made == statement.due
    assert all(agent.counters["ignored"] == 0 for agent in stage.agents(run).values())
    check_tables(run, protocol, by)
    check_registered(run, life)
    check_everything_arrives(run, life)


@pytest.mark.parametrize(("protocol", "by"), VARIANTS)
@few
@given(authors(), st.sampled_from((None, TypeCost(0.0007, {"withdraw": 0.003}))))
def test_operations_that_overlap_lose_nothing_of_who_was_there_before(protocol, by, author, costs):
    life, lasting = overlapping(*author)
    run = stage.simulate(life, protocol, optimizing(by), costs)
    check_promises(run, lasting)
    check_tables(run, protocol, by)
    check_registered(run, life)
    check_everything_arrives(run, life)


def from_scratch(by: tuple[str, ...], filters: Iterable[Filter]) -> Iterable[Filter]:
    """What a neighbor is told if all that is wanted comes at once."""
    chain = summary(optimizing(by)["optimize"], Statistics(0).selectivities)
    return chain.add(dict.fromkeys(filters)).subscribe


@pytest.mark.parametrize("by", SUMMARIES, ids="+".join)
@few
@given(author=authors(), gaps=st.sampled_from(((SETTLED,), HASTY)))
def test_whatever_came_and_went_neighbors_hold_what_is_told_from_scratch(by, author, gaps):
    """Without events, that is: their selectivities tell which form is settled when it comes."""
    writer, steps = author
    life = write(writer, min(steps, 16), gaps, "aasssssuuw")  # no group is larger than a merger
    run = stage.simulate(life, "no-covering", optimizing(by, sample=0))
    assert stage.tables(run) == stage.expected_tables(life, partial(from_scratch, by))


@few
@given(author=authors(), gaps=st.sampled_from(((SETTLED,), HASTY)))
def test_covering_as_a_policy_leaves_the_tables_of_active_covering(author, gaps):
    life = write(*author, gaps, "aasssssuuppw")
    run = stage.simulate(life, "no-covering", optimizing(("covering",)))
    assert stage.tables(run) == stage.expected_tables(life, stage.maximal)


@pytest.mark.parametrize("by", SUMMARIES, ids="+".join)
@few
@given(author=authors())
def test_with_the_last_subscription_goes_the_last_summary(by, author):
    writer, steps = author
    life = write(writer, steps, HASTY, "asssuup")
    writer.wait(SETTLED)
    while life.subscribed:
        writer.unsubscribe()
        writer.wait(writer.random.choice(HASTY))
    run = stage.simulate(life, "no-covering", optimizing(by))
    for agent in stage.agents(run).values():
        assert agent.stored_size() == 0
        assert not any(agent.summarized.held(neighbor) for neighbor in agent.towards)


@pytest.mark.parametrize(("protocol", "by"), VARIANTS)
@few
@given(author=authors())
def test_every_event_that_serves_nobody_is_between_brokers_and_counted(protocol, by, author):
    life = write(*author, (SETTLED,), "aasssssuuppw")
    observer = MisroutedEvents()
    run = stage.simulation(life.tree, protocol, optimizing(by), observer=observer)
    observer.watch(run)
    publications = [o for o in life.operations if o.action == "publish"]
    run.add_operations(o for o in life.operations if o.action != "publish")
    run.add_operations(replace(o, time=life.end + o.time) for o in publications)
    run.run((2 * life.end + NANOSECONDS) / NANOSECONDS)
    observer.conclude(run.transport.now)
    assert observer.statement().spurious == 0
    counted = sum(row.value for row in observer.records if row.name == MISROUTED)
    assert counted == sum(
        stage.needless_hops(run, event.id, operation.attributes)
        for event, operation in zip(observer.events, publications, strict=True)
    )


def announced_in_turns(plan: Plan, seed: int) -> Plan:
    """The plan with advertisements that come and go as all else does; at its end all are there."""
    draw = random.Random(seed)
    for _ in range(draw.randrange(30)):
        broker, filter = draw.choice(sorted(plan.tree.nodes)), draw.choice([EVERYTHING, *PATTERNS])
        came = draw.randrange(plan.end + 1)
        went = draw.randrange(came, plan.end + 1)
        plan.operations.append(Operation(came, broker, "advertise", filter=filter))
        if draw.random() < 0.6:
            plan.operations.append(Operation(went, broker, "unadvertise", filter=filter))
    return announced_everywhere(plan)


@pytest.mark.parametrize(("protocol", "by"), VARIANTS)
@few
@given(plan=plans(max_brokers=9, max_steps=40), seed=st.integers(0, 2**32))
def test_links_that_break_and_brokers_that_crash_leave_nothing_wrong(protocol, by, plan, seed):
    run = simulate_plan(announced_in_turns(plan, seed), protocol, optimizing(by))
    check_quiet(run)
    if by in SUMMARIES:
        check_summaries(run)
    else:
        stage.check_links(run)
    check_deliveries(run)
    check_quiet(run)


def test_a_merger_goes_to_whoever_advertises_and_is_withdrawn_by_its_own_id():
    """0 -- 1 -- 2: who publishes is at 2, subscribers are at 0 and 1."""
    lab = Lab([(0, 1), (1, 2)], "no-covering", optimize=Optimize(by=("perfect-merging",)))
    lab.do("2 advertise x in [0, 9]")
    low, high = 'class = "a" and x in [0, 2]', 'class = "a" and x in [2, 5]'
    both, wide = 'class = "a" and x in [0, 5]', 'class = "a" and x in [0, 8]'
    assert lab.do(f"0 subscribe {low}") == [(0, 1, f"SUB {low}"), (1, 2, f"SUB {low}")]
    assert lab.do(f"1.1 subscribe {low}") == []  # the same filter is wanted once
    assert lab.do(f"0 subscribe {wide}") == [
        (0, 1, f"SUB {wide}"),
        (0, 1, f"UNSUB {low}"),
        (1, 2, f"SUB {wide}"),
        (1, 2, f"UNSUB {low}"),
    ]
    assert lab.do(f"1.2 subscribe {high}") == []  # within the merger
    assert lab.do(f"0 unsubscribe {wide}") == [
        (0, 1, f"SUB {low}"),
        (0, 1, f"UNSUB {wide}"),
        (1, 2, f"SUB {both}"),
        (1, 2, f"UNSUB {wide}"),
    ]
    assert lab.table(2) == {both: [1]}
    assert lab.table(1) == {low: [0, 1], high: [1]}


def test_all_that_one_advertisement_wanted_goes_with_it_in_one_message():
    lab = Lab([(0, 1)], "no-covering", optimize=Optimize(by=("covering",)))
    lab.do("0 advertise x in [0, 9]")
    for words in ("x in [0, 3]", "x in [1, 2]", "x in [5, 6]"):
        lab.do(f"1 subscribe {words}")
    lab.do("1 advertise x in [0, 9]")
    assert lab.do("0 unadvertise x in [0, 9]") == [
        (0, 1, "WITHDRAW-ADVERTISEMENT"),
        (1, 0, "UNSUB x in [0, 3], x in [5, 6]"),
    ]
    assert lab.table(0) == {}


def test_what_a_lost_link_brought_is_one_change_of_a_summary():
    """0 -- 1 -- 2: the link to 0 breaks, and what 0 wanted had covered what 1 wants."""
    options = {"optimize": Optimize(by=("covering",))}
    run = stage.simulation(nx.Graph([(0, 1), (1, 2)]), "no-covering", options)
    run.add_faults([LinkBreak(900 * stage.MS, 0, 1)])
    wanted = [(0, "x in [0, 5]"), (0, "x in [4, 9]"), (1, "x in [1, 2]")]
    steps = [(2, "advertise", "x in [0, 9]"), *((b, "subscribe", text) for b, text in wanted)]
    run.add_operations(
        Operation(100 * (n + 1) * stage.MS, broker, action, filter=parse(text))
        for n, (broker, action, text) in enumerate(steps)
    )
    run.run(0.8)
    run.transport.log.clear()
    run.run(1.0)
    assert [(a, b, text) for a, b, text in run.transport.log if (a, b) == (1, 2)] == [
        (1, 2, "SUB x in [1, 2]"),
        (1, 2, "UNSUB x in [0, 5], x in [4, 9]"),
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_who_says_itself_what_neighbors_are_told_takes_no_summaries(protocol):
    for by in SUMMARIES:
        with pytest.raises(AgentError, match=f"{protocol} itself says what neighbors are told"):
            Lab([(0, 1)], protocol, optimize=Optimize(by=by))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_post_pruned_entries_attract_events_for_neighbors_and_none_for_clients(protocol):
    """0 -- 1: of the events at 0, the client at 1 wants two; one more matches the pruned form."""
    often = {"share": Share(1.0), "start": Duration(1.5), "sample": 100}
    lab = Lab([(0, 1)], protocol, optimize=Optimize(by=("post-pruning",), **often))
    lab.do("0 advertise x in [0, 9]")
    lab.do('1 subscribe class = "a" and x in [2, 3]')
    events = [{"class": "abbb"[x % 4], "x": x} for x in range(10)] + [{"class": "a", "x": 3}]

    def hops() -> int:
        start, before = lab.run.transport.now, len(lab.run.observer.events)
        lab.run.add_operations(Operation(start, 0, "publish", attributes=each) for each in events)
        lab.settle()
        new = lab.run.observer.events[before:]
        return sum(len(lab.run.transport.hops.get(event.id, ())) for event in new)

    assert hops() == 1
    lab.run.run(2.0)
    ((_, filter, form),) = lab.run.hosts[0].agent.stored()
    assert [str(filter), str(form)] == ['class = "a" and x in [2, 3]', "x in [2, 3]"]
    assert hops() == 3
    assert len(lab.run.observer.deliveries) == 2
    assert lab.run.observer.statement().is_exact
