"""The report on a sweep: how the key numbers depend on what was varied."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pandas as pd

from analysis.figures import breakdown, sweep
from analysis.figures.confidence import Estimate
from analysis.figures.numbers import column, counted, joined
from analysis.report import definitions, reproduce
from analysis.report.asked import network_in_words
from analysis.report.headlines import BY_KEY, Headline
from analysis.report.markup import Markup, tag
from analysis.report.page import Column, Page, pair, paragraph
from analysis.report.source import Sample, SweepResults, short, written
from analysis.sources import AbsentError

_FIRST = ("wire_per_delivery", "delivered", "latency_median")
_SHOWN = (
    "wire_per_delivery", "wire_per_event_byte", "header_share", "control_share", "message_hops",
    "delivered", "latency_median", "latency_p99", "busiest_link", "jain",
    "per_reconfiguration", "normalized_cost",
)  # fmt: skip
_PROTOCOL = "protocol.name"
_BESIDE = 4


def compose(page: Page, results: SweepResults) -> None:
    """Put a sweep on a page, the answer first."""
    rows = _measured(results)
    key, others = _axes(results)
    page.section("answer", "The answer", _answer(results, rows, key, others))
    page.section("asked", "What was asked", _asked(page, results))
    page.section("figures", "What it depends on", _figures(page, results, rows, key, others))
    page.section("bytes", "Where the bytes go", _bytes(page, results))
    page.section("points", "All points", _points(page, results))
    page.section("runs", "All runs", _runs(page, results))
    page.section(
        "method",
        "Method and definitions",
        definitions.method(page, [BY_KEY[key] for key in _SHOWN]),
    )
    page.section("reproduce", "How to reproduce it", reproduce.sweep(page, results))


def _measured(results: SweepResults) -> pd.DataFrame:
    """A row for each complete run: what was set, and its key numbers."""
    return pd.DataFrame(
        [
            {
                **{key: written(value) for key, value in point.settings.items()},
                **{key: BY_KEY[key].known(run) for key in _SHOWN},
            }
            for point in results.points
            for run in point.runs
        ]
    )


def _axes(results: SweepResults) -> tuple[str, list[str]]:
    """Which key goes along the axis, and which make lines: the axis takes the one that says most.

    Quantities before names, many values before few; protocols are lines if anything else varies.
    """
    varied = [key for key in results.keys if len(results.values(key)) > 1]

    def rank(key: str) -> tuple[bool, bool, int]:
        values = results.values(key)
        return key == _PROTOCOL, not sweep.scale_of(values).ordered, -len(values)

    first = min(varied, key=rank)
    return first, [key for key in varied if key != first]


def _answer(
    results: SweepResults, rows: pd.DataFrame, key: str, others: Sequence[str]
) -> Iterator[Markup]:
    """Which line is cheapest where, how far the key numbers reach, and how many runs tell so."""
    failed, missing = len(results.failed), results.total - len(results.rows)
    runs = sum(len(point.runs) for point in results.points)
    seeds = max(len(point.runs) for point in results.points)
    sentences = [
        sentence for key in _FIRST if (sentence := _reach(BY_KEY[key], results.points)) is not None
    ]
    if others:
        sentences.insert(0, " ".join(_cheapest(rows, key, others)))
    yield from (paragraph(sentence) for sentence in sentences if sentence)
    text = (
        f"{counted(len(results.points), 'point').capitalize()} with up to {counted(seeds, 'seed')} "
        f"each, {counted(runs, 'complete run')}"
    )
    text += f"; {counted(failed, 'run')} failed (below)." if failed else ", none failed."
    if missing:
        text += f" The sweep is not at its end: {counted(missing, 'run')} of {results.total} lack."
    text += " The books of all runs that are shown balance."
    if seeds > 1:
        text += " Intervals are 95 % confidence intervals over seeds (Student's t)."
    yield tag("p", text, class_="note")


def _cheapest(rows: pd.DataFrame, key: str, others: Sequence[str]) -> Iterator[str]:
    """Which of the lines needs the fewest bytes on the wire for a delivery, and where."""
    headline = BY_KEY[_FIRST[0]]
    found = sweep.lines(rows, headline.key, key, others)
    if len(found) < 2:
        return
    leads = sweep.leads(found)
    where = [f"{lead.name} at {short(key)} {joined(lead.places)}" for lead in leads]
    yield f"Fewest {headline.label}: {joined(where)}."
    doubtful = [place for lead in leads for place in lead.doubtful]
    if doubtful:
        yield f"At {short(key)} {joined(doubtful)} the confidence intervals overlap."


def _reach(headline: Headline, points: Sequence[Sample]) -> str | None:
    values = [(headline.of(point), point) for point in points]
    found = [(value, point) for value, point in values if not math.isnan(value.mean)]
    if not found:
        return None
    low = min(found, key=lambda item: item[0].mean)
    high = max(found, key=lambda item: item[0].mean)
    name = headline.label[:1].upper() + headline.label[1:]
    if low[0].mean == high[0].mean:
        return f"{name}: {headline.shown(low[0])} at every point."
    return (
        f"{name}: from {headline.shown(low[0])} ({_described(low[1].settings)}) to "
        f"{headline.shown(high[0])} ({_described(high[1].settings)})."
    )


def _described(settings: Mapping[str, object]) -> str:
    """A point by what it sets: "flooding, rate 64 kbit/s"."""
    return ", ".join(
        written(value) if key == _PROTOCOL else f"{short(key)} {written(value)}"
        for key, value in sorted(settings.items(), key=lambda item: item[0] != _PROTOCOL)
    )


def _asked(page: Page, results: SweepResults) -> Iterator[Markup]:
    first = results.points[0].first
    yield paragraph(
        f"{first.brokers} brokers run {first.settings['protocol']['name']} for "
        f"{first.settings['duration']} of simulated time at the first point. "
        f"{network_in_words(first.settings['network'])} What was varied:"
    )
    rows = [[key, ", ".join(results.values(key))] for key in results.keys]
    rows.append(["seed", ", ".join(map(str, sorted({row["seed"] for row in results.rows})))])
    columns = (Column("key", "name"), Column("values", "words"))
    yield page.table("varied", "What was varied, in all combinations.", columns, rows)


def _figures(
    page: Page, results: SweepResults, rows: pd.DataFrame, key: str, others: Sequence[str]
) -> Iterator[Markup | None]:
    figures = []
    for headline in (BY_KEY[name] for name in _SHOWN):
        title = headline.label[:1].upper() + headline.label[1:]
        largest = rows[headline.key].abs().max()
        unit = headline.unit(0.0 if math.isnan(largest) else largest)
        drawing = sweep.draw(rows, headline.key, title, unit, key, others)
        if drawing is None:
            page.absent[title] = _why(headline, results)
        else:
            figures.append(page.drawn(headline.key.replace("_", "-"), title, drawing))
    for left in range(0, len(figures), 2):
        yield pair(*figures[left : left + 2])


def _why(headline: Headline, results: SweepResults) -> str:
    """Why no run of a sweep has a key number."""
    try:
        headline.measure(results.points[0].first)
    except AbsentError as reason:
        return str(reason)
    return "there was nothing of the kind"


def _bytes(page: Page, results: SweepResults) -> Iterator[Markup | None]:
    yield page.figure(
        "bytes",
        "Bytes on the wire per delivery",
        lambda: breakdown.draw_points(
            {
                _described(point.settings): [
                    (run.metric("byte_breakdown"), int(run.manifest["deliveries"]["made"]))
                    for run in point.runs
                ]
                for point in results.points
            }
        ),
        ["byte_breakdown"],
    )


def _points(page: Page, results: SweepResults) -> Iterator[Markup]:
    """Tables of all points, as many numbers in each as a page is wide."""
    found = []
    for headline in (BY_KEY[key] for key in _SHOWN):
        values = [headline.of(point) for point in results.points]
        if any(value.seeds for value in values):
            found.append(_numbers(headline, values))
    names = [Column(short(key), "name") for key in results.keys]
    points = [
        [*map(written, point.settings.values()), str(len(point.runs))] for point in results.points
    ]
    for begin in range(0, len(found), _BESIDE):
        titles, cells = zip(*found[begin : begin + _BESIDE], strict=True)
        rows = [[*point, *numbers] for point, *numbers in zip(points, *cells, strict=True)]
        columns = [*names, Column("seeds"), *map(Column, titles)]
        number = begin // _BESIDE + 1
        yield page.table(f"points-{number}", "Every point, means over seeds.", columns, rows)


def _numbers(headline: Headline, values: Sequence[Estimate]) -> tuple[str, list[str]]:
    """A column of a table: its title with the unit, and its cells."""
    unit = headline.unit(max(abs(value.mean) for value in values if value.seeds))
    title = f"{headline.label} ({unit.name})" if unit.name else headline.label
    return title, column(values, 1 / unit.size)


def _runs(page: Page, results: SweepResults) -> Iterator[Markup]:
    rows = [
        [_linked(results, row), f"{row['seconds']:.1f}", row["fingerprint"]]
        for row in results.rows
        if row["status"] == "complete"
    ]
    columns = (Column("run", "words"), Column("wall time (s)"), Column("fingerprint", "code"))
    yield page.table("runs", "The complete runs.", columns, rows)
    if len(results.failed):
        failures = [[row["run"], row["error"]] for row in results.failed]
        yield page.table(
            "failed",
            "Runs that failed.",
            (Column("run", "name"), Column("error", "words")),
            failures,
        )


def _linked(results: SweepResults, row: Mapping[str, Any]) -> str:
    """A run's name, as a link to its own report if there is one."""
    report = f"{row['directory']}/report.html"
    name: str = row["run"]
    return tag("a", name, href=quote(report)) if (results.directory / report).is_file() else name
