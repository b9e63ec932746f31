"""A sweep and an analysis on a real Spark cluster, which loses its only worker on the way."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import dpkt
import pytest

from tests.analysis.standalone import Cluster

EXPERIMENT = """
name = "cluster"
duration = "30 s"          # long enough that some are left when the worker dies
repeat = 2

[topology]
kind = "line"
brokers = 8

[protocol]
name = "event-forwarding"

[workload]
kind = "patterns"

[sweep]
"workload.rate" = ["20 /s", "30 /s"]
"""

RESUME = """
import sys
from pathlib import Path
from analysis.captures.messages import run_tables
from analysis.session import open_session
from pysim.cli import main

master, *command = sys.argv[1:]
with open_session(master) as spark:
    code = main(command)
    run = Path("results/rate=20-s_seed1")
    packets = spark.read.format("pcap").load(str(run / "captures"))
    print("packets", packets.count())
    messages, _, _ = run_tables(spark, run)
    print("sent", messages.filter("direction = 'out'").count())
sys.exit(code)
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (tmp_path / "cluster").mkdir()
    with Cluster(tmp_path / "cluster") as running:
        yield running


def start(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_a_run(folder: Path, process: "subprocess.Popen[str]") -> None:
    while not list(folder.glob("results/*/manifest.json")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def simulations(folder: Path) -> list[int]:
    """The processes of runs, by the captures in the folder that they have open."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # a process that has ended since
            if str(path.readlink()).startswith(f"{folder}/results/"):
                found.add(int(path.parts[2]))
    return sorted(found)


def packets_in(captures: Path) -> int:
    """How many packets another reader finds."""
    count = 0
    for path in captures.glob("*.pcap"):
        with path.open("rb") as file:
            count += sum(1 for _ in dpkt.pcap.Reader(file))
    return count


def test_a_sweep_survives_the_death_of_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_text(EXPERIMENT)
    options = ["sweep", "cluster.toml", "--out", "results", "--master", cluster.url]
    worker = cluster.start_worker()

    first = start(tmp_path, "-m", "pysim", *options, "--wait", "3 s")
    wait_for_a_run(tmp_path, first)
    worker.kill()
    _, errors = first.communicate(timeout=120)
    complete = len(list(tmp_path.glob("results/*/manifest.json")))
    assert first.returncode == 1
    assert "no worker is there: waiting for one" in errors.splitlines()
    assert errors.splitlines()[-1] == (
        f"pysim: {cluster.url} has had no worker for 3 s; {complete} of 4 runs are complete"
        " and kept; the same command goes on with the others"
    )
    assert 1 <= complete < 4
    assert simulations(tmp_path) == []

    cluster.start_worker()
    (tmp_path / "resume.py").write_text(RESUME)
    second = start(tmp_path, "resume.py", cluster.url, *options)
    output, errors = second.communicate(timeout=240)
    assert second.returncode == 0, errors
    summary, _, packets, sent = output.splitlines()
    assert summary.startswith(
        f"cluster: 4 runs, 4 complete ({complete} were there already), 0 failed, "
    )
    manifest = json.loads((tmp_path / "results/rate=20-s_seed1/manifest.json").read_bytes())
    assert sent == f"sent {manifest['messages']['event']['sent']}"
    assert packets == f"packets {packets_in(tmp_path / 'results/rate=20-s_seed1/captures')}"
