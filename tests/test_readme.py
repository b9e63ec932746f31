"""What the README says, happens."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST = "experiments/first.toml"
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_broker_in_thirty_lines_delivers_on_a_ring(tmp_path: Path) -> None:
    broker, script = blocks("python")
    assert len(broker.splitlines()) <= 30
    (tmp_path / "seen_flooding.py").write_text(broker)
    (tmp_path / "run.py").write_text(script)
    for text in (script, script.replace("MemoryTransport()", "Ns3Transport(Ns3Settings(6))")):
        (tmp_path / "run.py").write_text(
            "from pysim.network.ns3 import Ns3Settings, Ns3Transport\n" + text
        )
        run = subprocess.run(
            [sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        assert "due=1, made=1, missing=0" in run.stdout


def test_it_runs_any_experiment_and_keeps_its_promises(tmp_path: Path) -> None:
    broker, _ = blocks("python")
    (tmp_path / "seen_flooding.py").write_text(broker)
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    typed = [line for line in lines if "seen_flooding" in line or "new-protocol" in line]
    assert len(typed) == 3
    for line in typed:
        command = [sys.executable, "-m", "pysim", *line.partition("#")[0].split()[1:]]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
    assert (tmp_path / "my_flooding.py").is_file()


def test_the_experiment_explained_is_the_one_that_ships() -> None:
    (shown,) = blocks("toml")
    explained = tomllib.loads(shown)
    shipped = tomllib.loads((ROOT / "experiments" / "first.toml").read_text())
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


def test_every_file_that_is_linked_exists() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
