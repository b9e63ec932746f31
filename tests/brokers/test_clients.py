"""The subscriptions of local clients."""

from pysim.brokers import LocalClients

from .laboratory import pattern

X, Y = pattern("x"), pattern("y")


def test_the_first_client_of_a_filter_and_the_last_are_told_apart():
    clients = LocalClients()
    assert clients.add(1, X) is True
    assert clients.add(2, X) is False
    assert clients.add(1, Y) is True
    assert clients.remove(1, X) is False
    assert clients.remove(2, X) is True
    assert clients.add(2, X) is True


def test_adding_twice_and_removing_what_is_not_there_change_nothing():
    clients = LocalClients()
    clients.add(1, X)
    assert clients.add(1, X) is False
    assert clients.remove(2, X) is False
    assert clients.remove(1, Y) is False
    assert len(clients) == 1
    assert clients.remove(1, X) is True
    assert clients.remove(1, X) is False
    assert len(clients) == 0


def test_an_event_is_for_each_interested_client_once_in_ascending_order():
    clients = LocalClients()
    for client in (9, 3, 5):
        clients.add(client, X)
    clients.add(3, Y)
    clients.add(7, Y)
    assert clients.interested({"body": "xy"}) == [3, 5, 7, 9]
    assert clients.interested({"body": "y"}) == [3, 7]
    assert clients.interested({"body": "z"}) == []


def test_filters_come_in_the_order_of_their_first_client():
    clients = LocalClients()
    clients.add(1, Y)
    clients.add(1, X)
    clients.add(2, Y)
    assert list(clients.filters()) == [Y, X]
    assert X in clients
    clients.remove(1, X)
    assert X not in clients
