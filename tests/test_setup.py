"""A machine that lacks something is told so in one sentence, before anything is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def check(
    python: str, tmp_path: Path, tools: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run the check with nothing on the PATH but the named tools."""
    for tool in tools:
        (tmp_path / tool).symlink_to("/bin/true")
    environment = {**os.environ, "PATH": str(tmp_path)}
    environment.pop("CXX", None)
    return subprocess.run(
        ["/bin/sh", str(ROOT / "tools" / "check-machine.sh"), python],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def fake_python(tmp_path: Path, version: str) -> str:
    path = tmp_path / "fake-python"
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return str(path)


def test_this_machine_is_fine(tmp_path: Path) -> None:
    done = check(sys.executable, tmp_path, tools=("c++",))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("version", ["3.10", "3.14", "2.7"])
def test_an_unsupported_python_is_named(version: str, tmp_path: Path) -> None:
    done = check(fake_python(tmp_path, version), tmp_path, tools=("c++",))
    assert done.returncode == 1
    assert done.stderr == (
        f"pysim: Python {version} is not supported; "
        "say 'make PYTHON=...' with a Python 3.11 to 3.13.\n"
    )


def test_a_missing_python_is_named(tmp_path: Path) -> None:
    done = check("no-such-python", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("pysim: there is no Python called 'no-such-python'; install")


def test_a_missing_compiler_is_named(tmp_path: Path) -> None:
    done = check(sys.executable, tmp_path)
    assert done.returncode == 1
    assert done.stderr == "pysim: there is no C++ compiler; install one (g++ on Debian).\n"


def test_make_stops_at_the_first_thing_that_is_missing(tmp_path: Path) -> None:
    for name in ("Makefile", "requirements.txt", "pyproject.toml", "CMakeLists.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "tools").mkdir()
    script = (ROOT / "tools" / "check-machine.sh").read_bytes()
    (tmp_path / "tools" / "check-machine.sh").write_bytes(script)
    done = subprocess.run(
        ["make", "setup", "PYTHON=no-such-python"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "pysim: there is no Python called 'no-such-python'" in done.stderr
    assert not (tmp_path / ".venv").exists()
