"""Protocols of others on the command line: runs, sweeps, lists, errors, Wireshark."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pysim.cli import main
from tests.brokers.conftest import nothing_loaded as nothing_loaded
from tests.brokers.thirdparty import MINE
from tests.experiments.files import SMALL
from tests.wireshark.reading import require_tshark

pytestmark = pytest.mark.usefixtures("nothing_loaded")

WITH_FILE = SMALL.replace('name = "subscription-forwarding"', 'file = "brokers/mine.py"')


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "brokers").mkdir()
    (tmp_path / "brokers" / "mine.py").write_text(MINE)
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "mine.toml").write_text(WITH_FILE)
    return tmp_path


def manifest(directory: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(Path(directory, "manifest.json").read_bytes())
    return found


def test_an_experiment_names_its_file_and_the_only_protocol_need_not_be_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "mine.toml", "--quiet", "--out", "out"]) == 0
    assert "wave " in capsys.readouterr().out
    found = manifest("out")
    assert found["config"]["protocol"] == {"file": "brokers/mine.py", "name": "mine", "waves": 1}  # type: ignore[index]
    assert list(found["inputs"]) == ["brokers/mine.py"]  # type: ignore[call-overload]
    assert len(found["inputs"]["brokers/mine.py"]) == 64  # type: ignore[index]


def test_a_run_keeps_the_source_and_repeats_after_the_file_has_changed(folder: Path) -> None:
    assert main(["run", "mine.toml", "--quiet", "--out", "out"]) == 0
    (folder / "brokers" / "mine.py").write_text(MINE.replace("= 1)", "= 5)"))
    assert (folder / "out" / "mine.py").read_text() == MINE
    shutil.move(folder / "out", folder / "kept")
    again = subprocess.run(
        [sys.executable, "-m", "pysim", "run", "kept/config.toml", "--quiet", "--out", "again"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert manifest("kept")["fingerprint"] == manifest("again")["fingerprint"]


def test_any_experiment_runs_with_the_protocol_of_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ["--protocol-file", "brokers/mine.py", "--set", "protocol.waves=3"]
    assert main(["run", "small.toml", "--quiet", *settings]) == 0
    assert "results/small/protocol=mine_waves=3_seed1" in capsys.readouterr().out
    assert main(["run", "small.toml", "--show-config", *settings]) == 0
    shown = capsys.readouterr().out
    assert re.search(r'name = "mine" .*\nfile = ".*/brokers/mine.py" .*\nwaves = 3', shown)


WRONG = {
    "protocol.wave=3": 'protocol.wave is not a known key; did you mean "waves"?',
    "protocol.waves=often": 'protocol.waves = "often": expected a whole number',
    "protocol.name=main": 'protocol.name = "main" is not a known protocol; did you mean "mine"?',
    "protocol.file=7": "protocol.file = 7: expected the path of a Python file",
    "protocol.file=brokers/nope.py": "protocol.file: ",
}


@pytest.mark.parametrize(("setting", "said"), WRONG.items())
def test_wrong_keys_are_refused_with_the_nearest(
    setting: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "mine.toml", "--set", setting]) == 2
    words = capsys.readouterr().err
    assert words.startswith(f"pysim: mine.toml: {said}")
    assert words.count("\n") == 1


def test_several_protocols_in_a_file_must_be_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = '\n\n@register\nclass Other(Mine):\n    """The same."""\n    name = "other"\n'
    (folder / "brokers" / "mine.py").write_text(MINE + more)
    assert main(["run", "mine.toml", "--quiet"]) == 2
    assert 'protocol.name is missing; mine.py has "mine", "other"' in capsys.readouterr().err
    assert main(["run", "mine.toml", "--quiet", "--set", "protocol.name=other"]) == 0


def test_an_error_while_it_runs_names_file_and_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = MINE.replace("self.deliver_locally(event)", "self.world.send(99, event)")
    (folder / "brokers" / "mine.py").write_text(broken)
    line = broken.splitlines().index("        self.world.send(99, event)") + 1
    assert main(["run", "mine.toml", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert f"mine.py, line {line}; --debug shows the traceback" in said
    assert main(["run", "mine.toml", "--quiet", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_error_while_it_is_loaded_has_its_traceback_with_debug(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "brokers" / "mine.py").write_text("def f():\n    return {}['x']\n\nf()\n")
    assert main(["run", "mine.toml", "--debug"]) == 2
    said = capsys.readouterr().err
    assert "return {}['x']" in said
    assert said.endswith("pysim: mine.toml: protocol.file: mine.py, line 2: KeyError: 'x'\n")


def test_it_is_listed_with_its_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "protocols", "--protocol-file", "brokers/mine.py"]) == 0
    listed = capsys.readouterr().out
    assert "  mine                     Floods events on a tree, and waves at neighbors\n" in listed
    assert "      waves                1                how often it waves\n" in listed


def test_a_sweep_brings_the_source_to_its_workers_and_notices_when_it_changes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swept = WITH_FILE + '\n[sweep]\n"protocol.name" = ["mine", "event-forwarding"]\n'
    (folder / "mine.toml").write_text(swept)
    command = ["sweep", "mine.toml", "--quiet", "--out", "out", "--jobs", "1"]
    assert main(command) == 0
    assert "2 complete" in capsys.readouterr().out
    found = manifest("out/protocol=mine_seed1")
    assert (folder / "out" / "protocol=mine_seed1" / "mine.py").read_text() == MINE
    assert list(found["inputs"]) == ["mine.py"]  # type: ignore[call-overload]
    assert main([*command, "--dry-run"]) == 0
    assert "to run       0 of 2" in capsys.readouterr().out
    (folder / "brokers" / "mine.py").write_text(MINE + "\n# another word\n")
    assert main(command) != 0
    assert "protocol.file was" in capsys.readouterr().err


def test_wireshark_reads_its_messages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["run", "mine.toml", "--quiet", "--out", "out", "--set", "network.backend=ns3"]) == 0
    )
    capsys.readouterr()
    place = ["--directory", str(folder), "--protocol-file", "brokers/mine.py"]
    assert main(["wireshark", "install", *place]) == 0
    lua, fields = f"lua_script:{folder / 'pysim.lua'}", ["-e", "pysim.text", "-e", "pysim.steps"]
    wanted = ["-Y", 'pysim.type == "wave"', "-T", "fields", *fields]
    read = subprocess.run(
        [require_tshark(), "-X", lua, "-r", "out/captures/b0-b1.pcap", *wanted],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOME": str(folder)},
    )
    assert read.stdout.splitlines() == ["hello\t0", "hello\t0"]


def test_a_replay_takes_the_file_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mine.toml", "--quiet", "--out", "out", "--set", 'measure=["frames"]']) == 0
    assert main(["replay", "out", "--protocol-file", "brokers/mine.py"]) == 0
    assert (folder / "out" / "replay.html").is_file()
    assert main(["replay", "out", "--sequence", "0s..1s", "--protocol-file", "nope.py"]) == 2
