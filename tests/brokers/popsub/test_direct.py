"""Direct Delivery, message by message."""

from .scenes import Scene

ALL = "x < 99"
TREE = [(0, 1), (1, 2), (1, 3), (0, 4)]


def test_an_unpopular_publication_goes_to_each_broker_that_wants_it_and_no_further():
    stage = Scene(
        TREE, [(2, ALL), (2, "x < 50"), (3, "x < 50"), (3, "x > 90"), (4, ALL)], "popsub-direct"
    )
    stage.flip(1)
    stage.publish(60)
    stage.after(0.1)
    assert stage.take_log() == [(0, 4, "link", "event"), (0, 2, "tcp", "direct-event")]
    stage.publish(20)
    stage.after(0.1)
    assert stage.take_log() == [
        (0, 4, "link", "event"),
        (0, 2, "tcp", "direct-event"),
        (0, 3, "tcp", "direct-event"),
    ]
    assert stage.got(2) == [(60, "direct"), (20, "direct"), (20, "direct")]
    assert stage.got(3) == [(20, "direct")]
    assert stage.got(4) == [(60, "tree"), (20, "tree")]
    agent = stage.agent(0)
    records = [row.value for row in stage.run.observer.records if row.name == "direct-forwards"]
    assert (agent.counters["direct-forwards"], records) == (3, [1, 2])
    work = agent.take_work()
    assert (work["messages"], work["direct"]) == (2, 3)
    assert stage.agent(1).counters["pure-forwards"] == 0


def test_the_gain_ratio_counts_direct_forwards_as_one():
    stage = Scene([(0, 1), (1, 2)], [(2, ALL), (2, ALL)], "popsub-direct")
    stage.publish(10)
    counters = stage.agent(0).counters
    assert (counters["gain"], counters["gain-forwards"]) == (2 / 2, 1)
    stage.flip(1)
    stage.publish(20)
    assert (counters["gain"], counters["gain-forwards"]) == (2, 2)


def test_with_order_direct_publications_and_the_tree_wait_for_each_other():
    """The connection of a first direct message takes three ways; the tree is faster then."""
    got = {}
    for order in (False, True):
        stage = Scene([(0, 1), (1, 2)], [(2, ALL)], "popsub-direct", order=order)
        stage.publish(5)
        stage.flip(1)
        stage.publish(10, 20)
        stage.flip(1)
        stage.publish(30)
        stage.after(1)
        got[order] = [value for value, _ in stage.got(2)]
    assert got == {False: [5, 30, 10, 20], True: [5, 10, 20, 30]}


def test_with_order_who_subscribes_meanwhile_is_told():
    stage = Scene([(0, 1), (1, 2), (1, 3)], [(2, ALL)], "popsub-direct", order=True)
    stage.flip(1)
    stage.publish(10)
    stage.act("subscribe", 3, ALL, 7)
    stage.after(0.1)
    stage.publish(20)
    stage.flip(1)
    stage.publish(30)
    stage.after(1)
    assert stage.got(3) == [(20, "direct"), (30, "tree")]
    assert stage.got(2) == [(10, "direct"), (20, "direct"), (30, "tree")]
