r"""Destination-based routing, message by message, on five brokers.

0 --- 1
|     |
2 --- 3 --- 4        0 publishes x from 0 to 9
"""

import networkx as nx
import pytest

from pysim.network import LinkBreak, LinkCreate, LinkNotice
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import AddressedSubscribe, AddressedUnsubscribe
from pysim.workloads.operations import Operation
from topologies.published import cluster_line

from . import stage
from .lab import Lab
from .stage import MS, QUIET

OVERLAY = nx.Graph([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
EVERYTHING = "x in [0, 9]"


def five(protocol: str = "d-dbr", **options: object) -> Lab:
    lab = Lab(OVERLAY, protocol, **({} if protocol == "fbr-general" else {**QUIET, **options}))
    lab.do(f"0 advertise {EVERYTHING}")
    return lab


def test_d_dbr_sends_everything_along_shortest_ways_with_lists_that_shrink():
    lab = Lab(OVERLAY, "d-dbr", **QUIET)
    assert lab.do(f"0 advertise {EVERYTHING}") == [
        (0, 1, "ADV x in [0, 9] -> 1 3 4"),
        (0, 2, "ADV x in [0, 9] -> 2"),
        (1, 3, "ADV x in [0, 9] -> 3 4"),
        (3, 4, "ADV x in [0, 9] -> 4"),
    ]
    assert lab.do("2 subscribe x in [1, 5]") == [(2, 0, "SUB x in [1, 5] -> 0")]
    assert lab.do("4 subscribe x in [3, 8]") == [
        (4, 3, "SUB x in [3, 8] -> 0"),
        (3, 1, "SUB x in [3, 8] -> 0"),
        (1, 0, "SUB x in [3, 8] -> 0"),
    ]
    lab.do("3 subscribe x in [2, 7]")
    assert lab.do("0 publish 4") == [
        (0, 1, "EVENT 4 -> 3 4"),
        (0, 2, "EVENT 4 -> 2"),
        (1, 3, "EVENT 4 -> 3 4"),
        (3, 4, "EVENT 4 -> 4"),
    ]
    assert lab.served() == [(2, 0), (3, 0), (4, 0)]
    assert lab.do("0 publish 9") == []
    assert lab.do("4 unsubscribe x in [3, 8]")[-1] == (1, 0, "UNSUB -> 0")
    assert lab.do("0 publish 8") == []
    assert lab.do("2 unsubscribe x in [1, 5]") == [(2, 0, "UNSUB -> 0")]
    assert lab.counters("stored-remote") == [1, 0, 0, 0, 0]
    assert lab.counters("stored-local") == [0, 0, 0, 1, 0]


def test_a_lost_link_is_told_to_all_and_events_go_the_other_way():
    lab = five()
    lab.do("4 subscribe x in [3, 8]")
    lab.settle(3000)
    lab.run.add_faults([LinkBreak(lab.run.transport.now, 1, 3)])
    assert lab.settle(2000) == [
        (1, 0, "UPDATE 1: 0"),
        (3, 4, "UPDATE 3: 2 4"),
        (3, 2, "UPDATE 3: 2 4"),
        (0, 2, "UPDATE 1: 0"),
        (2, 0, "UPDATE 3: 2 4"),
        (2, 3, "UPDATE 1: 0"),
        (0, 1, "UPDATE 3: 2 4"),
        (3, 4, "UPDATE 1: 0"),
    ]
    assert lab.do("0 publish 4") == [
        (0, 2, "EVENT 4 -> 4"),
        (2, 3, "EVENT 4 -> 4"),
        (3, 4, "EVENT 4 -> 4"),
    ]


def test_a_broker_that_no_way_leads_to_is_dropped_from_the_list_and_counted():
    lab = five()
    lab.do("4 subscribe x in [3, 8]")
    lab.do("2 subscribe x in [3, 8]")
    lab.run.add_faults([LinkBreak(lab.run.transport.now, 3, 4)])
    lab.settle(3000)
    assert lab.do("0 publish 4") == [(0, 2, "EVENT 4 -> 2")]
    assert lab.counters("no-route")[0] == 1


def test_what_was_withdrawn_while_a_broker_was_away_it_hears_when_it_is_back():
    lab = five()
    lab.do("4 subscribe x in [3, 8]")
    lab.run.add_faults([LinkBreak(lab.run.transport.now, 3, 4)])
    lab.settle(3000)
    assert lab.do("4 unsubscribe x in [3, 8]") == []
    assert lab.do("4 subscribe x in [0, 2]") == []
    lab.run.add_faults([LinkCreate(lab.run.transport.now, 3, 4)])
    lab.settle(3000)
    assert lab.run.hosts[0].agent.routing_table() == {
        stage.canonical(stage.parse("x in [0, 2]")): {4}
    }


def test_an_unsubscription_that_overtakes_its_subscription_leaves_a_tombstone():
    lab = five()
    agent = lab.run.hosts[0].agent
    id = MessageId(4, 999)
    agent.receive(1, Envelope.seal(AddressedUnsubscribe((0,), id), 4, 1000))
    wanted = AddressedSubscribe((0,), (4,), stage.canonical(stage.parse("x in [3, 8]")))
    agent.receive(1, Envelope.seal(wanted, *id))
    assert agent.routing_table() == {}
    assert agent.counters["ignored"] == 2


def test_a_subscription_ends_also_where_it_was_needed_anew_before_that_was_known():
    """4 unsubscribes when 0's advertisement is gone, and before it hears of the next."""
    lab = Lab(nx.path_graph(5), "d-dbr", **QUIET)
    lab.do(f"0 advertise {EVERYTHING}")
    begin = lab.run.transport.now
    wanted, more = (stage.canonical(stage.parse(f)) for f in ("x in [3, 8]", "x in [0, 20]"))
    far = 8 * MS  # a message takes that long from 4 to 0, and from 0 to 4
    lab.run.add_operations(
        [
            Operation(begin, 0, "unadvertise", filter=stage.canonical(stage.parse(EVERYTHING))),
            Operation(begin + 3 * MS, 4, "subscribe", filter=wanted),
            Operation(begin + 5 * MS, 0, "advertise", filter=more),
            Operation(begin + far + 2 * MS, 4, "unsubscribe", filter=wanted),
        ]
    )
    log = lab.settle()
    assert [words for source, _, words in log if source == 4] == [
        "SUB x in [3, 8] -> 0",
        "UNSUB -> 0",
    ]
    assert lab.counters("stored-remote") == [0] * 5


def test_a_subscription_that_comes_again_is_stored_once():
    lab = five()
    agent = lab.run.hosts[0].agent
    wanted = AddressedSubscribe((0,), (4,), stage.canonical(stage.parse("x in [3, 8]")))
    for _ in range(2):
        agent.receive(1, Envelope.seal(wanted, 4, 999))
    assert agent.stored_size() == 1


def test_a_message_that_goes_in_circles_raises_an_alarm_and_ends():
    lab = five()
    agent = lab.run.hosts[1].agent
    wanted = stage.canonical(stage.parse("x in [3, 8]"))
    agent.receive(0, Envelope.seal(AddressedSubscribe((3, 4), (0,), wanted, 31), 0, 998))
    agent.receive(0, Envelope.seal(AddressedSubscribe((3, 4), (0,), wanted, 32), 0, 999))
    assert agent.counters["hop-alarms"] == 1
    assert agent.counters["looped-destinations"] == 2
    assert lab.settle() == [(1, 3, "SUB x in [3, 8] -> 3 4")]
    assert lab.counters("hop-alarms") == [0, 1, 0, 1, 0]


def test_the_work_of_d_dbr_is_at_the_ends():
    lab = five()
    for number in range(5):
        lab.do(f"4.{number} subscribe x in [{number}, 8]")
    agents = stage.agents(lab.run)
    for agent in agents.values():
        agent.take_work()
    lab.do("0 publish 6")
    assert [agent.take_work()["publication-entries"] for agent in (agents[0], agents[4])] == [5, 5]
    assert [agents[n].take_work() for n in (1, 2, 3)] == [
        {"routed-destinations": 1},
        {"routed-destinations": 0},
        {"routed-destinations": 1},
    ]


@pytest.mark.parametrize(
    ("protocol", "matched"),
    [
        ("fbr", [5, 5, 5, 5, 5]),
        ("fbr-general", [5, 5, 5, 5, 5]),
        ("d-dbr", [5, 0, 0, 0, 5]),
        ("merc", [5, 0, 5, 0, 5]),
    ],
)
def test_on_a_line_events_are_matched_everywhere_at_the_ends_or_also_in_the_middle(
    protocol, matched
):
    """What Fig. 14 shows as the load of a CPU."""
    options = {} if protocol.startswith("fbr") else QUIET
    lab = Lab(cluster_line(brokers=5), protocol, **options)
    lab.do(f"0 advertise {EVERYTHING}")
    for number in range(5):
        lab.do(f"4.{number} subscribe x in [{number}, 8]")
    agents = stage.agents(lab.run).values()
    for agent in agents:
        agent.take_work()
    lab.do("0 publish 6")
    assert [agent.take_work().get("publication-entries", 0) for agent in agents] == matched


def test_fbr_on_general_overlays_drops_duplicates_and_stores_along_the_tree():
    lab = Lab(OVERLAY, "fbr-general")
    assert lab.do(f"0 advertise {EVERYTHING}") == [
        (0, 1, "ADV x in [0, 9]"),
        (0, 2, "ADV x in [0, 9]"),
        (1, 3, "ADV x in [0, 9]"),
        (2, 3, "ADV x in [0, 9]"),
        (3, 2, "ADV x in [0, 9]"),
        (3, 4, "ADV x in [0, 9]"),
    ]
    assert lab.counters("duplicates-dropped") == [0, 0, 1, 1, 0]
    assert lab.do("4 subscribe x in [3, 8]") == [
        (4, 3, "SUB x in [3, 8]"),
        (3, 1, "SUB x in [3, 8]"),
        (1, 0, "SUB x in [3, 8]"),
    ]
    lab.do(f"2 advertise {EVERYTHING}")
    assert lab.counters("stored-remote") == [1, 1, 1, 2, 0]
    assert lab.do("0 publish 4") == [(0, 1, "EVENT 4"), (1, 3, "EVENT 4"), (3, 4, "EVENT 4")]
    assert lab.do("2 publish 4") == [(2, 3, "EVENT 4"), (3, 4, "EVENT 4")]
    agents = stage.agents(lab.run)
    assert agents[3].take_work()["publication-entries"] == 2 + 2
    lab.do(f"0 unadvertise {EVERYTHING}")
    assert lab.counters("stored-remote") == [0, 0, 1, 1, 0]
    lab.do("4 unsubscribe x in [3, 8]")
    assert lab.counters("stored-remote") == [0] * 5


def test_fbr_on_general_overlays_repairs_nothing():
    lab = five("fbr-general")
    lab.do("4 subscribe x in [3, 8]")
    lab.run.add_faults([LinkBreak(lab.run.transport.now, 1, 3)])
    lab.settle()
    lab.do("0 publish 4")
    assert lab.served() == []
    assert lab.counters("dead-link-messages") == [0, 1, 0, 0, 0]


def test_fbr_on_trees_is_advertisement_based_routing_without_covering():
    lab = Lab(nx.path_graph(4), "fbr")
    lab.do(f"0 advertise {EVERYTHING}")
    assert lab.do("3 subscribe x in [3, 8]")[-1] == (1, 0, "SUBSCRIBE x in [3, 8]")
    lab.do("3 subscribe x in [4, 7]")
    assert lab.counters("stored-remote") == [2, 2, 2, 0]
    assert lab.counters("stored-local") == [0, 0, 0, 2]
    lab.do("3 unsubscribe x in [3, 8]")
    assert lab.counters("stored-remote") == [1, 1, 1, 0]


def test_merc_matches_at_the_edge_and_puts_its_own_number_there():
    lab = Lab(cluster_line(brokers=5), "merc", **QUIET)
    assert lab.do(f"0 advertise {EVERYTHING}") == [
        (0, 1, "ADV x in [0, 9] -> 1 2"),
        (1, 2, "ADV x in [0, 9] -> 2"),
        (2, 3, "ADV x in [0, 9] -> 3 4"),
        (3, 4, "ADV x in [0, 9] -> 4"),
    ]
    assert lab.do("4 subscribe x in [1, 5]") == [
        (4, 3, "SUB x in [1, 5] -> 2"),
        (3, 2, "SUB x in [1, 5] -> 2"),
        (2, 1, "SUB x in [1, 5] -> 0"),
        (1, 0, "SUB x in [1, 5] -> 0"),
    ]
    assert lab.run.hosts[0].agent.routing_table() == {
        stage.canonical(stage.parse("x in [1, 5]")): {2}
    }
    assert lab.do("0 publish 3") == [
        (0, 1, "EVENT 3 -> 2"),
        (1, 2, "EVENT 3 -> 2"),
        (2, 3, "EVENT 3 -> 4"),
        (3, 4, "EVENT 3 -> 4"),
    ]
    assert lab.counters("trt-bytes") == [9, 9, 18, 9, 9]
    assert lab.do("4 unsubscribe x in [1, 5]")[-1] == (1, 0, "UNSUB -> 0")


def test_merc_does_not_use_a_link_that_its_topology_does_not_have():
    lab = Lab(cluster_line(brokers=5), "merc", **QUIET)
    lab.run.add_faults([LinkCreate(lab.run.transport.now, 0, 4)])
    assert lab.settle() == []
    assert lab.counters("links-of-no-cluster") == [1, 0, 0, 0, 1]


def test_table_memory_is_counted_as_published():
    lab = Lab(nx.random_regular_graph(6, 100, seed=1), "d-dbr", **QUIET)
    totals = [
        trt + sprt
        for trt, sprt in zip(lab.counters("trt-bytes"), lab.counters("sprt-bytes"), strict=True)
    ]
    assert set(totals) == {100 * 100 + 99 * 8}


@pytest.mark.parametrize("detection", ["heartbeats", "notice"])
def test_a_link_that_was_closed_on_purpose_is_known_to_be_gone_at_once(detection):
    lab = five(detection=detection)
    closed = LinkNotice(closed=True)
    now = lab.run.transport.now
    lab.run.add_faults([LinkBreak(now, 1, 3, {1: closed, 3: closed})])
    told = [words for _, _, words in lab.settle(50) if words.startswith("UPDATE")]
    assert {"UPDATE 1: 0", "UPDATE 3: 2 4"} <= set(told)
