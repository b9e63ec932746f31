"""The service model on the memory network: an input queue, one server, and closed forms."""

import pytest

from pysim.network.memory import MemoryTransport
from pysim.network.streams import Streams
from pysim.network.transport import LinkSettings, QueueReport

from .fakes import MS, Recorder, Stage

pytestmark = pytest.mark.usefixtures("either_post")


def served(brokers: int, *links: tuple[int, int], service: float = 4.0) -> Stage:
    """A stage on which every piece of input costs that many milliseconds."""
    stage = Stage(brokers, *links, service=True)
    for host in stage.hosts:
        host.service = round(service * MS)
    return stage


def test_frames_wait_for_the_server_in_the_order_of_their_arrival():
    stage = served(3, (0, 1), (1, 2))
    stage.send(0, 1, "a")
    stage.send(2, 1, "b")
    stage.at(102, lambda: stage.send(0, 1, "c"))
    assert stage.run(200) == [
        (110.0, 1, "got", 0, "a"),
        (114.0, 1, "got", 2, "b"),
        (118.0, 1, "got", 0, "c"),
    ]
    report = stage.network.queues()[1]
    assert report == (1, 3, 12 * MS, (0 + 4 + 6) * MS, 2, 0, 2, 1 + 2)


def test_what_a_message_triggers_leaves_when_its_service_ends():
    stage = served(3, (0, 1), (1, 2))
    stage.hosts[1].on_frame = lambda sender, text: stage.send(1, 2, text)
    stage.send(0, 1, "a")
    assert stage.run(200) == [(110.0, 1, "got", 0, "a"), (124.0, 2, "got", 1, "a")]


def test_direct_messages_are_held_too_and_take_the_way_of_their_departure():
    stage = served(3, (0, 1), (1, 2), (0, 2))
    stage.hosts[1].on_frame = lambda sender, text: stage.network.send_direct(
        1, 2, b"\0\0\0\0\0\x05" + text.encode(), "udp"
    )
    stage.send(0, 1, "a")
    stage.at(112, lambda: stage.network.disconnect(1, 2))
    happened = [entry for entry in stage.run(200) if entry[2] == "got"]
    assert happened == [(110.0, 1, "got", 0, "a"), (134.0, 2, "got", 1, "a")]


def test_local_work_waits_like_a_message():
    stage = served(2, (0, 1))
    stage.send(0, 1, "a")
    stage.at(111, lambda: stage.network.submit(1, lambda: stage.send(1, 0, "b")))
    assert stage.run(200) == [
        (110.0, 1, "got", 0, "a"),
        (114.0, 1, "work"),
        (128.0, 0, "got", 1, "b"),
    ]


def test_link_changes_and_timers_do_not_wait():
    stage = served(3, (0, 1), service=50)
    stage.send(0, 1, "a")
    stage.at(112, lambda: stage.network.connect(1, 2, LinkSettings(delay=0.001)))
    assert stage.run(200) == [
        (110.0, 1, "got", 0, "a"),
        (114.0, 1, "up", 2),
        (115.0, 2, "up", 1),
    ]


def test_what_a_timer_sends_does_not_overtake_the_message_in_service():
    """Else a neighbor would hear the consequence of a link's loss before what led up to it."""
    stage = served(2, (0, 1))
    stage.hosts[1].on_frame = lambda sender, text: stage.send(1, 0, "answer")
    stage.send(0, 1, "a")
    stage.at(112, lambda: stage.send(1, 0, "timer"))
    got = [entry for entry in stage.run(200) if entry[1] == 0]
    assert got == [(124.0, 0, "got", 1, "answer"), (128.0, 0, "got", 1, "timer")]


def test_what_is_held_for_a_link_that_goes_is_lost():
    stage = served(3, (0, 1), (1, 2))
    stage.hosts[1].on_frame = lambda sender, text: stage.send(1, 2, text)
    stage.send(0, 1, "a")
    stage.at(112, lambda: stage.network.disconnect(1, 2))
    stage.run(200)
    assert stage.counts()[1, 2, "link"] == (1, 0, 1, 0, 0)


def test_what_is_held_for_a_link_that_goes_does_not_leave_over_its_successor():
    stage = served(3, (0, 1), (1, 2), service=50)
    stage.hosts[1].on_frame = lambda sender, text: stage.send(1, 2, text)
    stage.send(0, 1, "a")
    stage.at(112, lambda: stage.network.disconnect(1, 2))
    stage.at(113, lambda: stage.network.connect(1, 2, LinkSettings(delay=0.001)))
    assert [entry for entry in stage.run(300) if entry[2] == "got"] == [(110.0, 1, "got", 0, "a")]
    assert stage.counts()[1, 2, "link"] == (1, 0, 1, 0, 0)


def test_what_waits_for_service_is_lost_with_its_link_and_the_rest_is_served():
    stage = served(3, (0, 1), (1, 2))
    for text in "abc":
        stage.send(0, 1, text)
    stage.send(2, 1, "other link")
    stage.at(112, lambda: stage.network.disconnect(0, 1))
    assert stage.run(200) == [
        (110.0, 1, "got", 0, "a"),
        (112.0, 0, "down", 1),
        (112.0, 1, "down", 0),
        (114.0, 1, "got", 2, "other link"),
    ]
    row = stage.network.counters()[0]
    assert (row.sent, row.received, row.unserved, row.unserved_bytes) == (3, 3, 2, 14)


def test_a_crash_loses_the_queue_and_what_was_held():
    stage = served(3, (0, 1), (1, 2))
    stage.hosts[1].on_frame = lambda sender, text: stage.network.send_direct(
        1, 2, b"\0\0\0\0\0\x05" + text.encode(), "tcp"
    )
    for text in "abc":
        stage.send(0, 1, text)
    stage.at(112, lambda: stage.network.crash(1))
    stage.at(113, lambda: stage.network.restart(1))
    assert [entry for entry in stage.run(300) if entry[2] == "got"] == [(110.0, 1, "got", 0, "a")]
    assert stage.counts()[1, 2, "tcp"] == (1, 0, 1, 0, 0)
    assert stage.network.counters()[0].unserved == 2
    assert stage.network.queues()[1] == (1, 1, 2 * MS, 0, 2, 0, 2, 1 + 2)


def test_a_restarted_broker_serves_at_once_though_its_former_service_would_not_be_over():
    stage = served(2, (0, 1), service=50)
    stage.send(0, 1, "a")
    stage.at(112, lambda: stage.network.crash(1))
    stage.at(113, lambda: stage.network.restart(1))
    stage.at(114, lambda: stage.network.submit(1, lambda: None))
    stage.at(115, lambda: stage.network.submit(1, lambda: None))
    assert [e for e in stage.run(300) if e[2] == "work"] == [(114.0, 1, "work"), (164.0, 1, "work")]


def test_work_that_waited_when_the_broker_crashed_is_not_done_by_its_successor():
    stage = served(1)
    done: list[str] = []
    for name in ("in service", "waiting"):
        stage.network.submit(0, lambda name=name: done.append(name))
    stage.network.crash(0)
    stage.network.restart(0)
    stage.network.submit(0, lambda: done.append("new"))
    stage.run(200)
    assert done == ["in service", "new"]


def test_a_held_datagram_that_was_lost_with_its_target_is_lost_once():
    stage = Stage(2, service=True, latency=lambda source, target: 0.001, loss=1.0)
    stage.hosts[0].service = 4 * MS
    stage.network.submit(0, lambda: stage.network.send_direct(0, 1, b"x", "udp"))
    stage.network.crash(1)
    stage.network.restart(1)
    stage.run(200)
    assert stage.counts() == {(0, 1, "udp"): (1, 0, 1, 0, 0)}


def test_queue_reports_in_the_middle_of_a_run():
    stage = served(2, (0, 1))
    for text in "abc":
        stage.send(0, 1, text)
    stage.run(115)
    assert stage.network.queues() == [
        (0, 0, 0, 0, 0, 0, 0, 0),
        (1, 2, 5 * MS, 4 * MS, 2, 1, 2, 1 + 2),
    ]
    assert stage.network.counters()[0].unserved == 1


def test_service_without_duration_is_over_at_once():
    stage = Stage(2, (0, 1), service=True)
    stage.hosts[1].on_frame = lambda sender, text: stage.send(1, 0, text)
    for text in "ab":
        stage.send(0, 1, text)
    assert [e for e in stage.run(200) if e[1] == 0] == [
        (120.0, 0, "got", 1, "a"),
        (120.0, 0, "got", 1, "b"),
    ]


def test_a_negative_service_time_is_an_error():
    stage = served(1, service=-1)
    with pytest.raises(ValueError, match=r"^service\(=-1000000\) should be >= 0 ns at broker 0$"):
        stage.network.submit(0, lambda: None)


# Closed forms, with times in nanoseconds


def queue_of(arrivals: list[int], service: int) -> QueueReport:
    """What the queue of one server saw after these arrivals."""
    network = MemoryTransport()
    host = Recorder(0, network, [])
    host.service = service
    network.attach(0, host, True)
    for time in arrivals:
        network.schedule(time, lambda: network.submit(0, lambda: None))
    network.run(arrivals[-1] + service * (len(arrivals) + 1))
    (report,) = network.queues()
    assert (report.served, report.length) == (len(arrivals), 0)
    return report


def test_below_saturation_regular_arrivals_never_wait():
    report = queue_of(list(range(0, 1100, 11)), 10)
    assert (report.busy, report.waiting, report.longest, report.delayed) == (1000, 0, 0, 0)


@pytest.mark.parametrize(("interval", "service", "n"), [(10, 16, 40), (1, 10, 100), (7, 8, 3)])
def test_above_saturation_the_nth_of_regular_arrivals_waits_n_times_the_excess(
    interval, service, n
):
    """D/D/1 with service s > interval a: the k-th arrival waits k (s - a), k = 0..n-1."""
    waiting = (service - interval) * n * (n - 1) // 2
    last_arrival = (n - 1) * interval
    waiting_at_last_arrival = n - 1 - last_arrival // service
    report = queue_of([k * interval for k in range(n)], service)
    assert (report.busy, report.waiting) == (n * service, waiting)
    assert (report.longest, report.delayed) == (waiting_at_last_arrival, n - 1)
    # Who comes as a service ends still finds it going on.
    assert report.joined == sum(k - (k * interval - 1) // service for k in range(1, n))


def test_a_burst_waits_in_a_triangle():
    """n at once: the k-th waits k s as the k-th of the queue, and n - 1 wait behind the first."""
    report = queue_of([5] * 20, 3)
    assert (report.busy, report.waiting, report.longest) == (60, 3 * 20 * 19 // 2, 19)
    assert (report.delayed, report.joined) == (19, 20 * 19 // 2)


@pytest.mark.parametrize("load", [0.3, 0.5, 0.8])
def test_random_arrivals_wait_as_pollaczek_and_khinchine_say(load):
    """M/D/1: the mean wait is load / (2 (1 - load)) services."""
    random = Streams(11).stream("arrivals")
    service, n = 1_000_000, 60_000
    time, arrivals = 0.0, []
    for _ in range(n):
        time += random.expovariate(load / service)
        arrivals.append(round(time))
    report = queue_of(arrivals, service)
    assert report.busy == n * service
    assert report.waiting / n / service == pytest.approx(load / (2 * (1 - load)), rel=0.06)
    # Random arrivals see time averages: the server is busy for a share `load` of the time, and by
    # Little's law load x wait / service pieces wait, so that over `load` while it is busy.
    assert report.delayed / n == pytest.approx(load, rel=0.02)
    found = load / (2 * (1 - load))
    assert report.joined / report.delayed == pytest.approx(found + 1, rel=0.06)


def test_a_line_of_servers_adds_up_services_and_links():
    """A burst of three through two servers of 4 ms: the second server finds it spread out."""
    stage = served(3, (0, 1), (1, 2))
    stage.hosts[1].on_frame = lambda sender, text: stage.send(1, 2, text)
    for text in "abc":
        stage.send(0, 1, text)
    assert [e for e in stage.run(200) if e[1] == 2] == [
        (110.0 + 4 * k + 10, 2, "got", 1, text) for k, text in enumerate("abc", start=1)
    ]
    assert stage.network.queues()[2].waiting == 0
