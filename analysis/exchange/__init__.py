"""Results for the tools that people already use: pandas, spreadsheets, OMNeT++, networkx, NetAnim.

`export` writes a directory that is complete or absent, from finished and analysed runs. A format is
a function from runs to files; it reads what a run left and computes nothing anew.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from analysis.api import Experiment
from analysis.exchange.frames import write_csv, write_parquet
from analysis.exchange.graphml import write_graphml
from analysis.exchange.netanim import write_netanim
from analysis.exchange.omnetpp import write_omnetpp

__all__ = ["FORMATS", "export", "require_new"]

FORMATS: dict[str, Callable[[Experiment, Path], None]] = {
    "parquet": write_parquet,
    "csv": write_csv,
    "omnetpp": write_omnetpp,
    "graphml": write_graphml,
    "netanim": write_netanim,
}
"""What can be written, by name."""


def export(directory: Path, format: str, out: Path) -> list[Path]:
    """Write a run, or all runs below a directory, into the new directory `out`; the files there.

    FileExistsError if something is there already, FileNotFoundError if there is no run, LookupError
    if the runs lack what the format needs.
    """
    require_new(out)
    experiment = Experiment(directory)
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        FORMATS[format](experiment, partial)
        if out.exists():
            out.rmdir()
        partial.rename(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return sorted(path for path in out.rglob("*") if path.is_file())


def require_new(out: Path) -> None:
    """FileExistsError if something is there that would be overwritten."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out} is there already, and nothing is overwritten")
