"""What the page on exchange says, happens: every command and every script, in order."""

import shlex
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pysim.cli import main
from tests.test_extending import ROOT, blocks, commands

PAGE = "docs/exchange.md"


def test_every_command_works_and_its_files_are_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process: each command alone takes longer to load than to do its work."""
    (tmp_path / "experiments").mkdir()
    shutil.copy(ROOT / "experiments" / "first.toml", tmp_path / "experiments")
    monkeypatch.chdir(tmp_path)
    for command in commands(PAGE):
        program, *arguments = shlex.split(command)
        assert program == "pysim"
        assert main(arguments) == 0, command
    for script in blocks(PAGE, "python"):
        exec(script, {})
    assert main(["topology", "describe", "out/graphml/seed1.graphml"]) == 0
