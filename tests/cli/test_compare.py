"""`pysim compare`: what is asked, and what is refused before anything runs."""

import json
import re
from pathlib import Path

import networkx as nx
import pytest

from pysim.cli import main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fbr"], "there is nothing to compare: name at least two systems"),
        (["fbr", "fbr"], "fbr is there twice"),
        (["fbr", "d-dbrr"], 'protocol.name = "d-dbrr" is not a known protocol; did you mean'),
        (["fbr", "d-dbr:hartbeat=1s"], 'hartbeat is not a known key; did you mean "heartbeat"?'),
        (["fbr", "d-dbr:x"], "expected KEY=VALUE, not x"),
        (["fbr", "d-dbr", "--over", "skew"], "--over expects KEY=VALUE,VALUE,..., not skew"),
        (["fbr", "d-dbr", "--over", "skew=1", "--over", "skew=2"], "--over skew is there twice"),
        (["fbr", "d-dbr", "--over", "skev=1"], 'did you mean "skew"?'),
        (["fbr", "d-dbr", "--over", "skew=-1"], "workload.skew = -1"),
        (
            ["fbr", "d-dbr", "--workload", "stok"],
            'is not a known workload; did you mean "stock"?',
        ),
        (
            ["fbr", "d-dbr", "--topology", "rnd"],
            'kind = "rnd" is not a known topology',
        ),
        (["fbr", "d-dbr", "--seeds", "0"], "repeat = 0"),
        (["fbr", "d-dbr", "--topology", "random-graph"], "and fbr needs a tree"),
        (["fbr", "merc"], "(protocol merc)"),
        (["experiments/first.toml"], "first.toml: there is nothing to compare"),
        (["experiments/first.toml", "fbr"], "name either one, or systems"),
        (["nowhere.toml"], "nowhere.toml: no such file or directory"),
        (["experiments/sweep.toml", "--workload", "stock"], "--workload is for systems by name"),
    ],
)
def test_bad_words_get_one_sentence_and_nothing_runs(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *words, "--quiet"]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_a_topology_file_and_a_protocol_of_ones_own_can_be_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nx.write_graphml(nx.cycle_graph(4), tmp_path / "ring.graphml")
    own = tmp_path / "mine.py"
    readme = (ROOT / "README.md").read_text()
    own.write_text(readme.split("```python\n")[1].split("```")[0])
    words = ["compare", "seen-flooding", "event-flooding", "--protocol-file", str(own)]
    words += ["--topology", str(tmp_path / "ring.graphml"), "--out", str(tmp_path / "out")]
    assert main([*words, "--dry-run", "--json", "--over", "churn=1,2"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["to_run"] == 2 * 2 * 3
    assert plan["runs"][0]["settings"]["protocol"]["file"] == str(own)


@pytest.mark.parametrize("page", ["README.md", "docs/comparisons.md"])
def test_the_comparisons_that_pages_show_can_be_asked(
    page: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / page).read_text().replace("\\\n", " ")
    typed = re.findall(r"^ *(?:\.venv/bin/)?pysim compare ([^#\n]+)", text, re.MULTILINE)
    assert len(typed) >= 2
    for words in typed:
        assert main(["compare", *words.split(), "--dry-run", "--seeds", "1", "--quiet"]) == 0
        assert "to run" in capsys.readouterr().out


def test_a_file_that_sweeps_over_protocols_is_a_comparison(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(ROOT / "experiments" / "compare" / "churn.toml")
    words = ["compare", file, "--dry-run", "--out", str(tmp_path / "out"), "--json"]
    assert main([*words, "--seeds", "1", "--over", "skew=0,1"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["to_run"] == 4 * 5 * 2
