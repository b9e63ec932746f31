"""A small run and a small sweep without packets, with an analysis made up for them."""

import json
import shutil
from pathlib import Path

import pytest

from analysis.report import build
from pysim.experiments.config import expand, load
from pysim.experiments.fingerprint import combined
from pysim.experiments.plan import prepare
from pysim.experiments.run import run
from tests.analysis.report.reading import Page
from tests.analysis.report.sample import write_analysis

HOSTILE = """<script>alert("1")</script> & 'x' </style><img src=http://evil.example/y> `#`"""
EXPERIMENT = """
name = "small"
description = '''{description}'''
duration = "4 s"
repeat = {repeat}
[network]
backend = "memory"
[topology]
kind = "random-tree"
brokers = 12
[protocol]
name = "subscription-forwarding"
[workload]
kind = "patterns"
publish_start = "1.5 s"
[[faults]]
kind = "reconfigurations"
start = "2 s"
stop = "3 s"
rate = "3 /s"
"""
SWEEP = """
[sweep]
"workload.subscribers" = ["20 %", "50 %", "100 %"]
"protocol.name" = ["subscription-forwarding", "event-forwarding"]
"""


def write_sweep(text: str, directory: Path) -> None:
    """Run all points of an experiment, and index them as a sweep does."""
    file = directory.with_suffix(".toml")
    file.write_text(text)
    whole = load(file)
    rows = []
    for point in expand(whole):
        done = run(prepare(point.config), directory / point.name, point.name)
        write_analysis(directory / point.name)
        rows.append(
            {
                "run": point.name, "seed": done.seed, "settings": dict(point.settings),
                "status": "complete", "error": "", "seconds": 1.5, "directory": point.name,
                "fingerprint": combined(done.fingerprint), "configuration": "",
            }
        )  # fmt: skip
    index = {
        "experiment": "small", "description": "", "keys": list(whole.experiment.sweep),
        "total": len(rows), "runs": rows,
    }  # fmt: skip
    (directory / "sweep.json").write_text(json.dumps(index))


@pytest.fixture(scope="session")
def _small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report")
    file = place / "small.toml"
    file.write_text(EXPERIMENT.format(description=HOSTILE, repeat=1))
    run(prepare(load(file)), place / "run", "seed1")
    write_analysis(place / "run")
    return place / "run"


@pytest.fixture(scope="session")
def _three_seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("seeds") / "small"
    write_sweep(EXPERIMENT.format(description="Seeds.", repeat=3), place)
    return place


@pytest.fixture(scope="session")
def _sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sweep") / "small"
    write_sweep(EXPERIMENT.format(description="A sweep.", repeat=2) + SWEEP, place)
    return place


@pytest.fixture(scope="session")
def small_page(_small: Path) -> Page:
    """The report on the small run; not to be changed."""
    return Page(build(_small))


@pytest.fixture(scope="session")
def seeds_page(_three_seeds: Path) -> Page:
    """The report on three seeds of one point."""
    return Page(build(_three_seeds))


@pytest.fixture(scope="session")
def sweep_page(_sweep: Path) -> Page:
    """The report on the sweep."""
    return Page(build(_sweep))


@pytest.fixture
def small(_small: Path, tmp_path: Path) -> Path:
    """A run whose description is hostile; tests may change it."""
    return Path(shutil.copytree(_small, tmp_path / "run"))


@pytest.fixture
def three_seeds(_three_seeds: Path, tmp_path: Path) -> Path:
    """A sweep of one point with three seeds."""
    return Path(shutil.copytree(_three_seeds, tmp_path / "seeds"))


@pytest.fixture
def sweep(_sweep: Path, tmp_path: Path) -> Path:
    """A sweep of six points with two seeds each."""
    return Path(shutil.copytree(_sweep, tmp_path / "sweep"))
