"""The experiment files that come with pysim do what their comments say."""

from pathlib import Path

import pytest

from pysim.experiments.config import load
from pysim.experiments.plan import prepare
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
