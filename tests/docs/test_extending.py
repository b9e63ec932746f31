"""What the page on extending shows is what comes; its commands are tried with all others."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.workspace import Workspace, workspace
from tools.site.pages import ROOT, Page

PAGE = Page("docs/extending.md")
NAME = "my_flooding.py"


def blocks(language: str) -> list[str]:
    return [block.text for block in PAGE.blocks() if block.language == language]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with workspace(tmp_path_factory.mktemp("extending")) as made:
        well, printed = made.type("pysim new-protocol my-flooding")
        assert well, printed
        yield made


def pysim(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "pysim", *command.split()]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_the_table_shown_runs(reader: Workspace) -> None:
    protocol, _ = blocks("toml")
    text = (ROOT / "experiments" / "first.toml").read_text()
    mine, changed = re.subn(r"^\[protocol\]\n(?:.+\n)+", protocol, text, flags=re.MULTILINE)
    assert changed == 1
    reader.save("mine.toml", mine)
    done = pysim("run mine.toml --quiet --out mine", reader.folder)
    assert done.returncode == 0, done.stderr
    assert "my-flooding-hello" in done.stdout


def test_wireshark_reads_its_messages(reader: Workspace) -> None:
    command = next(line for line in blocks("sh") if "wireshark" in line).strip()
    well, printed = reader.type(command)
    assert well, printed
    assert "my-flooding-hello" in (reader.folder / "plugins" / "pysim.lua").read_text()


def test_the_error_shown_is_the_one_that_comes(reader: Workspace) -> None:
    shown, _ = blocks("text")
    lines = (reader.folder / NAME).read_text().splitlines(keepends=True)
    reader.save(f"broken/{NAME}", "".join([*lines[:8], "import helpers\n", *lines[8:]]))
    first = "../experiments/first.toml"
    done = pysim(f"run {first} --protocol-file {NAME}", reader.folder / "broken")
    assert done.stderr == shown


def test_the_finding_shown_is_what_the_kit_finds(reader: Workspace) -> None:
    _, shown = blocks("text")
    text = (reader.folder / NAME).read_text()
    line = "        self.seen.add(event.id)\n"
    assert line in text
    reader.save(f"forgetful/{NAME}", text.replace(line, ""))
    done = pysim(f"conformance {NAME} --only delivery", reader.folder / "forgetful")
    assert done.returncode == 1
    assert shown in done.stdout
