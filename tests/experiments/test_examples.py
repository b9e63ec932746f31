"""The experiment files that come with pysim do what their comments say."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pysim.experiments.config import expand, load
from pysim.experiments.plan import prepare
from pysim.experiments.probes import MISROUTED
from pysim.experiments.run import run

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("**/*.toml")), ids=lambda path: path.stem)
def test_every_experiment_can_run(path: Path) -> None:
    prepare(load(path).single())


@pytest.mark.parametrize("backend", ["memory", "ns3"])
def test_the_first_experiment_delivers_what_its_comments_say(tmp_path: Path, backend: str) -> None:
    plan = prepare(load(EXPERIMENTS / "first.toml", {"network.backend": backend}))
    manifest = run(plan, tmp_path / "run", "seed1")
    deliveries = manifest.deliveries
    assert (deliveries.due, deliveries.made) == (2, 2)
    assert deliveries.is_exact
    assert manifest.messages["event"].sent == 5
    assert manifest.captures.policy == ("both" if backend == "ns3" else "none")


def test_the_demonstration_loses_events_only_while_the_tree_is_broken(tmp_path: Path) -> None:
    settings: dict[str, object] = {"network.backend": "memory"}
    broken = run(prepare(load(EXPERIMENTS / "demo.toml", settings)), tmp_path / "broken", "x")
    assert len(prepare(load(EXPERIMENTS / "demo.toml")).faults) == 8
    assert broken.deliveries.missing > 0
    assert broken.deliveries.duplicate == broken.deliveries.spurious == 0
    whole = run(
        prepare(load(EXPERIMENTS / "demo.toml", {**settings, "faults": []})),
        tmp_path / "whole",
        "x",
    )
    assert whole.deliveries.is_exact


def test_optimized_tables_send_too_much_between_brokers_and_nothing_to_clients(
    tmp_path: Path,
) -> None:
    """What is sent beyond the events of exact tables is just what is counted as misrouted."""
    file = load(EXPERIMENTS / "optimized.toml", {"network.backend": "memory"})
    points = [p for p in expand(file) if p.config.experiment.protocol.name == "no-covering"]
    found = {}
    for point in points:
        manifest = run(prepare(point.config), tmp_path / point.name, point.name)
        records = pq.read_table(tmp_path / point.name / "tables/records.parquet").to_pylist()
        misrouted = sum(row["value"] for row in records if row["name"] == MISROUTED)
        by = point.config.experiment.protocol.table()["optimize"].by
        found[by] = manifest.messages["event"].sent, misrouted, manifest.deliveries
    sent, misrouted, deliveries = found[()]
    assert deliveries.made == deliveries.due > 0
    assert misrouted == 0
    assert {by for by, (_, misrouted, _) in found.items() if misrouted == 0} == {
        (),
        ("covering",),
        ("perfect-merging",),
    }
    for more, misrouted, same in found.values():
        assert more == sent + misrouted
        assert same == deliveries
