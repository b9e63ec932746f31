"""Faults as plain data: what is refused before a run, and in which order they happen."""

import networkx as nx
import pytest

from pysim.network.faults import (
    BrokerCrash,
    BrokerRestart,
    FaultError,
    LinkBreak,
    LinkCreate,
    LinkReplace,
    LinkReplaced,
    LossChange,
    Overlay,
    in_order,
    rehearse,
)
from pysim.network.transport import LinkSettings
from pysim.network.world import LinkNotice, Replacement

S = 1_000_000_000


def line(n: int = 4) -> nx.Graph:
    """Brokers 0 - 1 - 2 - 3."""
    return nx.path_graph(n)


def test_a_replacement_is_a_break_and_a_later_link_with_the_same_notice():
    notice = LinkNotice(reconfiguration=7)
    settings = LinkSettings(delay=0.5)
    fault = LinkReplace(2 * S, (0, 1), (0, 3), S // 10, settings, notice)
    assert in_order([fault]) == [
        LinkBreak(2 * S, 0, 1, {0: notice, 1: notice}),
        LinkCreate(2 * S + S // 10, 0, 3, settings, {0: notice, 3: notice}),
        LinkReplaced(2 * S + S // 10, (0, 1), (0, 3), 7),
    ]


def test_the_initiator_is_the_first_old_end_unless_said_otherwise():
    fault = LinkReplace(0, (0, 1), (0, 3), notice=LinkNotice(7), initiator=1)
    assert in_order([fault])[-1] == LinkReplaced(0, (1, 0), (0, 3), 7)


def test_the_old_ends_are_told_their_new_end_and_the_initiator_the_whole_way():
    r"""0 - 1 - 2 - 3, then 0 - 1 and 2 - 3 with 3 - 0 in the place of 1 - 2."""
    overlay = Overlay(line())
    overlay.cut(1, 2, {})
    overlay.join(3, 0, None, {})
    assert overlay.replacements(LinkReplaced(0, (1, 2), (3, 0), 7)) == {
        1: Replacement(7, 0, (1, 0), (3, 2)),
        2: Replacement(7, 3),
    }
    assert overlay.replacements(LinkReplaced(0, (2, 1), (0, 3), 7)) == {
        2: Replacement(7, 3, (2, 3), (0, 1)),
        1: Replacement(7, 0),
    }


def test_nothing_is_told_of_a_link_that_does_not_join_the_old_ends():
    overlay = Overlay(line())
    assert overlay.replacements(LinkReplaced(0, (0, 1), (2, 3), 7)) == {}
    overlay.cut(1, 2, {})
    assert overlay.replacements(LinkReplaced(0, (1, 2), (0, 1), 7)) == {}


def test_steps_come_by_time_and_at_the_same_time_as_they_were_given():
    faults = [
        BrokerCrash(5, 3),
        LinkReplace(1, (0, 1), (0, 2), 4),
        BrokerRestart(5, 3),
    ]
    assert [(step.time, type(step).__name__) for step in in_order(faults)] == [
        (1, "LinkBreak"),
        (5, "BrokerCrash"),
        (5, "LinkCreate"),
        (5, "BrokerRestart"),
    ]


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        (
            [LinkBreak(S, 0, 2)],
            "at 1.000000000 s, break of link 0-2: there is no link between brokers 0 and 2",
        ),
        (
            [LinkBreak(S, 0, 9)],
            "at 1.000000000 s, break of link 0-9: there is no broker 9",
        ),
        (
            [LinkBreak(S, 0, 1), LinkBreak(2 * S, 1, 0)],
            "at 2.000000000 s, break of link 1-0: there is no link between brokers 1 and 0",
        ),
        (
            [LinkCreate(S, 1, 0)],
            "at 1.000000000 s, new link 1-0: brokers 1 and 0 are linked already",
        ),
        (
            [LinkCreate(S, 1, 1)],
            "at 1.000000000 s, new link 1-1: broker 1 cannot be linked to itself",
        ),
        (
            [LinkReplace(0, (0, 1), (0, 9))],
            "at 0.000000000 s, new link 0-9: there is no broker 9",
        ),
        (
            [BrokerCrash(S, 3), LinkCreate(2 * S, 0, 3)],
            "at 2.000000000 s, new link 0-3: broker 3 is down",
        ),
        (
            [BrokerCrash(S, 3), BrokerCrash(2 * S, 3)],
            "at 2.000000000 s, crash of broker 3: broker 3 is down already",
        ),
        (
            [BrokerCrash(S, 3), LinkBreak(2 * S, 2, 3)],
            "at 2.000000000 s, break of link 2-3: there is no link between brokers 2 and 3",
        ),
        ([BrokerRestart(0, 3)], "at 0.000000000 s, restart of broker 3: broker 3 is not down"),
        ([BrokerRestart(0, 8)], "at 0.000000000 s, restart of broker 8: there is no broker 8"),
        ([BrokerCrash(0, 8)], "at 0.000000000 s, crash of broker 8: there is no broker 8"),
        (
            [LossChange(0, 0, 1, 2.0)],
            r"at 0.000000000 s, loss on link 0-1: loss\(=2.0\) should be between 0 and 1",
        ),
        (
            [LossChange(0, 0, 2, 0.5)],
            "at 0.000000000 s, loss on link 0-2: there is no link between brokers 0 and 2",
        ),
        ([LinkBreak(-1, 0, 1)], r"time\(=-1\) of break of link 0-1 should be >= 0 ns"),
        (
            [LinkReplace(0, (0, 1), (0, 2), -5)],
            r"repair\(=-5\) of replacement of link 0-1 by 0-2 should be >= 0 ns",
        ),
    ],
)
def test_impossible_faults_are_refused_in_a_sentence(faults, message):
    with pytest.raises(FaultError, match=rf"^{message}$"):
        rehearse(faults, line())


def test_a_plan_that_fits_together_is_accepted_whatever_its_order_in_the_file():
    rehearse(
        [
            LinkBreak(4 * S, 0, 3),
            LinkReplace(S, (1, 0), (3, 0), S),
            LinkCreate(5 * S, 0, 1),
            BrokerCrash(6 * S, 2),
            BrokerRestart(7 * S, 2),
            LinkBreak(8 * S, 2, 3),
            LossChange(0, 0, 1, 0.1),
        ],
        line(),
    )


def test_the_old_link_may_return():
    rehearse([LinkReplace(S, (0, 1), (0, 1), S), LinkBreak(3 * S, 0, 1)], line())


def test_a_rehearsal_leaves_the_graph_alone():
    graph = line()
    rehearse([LinkBreak(S, 0, 1)], graph)
    assert graph.has_edge(0, 1)


def test_a_restarted_broker_gets_its_links_back_as_they_were():
    overlay = Overlay(line(), lambda a, b: LinkSettings(delay=a + b))
    overlay.set_loss(1, 2, 0.25)
    overlay.crash(1)
    assert overlay.links() == [(2, 3)]
    assert overlay.revive(1) == [
        (0, LinkSettings(delay=1)),
        (2, LinkSettings(delay=3, loss=0.25)),
    ]


def test_a_link_between_two_crashed_brokers_comes_back_with_the_later_restart():
    for first, second in ((1, 2), (2, 1)):
        overlay = Overlay(line())
        overlay.crash(1)
        overlay.crash(2)
        overlay.restart(first)
        assert not overlay.graph.has_edge(1, 2)
        overlay.restart(second)
        assert overlay.links() == [(0, 1), (1, 2), (2, 3)]


def test_settings_of_a_link_that_is_made_without_any_are_those_of_the_beginning():
    overlay = Overlay(line(), lambda a, b: LinkSettings(delay=10 * a + b))
    overlay.join(3, 1, None, {})
    overlay.join(3, 0, LinkSettings(delay=99), {})
    assert overlay.settings(1, 3) == LinkSettings(delay=13)
    assert overlay.settings(0, 3) == LinkSettings(delay=99)
