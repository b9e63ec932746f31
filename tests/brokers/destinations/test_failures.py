"""Links break, brokers crash and come back: whoever is still connected is served.

A life of clients and a schedule of faults overlap freely. Afterwards, when failures have been
noticed and told, maps are right again and everything comes to whoever can be reached, once.
"""

import random
from dataclasses import dataclass
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysim.network import (
    NANOSECONDS,
    BrokerCrash,
    BrokerRestart,
    Fault,
    LinkBreak,
    LinkCreate,
    Simulation,
    TypeCost,
)
from pysim.network.faults import Overlay
from pysim.workloads.operations import Operation

from . import stage
from .stage import BEGIN, MS, QUIET, Author, Life

many = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

FAST = {"detection": "heartbeats", "heartbeat": 0.05, "misses": 3}
"""Heartbeats so quick that a run of some seconds sees everything."""
NOTICED = 3_000
"""Milliseconds until failures are noticed, told, and what they lost is repeated."""

WAYS = [pytest.param(QUIET, id="notice"), pytest.param(FAST, id="heartbeats")]


@dataclass
class Misfortune:
    """Draws faults that can happen, with what clients do in between."""

    author: "Careful"
    letters: str = "bbbrrrkkl"

    def __post_init__(self) -> None:
        self.random = self.author.random
        self.overlay = Overlay(self.author.life.overlay)
        self.broken: list[tuple[int, int]] = []
        self.faults: list[Fault] = []

    def strike(self) -> None:
        act = {"b": self.cut, "r": self.join, "k": self.crash, "l": self.restart}
        act[self.random.choice(self.letters)]()

    @property
    def now(self) -> int:
        return self.author.life.end

    def cut(self) -> None:
        if links := self.overlay.links():
            link = self.random.choice(links)
            self.overlay.cut(*link, {})
            self.broken.append(link)
            self.faults.append(LinkBreak(self.now, *link))

    def join(self) -> None:
        self.random.shuffle(self.broken)
        for link in self.broken:
            if not set(link) & self.overlay.down and not self.overlay.graph.has_edge(*link):
                self.broken.remove(link)
                self.overlay.join(*link, None, {})
                self.faults.append(LinkCreate(self.now, *link))
                return

    def crash(self) -> None:
        alive = sorted(set(self.overlay.graph) - self.overlay.down)
        if len(alive) > 1:
            broker = self.random.choice(alive)
            self.overlay.crash(broker)
            self.faults.append(BrokerCrash(self.now, broker))
            life = self.author.life
            life.advertised = [row for row in life.advertised if row[0] != broker]
            life.subscribed = [row for row in life.subscribed if row[0] != broker]

    def restart(self) -> None:
        if self.overlay.down:
            broker = self.random.choice(sorted(self.overlay.down))
            self.overlay.restart(broker)
            self.faults.append(BrokerRestart(self.now, broker))
            self.author.come_back(broker)


class Careful(Author):
    """An author whose clients act at live brokers only; some come back with their broker."""

    misfortune: Misfortune
    returned: int | None = None

    def broker(self) -> int:
        if self.returned is not None:
            return self.returned
        down = self.misfortune.overlay.down
        return int(self.random.choice(sorted(set(self.life.overlay) - down)))

    def come_back(self, broker: int) -> None:
        """Clients of a broker that was down announce and want things again, not always the same."""
        self.returned = broker
        self.wait(self.random.choice((1, 40)))
        self.write(self.random.randrange(4), (1,), "as")
        self.returned = None


def write(author: Careful, steps: int, gaps: tuple[int, ...], letters: str) -> Misfortune:
    """A life in which every third step or so something goes wrong."""
    misfortune = author.misfortune = Misfortune(author, letters)
    author.write(6, (1,), "aas")
    for _ in range(steps):
        if author.random.random() < 0.35:
            author.wait(1)  # at one moment, what clients do and what goes wrong have no order
            misfortune.strike()
            author.wait(1 + author.random.choice(gaps))
        else:
            author.write(1, gaps, "asssuuppw")
    author.wait(NOTICED)
    return misfortune


def check_served(run: Simulation, life: Life) -> None:
    """Whatever is still connected is served, once, and nobody else gets anything."""
    graph, down = run.overlay.graph, run.overlay.down
    alive = set(graph) - down
    made = stage.publish_everywhere(run, life, alive)
    got = sorted((row.event.origin, row.broker, row.client) for row in made)
    expected: list[tuple[int, int, int]] = []
    for broker, _, announced in life.advertised:
        part = nx.node_connected_component(graph, broker)
        for value in stage.values(announced)[::2]:
            who = {(b, c) for b, c, f in life.subscribed if b in part and f.matches({"x": value})}
            expected += [(broker, b, c) for b, c in who]
    assert got == sorted(expected)
    assert all(row.kind == "made" for row in made)


def run_through(misfortune: Misfortune, protocol: str, options: dict[str, Any]) -> Simulation:
    life = misfortune.author.life
    run = stage.simulate(life, protocol, options, faults=misfortune.faults)
    statement = run.observer.statement()
    assert statement.duplicate == statement.spurious == 0
    return run


GAPS = ((0, 0, 1, 5, 20), (0, 30, 200), (0, 5, 600))


@pytest.mark.parametrize("options", WAYS)
@many
@given(st.integers(0, 2**32), st.integers(2, 9), st.integers(1, 40), st.sampled_from(GAPS))
def test_whatever_is_still_connected_is_served(options, seed, brokers, steps, gaps):
    draw = random.Random(seed)
    author = Careful(draw, stage.random_overlay(draw, brokers))
    misfortune = write(author, steps, gaps, "bbbrrrkkl")
    run = run_through(misfortune, "d-dbr", options)
    stage.check_maps(run)
    check_served(run, author.life)


@pytest.mark.parametrize("options", WAYS)
@many
@given(st.integers(0, 2**32), st.integers(2, 8), st.integers(1, 30), st.sampled_from(GAPS))
def test_partitions_heal(options, seed, brokers, steps, gaps):
    """On a tree with one link too many, most cuts tear it apart; at the end all are mended."""
    draw = random.Random(seed)
    author = Careful(draw, stage.random_overlay(draw, brokers, more=1))
    misfortune = write(author, steps, gaps, "bbrrkl")
    while misfortune.overlay.down:
        misfortune.restart()
        author.wait(draw.choice(gaps))
    while misfortune.broken:
        misfortune.join()
        author.wait(draw.choice(gaps))
    author.wait(NOTICED)
    run = run_through(misfortune, "d-dbr", options)
    stage.check_maps(run)
    assert nx.is_connected(run.overlay.graph)
    check_served(run, author.life)


def test_what_is_to_be_repeated_is_kept_until_failures_come_to_an_end():
    """An advertisement is lost in a dead link, and one link after the other breaks elsewhere."""
    overlay = nx.Graph(
        [(0, 1), (1, 2), (0, 3), (3, 4), (4, 2), (2, 5), (2, 6), (5, 6), (6, 7), (5, 7)]
    )
    everything = stage.between(0, 7)
    begin = BEGIN + 100 * MS
    breaks = [
        (begin, 1, 2),
        *((begin + t * MS, *link) for t, link in ((350, (2, 5)), (750, (6, 7)))),
    ]
    run = stage.simulation(overlay, "d-dbr", FAST)
    run.add_faults([LinkBreak(*fault) for fault in breaks])
    run.add_operations([Operation(begin + 5 * MS, 0, "advertise", 1, everything)])
    run.run(5)
    at = stage.agents(run)
    assert at[1].counters["dead-link-destinations"] == 4
    for broker in (2, 5, 6, 7):
        assert len(at[broker].clusters["all"].advertisements) == 1


@pytest.mark.parametrize("options", WAYS)
@many
@given(
    st.integers(0, 2**32),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 25),
    st.sampled_from(GAPS),
)
def test_merc_serves_again_when_its_clusters_are_whole(options, seed, clusters, size, steps, gaps):
    draw = random.Random(seed)
    author = Careful(draw, stage.cluster_overlay(draw, clusters, size))
    if len(author.life.overlay) == 1:
        return
    misfortune = write(author, steps, gaps, "bbrrkl")
    while misfortune.overlay.down:
        misfortune.restart()
    while misfortune.broken:
        misfortune.join()
    author.wait(NOTICED)
    run = run_through(misfortune, "merc", options)
    check_served(run, author.life)


@pytest.mark.parametrize("options", WAYS)
@settings(many, max_examples=25)
@given(
    st.integers(0, 2**32),
    st.integers(2, 3),
    st.integers(1, 4),
    st.integers(1, 25),
    st.sampled_from(GAPS),
)
def test_merc_serves_whatever_its_clusters_still_connect(
    options, seed, clusters, size, steps, gaps
):
    """Clusters are joined like a tree, so who is connected at all is so cluster by cluster."""
    draw = random.Random(seed)
    author = Careful(draw, stage.cluster_overlay(draw, clusters, size))
    misfortune = write(author, steps, gaps, "bbbrrkkl")
    run = run_through(misfortune, "merc", options)
    check_served(run, author.life)
    stage.check_clusters(run, author.life.overlay)


def test_a_broker_that_comes_back_is_told_again_and_its_past_is_forgotten():
    overlay = nx.cycle_graph(5)
    everything = stage.between(0, 7)
    operations = [
        Operation(BEGIN, 0, "advertise", 1, everything),
        Operation(BEGIN, 2, "advertise", 1, everything),
        Operation(BEGIN + 100 * MS, 2, "subscribe", 1, everything),
        Operation(BEGIN + 100 * MS, 4, "subscribe", 1, everything),
    ]
    faults = [
        BrokerCrash(BEGIN + 200 * MS, 2),
        BrokerRestart(BEGIN + 2000 * MS, 2),
    ]
    life = Life(overlay, operations, BEGIN + 5000 * MS)
    run = stage.simulation(overlay, "d-dbr", FAST)
    run.add_faults(faults)
    run.add_operations(operations)
    run.run((BEGIN + 1500 * MS) / NANOSECONDS)
    at = stage.agents(run)
    assert at[0].routing_table() == {everything: {2, 4}}, "who is unreachable is not forgotten"
    run.run(life.end / NANOSECONDS)
    at = stage.agents(run)
    assert at[0].routing_table() == {everything: {4}}
    assert at[2].routing_table() == {}
    assert [item.source for item in at[2].clusters["all"].advertisements] == [0]
    now = run.transport.now
    run.add_operations([Operation(now, 2, "subscribe", 3, everything)])
    run.add_operations([Operation(now + 100 * MS, 0, "publish", attributes={"x": 1})])
    run.run((now + 500 * MS) / NANOSECONDS)
    assert [(r.broker, r.client) for r in run.observer.deliveries] == [(4, 1), (2, 3)]


def test_what_is_sent_into_a_dead_link_is_lost_and_counted_until_heartbeats_fail():
    overlay = nx.cycle_graph(4)
    everything = stage.between(0, 7)
    run = stage.simulation(overlay, "d-dbr", FAST)
    second = BEGIN + 500 * MS
    run.add_operations(
        [
            Operation(BEGIN, 0, "advertise", 1, everything),
            Operation(BEGIN + 100 * MS, 1, "subscribe", 1, everything),
            Operation(second + 20 * MS, 0, "publish", attributes={"x": 1}),
            Operation(second + 1000 * MS, 0, "publish", attributes={"x": 2}),
        ]
    )
    run.add_faults([LinkBreak(second, 0, 1)])
    run.run((second + 2000 * MS) / NANOSECONDS)
    statement = run.observer.statement()
    assert (statement.due, statement.made, statement.missing) == (2, 1, 1)
    counters = stage.agents(run)[0].counters
    assert counters["dead-link-destinations"] == 1
    assert counters["lost-heartbeats"] in (3, 4)
    assert run.balance() == []


def test_a_neighbor_that_was_only_busy_is_found_again():
    """While a broker works for a second, its heartbeats wait, and its neighbors give it up."""
    overlay = nx.cycle_graph(4)
    everything = stage.between(0, 7)
    costs = TypeCost(0.0, {"local": 1.0})
    run = stage.simulation(overlay, "d-dbr", FAST, costs)
    run.add_operations(
        [
            Operation(BEGIN, 0, "advertise", 1, everything),
            Operation(BEGIN + 2000 * MS, 2, "subscribe", 1, everything),
        ]
    )
    run.run((BEGIN + 900 * MS) / NANOSECONDS)
    assert stage.agents(run)[2].clusters["all"].multicast.map.reachable() == {1, 3}
    run.run((BEGIN + 4000 * MS) / NANOSECONDS)
    stage.check_maps(run)
    assert run.hosts[0].agent.routing_table() == {everything: {2}}


def lose_many_links(updates: str) -> Simulation:
    """Half the links break at once, none that the others need; then everybody publishes."""
    draw = random.Random(4)
    overlay = stage.random_overlay(draw, draw.randint(10, 16), more=15)
    links = sorted((min(link), max(link)) for link in overlay.edges)
    draw.shuffle(links)
    rest, cut = overlay.copy(), []
    for link in links:
        rest.remove_edge(*link)
        if nx.is_connected(rest):
            cut.append(link)
        else:
            rest.add_edge(*link)
    everything = stage.between(0, 7)
    run = stage.simulation(overlay, "d-dbr", {**FAST, "updates": updates})
    run.add_operations(
        [
            *(Operation(BEGIN, broker, "advertise", 1, everything) for broker in overlay),
            *(Operation(BEGIN + 100 * MS, b, "subscribe", 1, everything) for b in overlay),
            *(
                Operation(BEGIN + 5000 * MS, broker, "publish", attributes={"x": 1})
                for broker in overlay
            ),
        ]
    )
    run.add_faults([LinkBreak(BEGIN + 500 * MS, a, b) for a, b in cut])
    run.run(8)
    return run


def test_the_published_updates_leave_tables_wrong_after_several_failures_at_once():
    numbered = lose_many_links("numbered")
    stage.check_maps(numbered)
    assert numbered.observer.statement().is_exact
    published = lose_many_links("published")
    with pytest.raises(AssertionError):
        stage.check_maps(published)
    statement = published.observer.statement()
    assert statement.missing > 0
    assert statement.duplicate == 0
    counters = [agent.counters for agent in stage.agents(published).values()]
    assert sum(c["hop-alarms"] for c in counters) > 0, "messages go in circles"
    assert sum(c["looped-destinations"] for c in counters) >= statement.missing
