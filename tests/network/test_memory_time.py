"""Time on the memory network: timers, runs that go on, errors that surface."""

import pytest

from pysim.network.memory import MemoryTransport

from .fakes import MS, Stage

pytestmark = pytest.mark.usefixtures("either_post")


def test_timers_fire_in_order_of_time_and_then_of_entry():
    network = MemoryTransport()
    log: list[tuple[int, str]] = []
    for delay, name in ((2, "c"), (1, "a"), (2, "d"), (1, "b")):
        network.schedule(delay, lambda name=name: log.append((network.now, name)))
    network.run(10)
    assert log == [(1, "a"), (1, "b"), (2, "c"), (2, "d")]


def test_a_timer_may_set_another_for_this_very_moment():
    network = MemoryTransport()
    log: list[str] = []
    network.schedule(1, lambda: network.schedule(0, lambda: log.append("second")))
    network.schedule(1, lambda: log.append("first"))
    network.run(1)
    assert log == ["first", "second"]


def test_a_cancelled_timer_does_not_fire_and_cancelling_again_is_fine():
    network = MemoryTransport()
    log: list[str] = []
    ticket = network.schedule(1, lambda: log.append("x"))
    network.cancel(ticket)
    network.cancel(ticket)
    network.run(10)
    assert log == []


def test_cancelling_a_timer_that_has_fired_hits_no_other():
    network = MemoryTransport()
    log: list[str] = []
    fired = network.schedule(1, lambda: log.append("a"))
    network.run(5)
    network.schedule(1, lambda: log.append("b"))
    network.cancel(fired)
    network.run(10)
    assert log == ["a", "b"]


def test_a_timer_in_the_past_is_an_error():
    with pytest.raises(ValueError, match=r"^delay\(=-1\) should be >= 0 ns$"):
        MemoryTransport().schedule(-1, lambda: None)


def test_a_run_includes_its_last_moment_and_the_next_run_goes_on():
    network = MemoryTransport()
    log: list[int] = []
    for time in (5, 10, 11):
        network.schedule(time, lambda: log.append(network.now))
    network.run(10)
    assert (log, network.now) == ([5, 10], 10)
    network.run(10)
    network.run(20)
    assert (log, network.now) == ([5, 10, 11], 20)


def test_time_does_not_run_backwards():
    network = MemoryTransport()
    network.run(10)
    with pytest.raises(ValueError, match=r"^until\(=9\) should be >= the current time of 10 ns$"):
        network.run(9)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_what_a_callback_raises_surfaces_and_the_run_can_go_on(error):
    network = MemoryTransport()
    log: list[int] = []

    def fail() -> None:
        raise error

    network.schedule(1, fail)
    network.schedule(2, lambda: log.append(network.now))
    with pytest.raises(error):
        network.run(10)
    assert network.now == 1
    network.run(10)
    assert log == [2]


def test_progress_is_told_now_and_then_and_at_the_end():
    network = MemoryTransport()
    for time in range(10_000):
        network.schedule(time, lambda: None)
    told: list[int] = []
    network.run(20_000, told.append)
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1] == 20_000


def test_without_a_service_model_local_work_is_done_at_once():
    stage = Stage(1)
    done: list[float] = []
    stage.network.submit(0, lambda: done.append(stage.network.now / MS))
    assert done == [100.0]
    assert stage.network.queues() == []


def test_a_broker_that_is_down_takes_no_work():
    stage = Stage(1)
    stage.network.crash(0)
    with pytest.raises(ValueError, match=r"^broker 0 is down and takes no work$"):
        stage.network.submit(0, lambda: None)
