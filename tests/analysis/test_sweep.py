"""`pysim sweep`: every run its own process, none lost by another, and the rest done later."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

from analysis.sweep import Limits, Task, _run
from pysim.cli import main
from tests.analysis.processes import awaited, is_alive, run_of, server_of
from tests.analysis.test_java import java_home, says
from tests.disks import mounted_disk
from tests.experiments.files import SMALL

SWEPT = (
    SMALL.replace("duration", "repeat = 2\nduration") + '[sweep]\nnetwork.delay = ["1 ms", "2 ms"]'
)
NAMES = ["delay=1ms_seed1", "delay=1ms_seed2", "delay=2ms_seed1", "delay=2ms_seed2"]
LONG = SMALL.replace('duration = "4 s"', 'duration = "1000 h"')


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> dict[str, Any]:
        """The rows of an index or of a dry run, by name."""
        return {row["run"]: row for row in json.loads(self.out)["runs"]}


Command = Callable[[str], Ended]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a sweep of four runs in it."""
    (tmp_path / "small.toml").write_text(SWEPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pysim(folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process, with the session of all tests."""

    def command(line: str) -> Ended:
        try:
            code = main(shlex.split(line))
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Ended(code, *capsys.readouterr())

    return command


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_all_runs_are_made_and_indexed_and_made_only_once(pysim: Command, folder: Path) -> None:
    ended = pysim("sweep small.toml --quiet")
    assert (ended.code, ended.err) == (0, "")
    summary, index = ended.out.splitlines()
    assert summary.startswith("small: 4 runs, 4 complete, 0 failed, 0:")
    assert index == "index        results/small/sweep.parquet"
    assert names(folder / "results" / "small") == [*NAMES, "sweep.json", "sweep.parquet"]
    manifests = [folder / "results" / "small" / name / "manifest.json" for name in NAMES]
    written = [path.stat().st_mtime_ns for path in manifests]

    again = pysim("sweep small.toml --json")
    assert again.code == 0
    assert [path.stat().st_mtime_ns for path in manifests] == written
    rows = again.rows
    assert [row["status"] for row in rows.values()] == ["complete"] * 4
    manifest = json.loads(manifests[3].read_bytes())
    assert manifest["run"] == NAMES[3]
    assert rows[NAMES[3]]["fingerprint"] == "-".join(
        part[:16] for part in manifest["fingerprint"].values()
    )


def test_the_configuration_of_a_run_reproduces_it_alone(pysim: Command, folder: Path) -> None:
    row = pysim("sweep small.toml --json --set repeat=1").rows[NAMES[2]]
    (folder / "elsewhere").mkdir()
    (folder / "results" / "small" / NAMES[2] / "config.toml").rename("elsewhere/config.toml")
    alone = json.loads(pysim("fingerprint elsewhere/config.toml --json").out)
    assert alone["fingerprint"] == row["fingerprint"]


def test_a_dry_run_lists_everything_and_runs_nothing(pysim: Command, folder: Path) -> None:
    ended = pysim("sweep small.toml --dry-run --jobs 2")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["network.delay", "seed", "state", "time", "directory"],
        ["1", "ms", "1", "missing", "0:00", f"results/small/{NAMES[0]}"],
    ]
    assert lines[6] == "to run       4 of 4"
    assert lines[7] == (
        "time         at most 0:01 with 2 runs at a time (a rule of thumb:"
        " 0.3 s to start a run, 15 us for each message on each link)"
    )
    assert lines[8].startswith("disk         at most 0 B of captures; ")
    assert names(folder) == ["small.toml"]

    pysim("sweep small.toml --set repeat=1")
    after = pysim("sweep small.toml --dry-run")
    assert [line.split()[3] for line in after.out.splitlines()[1:5]] == [
        "complete",
        "missing",
        "complete",
        "missing",
    ]
    assert "to run       2 of 4" in after.out
    assert "(judged by 2 complete runs)" in after.out
    plan = json.loads(pysim("sweep small.toml --dry-run --json").out)
    assert (plan["to_run"], plan["basis"]) == (2, "judged by 2 complete runs")
    assert [run["state"] for run in plan["runs"]][:2] == ["complete", "missing"]


def test_a_run_that_fails_is_a_row_and_the_others_are_kept(pysim: Command, folder: Path) -> None:
    results = folder / "results" / "small"
    results.mkdir(parents=True)
    obstacle = results / f".{NAMES[1]}.partial"
    obstacle.write_text("where the run would be written")
    ended = pysim("sweep small.toml")
    assert ended.code == 1
    sentence = f"{NAMES[1]}: [Errno 17] File exists: '{obstacle}'"
    assert f"failed: {sentence}\n" in ended.err
    summary, failed, advice, _ = ended.out.splitlines()
    assert summary.startswith("small: 4 runs, 3 complete, 1 failed, 0:")
    assert failed == f"failed       {sentence}"
    assert advice == "             --retry-failed tries them again"

    obstacle.unlink()
    remembered = pysim("sweep small.toml")
    assert remembered.code == 1
    assert remembered.out.startswith("small: 4 runs, 3 complete (3 were there already), 1 failed,")
    assert not (results / NAMES[1]).exists()
    retried = pysim("sweep small.toml --retry-failed")
    assert retried.code == 0
    assert retried.out.startswith("small: 4 runs, 4 complete (3 were there already), 0 failed,")


def test_another_configuration_is_said_and_replaces_by_force_only(
    pysim: Command, folder: Path
) -> None:
    assert pysim("sweep small.toml --set repeat=1").code == 0
    refused = pysim("sweep small.toml --set repeat=1 --set network.rate=1Mbit/s")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        f"pysim: results/small/{NAMES[0]} was made with another configuration:"
        " network.rate was 10000000.0 and is 1000000.0 now (and 1 more);"
        " --force replaces such runs, --out DIR puts new ones elsewhere\n"
    )
    forced = pysim("sweep small.toml --set repeat=1 --set network.rate=1Mbit/s --force")
    assert forced.code == 0
    manifest = json.loads((folder / "results" / "small" / NAMES[0] / "manifest.json").read_bytes())
    assert manifest["config"]["network"]["rate"] == 1e6


def test_a_run_has_a_time_limit(pysim: Command, folder: Path) -> None:
    (folder / "long.toml").write_text(LONG)
    ended = pysim("sweep long.toml --timeout 3s --json")
    assert ended.code == 1
    assert ended.rows["seed1"]["error"] == "stopped after 3 s, which is the time limit"
    assert names(folder / "results" / "small") == ["sweep.json", "sweep.parquet"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("sweep nope.toml", "nope.toml: no such file or directory"),
        ("sweep small.toml --jobs 0", "--jobs 0: at least one run is at work at a time"),
        (
            "sweep small.toml --timeout soon",
            '--timeout soon: expected a duration such as "50 ms" (units: ns, us, ms, s, min, h)',
        ),
        (
            "sweep small.toml --set 'sweep={\"workload.per_subscriber\"=[7, 97]}'",
            "small.toml: workload.per_subscriber = 97: a broker cannot hold 97 different patterns"
            " out of 96 (in the sweep, at workload.per_subscriber = 97, seed = 1)",
        ),
    ],
)
def test_wrong_input_is_one_sentence_and_nothing_runs(
    pysim: Command, folder: Path, line: str, sentence: str
) -> None:
    assert pysim(line) == Ended(2, "", f"pysim: {sentence}\n")
    assert names(folder) == ["small.toml"]


@pytest.fixture
def tight_disk(folder: Path) -> Iterator[Path]:
    """A disk that is as good as full: what is left of it is what captures must leave free."""
    with mounted_disk(folder / "disk", 65 << 20) as disk:
        yield disk


def test_a_full_disk_fails_what_does_not_fit(
    pysim: Command, folder: Path, tight_disk: Path
) -> None:
    text = SMALL.replace('backend = "memory"', 'backend = "ns3"')
    (folder / "tight.toml").write_text(f'{text}[sweep]\nworkload.rate = ["1 /s", "900 /s"]')
    ended = pysim(f"sweep tight.toml --out {tight_disk}/out --json")
    assert ended.code == 1
    assert [row["status"] for row in ended.rows.values()] == ["complete", "failed"]
    assert ended.rows["rate=900-s_seed1"]["error"] == (
        f"the disk of {tight_disk}/out/.rate=900-s_seed1.partial/captures has less than 64 MiB"
        " left: the run was stopped"
    )
    assert names(tight_disk / "out") == ["rate=1-s_seed1", "sweep.json", "sweep.parquet"]


def test_an_index_that_does_not_fit_on_the_disk_is_one_sentence(
    pysim: Command, tight_disk: Path
) -> None:
    assert pysim(f"sweep small.toml --out {tight_disk}/out").code == 0
    before = (tight_disk / "out" / "sweep.json").read_bytes()
    with pytest.raises(OSError, match="No space left"):
        (tight_disk / "fill").write_bytes(bytes(80 << 20))
    ended = pysim(f"sweep small.toml --out {tight_disk}/out --quiet")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"pysim: {tight_disk}/out/sweep.json cannot be written: No space left on device\n"
    )
    assert (tight_disk / "out" / "sweep.json").read_bytes() == before


def kill_each(find: Callable[[int], int | None], times: int) -> None:
    """Kill processes that this one has started, each once, when they are at work."""
    killed: set[int] = set()
    while len(killed) < times:
        found = find(os.getpid())
        if found and found not in killed and run_of(os.getpid()):
            os.kill(found, signal.SIGKILL)
            killed.add(found)
        time.sleep(0.01)


@pytest.mark.parametrize("find", [run_of, server_of])
@pytest.mark.parametrize(
    ("times", "error"), [(1, ""), (2, "killed by SIGKILL, 2 times; the machine may lack memory")]
)
def test_a_run_that_is_killed_is_tried_again(
    folder: Path, find: Callable[[int], int | None], times: int, error: str
) -> None:
    killer = threading.Thread(target=kill_each, args=[find, times])
    killer.start()
    text = SMALL.replace('duration = "4 s"', 'duration = "400 s"')
    task = Task("seed1", "small.toml", text, str(folder / "out"), False)
    assert _run(task, Limits(60.0, attempts=2)) == error
    killer.join()
    assert (folder / "out" / "manifest.json").exists() == (not error)


def test_a_simulation_and_its_server_die_with_their_worker(folder: Path) -> None:
    (folder / "long.toml").write_text(LONG)
    script = (
        "import pathlib\n"
        "from analysis.sweep import Limits, Task, _run\n"
        "text = pathlib.Path('long.toml').read_text()\n"
        "_run(Task('x', 'long.toml', text, 'out/x', False), Limits(1000.0))\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", script])
    awaited((folder / "out" / ".x.partial").exists)
    found = [server_of(worker.pid), run_of(worker.pid)]
    worker.kill()
    worker.wait()
    assert all(found)
    for process in found:
        awaited(lambda process=process: not is_alive(process), 20.0)


def test_an_interrupted_sweep_keeps_what_is_complete_and_leaves_nothing_else(
    folder: Path,
) -> None:
    sweep = '[sweep]\n"duration" = ["4 s", "1000 h"]'
    (folder / "mixed.toml").write_text(f"{SMALL}{sweep}")
    temporary = folder / "temporary"
    temporary.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-m", "pysim", "sweep", "mixed.toml", "--jobs", "2", "--out", "out"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    complete = folder / "out" / "duration=4s_seed1" / "manifest.json"
    unfinished = folder / "out" / ".duration=1000h_seed1.partial"
    while not (complete.exists() and unfinished.exists()):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert errors.splitlines()[-2:] == [
        "pysim: 1 of 2 runs are complete and kept; the same command goes on with the others",
        "pysim: interrupted",
    ]
    assert names(folder / "out") == ["duration=4s_seed1", "sweep.json", "sweep.parquet"]
    assert names(temporary) == []


@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    [
        ("--master lcoal", {}, "lcoal is no master; known are local[N] and spark://HOST:PORT"),
        (
            "--master spark://127.0.0.1:1",
            {},
            "there is no Spark master at spark://127.0.0.1:1: connection refused",
        ),
        (
            "",
            {"JAVA_HOME": "old"},
            "JAVA_HOME is old, but old/bin/java is Java 11: install Java 17 or newer,"
            " or set JAVA_HOME to one, or unset it to use another one",
        ),
        (
            "",
            {"JAVA_HOME": "broken"},
            "Java does not start: Error: could not create the Java Virtual Machine.",
        ),
    ],
)
def test_spark_that_cannot_start_is_one_sentence(
    folder: Path, arguments: str, environment: dict[str, str], sentence: str
) -> None:
    java_home(folder / "old", says("11.0.1"))
    trouble = "echo 'Error: could not create the Java Virtual Machine.' >&2; exit 1"
    java_home(folder / "broken", f"[ $1 = -version ] || {{ {trouble}; }}; {says('17.0.1')}")
    ended = subprocess.run(
        [sys.executable, "-m", "pysim", "sweep", "small.toml", *arguments.split()],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (1, f"pysim: {sentence}\n")
