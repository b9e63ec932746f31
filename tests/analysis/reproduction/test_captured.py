"""Captures that are read without the whole analysis tell the same, and figures in bytes use it."""

import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis.books import BooksError
from analysis.finished import NANOSECONDS
from analysis.pipeline import analyze
from analysis.reproduction import FAMILIES
from analysis.reproduction.captured import Captured, captured
from analysis.reproduction.measures import number
from analysis.reproduction.numbers import numbers
from analysis.reproduction.results import gather
from tests.analysis.reproduction.test_numbers import REPLACED, steps
from tests.analysis.runs import make_run

EVENTS = ("2 s", "2.5 s", "3.02 s", "3.05 s", "3.2 s")


def made(folder: Path, protocol: str = "timed-deferred-unsubscription", **network: Any) -> Path:
    return make_run(
        folder,
        network={"backend": "ns3", "delay": "1 ms", "capture": "one", **network},
        topology={"kind": "line", "brokers": 4},
        protocol={"name": protocol},
        workload=steps(*EVENTS),
        faults=REPLACED,
        measure=["traffic", "misrouted"],
    )


def read(run: Path) -> Captured:
    found = captured(run)
    assert found is not None
    return found


def test_tables_and_categories_are_those_of_the_analysis(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = made(tmp_path, "informed-link-activation", loss="10 %")
    found, analysis = read(run), analyze(spark, run)
    for table in ("messages", "packets"):
        own: pd.DataFrame = getattr(found, table)
        other = analysis.table(table).query("counted")[list(own)]
        keys = ["time", "length"]
        pd.testing.assert_frame_equal(
            own.sort_values(keys, kind="stable").reset_index(drop=True),
            other.sort_values(keys, kind="stable").reset_index(drop=True),
            check_dtype=False,
        )
    breakdown = analysis.metric("byte_breakdown").set_index("category").bytes
    assert breakdown["retransmission"] > 0
    for category, size in found.categories().items():
        assert size == breakdown[category]
    assert found.packets.length.sum() == breakdown.sum()


def test_a_reconfiguration_takes_all_packets_from_its_break_on(tmp_path: Path) -> None:
    run = made(tmp_path)
    packets, values = read(run).packets, numbers(run).values
    late = packets[packets.time >= 3 * NANOSECONDS]
    assert values["all wire bytes"] == late.length.sum()
    assert (
        values["wire traffic before"]
        == packets.length[packets.time.between(2 * NANOSECONDS, 3 * NANOSECONDS - 1)].sum()
    )
    curve = numbers(run).curves["wire traffic"]
    assert sum(curve.values()) == pytest.approx(packets.length.sum() * len(curve) / _seconds(curve))


def _seconds(curve: dict[float, float]) -> float:
    """How long the bins are that a curve has, together."""
    places = sorted(curve)
    return len(curve) * min(b - a for a, b in itertools.pairwise(places))


def test_weights_are_those_of_messages_from_the_first_break_on(tmp_path: Path) -> None:
    """At the start the subscription of broker 3 goes alone; afterwards two may share a packet."""
    run = made(tmp_path, "subscription-forwarding")
    found, values = read(run), numbers(run).values
    late = found.messages.first_time >= 3 * NANOSECONDS
    means = found.sizes()[late].groupby(found.messages.name[late]).mean()
    assert set(means.index) == {"subscribe", "unsubscribe", "event"}
    for kind, size in means.items():
        assert values[f"weight of {kind}"] == size / means["event"]


def test_misrouted_events_are_bytes_of_overhead(tmp_path: Path) -> None:
    """While broker 3 is cut off, two events go from 0 to 1 and on to 2 for nobody."""
    values = numbers(made(tmp_path)).values
    assert values["misrouted"] == 4
    astray = 4 * values["wire bytes of an event"]
    assert values["wire bytes misrouted"] == astray
    assert values["wire bytes with events"] == values["wire bytes"] + astray
    useful = values["useful events"] * values["wire bytes of an event"]
    assert values["useful wire bytes per overhead"] == useful / values["wire bytes with events"]


def test_without_captures_there_are_no_bytes(tmp_path: Path) -> None:
    run = made(tmp_path, capture="none")
    assert captured(run) is None
    assert not [name for name in numbers(run).values if "wire" in name]


def test_captures_that_lack_messages_are_told_in_a_sentence(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = made(tmp_path)
    largest = max((run / "captures").iterdir(), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:24])
    with pytest.raises(BooksError):
        captured(run)
    with pytest.raises(ValueError, match="do not balance"):
        gather(spark, [run])


def test_a_figure_in_bytes_measures_bytes_where_the_published_one_measures_messages() -> None:
    rows = pd.DataFrame(
        [{"protocol": name, "seed": 1, "topology.brokers": brokers, "cost": cost,
          "all wire bytes": size, "all wire bytes of STRAWMAN": 1000.0}
         for name, cost, size in (("STRAWMAN", 10.0, 1000.0), ("ILA", 2.0, 1500.0))
         for brokers in (50, 500)]
    )  # fmt: skip
    for name in ("cost", "all wire bytes"):
        rows[f"{name} saved"] = 0.0
    rows["cost of STRAWMAN"] = 10.0
    figures = FAMILIES["reconfiguration"].figures
    found = {}
    for figure in ("fig14", "fig14-bytes"):
        best = next(claim for claim in figures[figure].claims if claim.key == "best-ila")
        found[figure] = best.measure(rows).item()
    assert found == pytest.approx({"fig14": 80, "fig14-bytes": -50})
    assert number("cost saved", "ILA")(rows).item() == pytest.approx(80)
