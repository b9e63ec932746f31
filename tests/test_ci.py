"""What CI runs, and what the page about CI says to type."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pysim import cli

ROOT = Path(__file__).parents[1]

STUB = """#!/bin/sh
echo "{name} $* frontend=$DEBIAN_FRONTEND ci=$PYSIM_CI" >> "{log}"
{then}
"""


def run_ci(folder: Path, apt: str = "", there: str = "") -> tuple[int, str, list[str]]:
    """Run `.ci/run` on a machine where installing and making are only written down."""
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    programs = folder / "bin"
    programs.mkdir()
    for name in ("bash", "dirname", "env", "id", "sh"):
        (programs / name).symlink_to(shutil.which(name) or name)
    (folder / ".venv" / "bin").mkdir(parents=True)
    stubs = {"apt-get": apt, "make": "", "../.venv/bin/pysim": "", "sudo": 'shift; exec "$@"'}
    for name, then in {**stubs, **dict.fromkeys(there.split(), "")}.items():
        stub = programs / name
        stub.write_text(STUB.format(name=stub.name, log=folder / "log", then=then))
        stub.chmod(0o755)
    environment = {"PATH": str(programs)}
    done = subprocess.run(
        [str(folder / ".ci" / "run")], env=environment, capture_output=True, text=True, check=False
    )
    log = (folder / "log").read_text().splitlines()
    return done.returncode, done.stderr, [line for line in log if not line.startswith("sudo")]


TESTED = ["make test frontend= ci=1", "pysim smoke frontend= ci=1"]


INSTALL = "apt-get -qq install -y --no-install-recommends {} frontend=noninteractive ci="
ALL = "tshark chromium chromium-driver"


def test_what_is_no_python_package_is_installed_without_questions(tmp_path: Path) -> None:
    assert run_ci(tmp_path) == (
        0,
        "",
        ["apt-get -qq update frontend= ci=", INSTALL.format(ALL), *TESTED],
    )


def test_what_is_there_is_taken(tmp_path: Path) -> None:
    assert run_ci(tmp_path, there="tshark chromium chromedriver") == (0, "", TESTED)


def test_a_browser_without_its_driver_is_not_enough(tmp_path: Path) -> None:
    _, _, log = run_ci(tmp_path, there="tshark chromium")
    assert log[1:] == [INSTALL.format("chromium chromium-driver"), *TESTED]


def test_a_machine_that_cannot_install_it_is_told_and_tested_nevertheless(tmp_path: Path) -> None:
    code, words, log = run_ci(tmp_path, apt="exit 100")
    assert (code, log[-2:]) == (0, TESTED)
    assert words == f"pysim: missing, and could not be installed: {ALL}; their tests will fail.\n"


@pytest.mark.parametrize("page", ["ci.md", "replay.md", "wireshark.md"])
def test_the_commands_on_the_page_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    commands = re.findall(r"\bpysim ((?:smoke|wireshark|replay) [^\n`|)>#&]*)", text)
    assert len(commands) >= 3
    for command in commands:
        cli._parser().parse_args(shlex.split(command))
