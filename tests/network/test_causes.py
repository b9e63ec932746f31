r"""Which brokers a reconfiguration keeps busy, on both networks.

0 --- 1 --- 2 --- 3        links of 1 ms; 0 - 1 is replaced by 0 - 3
"""

from collections import Counter
from functools import partial
from typing import Any

import networkx as nx
import pytest

from pysim.brokers import make
from pysim.filters import parse
from pysim.network import (
    LinkNotice,
    LinkReplace,
    LinkSettings,
    MemoryTransport,
    Simulation,
    TypeCost,
)
from pysim.network.causes import CauseRow, Causes
from pysim.network.ns3 import Ns3Settings, Ns3Transport
from pysim.workloads.operations import Operation

MS = 1_000_000
X = parse('body contains "x"')
Y = parse('body contains "y"')


def memory() -> MemoryTransport:
    return MemoryTransport()


def ns3() -> Ns3Transport:
    return Ns3Transport(Ns3Settings(4))


def run(
    transport: Any, protocol: str, trace: bool = True, costs: TypeCost | None = None
) -> Simulation:
    """0 subscribes to x, its link is replaced, and meanwhile 2 subscribes to y by itself."""
    simulation = Simulation(
        transport,
        nx.path_graph(4),
        partial(make, protocol),
        seed=1,
        costs=costs,
        link_settings=lambda a, b: LinkSettings(delay=0.001, rate=100e9),
        trace_causes=trace,
    )
    simulation.add_operations(
        [
            Operation(20 * MS, 0, "subscribe", filter=X),
            Operation(100_500_000, 2, "subscribe", filter=Y),
            Operation(110 * MS, 1, "publish", attributes={"body": "xy"}),
        ]
    )
    notice = LinkNotice(reconfiguration=7)
    fault = LinkReplace(100 * MS, (0, 1), (0, 3), 20 * MS, notice=notice, initiator=1)
    simulation.add_faults([fault])
    simulation.run(1.0)
    return simulation


@pytest.mark.parametrize("network", [memory, ns3])
@pytest.mark.parametrize(
    ("protocol", "handled"),
    [
        ("event-forwarding", ""),
        (  # the SUB of y at 0 is the new link's doing, those at 1 and 3 are not
            "subscription-forwarding",
            "0 subscribe, 1 subscribe, 2 subscribe, 2 unsubscribe, 3 subscribe, 3 unsubscribe",
        ),
        (  # x crosses the new link in vain, and goes when the timer of the lost link says so
            "timed-deferred-unsubscription",
            "0 subscribe, 0 subscribe, 0 unsubscribe, 1 subscribe, 2 subscribe, 2 unsubscribe,"
            " 3 subscribe, 3 unsubscribe",
        ),
        (
            "informed-link-activation",
            "0 flush, 0 subscribe, 1 flush, 1 subscribe, 2 flush, 2 subscribe, 2 unsubscribe,"
            " 3 activate, 3 flush, 3 subscribe, 3 unsubscribe",
        ),
        (
            "reconfiguration-path",
            "0 rec, 0 subscribe, 1 recack, 2 rec, 2 recack, 3 rec",
        ),
    ],
)
def test_what_a_change_of_the_tree_causes_is_known_by_broker_and_type(network, protocol, handled):
    simulation = run(network(), protocol)
    counts = Counter(tuple(words.split()) for words in handled.split(",") if words)
    expected = [CauseRow(7, int(broker), kind, n) for (broker, kind), n in counts.items()]
    assert simulation.causes() == expected
    simulation.close()


@pytest.mark.parametrize("network", [memory, ns3])
def test_tracing_changes_nothing(network):
    results = []
    for trace in (True, False):
        simulation = run(network(), "informed-link-activation", trace)
        assert simulation.balance() == []
        assert (simulation.causes() != []) == trace
        results.append((simulation.fingerprint(), simulation.transport.counters()))
        simulation.close()
    assert results[0] == results[1]


def test_a_service_model_hides_no_cause():
    at_once, served = (
        run(memory(), "reconfiguration-path", costs=costs).causes()
        for costs in (None, TypeCost(0.000_3))
    )
    assert at_once == served


def test_a_cause_ends_with_what_it_caused_even_if_that_fails():
    causes, seen = Causes(), []

    def fail(why):
        seen.append((causes.current, why))
        raise ZeroDivisionError(why)

    with pytest.raises(ZeroDivisionError):
        causes.under(1, causes.under, 2, fail, "inner")
    causes.under(1, seen.append, "outer")
    assert seen == [(2, "inner"), "outer"]
    assert causes.current is None
