"""What the page on extending says, happens: every command, in order."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    """All lines of all shell blocks, without their comments."""
    lines = "\n".join(blocks(page, "sh")).splitlines()
    return [line.partition("  #")[0].strip() for line in lines if line.strip()]


def perform(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Type a command, with the programs of this environment."""
    programs = str(Path(sys.executable).parent)
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder)},
    )


def perform_all(page: str, folder: Path) -> list[str]:
    (folder / "experiments").mkdir()
    shutil.copy(ROOT / "experiments" / "first.toml", folder / "experiments")
    said = []
    for command in commands(page):
        done = perform(command, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        said.append(done.stdout)
    return said


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("extending")
    said = perform_all("docs/extending.md", folder)
    assert len(said) == 9
    return folder


def test_every_command_on_extending_works(extended: Path) -> None:
    runs = sorted(path.name for path in (extended / "results" / "first").iterdir())
    assert runs == ["protocol=myflooding_greet=True_seed1", "protocol=myflooding_seed1"]
    assert "my_flooding_hello" not in (extended / "plugins" / "pysim.lua").read_text()
    assert "my-flooding-hello" in (extended / "plugins" / "pysim.lua").read_text()


def test_the_table_shown_runs(extended: Path) -> None:
    protocol, _ = blocks("docs/extending.md", "toml")
    text = (ROOT / "experiments" / "first.toml").read_text()
    mine, changed = re.subn(r"^\[protocol\]\n(?:.+\n)+", protocol, text, flags=re.MULTILINE)
    assert changed == 1
    (extended / "mine.toml").write_text(mine)
    done = perform("pysim run mine.toml --quiet --out mine", extended)
    assert done.returncode == 0, done.stderr
    assert "my-flooding-hello" in done.stdout


def test_the_error_shown_is_the_one_that_comes(extended: Path) -> None:
    shown, _ = blocks("docs/extending.md", "text")
    folder = extended / "broken"
    folder.mkdir()
    lines = (extended / "my_flooding.py").read_text().splitlines(keepends=True)
    (folder / "my_flooding.py").write_text("".join([*lines[:8], "import helpers\n", *lines[8:]]))
    done = perform("pysim run ../experiments/first.toml --protocol-file my_flooding.py", folder)
    assert done.stderr == shown


def test_the_finding_shown_is_what_the_kit_finds(extended: Path) -> None:
    _, shown = blocks("docs/extending.md", "text")
    folder = extended / "forgetful"
    folder.mkdir()
    text = (extended / "my_flooding.py").read_text()
    line = "        self.seen.add(event.id)\n"
    assert line in text
    (folder / "my_flooding.py").write_text(text.replace(line, ""))
    done = perform("pysim conformance my_flooding.py --only delivery", folder)
    assert done.returncode == 1
    assert shown in done.stdout


def test_the_python_shown_works(extended: Path) -> None:
    message, test, promises = blocks("docs/extending.md", "python")
    text = (extended / "my_flooding.py").read_text()
    (extended / "more.py").write_text(
        text.replace('"my-flooding"', '"more"').replace("(224)", "(226)")
        + f"\n\n{message}\n\n{promises}"
    )
    done = perform("pysim list protocols --protocol-file more.py", extended)
    assert done.returncode == 0, done.stderr
    (extended / "test_more.py").write_text(f"from my_flooding import MyFlooding\n{test}")
    done = perform("python -m pytest -q test_more.py", extended)
    assert done.returncode == 0, done.stdout
