"""Bytes on the wire by what they are for, from a few messages and packets written down here."""

from types import SimpleNamespace

import pandas as pd
import pytest

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction import addressed_wire
from analysis.reproduction.addressed import KINDS
from analysis.reproduction.addressed_wire import addressed_wire_values
from tests.analysis.reproduction.test_destinations import made

HEADERS = {"transport_header": 32, "ip_header": 20, "link_header": 2}
MESSAGES = [
    ("addressed-subscribe", 100, True),
    ("addressed-event", 150, True),
    ("addressed-event", 150, True),
    ("addressed-event", 150, False),  # seen at its other end
    ("heartbeat", 19, True),
]
PACKETS = [  # events are published from 4 s to 8 s of nine
    (1.0, 500, True),
    (5.0, 400, True),
    (8.5, 70, True),
    (8.99, 70, False),
]
BREAKDOWN = [("ack", 540), ("body", 300)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return made(tmp_path_factory.mktemp("run"), "d-dbr")


def test_a_run_without_captures_tells_nothing(run: FinishedRun) -> None:
    assert not dict(addressed_wire_values(run, KINDS, (0, 1)))


@pytest.fixture
def found(run: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    messages = pd.DataFrame(MESSAGES, columns=["name", "length", "counted"]).assign(**HEADERS)
    packets = pd.DataFrame(PACKETS, columns=["time", "length", "counted"])
    packets["time"] = (packets.time * NANOSECONDS).astype("int64")
    breakdown = pd.DataFrame(BREAKDOWN, columns=["category", "bytes"])
    analysis = SimpleNamespace(
        table={"messages": messages, "packets": packets}.__getitem__,
        metric={"byte_breakdown": breakdown}.__getitem__,
    )
    monkeypatch.setattr(addressed_wire, "present", lambda directory: analysis)
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
