"""What the base class does for every broker."""

import pytest

from pysim.brokers import Broker
from pysim.network import MemoryTransport, Observer, PlainBooks, Streams, World
from pysim.wire import Envelope
from pysim.wire.messages import Event, Flush, TopologyUpdate

from .laboratory import pattern


@pytest.fixture
def world() -> World:
    stream = Streams(1).stream("broker", 0)
    return World(0, MemoryTransport(), stream, Observer(), PlainBooks())


def test_messages_go_to_the_handler_of_their_type(world):
    class Handling(Broker):
        def on_flush(self, sender, envelope):
            heard.append(("flush", sender, envelope.message.reconfiguration))

        def on_topology_update(self, sender, envelope):
            heard.append(("update", sender, envelope.message.originator))

    heard: list[tuple[str, int, int]] = []
    broker = Handling(world)
    broker.receive(3, Envelope.seal(Flush(7), 1, 1))
    broker.receive(4, Envelope.seal(TopologyUpdate(9, 0, 0, ()), 1, 2))
    assert heard == [("flush", 3, 7), ("update", 4, 9)]


def test_a_message_without_a_handler_is_an_error(world):
    with pytest.raises(TypeError, match=r"^Broker has no handler for flush messages$"):
        Broker(world).receive(1, Envelope.seal(Flush(1), 1, 1))


def test_a_broker_must_say_how_it_publishes(world):
    with pytest.raises(NotImplementedError, match=r"^Broker does not say how it publishes$"):
        Broker(world).publish(0, Envelope.seal(Event({}), 0, 1))


def test_events_are_delivered_to_interested_local_clients(world):
    event = world.originate(Event({"body": "x"}))
    observer = world._records
    broker = Broker(world)
    broker.subscribe(4, pattern("x"))
    broker.subscribe(2, pattern("x"))
    broker.subscribe(3, pattern("y"))
    broker.unsubscribe(4, pattern("x"))
    observer.published(0, 0, event, 0)
    broker.deliver_locally(event)
    assert [row.client for row in observer.deliveries] == [2]


def test_a_mere_relay_does_not_decode_the_events_it_sees(world):
    header = Envelope.seal(Event({}), 0, 1).frame
    unreadable = Envelope.open(header[:3] + bytes([17]) + header[4:16] + b"\xc1")
    Broker(world).deliver_locally(unreadable)


def test_the_table_size_is_that_of_the_table_or_of_the_local_filters(world):
    broker = Broker(world)
    assert broker.table_size() == 0
    broker.subscribe(1, pattern("x"))
    broker.subscribe(2, pattern("x"))
    assert broker.table_size() == 1


def test_a_broker_that_does_not_advertise_takes_no_notice(world):
    broker = Broker(world)
    broker.advertise(1, pattern("x"))
    broker.unadvertise(1, pattern("x"))
    assert broker.routing_table() == {}
