"""The hand-over between tree and gossip group, message by message."""

from pysim.wire.messages import Switch

from .scenes import Scene

LINE = [(0, 1), (1, 2)]
FORK = [(0, 1), (0, 2)]
ALL = "x < 99"


def scene(links, subscriptions, **options) -> Scene:
    return Scene(links, subscriptions, "popsub-gossip", **{"interval": 1.0, **options})


def kinds(stage: Scene) -> list[tuple[int, int, str, str]]:
    return [entry for entry in stage.take_log() if entry[3] not in ("gossip",)]


def test_a_flip_sends_a_switch_down_the_tree_and_subscribers_join():
    stage = scene(LINE, [(2, ALL)])
    stage.flip(1)
    stage.after(0.1)
    assert kinds(stage) == [
        (0, 1, "link", "switch"),
        (1, 2, "link", "switch"),
        (2, 0, "tcp", "join"),
        (0, 2, "tcp", "join-reply"),
    ]
    stage.publish(10, 20)
    stage.after(5)
    assert stage.got(2) == [(10, "gossip"), (20, "gossip")]
    assert stage.agent(1).counters["pure-forwards"] == 0
    assert {entry[2:] for entry in stage.take_log()} == {("udp", "gossip")}


def test_back_to_the_tree_fetches_what_is_pending_and_leaves():
    stage = scene(LINE, [(2, ALL)], interval=1000.0)
    stage.flip(1)
    stage.after(0.1)
    stage.publish(10, 20)
    stage.flip(1)
    stage.publish(30)
    stage.take_log()
    stage.after(0.1)
    assert sorted(stage.got(2)) == [(10, "gossip"), (20, "gossip"), (30, "tree")]
    assert kinds(stage) == [
        (1, 2, "link", "switch"),
        (1, 2, "link", "event"),
        (2, 0, "tcp", "retrieve"),
        (0, 2, "tcp", "retrieved"),
        (2, 0, "tcp", "leave"),
    ]
    assert not stage.agent(2).memberships[stage.agent(0).published.popitem()[0]].gossip.is_active


def test_gossip_that_comes_back_before_a_member_has_left_keeps_it():
    stage = scene(LINE, [(2, ALL)], interval=1000.0)
    for value in (10, 20, 30, 40, 50):
        stage.flip(1)
        stage.publish(value, value + 1)
    stage.after(1)
    stage.flip(1)
    stage.after(1)
    assert stage.agent(2).counters["lost"] == 0
    ways = dict(stage.got(2))
    assert sorted(value for value, _ in stage.got(2)) == [10, 11, 20, 21, 30, 31, 40, 41, 50, 51]
    assert {value: ways[value] for value in (10, 20, 30)} == {
        10: "gossip",
        20: "tree",
        30: "gossip",
    }


def test_a_subscription_on_a_gossiping_link_is_answered_and_the_answer_goes_its_way():
    stage = scene([(0, 1), (1, 2), (1, 3)], [(2, ALL)])
    stage.flip(1)
    stage.publish(10, 20)
    stage.after(5)
    stage.take_log()
    stage.network.frames.clear()
    stage.act("subscribe", 3, ALL, 9)
    stage.after(0.1)
    switches = [
        (source, target, envelope.message.number)
        for source, target, envelope in stage.network.frames
        if isinstance(envelope.message, Switch)
    ]
    assert switches == [(0, 1, 3), (1, 3, 3)]
    stage.publish(30)
    stage.after(10)
    assert stage.got(3) == [(30, "gossip")]


def test_who_has_no_subscription_left_leaves():
    stage = scene(LINE, [(1, ALL), (2, ALL)])
    stage.flip(1)
    stage.publish(10)
    stage.after(5)
    stage.take_log()
    stage.act("unsubscribe", 2, ALL, 1)
    stage.after(0.01)
    assert (2, 0, "tcp", "leave") in stage.take_log()
    stage.publish(20)
    stage.after(10)
    assert stage.got(2) == [(10, "gossip")]
    assert sorted(stage.got(1)) == [(10, "gossip"), (20, "gossip")]
    assert stage.run.observer.statement().is_exact


def test_who_subscribes_anew_while_a_switch_is_on_its_way_gets_nothing_twice():
    """Its link had no subscriber for a moment; the way of publications must outlast that."""
    stage = scene(FORK, [(1, ALL), (2, ALL)])
    stage.flip(1)
    stage.after(0.1)
    stage.flip(2)
    stage.act("unsubscribe", 2, ALL, 1)
    stage.act("subscribe", 2, ALL, 5)
    stage.after(0.1)
    stage.publish(20, 30)
    stage.after(20)
    assert sorted(stage.got(2)) == [(20, "gossip"), (30, "gossip")]
    assert stage.run.observer.statement().is_exact


def test_an_advertisement_that_goes_ends_its_group_first():
    stage = scene(LINE, [(2, ALL)], interval=1000.0)
    stage.flip(1)
    stage.after(0.1)
    stage.publish(10, 20)
    stage.act("unadvertise", 0, "x in [0, 99]")
    stage.after(1)
    assert sorted(stage.got(2)) == [(10, "gossip"), (20, "gossip")]
    assert stage.run.observer.statement().is_exact


def test_the_publisher_keeps_the_current_and_the_last_interval_of_each_link():
    stage = scene(FORK, [(1, ALL), (2, ALL)])

    def kept() -> list[int]:
        stage.after(61)
        (group,) = stage.agent(0).published.values()
        return sorted(group.gossip._cache)

    stage.flip(1)
    stage.publish(1, 2)
    stage.flip(1)
    stage.flip(1)
    stage.publish(3)
    assert kept() == [1, 2, 3]
    stage.flip(1)
    stage.flip(1)
    stage.publish(4)
    assert kept() == [3, 4]
    stage.flip(2)
    stage.flip(1)
    stage.flip(1)
    assert kept() == [4]


def test_with_order_what_the_tree_brings_waits_for_the_group():
    plain, ordered = (
        scene(LINE, [(2, ALL)], interval=1000.0, order=order) for order in (False, True)
    )
    for stage in (plain, ordered):
        stage.publish(5)
        stage.flip(1)
        stage.publish(10, 20)
        stage.flip(1)
        stage.publish(30)
        stage.after(1)
    assert [value for value, _ in ordered.got(2)] == [5, 10, 20, 30]
    assert [value for value, _ in plain.got(2)] == [5, 30, 10, 20]
