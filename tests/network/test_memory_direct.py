"""Messages off the overlay on the memory network: ways, handshakes, datagrams and their loss."""

import pytest

from pysim.network.transport import LinkSettings

from .fakes import Stage, frame

pytestmark = pytest.mark.usefixtures("either_post")


def direct(stage: Stage, source: int, target: int, text: str, protocol: str = "udp") -> None:
    stage.network.send_direct(source, target, frame(text), protocol)


def test_a_datagram_takes_the_shortest_way_by_delay():
    r"""The way 0-2-3 has fewer links than 0-1-... only by count: 1 ms beats 10 ms.

    0 --1ms-- 1 --1ms-- 2
     \_______10ms______/
    """
    stage = Stage(3)
    for a, b, delay in ((0, 1, 0.001), (1, 2, 0.001), (0, 2, 0.010)):
        stage.network.connect(a, b, LinkSettings(delay=delay))
    stage.run(200)
    direct(stage, 0, 2, "x")
    assert stage.run(300) == [(202.0, 2, "got", 0, "x")]


def test_an_ip_way_exists_before_the_overlay_link_has_shaken_hands():
    stage = Stage(2)
    stage.network.connect(0, 1)
    direct(stage, 0, 1, "x")
    assert stage.run(103)[0] == (102.0, 1, "got", 0, "x")


def test_the_first_tcp_message_of_a_pair_waits_for_a_handshake_and_later_ones_do_not():
    stage = Stage(3, (0, 1), (1, 2))
    direct(stage, 0, 2, "first", "tcp")
    assert stage.run(200) == [(160.0, 2, "got", 0, "first")]
    direct(stage, 0, 2, "second", "tcp")
    direct(stage, 2, 0, "other direction", "tcp")
    assert stage.run(300) == [
        (220.0, 2, "got", 0, "second"),
        (260.0, 0, "got", 2, "other direction"),
    ]


def test_tcp_messages_behind_a_handshake_keep_their_order():
    stage = Stage(2, (0, 1))
    direct(stage, 0, 1, "a", "tcp")
    direct(stage, 0, 1, "b", "tcp")
    assert stage.run(200) == [(130.0, 1, "got", 0, "a"), (130.0, 1, "got", 0, "b")]


def test_tcp_messages_keep_their_order_when_a_shorter_way_appears():
    stage = Stage(3, (0, 1), (1, 2))
    direct(stage, 0, 2, "warm up", "tcp")
    stage.run(200)
    direct(stage, 0, 2, "long way", "tcp")
    stage.network.connect(0, 2, LinkSettings(delay=0.001))
    stage.run(205)
    direct(stage, 0, 2, "short way", "tcp")
    happened = [entry for entry in stage.run(300) if entry[2] == "got"]
    assert happened == [(220.0, 2, "got", 0, "long way"), (220.0, 2, "got", 0, "short way")]


def test_datagrams_do_not_wait_for_each_other():
    stage = Stage(3, (0, 1), (1, 2))
    direct(stage, 0, 2, "long way")
    stage.network.connect(0, 2, LinkSettings(delay=0.001))
    stage.run(104)
    direct(stage, 0, 2, "short way")
    assert stage.run(300) == [(105.0, 2, "got", 0, "short way"), (120.0, 2, "got", 0, "long way")]


def test_a_crash_of_either_end_ends_the_connection():
    stage = Stage(3, (0, 1), (0, 2))
    direct(stage, 0, 1, "a", "tcp")
    stage.run(200)
    for broker in (1, 0):
        stage.network.crash(broker)
        stage.network.restart(broker)
        stage.network.connect(0, 1, LinkSettings(delay=0.010))
        start = stage.network.now / 1e6
        stage.run(start + 50)
        direct(stage, 0, 1, "b", "tcp")
        assert stage.run(start + 100) == [(start + 80, 1, "got", 0, "b")]


def test_what_cannot_be_reached_is_lost_for_want_of_a_link():
    stage = Stage(3, (0, 1))
    direct(stage, 0, 2, "a", "tcp")
    direct(stage, 0, 2, "b", "udp")
    stage.network.crash(1)
    direct(stage, 0, 1, "c", "tcp")
    stage.run(200)
    assert stage.counts() == {
        (0, 1, "tcp"): (1, 0, 1, 0, 0),
        (0, 2, "tcp"): (1, 0, 1, 0, 0),
        (0, 2, "udp"): (1, 0, 1, 0, 0),
    }


def test_a_crash_loses_direct_messages_on_their_way_to_it_even_if_it_is_back_in_time():
    stage = Stage(2, (0, 1))
    direct(stage, 0, 1, "a", "tcp")
    direct(stage, 0, 1, "b", "udp")
    stage.run(105)
    stage.network.crash(1)
    stage.network.restart(1)
    assert stage.run(200) == [(105.0, 0, "down", 1)]
    assert stage.counts() == {(0, 1, "tcp"): (1, 0, 1, 0, 0), (0, 1, "udp"): (1, 0, 1, 0, 0)}


def test_a_cut_link_does_not_stop_what_is_on_its_way_off_the_overlay():
    stage = Stage(2, (0, 1))
    direct(stage, 0, 1, "x")
    stage.network.disconnect(0, 1)
    assert stage.run(200)[-1] == (110.0, 1, "got", 0, "x")


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_nobody_sends_a_direct_message_to_itself(protocol):
    with pytest.raises(ValueError, match=r"^broker 0 cannot send a direct message to itself$"):
        direct(Stage(1), 0, 0, "x", protocol)


def test_a_direct_message_to_nobody_is_an_error():
    with pytest.raises(ValueError, match=r"^there is no broker 5$"):
        direct(Stage(1), 0, 5, "x")


def lossy_run(seed: int, hops: int = 2, loss: float = 0.1, datagrams: int = 20_000) -> int:
    """How many datagrams are lost on a line of links that each lose that share."""
    stage = Stage(hops + 1, seed=seed)
    for a in range(hops):
        stage.network.connect(a, a + 1, LinkSettings(loss=loss))
    for _ in range(datagrams):
        direct(stage, 0, hops, "x")
    stage.run(200)
    ((sent, received, lost_link, lost_packet, unfinished),) = stage.counts().values()
    assert (sent, lost_link, unfinished) == (datagrams, 0, 0)
    assert received + lost_packet == sent
    return lost_packet


def test_losses_add_up_along_the_way():
    assert lossy_run(seed=1) / 20_000 == pytest.approx(1 - 0.9**2, rel=0.05)
    assert lossy_run(seed=1, hops=5) / 20_000 == pytest.approx(1 - 0.9**5, rel=0.05)
    assert lossy_run(seed=1, loss=1.0, datagrams=10) == 10


def test_the_same_seed_loses_the_same_datagrams_and_another_seed_others():
    assert lossy_run(seed=1) == lossy_run(seed=1)
    assert lossy_run(seed=1) != lossy_run(seed=2)


def test_tcp_and_overlay_links_deliver_in_spite_of_losses():
    stage = Stage(2)
    stage.network.connect(0, 1, LinkSettings(loss=0.9))
    stage.run(200)
    for _ in range(50):
        stage.send(0, 1, "x")
        direct(stage, 0, 1, "x", "tcp")
    stage.run(300)
    assert stage.counts() == {(0, 1, "link"): (50, 50, 0, 0, 0), (0, 1, "tcp"): (50, 50, 0, 0, 0)}


def test_a_changed_loss_rate_holds_from_then_on():
    stage = Stage(2, (0, 1))
    stage.network.set_loss(1, 0, 1.0)
    direct(stage, 0, 1, "lost")
    stage.network.set_loss(0, 1, 0.0)
    direct(stage, 0, 1, "kept")
    assert stage.run(200) == [(110.0, 1, "got", 0, "kept")]
    with pytest.raises(ValueError, match=r"^loss\(=-0.1\) should be between 0 and 1$"):
        stage.network.set_loss(0, 1, -0.1)
    with pytest.raises(ValueError, match=r"^there is no link between brokers 0 and 9$"):
        stage.network.set_loss(0, 9, 0.1)


def test_on_an_underlay_the_latency_function_rules_and_overlay_links_do_not_matter():
    def latency(source: int, target: int) -> float | None:
        return None if target == 2 else 0.001 * (1 + source)

    stage = Stage(3, (0, 1), latency=latency)
    direct(stage, 0, 1, "a")
    direct(stage, 1, 0, "b")
    direct(stage, 0, 2, "c")
    direct(stage, 2, 0, "d", "tcp")
    assert stage.run(200) == [
        (101.0, 1, "got", 0, "a"),
        (102.0, 0, "got", 1, "b"),
        (109.0, 0, "got", 2, "d"),
    ]
    assert stage.counts()[0, 2, "udp"] == (1, 0, 1, 0, 0)


def test_on_an_underlay_datagrams_have_one_loss_rate():
    stage = Stage(2, latency=lambda source, target: 0.001, loss=1.0)
    direct(stage, 0, 1, "x")
    direct(stage, 0, 1, "y", "tcp")
    assert stage.run(200) == [(103.0, 1, "got", 0, "y")]
    assert stage.counts()[0, 1, "udp"] == (1, 0, 0, 1, 0)
