"""Runs a lab sheet with somebody's answers, and reads what its checks say.

It knows no exercise: a cell whose id begins with ``exercise-`` is for the student, and verdicts
are what checks leave in the outputs. The sheet itself is always the one that lies here: of a
notebook that was handed in, only the answers are taken.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

from labkit.verdict import MIME, State

LABS = Path(__file__).parents[1]
TIMEOUT = 120
"""Seconds that a single cell may take."""

Answers = dict[str, str]
"""The source of cells, by their ids."""


class MarkingError(Exception):
    """A file that is no lab sheet; the text says why."""


@dataclass(frozen=True)
class Mark:
    """What a check said of an exercise."""

    exercise: str
    state: State
    sentences: tuple[str, ...]


def sheets() -> dict[str, Path]:
    """The lab sheets by their names."""
    return {path.stem: path for path in sorted(LABS.glob("*.ipynb"))}


def read_sheet(path: Path) -> Any:
    """A notebook; `MarkingError` if it cannot be read as one."""
    try:
        return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except OSError as error:
        raise MarkingError(f"{path}: {error.strerror}") from None
    except Exception as error:  # whatever is no notebook, nbformat and json have a word for it
        raise MarkingError(f"{path} is no notebook: {error}") from None


def exercises(notebook: Any) -> dict[str, Any]:
    """The cells that are for the student, by their ids."""
    return {cell.id: cell for cell in notebook.cells if cell.get("id", "").startswith("exercise-")}


def answers_of(path: Path) -> tuple[str, Answers]:
    """The lab that a file answers, and its answers: a notebook, or a file of solutions.

    A notebook knows its lab, so it may be renamed; solutions are named like their lab, and each
    begins with a line ``# %% exercise-1``.
    """
    if path.suffix == ".py" and path.stem in sheets() and path.is_file():
        parts = re.split(r"^# %% (exercise-\d+)\n", path.read_text("utf-8"), flags=re.MULTILINE)
        return path.stem, dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))
    notebook = read_sheet(path)
    name = notebook.metadata.get("lab", "")
    if name not in sheets():
        raise MarkingError(f"{path} is no lab sheet; these are {', '.join(sheets())}")
    return name, {id: cell.source for id, cell in exercises(notebook).items()}


def filled_in(name: str, answers: Answers) -> Any:
    """A lab's sheet with these answers; exercises without one stay as they are."""
    notebook = read_sheet(sheets()[name])
    cells = exercises(notebook)
    for id, source in answers.items():
        if id not in cells:
            raise MarkingError(f"{name} has no {id}; it has {', '.join(cells)}")
        cells[id].source = source
    return notebook


@contextmanager
def started(notebook: Any, folder: Path) -> Iterator[NotebookClient]:
    """Who runs a sheet's cells, with a kernel in a folder that has `labkit`.

    A cell that raises is no end: what a student wrote may break any cell below it.
    """
    client = NotebookClient(
        notebook,
        allow_errors=True,
        timeout=TIMEOUT,
        startup_timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": folder}},
    )
    # Sockets in a folder of our own: what is said to a kernel is nobody else's business.
    with TemporaryDirectory(prefix="lab-") as sockets:
        manager = client.create_kernel_manager()
        manager.transport, manager.ip = "ipc", str(Path(sockets, "kernel"))
        with client.setup_kernel():
            yield client


def execute(notebook: Any, folder: Path) -> list[Mark]:
    """Run a sheet from top to bottom; the verdicts, in order."""
    with started(notebook, folder) as client:
        for place, cell in enumerate(notebook.cells):
            client.execute_cell(cell, place)
    return marks(notebook)


def marks(notebook: Any) -> list[Mark]:
    """What the check below each exercise said, in a notebook that was run."""
    below = zip(notebook.cells, notebook.cells[1:], strict=False)
    mine = exercises(notebook)
    return [mark(cell, check) for cell, check in below if cell.id in mine]


def mark(cell: Any, check: Any) -> Mark:
    """What became of an exercise; it is wrong if there is no verdict, for something raised."""
    for output in check.outputs:
        said = output.get("data", {}).get(MIME)
        if said is not None:
            return Mark(said["exercise"], said["state"], tuple(said["sentences"]))
    number = cell.id.removeprefix("exercise-")
    return Mark(number, "wrong", tuple([*errors(cell), *errors(check)][:1]))


def errors(cell: Any) -> list[str]:
    """What a cell raised."""
    return [
        f"{output.ename}: {output.evalue}"
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]


def main(arguments: Sequence[str]) -> int:
    """Mark files and print what is to be said of each; the exit code.

    0 if all exercises of all of them are right, 1 if not, 2 if a file is no lab sheet.
    """
    parser = argparse.ArgumentParser("mark.py", description="Mark lab sheets that were handed in.")
    parser.add_argument(
        "notebook", nargs="*", help="a sheet with somebody's answers; its code is run"
    )
    names: list[str] = parser.parse_args(arguments).notebook
    if not names:
        print("mark.py: name at least one notebook that was handed in", file=sys.stderr)
        return 2
    all_right = True
    for path in map(Path, names):
        try:
            name, answers = answers_of(path)
            found = execute(filled_in(name, answers), LABS)
        except MarkingError as error:
            print(f"mark.py: {error}", file=sys.stderr)
            return 2
        print("\n".join(report(path, name, found)), flush=True)
        all_right &= all(mark.state == "right" for mark in found)
    return 0 if all_right else 1


def report(path: Path, name: str, found: Sequence[Mark]) -> list[str]:
    """A line for a sheet, and one for each of its exercises that is not right."""
    right = sum(mark.state == "right" for mark in found)
    lines = [f"{path} ({name}): {right} of {len(found)} right"]
    for mark in found:
        if mark.state == "open":
            lines.append(f"  exercise {mark.exercise}: not answered")
        elif mark.state == "wrong":
            lines.append(f"  exercise {mark.exercise}: {'; '.join(mark.sentences)}")
    return lines
