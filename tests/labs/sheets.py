"""Lab sheets in a folder of their own, so that runs leave nothing in the repository."""

import re
from pathlib import Path
from typing import NamedTuple

from labkit.marking import LABS, exercises, read_sheet, sheets

NAMES = list(sheets())
WRONG = Path(__file__).with_name("wrong")


class WrongAnswer(NamedTuple):
    """A typical mistake, and words that its check must say."""

    exercise: str
    words: str
    source: str


def wrong_answers(name: str) -> list[WrongAnswer]:
    """The mistakes of a lab, each under a line ``# %% exercise-1: what the check says``."""
    text = (WRONG / f"{name}.py").read_text()
    parts = re.split(r"^# %% (exercise-\d+): (.*)\n", text, flags=re.MULTILINE)
    return list(map(WrongAnswer, parts[1::3], parts[2::3], parts[3::3]))


def desk(folder: Path) -> Path:
    """A folder like `labs/`, with what the sheets import and run."""
    for name in ("labkit", "experiments"):
        (folder / name).symlink_to(LABS / name)
    return folder


def exercise_ids(name: str) -> list[str]:
    return list(exercises(read_sheet(sheets()[name])))
