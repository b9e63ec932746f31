"""Sheets that were handed in: whose answers are taken, and what is said of them."""

from pathlib import Path

import nbformat
import pytest

from labkit import marking
from labkit.marking import LABS, Mark, MarkingError, answers_of, filled_in, main, report, sheets

NAME = "1-routing-tables"


def handed_in(folder: Path) -> Path:
    """A renamed copy with an answer, and with a check that was tampered with."""
    sheet = filled_in(NAME, {"exercise-2": "second_subscription = {(6, 2)}"})
    place = next(i for i, cell in enumerate(sheet.cells) if cell.id == "exercise-2")
    sheet.cells[place + 1].source = "print('all is right')"
    path = folder / "ann.ipynb"
    nbformat.write(sheet, path)
    return path


def test_only_answers_are_taken_from_what_was_handed_in(tmp_path: Path) -> None:
    name, answers = answers_of(handed_in(tmp_path))
    assert name == NAME
    assert answers["exercise-2"] == "second_subscription = {(6, 2)}"
    marked = filled_in(name, answers)
    original = filled_in(name, {})
    differing = [
        one.id for one, other in zip(marked.cells, original.cells, strict=True) if one != other
    ]
    assert differing == ["exercise-2"]


def test_solutions_are_cut_at_their_headings() -> None:
    name, answers = answers_of(LABS / "solutions" / "4-gossip.py")
    assert name == "4-gossip"
    assert answers["exercise-5"] == "direct = subscriptions.broker.nunique()"


def test_an_answer_to_no_exercise_is_refused() -> None:
    with pytest.raises(MarkingError, match="1-routing-tables has no exercise-9; it has exercise-1"):
        filled_in(NAME, {"exercise-9": ""})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no json", "is no notebook"),
        ('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "is no lab sheet"),
        (None, "No such file or directory"),
    ],
)
def test_what_is_no_sheet_is_named(
    content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.ipynb"
    if content is not None:
        path.write_text(content)
    assert main([str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mark.py: ")
    assert str(path) in said
    assert words in said


@pytest.mark.parametrize("name", ["README.md", "1-routing-tables.py", "other.py"])
def test_no_other_file_is_taken_for_one(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not name.startswith("1"):
        (tmp_path / name).write_text("# %% exercise-1\n")
    assert main([str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.startswith(f"mark.py: {tmp_path / name}")


def test_without_files_there_is_nothing_to_mark(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err == ("mark.py: name at least one notebook that was handed in\n")


def test_a_report_has_a_line_for_all_that_is_not_right() -> None:
    found = [
        Mark("1", "right", ("Good.",)),
        Mark("2", "wrong", ("no link 1-2", "no link 2-3")),
        Mark("3", "open", ("Write it down.",)),
    ]
    assert report(Path("ann.ipynb"), NAME, found) == [
        "ann.ipynb (1-routing-tables): 1 of 3 right",
        "  exercise 2: no link 1-2; no link 2-3",
        "  exercise 3: not answered",
    ]


def test_the_exit_code_says_whether_all_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sheet of two cells in the place of a lab: what is marked is run, in a kernel."""
    (tmp_path / "labkit").symlink_to(LABS / "labkit")
    check = "from labkit.verdict import judged\njudged('1', [] if two == 2 else ['no'], 'Yes.')"
    cells = [
        nbformat.v4.new_code_cell("two = ...", id="exercise-1"),
        nbformat.v4.new_code_cell(check, id="check-1"),
    ]
    sheet = nbformat.v4.new_notebook(cells=cells, metadata={"lab": "small"})
    nbformat.write(sheet, tmp_path / "small.ipynb")
    monkeypatch.setattr(marking, "LABS", tmp_path)
    assert list(sheets()) == ["small"]
    handed_in = tmp_path / "of students" / "ann.ipynb"
    handed_in.parent.mkdir()
    codes = []
    for answer in ("two = 1 + 1", "two = 3", "two = 1 / 0"):
        cells[0].source = answer
        nbformat.write(sheet, handed_in)
        codes.append(main([str(handed_in)]))
    assert codes == [0, 1, 1]
    words = capsys.readouterr().out
    assert [line.partition("ann.ipynb ")[2] or line for line in words.splitlines()] == [
        "(small): 1 of 1 right",
        "(small): 0 of 1 right",
        "  exercise 1: no",
        "(small): 0 of 1 right",
        "  exercise 1: ZeroDivisionError: division by zero",
    ]
