"""A picture of any topology, from 2 nodes to some thousand; it knows neither formats nor protocols.

Colours are those of Okabe and Ito, which the colour-blind can tell apart, and viridis.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from topologies.errors import TopologyError
from topologies.graphs import describe
from topologies.latency import Array
from topologies.layout import Layout, positions

MOST_NODES = 2000

_SUFFIXES = (".png", ".svg", ".pdf")
_ROLE_COLORS = {
    "core": "#D55E00",
    "root": "#D55E00",
    "transit": "#D55E00",
    "backbone": "#D55E00",
    "publisher": "#CC79A7",
    "inner": "#0072B2",
    "edge": "#56B4E9",
    "stub": "#56B4E9",
    "access": "#56B4E9",
    "internal": "#56B4E9",
    "external": "#999999",
}
_MORE_COLORS = ("#E69F00", "#009E73", "#0072B2", "#CC79A7", "#F0E442", "#999999", "#D55E00")
_INK = "#333333"
_LINK = "#8A9097"

_POINTS = 72.0
_MARGIN = 0.25
_TITLE_INCHES = 0.75
_LEGEND_INCHES = 0.45

# Where a name may stand around its node, best first: the direction its nearest edge lies in.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


def draw(
    graph: nx.Graph,
    path: str | Path,
    *,
    layout: Layout = "auto",
    loads: Mapping[tuple[int, int], float] | None = None,
    load_label: str = "load",
    labels: bool | None = None,
    title: str | None = None,
) -> None:
    """Draw a topology into a PNG, SVG or PDF file, by its suffix.

    Nodes are coloured by role, or by degree where they have none. `loads` gives links a width and a
    colour; both directions of a link add up, links not named carry nothing. Names are shown where
    there is room for them; `labels` forces as many as fit, or none.
    """
    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise TopologyError(f"a picture must end in {', '.join(_SUFFIXES)}, not '{target.name}'")
    if not 1 <= len(graph) <= MOST_NODES:
        raise TopologyError(
            f"cannot draw {len(graph)} nodes: between 1 and {MOST_NODES} is possible"
        )
    # A salt of our own, and no date: the same topology gives the same file.
    with mpl.rc_context({"svg.hashsalt": "topologies", "font.family": "DejaVu Sans"}):
        picture = _Picture(graph, positions(graph, layout))
        picture.links(loads, load_label)
        picture.nodes(by_degree=loads is None)
        picture.names(labels)
        picture.title(title)
        picture.save(target)


class _Picture:
    """A page in the making: the axes, and how large a node may be on them."""

    def __init__(self, graph: nx.Graph, places: Array) -> None:
        self.graph = graph
        self.places = places
        self.figure, self.axes = _page(places, len(graph))
        self.scale = _points_per_unit(self.axes)
        self.diameter = _node_diameter(places, self.scale)
        self.colors = ["#FFFFFF"] * len(graph)

    def links(self, loads: Mapping[tuple[int, int], float] | None, label: str) -> None:
        """The links, thin and grey, or by load."""
        ends = [(self.places[u], self.places[v]) for u, v in self.graph.edges]
        if loads is None:
            crowd = len(ends) / max(1, len(self.graph))
            width = min(1.4, max(0.3, self.diameter / 8))
            alpha = 0.9 if crowd < 2 else 0.55
            lines = LineCollection(ends, colors=_LINK, linewidths=width, alpha=alpha, zorder=1)
        else:
            values = np.array(
                [loads.get((u, v), 0) + loads.get((v, u), 0) for u, v in self.graph.edges]
            )
            most = float(values.max(initial=0)) or 1.0
            widths = 0.4 + min(6.0, max(2.0, self.diameter / 2)) * values / most
            lines = LineCollection(ends, linewidths=widths, cmap="viridis_r", zorder=1)
            lines.set_array(values)
            lines.set_clim(0, most)
            self._color_bar(lines, label)
        self.axes.add_collection(lines)

    def nodes(self, *, by_degree: bool) -> None:
        """The nodes and what their colours mean."""
        roles = [data.get("role") for _, data in self.graph.nodes(data=True)]
        if any(roles):
            palette = _role_palette([role or "no role" for role in roles])
            self.colors = [palette[role or "no role"] for role in roles]
            counts = Counter(role or "no role" for role in roles)
            self._legend({f"{role} ({counts[role]})": palette[role] for role in palette})
        elif by_degree:
            self._color_by_degree()
        self.axes.scatter(
            self.places[:, 0],
            self.places[:, 1],
            s=self.diameter**2,
            c=self.colors,
            edgecolors="white" if by_degree or any(roles) else _INK,
            linewidths=min(0.8, self.diameter / 12),
            zorder=2,
        )

    def names(self, wanted: bool | None) -> None:
        """Short names inside their nodes, long ones beside them, none where there is no room."""
        names = [str(data.get("label", node)) for node, data in self.graph.nodes(data=True)]
        inside = self.diameter >= 11 and max(map(len, names)) <= 4
        if wanted is False or (wanted is None and not inside and len(names) > 60):
            return
        if inside:
            size = self.diameter * min(0.5, 1.35 / max(map(len, names)))
            for name, place, color in zip(names, self.places, self.colors, strict=True):
                ink = "white" if _is_dark(color) else "black"
                self.axes.text(
                    *place, name, size=size, color=ink, ha="center", va="center_baseline", zorder=3
                )
        else:
            self._names_beside(names)

    def title(self, title: str | None) -> None:
        """The name, and the figures a reader asks for first."""
        facts = describe(self.graph)
        reach = "not connected" if facts["diameter"] is None else f"diameter {facts['diameter']}"
        numbers = (
            f"{_count(len(self.graph), 'node')}, {_count(self.graph.number_of_edges(), 'link')}, "
            f"mean degree {facts['mean_degree']:.2f}, {reach}"
        )
        height = self.figure.get_figheight()
        self.figure.text(
            0.5, 1 - 0.3 / height, title or self.graph.name, ha="center", size=14, color=_INK
        )
        self.figure.text(0.5, 1 - 0.55 / height, numbers, ha="center", size=10, color=_INK)

    def save(self, path: Path) -> None:
        """Write the file."""
        date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        try:
            self.figure.savefig(path, dpi=150, metadata=date.get(path.suffix.lower()))
        except OSError as error:
            raise TopologyError(f"cannot write {path}: {error.strerror}") from None

    def _color_by_degree(self) -> None:
        degrees = [degree for _, degree in self.graph.degree()]
        scale = ScalarMappable(Normalize(min(degrees), max(degrees)), "viridis_r")
        self.colors = [mpl.colors.to_hex(scale.to_rgba(degree)) for degree in degrees]
        counts = Counter(degrees)
        if len(counts) > 8:
            self._color_bar(scale, "degree")
        else:
            self._legend(
                {
                    f"degree {degree} ({counts[degree]})": mpl.colors.to_hex(scale.to_rgba(degree))
                    for degree in sorted(counts)
                }
            )

    def _legend(self, colors: Mapping[str, str]) -> None:
        marks = [
            Line2D([], [], ls="", marker="o", color=color, label=name, markersize=7)
            for name, color in colors.items()
        ]
        self.figure.legend(
            handles=marks,
            loc="lower center",
            bbox_to_anchor=(0.5, 0.08 / self.figure.get_figheight()),
            ncols=min(len(marks), 6),
            frameon=False,
            fontsize=9,
            handletextpad=0.1,
            columnspacing=1.2,
            labelcolor=_INK,
        )

    def _color_bar(self, scale: ScalarMappable, label: str) -> None:
        """Beside the drawing, so that it can stand together with a legend below."""
        width, height = self.figure.get_size_inches()
        box = self.axes.get_position()
        length = min(box.height, 3.0 / height)
        self.figure.set_size_inches(width, height)
        frame = self.figure.add_axes(
            (1 - 0.75 / width, box.y0 + (box.height - length) / 2, 0.12 / width, length)
        )
        bar = self.figure.colorbar(scale, cax=frame)
        bar.outline.set_visible(False)  # type: ignore[operator]
        bar.set_label(label, size=9, color=_INK)
        bar.ax.tick_params(labelsize=8, color=_INK, labelcolor=_INK, length=2)

    def _names_beside(self, names: list[str]) -> None:
        """Well-linked nodes choose first; a name that would cover something is left out."""
        renderer = FigureCanvasAgg(self.figure).get_renderer()
        pixels = self.axes.transData.transform(self.places)
        radius = self.diameter / 2 * self.figure.dpi / _POINTS
        taken = [
            Bbox.from_bounds(x - radius, y - radius, 2 * radius, 2 * radius) for x, y in pixels
        ]
        page = self.figure.bbox.padded(-4)
        for node in sorted(self.graph, key=lambda node: (-self.graph.degree[node], node)):
            for dx, dy in _SIDES:
                text = self._name_at(names[node], node, dx, dy)
                box = text.get_window_extent(renderer)
                if (
                    box.count_overlaps(taken) == 0
                    and page.contains(box.x0, box.y0)
                    and page.contains(box.x1, box.y1)
                ):
                    taken.append(box)
                    break
                text.remove()

    def _name_at(self, name: str, node: int, dx: int, dy: int) -> Any:
        gap = (self.diameter / 2 + 2) * (0.75 if dx and dy else 1)
        return self.axes.annotate(
            name,
            self.places[node],
            xytext=(dx * gap, dy * gap),
            textcoords="offset points",
            ha={1: "left", 0: "center", -1: "right"}[dx],
            va={1: "bottom", 0: "center", -1: "top"}[dy],
            size=8,
            color=_INK,
            zorder=3,
        )


def _page(places: Array, nodes: int) -> tuple[Figure, Axes]:
    """A page as wide as the number of nodes asks for, and as high as their places do."""
    extent = np.ptp(places, axis=0)
    width = 8.0 if nodes <= 300 else 11.0
    shape = extent[1] / extent[0] if extent[0] else 1.0
    drawing = min(max(shape * width, 1.2), width)
    height = drawing + _TITLE_INCHES + _LEGEND_INCHES
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    axes = figure.add_axes(
        (
            _MARGIN / width,
            _LEGEND_INCHES / height,
            1 - 2 * _MARGIN / width,
            drawing / height,
        )
    )
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    pad = 0.04 * float(extent.max() or 1.0)
    axes.set_xlim(places[:, 0].min() - pad, places[:, 0].max() + pad)
    axes.set_ylim(places[:, 1].min() - pad, places[:, 1].max() + pad)
    axes.apply_aspect()
    return figure, axes


def _points_per_unit(axes: Axes) -> float:
    (x0, _), (x1, _) = axes.transData.transform([(0, 0), (1, 0)])
    return float(x1 - x0) * _POINTS / axes.figure.dpi


def _node_diameter(places: Array, scale: float) -> float:
    """As large as the nodes' distances allow, within what looks well."""
    smallest = max(2.5, 7 - len(places) / 60)
    if len(places) < 2:
        return 20.0
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(distance, np.inf)
    room = float(np.percentile(distance.min(axis=1), 20)) * scale
    return min(max(0.62 * room, smallest), 20.0)


def _role_palette(roles: list[str]) -> dict[str, str]:
    """A colour of its own for every role, the usual one if it is free."""
    known = [role for role in _ROLE_COLORS if role in roles]
    unknown = sorted(set(roles) - set(known))
    palette: dict[str, str] = {}
    for role in known + unknown:
        wishes = [_ROLE_COLORS.get(role, _MORE_COLORS[0]), *_MORE_COLORS]
        free = [color for color in wishes if color not in palette.values()]
        palette[role] = free[0] if free else _MORE_COLORS[len(palette) % len(_MORE_COLORS)]
    return palette


def _is_dark(color: str) -> bool:
    red, green, blue = mpl.colors.to_rgb(color)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.55


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
