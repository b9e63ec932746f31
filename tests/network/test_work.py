"""A broker's CPU pays for the work that its agent says it did.

All runs here have the line 0 --- 1 with a link of 1 ms.
"""

from collections.abc import Mapping
from typing import Any

import networkx as nx

from pysim.brokers import EventForwarding
from pysim.network import BrokerCrash, BrokerRestart, LinkSettings, MemoryTransport, Simulation
from pysim.network.service import WorkCost
from pysim.network.world import LinkNotice, World
from pysim.wire import Envelope
from pysim.workloads.operations import Operation

MS = 1_000_000
COSTS = WorkCost(fixed=0.001, seconds={"steps": 0.0001, "links": 0.01})


class Worker(EventForwarding):
    """Ten steps for each event it hears of, and what its world makes it do besides."""

    work_units = frozenset({"steps", "links"})

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.work: dict[str, float] = {}

    def do(self, name: str, units: float) -> None:
        self.work[name] = self.work.get(name, 0) + units

    def publish(self, client: int, event: Envelope) -> None:
        self.do("steps", 10)
        super().publish(client, event)

    def on_event(self, sender: int, event: Envelope) -> None:
        self.do("steps", 10)
        super().on_event(sender, event)

    def take_work(self) -> Mapping[str, float]:
        work, self.work = self.work, {}
        return work


class Greeting(Worker):
    """Works when a link comes up, and on a timer 20 ms later."""

    def link_up(self, neighbor: int, notice: LinkNotice) -> None:
        self.do("links", 1)
        self.world.schedule(0.02, lambda: self.do("steps", 100))


def simulation(make_agent: Any) -> Simulation:
    return Simulation(
        MemoryTransport(),
        nx.path_graph(2),
        make_agent,
        seed=1,
        costs=COSTS,
        link_settings=lambda a, b: LinkSettings(delay=0.001),
    )


def busy(run: Simulation) -> list[float]:
    """Milliseconds that each server worked."""
    return [queue.busy / MS for queue in run.transport.queues()]


def publish(time: float, broker: int = 0) -> Operation:
    return Operation(round(time * MS), broker, "publish", attributes={"x": 1})


def test_a_service_takes_as_long_as_the_work_that_was_done():
    run = simulation(Worker)
    run.add_operations([publish(10), publish(20)])
    run.run(1)
    assert busy(run) == [4.0, 4.0]


def test_work_outside_of_any_message_is_paid_with_the_next_one():
    run = simulation(Greeting)
    run.add_operations([publish(10), publish(40)])
    run.run(1)
    # (1 + 1 + a link's 10) ms, then (1 + 1 + the timer's 10) ms, at either broker
    assert busy(run) == [24.0, 24.0]


def test_work_that_nothing_follows_is_never_paid():
    run = simulation(Greeting)
    run.run(1)
    assert busy(run) == [0.0, 0.0]


def test_a_crash_takes_unpaid_work_along():
    run = simulation(Greeting)
    run.add_faults([BrokerCrash(10 * MS, 1), BrokerRestart(20 * MS, 1)])
    run.add_operations([publish(30, broker=1)])
    run.run(0.035)
    assert busy(run)[1] < 24.0
    run.run(1)
    assert busy(run)[1] == 12.0  # of the new link alone, not of the old one too
