"""What messages cost, on tables that were worked out by hand."""

import pytest
from pyspark.sql import SparkSession

from analysis.metrics import message_cost, message_totals, normalized_cost, traffic_over_time
from tests.analysis.metrics.scene import MS, Scene, hop, rows_of


@pytest.fixture(scope="module")
def scene(spark: SparkSession) -> Scene:
    """A subscription before the first event; an event over two links, one copy lost."""
    return Scene(
        spark,
        [
            hop((0, 1), 0, 1, 10, 12, type="subscribe", length=26),
            hop((1, 1), 1, 2, 14, 16, type="subscribe", length=26),
            hop((2, 1), 2, 1, 100, 102, length=40),
            hop((2, 1), 1, 0, 102, 104, length=40),
            hop((2, 2), 2, 1, 110, None, length=50),
            hop((1, 9), 1, 2, 100, 102, type="type-201", length=16),
        ],
        first_event=100,
        events=[(2, 1, 100, 1), (2, 2, 110, 1)],
    )


def test_messages_count_once_a_hop_by_phase_type_and_direction(scene: Scene) -> None:
    assert rows_of(message_cost(scene.hops)) == [
        ("setup", "subscribe", "link", 0, 1, 1, 26, 10),
        ("setup", "subscribe", "link", 1, 2, 1, 26, 10),
        ("traffic", "event", "link", 1, 0, 1, 40, 24),
        ("traffic", "event", "link", 2, 1, 2, 90, 58),
        ("traffic", "type-201", "link", 1, 2, 1, 16, 0),
    ]


def test_totals_share_the_bytes(scene: Scene) -> None:
    assert rows_of(message_totals(scene.hops)) == [
        ("setup", "subscribe", 2, 52, 52 / 198),
        ("traffic", "event", 3, 130, 130 / 198),
        ("traffic", "type-201", 1, 16, 16 / 198),
    ]


def test_traffic_is_binned_by_the_first_byte(scene: Scene) -> None:
    assert scene.setting.bin == 10 * MS
    assert rows_of(traffic_over_time(scene.hops, scene.setting)) == [
        (10 * MS, "subscribe", 2, 52),
        (100 * MS, "event", 2, 80),
        (100 * MS, "type-201", 1, 16),
        (110 * MS, "event", 1, 50),
    ]


def test_costs_are_weighed_as_published_and_as_bytes_imply(spark: SparkSession) -> None:
    counters = spark.createDataFrame(
        [
            ("event", 8, 400),
            ("event", 2, 100),
            ("subscribe", 4, 100),
            ("flush", 20, 360),
            ("activate", 3, 300),
            ("unsubscribe", 0, 0),
        ],
        "type string, sent long, sent_bytes long",
    )
    assert rows_of(normalized_cost(counters)) == [
        ("activate", 3, None, None, 100.0, 2.0, 6.0),
        ("event", 10, 1.0, 10.0, 50.0, 1.0, 10.0),
        ("flush", 20, 0.1, 2.0, 18.0, 0.36, 7.2),
        ("subscribe", 4, 1.0, 4.0, 25.0, 0.5, 2.0),
    ]


def test_without_events_bytes_imply_no_weights(spark: SparkSession) -> None:
    counters = spark.createDataFrame(
        [("subscribe", 4, 100)], "type string, sent long, sent_bytes long"
    )
    assert rows_of(normalized_cost(counters)) == [("subscribe", 4, 1.0, 4.0, 25.0, None, None)]
