"""For notebooks: finished runs and experiments, analysed when that is first needed.

    from analysis import open_experiment, open_run

    run = open_run("results/demo")
    run.metric("latency")               # a pandas frame; docs/metrics.md describes them all
    run.messages()                      # every captured message, from whom to whom

    experiment = open_experiment("results/sweep")
    experiment.metric("fairness")       # the same of all its runs, with what was varied

An analysis starts Spark and ends it, unless a session is open: then it uses that one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analysis.finished import FinishedRun, run_directories
from analysis.tables import read

if TYPE_CHECKING:
    from analysis.pipeline import Analysis

_INDEX = "sweep.parquet"


class Run(FinishedRun):
    """A finished run and its analysis."""

    @cached_property
    def analysis(self) -> "Analysis":
        """The analysis; BooksError if the run's books do not balance."""
        from analysis.pipeline import analyze, present  # Spark takes a second to load
        from analysis.session import open_session

        found = present(self.directory)
        if found is None:
            with open_session() as session:
                found = analyze(session, self.directory)
        return found

    def metric(self, name: str) -> pd.DataFrame:
        """A metric's table; LookupError says why there is none."""
        return self.analysis.metric(name)

    def messages(self) -> pd.DataFrame:
        """All captured messages."""
        return self.analysis.table("messages")

    def packets(self) -> pd.DataFrame:
        """All captured packets, every byte of them attributed."""
        return self.analysis.table("packets")

    def notes(self) -> pd.DataFrame:
        """What is strange about the captures, in sentences."""
        return self.analysis.table("notes")


class Experiment:
    """The runs below a directory, such as those of a sweep."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self.runs = [Run(path) for path in run_directories(self.directory)]

    @cached_property
    def settings(self) -> pd.DataFrame:
        """A row for each run: `run`, `seed`, and the keys that a sweep varied."""
        own = [(run.directory.name, run.manifest["run"], run.manifest["seed"]) for run in self.runs]
        runs = pd.DataFrame(own, columns=["directory", "run", "seed"])
        index = self.directory / _INDEX
        if index.is_file():
            swept = read(index)
            varied = list(swept.columns[swept.columns.get_loc("seed") + 1 : -6])
            runs = runs.merge(swept[["directory", *varied]], on="directory", how="left")
        return runs.drop(columns="directory")

    def metric(self, name: str) -> pd.DataFrame:
        """A metric of all runs, below each other, with the columns of `settings` before it."""
        with self._one_session():
            tables = [run.metric(name) for run in self.runs]
        labels = self.settings.to_dict("records")
        return pd.concat(
            [
                table.assign(**label)[[*label, *table.columns]]
                for label, table in zip(labels, tables, strict=True)
            ],
            ignore_index=True,
        )

    @contextmanager
    def _one_session(self) -> Iterator[None]:
        """Spark for all runs that are not analysed yet; none if all are."""
        from analysis.pipeline import present
        from analysis.session import open_session

        if all(present(run.directory) for run in self.runs):
            yield
        else:
            with open_session():
                yield
