"""Where events went."""

import pytest
from pyspark.sql import SparkSession

from analysis.metrics import (
    destination_list,
    dispatchers_involved,
    dispatchers_summary,
    wasted_hops,
)
from tests.analysis.metrics.scene import Scene, hop, rows_of


@pytest.fixture(scope="module")
def scene(spark: SparkSession) -> Scene:
    """The first event serves 2 by 1 and reaches 3 in vain; the second is lost; the third stays."""
    return Scene(
        spark,
        [
            hop((0, 1), 0, 1, 100, 102, destinations=2, type="addressed-event"),
            hop((0, 1), 1, 2, 102, 104, destinations=1, type="addressed-event"),
            hop((0, 1), 1, 3, 102, 104, destinations=1, type="addressed-event"),
            hop((0, 2), 0, 1, 200, 202, destinations=2, type="addressed-event"),
            hop((0, 2), 1, 2, 202, None, destinations=1, type="addressed-event"),
            hop((1, 5), 1, 0, 300, 302, type="subscribe"),
        ],
        events=[(0, 1, 100, 1), (0, 2, 200, 1), (3, 1, 300, 0)],
        deliveries=[(0, 1, 2, 100, 104, "made")],
    )


def test_hops_that_served_nobody(scene: Scene) -> None:
    #  total, useful, misrouted, lost, pure forwards (1 of either event)
    assert rows_of(wasted_hops(scene.journeys)) == [(5, 2, 1, 2, 2)]


def test_destination_lists_by_length(scene: Scene) -> None:
    assert rows_of(destination_list(scene.hops)) == [(1, 3), (2, 2)]


def test_brokers_that_had_to_do_with_an_event(scene: Scene) -> None:
    assert rows_of(dispatchers_involved(scene.events, scene.journeys)) == [
        (0, 1, 4),
        (0, 2, 2),
        (3, 1, 1),
    ]
    assert rows_of(dispatchers_summary(scene.events, scene.journeys)) == [
        (level, brokers, 7 / 3)
        for level, brokers in zip(
            (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0), (1, 1, 1, 2, 4, 4, 4), strict=True
        )
    ]


def test_a_run_without_events_wastes_nothing(spark: SparkSession) -> None:
    scene = Scene(spark)
    assert rows_of(wasted_hops(scene.journeys)) == [(0, 0, 0, 0, 0)]
    assert rows_of(dispatchers_summary(scene.events, scene.journeys)) == []
