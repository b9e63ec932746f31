"""The world of an agent, and the streams of chance in it."""

import pytest

from pysim.network.agent_books import PlainBooks
from pysim.network.memory import MemoryTransport
from pysim.network.streams import Streams
from pysim.network.world import World
from pysim.wire import Envelope
from pysim.wire.messages import Event, Flush


class Notes:
    """Records as plain lists."""

    def __init__(self) -> None:
        self.deliveries: list[tuple] = []
        self.values: list[tuple] = []

    def delivered(self, broker, client, envelope, time, way=""):
        self.deliveries.append((broker, client, envelope.id, time, way))

    def delivered_to_all(self, broker, clients, envelope, time, way=""):
        for client in clients:
            self.delivered(broker, client, envelope, time, way)

    def recorded(self, broker, name, value, time):
        self.values.append((broker, name, value, time))


@pytest.fixture
def network() -> MemoryTransport:
    return MemoryTransport()


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def books() -> PlainBooks:
    return PlainBooks()


@pytest.fixture
def world(network, notes, books) -> World:
    return World(3, network, Streams(1).stream("broker", 3), notes, books)


def test_time_is_in_seconds(network, world):
    network.run(1_500_000_000)
    assert world.now == 1.5


def test_new_messages_get_running_numbers_of_their_broker(world):
    assert [world.originate(Flush(0)).id for _ in range(3)] == [(3, 1), (3, 2), (3, 3)]


def test_timers_are_in_seconds_and_can_be_cancelled(network, world):
    fired: list[float] = []
    world.schedule(0.5, lambda: fired.append(world.now))
    world.schedule(0.7, lambda: fired.append(world.now)).cancel()
    network.run(10**9)
    assert fired == [0.5]


def test_a_timer_in_the_past_is_an_error(world):
    with pytest.raises(ValueError, match=r"^delay\(=-0.1\) should be >= 0 seconds$"):
        world.schedule(-0.1, lambda: None)


def test_deliveries_and_records_carry_broker_and_time(network, world, notes):
    network.run(7)
    world.deliver(5, Envelope.seal(Event({}), 1, 2))
    world.deliver(6, Envelope.seal(Event({}), 1, 2), "by hand")
    world.record("table", 12.0)
    assert notes.deliveries == [(3, 5, (1, 2), 7, ""), (3, 6, (1, 2), 7, "by hand")]
    assert notes.values == [(3, "table", 12.0, 7)]


def test_a_message_that_cannot_be_sent_is_not_booked(network, world, books):
    network.attach(3, None, False)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^broker 3 has no link to broker 4$"):
        world.send(4, Flush(1))
    assert books.sent == books.contents == {}


def test_streams_are_split_by_purpose_and_seed():
    def draw(seed: int, *purpose: str | int) -> float:
        return Streams(seed).stream(*purpose).random()

    assert draw(1, "broker", 3) == draw(1, "broker", 3)
    values = {
        draw(1, "broker", 3),
        draw(2, "broker", 3),
        draw(1, "broker", 4),
        draw(1, "workload", 3),
        draw(1, "broker"),
    }
    assert len(values) == 5


def test_a_draw_from_one_stream_moves_no_other():
    streams = Streams(1)
    expected = streams.stream("b").random()
    streams.stream("a").random()
    assert streams.stream("b").random() == expected


def test_streams_are_the_same_on_every_machine():
    assert Streams(42).stream("broker", 7).getrandbits(64) == 3261187398738696044
