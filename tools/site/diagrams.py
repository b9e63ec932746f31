"""Sequence diagrams of the protocol pages: small experiments are run, and their messages drawn.

`docs/diagrams/` has an experiment for each page, a sweep over its protocols, and `windows.toml`
says which part of a run a reader sees. Runs are on the memory network, whose messages are those of
ns-3 with equal delays; so the same pictures come of every machine.
"""

import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from analysis.replay import build_chart
from pysim.experiments.config import Point, expand, load
from pysim.experiments.plan import prepare
from pysim.experiments.run import run
from pysim.units import Duration
from tools.site.pages import ROOT

EXPERIMENTS = ROOT / "docs" / "diagrams"
PICTURES = Path("docs/protocols/diagrams")


def write(folder: Path) -> list[Path]:
    """Draw all of them into a folder, in place of those that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    windows = tomllib.loads((EXPERIMENTS / "windows.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        return [path for name in windows for path in _drawn(name, windows, folder, Path(scratch))]


def _drawn(name: str, windows: dict[str, str], folder: Path, scratch: Path) -> Iterator[Path]:
    for point in expand(load(EXPERIMENTS / f"{name}.toml")):
        title = _title(point)
        directory = scratch / name / title
        run(prepare(point.config), directory, title)
        out = folder / f"{name}-{title}.svg"
        yield build_chart(directory, _window(windows[name]), out, axis="rows")


def _title(point: Point) -> str:
    """A run by its protocol, and by what else the sweep lets it do."""
    protocol = point.config.experiment.protocol.table()
    optimize = protocol.get("optimize")
    return "-".join([protocol["name"], *(optimize.by if optimize else ())])


def _window(text: str) -> tuple[int, int]:
    begin, _, end = text.partition("..")
    return round(Duration.parse(begin) * 1e9), round(Duration.parse(end) * 1e9)
