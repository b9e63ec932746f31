"""Sequence charts as SVG: an axis for each broker, time to the right, an arrow for each message.

It is drawn as OMNeT++ users know it. With the axis "steps" every moment at which something happens
is as far from the next as any other, so that a burst can be read. `page/chart.js` draws the same
chart in a page, by the same rules. `ladder` draws small scenes message by message.
"""

import difflib
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.style import COLORS
from analysis.replay.moves import LOST, Moves, ReplayError
from analysis.replay.palette import color_of

MOST_ARROWS = 2000
MOST_BROKERS = 40
_MOST_LABELS = 80
_LEFT, _TOP, _ROW, _RIGHT, _FOOT = 96, 64, 46, 30, 44
_WIDTH, _STEP, _WIDEST = 1080, 16, 16_000


@dataclass(frozen=True)
class Chart:
    """What is to be drawn; `brokers` and `types` None means all that occur."""

    title: str
    moves: Moves
    window: tuple[int, int]
    brokers: Sequence[int] | None = None
    types: Sequence[str] | None = None
    axis: str = "linear"


def arrows(chart: Chart) -> pd.DataFrame:
    """The messages of a chart; ReplayError if there are more than a reader can follow."""
    rows = chart.moves.rows
    rows = rows[(rows.departed <= chart.window[1]) & (rows.ended >= chart.window[0])]
    if chart.types is not None:
        codes = {name: code for code, name in chart.moves.type_names.items()}
        for name in chart.types:
            if name not in codes:
                raise ReplayError(f"there are no {name} messages here; {_meant(name, codes)}")
        rows = rows[rows.type.isin([codes[name] for name in chart.types])]
    if chart.brokers is not None:
        rows = rows[rows.source.isin(chart.brokers) & rows.target.isin(chart.brokers)]
    if len(rows) > MOST_ARROWS:
        raise ReplayError(
            f"{len(rows):,} messages are under way in this window, and a chart has at most "
            f"{MOST_ARROWS:,}; choose a shorter one, or fewer brokers or types"
        )
    return rows


def _meant(name: str, known: Iterable[str]) -> str:
    similar = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {similar[0]}?" if similar else f"types are {', '.join(sorted(known))}"


def draw(chart: Chart) -> str:
    """The whole SVG file."""
    rows = arrows(chart)
    brokers = axes(chart, rows)
    x, width, ticks = _scale(chart, rows)
    y = {broker: _TOP + _ROW * (place + 0.5) for place, broker in enumerate(brokers)}
    height = _TOP + _ROW * len(brokers) + _FOOT
    ink, muted, grid = (COLORS[name][0] for name in ("ink", "muted", "grid"))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>',
        f'<text x="16" y="22" font-size="14" font-weight="600" fill="{ink}">'
        f"{escape(chart.title)}, {_span(chart.window)}</text>",
        *_ruler(ticks, height - _FOOT, muted, grid),
        *(_axis(broker, at, width, ink, grid) for broker, at in y.items()),
        f'<clipPath id="window"><rect x="{_LEFT}" y="0" width="{width - _LEFT - _RIGHT}" '
        f'height="{height}"/></clipPath>',
        '<g clip-path="url(#window)">',
        *(_arrow(row, chart, x, y) for row in rows.itertuples()),
        "</g>",
        *(_labels(rows, chart, x, y, ink) if len(rows) <= _MOST_LABELS else ()),
        *_legend(chart, rows, height - 16, ink),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def axes(chart: Chart, rows: pd.DataFrame) -> list[int]:
    """The brokers that a chart has lines for; ReplayError if there are too many, or none."""
    if chart.brokers is not None:
        return list(dict.fromkeys(chart.brokers))
    found = sorted({*rows.source.tolist(), *rows.target.tolist()})
    if not found:
        raise ReplayError(f"no message is under way in {_span(chart.window)}")
    if len(found) > MOST_BROKERS:
        raise ReplayError(
            f"{len(found)} brokers take part in this window, and a chart has at most "
            f"{MOST_BROKERS}; choose some with --brokers"
        )
    return found


def _scale(
    chart: Chart, rows: pd.DataFrame
) -> tuple[Callable[[float], float], int, list[tuple[float, str]]]:
    """Where a time stands, how wide the chart is, and the marks on its ruler."""
    begin, end = chart.window
    if chart.axis == "linear":
        scale = (_WIDTH - _LEFT - _RIGHT) / max(1, end - begin)
        marks = [(_LEFT + (time - begin) * scale, text) for time, text in ticks(begin, end)]
        return (lambda time: _LEFT + (time - begin) * scale), _WIDTH, marks
    times = np.unique(np.concatenate([rows.departed, rows.ended]))
    moments: list[int] = [begin, *times[(times > begin) & (times < end)].tolist(), end]
    step = max((_WIDTH - _LEFT - _RIGHT) / len(moments), _STEP)
    width = round(min(_LEFT + _RIGHT + step * (len(moments) - 1), _WIDEST))
    step = (width - _LEFT - _RIGHT) / max(1, len(moments) - 1)

    def place(time: float) -> float:
        below = min(max(bisect_right(moments, time) - 1, 0), len(moments) - 2)
        share = (time - moments[below]) / max(1, moments[below + 1] - moments[below])
        return _LEFT + step * (below + share)

    every = math.ceil(110 / step)
    marks = [(_LEFT + step * n, time_text(moments[n], 1e3)) for n in range(0, len(moments), every)]
    return place, width, marks


def ticks(begin: float, end: float) -> list[tuple[float, str]]:
    """Round times in a window, about eight of them, with what a ruler says there."""
    rough = max(1.0, (end - begin) / 8)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(begin / step)
    times = [number * step for number in range(first, math.floor(end / step) + 1)]
    return [(time, time_text(time, step)) for time in times]


def time_text(time: float, step: float) -> str:
    """A time in seconds, to the digit that tells times of that distance apart."""
    digits = min(9, max(0, 9 - math.floor(math.log10(max(step, 1.0)))))
    return f"{time / 1e9:.{digits}f} s"


def _span(window: tuple[int, int]) -> str:
    begin, end = window
    return f"{begin / 1e9:.9g} s to {end / 1e9:.9g} s"


def _ruler(marks: list[tuple[float, str]], bottom: float, muted: str, grid: str) -> list[str]:
    return [
        f'<path d="M{x:.1f} {_TOP - 8}V{bottom}" stroke="{grid}"/>'
        f'<text x="{x:.1f}" y="{_TOP - 14}" text-anchor="middle" font-size="11" '
        f'fill="{muted}">{text}</text>'
        for x, text in marks
    ]


def _axis(broker: int, y: float, width: int, ink: str, grid: str) -> str:
    return (
        f'<text x="{_LEFT - 12}" y="{y + 4:.1f}" text-anchor="end" fill="{ink}">'
        f'broker {broker}</text><path d="M{_LEFT} {y:.1f}H{width - _RIGHT}" stroke="{ink}" '
        'stroke-opacity="0.45"/>'
    )


def _ends(
    row: Any, x: Callable[[float], float], y: dict[int, float]
) -> tuple[float, float, float, float]:
    """An arrow from its tail to its head; one that was lost ends halfway."""
    x1, y1, x2, y2 = x(row.departed), y[row.source], x(row.ended), y[row.target]
    return (x1, y1, x2, (y1 + y2) / 2) if row.fate == LOST else (x1, y1, x2, y2)


def _arrow(row: Any, chart: Chart, x: Callable[[float], float], y: dict[int, float]) -> str:
    x1, y1, x2, y2 = _ends(row, x, y)
    color = type_color(chart, row.type)
    name = chart.moves.type_names[row.type]
    title = (
        f"{name} {row.origin}:{row.sequence}, broker {row.source} to {row.target}, "
        f"{row.departed / 1e9:.9f} s to {row.ended / 1e9:.9f} s"
    )
    dashes = ' stroke-dasharray="4 3"' if row.fate == LOST else ""
    return (
        f'<g class="arrow" stroke="{color}" fill="{color}"><title>{escape(title)}</title>'
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke-width="1.4"{dashes}/>'
        f"{arrow_head(x1, y1, x2, y2, lost=row.fate == LOST)}</g>"
    )


def arrow_head(x1: float, y1: float, x2: float, y2: float, *, lost: bool) -> str:
    """The tip of an arrow, or a cross where a message was lost."""
    if lost:
        return (
            f'<path d="M{x2 - 4:.1f} {y2 - 4:.1f}l8 8m0 -8l-8 8" fill="none" stroke-width="1.6"/>'
        )
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    left = (x2 - 8 * ux - 3 * uy, y2 - 8 * uy + 3 * ux)
    right = (x2 - 8 * ux + 3 * uy, y2 - 8 * uy - 3 * ux)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in ((x2, y2), left, right))
    return f'<polygon points="{points}" stroke="none"/>'


def _labels(
    rows: pd.DataFrame, chart: Chart, x: Callable[[float], float], y: dict[int, float], ink: str
) -> list[str]:
    """What each arrow is, beside its middle."""
    found = []
    for row in rows.itertuples():
        x1, y1, x2, y2 = _ends(row, x, y)
        name = f"{chart.moves.type_names[row.type]} {row.origin}:{row.sequence}"
        at_x, at_y = x1 + (x2 - x1) * 0.5 + 4, y1 + (y2 - y1) * 0.5 + 3
        if at_x >= _LEFT:
            found.append(
                f'<text x="{at_x:.1f}" y="{at_y:.1f}" font-size="10" fill="{ink}" stroke="#FFFFFF" '
                f'stroke-width="3" paint-order="stroke">{escape(name)}</text>'
            )
    return found


def _legend(chart: Chart, rows: pd.DataFrame, y: float, ink: str) -> list[str]:
    parts, x = [], float(_LEFT)
    for code, name in chart.moves.type_names.items():
        color, count = type_color(chart, code), int((rows.type == code).sum())
        if not count:
            continue
        parts.append(
            f'<path d="M{x:.0f} {y - 4}h22" stroke="{color}" stroke-width="2.5"/>'
            f'<text x="{x + 28:.0f}" y="{y}" fill="{ink}">{escape(name)} ({count:,})</text>'
        )
        x += 28 + 7 * len(name) + 60
    return parts


def type_color(chart: Chart, code: int) -> str:
    """The colour of a type."""
    return color_of(list(chart.moves.type_names).index(code)).paper
