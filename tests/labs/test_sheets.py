"""Every lab sheet runs from top to bottom in a real kernel: as it is, and with answers."""

from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell

from labkit.marking import (
    LABS,
    answers_of,
    errors,
    execute,
    filled_in,
    mark,
    marks,
    read_sheet,
    sheets,
    started,
)

from .sheets import NAMES, WRONG, desk, exercise_ids, wrong_answers


def _errors(sheet: Any) -> list[str]:
    return [error for cell in sheet.cells for error in errors(cell)]


def test_there_are_four() -> None:
    assert NAMES == ["1-routing-tables", "2-subscription-burst", "3-a-link-breaks", "4-gossip"]


@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_in_the_repository_is_clean(name: str) -> None:
    """Nothing is executed in it, so that a change of it can be read; it knows which lab it is."""
    sheet = read_sheet(sheets()[name])
    assert sheet.metadata["lab"] == name
    assert sheet.metadata["kernelspec"]["name"] == "python3"
    for cell in sheet.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
        assert cell.metadata == {}


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_a_place_a_solution_and_mistakes(name: str) -> None:
    expected = [f"exercise-{number + 1}" for number in range(len(exercise_ids(name)))]
    assert exercise_ids(name) == expected
    _, solutions = answers_of(LABS / "solutions" / f"{name}.py")
    assert list(solutions) == expected
    assert {wrong.exercise for wrong in wrong_answers(name)} == set(expected)


def test_there_are_no_answers_to_labs_that_do_not_exist() -> None:
    for folder in (LABS / "solutions", WRONG):
        assert sorted(path.stem for path in folder.iterdir() if path.suffix == ".py") == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_student_opens_it_and_nothing_is_answered(name: str, tmp_path: Path) -> None:
    sheet = filled_in(name, {})
    found = execute(sheet, desk(tmp_path))
    assert _errors(sheet) == []
    assert [f"exercise-{each.exercise}" for each in found] == exercise_ids(name)
    assert {each.state for each in found} == {"open"}


@pytest.mark.parametrize("name", NAMES)
def test_solutions_are_right_and_every_mistake_is_told(name: str, tmp_path: Path) -> None:
    """One kernel for both: mistakes are made after the whole sheet was solved."""
    _, solutions = answers_of(LABS / "solutions" / f"{name}.py")
    sheet = filled_in(name, solutions)
    with started(sheet, desk(tmp_path)) as runner:
        for place, cell in enumerate(sheet.cells):
            runner.execute_cell(cell, place)
        assert _errors(sheet) == []
        assert [(each.exercise, each.state) for each in marks(sheet)] == [
            (id.removeprefix("exercise-"), "right") for id in exercise_ids(name)
        ]
        places = {cell.id: place for place, cell in enumerate(sheet.cells)}
        for wrong in wrong_answers(name):
            place = places[wrong.exercise]
            runner.execute_cell(new_code_cell(wrong.source), place)
            check = new_code_cell(sheet.cells[place + 1].source)
            runner.execute_cell(check, place + 1)
            found = mark(sheet.cells[place], check)
            assert found.state == "wrong", wrong
            assert any(wrong.words in sentence for sentence in found.sentences), (wrong, found)
