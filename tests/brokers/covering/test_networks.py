"""Every protocol of the family decides the same on packets as on the plain network."""

import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pysim.brokers import make
from pysim.brokers.optimizations import Optimize
from pysim.filters import parse
from pysim.network import LinkSettings, MemoryTransport, Simulation
from pysim.units import Duration, Share, Span
from pysim.workloads.operations import Operation
from tests.network.ns3_stage import simulation
from topologies.published import overlay49

from . import stage
from .stage import MS, PROTOCOLS

OVERLAY = overlay49()
LINK = LinkSettings(delay=0.001, rate=1e9)
END = 6.0


def operations() -> list[Operation]:
    """Two roots with what they cover, all over the edges; both roots go while events are there."""
    draw = random.Random(7)
    of_role = {
        role: [broker for broker, r in OVERLAY.nodes(data="role") if r == role]
        for role in ("publisher", "edge")
    }
    announced = parse("symbol in [1, 2] and x in [0, 100]")
    steps: list[dict[str, Any]] = [
        {"broker": broker, "action": "advertise", "filter": announced}
        for broker in of_role["publisher"]
    ]
    roots = []
    for symbol in (1, 2):
        roots.append((draw.choice(of_role["edge"]), symbol, parse(f"symbol = {symbol}")))
        for client in range(12):
            low = draw.randrange(90)
            box = parse(f"symbol = {symbol} and x in [{low}, {low + 10}]")
            place = {"broker": draw.choice(of_role["edge"]), "client": 100 * symbol + client}
            steps.append({**place, "action": "subscribe", "filter": box})
    for broker, client, root in roots:
        place = {"broker": broker, "client": client, "filter": root}
        steps.insert(draw.randrange(3, len(steps)), {**place, "action": "subscribe"})
    events = [
        {
            "broker": draw.choice(of_role["publisher"]),
            "action": "publish",
            "attributes": {"symbol": draw.choice((1, 2)), "x": draw.randrange(101)},
        }
        for _ in range(60)
    ]
    steps += events[:30]
    for broker, client, root in roots:
        steps.append({"broker": broker, "client": client, "filter": root, "action": "unsubscribe"})
        steps += events[30:45]
    steps += events[45:]
    return [Operation((100 + 40 * number) * MS, **step) for number, step in enumerate(steps)]


def outcome(run: Simulation) -> dict[str, Any]:
    run.add_operations(operations())
    run.run(END)
    assert run.balance() == []
    assert run.observer.statement().is_exact
    everyone = stage.agents(run)
    return {
        "deliveries": sorted(
            (row.event, row.broker, row.client) for row in run.observer.deliveries
        ),
        "tables": stage.tables(run),
        "counters": {broker: agent.counters for broker, agent in everyone.items()},
        "sizes": {broker: agent.table_size() for broker, agent in everyone.items()},
        "work": {broker: agent.take_work() for broker, agent in everyone.items()},
        "bytes": run.fingerprint()["contents"],
    }


def plainly(protocol: str, **options: Any) -> Simulation:
    broker = partial(make, protocol, **options)
    return Simulation(MemoryTransport(), OVERLAY, broker, seed=1, link_settings=lambda a, b: LINK)


OPTIMIZED = [
    ("no-covering", ("covering", "perfect-merging")),
    ("no-covering", ("imperfect-merging", "post-pruning")),
    ("no-covering", ("pre-pruning", "covering", "predicate-replacement")),
    ("subscription-packing", ("post-pruning",)),
    ("incremental-unsubscription", ("predicate-replacement",)),
]


@pytest.mark.parametrize(("protocol", "by"), [*((name, ()) for name in PROTOCOLS), *OPTIMIZED])
def test_both_networks_come_to_the_same_decisions(protocol, by):
    often = {"start": Duration(1.0), "every": Span(0.5), "limit": Share(0.3)}
    optimize = Optimize(by=by, **often)
    with simulation(OVERLAY, partial(make, protocol, optimize=optimize), LINK) as packets:
        assert outcome(packets) == outcome(plainly(protocol, optimize=optimize))


SCRIPT = """
from tests.brokers.covering.test_networks import PROTOCOLS, outcome, plainly
print([outcome(plainly(protocol))["bytes"] for protocol in PROTOCOLS])
"""


def test_bytes_do_not_depend_on_the_process_or_its_hash_seed():
    results = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": str(Path(__file__).parents[3]),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert results[0] == results[1]
    assert len(set(results[0].split(","))) == len(PROTOCOLS)
