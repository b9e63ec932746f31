"""The page on a comparison: the answer, the figures, every number, and how to get them again."""

import json
from collections.abc import Iterator, Sequence

from analysis.comparison import drawing, tables, words
from analysis.comparison.measures import MEASURES
from analysis.comparison.results import Comparison
from analysis.comparison.tables import Table
from analysis.comparison.words import Statement
from analysis.figures.numbers import counted
from analysis.report import definitions
from analysis.report.asked import network_in_words
from analysis.report.markup import Markup, tag
from analysis.report.page import Column, Page, paragraph
from analysis.report.source import short

_METRICS = ("bytes_by_purpose", "byte_breakdown", "latency", "fairness")
FILE = "compare.toml"


def compose(comparison: Comparison) -> Page:
    """All of it, the answer first."""
    page = Page()
    found = list(words.statements(comparison))
    page.section("answer", "The answer", _answer(comparison))
    page.section("figures", "Side by side", _figures(page, comparison, found))
    page.section("overtaking", "Who overtakes whom", _overtaking(page, comparison, found))
    page.section("numbers", "All numbers", _numbers(page, comparison))
    page.section("asked", "What was asked", _asked(page, comparison))
    page.section("runs", "All runs", _runs(page, comparison))
    page.section("method", "Method and definitions", _method(page, comparison))
    page.section("reproduce", "How to reproduce it", _reproduce(comparison))
    return page


def html(comparison: Comparison, page: Page) -> str:
    """The whole file."""
    experiment = comparison.first.manifest["experiment"]
    facts = [
        f"{len(comparison.systems)} systems",
        f"{len(comparison.places)} places" if comparison.axis else "one place",
        counted(len(comparison.seeds), "seed"),
        "ns-3" if comparison.first.manifest["network"]["backend"] == "ns3" else "in memory",
    ]
    description = comparison.settings.get("description", "")
    head = tag(
        "header",
        tag("p", "Comparison of pysim protocols", class_="eyebrow"),
        tag("h1", experiment),
        tag("p", description, class_="lead") if description else Markup(""),
        tag("p", " · ".join(facts), class_="facts"),
    )
    return page.html(f"{experiment}: comparison", head)


def _answer(comparison: Comparison) -> Iterator[Markup]:
    yield from map(paragraph, words.answer(comparison))
    text = (
        "All systems saw the same overlay and the same operations of clients with each seed "
        f"({', '.join(map(str, comparison.seeds))}), so differences are taken seed by seed. One is "
        "said to be there only if its 95 % confidence interval (Student's t) does not hold zero."
    )
    yield tag("p", text, class_="note")


def _figures(
    page: Page, comparison: Comparison, found: Sequence[Statement]
) -> Iterator[Markup | None]:
    if comparison.axis:
        for number, group in enumerate(comparison.groups, 1):
            name = "comparison" if len(comparison.groups) == 1 else f"comparison-{number}"
            title = f"{short(comparison.axis)[:1].upper()}{short(comparison.axis)[1:]}"
            yield page.drawn(name, title, drawing.curves(comparison, group, found), _METRICS[:1])
        return
    (place,) = comparison.places
    yield page.figure(
        "bytes", "Bytes", lambda: drawing.bytes_by_system(comparison, place), _METRICS[:1]
    )
    yield page.drawn("measures", "Measures", drawing.measures_by_system(comparison, place))


def _overtaking(
    page: Page, comparison: Comparison, found: Sequence[Statement]
) -> Iterator[Markup | None]:
    rows = [
        (next(each.label for each in MEASURES if each.key == one.measure), one.text)
        for one in found
    ]
    if rows:
        columns = (Column("by", "name"), Column("statement", "words"))
        yield page.table("overtaking", "Every pair of systems along the axis.", columns, rows)


def _numbers(page: Page, comparison: Comparison) -> Iterator[Markup]:
    if not comparison.axis:
        for place in comparison.places:
            yield _table(page, "numbers", "Means over seeds.", tables.at_place(comparison, place))
        return
    number = 0
    for measure in tables.shown_measures(comparison):
        for group in comparison.groups:
            number += 1
            found = tables.along(comparison, measure, group)
            yield _table(page, f"numbers-{number}", f"{found.title}.", found)


def _table(page: Page, name: str, title: str, table: Table) -> Markup:
    columns = [Column(table.columns[0], "name"), *map(Column, table.columns[1:])]
    return page.table(name, title, columns, table.rows)


def _asked(page: Page, comparison: Comparison) -> Iterator[Markup]:
    settings = comparison.settings
    yield paragraph(
        f"{comparison.first.brokers} brokers for {settings['duration']} of simulated time at the "
        f"first point. {network_in_words(settings['network'])}"
    )
    rows = [("system", ", ".join(comparison.systems))]
    rows += [(key, ", ".join(values)) for key, values in comparison.varied().items()]
    rows += [
        (f"{part}.{key}", json.dumps(value) if not isinstance(value, str) else value)
        for part in ("topology", "workload")
        for key, value in settings[part].items()
    ]
    columns = (Column("key", "name"), Column("value", "words"))
    yield page.table("asked", "What was varied, and the first point.", columns, rows)


def _runs(page: Page, comparison: Comparison) -> Iterator[Markup]:
    rows = [
        (row["run"], f"{row['seconds']:.1f}", row["fingerprint"], row["error"])
        for row in comparison.runs
    ]
    columns = (
        Column("run", "words"),
        Column("wall time (s)"),
        Column("fingerprint", "code"),
        Column("error", "words"),
    )
    yield page.table("runs", "The runs, in the comparison's directory.", columns, rows)


def _method(page: Page, comparison: Comparison) -> Iterator[Markup]:
    absent = [each for each in MEASURES if not comparison.known(each.key)]
    for measure in absent:
        page.absent[measure.label] = "not all runs can tell it: " + _why(comparison)
    list(page.refer(_METRICS))
    yield from definitions.method(page, tables.shown_measures(comparison))


def _why(comparison: Comparison) -> str:
    if comparison.first.manifest["network"]["backend"] == "memory":
        return "the memory network has no packets to capture"
    return "they were not captured, or did not measure it"


def _reproduce(comparison: Comparison) -> Iterator[Markup]:
    directory = comparison.directory
    file = directory / FILE
    yield paragraph(
        "The runs, their captures and their analyses are kept beside this page: the same command "
        "again only compares them. The configuration of each run is in its directory."
    )
    if file.is_file():
        yield tag("pre", f"pysim compare {FILE}")
        yield tag("pre", file.read_text("utf-8"))
    else:
        yield tag("pre", comparison.configuration)
