"""Whatever becomes popular when: every due delivery once, in order where that is promised.

Popularity is evaluated twenty times a second and the capacity is small, so that advertisements
change their way between almost any two publications.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysim.network import MemoryTransport, Simulation, TypeCost
from pysim.wire import Envelope
from pysim.wire.messages import Batch, Event
from tests.brokers.covering.stage import HASTY, SETTLED, Author, Life, authors

from . import stage
from .stage import FAST

many = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

GOSSIP = {**FAST, "interval": 0.2}
BASELINE = pytest.param("reverse-path-forwarding", {}, id="baseline")
DIRECT = pytest.param("popsub-direct", FAST, id="direct")
BATCHING = pytest.param("popsub-batching", {**FAST, "timeout": 0.3}, id="batching")
GOSSIPING = pytest.param("popsub-gossip", GOSSIP, id="gossip")
SLOW_GOSSIP = pytest.param("popsub-gossip", {**FAST, "interval": 5.0}, id="slow-gossip")
ORDERED = [
    pytest.param("popsub-direct", {**FAST, "order": True}, id="direct-in-order"),
    pytest.param("popsub-gossip", {**GOSSIP, "order": True}, id="gossip-in-order"),
]
VARIANTS = [DIRECT, BATCHING, GOSSIPING, SLOW_GOSSIP, *ORDERED]

phis = st.sampled_from((0.01, 0.1, 0.3, 0.5, 1.0))
SLOW_SWITCHES = TypeCost(0.0003, {"switch": 0.01, "event": 0.002})
costs = st.sampled_from((None, TypeCost(0.0007), SLOW_SWITCHES))
RUSH = (0, 1, 3, 10, 40)
"""Milliseconds between publications."""


@pytest.mark.parametrize(("protocol", "options"), [BASELINE, *VARIANTS])
@many
@given(authors(), phis, costs)
def test_with_time_to_settle_every_delivery_is_exact(protocol, options, author, phi, cost):
    if options:
        options = {**options, "phi": phi}
    life = stage.write(*author, (SETTLED, 2 * SETTLED), "aasssssuupppppppppw")
    run = stage.simulate(life, protocol, options, cost, drain=30)
    statement = run.observer.statement()
    assert statement.is_exact
    assert statement.made == statement.due


def rush(author: Author) -> Life:
    """Some advertisements and subscriptions, and then publications in quick succession."""
    stage.write(author, 14, (SETTLED,), "aassssss")
    author.wait(SETTLED)
    return stage.write(author, 60, RUSH, "p")


@pytest.mark.parametrize(("protocol", "options"), VARIANTS)
@many
@given(authors(), phis, costs)
def test_publications_during_changes_of_way_come_once(protocol, options, author, phi, cost):
    run = stage.simulate(rush(author[0]), protocol, {**options, "phi": phi}, cost, drain=30)
    statement = run.observer.statement()
    assert (statement.made, statement.early) == (statement.due, 0)
    assert statement.is_exact


@pytest.mark.parametrize(("protocol", "options"), VARIANTS)
@many
@given(authors(), phis, costs)
def test_others_who_come_and_go_cost_nobody_a_delivery(protocol, options, author, phi, cost):
    """Who had subscribed before gets all; nobody gets anything twice or unasked."""
    check_those_who_stay(protocol, options, author, phi, cost)


@pytest.mark.parametrize(("protocol", "options"), [GOSSIPING, *ORDERED])
def test_gossip_that_overtakes_the_switch_to_the_tree_delivers_nothing_twice(protocol, options):
    """Found by the property above: other links gossip what this one's tree brings."""
    check_those_who_stay(protocol, options, (Author(0xEA0BC4, 9), 10), 0.01, SLOW_SWITCHES)


def check_those_who_stay(protocol, options, author, phi, cost):
    writer, steps = author
    stage.write(writer, 8, (SETTLED,), "aass")
    writer.wait(SETTLED)
    lasting = replace(
        writer.life, advertised=[*writer.life.advertised], subscribed=[*writer.life.subscribed]
    )
    changing = Author(writer.random.getrandbits(64), len(lasting.tree))
    changing.life = Life(lasting.tree, lasting.operations, lasting.end)
    changing.clients = 100
    for _ in range(steps):
        stage.write(changing, 1, HASTY, "aassssuuuuw")
        for _ in range(3 if lasting.advertised else 0):
            broker, client, filter = writer.random.choice(lasting.advertised)
            changing.publish_event(broker, client, changing.point(filter))
            changing.wait(writer.random.choice(RUSH))
    run = stage.simulate(changing.life, protocol, {**options, "phi": phi}, cost, drain=30)
    statement = run.observer.statement()
    assert statement.duplicate == statement.spurious == 0
    lasting_clients = {(broker, client) for broker, client, _ in lasting.subscribed}
    assert not [row for row in run.observer.missing() if row[1:] in lasting_clients]


@many
@given(authors(), phis, st.sampled_from((0.1, 0.3, 0.6)))
def test_retrieval_covers_what_datagrams_lose(author, phi, loss):
    network = MemoryTransport(3, latency=lambda a, b: 0.002, loss=loss)
    options = {**GOSSIP, "phi": phi}
    run = stage.simulate(rush(author[0]), "popsub-gossip", options, None, network, drain=30)
    statement = run.observer.statement()
    assert (statement.made, statement.early) == (statement.due, 0)
    assert statement.is_exact


# Order


def late(run: Simulation) -> list[Any]:
    """Deliveries of an advertisement's publications after later ones, at one client."""
    everyone = stage.agents(run)
    newest: dict[Any, Any] = {}
    found = []
    for row in run.observer.deliveries:
        origin = everyone[row.event.origin]
        attributes = ATTRIBUTES[id(run)][row.event]
        announced = origin.advertisements.announcing(attributes)
        key = (row.broker, row.client, announced.id)
        if newest.get(key, row.event) > row.event:
            found.append(row)
        newest[key] = max(newest.get(key, row.event), row.event)
    return found


ATTRIBUTES: dict[int, dict[Any, Any]] = {}


def ordered_run(author: Author, protocol: str, options: Any, cost: Any) -> Simulation:
    run = stage.simulate(rush(author), protocol, options, cost, drain=30)
    contents = [o.attributes for o in author.life.operations if o.action == "publish"]
    ATTRIBUTES.clear()
    ATTRIBUTES[id(run)] = {
        row.id: attributes for row, attributes in zip(run.observer.events, contents, strict=True)
    }
    return run


@pytest.mark.parametrize(("protocol", "options"), [BASELINE, BATCHING, *ORDERED])
@many
@given(authors(), phis, costs)
def test_order_is_kept_where_it_is_promised(protocol, options, author, phi, cost):
    if options:
        options = {**options, "phi": phi}
    assert late(ordered_run(author[0], protocol, options, cost)) == []


@pytest.mark.parametrize(("protocol", "options"), [DIRECT, GOSSIPING])
def test_order_is_not_kept_where_nothing_is_done_for_it(protocol, options):
    """Or the property above would say nothing."""
    slow_tree = TypeCost(0.0001, {"event": 0.004})
    assert any(
        late(ordered_run(Author(seed, 8), protocol, {**options, "phi": 0.3}, slow_tree))
        for seed in range(20)
    )


# Batches


class Batches(MemoryTransport):
    """A network that remembers all batches."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[Envelope]] = []

    def send(self, source: int, target: int, frame: bytes) -> None:
        super().send(source, target, frame)
        message = Envelope.open(frame).message
        if isinstance(message, Batch):
            self.batches.append([Envelope.open(inner) for inner in message.frames])


@many
@given(authors(), phis, costs)
def test_a_batch_has_publications_of_one_advertisement_in_order(author, phi, cost):
    network = Batches()
    options = {**FAST, "timeout": 0.3, "phi": phi}
    run = stage.simulate(rush(author[0]), "popsub-batching", options, cost, network)
    everyone = stage.agents(run)
    for batch in network.batches:
        events = [(event.id, event.message) for event in batch]
        assert [id for id, _ in events] == sorted(id for id, _ in events)
        announced = set()
        for id, message in events:
            assert isinstance(message, Event)
            announced.add(everyone[id.origin].advertisements.announcing(message.attributes).id)
        assert len(announced) == 1
