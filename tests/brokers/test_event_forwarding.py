r"""Event forwarding on five brokers:

0 --- 1 --- 2
      |
      3 --- 4
"""

from .laboratory import Laboratory

TREE = [(0, 1), (1, 2), (1, 3), (3, 4)]


def test_an_event_floods_the_tree_once_and_subscriptions_cost_nothing():
    lab = Laboratory(TREE, "event-forwarding")
    lab.at(20, "4 subscribe x")
    lab.at(20, "0.7 subscribe x")
    lab.at(30, "2 publish axe")
    assert lab.look(100) == [
        (30.0, 2, 1, "EVENT axe"),
        (31.0, 1, 0, "EVENT axe"),
        (31.0, 1, 3, "EVENT axe"),
        (32.0, 3, 4, "EVENT axe"),
    ]
    assert lab.deliveries() == [(32.0, 0, 7), (33.0, 4, 0)]


def test_an_event_is_matched_where_its_clients_are():
    lab = Laboratory(TREE, "event-forwarding")
    lab.at(20, "4 subscribe x")
    lab.at(30, "4 publish none")
    lab.at(40, "4 publish x")
    lab.at(50, "4 unsubscribe x")
    lab.at(60, "4 publish x")
    lab.look(100)
    assert lab.deliveries() == [(40.0, 4, 0)]
    assert lab.simulation.observer.statement().is_exact


def test_every_event_crosses_every_link_once_whoever_publishes():
    lab = Laboratory(TREE, "event-forwarding")
    for broker in range(5):
        lab.at(20, f"{broker} publish x")
    assert len(lab.look(100)) == 5 * len(TREE)


def test_bytes_are_passed_on_as_they_came():
    lab = Laboratory(TREE, "event-forwarding")
    lab.at(20, "2 publish x")
    lab.look(100)
    books = [host.books for host in lab.simulation.hosts.values()]
    checksums = {checksum for book in books for checksum in book.contents.values()}
    assert len(checksums) == 1


def test_after_a_link_has_gone_events_stay_on_their_side():
    lab = Laboratory(TREE, "event-forwarding")
    lab.simulation.cut(1, 3, {})
    lab.at(20, "4 publish x")
    assert lab.look(100) == [(20.0, 4, 3, "EVENT x")]
