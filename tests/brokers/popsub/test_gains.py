"""Gain tables equal those computed from who advertises and who subscribes where."""

import pytest
from hypothesis import HealthCheck, given, settings

from pysim.filters import canonical, parse
from pysim.workloads.operations import Operation
from tests.brokers.covering.stage import HASTY, MS, SETTLED, authors
from tests.brokers.covering.stage import simulate as simulate_covering

from . import stage

many = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

PROTOCOLS = ("reverse-path-forwarding", "popsub-direct")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@many
@given(authors())
def test_gain_tables_equal_those_computed_from_the_global_state(protocol, author):
    life = stage.write(*author, HASTY, "aasssssssuuuppw")
    run = stage.simulate(life, protocol, {})
    names = stage.advertisement_names(run, life)
    assert stage.gains(run) == stage.expected_gains(life, names)


@many
@given(authors())
def test_the_baseline_routes_as_no_covering_does(author):
    """The same entries, the same hops of events, the same deliveries."""
    life = stage.write(*author, (SETTLED,), "aasssssuuuppppw")
    ours = stage.simulate(life, "reverse-path-forwarding", {})
    theirs = simulate_covering(life, "no-covering", {})
    assert ours.observer.statement().is_exact
    assert ours.fingerprint()["deliveries"] == theirs.fingerprint()["deliveries"]
    for broker, agent in stage.agents(ours).items():
        other = stage.agents(theirs)[broker]
        assert agent.routing_table() == other.routing_table()
        assert agent.stored_size() == other.stored_size()
        assert agent.table_size() == other.table_size()
    counts = [
        {key: row.sent for row in run.transport.counters() if row.type == 5 for key in [row[:3]]}
        for run in (ours, theirs)
    ]
    assert counts[0] == counts[1]


def test_the_example_of_the_paper():
    """Fig. 2: on B1, towards B2, red has four subscriptions at 2, 2, 3, 3 hops, blue one at 3.

    1 - 2, 2 - 4 (two red), 4 - 8 (two red, one blue)
    """
    tree = stage.nx.Graph([(1, 2), (2, 4), (4, 8)])
    run = stage.simulation(tree, "reverse-path-forwarding", {})
    red, blue = canonical(parse('color = "red"')), canonical(parse('color = "blue"'))
    run.add_operations(
        [
            Operation(20 * MS, 1, "advertise", 1, filter=red),
            Operation(20 * MS, 1, "advertise", 2, filter=blue),
            *(Operation(40 * MS, 4, "subscribe", client, filter=red) for client in (1, 2)),
            *(Operation(40 * MS, 8, "subscribe", client, filter=red) for client in (1, 2)),
            Operation(40 * MS, 8, "subscribe", 3, filter=blue),
        ]
    )
    run.run(1)
    names = {agent: id for (agent, _), id in stage.agents(run)[1]._announced.items()}
    found = {
        broker: {(entry.link, entry.advertisement): entry.gain for entry in agent.gains}
        for broker, agent in stage.agents(run).items()
    }
    assert found == {
        1: {(2, names[1]): 4 / 2.5, (2, names[2]): 1 / 3},
        2: {(4, names[1]): 4 / 1.5, (4, names[2]): 1 / 2},
        4: {(8, names[1]): 2 / 1, (8, names[2]): 1 / 1},
        8: {},
    }
