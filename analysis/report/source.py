"""What a report is made of: analysed runs, alone or as the points of a sweep; it draws nothing."""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.books import Books
from analysis.finished import FinishedRun
from analysis.sources import AbsentError
from analysis.tables import read

ANALYSIS = "analysis"
STATE = "analysis.json"
SWEEP = "sweep.json"
_DIGITS = 16  # of each part of a fingerprint, as `pysim fingerprint` prints it


class AnalysedRun(FinishedRun):
    """A finished run with its analysis; FileNotFoundError if it has none."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        path = directory / ANALYSIS / STATE
        if not path.is_file():
            raise FileNotFoundError(f"{directory} is not analysed: pysim analyze does that")
        self._absent: dict[str, str] = json.loads(path.read_bytes())["absent"]

    def metric(self, name: str) -> pd.DataFrame:
        """A metric's table; AbsentError says why if the run cannot have it."""
        if name in self._absent:
            raise AbsentError(self._absent[name])
        return read(self.directory / ANALYSIS / "metrics" / f"{name}.parquet")

    @cached_property
    def books(self) -> Books:
        """Whether its counts agree."""
        return Books.from_dict(json.loads((self.directory / ANALYSIS / "books.json").read_bytes()))

    @cached_property
    def configuration(self) -> str:
        """The experiment file that repeats this run."""
        return (self.directory / "config.toml").read_text("utf-8")

    @cached_property
    def settings(self) -> dict[str, Any]:
        """That file's values, as they are written."""
        return tomllib.loads(self.configuration)

    @property
    def fingerprint(self) -> str:
        """As `pysim fingerprint` prints it."""
        return "-".join(part[:_DIGITS] for part in self.manifest["fingerprint"].values())


@dataclass(frozen=True)
class Sample:
    """Runs that differ in their seeds only; at least one."""

    runs: tuple[AnalysedRun, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def first(self) -> AnalysedRun:
        return self.runs[0]

    @property
    def seeds(self) -> list[int]:
        return [run.manifest["seed"] for run in self.runs]

    def frames(self, name: str) -> list[pd.DataFrame]:
        """A metric of each run; AbsentError if one of them lacks it."""
        return [run.metric(name) for run in self.runs]

    def tables(self, name: str) -> list[pd.DataFrame]:
        """A table of each run."""
        return [run.table(name) for run in self.runs]

    def mean(self, measure: Callable[[AnalysedRun], float]) -> float:
        """The mean of a number over the seeds."""
        return sum(map(measure, self.runs)) / len(self.runs)


@dataclass(frozen=True)
class SweepResults:
    """A sweep: what it varied, a row for each run that has ended, the complete ones by point."""

    directory: Path
    keys: tuple[str, ...]
    total: int
    rows: tuple[Mapping[str, Any], ...]
    points: tuple[Sample, ...]

    @property
    def failed(self) -> list[Mapping[str, Any]]:
        """The runs that ended with an error."""
        return [row for row in self.rows if row["status"] != "complete"]

    def values(self, key: str) -> list[str]:
        """All values of a key, in the order of the sweep."""
        return list(dict.fromkeys(written(row["settings"][key]) for row in self.rows))


def is_sweep(directory: Path) -> bool:
    """Whether a directory holds the runs of a sweep."""
    return (directory / SWEEP).is_file()


def read_sweep(directory: Path) -> SweepResults:
    """The results of a sweep; ValueError if it cannot be read, or if no run of it is of use."""
    index = read_index(directory)
    rows = tuple(_judged(row, directory) for row in index["runs"])
    by_point: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["status"] == "complete":
            by_point.setdefault(json.dumps(row["settings"]), []).append(row)
    if not by_point:
        raise ValueError(f"{directory} has no complete run to report on")
    points = tuple(_point(directory, group) for group in by_point.values())
    return SweepResults(directory, tuple(index["keys"]), index["total"], rows, points)


def runs_to_analyse(directory: Path) -> list[Path]:
    """The directories of the runs that a report on `directory` is made of."""
    if not is_sweep(directory):
        return [FinishedRun(directory).directory]
    rows = read_index(directory)["runs"]
    return [directory / row["directory"] for row in rows if row["status"] == "complete"]


def written(value: object) -> str:
    """A value of a configuration, as people write it."""
    return value if isinstance(value, str) else json.dumps(value)


def short(key: str) -> str:
    """What a reader calls a key: "subscribers", and "protocol" for the name of one."""
    *before, last = key.split(".")
    return before[-1] if before and last in ("name", "kind", "model") else last


def read_index(directory: Path) -> dict[str, Any]:
    """The contents of a sweep's index; ValueError if it cannot be read."""
    path = directory / SWEEP
    try:
        index: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not isinstance(index, dict) or not {"keys", "total", "runs"} <= set(index):
        raise ValueError(f"{path} cannot be read: it is no index of a sweep")
    return index


def _judged(row: Mapping[str, Any], directory: Path) -> Mapping[str, Any]:
    """A run's row; a complete run without an analysis is of no use."""
    if row["status"] != "complete" or (directory / row["directory"] / ANALYSIS / STATE).is_file():
        return row
    return {**row, "status": "failed", "error": "could not be analysed: pysim analyze says why"}


def _point(directory: Path, rows: list[Mapping[str, Any]]) -> Sample:
    ordered = sorted(rows, key=lambda row: int(row["seed"]))
    runs = tuple(AnalysedRun(directory / row["directory"]) for row in ordered)
    return Sample(runs, rows[0]["settings"])
