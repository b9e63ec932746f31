"""The runs of a suite: every point of every experiment file in a folder, checked beforehand."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pysim.experiments.config import expand, load
from pysim.experiments.plan import Plan, prepare
from pysim.naming import nearest


class SuiteError(Exception):
    """A suite that cannot run; the text says why."""


class Entry(NamedTuple):
    """One run. It is called like its file, and also like its point if the file has several."""

    name: str
    file: str
    run: str
    plan: Plan


def read(folder: Path) -> list[Entry]:
    """All runs of a folder; SuiteError or ConfigError if one of them cannot be."""
    if not folder.is_dir():
        raise SuiteError(f"{folder} is no folder; --suite names one with experiment files")
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise SuiteError(f"{folder} has no experiment files (*.toml)")
    return [entry for file in files for entry in _entries(file)]


def chosen(entries: Sequence[Entry], names: Iterable[str]) -> list[Entry]:
    """The runs with one of the names, a file's or a run's; all of them if there are no names."""
    wanted = set(names)
    known = {name for entry in entries for name in (entry.name, entry.file)}
    for name in sorted(wanted - known):
        raise SuiteError(f'there is no run "{name}" in the suite; {nearest(name, sorted(known))}')
    return [entry for entry in entries if not wanted or {entry.name, entry.file} & wanted]


def _entries(file: Path) -> list[Entry]:
    points = expand(load(file))
    return [
        Entry(
            file.stem if len(points) == 1 else f"{file.stem}/{point.name}",
            file.stem,
            point.name,
            prepare(point.config),
        )
        for point in points
    ]
