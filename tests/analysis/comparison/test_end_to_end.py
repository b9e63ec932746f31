"""`pysim compare`: from two names to an answer whose numbers are those of the captures."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from analysis.comparison import numbers
from analysis.comparison.results import UnfairError, read
from analysis.pipeline import analyze, balance
from tests.analysis.report.reading import Page

SYSTEMS = ("subscription-forwarding", "d-dbr", "popsub-direct:capacity=20")
SMALL = (
    *("--topology", "random-tree:brokers=8", "--set", "duration=8s", "--set", "rate=20"),
    *("--set", "subscriptions=40", "--set", "homes=2", "--master", "local[1]", "--quiet"),
)


def compare(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, as ns-3 needs it."""
    command = [sys.executable, "-m", "pysim", "compare", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems of three families at two places on ns-3, with two seeds each."""
    folder = tmp_path_factory.mktemp("compared")
    done = compare(folder, *SYSTEMS, *SMALL, "--over", "skew=0,2", "--seeds", "2", "--out", "found")
    assert done.returncode == 0, done.stderr
    (folder / "printed.txt").write_text(done.stdout)
    return folder


@pytest.fixture(scope="module")
def found(place: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((place / "found" / "comparison.json").read_text())
    return data


def test_the_answer_comes_first_then_the_table_then_who_overtakes_whom(place: Path) -> None:
    lines = (place / "printed.txt").read_text().splitlines()
    assert "bytes" in lines[0]
    assert lines[3] == "Every system made every delivery that was due, once, in all twelve runs."
    table = lines[lines.index("bytes on the wire (kB)") + 1 :]
    assert table[0].split() == [
        "skew", "subscription-forwarding", "d-dbr", "popsub-direct", "(capacity=20)"
    ]  # fmt: skip
    assert [row.split()[0] for row in table[1:3]] == ["0", "2"]
    assert sum(" than " in line or "told apart" in line for line in table) == 9
    assert lines[-2] == "report       found/comparison.html"
    assert lines[-1] == "figure       found/comparison.svg"


def test_every_number_is_what_captures_and_metrics_say(
    place: Path, found: dict[str, Any], spark: SparkSession
) -> None:
    """A run of two of the systems, read again by other code: the whole analysis."""
    for point in found["points"]:
        if point["at"] != {"workload.skew": "0"} or point["system"] == SYSTEMS[0]:
            continue
        name = point["system"].replace(" (", "+").rstrip(")")
        run = place / "found" / f"protocol={name}_skew=0_seed1"
        analysis = analyze(spark, run)
        assert balance(run).balanced
        got = {key: value["values"][0] for key, value in point["measures"].items()}
        purpose = analysis.metric("bytes_by_purpose").set_index("purpose").bytes
        assert got["wire_bytes"] == analysis.metric("byte_breakdown").bytes.sum()
        assert [got[f"{key}_bytes"] for key in ("event", "control", "header", "transport")] == [
            purpose[key] for key in ("events", "control", "headers", "transport")
        ]
        cost = analysis.metric("message_cost")
        assert (got["messages"], got["frame_bytes"]) == (cost.messages.sum(), cost.bytes.sum())
        latency = analysis.metric("latency").set_index("quantile").seconds
        assert (got["latency_median"], got["latency_p99"]) == (latency[0.5], latency[0.99])
        assert got["load"] == pytest.approx(analysis.metric("fairness").max_over_mean[0])
        assert got["due"] == analysis.metric("delivery_over_time").due.sum() > 0
        assert got["cost"] > 0
        assert got["state"] > 0


def test_messages_that_cross_several_lines_count_on_each(
    place: Path, found: dict[str, Any]
) -> None:
    """Direct delivery goes off the tree, over several links of it."""
    direct = next(point for point in found["points"] if "popsub" in point["system"])
    measures = {key: value["mean"] for key, value in direct["measures"].items()}
    bodies = measures["event_bytes"] + measures["control_bytes"]
    assert bodies > measures["frame_bytes"] - 16 * measures["messages"]


def test_the_page_is_one_file_with_the_answer_and_the_figure(place: Path) -> None:
    page = Page(place / "found" / "comparison.html")
    assert "figure-comparison" in page.ids()
    assert "Every system made every delivery that was due, once" in page.text
    assert "pysim compare compare.toml" in page.text
    assert "http://" not in page.text
    svg = (place / "found" / "comparison.svg").read_bytes()
    assert svg.startswith(b"<?xml")
    assert len(svg) < 300_000


def test_the_same_question_again_runs_nothing_and_its_file_is_the_same_question(
    place: Path, found: dict[str, Any]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (place / "found").glob("*/manifest.json")}
    again = compare(place, "found/compare.toml", "--out", "found", "--quiet", "--json",
                    "--master", "local[1]")  # fmt: skip
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert (told["answer"], told["points"]) == (found["answer"], found["points"])
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert len(before) == 12


def test_without_packets_only_messages_are_weighed_and_that_is_said(tmp_path: Path) -> None:
    words = ("fbr", "event-forwarding", *SMALL, "--network", "memory", "--seeds", "2")
    done = compare(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "bytes are those of messages, and what headers and TCP add is not known" in done.stdout
    assert "bytes on the wire" not in done.stdout
    assert "bytes of messages (kB)" in done.stdout
    (directory,) = (tmp_path / "results" / "compare").iterdir()
    told = json.loads((directory / "comparison.json").read_text())
    assert told["bytes"] == "frame_bytes"
    assert told["points"][0]["measures"]["wire_bytes"]["mean"] is None
    assert told["axis"] is None
    known = {run: numbers(run) for run in sorted(directory.glob("protocol=*"))}
    first, *_ = known
    known[first] = known[first]._replace(asked="something else")
    with pytest.raises(UnfairError, match="did not see the same overlay and operations with seed"):
        read(directory, known)
    known[first] = known[first]._replace(problem="its books do not balance")
    assert [row["error"] for row in read(directory, known).failed] == ["its books do not balance"]
