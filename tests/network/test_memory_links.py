"""Overlay links of the memory network: handshakes, order, loss, and what their ends hear."""

import pytest

from pysim.network.memory import MemoryTransport
from pysim.network.transport import LinkSettings

from .fakes import SLOW, Recorder, Stage, frame

pytestmark = pytest.mark.usefixtures("either_post")


def test_the_lower_end_is_up_after_a_round_trip_and_the_other_when_the_ack_arrives():
    stage = Stage(2)
    stage.network.connect(1, 0, SLOW)
    assert stage.run(200) == [(120.0, 0, "up", 1), (130.0, 1, "up", 0)]


def test_a_frame_takes_the_delay_of_its_link():
    stage = Stage(3, (0, 1))
    stage.network.connect(1, 2, LinkSettings(delay=0.0015))
    stage.run(200)
    stage.send(0, 1, "slow")
    stage.send(1, 2, "quick")
    assert stage.run(300) == [(201.5, 2, "got", 1, "quick"), (210.0, 1, "got", 0, "slow")]


def test_a_link_keeps_order_in_each_direction():
    stage = Stage(2, (0, 1))
    for text in "abc":
        stage.send(0, 1, text)
        stage.send(1, 0, text.upper())
    assert stage.run(200) == [
        (110.0, broker, "got", 1 - broker, text)
        for pair in ("aA", "bB", "cC")
        for broker, text in zip((1, 0), pair, strict=True)
    ]


def test_what_is_sent_on_link_up_arrives_after_the_other_end_heard_of_the_link():
    stage = Stage(2)
    for host in stage.hosts:
        host.on_up = lambda neighbor, host=host: stage.send(host.broker, neighbor, "hello")
    stage.network.connect(0, 1, SLOW)
    assert stage.run(200) == [
        (120.0, 0, "up", 1),
        (130.0, 1, "up", 0),
        (130.0, 1, "got", 0, "hello"),
        (140.0, 0, "got", 1, "hello"),
    ]


def test_a_link_without_delay_is_up_at_once_in_the_same_order():
    stage = Stage(2)
    stage.hosts[0].on_up = lambda neighbor: stage.send(0, 1, "hello")
    stage.network.connect(0, 1, LinkSettings(delay=0.0))
    assert stage.run(100) == [
        (100.0, 0, "up", 1),
        (100.0, 1, "up", 0),
        (100.0, 1, "got", 0, "hello"),
    ]


def test_an_end_cannot_send_before_it_heard_of_the_link():
    stage = Stage(2)
    stage.network.connect(0, 1, SLOW)
    stage.run(125)
    stage.send(0, 1, "early bird")
    with pytest.raises(ValueError, match=r"^broker 1 has no link to broker 0$"):
        stage.send(1, 0, "too early")


def test_sending_without_a_link_is_an_error():
    stage = Stage(3, (0, 1))
    with pytest.raises(ValueError, match=r"^broker 0 has no link to broker 2$"):
        stage.send(0, 2, "x")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (0, 1, "brokers 0 and 1 are linked already"),
        (1, 0, "brokers 0 and 1 are linked already"),
        (2, 2, "broker 2 cannot be linked to itself"),
        (2, 9, "there is no broker 9"),
        (2, 3, "brokers 2 and 3 cannot be linked: broker 3 is down"),
    ],
)
def test_impossible_links_are_refused(a, b, message):
    stage = Stage(4, (0, 1))
    stage.network.crash(3)
    with pytest.raises(ValueError, match=rf"^{message}$"):
        stage.network.connect(a, b)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (LinkSettings(delay=-1), r"delay\(=-1\) should be >= 0 seconds"),
        (LinkSettings(loss=1.5), r"loss\(=1.5\) should be between 0 and 1"),
    ],
)
def test_impossible_link_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=rf"^{message}$"):
        Stage(2).network.connect(0, 1, settings)


def test_cutting_a_link_that_is_not_there_is_an_error():
    stage = Stage(3, (0, 1))
    with pytest.raises(ValueError, match=r"^there is no link between brokers 0 and 2$"):
        stage.network.disconnect(0, 2)


def test_a_cut_link_loses_what_is_in_flight_and_both_ends_hear_at_once():
    stage = Stage(2, (0, 1))
    stage.send(0, 1, "a")
    stage.run(105)
    stage.send(1, 0, "b")
    stage.network.disconnect(1, 0)
    assert stage.run(200) == [(105.0, 0, "down", 1), (105.0, 1, "down", 0)]
    assert stage.counts() == {(0, 1, "link"): (1, 0, 1, 0, 0), (1, 0, "link"): (1, 0, 1, 0, 0)}


def test_a_link_cut_before_anyone_heard_of_it_is_cut_silently():
    stage = Stage(2)
    stage.network.connect(0, 1, SLOW)
    stage.at(110, lambda: stage.network.disconnect(0, 1))
    assert stage.run(200) == []


def test_a_link_cut_when_one_end_heard_of_it_goes_down_at_that_end_only():
    stage = Stage(2)
    stage.network.connect(0, 1, SLOW)
    stage.at(125, lambda: stage.network.disconnect(0, 1))
    assert stage.run(200) == [(120.0, 0, "up", 1), (125.0, 0, "down", 1)]


def test_frames_of_an_old_link_never_arrive_over_its_successor():
    stage = Stage(2, (0, 1))
    stage.hosts[0].on_up = lambda neighbor: stage.send(0, 1, "new")
    stage.send(0, 1, "old")
    stage.network.disconnect(0, 1)
    stage.network.connect(0, 1, LinkSettings(delay=0.001))
    assert stage.run(200) == [
        (100.0, 0, "down", 1),
        (100.0, 1, "down", 0),
        (102.0, 0, "up", 1),
        (103.0, 1, "up", 0),
        (103.0, 1, "got", 0, "new"),
    ]


def test_the_handshake_of_an_old_link_does_not_raise_its_successor():
    stage = Stage(2)
    stage.network.connect(0, 1, SLOW)
    stage.run(115)
    stage.network.disconnect(0, 1)
    stage.network.connect(0, 1, SLOW)
    assert stage.run(200) == [(135.0, 0, "up", 1), (145.0, 1, "up", 0)]


def test_a_crash_takes_all_links_down_at_once_and_the_broker_hears_nothing():
    stage = Stage(4, (0, 1), (1, 2), (1, 3))
    stage.send(0, 1, "to the dead")
    stage.send(1, 2, "from the dead")
    stage.at(105, lambda: stage.network.crash(1))
    assert stage.run(200) == [(105.0, n, "down", 1) for n in (0, 2, 3)]
    assert stage.counts() == {(0, 1, "link"): (1, 0, 1, 0, 0), (1, 2, "link"): (1, 0, 1, 0, 0)}


def test_when_the_first_neighbor_hears_of_a_crash_all_links_are_gone():
    stage = Stage(4, (0, 1), (1, 2), (1, 3))
    stage.hosts[0].on_down = lambda neighbor: stage.network.send_direct(0, 3, frame("x"), "udp")
    stage.network.crash(1)
    stage.run(200)
    assert stage.counts() == {(0, 3, "udp"): (1, 0, 1, 0, 0)}


def test_a_neighbor_that_had_not_heard_of_the_link_does_not_hear_of_the_crash():
    stage = Stage(2)
    stage.network.connect(0, 1, SLOW)
    stage.at(125, lambda: stage.network.crash(0))
    assert stage.run(200) == [(120.0, 0, "up", 1)]


def test_a_restarted_broker_can_be_linked_again():
    stage = Stage(2, (0, 1))
    stage.network.crash(0)
    stage.network.restart(0)
    stage.network.connect(0, 1, SLOW)
    assert stage.run(200) == [
        (100.0, 1, "down", 0),
        (120.0, 0, "up", 1),
        (130.0, 1, "up", 0),
    ]


def test_crashing_twice_and_restarting_the_living_are_errors():
    stage = Stage(2)
    with pytest.raises(ValueError, match=r"^broker 0 is not down$"):
        stage.network.restart(0)
    stage.network.crash(0)
    with pytest.raises(ValueError, match=r"^broker 0 is down already$"):
        stage.network.crash(0)
    with pytest.raises(ValueError, match=r"^there is no broker 7$"):
        stage.network.crash(7)


def test_a_broker_is_attached_once():
    network = MemoryTransport()
    network.attach(3, Recorder(3, network, []), False)
    with pytest.raises(ValueError, match=r"^broker 3 is attached already$"):
        network.attach(3, Recorder(3, network, []), False)


def test_a_malformed_frame_is_counted_and_closes_its_link_and_no_other():
    stage = Stage(3, (0, 1), (0, 2))
    stage.network.malformed(0, 1)
    stage.network.malformed(0, 1)  # off the overlay by now: there is nothing to close
    assert stage.run(200) == [(100.0, 0, "down", 1), (100.0, 1, "down", 0)]
    assert stage.network.malformed_frames == 2


def test_counters_come_in_a_stable_order_by_source_target_channel_and_type():
    stage = Stage(3, (0, 1), (1, 2))
    for source, target, kind in ((1, 2, 9), (1, 0, 5), (0, 1, 7), (1, 0, 3)):
        stage.network.send(source, target, frame("x", kind))
    stage.network.send_direct(0, 1, frame("x"), "udp")
    rows = stage.network.counters()
    assert [row[:4] for row in rows] == [
        (0, 1, "link", 7),
        (0, 1, "udp", 5),
        (1, 0, "link", 3),
        (1, 0, "link", 5),
        (1, 2, "link", 9),
    ]
    assert {row.unfinished for row in rows} == {1}


def test_counters_count_bytes():
    stage = Stage(2, (0, 1))
    stage.send(0, 1, "four")
    (row,) = stage.network.counters()
    assert (row.sent_bytes, row.received_bytes) == (10, 0)
    stage.run(200)
    (row,) = stage.network.counters()
    assert (row.sent_bytes, row.received_bytes) == (10, 10)


def test_a_frame_too_short_for_a_type_counts_as_type_zero():
    stage = Stage(2, (0, 1))
    stage.network.send(0, 1, b"abc")
    assert stage.network.counters()[0].type == 0


def run_of_two_frames(first: str, delay: float) -> str:
    stage = Stage(2, (0, 1))
    stage.send(0, 1, first)
    stage.at(100 + delay, lambda: stage.send(1, 0, "b"))
    stage.run(200)
    return stage.network.timing_fingerprint()


def test_the_timing_fingerprint_sees_times_and_lengths_but_not_contents():
    reference = run_of_two_frames("aaa", 5)
    assert run_of_two_frames("aaa", 5) == reference
    assert run_of_two_frames("bbb", 5) == reference
    assert run_of_two_frames("aa", 5) != reference
    assert run_of_two_frames("aaa", 6) != reference


def test_a_closed_network_has_nothing_left_to_do():
    stage = Stage(2, (0, 1))
    stage.send(0, 1, "x")
    stage.network.close()
    assert stage.run(200) == []
