"""What belongs to a reconfiguration, and when it is over."""

import pytest
from pyspark.sql import SparkSession

from analysis.metrics import dispatchers_per_reconfiguration, reconfiguration_overhead
from tests.analysis.metrics.scene import MS, Scene, hop, rows_of


@pytest.fixture(scope="module")
def scene(spark: SparkSession) -> Scene:
    """Two numbered replacements, a crash without control messages, and a restart."""
    return Scene(
        spark,
        [
            hop((1, 1), 1, 2, 50, 52, type="subscribe", length=26),  # before anything changed
            hop((1, 2), 1, 2, 1001, 1003, type="unsubscribe", length=26),
            hop((2, 1), 2, 3, 1003, 1005, type="unsubscribe", length=26),
            hop((1, 3), 1, 2, 1050, 1052, length=40),  # an event costs nobody
            hop((3, 1), 3, 4, 2100, 2102, type="subscribe", length=27),  # 1 s after the new link
            hop((3, 2), 3, 4, 3102, 3104, type="flush", length=18),  # exactly 1 s of silence
            hop((4, 1), 4, 3, 4105, 4107, type="subscribe", length=26),  # 1 ms too late
            hop((4, 2), 4, 3, 5001, 5003, type="subscribe", length=26),
            hop((0, 9), 0, 1, 5500, 5502, type="heartbeat", length=20),
            hop((0, 8), 0, 1, 8000, 8002, type="unsubscribe", length=30),
        ],
        duration=10_000,
        first_event=1020,
        events=[(1, 3, 1050, 0)],
        changes=[
            (1000, "break", 0, 2, 0),
            (1100, "create", 3, 0, 0),
            (5000, "break", 4, 3, 1),
            (5100, "create", 4, 1, 1),
            (7000, "crash", 2, None, None),
            (7500, "restart", 2, None, None),
            (7600, "loss", 0, 1, None),
            (12_000, "break", 0, 1, 2),  # after the end of the run
        ],
    )


def test_overhead_is_that_of_the_control_messages_until_there_is_silence(scene: Scene) -> None:
    assert rows_of(reconfiguration_overhead(scene.reconfigurations, scene.hops)) == [
        (0, "0-2", "0-3", 1000 * MS, 3104 * MS, "flush", 1, 18),
        (0, "0-2", "0-3", 1000 * MS, 3104 * MS, "subscribe", 1, 27),
        (0, "0-2", "0-3", 1000 * MS, 3104 * MS, "unsubscribe", 2, 52),
        (1, "3-4", "1-4", 5000 * MS, 5100 * MS, "subscribe", 1, 26),
        (2, "2", None, 7000 * MS, 7000 * MS, None, 0, 0),
        (3, None, "2", 7500 * MS, 8002 * MS, "unsubscribe", 1, 30),
    ]


def test_the_brokers_involved_are_ends_and_those_that_handled_it(scene: Scene) -> None:
    found = dispatchers_per_reconfiguration(scene.reconfigurations, scene.hops)
    assert rows_of(found) == [(0, 5), (1, 3), (2, 1), (3, 3)]


def test_phases_follow_from_events_and_changes(scene: Scene) -> None:
    counted = scene.hops.filter("counted")
    phases = {row[0] // MS: row[1] for row in rows_of(counted, "first_time", "phase")}
    assert phases == {
        50: "setup",
        1001: "reconfiguration",
        1003: "reconfiguration",
        1050: "reconfiguration",
        2100: "reconfiguration",
        3102: "reconfiguration",
        4105: "traffic",
        5001: "reconfiguration",
        5500: "traffic",
        8000: "reconfiguration",
    }


def test_a_run_without_publications_is_all_setup(spark: SparkSession) -> None:
    scene = Scene(spark, [hop((0, 1), 0, 1, 900, 902, type="subscribe")], first_event=None)
    assert rows_of(scene.hops, "phase", "reconfiguration") == [("setup", None)] * 2
    assert rows_of(reconfiguration_overhead(scene.reconfigurations, scene.hops)) == []
