"""Pictures for a notebook, made by what pysim draws with; it knows no exercise."""

import tempfile
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.style import (
    PAPER_COLORS,
    WIDE,
    Drawing,
    in_style,
    panel,
    rendered,
    whole_numbers,
)
from analysis.replay import build_chart
from topologies.picture import draw

if TYPE_CHECKING:
    from analysis.finished import FinishedRun

_COLORS = ("blue", "orange", "green", "vermillion", "slate")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)))
_MARKERS = ("o", "s", "^", "D", "v")


class Picture:
    """An SVG that Jupyter shows; whoever cannot see it reads `words`."""

    def __init__(self, svg: bytes, words: str, width: int = 640) -> None:
        self.svg = svg
        self.words = words
        self.width = width

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        # As an image: two drawings in one page may use the same ids for different things.
        source = b64encode(self.svg).decode()
        return (
            f'<img src="data:image/svg+xml;base64,{source}" alt="{escape(self.words)}" '
            f'style="width:{self.width}px;max-width:100%;background:white">'
        )


def overlay(graph: nx.Graph, title: str, roles: Mapping[int, str], width: int = 460) -> Picture:
    """The brokers and their links; `roles` gives some of them a colour, with a legend."""
    shown = graph.copy()
    for broker in shown:
        shown.nodes[broker]["role"] = roles.get(broker, "broker")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "overlay.svg")
        draw(shown, path, title=title)
        links = ", ".join(f"{a}-{b}" for a, b in sorted(shown.edges))
        return Picture(path.read_bytes(), f"{title}: links {links}", width)


def chart(
    run: "FinishedRun",
    begin: float,
    end: float,
    brokers: Sequence[int] | None = None,
    types: Sequence[str] | None = None,
    axis: str = "steps",
) -> Picture:
    """The sequence chart of a part of a run (seconds), as `pysim replay --sequence` draws it."""
    window = round(begin * 1e9), round(end * 1e9)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "chart.svg")
        path = build_chart(run.directory, window, out, brokers, types, axis)
        words = f"Sequence chart of {run.name}, {begin:g} s to {end:g} s"
        return Picture(path.read_bytes(), words, 900)


def curves(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    title: str,
    across: str,
    up: str,
) -> Picture:
    """Lines through points (xs, ys), each with a name of its own."""
    with in_style():
        figure, axes = panel(WIDE * 0.85, 2.9)
        for place, (name, (xs, ys)) in enumerate(lines.items()):
            look = place % len(_COLORS)
            axes.plot(
                xs,
                ys,
                color=PAPER_COLORS[_COLORS[look]],
                linestyle=_DASHES[look],
                marker=_MARKERS[look],
                label=name,
            )
        if all(float(x).is_integer() for xs, _ in lines.values() for x in xs):
            whole_numbers(axes.xaxis)
        return _finished(figure, axes, title, across, up, named=bool(lines))


def bars(
    groups: Mapping[str, Sequence[float]], labels: Sequence[str], title: str, across: str, up: str
) -> Picture:
    """For each label a bar of every group, side by side."""
    with in_style():
        figure, axes = panel(WIDE * 0.85, 2.9)
        width = 0.8 / max(1, len(groups))
        for place, (name, heights) in enumerate(groups.items()):
            at = [x + (place - (len(groups) - 1) / 2) * width for x in range(len(labels))]
            color = PAPER_COLORS[_COLORS[place % len(_COLORS)]]
            found = axes.bar(at, heights, width * 0.92, color=color, label=name)
            axes.bar_label(found, fmt="{:,.6g}", fontsize=6.5, padding=1.5)
        axes.set_xticks(range(len(labels)), labels)
        return _finished(figure, axes, title, across, up, named=len(groups) > 1)


def _finished(
    figure: Figure, axes: Axes, title: str, across: str, up: str, *, named: bool
) -> Picture:
    axes.set_title(title)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_ylim(bottom=0)
    if named:
        axes.legend()
    return Picture(rendered(Drawing(figure, title), "svg"), title)
