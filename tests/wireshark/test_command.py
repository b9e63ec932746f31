"""`pysim wireshark`: what it installs is what Wireshark loads."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pysim.cli import main
from pysim.wire import Envelope, message_types
from pysim.wire.messages import Flush
from pysim.wireshark import dissector
from tests.wireshark import captures
from tests.wireshark.reading import require_tshark

Command = Callable[[str], tuple[int, str, str]]

TYPES = f"the dissector for {len(message_types())} message types"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without any settings, which is the current directory too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pysim(home: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def command(line: str) -> tuple[int, str, str]:
        code = main(shlex.split(line))
        return code, *capsys.readouterr()

    return command


def info(home: Path, *arguments: str) -> str:
    """What tshark says of a message, started as a user would."""
    frame = Envelope.seal(Flush(5), 3, 7).frame
    capture = captures.write(home / "one.pcap", captures.udp([frame]))
    column = ["-o", 'gui.column.format:"Info","%i"']
    line = [require_tshark(), "-r", str(capture), *arguments, *column]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def test_the_installed_plugin_is_loaded(pysim: Command, home: Path) -> None:
    require_tshark()
    assert "FLUSH" not in info(home)
    file = home / ".local" / "lib" / "wireshark" / "plugins" / "pysim.lua"
    assert pysim("wireshark install") == (0, f"installed {TYPES} as {file}\n", "")
    assert info(home) == "FLUSH 3:7 reconfiguration 5"
    assert pysim("wireshark uninstall") == (0, f"removed {file}\n", "")
    assert "FLUSH" not in info(home)


def test_the_path_is_one_that_tshark_loads(pysim: Command, home: Path) -> None:
    code, out, err = pysim("wireshark path")
    assert (code, out, err) == (0, f"{home / 'cache' / 'pysim' / 'pysim.lua'}\n", "")
    assert info(home, "-X", f"lua_script:{out.strip()}") == "FLUSH 3:7 reconfiguration 5"


@pytest.mark.parametrize("cache", ["", "relative"])
def test_the_path_is_in_the_home_without_another_cache(
    pysim: Command, home: Path, cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    assert pysim("wireshark path")[1] == f"{home / '.cache' / 'pysim' / 'pysim.lua'}\n"


def test_the_path_is_brought_up_to_date(pysim: Command, home: Path) -> None:
    path = Path(pysim("wireshark path")[1].strip())
    path.write_text("-- of an older version")
    pysim("wireshark path")
    assert path.read_text() == dissector()
    assert os.listdir(path.parent) == [path.name]


def test_installing_again_changes_nothing(pysim: Command, home: Path) -> None:
    file = Path("plugins", "pysim.lua")
    line = "wireshark install --directory plugins"
    assert pysim(line) == (0, f"installed {TYPES} as {file}\n", "")
    before = file.stat()
    assert pysim(line) == (0, f"{file} has {TYPES} already\n", "")
    after = file.stat()  # reading it may change when it was last read
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    file.write_text(dissector().replace("version 0", "version 00", 1))
    assert pysim(line) == (0, f"installed {TYPES} as {file}\n", "")
    assert file.read_text() == dissector()


def test_without_wireshark_its_default_folder_is_taken(
    pysim: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    file = home / ".local" / "lib" / "wireshark" / "plugins" / "pysim.lua"
    assert pysim("wireshark install") == (0, f"installed {TYPES} as {file}\n", "")
    assert pysim("wireshark uninstall") == (0, f"removed {file}\n", "")
    assert pysim("wireshark uninstall") == (0, f"there is no {file}\n", "")


def test_a_file_that_is_not_ours_is_left_alone(pysim: Command, home: Path) -> None:
    foreign = home / "pysim.lua"
    foreign.write_text("print('mine')")
    assert pysim("wireshark install --directory .") == (
        2,
        "",
        "pysim: pysim.lua is not pysim's dissector; move it away first\n",
    )
    assert pysim("wireshark uninstall --directory .") == (
        2,
        "",
        "pysim: pysim.lua is not pysim's dissector, so it stays\n",
    )
    assert foreign.read_text() == "print('mine')"


def test_a_folder_that_cannot_be_is_one_sentence(pysim: Command, home: Path) -> None:
    (home / "file").write_text("")
    code, out, err = pysim("wireshark install --directory file/inside")
    assert (code, out) == (1, "")
    assert err == "pysim: [Errno 20] Not a directory: 'file/inside'\n"


def test_a_directory_makes_no_sense_for_the_path(pysim: Command) -> None:
    sentence = "pysim: --directory is for install and uninstall\n"
    assert pysim("wireshark path --directory here") == (2, "", sentence)
