"""A run: complete results that say what was run, the same ones every time, or nothing at all."""

import gc
import json
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from pysim.brokers import EventForwarding, registry
from pysim.experiments.capture import largest_captures
from pysim.experiments.config import ConfigError, load
from pysim.experiments.directory import RunDirectoryError
from pysim.experiments.manifest import Manifest, read, versions
from pysim.experiments.plan import prepare
from pysim.experiments.probes import CARRIED, CARRIED_ON_HEAD
from pysim.experiments.run import RunError, run
from pysim.network.host import AgentError
from pysim.network.simulation import Simulation
from pysim.wire import Envelope
from tests.experiments.files import SCRIPT, small_plan

PRICES: dict[str, Any] = {"workload": SCRIPT}

LIVELY: dict[str, Any] = {
    "network": {"backend": "ns3", "capture": "both"},
    "topology": {"kind": "random-tree", "brokers": 12},
    "workload__churn": "1 /s",
    "faults": [{"kind": "reconfigurations", "start": "2 s", "stop": "3 s"}],
}


def rows(run: Path, table: str) -> list[tuple[Any, ...]]:
    columns = pq.read_table(run / "tables" / f"{table}.parquet").to_pydict()
    return list(zip(*columns.values(), strict=True))


def files(directory: Path) -> dict[str, bytes]:
    found = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in found}


def untimed(manifest: Manifest) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(manifest)
    del plain["timings"]
    return plain


def test_a_run_leaves_its_tables_and_its_manifest(tmp_path: Path) -> None:
    final = tmp_path / "out" / "seed1"
    result = run(small_plan(tmp_path, **PRICES), final, "seed1")
    second = 1_000_000_000
    hop = 2_000_000
    assert sorted(entry.name for entry in final.iterdir()) == [
        "config.toml",
        "manifest.json",
        "tables",
    ]
    assert rows(final, "events") == [(0, 1, 0, 0, 2 * second, 1), (0, 2, 0, 0, 3 * second, 0)]
    assert rows(final, "deliveries") == [
        (0, 1, 4, 0, 2 * second, 2 * second + 4 * hop, "made", ""),
    ]
    assert rows(final, "subscriptions") == [(4, 0, "price < 30", second, None)]
    assert rows(final, "links") == [(i, i + 1, 0.002, 10e6) for i in range(4)]
    assert [row[:6] for row in rows(final, "counters")] == [
        (0, 1, "link", "event", 1, 27),
        (1, 0, "link", "subscribe", 1, 26),
        (1, 2, "link", "event", 1, 27),
        (2, 1, "link", "subscribe", 1, 26),
        (2, 3, "link", "event", 1, 27),
        (3, 2, "link", "subscribe", 1, 26),
        (3, 4, "link", "event", 1, 27),
        (4, 3, "link", "subscribe", 1, 26),
    ]
    assert [rows(final, name) for name in ("changes", "queues", "records")] == [[], [], []]
    assert result == read(final)


def test_a_manifest_says_what_was_run(tmp_path: Path) -> None:
    manifest = run(small_plan(tmp_path, **PRICES), tmp_path / "run", "point_seed1")
    assert (manifest.experiment, manifest.run, manifest.status) == (
        "small",
        "point_seed1",
        "complete",
    )
    assert manifest.network == {"backend": "memory", "mode": "links"}
    assert manifest.versions == versions()
    assert manifest.config["network"]["rate"] == 10e6
    assert (manifest.deliveries.due, manifest.deliveries.made) == (1, 1)
    assert manifest.operations == {"taken": 3, "skipped": 0, "done": 3}
    assert list(manifest.messages) == ["subscribe", "event"]
    assert (manifest.messages["event"].sent, manifest.messages["event"].sent_bytes) == (4, 108)
    assert (manifest.captures.policy, manifest.captures.files) == ("none", {})
    assert list(manifest.fingerprint) == ["contents", "times", "deliveries"]


def test_a_run_can_be_repeated_from_its_directory(tmp_path: Path) -> None:
    (tmp_path / "tree.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
        '<node id="0"/><node id="1"/><edge source="0" target="1"/></graph></graphml>'
    )
    plan = small_plan(tmp_path, topology={"file": "tree.graphml"}, seed=5)
    first = run(plan, tmp_path / "first", "seed5")
    again = prepare(load(tmp_path / "first" / "config.toml"))
    second = run(again, tmp_path / "second", "seed5")
    assert first.fingerprint == second.fingerprint
    assert list(first.inputs) == ["tree.graphml"]


def test_changes_and_queues_are_results(tmp_path: Path) -> None:
    plan = small_plan(
        tmp_path,
        **PRICES,
        service={"model": "type", "seconds": {"event": "10 ms"}},
        faults=[
            {"kind": "link-replace", "time": "2.5 s", "old": "0-1", "new": "0-2"},
            {"kind": "link-loss", "time": "3.5 s", "link": "1-2", "loss": "10 %"},
            {"kind": "broker-crash", "time": "3.6 s", "broker": 4},
        ],
    )
    run(plan, tmp_path / "run", "seed1")
    ms = 1_000_000
    assert rows(tmp_path / "run", "changes") == [
        (2500 * ms, "break", 0, 1, None, 0),
        (2600 * ms, "create", 0, 2, None, 0),
        (3500 * ms, "loss", 1, 2, 0.1, None),
        (3600 * ms, "crash", 4, None, None, None),
    ]
    busy = {broker: (served, busy) for broker, served, busy, *_ in rows(tmp_path / "run", "queues")}
    assert busy[4][1] == 10 * ms


@pytest.mark.parametrize("backend", ["memory", "ns3"])
def test_two_processes_leave_the_same_bytes(tmp_path: Path, backend: str) -> None:
    plan = small_plan(tmp_path, **LIVELY | {"network__backend": backend})
    run(plan, tmp_path / "here", "x")
    program = (
        "import pathlib, sys\n"
        "from pysim.experiments import config, plan, run\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "made = plan.prepare(config.load(folder / 'here' / 'config.toml'))\n"
        "run.run(made, folder / 'there', 'x')\n"
    )
    environment = {"PYTHONHASHSEED": "12345", "PATH": ""}
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, env=environment)
    here, there = files(tmp_path / "here"), files(tmp_path / "there")
    assert untimed(read(tmp_path / "here")) == untimed(read(tmp_path / "there"))
    del here["manifest.json"], there["manifest.json"]
    assert here == there
    assert any(name.endswith(".pcap") for name in here) == (backend == "ns3")


def test_both_networks_come_to_the_same_decisions(tmp_path: Path) -> None:
    settings = {**PRICES, "topology": {"kind": "balanced-tree", "brokers": 7}}
    memory, ns3 = (
        run(small_plan(tmp_path, **settings, network__backend=backend), tmp_path / backend, "x")
        for backend in ("memory", "ns3")
    )
    assert memory.fingerprint["contents"] == ns3.fingerprint["contents"]
    assert memory.fingerprint["deliveries"] == ns3.fingerprint["deliveries"]
    assert memory.fingerprint["times"] != ns3.fingerprint["times"]
    assert (memory.network["backend"], ns3.network) == (
        "memory",
        {"backend": "ns3", "mode": "links", "tcp": "linux"},
    )


FLOOD = {"kind": "flood", "rate": "200 /s", "size": "3000 B"}


@pytest.mark.parametrize(
    "settings",
    [
        LIVELY,
        {"network": {"backend": "ns3", "capture": "one", "tcp": "lean"}, "workload": FLOOD},
        {"network": {"backend": "ns3", "capture": ["0-1"], "tcp": "stock"}, "workload": FLOOD},
        {"network": {"backend": "ns3", "loss": "1 %"}, "workload": FLOOD},
        {
            "network": {"backend": "ns3", "mode": "underlay", "underlay": {"kind": "transit-stub"}},
            "workload": FLOOD,
        },
        {
            "network": {
                "backend": "ns3",
                "mode": "underlay",
                "underlay": {"kind": "king-like", "hosts": 20},
                "capture": "one",
            },
            "workload__start": "1 s",
        },
    ],
)
def test_captures_are_never_larger_than_foretold(
    tmp_path: Path, settings: dict[str, object]
) -> None:
    plan = small_plan(tmp_path, **settings)
    captures = run(plan, tmp_path / "run", "x").captures
    assert captures.bytes == sum(
        path.stat().st_size for path in (tmp_path / "run" / "captures").iterdir()
    )
    assert 0 < captures.bytes <= largest_captures(plan)


def test_captures_that_do_not_fit_on_the_disk_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10_000, 0, 10_000))
    plan = small_plan(tmp_path, network={"backend": "ns3", "capture": "both"}, workload=FLOOD)
    with pytest.raises(ConfigError) as error:
        run(plan, tmp_path / "run", "seed1")
    assert str(error.value) == (
        'small.toml: network.capture = "both": captures may take 16.5 MB,'
        f" and 10 kB are free on {tmp_path}"
    )
    assert not (tmp_path / "run").exists()


class Stumbling(EventForwarding):
    """Fails on its second event."""

    name = "stumbling"

    def publish(self, client: int, event: Envelope) -> None:
        if event.sequence == 2:
            raise ZeroDivisionError("one event too many")
        super().publish(client, event)


def test_an_agent_that_fails_stops_the_run_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._PROTOCOLS, "stumbling", Stumbling)
    plan = small_plan(tmp_path, **PRICES, protocol={"name": "stumbling"})
    with pytest.raises(AgentError) as error:
        run(plan, tmp_path / "out" / "seed1", "seed1")
    assert str(error.value) == (
        "broker 0 failed at 3.000000000 s on the publish of client 0 at broker 0:"
        " ZeroDivisionError: one event too many"
    )
    assert list((tmp_path / "out").iterdir()) == []


def test_books_that_do_not_balance_are_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Simulation, "balance", lambda self: ["a message too few", "another"])
    with pytest.raises(RunError) as error:
        run(small_plan(tmp_path), tmp_path / "out" / "seed1", "seed1")
    assert str(error.value) == "the books do not balance: a message too few (and 1 more)"
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("backend", ["memory", "ns3"])
@pytest.mark.parametrize(("second", "overlap"), [("2.001 s", True), ("2.1 s", False)])
def test_replacements_that_overlap_are_no_result_of_a_protocol_that_takes_them_in_turn(
    backend: str, second: str, overlap: bool, tmp_path: Path
) -> None:
    """0 - 1 - 2 - 3 - 4 - 5 - 6 - 7: 1-2 gives way to 0-3 while 5-6 does to 4-7, far from it.

    Each walk takes three hops of 2 ms and the FLUSH back.
    """
    plan = small_plan(
        tmp_path,
        network={"backend": backend, "delay": "2 ms"},
        topology={"kind": "line", "brokers": 8},
        protocol={"name": "reconfiguration-path"},
        faults=[
            {"kind": "link-replace", "time": time, "old": old, "new": new, "repair": "100 ms"}
            for time, old, new in (("2 s", "1-2", "0-3"), (second, "5-6", "4-7"))
        ],
    )
    if not overlap:
        run(plan, tmp_path / "out" / "seed1", "seed1")
        return
    with pytest.raises(RunError) as error:
        run(plan, tmp_path / "out" / "seed1", "seed1")
    assert str(error.value) == (
        "at 2.101 s a link is replaced while another replacement goes on, and"
        " reconfiguration-path takes one after the other: let links break less often"
    )
    assert list((tmp_path / "out").iterdir()) == []


def test_a_run_that_is_there_is_kept_unless_it_may_be_replaced(tmp_path: Path) -> None:
    first = run(small_plan(tmp_path), tmp_path / "run", "seed1")
    other = small_plan(tmp_path, seed=2)
    with pytest.raises(RunDirectoryError):
        run(other, tmp_path / "run", "seed1")
    assert read(tmp_path / "run") == first
    second = run(other, tmp_path / "run", "seed2", replace=True)
    assert read(tmp_path / "run") == second != first


def test_garbage_is_collected_as_before_when_a_run_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = gc.get_threshold()
    meanwhile = []
    balance = Simulation.balance
    monkeypatch.setattr(
        Simulation, "balance", lambda self: meanwhile.append(gc.get_threshold()) or balance(self)
    )
    run(small_plan(tmp_path), tmp_path / "run", "seed1")
    assert meanwhile[0][0] > before[0]
    assert gc.get_threshold() == before


@pytest.mark.parametrize(
    ("protocol", "recorded"),
    [
        ("subscription-forwarding", set()),
        ("informed-link-activation", {CARRIED}),
        ("reconfiguration-path", {CARRIED, CARRIED_ON_HEAD}),
    ],
)
def test_patterns_are_counted_where_messages_carry_any(
    tmp_path: Path, protocol: str, recorded: set[str]
) -> None:
    lively = LIVELY | {"network": {"backend": "memory"}}
    plan = small_plan(tmp_path, **lively, measure=["traffic"], protocol={"name": protocol})
    run(plan, tmp_path / "run", "seed1")
    assert {name for _, name, *_ in rows(tmp_path / "run", "records")} == recorded


def test_lists_and_links_that_agents_asked_for_are_results(tmp_path: Path) -> None:
    published = [
        {"time": f"{1 + number / 10:.1f} s", "broker": 0, "publish": {"price": 20}}
        for number in range(80)
    ]
    steps = [
        {"time": "0.5 s", "broker": 0, "advertise": "price > 0"},
        {"time": "0.8 s", "broker": 4, "subscribe": "price < 30"},
        *published,
    ]
    plan = small_plan(
        tmp_path,
        duration="10 s",
        measure=["lists"],
        protocol={"name": "d-dbr", "cycle": "5 s", "slot": "0.5 s"},
        workload={"kind": "script", "steps": steps},
    )
    final = tmp_path / "out"
    assert run(plan, final, "seed1").deliveries.is_exact
    (asked,) = rows(final, "changes")
    assert asked[1:] == ("create", 4, 0, None, None)
    assert ("b0", "b4") in [wire[:2] for wire in rows(final, "wires")]
    lists = [row for row in rows(final, "lists") if row[2] == "addressed-event"]
    sent = {(source, target): messages for source, target, _, _, _, messages, _ in lists}
    assert list(sent) == [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]
    assert {length for *_, length, _, _ in lists} == {1}
    assert sent[0, 1] == sent[1, 2] == sent[2, 3] == sent[3, 4] == 80 - sent[0, 4] < 80


def test_progress_hears_the_simulated_time(tmp_path: Path) -> None:
    heard: list[int] = []
    plan = small_plan(tmp_path, workload={"kind": "flood", "rate": "2000 /s"})
    run(plan, tmp_path / "run", "seed1", progress=heard.append)
    assert heard
    assert heard == sorted(heard)
    assert heard[-1] <= 4_000_000_000


def test_a_manifest_that_is_not_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a run: No such file or directory"):
        read(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"experiment": 3}))
    with pytest.raises(ValueError, match="cannot be read: "):
        read(tmp_path)
