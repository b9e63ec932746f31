"""From the directories of a figure's runs to its rows, its drawing and its files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import SparkSession

from analysis.figures.style import rendered
from analysis.reproduction.drawing import draw
from analysis.reproduction.figure import Family, Figure
from analysis.reproduction.judging import Row, judge
from analysis.reproduction.numbers import Numbers, numbers
from analysis.reproduction.page import document
from analysis.reproduction.table import table

_FORMATS = ("svg", "png")


class Result(NamedTuple):
    """What came of a figure; `repeats`: the runs of a point that were asked for, and all it has."""

    figure: str
    quick: bool
    runs: int
    seeds: int
    repeats: tuple[int, int]
    rows: list[Row]


def gather(session: SparkSession, directories: Sequence[Path]) -> dict[Path, Numbers]:
    """The numbers of all runs, each read by a Spark task; ValueError tells of one that is bad."""
    context = session.sparkContext
    slices = max(1, min(len(directories), 4 * context.defaultParallelism))
    places = context.parallelize([str(each.absolute()) for each in directories], slices)
    found = dict(zip(directories, places.map(_tried).collect(), strict=True))
    for result in found.values():
        if isinstance(result, str):
            raise ValueError(result)
    return {place: result for place, result in found.items() if isinstance(result, Numbers)}


def _tried(directory: str) -> Numbers | str:
    """The numbers of a run, or what is wrong with it: a task must not raise, Spark would retry."""
    try:
        return numbers(directory)
    except (OSError, ValueError) as error:
        return str(error)


def write(
    family: Family,
    figure: Figure,
    runs: Sequence[Numbers],
    quick: bool,
    repeats: tuple[int, int],
    directory: Path,
) -> Result:
    """Judge and draw a figure, and write both into the family's folder of a directory."""
    folder = directory / family.name
    folder.mkdir(parents=True, exist_ok=True)
    rows = table(runs)
    judged = list(judge(family.name, figure, rows, quick))
    drawing = draw(figure, rows) if len(rows) else None
    if drawing is not None:
        for format in _FORMATS:
            (folder / f"{figure.name}.{format}").write_bytes(rendered(drawing, format))
    seeds = len({run.seed for run in runs})
    result = Result(figure.name, quick, len(runs), seeds, repeats, judged)
    text = document({**result._asdict(), "rows": plain(judged)})
    (folder / f"{figure.name}.json").write_text(text, encoding="utf-8")
    return result


def plain(rows: Sequence[Row]) -> list[Mapping[str, object]]:
    """Rows as scripts get them."""
    return [row._asdict() for row in rows]
