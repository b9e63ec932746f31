r"""Subscription forwarding with STRAWMAN, message by message, on five brokers:

0 --- 1 --- 2        links of 1 ms
      |
      3 --- 4
"""

import networkx as nx
import pytest

from pysim.network import AgentError, LinkNotice, LinkSettings
from pysim.wire.messages import Flush, Subscribe

from .laboratory import Laboratory, expected_tables, pattern

TREE = [(0, 1), (1, 2), (1, 3), (3, 4)]


@pytest.fixture(params=[False, True], ids=["told", "literal"])
def lab(request: pytest.FixtureRequest) -> Laboratory:
    return Laboratory(TREE, "subscription-forwarding", literal=request.param)


def test_the_first_subscription_floods_the_tree(lab):
    lab.at(20, "0 subscribe x")
    assert lab.look(100) == [
        (20.0, 0, 1, "SUB x"),
        (21.0, 1, 2, "SUB x"),
        (21.0, 1, 3, "SUB x"),
        (22.0, 3, 4, "SUB x"),
    ]
    assert lab.tables() == {
        0: {"x": [0]},
        1: {"x": [0]},
        2: {"x": [1]},
        3: {"x": [1]},
        4: {"x": [3]},
    }


def test_the_second_subscription_goes_up_to_the_pattern_tree(lab):
    lab.at(20, "0 subscribe x")
    lab.at(30, "4 subscribe x")
    lab.look(29)
    assert lab.look(100) == [
        (30.0, 4, 3, "SUB x"),
        (31.0, 3, 1, "SUB x"),
        (32.0, 1, 0, "SUB x"),
    ]
    assert lab.tables() == {
        0: {"x": [0, 1]},
        1: {"x": [0, 3]},
        2: {"x": [1]},
        3: {"x": [1, 4]},
        4: {"x": [3, 4]},
    }


def test_a_subscription_on_the_pattern_tree_stays_where_it_is(lab):
    lab.at(20, "0 subscribe x")
    lab.at(30, "4 subscribe x")
    lab.look(49)
    lab.at(50, "3 subscribe x")
    assert lab.look(100) == []


def test_self_counts_as_one_subscriber_however_many_clients_there_are(lab):
    lab.at(20, "0 subscribe x")
    lab.look(29)
    lab.at(30, "0.1 subscribe x")
    lab.at(40, "0.0 unsubscribe x")
    assert lab.look(49) == []
    lab.at(50, "0.1 unsubscribe x")
    assert [entry[3] for entry in lab.look(100)] == ["UNSUB x"] * 4


def test_self_as_first_subscriber_is_not_sent_the_second_subscription(lab):
    """Broker 1 is first subscriber itself: the SUB from 0 ends there."""
    lab.at(20, "1 subscribe x")
    lab.look(29)
    lab.at(30, "0 subscribe x")
    assert lab.look(100) == [(30.0, 0, 1, "SUB x")]


def test_the_last_unsubscription_floods_the_tree(lab):
    lab.at(20, "0 subscribe x")
    lab.look(29)
    lab.at(30, "0 unsubscribe x")
    assert lab.look(100) == [
        (30.0, 0, 1, "UNSUB x"),
        (31.0, 1, 2, "UNSUB x"),
        (31.0, 1, 3, "UNSUB x"),
        (32.0, 3, 4, "UNSUB x"),
    ]
    assert lab.tables() == {broker: {} for broker in range(5)}


def test_an_unsubscription_mirrors_the_second_subscription(lab):
    lab.at(20, "0 subscribe x")
    lab.at(30, "4 subscribe x")
    lab.look(39)
    lab.at(40, "4 unsubscribe x")
    assert lab.look(100) == [
        (40.0, 4, 3, "UNSUB x"),
        (41.0, 3, 1, "UNSUB x"),
        (42.0, 1, 0, "UNSUB x"),
    ]


def test_an_unsubscription_stops_where_the_pattern_tree_goes_on(lab):
    lab.at(20, "0 subscribe x")
    lab.at(30, "2 subscribe x")
    lab.at(40, "4 subscribe x")
    lab.look(49)
    lab.at(50, "4 unsubscribe x")
    assert lab.look(100) == [(50.0, 4, 3, "UNSUB x"), (51.0, 3, 1, "UNSUB x")]


def test_repeated_and_unknown_acts_of_clients_send_nothing(lab):
    lab.at(20, "0 subscribe x")
    lab.look(29)
    lab.at(30, "0 subscribe x")
    lab.at(31, "0 unsubscribe y")
    lab.at(32, "0.9 unsubscribe x")
    assert lab.look(100) == []


def test_two_subscriptions_that_cross_on_the_way_meet_in_the_middle(lab):
    """Both ends of 0 - 1 - 2 subscribe at once; 3 and 4 hear one of them only."""
    lab.at(20, "0 subscribe x")
    lab.at(20, "2 subscribe x")
    assert lab.look(100) == [
        (20.0, 0, 1, "SUB x"),
        (20.0, 2, 1, "SUB x"),
        (21.0, 1, 2, "SUB x"),
        (21.0, 1, 3, "SUB x"),
        (21.0, 1, 0, "SUB x"),
        (22.0, 3, 4, "SUB x"),
    ]


def test_an_event_goes_to_where_its_subscribers_are_and_nowhere_else(lab):
    lab.at(20, "0 subscribe x")
    lab.at(20, "4 subscribe y")
    lab.look(29)
    lab.at(30, "2 publish ax")
    lab.at(40, "2 publish yx")
    lab.at(50, "2 publish none")
    lab.at(60, "0 publish x")
    assert lab.look(100) == [
        (30.0, 2, 1, "EVENT ax"),
        (31.0, 1, 0, "EVENT ax"),
        (40.0, 2, 1, "EVENT yx"),
        (41.0, 1, 0, "EVENT yx"),
        (41.0, 1, 3, "EVENT yx"),
        (42.0, 3, 4, "EVENT yx"),
    ]
    assert lab.deliveries() == [(32.0, 0, 0), (42.0, 0, 0), (43.0, 4, 0), (60.0, 0, 0)]


def test_a_link_that_goes_is_as_if_its_neighbor_had_unsubscribed_from_everything(lab):
    """STRAWMAN, step 1: both ends remove what came over the link, and their sides hear of it."""
    lab.at(20, "0 subscribe x")
    lab.at(20, "4 subscribe y")
    lab.look(29)
    lab.simulation.cut(1, 3, {})
    assert lab.look(100) == [
        (29.0, 1, 0, "UNSUB y"),
        (29.0, 1, 2, "UNSUB y"),
        (29.0, 3, 4, "UNSUB x"),
    ]
    assert lab.tables() == {
        0: {"x": [0]},
        1: {"x": [0]},
        2: {"x": [1]},
        3: {"y": [4]},
        4: {"y": [4]},
    }


def test_a_link_that_comes_is_told_all_that_is_wanted(lab):
    """STRAWMAN, step 2: each end subscribes at the other, and the sides hear of it."""
    lab.at(20, "0 subscribe x")
    lab.at(20, "4 subscribe y")
    lab.look(29)
    lab.simulation.cut(1, 3, {})
    lab.look(39)
    lab.simulation.join(2, 4, LinkSettings(delay=0.001), {})
    assert lab.look(100) == [
        (41.0, 2, 4, "SUB x"),
        (42.0, 4, 2, "SUB y"),
        (42.0, 4, 3, "SUB x"),
        (43.0, 2, 1, "SUB y"),
        (44.0, 1, 0, "SUB y"),
    ]
    assert lab.tables() == {
        0: {"x": [0], "y": [1]},
        1: {"x": [0], "y": [2]},
        2: {"x": [1], "y": [4]},
        3: {"x": [4], "y": [4]},
        4: {"x": [2], "y": [4]},
    }


def test_a_new_neighbor_is_told_a_pattern_once_however_many_subscribe_to_it(lab):
    for broker in (0, 1, 2):
        lab.at(20, f"{broker} subscribe x")
    lab.look(29)
    lab.simulation.cut(1, 3, {})
    lab.look(39)
    lab.simulation.join(1, 4, LinkSettings(delay=0.001), {})
    assert lab.look(42) == [(41.0, 1, 4, "SUB x"), (42.0, 4, 3, "SUB x")]


def test_an_old_link_may_return_at_once(lab):
    """Cut and set up again in one moment: what was told over the old link is told anew."""
    lab.at(20, "0 subscribe x")
    lab.at(20, "4 subscribe x")
    lab.look(29)
    before = lab.tables()
    lab.simulation.cut(1, 3, {})
    lab.simulation.join(1, 3, LinkSettings(delay=0.001), {})
    assert lab.look(100) == [
        (29.0, 1, 0, "UNSUB x"),
        (29.0, 3, 4, "UNSUB x"),
        (31.0, 1, 3, "SUB x"),
        (32.0, 3, 1, "SUB x"),
        (32.0, 3, 4, "SUB x"),
        (33.0, 1, 0, "SUB x"),
    ]
    assert lab.tables() == before


def test_a_subscription_lost_with_its_link_is_made_good_by_the_new_one(lab):
    lab.at(20, "4 subscribe x")
    lab.look(21.5)
    assert lab.tables()[1] == {}
    lab.simulation.cut(1, 3, {})
    lab.simulation.join(2, 3, LinkSettings(delay=0.001), {})
    lab.look(100)
    assert lab.tables() == {
        0: {"x": [1]},
        1: {"x": [2]},
        2: {"x": [3]},
        3: {"x": [4]},
        4: {"x": [4]},
    }


def test_a_crashed_broker_comes_back_knowing_nothing_and_is_told_everything(lab):
    lab.at(20, "0 subscribe x")
    lab.at(20, "1 subscribe y")
    lab.at(20, "4 subscribe x")
    lab.look(29)
    lab.simulation.crash(1)
    lab.look(39)
    lab.simulation.restart(1)
    lab.look(100)
    assert lab.tables() == {
        0: {"x": [0, 1]},
        1: {"x": [0, 3]},
        2: {"x": [1]},
        3: {"x": [1, 4]},
        4: {"x": [3, 4]},
    }


def test_patterns_of_equal_meaning_are_one(lab):
    lab.at(20, "0 subscribe x")
    lab.look(29)
    agent = lab.simulation.hosts[0].agent
    assert agent.routing_table() == {pattern("x"): {0}}
    assert agent.table_size() == 1


def test_a_subscription_that_comes_twice_is_no_change(lab):
    lab.at(20, "4 subscribe x")
    lab.look(29)
    lab.simulation.hosts[0].world.send(1, Subscribe(pattern("x")))
    lab.look(39)
    lab.simulation.hosts[0].world.send(1, Subscribe(pattern("x")))
    assert lab.look(100) == [(39.0, 0, 1, "SUB x")]


def test_a_neighbor_that_was_faster_with_its_subscription_is_not_sent_it_back(lab):
    """What comes before the link's own announcement must not be echoed by addLinkTo."""
    agent = lab.simulation.hosts[0].agent
    agent.add_subscriber(1, pattern("x"))
    agent.link_up(1, LinkNotice())
    assert lab.look(100) == []


def test_a_message_of_another_family_is_an_error(lab):
    lab.simulation.hosts[0].world.send(1, Flush(1))
    with pytest.raises(
        AgentError, match=r"SubscriptionForwarding has no handler for flush messages$"
    ):
        lab.simulation.run(1)


def test_told_state_keeps_a_second_unsubscription_from_being_sent():
    """What the option `literal` gives up, seen where a subclass asks twice."""
    for literal, expected in (
        (False, ["SUB x", "UNSUB x"]),
        (True, ["SUB x"] * 2 + ["UNSUB x"] * 2),
    ):
        lab = Laboratory([(0, 1)], "subscription-forwarding", literal=literal)
        agent = lab.simulation.hosts[0].agent
        for act in (agent.tell, agent.tell, agent.untell, agent.untell):
            act(1, pattern("x"))
        assert [entry[3] for entry in lab.look(100)] == expected


def test_expected_tables_on_the_five_brokers():
    x = pattern("x")
    assert expected_tables(nx.Graph(TREE), [(0, x), (4, x)]) == {
        0: {x: {0, 1}},
        1: {x: {0, 3}},
        2: {x: {1}},
        3: {x: {1, 4}},
        4: {x: {3, 4}},
    }
