"""`pysim reproduce`: from a tiny experiment to rows, figures and a page, and on from there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TINY = """
name = "fig13"
duration = "8 s"
repeat = 2
measure = ["traffic", "causes"]

[network]
backend = "memory"
delay = "0.1 ms"

[topology]
kind = "balanced-tree"
brokers = 10

[protocol]
name = "subscription-forwarding"

[workload]
kind = "patterns"
rate = "0 /s"

[[faults]]
kind = "reconfigurations"

[sweep]
"protocol.name" = [
    "subscription-forwarding", "notified-deferred-unsubscription", "informed-link-activation",
    "reconfiguration-path",
]
"""

TABLE2 = """
name = "table2"
duration = "3 s"
measure = ["pruning"]

[network]
backend = "memory"

[topology]
kind = "line"
brokers = 1

[protocol]
name = "subscription-forwarding"
optimize = { by = ["post-pruning"], share = "10 %", sample = 100 }

[workload]
kind = "auctions"
subscriptions = 50
events = 100
titles = 100

[sweep]
"workload.classes" = [[1], [1, 2, 3]]
"""


def pysim(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pysim", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of experiments with one figure, made small."""
    folder = tmp_path_factory.mktemp("reproduction")
    family = folder / "experiments" / "reconfiguration"
    family.mkdir(parents=True)
    (family / "fig13.toml").write_text(TINY)
    return folder


def reproduce(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    places = ("--experiments", "experiments", "--out", "out", "--runs", "runs")
    found = [str(folder / item) if not item.startswith("-") else item for item in places]
    return pysim("reproduce", *arguments, *found)


def test_a_figure_from_its_runs_to_its_page(folder: Path) -> None:
    planned = reproduce(folder, "reconfiguration/fig13", "--dry-run").stdout
    assert planned.startswith("8 runs, 8 of them to do: at most ")
    done = reproduce(folder, "reconfiguration/fig13", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)
    assert [list(row) for row in rows] == [
        ["claim", "published", "measured", "ci95", "verdict", "note"]
    ] * len(rows)
    first = rows[0]
    assert first["claim"] == "fig13.rec: RP: REC messages per reconfiguration"
    assert first["published"] == "about 3.44 (± 0.35)"
    low, high = first["ci95"]
    assert low <= first["measured"] <= high
    assert first["verdict"] in ("holds", "unclear", "differs")
    made = folder / "out" / "reconfiguration"
    assert {path.name for path in made.iterdir()} == {"fig13.svg", "fig13.png", "fig13.json"}
    page = (folder / "out" / "reconfiguration.md").read_text()
    assert "![Messages of a reconfiguration" in page
    assert "| RP: REC messages per reconfiguration | about 3.44 (± 0.35) |" in page

    again = reproduce(folder, "reconfiguration/fig13", "--quiet")
    assert "fig13: 8 runs, 2 seeds" in again.stdout
    assert "about 90.9" in again.stdout
    assert len(list((folder / "runs" / "reconfiguration").glob("*/manifest.json"))) == 8
    complete = reproduce(folder, "reconfiguration/fig13", "--dry-run").stdout
    assert complete == "8 runs, 0 of them to do\n  fig13    8 runs, 0 to do\n"
    few = reproduce(folder, "reconfiguration/fig13", "--first", "1", "--dry-run")
    assert "4 runs, 0 of them to do" in few.stdout
    none = reproduce(folder, "reconfiguration/fig13", "--first", "0")
    assert (none.returncode, none.stderr) == (2, "pysim: --first(=0) should be at least 1\n")


def test_a_table_of_the_pruning_paper_from_its_runs_to_its_page(folder: Path) -> None:
    family = folder / "experiments" / "pruning"
    family.mkdir(parents=True)
    (family / "table2.toml").write_text(TABLE2)
    done = reproduce(folder, "pruning/table2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["claim"].partition(":")[0]: row for row in json.loads(done.stdout)}
    assert rows["table2.memory-class-1"]["published"] == "about 0.8 (± 0.1)"
    assert 0 <= rows["table2.memory-class-1"]["measured"] <= 1
    assert rows["table2.memory-class-2"]["verdict"] == "not measured"  # it is not in the file
    made = folder / "out" / "pruning"
    assert {path.name for path in made.iterdir()} == {"table2.svg", "table2.png", "table2.json"}
    assert "## table2: One broker at the cut-off" in (folder / "out" / "pruning.md").read_text()


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ("reconfiguration/fig140", 'reconfiguration has no figure "fig140"; did you mean "fig14"?'),
        ("reconfigurations/all",
         '"reconfigurations" is no family of figures; did you mean "reconfiguration"?'),
        ("nonsense", '"nonsense" is no family of figures; known are "reconfiguration"'),
        ("reconfiguration", 'reconfiguration has no figure ""; known are "fig12"'),
    ],
)  # fmt: skip
def test_an_unknown_figure_is_wrong_input(folder: Path, asked: str, complaint: str) -> None:
    done = reproduce(folder, asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"pysim: {complaint}")
    assert done.stderr.count("\n") == 1


def test_a_figure_without_its_file_is_wrong_input(folder: Path) -> None:
    done = reproduce(folder, "reconfiguration/fig14")
    assert done.returncode == 2
    assert done.stderr.endswith("fig14.toml: no such file or directory\n")
