"""`pysim new-protocol` and `pysim conformance`; that the skeleton passes, `test_extending` sees."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pysim.cli import main
from tests.brokers.conftest import nothing_loaded as nothing_loaded

pytestmark = pytest.mark.usefixtures("nothing_loaded")


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["new-protocol", "my-flooding"]) == 0
    return tmp_path


def test_the_skeleton_is_clean(written: Path) -> None:
    for tool in (["check", "--select", "E,F,I,B,UP,N"], ["format", "--check"]):
        run = subprocess.run(
            [sys.executable, "-m", "ruff", *tool, "--isolated", "."],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr


def test_nothing_is_overwritten(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (written / "my_flooding.py").read_text()
    (written / "test_my_flooding.py").unlink()
    capsys.readouterr()
    assert main(["new-protocol", "my-flooding"]) == 2
    assert "my_flooding.py is there already" in capsys.readouterr().err
    assert (written / "my_flooding.py").read_text() == before
    assert not (written / "test_my_flooding.py").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [("My", "should be words of small letters"), ("fbr", "is the name of a protocol already")],
)
def test_a_name_that_cannot_be_is_refused(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-protocol", name]) == 2
    assert said in capsys.readouterr().err


def test_conformance_tells_what_holds(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["conformance", "my_flooding.py", "--cases", "5"]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert told.startswith("my-flooding\n  delivery       holds, 5 cases\n")
    assert main([*command, "--json", "--only", "crashes", "--set", "greet=true"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["held"] == {"crashes": 5}
    assert report["holds"]


def test_conformance_shows_a_broken_broker_and_shows_it_again(
    written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written / "my_flooding.py"
    wrong = "if event.id in self.seen:\n            return"
    text = path.read_text()
    assert wrong in text
    path.write_text(text.replace(wrong, wrong.replace("return", "pass")))
    assert main(["conformance", "my_flooding.py", "--only", "delivery"]) == 1
    told = capsys.readouterr().out
    assert "delivery: " in told
    assert "look again with: pysim conformance my_flooding.py --seed 1 --only delivery" in told
    number = told.split()[-1]
    again = ["conformance", "my_flooding.py", "--only", "delivery", "--case", number]
    assert main(again) == 1
    assert capsys.readouterr().out.startswith(told.partition("what was sent")[0])


WRONG = {
    "conformance fbrr": 'unknown protocol "fbrr"; did you mean "fbr"?',
    "conformance nope.py": "nope.py: no such file or directory",
    "conformance fbr --only x": 'there is no check "x"; known are "delivery"',
    "conformance fbr --case 3": "--case needs the check that it is of: --only CHECK",
    "conformance drp --set bit=3": 'drp: bit is not a known key; did you mean "bits"?',
}


@pytest.mark.parametrize(("command", "said"), WRONG.items())
def test_wrong_input_is_one_sentence(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    words = capsys.readouterr().err
    assert said in words
    assert words.count("\n") == 1
