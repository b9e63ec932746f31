"""Does what a page says, in its order, and tells what went wrong."""

import tomllib
from collections.abc import Iterator

from pysim.experiments.config import Experiment
from pysim.experiments.toml import value
from tests.docs.exceptions import changed
from tests.docs.reading import Step, commands, lines, steps
from tests.docs.workspace import Workspace
from tools.site.pages import Page

FIRST = "pysim run experiments/first.toml"
_KEYS = set(Experiment.__struct_fields__)
_READ = "import sys, pathlib\nfrom pysim.experiments.config import load\nload(pathlib.Path({!r}))\n"


def failures(page: Page, workspace: Workspace) -> list[str]:
    """What on a page does not work, each with its line and what was printed."""
    workspace.type(FIRST)  # all pages build upon the first experiment of the README
    found: list[str] = []
    scripts: list[Step] = []
    for step in steps(page):
        match step.kind:
            case "save":
                workspace.save(step.file, step.text)
            case "python":
                scripts.append(step)
            case "toml":
                found += _read(page, step, workspace)
            case _:
                for line in lines(step.text):
                    found += _typed(page, line, workspace, step.line)
    found += _run(page, scripts, workspace)
    for command in commands(page):
        if not command.bare:
            found += _typed(page, command.text, workspace)
    return found


def _typed(page: Page, command: str, workspace: Workspace, line: int = 0) -> Iterator[str]:
    instead, _ = changed(page.name, command)
    well, printed = workspace.type(instead) if instead else (True, "")
    if not well:
        yield f"{page.name}, line {line}: {command}\n{printed}"


def _run(page: Page, scripts: list[Step], workspace: Workspace) -> Iterator[str]:
    """Run all Python of a page as one program, and what it has of tests by pytest."""
    tests = [step for step in scripts if "def test_" in step.text]
    programs = [step for step in scripts if step not in tests]
    for name, chosen, command in (
        ("page.py", programs, "python page.py"),
        ("test_page.py", tests, "pytest -q -p no:cacheprovider test_page.py"),
    ):
        if chosen:
            text, _ = changed(page.name, "\n\n".join(step.text for step in chosen))
            workspace.save(name, text)
            yield from _typed(page, f"{command}  # {page.name}", workspace, chosen[0].line)


def _read(page: Page, step: Step, workspace: Workspace) -> Iterator[str]:
    """See that TOML is what an experiment can have: a whole one, or a part of the first one."""
    given = tomllib.loads(step.text)
    if not given.keys() <= _KEYS:
        return
    base = {} if "duration" in given else _base(given, workspace)
    merged = {**base, **given}
    name = f"page-{step.line}.toml"
    workspace.save(name, "".join(f"{key} = {value(part)}\n" for key, part in merged.items()))
    workspace.save("read.py", _READ.format(name))
    yield from _typed(page, f"python read.py  # {page.name} {step.line}", workspace, step.line)


def _base(given: dict[str, object], workspace: Workspace) -> dict[str, object]:
    """What a part belongs to: a sweep to the sweep that ships, all else to the first experiment."""
    name = "sweep" if "sweep" in given else "first"
    return tomllib.loads((workspace.folder / "experiments" / f"{name}.toml").read_text())
