"""The books balance on whatever ran, and say where they do not."""

import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from analysis.books import Books, BooksError, keep
from analysis.finished import FinishedRun, sha256
from analysis.pipeline import analyze, balance
from tests.analysis.runs import FLOOD, LARGE, LATENCIES, ROUTERS, make_run, rewrite_manifest

CRASH = [
    {"kind": "broker-crash", "time": "2.0031 s", "broker": 2},
    {"kind": "broker-restart", "time": "2.5 s", "broker": 2},
]
REPLACE = {"kind": "link-replace", "time": "3.0031 s", "old": "0-1", "new": "0-3"}
BY_TCP = {"name": "test-direct", "protocol": "tcp"}
BY_UDP = {"name": "test-direct", "protocol": "udp"}

RUNS: dict[str, dict[str, Any]] = {
    "reconfigurations": {
        "topology": {"kind": "random-tree", "brokers": 12},
        "workload__churn": "1 /s",
        "faults": [{"kind": "reconfigurations", "start": "2 s", "stop": "3 s"}],
    },
    "losses on links": {"network": {"backend": "ns3", "loss": "5 %"}, "workload": LARGE},
    "crash, restart, service": {
        "workload": FLOOD,
        "faults": [*CRASH, REPLACE],
        "service": {"model": "type", "seconds": {"event": "3 ms"}},
    },
    "unicast, rerouted": {"protocol": BY_TCP, "workload": FLOOD, "faults": [*CRASH, REPLACE]},
    "datagrams, fragmented and lost": {
        "network": {"backend": "ns3", "loss": "5 %"},
        "protocol": BY_UDP,
        "workload": LARGE,
        "faults": CRASH[:1],
    },
    "routers": {"network": ROUTERS, "workload": FLOOD, "faults": CRASH},
    "routers, unicast, one end": {
        "network": {**ROUTERS, "capture": "one"},
        "protocol": BY_UDP,
        "workload": FLOOD,
        "faults": CRASH[:1],
    },
    "latencies": {
        "network": LATENCIES,
        "workload": {**FLOOD, "start": "1 s"},
        "faults": [*CRASH, REPLACE],
    },
    "full queues": {
        "network": {"backend": "ns3", "tcp": "stock", "rate": "1 Mbit/s", "queue": 5},
        "workload": LARGE,
    },
}


@pytest.mark.parametrize("name", RUNS)
def test_books_balance(tmp_path: Path, name: str) -> None:
    books = balance(make_run(tmp_path, **RUNS[name]))
    assert (books.problems, books.unchecked) == ([], [])
    assert all(row.captured_leaving is not None for row in books.types)
    assert sum(row.sent for row in books.types) > 100


@pytest.mark.parametrize(
    ("capture", "where", "why"),
    [
        ("one", {"leave": 4, "arrive": 8}, "links were captured at their lower end only"),
        (["0-1", "2-3"], {"leave": 6, "arrive": 6}, "only 2 links were captured"),
        ("none", {"leave": 12, "arrive": 12}, "nothing was captured"),
    ],
)
def test_what_was_not_captured_is_said_to_be_unchecked(
    tmp_path: Path, capture: object, where: dict[str, int], why: str
) -> None:
    # Events go from 0 to 4 over four links, subscriptions of two patterns from 4 and 3 to 0.
    run = make_run(tmp_path, network={"backend": "ns3", "capture": capture}, workload=FLOOD)
    books = balance(run)
    assert books.balanced
    assert books.unchecked == [
        f"{count} of 12 flows were not held against captures where they {verb}: {why}"
        for verb, count in where.items()
    ]


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five brokers in a line: one subscription from 4 to 0, twenty events from 0 to 4."""
    steps: list[dict[str, object]] = [{"time": "1 s", "broker": 4, "subscribe": "price < 30"}]
    steps += [
        {"time": f"{2000 + 50 * number} ms", "broker": 0, "publish": {"price": number}}
        for number in range(20)
    ]
    return make_run(tmp_path_factory.mktemp("line"), workload={"kind": "script", "steps": steps})


def records(path: Path) -> tuple[bytes, list[bytes]]:
    """A capture's file header and its records."""
    data, at, found = path.read_bytes(), 24, []
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 8)
        found.append(data[at : at + 16 + size])
        at += 16 + size
    return data[:24], found


def carrying(found: list[bytes]) -> list[int]:
    """Which records carry a message."""
    return [number for number, record in enumerate(found) if len(record) > 16 + 2 + 20 + 40]


def corrupted(line: Path, place: Path, capture: str, change: Callable[[list[bytes]], None]) -> Path:
    """A copy of the run in which a capture was changed, and its manifest too, so that only the
    counts can tell."""
    copy = shutil.copytree(line, place / "copy")
    path = copy / "captures" / capture
    header, found = records(path)
    change(found)
    path.write_bytes(header + b"".join(found))
    captures = FinishedRun(copy).manifest["captures"]
    captures["files"][capture] = {"bytes": path.stat().st_size, "sha256": sha256(path)}
    rewrite_manifest(copy, captures=captures)
    return copy


def drop_in_the_middle(found: list[bytes]) -> None:
    del found[carrying(found)[10]]


def cut_off(found: list[bytes]) -> None:
    del found[carrying(found)[15] :]


def another_type(found: list[bytes]) -> None:
    number = carrying(found)[10]
    record = bytearray(found[number])
    record[16 + 2 + 20 + 32 + 5] = 201
    found[number] = bytes(record)


def another_body(found: list[bytes]) -> None:
    number = carrying(found)[10]
    found[number] = found[number][:-1] + bytes([found[number][-1] ^ 1])


def test_a_capture_without_one_packet_does_not_balance(line: Path, tmp_path: Path) -> None:
    books = balance(corrupted(line, tmp_path, "b3-b2.pcap", drop_in_the_middle))
    assert books.problems == [
        "event from broker 2 to broker 3 by link: captures/b3-b2.pcap shows 9 of 243 bytes "
        "arriving, the network's counters have 20 of 540 bytes received (none lost or unfinished); "
        "in all, broker 3 received 20 of 540 bytes by its agent's books, 20 of 540 bytes by "
        "counters (b3-b2: connection 0, 10.128.0.9:49153 to 10.128.0.10:7471: 27 bytes are missing "
        "and never come; the 270 bytes seen behind them are not read)"
    ]


def test_a_capture_that_ends_early_does_not_balance(line: Path, tmp_path: Path) -> None:
    books = balance(corrupted(line, tmp_path, "b1-b2.pcap", cut_off))
    (problem,) = books.problems
    assert problem.startswith(
        "event from broker 1 to broker 2 by link: captures/b1-b2.pcap shows 14 of 378 bytes "
        "leaving, the network's counters have 20 of 540 bytes sent"
    )


def test_a_flipped_type_is_a_message_too_few_and_one_too_many(line: Path, tmp_path: Path) -> None:
    books = balance(corrupted(line, tmp_path, "b0-b1.pcap", another_type))
    event, unknown = books.problems
    assert event.startswith(
        "event from broker 0 to broker 1 by link: captures/b0-b1.pcap shows 19 of 513 bytes "
        "leaving, the network's counters have 20 of 540 bytes sent"
    )
    assert unknown.startswith(
        "type-201 from broker 0 to broker 1 by link: captures/b0-b1.pcap shows 1 of 27 bytes "
        "leaving, the network's counters have 0 of 0 bytes sent"
    )


def test_other_bytes_of_the_same_length_are_seen_too(line: Path, tmp_path: Path) -> None:
    books = balance(corrupted(line, tmp_path, "b0-b1.pcap", another_body))
    assert books.problems == [
        "event from broker 0 to broker 1 by link: what is arriving in captures/b1-b0.pcap has "
        "other bytes than what is leaving in captures/b0-b1.pcap"
    ]


def test_a_capture_that_is_not_the_runs_fails_the_analysis_and_leaves_none(
    spark: SparkSession, line: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(line, tmp_path / "copy")
    (copy / "analysis").mkdir()
    truncated = (copy / "captures" / "b0-b1.pcap").read_bytes()[:-5]
    (copy / "captures" / "b0-b1.pcap").write_bytes(truncated)
    (copy / "captures" / "b1-b0.pcap").write_bytes(b"")
    with pytest.raises(BooksError) as error:
        analyze(spark, copy)
    changed, emptied, *counts = error.value.books.problems
    assert changed.startswith("captures/b0-b1.pcap has")
    assert emptied.startswith("captures/b1-b0.pcap has 0 bytes, the run wrote")
    assert any("captures/b1-b0.pcap shows 0 of 0 bytes arriving" in count for count in counts)
    assert any(f"(b1-b0: {copy}/captures/b1-b0.pcap is empty)" in count for count in counts)
    assert str(error.value).startswith(f"the books of {copy} do not balance (")
    assert not (copy / "analysis").exists()
    assert [path.name for path in copy.iterdir() if path.name.startswith(".")] == []


def change_table(run: Path, name: str, change: Callable[[pd.DataFrame], None]) -> None:
    path = run / "tables" / f"{name}.parquet"
    schema = pq.read_schema(path)
    table = pd.read_parquet(path)
    change(table)
    table.to_parquet(path, schema=schema)


def one_more(column: str, row: int) -> Callable[[pd.DataFrame], None]:
    def change(table: pd.DataFrame) -> None:
        table.loc[row, column] += 1

    return change


def test_changed_counters_contradict_everyone_else(line: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(line, tmp_path / "copy")
    change_table(copy, "counters", one_more("sent", 0))
    books = balance(copy)
    assert [problem.split(" (")[0] for problem in books.problems] == [
        "event: 80 of 2,160 bytes were sent by the manifest, 81 of 2,160 bytes by the network's "
        "counters",
        "event: broker 0 sent 20 of 540 bytes by its agent's books, 21 of 540 bytes by the "
        "network's counters and 20 of 540 bytes by captures",
        "event from broker 0 to broker 1 by link: of 21 sent, 20 are accounted for: none lost or "
        "unfinished",
        "event from broker 0 to broker 1 by link: captures/b0-b1.pcap shows 20 of 540 bytes "
        "leaving, the network's counters have 21 of 540 bytes sent",
    ]


def test_a_loss_that_was_none_is_noticed(line: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(line, tmp_path / "copy")
    change_table(copy, "counters", one_more("lost_link", 0))
    books = balance(copy)
    assert books.problems == [
        "event from broker 0 to broker 1 by link: of 20 sent, 21 are accounted for: 1 lost_link"
    ]


def test_changed_books_of_an_agent_are_noticed_without_captures(tmp_path: Path) -> None:
    run = make_run(tmp_path, network={"backend": "memory"})
    change_table(run, "agents", one_more("bytes", 0))
    (problem,) = balance(run).problems
    assert "by its agent's books" in problem


def test_books_survive_a_file(line: Path) -> None:
    books = balance(line)
    assert Books.from_dict(books.as_dict()) == books


def test_captures_are_not_listed_anew_for_every_flow(
    line: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with a thousand links has a thousand captures and ten times as many flows."""
    listed, captures = [], FinishedRun.captures

    def counted(run: FinishedRun) -> list[Path]:
        listed.append(run)
        return captures(run)

    monkeypatch.setattr(FinishedRun, "captures", counted)
    assert keep(FinishedRun(line)).problems  # nothing was read, so every flow is missed
    assert len(listed) <= 3
