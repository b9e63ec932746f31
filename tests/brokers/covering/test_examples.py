r"""Covering, message by message, on small trees.

0 --- 1 --- 2 --- 3        links of a millisecond; 3 publishes x from 0 to 100
"""

import pytest

from pysim.network import LinkBreak, LinkCreate
from pysim.wire import MAX_FRAME_SIZE, Envelope, MessageId
from pysim.wire.messages import Withdraw

from . import stage
from .lab import Lab
from .stage import PROTOCOLS

LINE = [(0, 1), (1, 2), (2, 3)]


def line(protocol: str, **options: object) -> Lab:
    lab = Lab(LINE, protocol, **options)
    lab.do("3 advertise x in [0, 100]")
    return lab


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_advertisements_flood_and_subscriptions_follow_them(protocol):
    lab = Lab([*LINE, (1, 4)], protocol)
    assert lab.do("3 advertise x in [0, 100]") == [
        (3, 2, "ADVERTISE"),
        (2, 1, "ADVERTISE"),
        (1, 0, "ADVERTISE"),
        (1, 4, "ADVERTISE"),
    ]
    assert lab.do("4 subscribe x in [5, 7]") == [
        (4, 1, "SUB x in [5, 7]"),
        (1, 2, "SUB x in [5, 7]"),
        (2, 3, "SUB x in [5, 7]"),
    ]
    assert lab.do("0 subscribe x in [101, 200]") == []
    lab.do("3 publish 6")
    assert lab.hops() == [(3, 2), (2, 1), (1, 4)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_subscription_waits_for_its_advertisement(protocol):
    lab = Lab(LINE, protocol)
    assert lab.do("0 subscribe x in [5, 7]") == []
    assert lab.do("2 advertise x in [0, 100]")[-2:] == [
        (0, 1, "SUB x in [5, 7]"),
        (1, 2, "SUB x in [5, 7]"),
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_advertisement_that_goes_takes_along_what_no_other_needs(protocol):
    lab = line(protocol)
    lab.do("2 advertise x in [0, 9]")
    lab.do("0 subscribe x in [5, 7]")
    lab.do("0 subscribe x in [50, 70]")
    assert lab.holders("x in [5, 7]") == lab.holders("x in [50, 70]") == [0, 1, 2, 3]
    lab.do("3 unadvertise x in [0, 100]")
    assert lab.holders("x in [5, 7]") == [0, 1, 2]
    assert lab.holders("x in [50, 70]") == [0]
    lab.do("2 unadvertise x in [0, 9]")
    assert lab.holders("x in [5, 7]") == [0]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_two_clients_with_one_filter_are_two_entries(protocol):
    lab = line(protocol)
    lab.do("0.1 subscribe x in [5, 7]")
    sent = lab.do("0.2 subscribe x in [5, 7]")
    assert len(sent) == (3 if protocol == "no-covering" else 0)
    assert lab.do("0.2 subscribe x in [5, 7]") == []
    lab.do("0.1 unsubscribe x in [5, 7]")
    lab.do("3 publish 6")
    assert [(row.broker, row.client) for row in lab.run.observer.deliveries] == [(0, 2)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_event_that_was_not_announced_goes_where_entries_lead_and_is_counted(protocol):
    lab = line(protocol)
    lab.do("0 subscribe x in [5, 700]")
    lab.do("3 publish 600")
    assert lab.run.observer.statement().made == 1
    lab.do("2 publish 50")
    lab.do("0 publish 50")
    agents = stage.agents(lab.run)
    assert [agent.counters["unadvertised"] for agent in agents.values()] == [1, 0, 1, 1]
    assert lab.run.observer.statement().made == 3


def test_active_covering_sends_the_new_root_and_takes_back_what_it_covers():
    lab = line("active-covering")
    lab.do("0 subscribe x in [10, 20]")
    assert lab.do("1 subscribe x in [0, 50]") == [
        (1, 2, "SUB x in [0, 50]"),
        (1, 2, "UNSUB x in [10, 20]"),
        (2, 3, "SUB x in [0, 50]"),
        (2, 3, "UNSUB x in [10, 20]"),
    ]
    assert lab.table(2) == {"x in [0, 50]": [1]}
    assert lab.do("0 subscribe x in [30, 40]") == [(0, 1, "SUB x in [30, 40]")]
    assert lab.do("1 unsubscribe x in [0, 50]") == [
        (1, 2, "SUB x in [10, 20]"),
        (1, 2, "SUB x in [30, 40]"),
        (1, 2, "UNSUB x in [0, 50]"),
        (2, 3, "SUB x in [10, 20]"),
        (2, 3, "SUB x in [30, 40]"),
        (2, 3, "UNSUB x in [0, 50]"),
    ]


def test_lazy_covering_leaves_what_has_travelled_and_sends_only_what_came_later():
    lab = line("lazy-covering")
    lab.do("0 subscribe x in [10, 20]")
    assert lab.do("1 subscribe x in [0, 50]") == [
        (1, 2, "SUB x in [0, 50]"),
        (2, 3, "SUB x in [0, 50]"),
    ]
    assert lab.table(2) == {"x in [10, 20]": [1], "x in [0, 50]": [1]}
    assert stage.agents(lab.run)[2].table_size() == 2
    lab.do("0 subscribe x in [30, 40]")
    assert lab.do("1 unsubscribe x in [0, 50]") == [
        (1, 2, "SUB x in [30, 40]"),
        (1, 2, "UNSUB x in [0, 50]"),
        (2, 3, "SUB x in [30, 40]"),
        (2, 3, "UNSUB x in [0, 50]"),
    ]


def test_packing_carries_the_new_roots_in_the_unsubscription():
    lab = line("subscription-packing")
    for what in ("1 subscribe x in [0, 50]", "0 subscribe x in [10, 20]"):
        lab.do(what)
    lab.do("0 subscribe x in [30, 40]")
    packed = "UNSUB x in [0, 50] FOR x in [10, 20], x in [30, 40]"
    assert lab.do("1 unsubscribe x in [0, 50]") == [(1, 2, packed), (2, 3, packed)]
    assert stage.agents(lab.run)[3].counters["subscriptions-received"] == 3
    assert lab.do("2 subscribe x in [0, 90]") == [
        (2, 3, "SUB x in [0, 90]"),
        (2, 3, "UNSUB x in [10, 20], x in [30, 40]"),
    ]


def test_new_roots_that_do_not_fit_one_frame_go_ahead():
    lab = line("subscription-packing")
    lab.do("1 subscribe x in [0, 50]")
    for number in range(14):
        lab.do(f'1 subscribe x in [0, {number}] and y = "{number:090000d}"')
    log = lab.do("1 unsubscribe x in [0, 50]")
    assert MAX_FRAME_SIZE // 90_000 == 11
    assert [words.split()[0] for source, _, words in log if source == 1] == [
        *["SUB"] * 3,
        "UNSUB",
    ]
    assert len(lab.table(3)) == 14


def test_work_is_counted_in_the_units_of_the_cost_model():
    lab = line("active-covering")
    agent = stage.agents(lab.run)[2]
    lab.do("0 subscribe x in [0, 50]")
    lab.do("1 subscribe x in [60, 70]")
    lab.do("1 subscribe x in [10, 20]")
    lab.do("1 subscribe x in [30, 40]")
    lab.do("3 publish 5")
    lab.do("3 publish 99")
    assert agent.take_work() == {
        "publication-entries": 2,
        "matching-entries": 1,
        "roots-examined": 1,
    }
    lab.do("0 unsubscribe x in [0, 50]")
    assert agent.take_work() == {
        "publication-entries": 0,
        "matching-entries": 2 + 2,
        "roots-examined": 1 + 1,
        "unsubscription-entries": 2,
        "new-root-entries": 2 * 2,
    }


def test_packed_new_roots_examine_no_roots_on_arrival():
    lab = line("subscription-packing")
    lab.do("0 subscribe x in [0, 50]")
    lab.do("1 subscribe x in [10, 20]")
    lab.do("1 subscribe x in [30, 40]")
    agent = stage.agents(lab.run)[2]
    agent.take_work()
    lab.do("0 unsubscribe x in [0, 50]")
    assert agent.take_work() == {
        "publication-entries": 0,
        "matching-entries": 1 + 1,
        "unsubscription-entries": 1,
        "new-root-entries": 2,
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_unknown_and_foreign_unsubscriptions_are_ignored_and_counted(protocol):
    lab = line(protocol)
    lab.do("0 subscribe x in [10, 20]")
    agents = stage.agents(lab.run)
    (entry,) = agents[2].subscriptions
    for sender, id in ((3, entry.id), (1, MessageId(0, 999))):
        agents[2].receive(sender, Envelope.seal(Withdraw((id,)), sender, 77))
    assert agents[2].counters["ignored"] == 2
    assert lab.holders("x in [10, 20]") == [0, 1, 2, 3]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_lost_link_withdraws_what_was_learned_over_it_and_a_new_one_tells_it_again(protocol):
    lab = line(protocol)
    lab.do("0 subscribe x in [10, 20]")
    lab.do("0 subscribe x in [12, 14]")
    now = lab.run.transport.now
    lab.run.add_faults([LinkBreak(now, 1, 2)])
    lab.settle()
    assert lab.holders("x in [10, 20]") == [0]
    assert lab.table(1) == lab.table(2) == lab.table(3) == {}
    lab.run.add_faults([LinkCreate(lab.run.transport.now, 0, 2)])
    lab.settle()
    assert lab.holders("x in [10, 20]") == [0, 2, 3]
    lab.do("3 publish 13")
    assert lab.hops() == [(3, 2), (2, 0)]
    assert lab.run.observer.statement().is_exact


r"""The paper's Fig. 2: Sr at A matches A1 to A5, Sn at E only A1, A3 and A5.

A --- B --- C --- D --- E        A to M are 0 to 9 (F, G and H are missing)
     / \   / \     \
    I   J K   L     M
    A1 A2 A3 A4    A5
"""
FIGURE_2 = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (1, 6), (2, 7), (2, 8), (3, 9)]


def figure_2(protocol: str) -> Lab:
    lab = Lab(FIGURE_2, protocol)
    for number, broker in enumerate((5, 6, 7, 8, 9), 1):
        lab.do(f"{broker} advertise x in [{10 * number}, {10 * number + 9}]")
    lab.do("0 subscribe x in [0, 100]")
    lab.do("4 subscribe x in [10, 19] or x in [30, 39] or x in [50, 59]")
    return lab


def test_figure_2_without_covering_both_propagations_are_trees():
    lab = figure_2("no-covering")
    assert lab.holders("x in [0, 100]") == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert lab.holders("x in [10, 19] or x in [30, 39] or x in [50, 59]") == [1, 2, 3, 4, 5, 7, 9]


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_figure_2_with_covering_the_covered_one_is_a_path(protocol):
    lab = figure_2(protocol)
    assert lab.holders("x in [0, 100]") == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert lab.holders("x in [10, 19] or x in [30, 39] or x in [50, 59]") == [1, 2, 3, 4]
    for broker, value in ((5, 15), (7, 35), (9, 55)):
        lab.do(f"{broker} publish {value}")
    statement = lab.run.observer.statement()
    assert (statement.due, statement.made, statement.is_exact) == (6, 6, True)
