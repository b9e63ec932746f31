"""Bytes on the wire by what they are for, from a few messages and packets written down here."""

import pandas as pd
import pytest

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction import addressed_wire
from analysis.reproduction.addressed import KINDS
from analysis.reproduction.addressed_wire import addressed_wire_values
from analysis.reproduction.captured import Captured
from tests.analysis.reproduction.test_destinations import made

HEADERS = {"transport_header": 32, "ip_header": 20, "link_header": 2}
MESSAGES = [
    ("addressed-subscribe", 100),
    ("addressed-event", 150),
    ("addressed-event", 150),
    ("heartbeat", 19),
]
PACKETS = [  # events are published from 4 s to 8 s of nine
    (1.0, 500, "data"),
    (5.0, 400, "data"),
    (6.0, 540, "ack"),
    (8.5, 70, "data"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return made(tmp_path_factory.mktemp("run"), "d-dbr")


def test_a_run_without_captures_tells_nothing(run: FinishedRun) -> None:
    assert not dict(addressed_wire_values(run, KINDS, (0, 1)))


@pytest.fixture
def found(run: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    messages = pd.DataFrame(MESSAGES, columns=["name", "length"]).assign(**HEADERS)
    packets = pd.DataFrame(PACKETS, columns=["time", "length", "role"])
    packets = packets.assign(**HEADERS, repeated=0)
    packets["time"] = (packets.time * NANOSECONDS).astype("int64")
    monkeypatch.setattr(addressed_wire, "captured", lambda directory: Captured(messages, packets))
    window = (4 * NANOSECONDS, round(7.5 * NANOSECONDS))
    return dict(addressed_wire_values(run, KINDS, window))


def test_bytes_of_a_kind_have_the_headers_of_their_packets(found: dict[str, float]) -> None:
    headers = sum(HEADERS.values())
    assert found["wire bytes of subscriptions"] == 100 + headers
    assert found["wire bytes of events"] == 2 * (150 + headers)
    assert found["wire bytes of heartbeats"] == 19 + headers
    assert found["wire bytes of topology updates"] == 0


def test_what_carries_no_message_stands_apart(found: dict[str, float]) -> None:
    assert found["wire bytes of acknowledgments"] == 540
    assert found["wire bytes of handshakes"] == 0


def test_packets_are_told_by_when_they_came(found: dict[str, float]) -> None:
    """From a second after the last publication on nothing happens: here half a second of it."""
    assert found["wire bytes before publishing"] == 500
    assert found["wire bytes of an idle hour"] == pytest.approx(70 * 7200)
