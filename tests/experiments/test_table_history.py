"""Routing tables are looked at from time to time, and nothing is other for it."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pysim.experiments.config import ConfigError
from pysim.experiments.run import run
from pysim.experiments.table_history import look_times
from tests.experiments.files import SCRIPT, small_plan

MS = 1_000_000

EVERY_FAMILY = ["reconfiguration-path", "active-covering", "d-dbr", "fbr-general", "popsub-gossip"]

ADVERTISED: dict[str, Any] = {
    "kind": "script",
    "steps": [
        {"time": "0.5 s", "broker": 0, "advertise": "price in [0, 100]"},
        *SCRIPT["steps"],
        {"time": "3.5 s", "broker": 4, "unsubscribe": "price < 30"},
    ],
}


def rows(folder: Path, table: str) -> list[tuple[Any, ...]]:
    columns = pq.read_table(folder / "tables" / f"{table}.parquet").to_pydict()
    return list(zip(*columns.values(), strict=True))


def test_an_entry_has_where_it_leads_and_from_when_to_when(tmp_path: Path) -> None:
    """Tables are looked at every 2 ms, and a hop takes as long: nothing falls on a look."""
    steps = [
        {"time": "1.0005 s", "broker": 4, "subscribe": "price < 30"},
        {"time": "3.5005 s", "broker": 4, "unsubscribe": "price < 30"},
    ]
    faults = [
        {"kind": "broker-crash", "time": "2.4995 s", "broker": 0},
        {"kind": "broker-restart", "time": "2.6005 s", "broker": 0},
    ]
    plan = small_plan(
        tmp_path, measure=["tables"], workload={"kind": "script", "steps": steps}, faults=faults
    )
    run(plan, tmp_path / "run", "run")
    found = [
        (broker, leads_to, since // MS, until // MS)
        for broker, entry, leads_to, since, until in rows(tmp_path / "run", "tables")
        if entry == "price < 30"
    ]
    assert found == [
        (0, "1", 1010, 2500),
        (0, "1", 2610, 3510),
        (1, "2", 1008, 3508),
        (2, "3", 1006, 3506),
        (3, "4", 1004, 3504),
        (4, "4", 1002, 3502),
    ]


def test_what_stands_at_the_end_has_no_end(tmp_path: Path) -> None:
    run(small_plan(tmp_path, measure=["tables"], workload=SCRIPT), tmp_path / "run", "run")
    assert {until for *_, until in rows(tmp_path / "run", "tables")} == {None}


def test_few_brokers_are_looked_at_often_and_many_less() -> None:
    counts = {brokers: len(look_times(10**12, brokers)) + 1 for brokers in (1, 100, 1000)}
    assert counts == {1: 2000, 100: 400, 1000: 50}
    assert look_times(3, 5) == [1, 2]


@pytest.mark.parametrize("protocol", EVERY_FAMILY)
def test_a_run_that_is_watched_has_the_same_fingerprint(tmp_path: Path, protocol: str) -> None:
    settings: dict[str, Any] = {"protocol__name": protocol, "workload": ADVERTISED}
    plan = small_plan(tmp_path, measure=["tables", "frames"], **settings)
    watched = run(plan, tmp_path / "a", "a")
    alone = run(small_plan(tmp_path, **settings), tmp_path / "b", "b")
    assert watched.fingerprint == alone.fingerprint
    sent = sum(each.sent for each in watched.messages.values())
    assert sent == len(rows(tmp_path / "a", "frames")) > 5
    assert any("price < 30" in entry for _, entry, *_ in rows(tmp_path / "a", "tables"))
    assert not (tmp_path / "b" / "tables" / "frames.parquet").exists()


def test_frames_are_logged_on_the_memory_network_only(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='"frames" is for the memory network'):
        small_plan(tmp_path, measure=["frames"], network__backend="ns3")
