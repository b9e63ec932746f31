r"""A link is replaced, and each protocol mends the tables its own way; message by message.

The tree is that of the paper's Fig. 6 (A, E, F, C are 0 to 3 and D, G, B are 4 to 6) with three
leaves more, links of 1 ms; at 100 ms the link 0 - 6 goes, at 110 ms the link 3 - 4 is set up:

    7 8 9
     \|/
  0---1---2---3
  :           :
  6-----5-----4
"""

from collections import Counter
from typing import Any

import networkx as nx
import pytest

from pysim.brokers import options, protocols
from pysim.experiments import config
from pysim.network import AgentError
from tests.experiments.files import small_plan

from .laboratory import Laboratory, expected_tables, pattern

LINKS = [(0, 6), (0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (1, 7), (1, 8), (1, 9)]
MENDED = [*LINKS[1:], (3, 4)]

STRAWMAN = "subscription-forwarding"
TIMED = "timed-deferred-unsubscription"
NOTIFIED = "notified-deferred-unsubscription"
INFORMED = "informed-link-activation"
PATH = "reconfiguration-path"
ALL = [STRAWMAN, TIMED, NOTIFIED, INFORMED, PATH]


def replaced(protocol: str, *subscriptions: str, delay: float = 1, **settings: Any) -> Laboratory:
    """The laboratory just before the link goes, with who subscribes: ``"5 x"``."""
    lab = Laboratory(LINKS, protocol, **settings)
    for number, subscription in enumerate(subscriptions):
        broker, letter = subscription.split()
        lab.at(20 + 10 * number, f"{broker} subscribe {letter}")
    lab.look(99)
    lab.replace(100, (0, 6), (3, 4), delay=delay)
    return lab


def check(lab: Laboratory, *subscriptions: str) -> None:
    """All is settled, and the tables are those of the new tree."""
    standing = [(int(broker), pattern(letter)) for broker, letter in map(str.split, subscriptions)]
    agents = {broker: host.agent for broker, host in lab.simulation.hosts.items()}
    tables = {broker: agent.routing_table() for broker, agent in agents.items()}
    assert tables == expected_tables(nx.Graph(MENDED), standing)
    assert sum(agent.unsettled() for agent in agents.values()) == 0


# One subscriber, at 5: 0's part only routes towards it ---------------------------------


def test_strawman_removes_the_pattern_from_a_whole_part_and_brings_it_back():
    lab = replaced(STRAWMAN, "5 x")
    assert lab.look(1000) == [
        (100.0, 0, 1, "UNSUB x"),
        (101.0, 1, 2, "UNSUB x"),
        (101.0, 1, 7, "UNSUB x"),
        (101.0, 1, 8, "UNSUB x"),
        (101.0, 1, 9, "UNSUB x"),
        (102.0, 2, 3, "UNSUB x"),
        (113.0, 4, 3, "SUB x"),
        (114.0, 3, 2, "SUB x"),
        (115.0, 2, 1, "SUB x"),
        (116.0, 1, 0, "SUB x"),
        (116.0, 1, 7, "SUB x"),
        (116.0, 1, 8, "SUB x"),
        (116.0, 1, 9, "SUB x"),
    ]
    check(lab, "5 x")


@pytest.mark.parametrize("literal", [False, True])
def test_deferred_unsubscriptions_spare_the_leaves_and_cross_the_new_link_in_vain(literal):
    """3 still has the old route, so it subscribes at 4, which T_u later takes back."""
    lab = replaced(TIMED, "5 x", literal=literal)
    assert lab.look(1000) == [
        (112.0, 3, 4, "SUB x"),
        (113.0, 4, 3, "SUB x"),
        (113.0, 4, 5, "SUB x"),
        (114.0, 3, 2, "SUB x"),
        (115.0, 2, 1, "SUB x"),
        (116.0, 1, 0, "SUB x"),
        (250.0, 0, 1, "UNSUB x"),
        (251.0, 1, 2, "UNSUB x"),
        (252.0, 2, 3, "UNSUB x"),
        (253.0, 3, 4, "UNSUB x"),
        (254.0, 4, 5, "UNSUB x"),
    ]
    check(lab, "5 x")


def test_a_flush_behind_the_subscriptions_starts_the_unsubscriptions_before_their_time():
    lab = replaced(NOTIFIED, "5 x")
    log = lab.look(1000)
    assert [entry for entry in log if "FLUSH" not in entry[3]] == [
        (112.0, 3, 4, "SUB x"),
        (113.0, 4, 3, "SUB x"),
        (113.0, 4, 5, "SUB x"),
        (114.0, 3, 2, "SUB x"),
        (115.0, 2, 1, "SUB x"),
        (116.0, 1, 0, "SUB x"),
        (117.0, 0, 1, "UNSUB x"),
        (118.0, 1, 2, "UNSUB x"),
        (119.0, 2, 3, "UNSUB x"),
        (120.0, 3, 4, "UNSUB x"),
        (121.0, 4, 5, "UNSUB x"),
    ]
    assert [entry for entry in log if "FLUSH" in entry[3]] == [
        (112.0, 3, 4, "FLUSH"),
        (113.0, 4, 3, "FLUSH"),
        (113.0, 4, 5, "FLUSH"),
        (114.0, 3, 2, "FLUSH"),
        (114.0, 5, 6, "FLUSH"),
        (115.0, 2, 1, "FLUSH"),
        (116.0, 1, 0, "FLUSH"),
        (116.0, 1, 7, "FLUSH"),
        (116.0, 1, 8, "FLUSH"),
        (116.0, 1, 9, "FLUSH"),
    ]
    check(lab, "5 x")


def test_without_flush_notified_is_timed():
    logs = [
        replaced(protocol, "5 x", "2 y", **settings).look(1000)
        for protocol, settings in ((TIMED, {}), (NOTIFIED, {"flush": False}))
    ]
    assert logs[0] == logs[1]


def test_an_informed_link_is_not_told_what_served_only_the_old_one():
    """ACTIVATE keeps 3 from subscribing at 4; when T_s is over there is nothing left to say."""
    lab = replaced(INFORMED, "5 x")
    log = lab.look(1000)
    assert [entry for entry in log if "FLUSH" not in entry[3]] == [
        (110.0, 0, 3, "ACTIVATE x"),
        (110.0, 6, 4, "ACTIVATE"),
        (116.0, 4, 3, "SUB x"),
        (117.0, 3, 2, "SUB x"),
        (118.0, 2, 1, "SUB x"),
        (119.0, 1, 0, "SUB x"),
        (120.0, 0, 1, "UNSUB x"),
        (121.0, 1, 2, "UNSUB x"),
        (122.0, 2, 3, "UNSUB x"),
    ]
    check(lab, "5 x")


@pytest.mark.parametrize("literal", [False, True])
def test_the_reconfiguration_path_is_walked_and_nothing_else_is_touched(literal):
    lab = replaced(PATH, "5 x", literal=literal)
    assert lab.look(1000) == [
        (110.0, 0, 1, "REC +x -x"),
        (111.0, 1, 2, "REC +x -x"),
        (111.0, 1, 0, "RECACK"),
        (112.0, 2, 3, "REC +x -x"),
        (112.0, 2, 1, "RECACK"),
        (113.0, 3, 2, "RECACK"),
        (113.0, 3, 4, "REC +x -"),
        (114.0, 4, 5, "REC + -"),
        (115.0, 5, 6, "REC + -"),
        (116.0, 6, 5, "FLUSH"),
        (117.0, 5, 4, "FLUSH"),
    ]
    check(lab, "5 x")


def test_the_other_initiator_subscribes_across_the_new_link():
    """6 had no route to 0, so the REC carries nothing; 4 subscribes before it at 3."""
    lab = Laboratory(LINKS, PATH)
    lab.at(20, "5 subscribe x")
    lab.look(99)
    lab.replace(100, (6, 0), (3, 4))
    assert lab.look(1000) == [
        (110.0, 6, 5, "REC + -"),
        (111.0, 5, 4, "REC + -"),
        (111.0, 5, 6, "RECACK"),
        (112.0, 4, 5, "RECACK"),
        (113.0, 4, 3, "SUB x"),
        (113.0, 4, 3, "REC + -"),
        (114.0, 3, 2, "SUB x"),
        (114.0, 3, 2, "REC + -"),
        (115.0, 2, 1, "SUB x"),
        (115.0, 2, 1, "REC + -"),
        (116.0, 1, 0, "SUB x"),
        (116.0, 1, 0, "REC + -"),
        (117.0, 0, 1, "UNSUB x"),
        (117.0, 0, 1, "FLUSH"),
        (118.0, 1, 2, "UNSUB x"),
        (118.0, 1, 2, "FLUSH"),
        (118.0, 1, 7, "FLUSH"),
        (118.0, 1, 8, "FLUSH"),
        (118.0, 1, 9, "FLUSH"),
        (119.0, 2, 3, "UNSUB x"),
        (119.0, 2, 3, "FLUSH"),
    ]
    check(lab, "5 x")


def test_fewer_messages_the_more_a_protocol_is_told():
    logs = {name: replaced(name, "5 x").look(1000) for name in ALL}
    kinds = {name: Counter(entry[3].split()[0] for entry in log) for name, log in logs.items()}
    changes = {name: count["SUB"] + count["UNSUB"] for name, count in kinds.items()}
    assert changes == {STRAWMAN: 13, TIMED: 11, NOTIFIED: 11, INFORMED: 7, PATH: 0}


# Subscriptions that change meanwhile -----------------------------------------------------


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("when", [105, 110.5, 111.5, 112.5, 113.5, 114.5, 116.5])
@pytest.mark.parametrize(
    ("first", "act", "last"),
    [
        (["5 x"], "5 unsubscribe x", []),
        (["5 x"], "2 subscribe x", ["5 x", "2 x"]),
        (["5 x", "2 x"], "2 unsubscribe x", ["5 x"]),
        (["5 x", "1 x"], "1 unsubscribe x", ["5 x"]),
        (["5 x", "1 x"], "5 unsubscribe x", ["1 x"]),
        ([], "4 subscribe x", ["4 x"]),
        ([], "0 subscribe x", ["0 x"]),
        (["0 x"], "6 subscribe x", ["0 x", "6 x"]),
        (["0 x", "6 x"], "6 unsubscribe x", ["0 x"]),
    ],
)
def test_a_subscription_may_change_at_any_moment(name, literal, when, first, act, last):
    """The races of Sec. IV-C.2 among them: an unsubscription meets the REC, or comes before it."""
    lab = replaced(name, *first, literal=literal)
    lab.at(when, act)
    lab.look(2000)
    check(lab, *last)


def test_an_unsubscription_that_meets_the_rec_is_ignored():
    """The paper's example: 1 unsubscribes while 0, by its REC, routes to 5 over it."""
    lab = replaced(PATH, "5 x", "1 x")
    lab.at(110.5, "1 unsubscribe x")
    assert (110.5, 1, 0, "UNSUB x") in lab.look(111.4)
    assert lab.tables()[0] == {"x": [1]}
    lab.look(1000)
    check(lab, "5 x")


def test_what_a_lost_recack_would_have_ended_ends_with_the_link():
    """7 is all of the tail, so FLUSH ends the first reconfiguration while a RECACK is on 2 - 3.

    That link is replaced and comes back; an UNSUB over it then counts as any other.
    """
    lab = Laboratory(LINKS, PATH)
    lab.at(20, "7 subscribe x")
    lab.look(99)
    lab.replace(100, (1, 7), (3, 7), delay=0)
    lab.look(112.2)
    assert sum(host.agent.under_way() for host in lab.simulation.hosts.values()) == 0
    lab.replace(112.5, (2, 3), (2, 7), number=2)
    lab.replace(1000, (2, 7), (2, 3), number=3)
    lab.at(2000, "7 unsubscribe x")
    lab.look(3000)
    assert not any(lab.tables().values())
    assert sum(host.agent.unsettled() for host in lab.simulation.hosts.values()) == 0


def test_nothing_is_told_over_a_new_link_before_the_rec_is_there():
    """The SUB of 6 goes up the old link before it breaks, and is in the head when 3 - 4 comes."""
    lab = Laboratory(LINKS, PATH)
    lab.at(98.5, "6 subscribe x")
    lab.look(99.9)
    lab.replace(100, (0, 6), (3, 4), repair=0.1, delay=0)
    lab.look(2000)
    check(lab, "6 x")


def test_a_subscription_behind_a_rec_that_waits_for_its_link_is_not_lost():
    """The REC is at 3 by 113 ms, its link not before 130 ms, and the SUB of 0 comes in between.

    3 must have struck out the route to 2 by then, or it does so later and 0 is forgotten.
    """
    lab = replaced(PATH, "5 x", delay=10)
    lab.at(115, "0 subscribe x")
    lab.look(1000)
    check(lab, "5 x", "0 x")


def test_a_withheld_subscription_follows_when_the_time_is_up():
    """8 subscribes to what 3 holds back: Fig. 10(b)."""
    lab = replaced(INFORMED, "5 x")
    lab.at(115, "8 subscribe x")
    log = lab.look(1000)
    told = [entry for entry in log if entry[1:3] == (3, 4) and "SUB" in entry[3]]
    assert told == [(119.0 + 150.0, 3, 4, "SUB x")]
    check(lab, "5 x", "8 x")


# Ends that both links share, and leaves --------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("initiator", [0, 1])
@pytest.mark.parametrize(
    ("old", "new"),
    [((1, 7), (7, 2)), ((1, 7), (3, 7)), ((0, 6), (0, 5)), ((0, 6), (6, 3)), ((0, 6), (0, 6))],
)
def test_links_may_share_an_end_and_an_old_link_may_return(name, initiator, old, new):
    lab = Laboratory(LINKS, name)
    for time, words in enumerate(("7 subscribe x", "5 subscribe y", "8 subscribe y")):
        lab.at(20 + time, words)
    lab.look(99)
    lab.replace(100, old if initiator == 0 else (old[1], old[0]), new)
    lab.look(1000)
    agents = [host.agent for host in lab.simulation.hosts.values()]
    assert sum(agent.unsettled() for agent in agents) == 0
    before = len(lab.deliveries())
    for broker in range(10):
        lab.at(1100 + broker, f"{broker} publish xy")
    lab.look(2000)
    assert len(lab.deliveries()) - before == 30


@pytest.mark.parametrize("name", [TIMED, NOTIFIED, INFORMED])
def test_a_leaf_forgets_at_once(name):
    """7 lost its only link: it has nobody to unsubscribe from, then or later."""
    lab = Laboratory(LINKS, name)
    lab.at(20, "5 subscribe x")
    lab.look(99)
    lab.replace(100, (1, 7), (2, 7))
    lab.look(105)
    assert lab.simulation.hosts[7].agent.unsettled() == 0
    assert [entry for entry in lab.look(1000) if entry[1] == 7 and "SUB" in entry[3]] == []


# What cannot be ------------------------------------------------------------------------


def test_overlapping_reconfigurations_are_too_much_for_the_reconfiguration_path():
    lab = replaced(PATH, "5 x")
    lab.replace(110.5, (2, 3), (2, 9), number=2, repair=50)
    with pytest.raises(
        AgentError,
        match=r"reconfiguration 1 cannot go on to broker 3, which is no neighbor:"
        r" it overlaps with another one",
    ):
        lab.look(1000)


@pytest.mark.parametrize(
    ("name", "option", "value", "sentence"),
    [
        (TIMED, "unsubscribe_after", "-1 s", "a duration must be at least 0"),
        (NOTIFIED, "flush", "no", "expected true or false"),
        (INFORMED, "activate_after", "3 apples", 'expected a duration such as "50 ms"'),
        (INFORMED, "activate_later", "3 s", 'did you mean "activate_after"?'),
        (PATH, "flush", False, 'is not a known key; known are "literal"'),
    ],
)
def test_a_bad_option_is_one_sentence(tmp_path, name, option, value, sentence):
    with pytest.raises(config.ConfigError) as error:
        small_plan(tmp_path, protocol={"name": name, option: value})
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_the_timers_of_table_i_are_the_defaults():
    assert options(INFORMED)["unsubscribe_after"].default == 0.15
    assert options(INFORMED)["activate_after"].default == 0.15
    assert set(ALL) <= set(protocols())
