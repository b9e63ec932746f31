"""All tables and metrics as Parquet or CSV, one file each; runs of a sweep stand below each other.

The rows of several runs begin with the run's name, its seed and what the sweep varied.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from analysis.api import Experiment, Run
from analysis.metrics import METRICS

_CAPTURED = ("messages", "packets", "notes")

_Write = Callable[[pd.DataFrame, Path], None]


def write_parquet(experiment: Experiment, out: Path) -> None:
    """For pandas, Polars, DuckDB, Spark and R's arrow."""
    _write(experiment, out, ".parquet", lambda frame, path: frame.to_parquet(path, index=False))


def write_csv(experiment: Experiment, out: Path) -> None:
    """For spreadsheets and everything else; what is absent is an empty cell, bytes are in hex."""
    _write(experiment, out, ".csv", lambda frame, path: _in_words(frame).to_csv(path, index=False))


def _write(experiment: Experiment, out: Path, suffix: str, write: _Write) -> None:
    write(experiment.settings, out / f"runs{suffix}")
    for group, name, frame in _tables(experiment):
        folder = out / group
        folder.mkdir(exist_ok=True)
        write(frame, folder / f"{name}{suffix}")


def _tables(experiment: Experiment) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Every table by its group and name, of all runs that have it."""
    labels = experiment.settings.to_dict("records")
    several = len(experiment.runs) > 1
    for group, name in _names(experiment):
        frames = []
        for run, label in zip(experiment.runs, labels, strict=True):
            frame = _table(run, group, name)
            if frame is not None and several:
                frame = frame.assign(**label)[[*label, *frame.columns]]
            if frame is not None:
                frames.append(frame)
        if frames:
            yield group, name, pd.concat(frames, ignore_index=True)


def _names(experiment: Experiment) -> Iterator[tuple[str, str]]:
    tables = {path.stem for run in experiment.runs for path in _parquet(run.directory / "tables")}
    yield from (("tables", name) for name in sorted(tables))
    yield from (("metrics", name) for name in METRICS)
    yield from (("captured", name) for name in _CAPTURED)


def _in_words(frame: pd.DataFrame) -> pd.DataFrame:
    binary = [name for name in frame if pd.api.types.infer_dtype(frame[name]) == "bytes"]
    return frame.assign(**{name: frame[name].map(bytes.hex) for name in binary})


def _parquet(folder: Path) -> Iterator[Path]:
    return folder.glob("*.parquet")


def _table(run: Run, group: str, name: str) -> pd.DataFrame | None:
    try:
        match group:
            case "tables":
                return run.table(name)
            case "metrics":
                return run.metric(name)
            case _:
                return run.analysis.table(name)
    except (FileNotFoundError, LookupError):  # a run that does not have it
        return None
