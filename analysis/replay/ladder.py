"""Sequence diagrams as SVG: a line for each broker, time downwards, a row for each message.

It is the form for small scenes, where a reader wants to know what each message says and what made
brokers send it: what clients do, what they get, and links that break stand between the messages.
`sequence` draws the other form, with time to the right, for many messages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

from analysis.figures.style import COLORS
from analysis.replay.decoding import decode_body
from analysis.replay.moves import CHANNELS, LOST, ReplayError
from analysis.replay.sequence import Chart, arrow_head, arrows, axes, type_color
from analysis.replay.state import Note

MOST_ROWS = 200
_LEFT, _EDGE, _APART, _LEAST = 78, 58, 152, 800
_TOP, _ROW = 66, 27
_CHARACTER = 5.9
"""What a character takes at the size of labels, on average and with some room."""
_PLAIN = ("filter", "attributes")
"""Fields that need no name."""
_INKS = {"break": "vermillion", "crash": "vermillion", "loss": "vermillion", "got": "green"}


@dataclass(frozen=True)
class Ladder:
    """A chart, and what happened beside its messages."""

    chart: Chart
    notes: Sequence[Note]


class _Row(NamedTuple):
    """What stands on one height: a note, or a message."""

    time: int
    order: int
    note: Note | None
    message: Any


def draw(ladder: Ladder) -> str:
    """The whole SVG file; ReplayError if it would have more rows than a reader can follow."""
    chart = ladder.chart
    messages = arrows(chart)
    brokers = axes(chart, messages)
    rows = _rows(ladder, messages, brokers)
    if len(rows) > MOST_ROWS:
        raise ReplayError(
            f"this would have {len(rows):,} rows, and {MOST_ROWS} are possible; choose a shorter"
            " window, or fewer brokers or types, or another --axis"
        )
    spaces = max(1, len(brokers) - 1)
    width = max(_LEFT + 2 * _EDGE + _APART * spaces, _LEAST)
    apart = (width - _LEFT - 2 * _EDGE) / spaces
    x = {broker: _LEFT + _EDGE + apart * place for place, broker in enumerate(brokers)}
    bottom = _TOP + _ROW * len(rows) + 10
    height = bottom + 14
    ink, muted = COLORS["ink"][0], COLORS["muted"][0]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>',
        f'<text x="16" y="22" font-size="14" font-weight="600" fill="{ink}">'
        f"{escape(chart.title)}</text>",
        *(_line(broker, at, bottom, ink) for broker, at in x.items()),
        *_times(rows, muted),
        *(_drawn(row, y, x, width, chart) for row, y in _placed(rows)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _rows(ladder: Ladder, messages: Any, brokers: Sequence[int]) -> list[_Row]:
    """All there is to tell, by time; what a client does comes before what it causes."""
    begin, end = ladder.chart.window
    orders = {"acts": 1, "got": 2}
    rows = [
        _Row(note.time, orders.get(note.kind, 0), note, None)
        for note in ladder.notes
        if begin <= note.time <= end and (note.broker is None or note.broker in brokers)
    ]
    rows += [_Row(row.departed, 3, None, row) for row in messages.itertuples()]
    return sorted(rows, key=lambda row: (row.time, row.order))


def _placed(rows: Sequence[_Row]) -> Iterator[tuple[_Row, float]]:
    for place, row in enumerate(rows):
        yield row, _TOP + _ROW * (place + 0.75)


def _times(rows: Sequence[_Row], muted: str) -> Iterator[str]:
    """The time at the left wherever it is another one."""
    apart = [later.time - row.time for row, later in pairwise(rows)]
    digits = 6 if any(0 < gap < 1_000_000 for gap in apart) else 3
    former = None
    for row, y in _placed(rows):
        if row.time != former:
            yield (
                f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" font-size="11" '
                f'fill="{muted}">{row.time / 1e9:.{digits}f} s</text>'
            )
        former = row.time


def _line(broker: int, x: float, bottom: float, ink: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{_TOP - 16}" text-anchor="middle" fill="{ink}">'
        f"broker {broker}</text>"
        f'<path d="M{x:.1f} {_TOP - 8}V{bottom}" stroke="{ink}" stroke-opacity="0.4"/>'
    )


def _drawn(row: _Row, y: float, x: dict[int, float], width: float, chart: Chart) -> str:
    if row.note is None:
        return _message(row.message, y, x, width, chart)
    if row.note.broker is None:
        return _change(row.note, y, width)
    return _act(row.note, y, x[row.note.broker], width)


def _change(note: Note, y: float, width: float) -> str:
    """What goes wrong or right with the overlay, across all lines."""
    ink = COLORS[_INKS.get(note.kind, "green")][0]
    half = len(note.text) * _CHARACTER / 2 + 8
    middle = _LEFT + (width - _LEFT) / 2
    return (
        f'<path d="M{_LEFT} {y:.1f}H{middle - half:.1f}M{middle + half:.1f} {y:.1f}H{width - 12}" '
        f'stroke="{ink}" stroke-dasharray="2 3"/>'
        + _text(middle, y + 4, "middle", note.text, ink, bold=len(note.text))
    )


def _act(note: Note, y: float, x: float, width: float) -> str:
    """What a client does or gets, at its broker's line."""
    ink = COLORS[_INKS.get(note.kind, "muted")][0]
    text = _fitting(note.text, width)
    fits = x + 10 + len(text) * _CHARACTER <= width - 4
    at, anchor = (x + 10, "start") if fits else (x - 10, "end")
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{ink}"/>' + _text(
        at, y + 4, anchor, text, ink
    )


def _message(row: Any, y: float, x: dict[int, float], width: float, chart: Chart) -> str:
    lost = row.fate == LOST
    x1, x2 = x[row.source], x[row.target]
    x2 = (x1 + x2) / 2 if lost else x2
    shade = type_color(chart, row.type)
    dashes = ' stroke-dasharray="4 3"' if lost else ""
    name = chart.moves.type_names[row.type]
    text = _fitting(f"{name} {_said(row, chart)}", width)
    left = min(x1, x[row.target]) + 6
    long = left + len(text) * _CHARACTER > width - 4
    at, anchor = (width - 6, "end") if long else (left, "start")
    return (
        _text(at, y - 4, anchor, text, COLORS["ink"][0], size=11, bold=len(name))
        + f'<g class="arrow" stroke="{shade}" fill="{shade}">'
        f'<path d="M{x1:.1f} {y:.1f}H{x2:.1f}" stroke-width="1.6"{dashes}/>'
        f"{arrow_head(x1, y, x2, y, lost=lost)}</g>"
    )


def _said(row: Any, chart: Chart) -> str:
    """A message's id and its fields, and how it went if not over a link."""
    name = f"{row.origin}:{row.sequence}"
    frame = None if row.key is None else chart.moves.contents[row.key]
    fields = decode_body(frame).fields if frame else []
    said = [
        field.text if field.name in _PLAIN else f"{field.name.replace('_', ' ')} {field.text}"
        for field in fields
        if field.text not in ("none", "empty")
    ]
    channel = CHANNELS[row.channel]
    way = [f"by {channel}"] if channel in ("tcp", "udp") else []
    return ", ".join(["; ".join([f"{name}  {said[0]}", *said[1:]]) if said else name, *way])


def _fitting(text: str, width: float) -> str:
    most = int((width - _LEFT - 16) / _CHARACTER)
    return text if len(text) <= most else f"{text[: most - 2]} …"


def _text(
    x: float, y: float, anchor: str, text: str, ink: str, size: int = 12, bold: int = 0
) -> str:
    """A text that hides the lines below it; its first `bold` characters are."""
    said = escape(text[bold:], quote=False)
    if bold:
        said = f'<tspan font-weight="600">{escape(text[:bold], quote=False)}</tspan>{said}'
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{ink}" '
        f'stroke="#FFFFFF" stroke-width="3" paint-order="stroke">{said}</text>'
    )
