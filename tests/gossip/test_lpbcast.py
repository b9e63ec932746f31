"""A gossip group delivers all to all who want it, whatever datagrams and members get lost."""

from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysim.gossip import NumberSet, PartialView
from pysim.wire import type_name

from .members import GROUP, Stage

FAST = {"interval": 1.0}


def numbers(member) -> list[int]:
    return sorted(number for _, number in member.log)


def types(stage: Stage) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in stage.network.counters():
        found[type_name(row.type)] = found.get(type_name(row.type), 0) + row.sent
    return found


def test_a_message_travels_to_one_member_in_a_round():
    """The exact messages of the smallest group there is."""
    stage = Stage(2, interval=10.0)
    stage.join_all(phase=5.0)
    stage.publish()
    stage[0].gossip._timer.cancel()
    stage[0].gossip._timer = None
    stage[0].gossip.start(phase=2.0)
    stage.after(4.0)
    assert stage[1].log == [(2.001, 1)]
    assert types(stage) == {"join": 1, "join-reply": 1, "gossip": 1}
    stage.after(10.0)
    assert types(stage) == {"join": 1, "join-reply": 1, "gossip": 3}
    assert stage[0].sent == [1, 0]
    assert stage[1].sent == [1]
    assert stage[1].log == [(2.001, 1)]


def test_everybody_gets_everything_once():
    stage = Stage(40, **FAST)
    stage.join_all()
    for _ in range(10):
        stage.publish(5)
        stage.after(0.7)
    stage.after(30)
    for member in stage.members()[1:]:
        assert numbers(member) == list(range(1, 51))
    assert stage[0].log == []
    assert sum(member.gossip.counters["lost"] for member in stage.members()) == 0


@pytest.mark.parametrize("loss", [0.2, 0.5, 1.0])
def test_retrieval_makes_up_for_lost_datagrams(loss):
    """If none arrives at all, silence makes members ask the publisher."""
    stage = Stage(20, 5, loss, **FAST)
    stage.join_all()
    stage.after(2)
    for _ in range(5):
        stage.publish(4)
        stage.after(0.7)
    stage.after(30)
    for member in stage.members()[1:]:
        assert numbers(member) == list(range(1, 21))
    if loss == 1.0:
        assert types(stage)["number-request"] > 0


def test_crashed_members_keep_nothing_from_others():
    stage = Stage(30, 2, **FAST)
    stage.join_all()
    stage.after(5)
    for broker in range(1, 11):
        stage.run.crash(broker)
    for _ in range(5):
        stage.publish(4)
        stage.after(0.9)
    stage.after(40)
    for member in stage.members()[1:]:
        assert numbers(member) == list(range(1, 21))


def test_who_joins_gets_what_it_asks_for_and_who_leaves_no_more():
    stage = Stage(12, 3, **FAST)
    for broker in range(1, 10):
        stage[broker].gossip.join(1)
    stage.publish(10)
    stage.after(3)
    stage[10].gossip.join(6, stage[3].gossip.view.members)
    stage[11].gossip.join(11)
    stage[4].gossip.leave()
    stage.after(5)
    stage.publish(5)
    stage.after(20)
    assert numbers(stage[10]) == list(range(6, 16))
    assert numbers(stage[11]) == list(range(11, 16))
    assert numbers(stage[4]) == list(range(1, 11))
    assert numbers(stage[5]) == list(range(1, 16))
    known = {broker for member in stage.members() for broker in member.gossip.view.members}
    assert 4 not in known


def test_who_stops_wanting_fetches_what_is_missing_at_once():
    stage = Stage(5, 3, interval=1000.0)
    stage.join_all()
    stage.publish(20)
    gossip = stage[2].gossip
    gossip.stop_wanting(12)
    stage.after(0.1)
    assert numbers(stage[2]) == list(range(1, 13))
    assert not gossip.missing()
    gossip.join(16)
    gossip.stop_wanting(18)
    stage.after(0.1)
    assert numbers(stage[2]) == [*range(1, 13), 16, 17, 18]


def test_what_the_publisher_has_forgotten_is_lost_and_counted():
    stage = Stage(3, 3, interval=1.0)
    stage.publish(20)
    stage[0].gossip.keep_from(11)
    stage.join_all()
    stage.after(30)
    assert numbers(stage[1]) == list(range(11, 21))
    assert stage[1].gossip.counters["lost"] == 10
    assert stage[1].gossip.lost == NumberSet([(1, 10)])


def test_large_messages_are_sent_in_several_datagrams():
    stage = Stage(2, interval=1.0)
    stage.join_all()
    sent = [bytes([number]) * 20_000 for number in range(1, 8)]
    got: dict[int, bytes] = {}
    stage[1].gossip._deliver = got.__setitem__
    for payload in sent:
        stage[0].gossip.publish(payload)
    stage.after(5)
    assert [got[number] for number in sorted(got)] == sent
    assert [count for count in stage[0].sent if count] == [2, 2, 2, 1]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6), st.sampled_from((0.0, 0.3)), st.integers(2, 15))
def test_whoever_comes_and_goes_gets_what_it_wanted_meanwhile(seed, loss, brokers):
    stage = Stage(brokers, seed, loss, **FAST)
    random = stage[0].world.random
    wanted: dict[int, set[int]] = {broker: set() for broker in range(1, brokers)}
    since: dict[int, int] = {}
    for _ in range(60):
        match random.choice("ppppjls"):
            case "p":
                stage.publish(random.randrange(1, 4))
            case "j":
                broker = random.randrange(1, brokers)
                if broker not in since:
                    since[broker] = stage[0].gossip.highest + 1
                    stage[broker].gossip.join(since[broker])
            case "l" | "s" if since:
                broker = random.choice(sorted(since))
                last = stage[0].gossip.highest
                wanted[broker] |= set(range(since.pop(broker), last + 1))
                stage[broker].gossip.stop_wanting(last)
        stage.after(random.choice((0.0, 0.01, 0.3, 1.5)))
    for broker, first in since.items():
        wanted[broker] |= set(range(first, stage[0].gossip.highest + 1))
    stage.after(30)
    for broker, expected in wanted.items():
        assert numbers(stage[broker]) == sorted(expected)


def test_views_are_close_to_uniform_samples():
    """A member is in as many views as others know by chance, and the group hangs together."""
    members, size = 120, 10
    stage = Stage(members, 4, view=size, interval=1.0)
    stage.join_all()
    stage.after(20)
    known = np.zeros(members)
    graph = nx.DiGraph()
    for _ in range(20):
        stage.after(5)
        for member in stage.members()[1:]:
            assert len(member.gossip.view.members) == size
            assert GROUP.origin in member.gossip.view.members
            for other in member.gossip.view.members:
                known[other] += 1
                graph.add_edge(member.world.id, other)
    often = known[1:] / 20
    mean = (members - 1) * (size - 1) / (members - 1)
    assert often.mean() == pytest.approx(mean, rel=0.05)
    assert often.std() < math_std(members, size)
    assert often.min() > 0
    assert nx.is_strongly_connected(graph.subgraph(range(1, members)))


def math_std(members: int, size: int) -> float:
    """Of the number of views that a member is in, if each were drawn anew: binomial."""
    chance = (size - 1) / (members - 2)
    return float(np.sqrt((members - 2) * chance * (1 - chance)))


def test_the_publisher_is_never_evicted():
    random = Random(1)
    view = PartialView(5, 0, 4, random)
    for _ in range(100):
        view.hear(random.choices(range(50), k=3), random.choices(range(50), k=2))
        assert 0 in view.members
        assert 5 not in view.members
        assert len(view.members) <= 4
        assert len(view.joined) <= 4
        view.end_round()


def test_who_left_is_not_taken_in_again_on_hearsay():
    view = PartialView(5, 0, 4, Random(1))
    view.hear([7])
    view.hear([], [7])
    view.hear([7])
    assert (view.members, view.left) == ((0,), (7,))
    view.welcome(7)
    assert (view.members, view.left) == ((0, 7), ())
