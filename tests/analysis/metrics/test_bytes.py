"""Where bytes go, on packets that were written down by hand."""

import pytest
from pyspark.sql import SparkSession

from analysis.metrics import (
    byte_breakdown,
    byte_breakdown_by_type,
    bytes_by_purpose,
    retransmissions,
)
from tests.analysis.metrics.scene import Scene, hop, packet, rows_of


@pytest.fixture(scope="module")
def scene(spark: SparkSession) -> Scene:
    """Broker 0 sends to 1: two messages in one packet; one in two packets; half a message."""
    two = {"frame_header": 32, "body": 34}
    return Scene(
        spark,
        [
            hop((0, 1), 0, 1, 10, 12, type="subscribe", length=26),
            hop((0, 2), 0, 1, 10, 12, type="event", length=40),
            hop((0, 3), 0, 1, 30, 32, type="event", length=1616, began=20),
        ],
        [
            packet(0, 1, 0, 2, "handshake", transport_header=36),
            packet(1, 0, 2, 4, "handshake", transport_header=36),
            packet(0, 1, 10, 12, "data", **two),
            packet(1, 0, 12, 14, "ack"),
            packet(0, 1, 20, None, "data", frame_header=16, body=1400),
            packet(0, 1, 25, 27, "retransmission", repeated=1416),
            packet(0, 1, 30, 32, "data", body=200),
            packet(0, 1, 40, 42, "data", frame_header=16, body=4, repeated=100),
            packet(1, 0, 50, 52, "reset"),
            packet(0, 1, 60, 62, "other", unattributed=7),
        ],
        events=[(0, 2, 9, 1), (0, 3, 19, 1)],
    )


def test_every_byte_is_in_one_category_and_counts_once_a_line(scene: Scene) -> None:
    found = {row[0]: row[1:] for row in rows_of(byte_breakdown(scene.packets))}
    total = 58 + 58 + (54 + 66) + 54 + (54 + 1416) * 2 + (54 + 200) + (54 + 120) + 54 + 61
    assert {category: row[:2] for category, row in found.items()} == {
        "body": (4, 34 + 1400 + 200 + 4),
        "frame header": (3, 32 + 16 + 16),
        "transport header": (4, 4 * 32),
        "ip header": (4, 4 * 20),
        "link header": (4, 4 * 2),
        "ack": (1, 54),
        "handshake": (2, 2 * 58),
        "teardown": (0, 0),
        "reset": (1, 54),
        "retransmission": (2, 54 + 1416 + 100),
        "other": (1, 61),
    }
    assert sum(row[1] for row in found.values()) == total
    assert found["handshake"][2] == 116 / total


def test_every_byte_has_a_purpose(scene: Scene) -> None:
    found = {row[0]: row[1] for row in rows_of(bytes_by_purpose(scene.packets, scene.hops))}
    total = sum(row[2] for row in rows_of(byte_breakdown(scene.packets)))
    assert found == {
        "events": 24 + 1600,
        "control": 10,
        "headers": 4 * (2 + 20 + 32) + 32 + 16 + 16,
        "transport": total - (24 + 1600) - 10 - (4 * 54 + 64),
    }


def test_headers_go_to_the_messages_that_their_packets_complete(scene: Scene) -> None:
    # The first packet's 54 bytes of headers: 26 to 40, running totals rounded down.
    found = rows_of(byte_breakdown_by_type(scene.hops))
    assert found == [
        ("event", "body", 24 + 1600),
        ("event", "frame header", 32),
        ("event", "ip header", 20 - 20 * 26 // 66 + 2 * 20),
        ("event", "link header", 2 - 2 * 26 // 66 + 2 * 2),
        ("event", "transport header", 32 - 32 * 26 // 66 + 2 * 32),
        ("subscribe", "body", 10),
        ("subscribe", "frame header", 16),
        ("subscribe", "ip header", 20 * 26 // 66),
        ("subscribe", "link header", 2 * 26 // 66),
        ("subscribe", "transport header", 32 * 26 // 66),
    ]


def test_what_is_sent_again_counts_at_its_source(scene: Scene) -> None:
    assert rows_of(retransmissions(scene.packets)) == [(0, 1, 2, 54 + 1416 + 100)]
