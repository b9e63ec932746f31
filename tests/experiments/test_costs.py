"""Weights and state are measured from outside: nothing is other for it, nothing is forgotten."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pysim.experiments.run import run
from pysim.wire import message_types
from pysim.wire.weights import weight_of_type
from tests.experiments.files import SCRIPT, small_plan

CODES = {kind.name: kind.code for kind in message_types().values()}


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "tables" / f"{table}.parquet").to_pylist()
    return found


def plan(folder: Path, protocol: dict[str, Any], **settings: object) -> Any:
    return small_plan(folder, protocol=protocol, measure=["costs"], **settings)


def test_state_is_what_each_broker_stores_at_the_end(tmp_path: Path) -> None:
    run(plan(tmp_path, {"name": "subscription-forwarding"}, workload=SCRIPT), tmp_path / "a", "a")
    assert rows(tmp_path / "a", "state") == [
        {"broker": broker, "entries": 1, "stored": 1} for broker in range(5)
    ]
    run(plan(tmp_path, {"name": "event-forwarding"}, workload=SCRIPT), tmp_path / "b", "b")
    assert [row["stored"] for row in rows(tmp_path / "b", "state")] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("backend", ["memory", "ns3"])
@pytest.mark.parametrize(
    "protocol",
    [
        {"name": "subscription-packing"},
        {"name": "popsub-batching", "capacity": 20.0, "timeout": "0.2 s"},
        {"name": "d-dbr"},
    ],
    ids=lambda protocol: protocol["name"],
)
def test_all_messages_are_weighed_and_none_is_other_for_it(
    tmp_path: Path, protocol: dict[str, Any], backend: str
) -> None:
    lively = {
        "network": {"backend": backend, "capture": "none"},
        "duration": "8 s",
        "workload": {"kind": "topics", "topics": 4, "subscriptions": 40, "churn": "10 /s"},
    }
    weighed = run(plan(tmp_path, protocol, **lively), tmp_path / "a", "a")
    plain = run(small_plan(tmp_path, protocol=protocol, **lively), tmp_path / "b", "b")
    assert weighed.fingerprint == plain.fingerprint
    found = {row["type"]: row for row in rows(tmp_path / "a", "weights")}
    assert {name: row["messages"] for name, row in found.items()} == {
        name: counts.sent for name, counts in weighed.messages.items() if counts.sent
    }
    for name, row in found.items():
        each = weight_of_type(CODES[name])
        if each is None:
            assert row["weight"] >= row["messages"]
        else:
            assert row["weight"] == pytest.approx(each * row["messages"])
    carriers = {"subscription-packing": "packed-unsubscribe", "popsub-batching": "batch"}
    if carrier := carriers.get(protocol["name"]):
        assert found[carrier]["weight"] > found[carrier]["messages"]  # some carry several
