"""Numbers of covering that is withdrawn, from a run so small that all can be seen.

Edge broker 17 hangs on inner broker 5, that on A (0); A to E are 0 to 4; publisher 46 hangs on the
inner broker 16, that on E. At 4 s one of the two subscriptions at 17 is withdrawn.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction.numbers import numbers
from analysis.reproduction.withdrawn import covering_curves, covering_values
from tests.analysis.runs import make_run, rewrite_manifest

TIMES = (0, 2, 4, 6, 8)
HOPS = 8


def steps(*published: float, withdrawn: bool = True) -> dict[str, Any]:
    subscribed = [{"time": "1 s", "broker": 17, "client": client, "subscribe": "price < 30"}
                  for client in (0, 1)]  # fmt: skip
    gone = {"time": "4 s", "broker": 17, "client": 1, "unsubscribe": "price < 30"}
    events = [{"time": f"{time} s", "broker": 46, "publish": {"price": 20}} for time in published]
    return {"kind": "script", "steps": [*subscribed, *([gone] if withdrawn else []), *events]}


def made(folder: Path, workload: dict[str, Any], brokers: Mapping[str, Mapping[int, Sequence[int]]],
         **config: Any) -> FinishedRun:  # fmt: skip
    """A run whose brokers are said to have had these numbers at `TIMES`, by name and broker."""
    run = make_run(
        folder,
        duration="8 s",
        measure=["misrouted"],
        network={"backend": "memory", "delay": "1 ms"},
        topology={"kind": "overlay49"},
        workload=workload,
    )
    rows = [
        (time * NANOSECONDS, broker, name, value)
        for name, column in brokers.items()
        for broker, values in column.items()
        for time, value in zip(TIMES, values, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["time", "broker", "name", "value"])
    table.to_parquet(run / "tables" / "brokers.parquet")
    written = json.loads((run / "manifest.json").read_bytes())["config"]
    written["measure"] = ["brokers", "misrouted"]
    written["workload"] |= config
    rewrite_manifest(run, config=written)
    return FinishedRun(run)


BROKERS = {
    "queue": {0: (900, 0, 5, 300, 20), 4: (0, 0, 10, 100, 10), 16: (0, 0, 0, 7, 0),
              46: (0, 0, 0, 2, 0), 17: (0, 0, 0, 500, 1)},
    "entries": {0: (1, 10, 10, 20, 30), 4: (0, 20, 20, 40, 70)},
    "stored": {0: (1, 10, 10, 20, 50), 4: (0, 20, 20, 40, 50)},
    "subscriptions-received": {0: (3, 7, 8, 9, 28), 4: (0, 0, 0, 60, 80), 5: (0, 1, 1, 1, 13)},
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return made(tmp_path_factory.mktemp("run"), steps(2, 3, 5, 7), BROKERS)


@pytest.fixture(scope="module")
def found(run: FinishedRun) -> dict[str, float]:
    return dict(covering_values(run))


def test_delays_are_told_before_and_after_the_first_unsubscription(
    found: Mapping[str, float],
) -> None:
    for name in ("delay", "delay before", "delay at last", "peak delay"):
        assert found[name] == pytest.approx(HOPS * 0.001)
    assert found["undelivered"] == 0


def test_queues_count_from_the_first_unsubscription_on(found: Mapping[str, float]) -> None:
    """A had 900 messages before, when nobody had unsubscribed."""
    assert (found["queue"], found["queue at last"]) == (300, 20)
    assert found["queue left"] == pytest.approx(100 * 20 / 300)
    assert (found["queue anywhere"], found["queue of publishers"]) == (500, 2)
    assert (found["longest queue after"], found["congested"]) == (2, 2)


def test_new_roots_are_what_came_from_neighbors_since(found: Mapping[str, float]) -> None:
    assert (found["triggered at A"], found["triggered at E"]) == (20, 80)
    assert found["triggered at B"] == 0
    assert found["triggered at the core"] == 20
    assert found["triggered at inner"] == 1  # twelve at one of twelve
    assert found["triggered"] == 112


def test_tables_are_those_of_the_core_and_of_all(found: Mapping[str, float]) -> None:
    assert (found["entries before"], found["entries at the core"]) == (6, 20)
    assert found["stored at the core"] == 20
    assert found["entries at first"] == pytest.approx(30 / 49)
    assert found["entries"] == pytest.approx((30 + 60 + 100) / 3 / 49)
    assert found["swing of entries"] == pytest.approx(70 / 49)


def test_publications_are_counted_where_they_pass(found: Mapping[str, float]) -> None:
    """Four publications; the way has five core brokers, two of twelve inner ones, and one edge."""
    assert found["publications at tier 0"] == 4
    assert found["publications at tier 1"] == pytest.approx(4 * 2 / 12)
    assert found["publications at tier 2"] == pytest.approx(4 * 1 / 32)
    assert (found["false positives"], found["false positive percent"]) == (0, 0)


def test_curves_are_in_minutes_from_the_first_unsubscription_on(run: FinishedRun) -> None:
    curves = covering_curves(run)
    minutes = [(time - 4) / 60 for time in TIMES]
    assert list(curves["queue"]) == pytest.approx(minutes)
    assert list(curves["queue"].values()) == [900, 0, 10, 300, 20]
    assert list(curves["queue anywhere"].values()) == [900, 0, 10, 500, 20]
    assert list(curves["core entries"].values()) == [0.2, 6, 6, 12, 20]
    assert list(curves["delay"]) == pytest.approx([-2 / 60, -1 / 60, 1 / 60, 3 / 60], abs=0.001)


def test_false_positives_are_told_by_the_senders_tier(tmp_path: Path) -> None:
    run = made(tmp_path, steps(2), BROKERS)
    path = run.directory / "tables" / "records.parquet"
    wrong = [(0, "misrouted-events", 2.0, 0), (4, "misrouted-events", 3.0, 0),
             (5, "misrouted-events", 6.0, 0), (5, "other", 9.0, 0)]  # fmt: skip
    pd.DataFrame(wrong, columns=["broker", "name", "value", "time"]).to_parquet(path)
    found = dict(covering_values(run))
    assert found["false positives"] == 11
    assert found["false positives at tier 0"] == 1
    assert found["false positives at tier 1"] == 0.5
    assert found["false positives at tier 2"] == 0
    assert found["false positive percent"] == 100 * 11 / HOPS


def test_probes_are_the_publications_of_their_time(tmp_path: Path) -> None:
    probes = {"probes": 2, "probe_start": 4.5, "rate": 1.0}
    run = made(tmp_path, steps(2, 5, 6, 7), BROKERS, **probes)
    path = run.directory / "tables" / "deliveries.parquet"
    made_later = pd.read_parquet(path)
    late = {5: 1, 6: 3}
    seconds = (made_later.published // NANOSECONDS).map(late).fillna(0)
    made_later.delivered = made_later.published + (seconds * NANOSECONDS).astype("int64")
    made_later.to_parquet(path)
    found = dict(covering_values(run))
    assert found["probe delay"] == 2
    assert found["probe delay, 10th percentile"] == pytest.approx(1.2)
    assert found["probe delay, 90th percentile"] == pytest.approx(2.8)
    assert found["delay"] == pytest.approx(4 / 3)
    assert found["delay before"] == 0


def test_without_unsubscriptions_time_counts_from_the_first_publication(tmp_path: Path) -> None:
    run = made(tmp_path, steps(2, 3, withdrawn=False), BROKERS)
    assert dict(covering_values(run))["delay"] == pytest.approx(HOPS * 0.001)
    assert list(covering_curves(run)["queue"])[1] == 0


def test_a_run_that_measured_no_brokers_has_none_of_this(tmp_path: Path) -> None:
    run = made(tmp_path, steps(2), BROKERS)
    written = run.manifest["config"] | {"measure": []}
    rewrite_manifest(run.directory, config=written)
    found = numbers(run.directory)
    assert not {"queue", "delay", "triggered"} & set(found.values)
    assert "queue" not in found.curves


def test_all_numbers_of_a_run_are_among_them(run: FinishedRun) -> None:
    found = numbers(run.directory)
    assert (found.values["queue"], found.curves["queue"][0]) == (300, 10)
