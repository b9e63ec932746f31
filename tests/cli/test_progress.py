"""Progress: one line that says how far, how fast and how long still."""

import io

import pytest

from pysim.cli.progress import Counter, Progress, clock, count, describe


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands until the test moves it."""
    hands = [100.0]
    monkeypatch.setattr("pysim.cli.progress.time.monotonic", lambda: hands[0])
    return hands


def test_a_line_tells_time_speed_and_what_is_left() -> None:
    assert describe(2.0, 8.0, 4.0) == (
        "[######..................] 2.00 of 8 s simulated, 0.5 s per second, 0:12 left"
    )
    assert describe(0.0, 8.0, 0.0) == (
        "[........................] 0.00 of 8 s simulated, 0 s per second, ? left"
    )


def test_a_terminal_s_line_renews_itself(wall: list[float]) -> None:
    stream = Terminal()
    with Progress(10.0, stream) as watch:
        for second in (1, 2):
            wall[0] += 1
            watch(second * 1_000_000_000)
            watch(second * 1_000_000_000 + 1)
    lines = stream.getvalue().split("\r\x1b[K")
    assert [line.partition("] ")[2].partition(" of")[0] for line in lines] == [
        "",
        "1.00",
        "2.00",
        "",
    ]


def test_elsewhere_lines_are_few(wall: list[float]) -> None:
    stream = io.StringIO()
    with Progress(1000.0, stream) as watch:
        for second in range(1000):
            wall[0] += 1
            watch(second * 1_000_000_000)
    simulated = [line.split("] ")[1].split(" of")[0] for line in stream.getvalue().splitlines()]
    assert simulated == ["9.00", "29.00", "69.00", "149.00", "309.00", "629.00"]


def test_clocks_read_as_people_say_them() -> None:
    assert [clock(seconds) for seconds in (7, 750, 3723)] == ["0:07", "12:30", "1:02:03"]


def test_a_count_tells_how_many_and_what_is_left_by_the_work_that_is_done() -> None:
    assert count(6, 12, "runs", 0.75, 30.0) == (
        "[##################......] 6 of 12 runs, 0:10 left"
    )
    assert count(0, 1200, "runs", 0.0, 3.0) == "[........................] 0 of 1,200 runs, ? left"


def test_a_sentence_stays_above_the_line_that_renews_itself(wall: list[float]) -> None:
    stream = Terminal()
    with Counter(2, "runs", stream) as progress:
        wall[0] += 1
        progress(1, 0.5)
        progress.say("failed: seed2")
    assert stream.getvalue() == (
        "\r\x1b[K[############............] 1 of 2 runs, 0:01 left\r\x1b[Kfailed: seed2\n\r\x1b[K"
    )


def test_nothing_is_shown_to_nobody(wall: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Counter(2, "runs", None) as progress:
        wall[0] += 100
        progress(1, 0.5)
        progress.say("failed: seed2")
    assert capsys.readouterr() == ("", "")
