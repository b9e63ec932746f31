"""Rounds of the same events: what tables hold before each, and what is sent in each.

0 --- 1 --- 2        subscriptions at each broker in turn, events too
"""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pysim.experiments.manifest import Manifest
from pysim.experiments.run import run
from pysim.network.streams import Streams
from pysim.workloads import Auctions, Setting
from tests.experiments.files import small_plan

SUBSCRIPTIONS, EVENTS, ROUNDS = 30, 50, 3
LINE: dict[str, Any] = {
    "duration": "20 s",
    "topology": {"kind": "line", "brokers": 3},
    "measure": ["rounds"],
    "workload": {
        "kind": "auctions",
        "subscriptions": SUBSCRIPTIONS,
        "events": EVENTS,
        "titles": 15,
        "rounds": ROUNDS,
        "rate": "50 /s",
        "rehearsal": 60,
        "start": "2 s",
        "publish_start": "5 s",
        "unsubscribe": "50 %",
    },
}
PRUNED = {"by": ["post-pruning"], "share": "50 %", "start": "6.5 s", "every": "2 s", "sample": 20}


def made(folder: Path, name: str = "run", **settings: Any) -> tuple[Manifest, Path]:
    directory = folder / name
    return run(small_plan(folder, **LINE | settings), directory, name), directory


def rows(directory: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(
        directory / "tables" / f"{table}.parquet"
    ).to_pylist()
    return found


def sent(directory: Path, kind: str) -> dict[int, int]:
    found = rows(directory, "rounds")
    return {row["round"]: row["messages"] for row in found if row["type"] == kind}


def test_every_message_is_in_a_round(tmp_path: Path) -> None:
    manifest, directory = made(tmp_path)
    subscribed, unsubscribed, events = (
        sent(directory, kind) for kind in ("subscribe", "unsubscribe", "event")
    )
    assert subscribed == {-1: 2 * SUBSCRIPTIONS}  # each crosses both links
    assert unsubscribed == {ROUNDS: SUBSCRIPTIONS}  # half of them do
    assert list(events) == list(range(ROUNDS))
    assert len(set(events.values())) == 1  # nothing is pruned
    assert sum(events.values()) == manifest.messages["event"].sent


def test_unoptimized_tables_stand_untouched(tmp_path: Path) -> None:
    _, directory = made(tmp_path)
    stored = rows(directory, "stored")
    assert {row["entries"] for row in stored} == {SUBSCRIPTIONS}
    assert len({row["associations"] for row in stored}) == 1
    applied = rows(directory, "applied")
    assert all(row["remote"] == row["untouched"] for row in applied)
    assert sum(row["remote"] for row in applied) == 2 * SUBSCRIPTIONS


def test_brokers_filter_what_is_published_there_and_what_they_receive(tmp_path: Path) -> None:
    manifest, directory = made(tmp_path)
    stored = rows(directory, "stored")
    before = {row["broker"]: row["filtered"] for row in stored if row["round"] == 0}
    after = {row["broker"]: row["filtered"] for row in stored if row["round"] == ROUNDS}
    assert before == {0: 20, 1: 20, 2: 20}  # of the rehearsal, which nobody wants yet
    received = manifest.messages["event"].received
    assert sum(after.values()) - sum(before.values()) == ROUNDS * EVENTS + received


def test_pruning_between_rounds_saves_memory_and_loses_no_delivery(tmp_path: Path) -> None:
    manifest, directory = made(tmp_path, protocol__optimize=PRUNED)
    associations = [
        sum(row["associations"] for row in rows(directory, "stored") if row["round"] == round)
        for round in range(ROUNDS + 1)
    ]
    assert associations[0] > associations[1] > associations[2] == associations[3]
    events = list(sent(directory, "event").values())
    assert events[0] <= events[1] <= events[2]
    assert manifest.deliveries.is_exact
    assert manifest.deliveries.made > 0
    assert sum(row["untouched"] for row in rows(directory, "applied")) == 0


def advertised(folder: Path, protocol: str, **optimize: Any) -> tuple[Manifest, Path]:
    """The same where every broker advertises that it has books, and a protocol that asks for it."""
    name = f"{protocol} {optimize.get('by')}"
    return made(
        folder,
        name,
        protocol={"name": protocol, "optimize": optimize},
        workload=LINE["workload"] | {"advertise": "0.5 s"},
    )


@pytest.mark.parametrize(
    "protocol",
    [
        "no-covering",
        "active-covering",
        "lazy-covering",
        "subscription-packing",
        "incremental-unsubscription",
    ],
)
def test_advertisement_based_brokers_are_pruned_as_well(tmp_path: Path, protocol: str) -> None:
    manifest, directory = advertised(tmp_path, protocol, **PRUNED)
    stored = rows(directory, "stored")
    memory = [sum(r["associations"] for r in stored if r["round"] == n) for n in range(ROUNDS + 1)]
    assert memory[0] > memory[1] > memory[2] == memory[3]
    filtered = sum(row["filtered"] for row in stored if row["round"] == ROUNDS)
    events = sum(
        manifest.messages[kind].received
        for kind in ("event", "counted-event")
        if kind in manifest.messages
    )
    assert filtered == events + ROUNDS * EVENTS + 60  # of the rehearsal
    assert manifest.deliveries.is_exact
    assert manifest.deliveries.made > 0


@pytest.mark.parametrize("by", [[], ["covering"], ["perfect-merging"], ["pre-pruning"]])
def test_where_all_is_advertised_everywhere_both_families_hold_the_same(
    tmp_path: Path, by: list[str]
) -> None:
    optimize = {"by": by, "sample": 20}
    found = [
        advertised(tmp_path, protocol, **optimize)
        for protocol in ("subscription-forwarding", "no-covering")
    ]
    (one, _), (other, _) = found
    assert one.deliveries == other.deliveries
    assert one.messages["event"] == other.messages["event"]
    assert one.messages["subscribe"] == other.messages["subscribe"]
    for table in ("stored", "applied"):
        forwarding, advertising = (rows(directory, table) for _, directory in found)
        assert forwarding == advertising


@pytest.mark.parametrize("optimize", [{}, PRUNED])
def test_who_looks_changes_nothing(tmp_path: Path, optimize: dict[str, Any]) -> None:
    seen, _ = made(tmp_path, "seen", protocol__optimize=optimize)
    unseen, _ = made(tmp_path, "unseen", protocol__optimize=optimize, measure=[])
    assert seen.fingerprint == unseen.fingerprint
    assert seen.deliveries == unseen.deliveries  # by two engines


def test_a_rehearsal_has_other_events_and_ends_before_the_first_subscription() -> None:
    setting = Setting(3, 20.0, Streams(1))
    workload = Auctions(subscriptions=5, events=20, rehearsal=12, start=1.0, rate=20.0)  # type: ignore[arg-type]
    acts = list(workload.operations(setting))
    begin = next(act.time for act in acts if act.action == "subscribe")
    rehearsed = [act for act in acts if act.action == "publish" and act.time < begin]
    later = [act for act in acts if act.action == "publish" and act.time > begin]
    assert (len(rehearsed), len(later)) == (12, 20)
    assert workload.earliest() * 1e9 == pytest.approx(rehearsed[0].time)
    model = workload.model(setting)
    assert [dict(act.attributes) for act in rehearsed] == list(model.samples(12))
    assert [act.broker for act in rehearsed[:4]] == [0, 1, 2, 0]
