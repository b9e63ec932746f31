"""Random lives of popularity-based brokers, and what their gain tables must be, from scratch."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import networkx as nx

from pysim.brokers import make
from pysim.filters.covering import intersects
from pysim.network import NANOSECONDS, CostModel, LinkSettings, MemoryTransport, Simulation
from tests.brokers.covering.stage import Author, Life

DRAIN = 120
"""Seconds after which all rounds of gossip and all retrievals have come to their end."""

FAST = {"capacity": 10.0, "evaluation": 0.05}
"""Options by which popularity is evaluated often in a life of some seconds."""


def simulation(
    tree: nx.Graph,
    protocol: str,
    options: Mapping[str, Any],
    costs: CostModel | None = None,
    transport: MemoryTransport | None = None,
) -> Simulation:
    return Simulation(
        transport or MemoryTransport(),
        tree,
        partial(make, protocol, **options),
        seed=1,
        costs=costs,
        link_settings=lambda a, b: LinkSettings(delay=(1 + (a + b) % 3) / 1000),
    )


def simulate(
    life: Life,
    protocol: str,
    options: Mapping[str, Any],
    costs: CostModel | None = None,
    transport: MemoryTransport | None = None,
    drain: float = 10,
) -> Simulation:
    """Carry a life out and wait until nothing is under way any more."""
    run = simulation(life.tree, protocol, options, costs, transport)
    run.add_operations(life.operations)
    run.run(life.end / NANOSECONDS + drain)
    assert run.balance() == []
    return run


def agents(run: Simulation) -> dict[int, Any]:
    return {broker: host.agent for broker, host in run.hosts.items()}


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


Gains = dict[int, dict[tuple[int, Any], tuple[int, int]]]
"""By broker: link and advertisement, with the count and the sum of hops."""


def expected_gains(life: Life, names: Mapping[tuple[int, int, Any], Any]) -> Gains:
    """What every gain table must be, from who advertises and who subscribes where."""
    distance = dict(nx.all_pairs_shortest_path_length(life.tree))
    paths = dict(nx.all_pairs_shortest_path(life.tree))
    expected: Gains = {broker: {} for broker in life.tree.nodes}
    for broker, table in expected.items():
        for advertised in life.advertised:
            where, _, announced = advertised
            towards = paths[broker][where][1] if where != broker else None
            for subscriber, _, wanted in life.subscribed:
                if subscriber == broker or not intersects(announced, wanted):
                    continue
                link = paths[broker][subscriber][1]
                if link != towards:
                    key = (link, names[advertised])
                    count, hops = table.get(key, (0, 0))
                    table[key] = (count + 1, hops + distance[broker][subscriber])
    return expected


def gains(run: Simulation) -> Gains:
    return {
        broker: {
            (entry.link, entry.advertisement): (entry.count, entry.hops)
            for entry in agent.gains
            if entry.count
        }
        for broker, agent in agents(run).items()
    }


def advertisement_names(run: Simulation, life: Life) -> dict[tuple[int, int, Any], Any]:
    everyone = agents(run)
    return {
        (broker, client, filter): everyone[broker]._announced[client, filter]
        for broker, client, filter in life.advertised
    }
