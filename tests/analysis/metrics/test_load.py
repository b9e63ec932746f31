"""How loaded lines and brokers were."""

import pytest
from pyspark.sql import SparkSession

from analysis.metrics import fairness, link_load, load_fairness
from analysis.metrics.metric import Setting
from tests.analysis.metrics.scene import MS, Scene, hop, packet, rows_of


def test_lines_are_busy_while_they_send(spark: SparkSession) -> None:
    # At 1 Mbit/s the 1250 bytes of a packet take 10 ms; bins are 10 ms long.
    full = {"frame_header": 16, "body": 1180}
    scene = Scene(
        spark,
        [
            hop((0, 1), 0, 1, 105, 117),  # published at 102
            hop((0, 1), 1, 2, 118, 130),  # passed on after 1 ms
            hop((2, 1), 2, 1, 200, 212, type="subscribe"),  # of unknown cause
            hop((1, 4), 1, 0, 220, 232, type="subscribe"),
            hop((1, 4), 1, 2, 225, 237, type="subscribe"),
        ],
        [
            packet(0, 1, 105, 117, **full),
            packet(0, 1, 115, None, **full),
            packet(1, 2, 118, 130, **full),
            packet(1, 0, 130, 140, "ack"),
        ],
        events=[(0, 1, 102, 1)],
        wires=[("b0", "b1", 1e6, 1000), ("b1", "b2", 1e6, 500)],
    )
    found = link_load(scene.packets, scene.hops, scene.events, scene.wires, scene.setting)
    assert rows_of(found) == [
        (0, 1, "b0", "b1", True, 2, 2500, 0.02, 1.0, 1, 3 * MS, 3 * MS),
        (1, 0, "b1", "b0", True, 1, 54, 0.000432, 0.0432, 0, None, None),
        (1, 2, "b1", "b2", True, 1, 1250, 0.02, 0.8, 1, 1 * MS, 1 * MS),
    ]


COUNTERS = (
    "source long, target long, sent long, sent_bytes long, received long, received_bytes long"
)


def test_the_load_of_a_broker_is_what_it_sent_and_received(spark: SparkSession) -> None:
    counters = spark.createDataFrame([(0, 1, 4, 300, 3, 200), (1, 0, 1, 100, 1, 100)], COUNTERS)
    setting = Setting(1000 * MS, 3, 0)
    assert rows_of(load_fairness(counters, setting)) == [
        (0, 5, 400, 400 / 700),
        (1, 4, 300, 300 / 700),
        (2, 0, 0, 0.0),
    ]
    ((messages, size, most, gini),) = rows_of(fairness(counters, setting))
    assert messages == pytest.approx(81 / (3 * 41))
    assert size == pytest.approx(490_000 / (3 * 250_000))
    assert most == pytest.approx(400 / (700 / 3))
    # mean absolute difference of all ordered pairs, over twice the mean
    assert gini == pytest.approx((2 * (100 + 400 + 300) / 9) / (2 * 700 / 3))


def test_large_counts_do_not_overflow(spark: SparkSession) -> None:
    huge = 2**61
    counters = spark.createDataFrame([(0, 1, huge, huge, huge, huge)], COUNTERS)
    assert rows_of(fairness(counters, Setting(MS, 2, 0))) == [(1.0, 1.0, 1.0, 0.0)]


def test_of_nothing_no_share_can_be_given(spark: SparkSession) -> None:
    counters = spark.createDataFrame([], COUNTERS)
    assert rows_of(load_fairness(counters, Setting(MS, 1, 0))) == [(0, 0, 0, None)]
    assert rows_of(fairness(counters, Setting(MS, 1, 0))) == [(None, None, None, None)]


def test_time_bins_are_round_and_at_most_a_hundred() -> None:
    seconds = 10**9
    sizes = {0.5: 5 * MS, 1: 10 * MS, 1.1: 20 * MS, 8: 100 * MS, 10: 100 * MS, 60: 1000 * MS}
    assert {d: Setting(round(d * seconds), 1, 0).bin for d in sizes} == sizes
