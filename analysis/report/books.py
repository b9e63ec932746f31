"""Whether the independent counts of a run agree, and what was held against what."""

from collections.abc import Iterator
from typing import Any

from analysis.figures.numbers import NONE, joined
from analysis.report.markup import Markup, tag
from analysis.report.page import Column, Page, paragraph
from analysis.report.source import Sample

_COUNTS = {
    "agents_sent": "agents sent",
    "sent": "network sent",
    "captured_leaving": "captured leaving",
    "captured_arriving": "captured arriving",
    "received": "network received",
    "agents_received": "agents received",
    "bytes_sent": "bytes sent",
    "bytes_received": "bytes received",
}
_CAUSES = {
    "lost_link": "lost with a link",
    "lost_packet": "lost with a packet",
    "unfinished": "unfinished at the end",
    "unserved": "arrived but never served",
}


def verdict(sample: Sample) -> str:
    """The books in one sentence; a run whose books do not balance has no analysis."""
    rows = [row for run in sample.runs for row in run.books.types]
    seen = all(row.captured_leaving is not None for row in rows)
    counts = ["agents", "network", *(["captures"] if seen else [])]
    messages, size = sum(row.sent for row in rows), sum(row.bytes_sent for row in rows)
    over = f" of {len(sample.runs)} runs" if len(sample.runs) > 1 else ""
    return (
        f"The books{over} balance: {joined(counts)} agree on {messages:,} messages sent and "
        f"{size:,} bytes, by type, link and direction."
    )


def words(page: Page, sample: Sample) -> Iterator[Markup]:
    """The verdict, what was checked, and the counts by type."""
    yield tag("p", verdict(sample), class_="good")
    yield paragraph(
        "Three counts of the same messages, made independently, are held together: what each "
        "agent handed to the network and took from it, what the network's counters say, and what "
        "is read out of the captures. Lost messages are accounted for by cause; captures are "
        "compared to the byte, and with the digests that the run recorded."
    )
    for text in dict.fromkeys(text for run in sample.runs for text in run.books.unchecked):
        yield tag("p", f"Not checked: {text}.", class_="note")
    columns = [Column("type", "name"), *map(Column, _COUNTS.values())]
    rows = _summed(sample)
    title = "The books: messages by who counted them, and bytes."
    if len(sample.runs) > 1:
        title += f" Sums over {len(sample.runs)} seeds."
    cells = [[kind, *(_number(row[key]) for key in _COUNTS)] for kind, row in rows.items()]
    yield page.table("books", title, columns, cells)
    yield paragraph(_losses(rows))


def _summed(sample: Sample) -> dict[str, dict[str, Any]]:
    """Counts by type; what was not counted everywhere is None."""
    rows: dict[str, dict[str, Any]] = {}
    for run in sample.runs:
        for row in run.books.types:
            total = rows.setdefault(row.type, dict.fromkeys((*_COUNTS, *_CAUSES), 0))
            for key, former in total.items():
                count = getattr(row, key)
                total[key] = None if former is None or count is None else former + count
    return rows


def _losses(rows: dict[str, dict[str, Any]]) -> str:
    lost = {label: sum(row[key] for row in rows.values()) for key, label in _CAUSES.items()}
    found = [f"{number:,} {label}" for label, number in lost.items() if number]
    if not found:
        return "Nothing was lost, and nothing was unfinished at the end."
    return f"Of the messages sent, some were not taken by an agent: {joined(found)}."


def _number(count: int | None) -> str:
    return NONE if count is None else f"{count:,}"
