"""From an experiment file to its report, with real packets and without any."""

import subprocess
import sys
from pathlib import Path

import dpkt
import pytest
from pyspark.sql import SparkSession

from analysis.pipeline import analyze
from analysis.report import build
from analysis.report.headlines import BY_KEY
from analysis.report.source import AnalysedRun
from pysim.cli import main
from tests.analysis.report.reading import Page

ROOT = Path(__file__).parents[3]


def run(directory: Path, *settings: str) -> None:
    """In a process of its own, as ns-3 needs it."""
    command = [sys.executable, "-m", "pysim", "run", "experiments/first.toml", "--quiet"]
    command += ["--out", str(directory), *settings]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def bytes_on_wires(directory: Path) -> int:
    """All bytes of all packets, as another reader finds them, at one end of each link."""
    total = 0
    for path in directory.glob("captures/*.pcap"):
        here, there = (int(end.removeprefix("b").partition(".")[0]) for end in path.stem.split("-"))
        if here < there:
            with path.open("rb") as file:
                total += sum(len(packet) for _, packet in dpkt.pcap.Reader(file))
    return total


def test_a_run_with_packets_tells_what_its_captures_hold(
    spark: SparkSession, tmp_path: Path
) -> None:
    run(tmp_path / "run")
    analyze(spark, tmp_path / "run")
    page = Page(build(tmp_path / "run"))
    counted = BY_KEY["wire_bytes"].measure(AnalysedRun(tmp_path / "run"))
    assert counted == bytes_on_wires(tmp_path / "run") > 0
    assert f"{counted:,.0f}100.0 %" in page.text
    assert "All 2 deliveries due were made; nothing was delivered twice." in page.text
    assert "The books balance: agents, network and captures agree on 28 messages" in page.text
    assert len(page.ids("figure-")) == 10


def test_the_command_analyses_builds_and_says_what_a_run_in_memory_cannot_tell(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "run", "--set", "network.backend=memory")
    out = tmp_path / "paper.html"
    assert main(["report", str(tmp_path / "run"), "--out", str(out), "--figures", "png"]) == 0
    shown = capsys.readouterr().out
    assert shown == f"report       {out}\nfigures      {tmp_path / 'figures'}\n"
    assert (tmp_path / "figures" / "overlay.png").read_bytes().startswith(b"\x89PNG")
    page = Page(out)
    assert "How many bytes crossed the wires is not known: the memory network" in page.text
    assert "figure-overlay" in page.ids()
    assert "figure-bytes" not in page.ids()
    lacking = page.text[page.text.index("Not in this report") :]
    assert "Where the bytes gothe memory network" in lacking


def test_a_damaged_run_of_a_sweep_is_named_and_the_others_are_reported_on(
    spark: SparkSession, three_seeds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (three_seeds / "seed2" / "tables" / "counters.parquet").unlink()
    assert main(["report", str(three_seeds), "--quiet"]) == 1
    shown = capsys.readouterr()
    assert shown.out == f"report       {three_seeds / 'report.html'}\n"
    assert shown.err.startswith(f"pysim: {three_seeds / 'seed2'} lacks tables/counters.parquet")
    assert "seeds 1, 3" in Page(three_seeds / "report.html").text


def test_what_is_no_run_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error == f"pysim: {tmp_path} is no finished run: it has no manifest.json\n"
