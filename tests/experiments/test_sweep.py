"""A sweep knows which of its runs are there, what has changed, and what the rest will take."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow.parquet as pq
import pytest

from pysim.experiments import index as indexes
from pysim.experiments.config import ConfigError, expand, load
from pysim.experiments.directory import RunDirectoryError
from pysim.experiments.index import Index, Row
from pysim.experiments.plan import prepare
from pysim.experiments.run import run
from pysim.experiments.sweep import SECONDS_PER_HOP, SECONDS_TO_START, Campaign, Sweep, repetitions
from tests.experiments.files import small

SWEPT: dict[str, Any] = {"repeat": 2, "sweep": {"network.delay": ["1 ms", "2 ms"]}}


def sweep(folder: Path, **settings: object) -> Sweep:
    return Sweep(small(folder, **{**SWEPT, **settings}), folder / "out")


def run_one(swept: Sweep, name: str, **settings: object) -> None:
    """Run a run of a sweep, as a process of its own does: from its text alone."""
    path = swept.root.parent / "one.toml"
    path.write_text(swept.runs[name].text)
    plan = prepare(load(path, {key.replace("__", "."): value for key, value in settings.items()}))
    run(plan, swept.runs[name].directory, name)


def states(swept: Sweep) -> list[str]:
    return [run.state for run in swept.runs.values()]


def test_runs_that_are_there_are_known_by_their_configuration(tmp_path: Path) -> None:
    before = sweep(tmp_path)
    assert states(before) == ["missing"] * 4
    run_one(before, "delay=1ms_seed2")
    after = sweep(tmp_path, description="another text changes no result")
    assert states(after) == ["missing", "complete", "missing", "missing"]
    found = after.runs["delay=1ms_seed2"]
    manifest = json.loads((found.directory / "manifest.json").read_bytes())
    assert found.fingerprint == "-".join(part[:16] for part in manifest["fingerprint"].values())
    assert (manifest["run"], manifest["seed"]) == ("delay=1ms_seed2", 2)


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ({"network__rate": "1 Mbit/s"}, "network.rate was 1000000.0 and is 10000000.0 now"),
        (
            {"faults": [{"kind": "link-break", "time": 3, "link": "0-1"}]},
            'faults[0].kind was "link-break" and is not given now',
        ),
    ],
)
def test_another_configuration_is_noticed(
    tmp_path: Path, settings: dict[str, object], note: str
) -> None:
    run_one(sweep(tmp_path), "delay=1ms_seed1", **settings)
    found = sweep(tmp_path)
    assert states(found) == ["changed", "missing", "missing", "missing"]
    assert found.runs["delay=1ms_seed1"].note == note


def test_another_version_is_noticed(tmp_path: Path) -> None:
    before = sweep(tmp_path)
    run_one(before, "delay=1ms_seed1")
    path = before.runs["delay=1ms_seed1"].directory / "manifest.json"
    manifest = json.loads(path.read_bytes())
    version = manifest["versions"]["ns3"]
    manifest["versions"]["ns3"] = "3.43"
    path.write_text(json.dumps(manifest))
    found = sweep(tmp_path).runs["delay=1ms_seed1"]
    assert (found.state, found.note) == (
        "changed",
        f'versions.ns3 was "3.43" and is "{version}" now',
    )


def test_a_topology_file_counts_by_its_contents(tmp_path: Path) -> None:
    for folder, brokers in (("here", 3), ("there", 3), ("elsewhere", 4)):
        (tmp_path / folder).mkdir()
        nx.write_gml(nx.path_graph(brokers), tmp_path / folder / "line.gml")

    def seen(folder: str) -> Sweep:
        config = small(tmp_path / folder, topology={"file": "line.gml"})
        return Sweep(config, tmp_path / "out")

    run_one(seen("here"), "seed1")
    assert states(seen("there")) == ["complete"]
    changed = seen("elsewhere")
    assert states(changed) == ["changed"]
    assert changed.runs["seed1"].note.startswith('topology.file was "line.gml ')


def test_a_manifest_that_cannot_be_read_is_no_complete_run(tmp_path: Path) -> None:
    directory = tmp_path / "out" / "delay=1ms_seed1"
    directory.mkdir(parents=True)
    (directory / "manifest.json").write_text("{")
    found = sweep(tmp_path).runs["delay=1ms_seed1"]
    assert found.state == "changed"
    assert "manifest.json cannot be read" in found.note


def test_a_directory_that_is_no_run_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / "out" / "delay=1ms_seed1"
    directory.mkdir(parents=True)
    (directory / "thesis.tex").write_text("precious")
    with pytest.raises(RunDirectoryError, match="is not a run"):
        sweep(tmp_path)


def test_every_point_is_checked_before_any_runs(tmp_path: Path) -> None:
    faults = [{"kind": "link-break", "time": 1, "link": "3-4"}]
    with pytest.raises(ConfigError) as error:
        sweep(tmp_path, faults=faults, sweep={"topology.brokers": [5, 4]})
    assert str(error.value).endswith("(in the sweep, at topology.brokers = 4, seed = 1)")


def test_failed_runs_are_remembered_until_they_change(tmp_path: Path) -> None:
    first = sweep(tmp_path)
    first.hear("delay=1ms_seed1", "no memory", 3.0)
    (tmp_path / "out").mkdir()
    indexes.write(first.index(), tmp_path / "out")
    again = sweep(tmp_path)
    assert states(again) == ["failed", "missing", "missing", "missing"]
    assert again.runs["delay=1ms_seed1"].note == "no memory"
    assert "delay=1ms_seed1" not in {run.name for run in again.to_do(retry_failed=False)}
    assert "delay=1ms_seed1" in {run.name for run in again.to_do(retry_failed=True)}
    assert states(sweep(tmp_path, network__rate="1 Mbit/s")) == ["missing"] * 4


def test_only_the_directory_says_that_a_run_is_complete(tmp_path: Path) -> None:
    found = sweep(tmp_path)
    absent = found.hear("delay=1ms_seed1", "", 1.0)
    assert (absent.state, absent.note) == (
        "failed",
        f"{absent.directory} is not there; all machines must share that disk",
    )
    run_one(found, "delay=2ms_seed1")
    found.look_again()
    assert states(found) == ["failed", "missing", "complete", "missing"]
    run_one(found, "delay=2ms_seed2")
    there = found.hear("delay=2ms_seed2", "is there already", 1.0)
    assert (there.state, there.note, there.seconds) == ("complete", "", 1.0)


def test_the_longest_runs_come_first(tmp_path: Path) -> None:
    found = sweep(tmp_path, repeat=1, sweep={"workload.rate": ["2 /s", "9 /s", "5 /s"]})
    assert [run.name for run in found.to_do(False)] == [
        "rate=9-s_seed1",
        "rate=5-s_seed1",
        "rate=2-s_seed1",
    ]


def test_estimates_are_a_rule_of_thumb_until_runs_have_shown_better(tmp_path: Path) -> None:
    found = sweep(tmp_path, network__backend="ns3")
    first, *_ = found.runs.values()
    assert found.seconds(first) == SECONDS_TO_START + SECONDS_PER_HOP["ns3"] * first.hops
    assert found.bytes(first) == first.captures > 0
    run_one(found, first.name)
    shown = sweep(tmp_path, network__backend="ns3")
    complete, other, *_ = shown.runs.values()
    assert shown.costs["ns3"].runs == 1
    assert shown.seconds(other) == pytest.approx(complete.seconds)
    assert shown.bytes(other) == pytest.approx(complete.captured)
    assert 0 < complete.captured < complete.captures


def test_the_index_has_a_row_for_each_run_that_has_ended(tmp_path: Path) -> None:
    found = sweep(tmp_path)
    run_one(found, "delay=1ms_seed1")
    found.hear("delay=1ms_seed1", "", 2.5)
    found.hear("delay=2ms_seed2", "killed", 1.0)
    indexes.write(found.index(), tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "sweep.parquet").to_pylist()
    assert [list(row) for row in table] == [
        [
            "run",
            "seed",
            "network.delay",
            "status",
            "error",
            "seconds",
            "directory",
            "fingerprint",
            "configuration",
        ]
    ] * 2
    assert [tuple(row.values())[:7] for row in table] == [
        ("delay=1ms_seed1", 1, "1 ms", "complete", "", 2.5, "delay=1ms_seed1"),
        ("delay=2ms_seed2", 2, "2 ms", "failed", "killed", 1.0, "delay=2ms_seed2"),
    ]
    assert indexes.read(tmp_path / "out") == found.index().runs
    assert json.loads((tmp_path / "out" / "sweep.json").read_bytes())["total"] == 4


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([1, 2], [1, 2]),
        ([1, 2.5], [1.0, 2.5]),
        (["1 ms", 2], ["1 ms", "2"]),
        ([True, False], [True, False]),
        ([{"kind": "flood"}, [1]], ['{"kind": "flood"}', "[1]"]),
    ],
)
def test_swept_values_of_any_kind_have_a_column(
    tmp_path: Path, values: list[object], column: list[object]
) -> None:
    rows = [
        Row(
            run=f"run{number}",
            seed=1,
            settings={"key": value},
            status="complete",
            error="",
            seconds=1.0,
            directory=f"run{number}",
            fingerprint="",
            configuration="",
        )
        for number, value in enumerate(values)
    ]
    index = Index(experiment="x", description="", keys=["key"], total=2, runs=rows)
    indexes.write(index, tmp_path)
    assert pq.read_table(tmp_path / "sweep.parquet").column("key").to_pylist() == column


def test_an_index_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sweep.json").write_text("[")
    with pytest.raises(RunDirectoryError, match=r"sweep\.json cannot be read"):
        sweep(tmp_path)


def test_two_sweeps_do_not_meet_in_one_directory(tmp_path: Path) -> None:
    with indexes.exclusive(tmp_path / "out"):
        with pytest.raises(RunDirectoryError) as error, indexes.exclusive(tmp_path / "out"):
            pass
        assert str(error.value) == f"another sweep is writing to {tmp_path / 'out'} now"
    with indexes.exclusive(tmp_path / "out"):
        pass


def test_runs_of_another_sweep_are_named(tmp_path: Path) -> None:
    run_one(sweep(tmp_path), "delay=1ms_seed1")
    assert sweep(tmp_path).foreign() == []
    assert sweep(tmp_path, sweep={"network.delay": ["5 ms"]}).foreign() == ["delay=1ms_seed1"]


def test_the_first_repetitions_have_seeds_and_topologies_of_their_own(tmp_path: Path) -> None:
    swept = {"topology.draw": [1, 2, 3], "topology.brokers": [5, 6]}
    grown = {"mode": "underlay", "underlay": {"kind": "king-like"}, "backend": "memory"}
    config = small(tmp_path, topology__kind="latency-tree", network=grown, repeat=3, sweep=swept)
    groups = [
        [(point.settings["topology.draw"], point.config.experiment.seed) for point in group]
        for group in repetitions(expand(config))
    ]
    assert groups == [
        [(1, 1), (2, 2), (3, 3), (1, 2), (2, 3), (3, 1), (1, 3), (2, 1), (3, 2)]
    ] * 2  # fmt: skip


def test_a_campaign_may_have_the_first_repetitions_only(tmp_path: Path) -> None:
    config = small(tmp_path, **{**SWEPT, "repeat": 3})
    campaign = Campaign("few", {"figure": config}, tmp_path, first=2)
    assert campaign.repeats == {"figure": (2, 3)}
    assert sorted(run.seed for run in campaign.runs.values()) == [1, 1, 2, 2]
    assert Campaign("all", {"figure": config}, tmp_path).repeats == {"figure": (3, 3)}
