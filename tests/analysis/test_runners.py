"""Runs from a warm server: each a process of its own, as if it had been started alone."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from analysis import runners
from analysis.runners import Ended
from tests.analysis.processes import awaited, is_alive, run_of, server_of
from tests.experiments.files import SMALL

PACKETS = SMALL.replace('"memory"', '"ns3"')
LONG = SMALL.replace('duration = "4 s"', 'duration = "1000 h"')
NOTHING = ["list", "faults"]
ENDLESS = ["run", "long.toml", "--out", "long", "--quiet"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, in which no server is there yet; none is left behind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packets.toml").write_text(PACKETS)
    (tmp_path / "long.toml").write_text(LONG)
    yield tmp_path
    runners._kept.server.kill()


def server() -> int:
    found = server_of(os.getpid())
    assert found
    return found


def require_gone(process: int) -> None:
    """A process closes its files an instant before it is gone."""
    awaited(lambda: not is_alive(process), 1.0)


def meanwhile(act: Callable[[int], None]) -> list[int]:
    """Do something to the next run of this process; the list gets its process."""
    seen: list[int] = []

    def work() -> None:
        awaited(Path(".long.partial").exists)
        run = awaited(lambda: run_of(os.getpid()))
        seen.append(run)
        act(run)

    threading.Thread(target=work, daemon=True).start()
    return seen


def contents(directory: Path) -> dict[str, bytes]:
    """What a run has written, but for the times that it took."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    found = {str(path.relative_to(directory)): path.read_bytes() for path in files}
    manifest: dict[str, Any] = json.loads(found.pop("manifest.json"))
    del manifest["timings"]
    return {**found, "manifest.json": json.dumps(manifest).encode()}


def test_a_run_gives_the_bytes_that_it_gives_alone(folder: Path) -> None:
    arguments = ["run", "packets.toml", "--name", "x", "--quiet", "--out"]
    for number in range(3):
        assert runners.run([*arguments, f"warm{number}"], 60.0) == Ended(0, "")
    subprocess.run([sys.executable, "-m", "pysim", *arguments, "alone"], check=True)
    alone = contents(folder / "alone")
    assert any(name.endswith(".pcap") for name in alone)
    for number in range(3):
        assert contents(folder / f"warm{number}") == alone


def test_a_run_is_a_process_in_a_session_of_its_own(folder: Path) -> None:
    streams: list[str] = []

    def look(run: int) -> None:
        streams.extend(os.readlink(f"/proc/{run}/fd/{number}") for number in range(2))
        streams.append(str(os.getsid(run) == run))
        os.kill(run, signal.SIGTERM)

    meanwhile(look)
    assert runners.run(ENDLESS, 60.0) == Ended(143, "")
    assert streams == ["/dev/null", "/dev/null", "True"]
    assert not (folder / ".long.partial").exists()


def test_an_interrupt_of_a_run_is_its_own_affair(folder: Path) -> None:
    meanwhile(lambda run: os.kill(run, signal.SIGINT))
    assert runners.run(ENDLESS, 60.0) == Ended(130, "pysim: interrupted\n")
    first = server()
    assert runners.run(NOTHING, 60.0) == Ended(0, "")
    assert server() == first


def test_errors_are_told_in_the_words_of_the_command() -> None:
    assert runners.run(["run", "nope.toml"], 60.0) == Ended(
        2, "pysim: nope.toml: no such file or directory\n"
    )
    code, words = runners.run(["jump"], 60.0)
    assert code == 2
    assert words.startswith("pysim: argument COMMAND: invalid choice: 'jump'")


def test_a_server_has_one_thread_and_is_kept() -> None:
    runners.run(NOTHING, 60.0)
    first = server()
    assert len(list(Path(f"/proc/{first}/task").iterdir())) == 1
    runners.run(NOTHING, 60.0)
    assert server() == first


def test_another_environment_or_directory_has_another_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runners.run(NOTHING, 60.0)
    first = server()
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    assert runners.run(["run", "../packets.toml", "--out", "here", "--quiet"], 60.0).code == 0
    assert (folder / "other" / "here" / "manifest.json").exists()
    second = server()
    monkeypatch.setenv("PYSIM_TEST", "seen")
    runners.run(NOTHING, 60.0)
    assert len({first, second, server()}) == 3
    assert b"PYSIM_TEST=seen" in Path(f"/proc/{server()}/environ").read_bytes()
    require_gone(first)
    require_gone(second)


def test_a_server_that_died_is_replaced() -> None:
    runners.run(NOTHING, 60.0)
    first = server()
    os.kill(first, signal.SIGKILL)
    awaited(lambda: not is_alive(first))
    assert runners.run(NOTHING, 60.0) == Ended(0, "")
    assert server() != first


def test_a_run_is_gone_when_its_server_is_killed() -> None:
    seen = meanwhile(lambda _: os.kill(server(), signal.SIGKILL))
    assert runners.run(ENDLESS, 60.0) == Ended(-signal.SIGKILL, "")
    require_gone(seen[0])
    assert runners.run(NOTHING, 60.0) == Ended(0, "")


def test_a_run_that_will_not_stop_is_killed_when_its_time_is_over() -> None:
    seen = meanwhile(lambda run: os.kill(run, signal.SIGSTOP))
    begin = time.monotonic()
    code, words = runners.run(ENDLESS, 2.0)
    assert (code, words) == (124, "stopped after 2 s, which is the time limit")
    assert time.monotonic() - begin > 2.0 + 5.0
    require_gone(seen[0])


def test_a_server_that_does_not_answer_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    runners.run(NOTHING, 60.0)
    first = server()
    monkeypatch.setattr(runners, "_PATIENCE", 1.0)
    seen = meanwhile(lambda _: os.kill(first, signal.SIGSTOP))
    assert runners.run(ENDLESS, 2.0).code == 124
    require_gone(first)
    require_gone(seen[0])


def test_who_is_interrupted_leaves_nothing_running() -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGUSR1, interrupt)
    try:
        seen = meanwhile(lambda _: os.kill(os.getpid(), signal.SIGUSR1))
        with pytest.raises(KeyboardInterrupt):
            runners.run(ENDLESS, 60.0)
    finally:
        signal.signal(signal.SIGUSR1, former)
    require_gone(seen[0])
    assert server_of(os.getpid()) is None


def test_a_server_that_does_not_start_is_told_in_its_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = folder / "python"
    python.write_text("#!/bin/sh\necho 'python: No module named pysim' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert runners.run(NOTHING, 60.0) == Ended(1, "python: No module named pysim\n")


def test_a_worker_of_spark_has_one_server_for_all_its_runs(spark: SparkSession) -> None:
    def work(_: int) -> tuple[int, int | None]:
        assert runners.run(NOTHING, 60.0) == Ended(0, "")
        time.sleep(0.1)  # so that one worker does not do all
        return os.getpid(), server_of(os.getpid())

    runners.run(NOTHING, 60.0)
    pairs = [pair for _ in range(2) for pair in spark.sparkContext.range(4).map(work).collect()]
    assert len(pairs) == 8
    assert all(found for _, found in pairs)
    assert len(set(pairs)) == len({worker for worker, _ in pairs}) <= 2
