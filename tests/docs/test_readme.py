"""What the README shows is what comes; its commands are tried with those of all pages."""

import subprocess
import sys
import tomllib
from pathlib import Path

from tools.site.pages import ROOT, Page

README = Page("README.md")
FIRST = "experiments/first.toml"


def blocks(language: str) -> list[str]:
    return [block.text for block in README.blocks() if block.language == language]


def test_the_broker_in_thirty_lines_delivers_on_a_ring_of_packets_too(tmp_path: Path) -> None:
    broker, script = blocks("python")
    assert len(broker.splitlines()) <= 30
    (tmp_path / "seen_flooding.py").write_text(broker)
    exchanged = script.replace("MemoryTransport()", "Ns3Transport(Ns3Settings(brokers=6))")
    assert exchanged != script
    imported = "from pysim.network.ns3 import Ns3Settings, Ns3Transport\n"
    (tmp_path / "run.py").write_text(f"{script}\n{imported}{exchanged}")
    run = subprocess.run(
        [sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("due=1, made=1, missing=0") == 2


def test_the_experiment_explained_is_the_one_that_ships() -> None:
    (shown,) = blocks("toml")
    explained = tomllib.loads(shown)
    shipped = tomllib.loads((ROOT / FIRST).read_text())
    steps = explained["workload"].pop("steps")
    assert steps == shipped["workload"].pop("steps")[: len(steps)]
    shipped.pop("description")
    assert explained == shipped


def test_the_first_experiment_prints_the_table_shown(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pysim", "run", FIRST, "--quiet", "--out", str(tmp_path / "run")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    shown, _ = blocks("text")
    assert shown in run.stdout
