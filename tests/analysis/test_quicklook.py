"""A first look at a run needs nothing but its files."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("backend", ["memory", "ns3"])
def test_a_run_becomes_a_picture(backend: str, tmp_path: Path) -> None:
    made = run(
        "pysim", "run", "experiments/first.toml", "--quiet",
        "--set", f'network.backend="{backend}"', "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    look = run("analysis.quicklook", str(tmp_path / "run"))
    assert (look.returncode, look.stderr) == (0, "")
    picture = tmp_path / "run" / "overview.png"
    assert look.stdout == f"picture      {picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 30_000


def test_what_is_no_run_is_refused_in_one_sentence(tmp_path: Path) -> None:
    look = run("analysis.quicklook", str(tmp_path))
    assert look.returncode == 2
    assert look.stderr == f"{tmp_path} is no finished run: it has no manifest.json\n"
