"""`pysim analyze` and `pysim books`: exit codes, what is printed, and that one bad run is only
one."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.runs import make_run
from tests.disks import mounted_disk

ROOT = Path(__file__).parents[2]


def pysim(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pysim", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good run, one with a changed capture, and one without its manifest."""
    root = tmp_path_factory.mktemp("results") / "experiment"
    good = make_run(root, "good", duration="3 s", workload__publish_start="1.5 s")
    (root / "small.toml").unlink()
    changed = shutil.copytree(good, root / "changed")
    capture = changed / "captures" / "b0-b1.pcap"
    capture.write_bytes(capture.read_bytes()[:-10])
    broken = shutil.copytree(good, root / "broken")
    (broken / "manifest.json").unlink()
    return root


def test_all_runs_are_analysed_and_bad_ones_reported(experiment: Path) -> None:
    done = pysim("analyze", str(experiment))
    good = experiment / "good"
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert first.startswith(f"analysis     {good}/analysis: 21 metrics; it took")
    assert second.startswith("books        balance: ")
    broken, changed = done.stderr.splitlines()
    assert broken == (f"pysim: {experiment}/broken is no finished run: it has no manifest.json")
    assert changed.startswith(
        f"pysim: the books of {experiment}/changed do not balance (1 problem): "
        "captures/b0-b1.pcap has "
    )
    assert (good / "analysis" / "metrics" / "latency.parquet").is_file()
    assert not (experiment / "changed" / "analysis").exists()

    again = json.loads(pysim("analyze", str(good), "--json").stdout)
    (run,) = again["runs"]
    assert (run["run"], run["reused"], run["error"]) == ("small/good", True, None)
    assert (len(run["metrics"]), run["absent"], run["books"]["balanced"]) == (21, {}, True)


def test_books_say_whether_they_balance(experiment: Path) -> None:
    done = pysim("books", str(experiment / "changed"))
    assert done.returncode == 1
    assert done.stdout.startswith(f"the books of {experiment}/changed do not balance\n")
    assert done.stderr.startswith("pysim: captures/b0-b1.pcap has ")

    done = pysim("books", str(experiment), "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, found["balanced"]) == (1, False)
    verdicts = {Path(run["directory"]).name: run["balanced"] for run in found["runs"]}
    assert verdicts == {"broken": False, "changed": False, "good": True}


def test_books_of_a_run_without_captures_need_none(tmp_path: Path) -> None:
    run = make_run(tmp_path, network={"backend": "memory"}, workload__rate="1 /s")
    done = pysim("books", str(run))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"the books of {run} balance\n\n")
    assert "not checked  " in done.stdout
    assert " - " in done.stdout


@pytest.mark.parametrize("command", ["analyze", "books"])
def test_what_is_no_run_is_wrong_input(command: str, tmp_path: Path) -> None:
    done = pysim(command, str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pysim: {tmp_path} is no finished run: it has no manifest.json\n"


@pytest.fixture(params=[0, 40_000, 180_000])
def full_disk(request: pytest.FixtureRequest, experiment: Path, tmp_path: Path) -> Iterator[Path]:
    """A good run on a disk that is full at once, or in the midst of captures or of metrics."""
    size = sum(path.stat().st_size for path in (experiment / "good").rglob("*")) + 2_000_000
    with mounted_disk(tmp_path / "disk", size) as disk:
        run = shutil.copytree(experiment / "good", disk / "run")
        shutil.rmtree(run / "analysis", ignore_errors=True)
        (disk / "rest").write_bytes(bytes(shutil.disk_usage(disk).free - request.param))
        yield run


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(full_disk: Path) -> None:
    before = sorted(full_disk.rglob("*"))
    done = pysim("analyze", str(full_disk))
    assert (done.returncode, done.stdout) == (1, "")
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith(f"pysim: {full_disk} cannot be analysed: ")
    assert sentence.endswith("No space left on device")
    assert sorted(full_disk.rglob("*")) == before
