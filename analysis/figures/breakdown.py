"""Where the bytes on the wire go: what a message itself is, and what carrying it costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.figures.confidence import Array, Estimate, estimate
from analysis.figures.numbers import byte_unit, in_bytes, joined, over_seeds, percent
from analysis.figures.style import (
    MUTED,
    PAPER,
    PAPER_COLORS,
    SMALL,
    WIDE,
    Drawing,
    grouped,
    page,
    panel,
    styled,
)

# In the order of a frame on the wire, from the inside out, and then what TCP sends of its own.
MESSAGES = {"body": "message-1", "frame header": "message-2"}
HEADERS = {"transport header": "header-1", "ip header": "header-2", "link header": "header-3"}
OWN = {
    "ack": "////",
    "handshake": "....",
    "teardown": "\\\\\\\\",
    "reset": "xxxx",
    "retransmission": "++++",
    "other": "----",
}
NAMES = {
    "body": "message body",
    "frame header": "frame header",
    "transport header": "TCP / UDP header",
    "ip header": "IP header",
    "link header": "link header",
    "ack": "pure ACKs",
    "handshake": "handshakes",
    "teardown": "teardowns",
    "reset": "resets",
    "retransmission": "retransmissions",
    "other": "other packets",
}
_ROW = 0.235


@styled
def draw(
    totals: Sequence[pd.DataFrame],
    by_type: Sequence[pd.DataFrame],
    messages: Sequence[pd.DataFrame],
) -> Drawing | None:
    """Draw `byte_breakdown`, and with `byte_breakdown_by_type` and `message_totals` each type's."""
    sizes = [frame.set_index("category").bytes for frame in totals]
    if not sum(int(size.sum()) for size in sizes):
        return None
    categories = [name for name in NAMES if any(size.get(name, 0) for size in sizes)]
    parts = {name: estimate(float(size.get(name, 0)) for size in sizes) for name in categories}
    weights = _bytes_per_message(by_type, messages)
    rows = max(len(categories), len(weights))
    figure = page(WIDE, 0.75 + _ROW * rows)
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1])
    _draw_parts(left, parts)
    _draw_weights(right, weights, rows)
    return Drawing(figure, _caption(parts, weights, len(totals)))


@styled
def draw_points(points: Mapping[str, Sequence[tuple[pd.DataFrame, int]]]) -> Drawing | None:
    """Draw the bytes on the wire per delivery at the points of a sweep, by what they are for.

    `points` has for each point the `byte_breakdown` of every seed and its number of deliveries.
    """
    weights = {name: _bytes_per_delivery(runs) for name, runs in points.items()}
    table = pd.DataFrame({name: size for name, size in weights.items() if size is not None}).T
    if table.empty:
        return None
    groups = {"messages": MESSAGES, "headers": HEADERS, "packets without a message": OWN}
    figure, axes = panel(WIDE, 0.85 + _ROW * len(table))
    places, left = np.arange(len(table)), np.zeros(len(table))
    for name, (label, members) in zip(
        ("body", "transport header", "ack"), groups.items(), strict=True
    ):
        size = table.reindex(columns=list(members)).fillna(0).sum(axis=1).to_numpy()
        axes.barh(places, size, left=left, height=0.72, label=label, **_fill(name))
        left += size
    _label_bars(axes, left)
    axes.set_yticks(places, list(table.index))
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.margins(x=0.1)
    axes.set_xlim(left=0)
    grouped(axes.xaxis)
    axes.set_xlabel("on the wire per delivery (B)")
    figure.legend(loc="outside upper center", ncols=3)
    low, high = int(left.argmin()), int(left.argmax())
    caption = (
        f"Bytes on the wire, over deliveries made: from {in_bytes(left[low])} ({table.index[low]}) "
        f"to {in_bytes(left[high])} ({table.index[high]})."
    )
    seeds = max(map(len, points.values()))
    return Drawing(figure, caption + (f" Means over {seeds} seeds." if seeds > 1 else ""))


def _bytes_per_delivery(runs: Sequence[tuple[pd.DataFrame, int]]) -> "pd.Series[float] | None":
    each = [frame.set_index("category").bytes / made for frame, made in runs if made]
    return pd.concat(each, axis=1).fillna(0).mean(axis=1) if each else None


def _bytes_per_message(
    by_type: Sequence[pd.DataFrame], messages: Sequence[pd.DataFrame]
) -> "pd.DataFrame":
    """Types by category: bytes on the wire of one message's hop, the mean over seeds."""
    each = []
    for parts, totals in zip(by_type, messages, strict=True):
        counts = totals.groupby("type").messages.sum()
        table = parts.pivot_table(index="type", columns="category", values="bytes", aggfunc="sum")
        each.append(table.div(counts, axis=0))
    mean = pd.concat(each).groupby(level=0).mean().fillna(0.0)
    shown = [name for name in (*MESSAGES, *HEADERS) if name in mean]
    mean = mean[shown]
    return mean.loc[mean.sum(axis=1).sort_values(ascending=False).index]


def _draw_parts(axes: Axes, parts: dict[str, Estimate]) -> None:
    total = sum(part.mean for part in parts.values())
    unit = byte_unit(max(part.mean for part in parts.values()))
    places = np.arange(len(parts))
    for place, (name, part) in zip(places, parts.items(), strict=True):
        error = part.half / unit.size if part.known else None
        axes.barh(
            place,
            part.mean / unit.size,
            height=0.72,
            xerr=error,
            error_kw={"elinewidth": 0.8, "capsize": 2, "ecolor": MUTED},
            **_fill(name),
        )
        end = (part.mean + (part.half if part.known else 0.0)) / unit.size
        axes.annotate(
            f"{in_bytes(part.mean)}, {percent(part.mean / total)}",
            (end, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center_baseline",
            size=SMALL,
        )
    axes.set_yticks(places, [NAMES[name] for name in parts])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.invert_yaxis()
    axes.margins(x=0.42, y=0.02)
    axes.set_xlim(left=0)
    grouped(axes.xaxis)
    axes.set_xlabel(f"on the wire ({unit.name})")
    axes.set_title("All bytes")


def _draw_weights(axes: Axes, weights: pd.DataFrame, rows: int) -> None:
    left = np.zeros(len(weights))
    places = np.arange(len(weights))
    for name in weights.columns:
        axes.barh(places, weights[name], left=left, height=0.72, **_fill(name))
        left += weights[name].to_numpy()
    _label_bars(axes, left)
    axes.set_yticks(places, list(weights.index))
    # As tall bars as in the other panel, whatever the number of types, and the axis below them.
    axes.set_ylim(rows - 0.5, -0.5)
    axes.spines["bottom"].set_position(("data", len(weights) - 0.4))
    axes.margins(x=0.16)
    axes.set_xlim(left=0)
    axes.set_xlabel("on the wire per message and hop (B)")
    axes.set_title("One message, by type")


def _label_bars(axes: Axes, ends: Array) -> None:
    """The sums behind stacked bars, which stand without an axis on their left."""
    for place, end in enumerate(ends):
        axes.annotate(
            f"{end:,.0f} B",
            (end, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center_baseline",
            size=SMALL,
        )
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _fill(name: str) -> dict[str, Any]:
    if name in OWN:
        return {
            "facecolor": PAPER_COLORS["own"],
            "edgecolor": MUTED,
            "hatch": OWN[name],
            "linewidth": 0.6,
        }
    color = PAPER_COLORS[{**MESSAGES, **HEADERS}[name]]
    return {"facecolor": color, "edgecolor": PAPER, "linewidth": 0.4}


def _caption(parts: dict[str, Estimate], weights: pd.DataFrame, seeds: int) -> str:
    total = sum(part.mean for part in parts.values())

    def share(names: Sequence[str] | dict[str, str]) -> str:
        return percent(sum(parts[name].mean for name in names if name in parts) / total)

    text = (
        f"Left: all {in_bytes(total)} on the wire, from a message's body outwards. Messages "
        f"themselves are {share(MESSAGES)}, headers below them {share(HEADERS)}, packets without "
        f"a message {share(OWN)} (hatched)."
    )
    if len(weights):
        heavy = [
            f"{name} {row.sum():.0f} B, of which {percent(row.get('body', 0) / row.sum())} body"
            for name, row in weights.head(3).iterrows()
        ]
        text += (
            f" Right: what one hop of a message weighs, in the same colours: {joined(heavy)}. "
            f"Messages that travel in one packet share its headers."
        )
    return text + over_seeds(seeds)
