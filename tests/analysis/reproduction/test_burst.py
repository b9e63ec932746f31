"""A burst of subscriptions on the wire, from a few messages that are written down here."""

from pathlib import Path

import pandas as pd
import pytest

from analysis.finished import NANOSECONDS
from analysis.reproduction import burst
from analysis.reproduction.burst import burst_values
from analysis.reproduction.captured import Captured
from tests.analysis.reproduction.test_withdrawn import BROKERS, made, steps

COLUMNS = ["source", "target", "name", "first_time", "time", "length"]
HEADERS = {"transport_header": 32, "ip_header": 20, "link_header": 2}
SIZE = 100 + sum(HEADERS.values())
MESSAGES = [  # the first unsubscription is at 4 s
    (4, 16, "subscribe", 1.0, 1.0, 100),
    (4, 16, "event", 2.0, 2.0, 100),
    (4, 16, "counted-event", 5.0, 5.0, 300),
    (4, 16, "subscribe", 4.0, 4.5, 100),
    (4, 16, "packed-unsubscribe", 5.0, 6.0, 100),
    (16, 4, "subscribe", 5.0, 5.0, 100),
    (3, 4, "withdraw", 5.0, 5.0, 100),
]


@pytest.fixture
def with_captures(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = pd.DataFrame(MESSAGES, columns=COLUMNS).assign(**HEADERS)
    for name in ("first_time", "time"):
        messages[name] = (messages[name] * NANOSECONDS).astype("int64")
    found = Captured(messages, pd.DataFrame())
    monkeypatch.setattr(burst, "captured", lambda directory: found)


@pytest.mark.usefixtures("with_captures")
def test_a_burst_is_all_but_publications_from_the_first_unsubscription_on(tmp_path: Path) -> None:
    found = dict(burst_values(made(tmp_path, steps(2), BROKERS)))
    assert (found["burst messages"], found["burst bytes"]) == (4, 4 * SIZE)


@pytest.mark.usefixtures("with_captures")
def test_the_busiest_link_is_a_direction_of_it_with_most_bytes(tmp_path: Path) -> None:
    """The network of the run has links of 10 Mbit/s."""
    found = dict(burst_values(made(tmp_path, steps(2), BROKERS)))
    assert found["burst messages on the busiest link"] == 2
    assert found["burst bytes on the busiest link"] == 2 * SIZE
    assert found["burst occupies on the busiest link"] == pytest.approx(2 * SIZE * 8 / 10e6)
    assert found["burst spreads over on the busiest link"] == 2


@pytest.mark.usefixtures("with_captures")
def test_publications_count_in_the_whole_run_with_their_headers(tmp_path: Path) -> None:
    found = dict(burst_values(made(tmp_path, steps(2), BROKERS)))
    assert found["frame bytes of a publication"] == 200
    assert found["bytes of a publication"] == 200 + sum(HEADERS.values())


@pytest.mark.usefixtures("with_captures")
def test_nothing_is_a_burst_where_nobody_unsubscribes(tmp_path: Path) -> None:
    assert not dict(burst_values(made(tmp_path, steps(2, withdrawn=False), BROKERS)))


def test_a_run_without_captures_has_no_burst(tmp_path: Path) -> None:
    assert not dict(burst_values(made(tmp_path, steps(2), BROKERS)))
