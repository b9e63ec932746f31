"""Reads the files of finished runs and turns them into answers; it never touches the simulator.

    from analysis import open_experiment, open_run

is how a notebook begins; `analysis.api` shows how it goes on.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.api import Experiment, Run

__all__ = ["open_experiment", "open_run"]


# Spark's workers import this package for every task: what they do not need is loaded when called.


def open_run(directory: Path | str) -> "Run":
    """A finished run; FileNotFoundError or ValueError if it is none."""
    from analysis.api import Run

    return Run(directory)


def open_experiment(directory: Path | str) -> "Experiment":
    """The finished runs below a directory; FileNotFoundError if there are none."""
    from analysis.api import Experiment

    return Experiment(directory)
