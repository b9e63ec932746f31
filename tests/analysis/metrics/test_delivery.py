"""What clients got, on tables that were worked out by hand."""

import pytest
from pyspark.sql import SparkSession

from analysis.metrics import delivery_over_time, duplicates, latency, latency_by_hops
from tests.analysis.metrics.scene import MS, Scene, hop, rows_of


@pytest.fixture(scope="module")
def scene(spark: SparkSession) -> Scene:
    """Broker 0 publishes; 0, 1 and 2 (behind 1) have clients; a copy comes back to 0."""
    return Scene(
        spark,
        [
            hop((0, 1), 0, 1, 100, 102),
            hop((0, 1), 1, 2, 102, 105),
            hop((0, 1), 2, 0, 105, 109),
            hop((0, 2), 0, 1, 200, 206),
            hop((0, 2), 1, 2, 206, None),
        ],
        events=[(0, 1, 100, 3), (0, 2, 200, 3), (1, 7, 205, 0), (0, 3, 300, 2)],
        deliveries=[
            (0, 1, 0, 100, 100, "made"),
            (0, 1, 1, 100, 102, "made"),
            (0, 1, 2, 100, 105, "made"),
            (0, 2, 1, 200, 206, "made"),
            (0, 2, 0, 200, 200, "made"),
            (0, 2, 0, 200, 201, "duplicate"),
            (0, 2, 1, 200, 206, "spurious"),
            (0, 3, 4, 300, 380, "made"),  # no capture shows how it came there
        ],
        missing=[(0, 2, 2), (0, 3, 1)],
    )


def test_latencies_are_those_that_occurred(scene: Scene) -> None:
    found = rows_of(latency(scene.deliveries))
    assert [row[0] for row in found] == [percent / 100 for percent in range(101)]
    by_level = {row[0]: row[1] for row in found}
    # in order, in ms: 0 0 2 5 6 80
    expected = {
        0: 0,
        0.33: 0,
        0.34: 0.002,
        0.5: 0.002,
        0.67: 0.006,
        0.83: 0.006,
        0.84: 0.08,
        1: 0.08,
    }
    assert {level: by_level[level] for level in expected} == expected
    assert {row[2] for row in found} == {6}


def test_latency_by_the_way_that_the_event_came(scene: Scene) -> None:
    found = rows_of(latency_by_hops(scene.deliveries, scene.journeys))
    assert found == [
        (0, 2, 0.0, 0.0, 0.0, 0.0),
        (1, 2, 0.002, 0.006, 0.006, 0.004),
        (2, 1, 0.005, 0.005, 0.005, 0.005),
        (None, 1, 0.08, 0.08, 0.08, 0.08),
    ]


def test_deliveries_by_the_time_of_publication(scene: Scene) -> None:
    found = delivery_over_time(scene.events, scene.deliveries, scene.missing, scene.setting)
    assert rows_of(found) == [
        (100 * MS, 1, 3, 3, 0, 0, 1.0),
        (200 * MS, 2, 3, 2, 1, 0, 2 / 3),
        (300 * MS, 1, 2, 1, 1, 0, 0.5),
    ]


def test_withdrawn_deliveries_are_no_loss(spark: SparkSession) -> None:
    scene = Scene(spark, events=[(0, 1, 100, 2)])
    found = delivery_over_time(scene.events, scene.deliveries, scene.missing, scene.setting)
    assert rows_of(found) == [(100 * MS, 1, 2, 0, 0, 2, None)]


def test_what_came_more_than_once(scene: Scene) -> None:
    assert rows_of(duplicates(scene.deliveries, scene.journeys)) == [
        ("broker duplicates", 1),
        ("client duplicates", 1),
        ("spurious", 1),
    ]


def test_a_run_without_deliveries_has_no_latency(spark: SparkSession) -> None:
    scene = Scene(spark)
    assert rows_of(latency(scene.deliveries)) == []
    assert rows_of(latency_by_hops(scene.deliveries, scene.journeys)) == []
    assert rows_of(duplicates(scene.deliveries, scene.journeys)) == [
        ("broker duplicates", 0),
        ("client duplicates", 0),
        ("spurious", 0),
    ]
