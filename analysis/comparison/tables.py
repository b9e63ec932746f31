"""A comparison as tables: measures by systems at one place, systems by places for one measure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.comparison import words
from analysis.comparison.measures import BYTES, MEASURES
from analysis.comparison.results import Comparison, Place
from analysis.figures.confidence import Estimate
from analysis.figures.numbers import column
from analysis.report.headlines import Measure
from analysis.report.source import short

_MOST_SENTENCES = 3  # measures whose pairs of systems are printed; the page has all


class Table(NamedTuple):
    """A title, the names of columns, and rows of texts whose first one is a name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def shown_measures(comparison: Comparison) -> list[Measure]:
    """The measures that all runs have; bytes of messages only where there are none on wires."""
    left_out = set() if comparison.bytes.key == BYTES[1] else {BYTES[1]}
    return [
        measure
        for measure in MEASURES
        if measure.key not in left_out and comparison.known(measure.key)
    ]


def at_place(comparison: Comparison, place: Place) -> Table:
    """All measures of all systems at one place."""
    rows = []
    for measure in shown_measures(comparison):
        values = [comparison.estimate(measure.key, each, place) for each in comparison.systems]
        title, cells = numbers(measure, values)
        rows.append((title, *cells))
    return Table(comparison.named(place), ("", *comparison.systems), tuple(rows))


def along(comparison: Comparison, measure: Measure, group: tuple[str, ...]) -> Table:
    """One measure of all systems along the axis."""
    places = comparison.along(group)
    systems = comparison.systems
    values = [
        comparison.estimate(measure.key, system, place) for place in places for system in systems
    ]
    title, cells = numbers(measure, values)
    begins = range(0, len(cells), len(systems))
    lines = [cells[begin : begin + len(systems)] for begin in begins]
    rows = [(place.along, *line) for place, line in zip(places, lines, strict=True)]
    where = words.in_group(comparison, group).rstrip(", ")
    return Table(
        f"{title} {where}".strip(), (short(comparison.axis), *comparison.systems), tuple(rows)
    )


def numbers(measure: Measure, values: Sequence[Estimate]) -> tuple[str, list[str]]:
    """A title with the unit, and the cells of estimates that are read together."""
    unit = measure.unit(max(abs(value.mean) for value in values))
    title = f"{measure.label} ({unit.name})" if unit.name else measure.label
    return title, column(values, 1 / unit.size)


def text(comparison: Comparison) -> Iterator[str]:
    """The comparison for a terminal: the answer, tables, and who overtakes whom."""
    yield from words.answer(comparison)
    yield ""
    if comparison.axis:
        for group in comparison.groups:
            yield from aligned(along(comparison, comparison.bytes, group))
            yield ""
        told = words.spoken(comparison)[:_MOST_SENTENCES]
        for statement in words.statements(comparison):
            if statement.measure in told:
                yield statement.text
    else:
        for place in comparison.places:
            yield from aligned(at_place(comparison, place))
    seeds = len(comparison.seeds)
    if seeds > 1:
        yield ""
        yield f"{seeds} seeds; ± is the 95 % confidence interval (Student's t)"


def aligned(table: Table) -> Iterator[str]:
    """A table as lines of text: the first column on the left, all others on the right."""
    lines = [table.columns, *table.rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(table.columns))]
    if table.title:
        yield table.title
    for name, *cells in lines:
        rest = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([f"{name:{widths[0]}}", *rest]).rstrip()
