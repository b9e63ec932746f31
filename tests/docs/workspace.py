"""A folder in which pages are tried out: what a reader has who has cloned and set up pysim."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.docs.exceptions import SMALLER
from tools.site.pages import ROOT

_HAD = (
    *("experiments", "smoke", "docs/diagrams", "topologies/files", "benchmarks", "labs"),
    *("Makefile", "requirements.txt", "pyproject.toml", "CMakeLists.txt", "tools/check-machine.sh"),
)
_SERVER = """\
import os, sys
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
import analysis.replay, analysis.report, analysis.reproduction
from pysim.cli.server import main
sys.exit(main())
"""
_PATIENCE = 300.0  # seconds for a command, on a machine that has other work


class Workspace:
    """A folder with an environment. What was typed once and went well is not typed again.

    Plain commands of pysim are given to its own server, which forks for each of them: to load all
    that they need takes longer than what most of them do. Everything else goes to a shell.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._typed: set[str] = set()
        for name in _HAD:
            _copy(ROOT / name, folder / name)
        for name, changes in SMALLER.items():
            _change(folder / name, changes)
        (folder / ".venv").symlink_to(sys.prefix)
        (folder / "home").mkdir()

    def type(self, command: str) -> tuple[bool, str]:
        """Type something: whether it went well, and what was printed, or at least complained."""
        plain = command.replace(".venv/bin/", "")
        if plain in self._typed:
            return True, ""
        if plain.startswith("pysim ") and not re.search(r"[$|<>&;*]", plain):
            well, printed = self._served(shlex.split(plain)[1:])
        else:
            well, printed = self._shell(command)
        if well:
            self._typed.add(plain)
        return well, printed

    def save(self, name: str, text: str) -> None:
        """Save a text in a file."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def close(self) -> None:
        """End what was started for it."""
        if "_server" in vars(self):
            self._server.stdin.close()
            self._server.wait(60)

    def _served(self, arguments: list[str]) -> tuple[bool, str]:
        request = json.dumps({"arguments": arguments, "seconds": _PATIENCE})
        print(request, file=self._server.stdin, flush=True)
        answer = json.loads(self._server.stdout.readline())
        return answer["code"] == 0, answer["words"]

    def _shell(self, command: str) -> tuple[bool, str]:
        done = subprocess.run(
            ["timeout", str(_PATIENCE), "bash", "-e", "-o", "pipefail", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            **self._place,
        )
        return done.returncode == 0, done.stdout

    @cached_property
    def _server(self) -> Any:
        return subprocess.Popen(
            [sys.executable, "-c", _SERVER, "--parent", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **self._place,
        )

    @property
    def _place(self) -> dict[str, Any]:
        programs = str(Path(sys.executable).parent)
        own = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(self.folder / "home")}
        return {"cwd": self.folder, "text": True, "env": {**os.environ, **own}}


@contextmanager
def workspace(folder: Path) -> Iterator[Workspace]:
    """A workspace for as long as it is needed."""
    made = Workspace(folder)
    try:
        yield made
    finally:
        made.close()


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def _change(path: Path, changes: dict[str, str]) -> None:
    text = path.read_text()
    for old, new in changes.items():
        assert old in text, f"{path.name} has no {old}"
        text = text.replace(old, new)
    path.write_text(text)
