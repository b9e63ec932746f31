"""`pysim replay`: what it writes, and what it says when it cannot."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from pysim.cli import main
from tests.analysis.runs import make_run
from tests.experiments.files import SCRIPT

ROOT = Path(__file__).parents[2]

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replayed")
    return make_run(folder, network__backend="memory", measure=["frames"], workload=SCRIPT)


@pytest.fixture
def replay(directory: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def command(line: str) -> tuple[int, str, str]:
        try:
            code = main(["replay", *shlex.split(line.replace("RUN", str(directory)))])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capsys.readouterr()

    return command


def test_a_page_lands_beside_the_manifest(replay: Command, directory: Path) -> None:
    page = directory / "replay.html"
    assert replay("RUN") == (0, f"replay       {page}\n", "")
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_a_chart_lands_where_it_is_asked_for(replay: Command, tmp_path: Path) -> None:
    out = tmp_path / "chart.svg"
    line = f"RUN --sequence 1.0s..1.2s --brokers 3-4,2 --types subscribe --axis steps --out {out}"
    assert replay(line) == (0, f"chart        {out}\n", "")
    assert out.read_text().count('class="arrow"') == 2


def test_a_part_of_a_run_is_a_smaller_page(replay: Command, tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.html", tmp_path / "part.html"
    assert replay(f"RUN --out {whole}")[0] == 0
    assert replay(f"RUN --between '1 s..1.003 s' --out {part}")[0] == 0
    assert part.stat().st_size < whole.stat().st_size


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("nowhere", "nowhere is no finished run: it has no manifest.json"),
        ("RUN --sequence 1s", '"1s" is no window of time; write it as 1.0s..1.2s'),
        ("RUN --sequence 2s..1s", 'the window "2s..1s" ends before it begins'),
        ("RUN --between 1s..soon", '"1s..soon" is no window of time: expected a duration such as'),
        ("RUN --sequence 9s..10s", "the window begins at 9 s, and"),
        ("RUN --sequence 1s..2s --brokers a", '"a" names no brokers; write them as 0-3,7'),
        ("RUN --sequence 1s..2s --brokers 7", "there is no broker 7"),
        ("RUN --sequence 1s..2s --types subscibe", "did you mean subscribe?"),
        ("RUN --sequence 0.1s..0.2s", "no message is under way in 0.1 s to 0.2 s"),
        ("RUN --brokers 1", "--brokers is for charts: add --sequence FROM..TO"),
        ("RUN --between 1s..2s --sequence 1s..2s", "--between is for pages"),
        ("RUN --out /nowhere/page.html", "No such file or directory"),
    ],
)
def test_wrong_input_is_one_sentence_and_no_success(
    replay: Command, line: str, problem: str
) -> None:
    code, out, err = replay(line)
    assert (code in (1, 2), out, err.count("\n")) == (True, "", 1)
    assert err.startswith("pysim: ")
    assert problem in err
