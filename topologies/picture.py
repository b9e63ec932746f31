"""A picture of any topology, from one node to 2000; it knows neither formats nor protocols.

Colours are those of Okabe and Ito, which the colour-blind can tell apart; scales run from light to
dark.
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
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from topologies.errors import TopologyError
from topologies.graphs import describe
from topologies.latency import Array
from topologies.layout import Layout, distances, positions

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
_DEGREES = LinearSegmentedColormap.from_list(
    "degrees", ["#A9D0EC", "#56B4E9", "#0072B2", "#06305A"]
)
_LOADS = LinearSegmentedColormap.from_list("loads", ["#F2CD9A", "#E69F00", "#D55E00", "#6E1C00"])
_INK = "#333333"
_LINK = "#8A9097"

_POINTS = 72.0
_MARGIN = 0.25
_TITLE_INCHES = 0.75
_LEGEND_INCHES = 0.45
_BAR_INCHES = 0.9
_MOST_LEGEND_ENTRIES = 6

# Where a name may stand around its node.
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
    colour; both directions of a link add up, and links not named carry nothing. Names are shown
    where there is room for them; `labels` forces as many as fit, or none.
    """
    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise TopologyError(f"a picture must end in {', '.join(_SUFFIXES)}, not '{target.name}'")
    if not 1 <= len(graph) <= MOST_NODES:
        raise TopologyError(
            f"cannot draw {len(graph)} nodes: between 1 and {MOST_NODES} is possible"
        )
    for u, v in loads or ():
        if not graph.has_edge(u, v):
            raise TopologyError(f"a load is given for {u}-{v}, which is not a link")
    # A salt of our own, and no date: the same topology gives the same file.
    with mpl.rc_context({"svg.hashsalt": "topologies", "font.family": "DejaVu Sans"}):
        picture = _Picture(graph, positions(graph, layout), loads, load_label)
        picture.draw_links()
        picture.draw_nodes()
        picture.draw_names(labels)
        picture.draw_title(title)
        picture.save(target)


class _Picture:
    """A page in the making: what its colours mean, and how large a node may be on it."""

    def __init__(
        self,
        graph: nx.Graph,
        places: Array,
        loads: Mapping[tuple[int, int], float] | None,
        load_label: str,
    ) -> None:
        self.graph = graph
        self.places = places
        self.loads = loads
        self.load_label = load_label
        self.roles = [str(data.get("role", "no role")) for _, data in graph.nodes(data=True)]
        self.degrees = [degree for _, degree in graph.degree()]
        # A single role says nothing; degrees would compete with loads for the reader's eye.
        self.by_role = len(set(self.roles)) > 1
        self.by_degree = not self.by_role and loads is None
        degree_bar = self.by_degree and len(set(self.degrees)) > _MOST_LEGEND_ENTRIES
        self.figure, self.axes = _page(places, bar=degree_bar or loads is not None)
        self.diameter = _node_diameter(places, _points_per_unit(self.axes))
        self.colors = ["#FFFFFF"] * len(graph)

    def draw_links(self) -> None:
        """The links, thin and grey, or by load."""
        ends = [(self.places[u], self.places[v]) for u, v in self.graph.edges]
        if self.loads is None:
            width = min(1.4, max(0.35, self.diameter / 9))
            alpha = 0.9 if len(ends) < 2 * len(self.graph) else 0.45
            lines = LineCollection(ends, colors=_LINK, linewidths=width, alpha=alpha, zorder=1)
        else:
            loads = self.loads
            both = [loads.get((u, v), 0.0) + loads.get((v, u), 0.0) for u, v in self.graph.edges]
            most = max(both, default=0.0) or 1.0
            thickest = min(6.0, max(2.0, self.diameter / 2))
            widths = [0.5 + thickest * load / most for load in both]
            lines = LineCollection(ends, linewidths=widths, cmap=_LOADS, zorder=1)
            lines.set_array(np.array(both))
            lines.set_clim(0, most)
            self._color_bar(lines, self.load_label)
        self.axes.add_collection(lines)

    def draw_nodes(self) -> None:
        """The nodes and what their colours mean."""
        if self.by_role:
            self._color_by_role()
        elif self.by_degree:
            self._color_by_degree()
        self.axes.scatter(
            self.places[:, 0],
            self.places[:, 1],
            s=self.diameter**2,
            c=self.colors,
            edgecolors="white" if self.by_role or self.by_degree else _INK,
            linewidths=min(0.8, self.diameter / 14),
            zorder=2,
        )

    def draw_names(self, wanted: bool | None) -> None:
        """Short names inside their nodes, long ones beside them, none where there is no room."""
        names = [str(data.get("label", node)) for node, data in self.graph.nodes(data=True)]
        size = self.diameter * min(0.5, 1.25 / max(map(len, names)))
        inside = size >= 5.5
        if wanted is False or (wanted is None and not inside and len(names) > 60):
            return
        if inside:
            for name, (x, y), color in zip(names, self.places, self.colors, strict=True):
                ink = "white" if _is_dark(color) else "black"
                self.axes.text(
                    x, y, name, size=size, color=ink, ha="center", va="center_baseline", zorder=3
                )
        else:
            self._names_beside(names)

    def draw_title(self, title: str | None) -> None:
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

    def _color_by_role(self) -> None:
        palette = _role_palette(self.roles)
        self.colors = [palette[role] for role in self.roles]
        counts = Counter(self.roles)
        self._legend({f"{role} ({counts[role]})": color for role, color in palette.items()})

    def _color_by_degree(self) -> None:
        scale = ScalarMappable(Normalize(min(self.degrees), max(self.degrees)), _DEGREES)
        counts = Counter(self.degrees)
        palette = {degree: to_hex(tuple(scale.to_rgba(degree))) for degree in sorted(counts)}
        self.colors = [palette[degree] for degree in self.degrees]
        if len(counts) > _MOST_LEGEND_ENTRIES:
            self._color_bar(scale, "degree")
        else:
            names = {degree: f"degree {degree} ({counts[degree]})" for degree in palette}
            self._legend({names[degree]: color for degree, color in palette.items()})

    def _legend(self, colors: Mapping[str, str]) -> None:
        marks = [
            Line2D([], [], ls="", marker="o", color=color, label=name, markersize=7)
            for name, color in colors.items()
        ]
        self.figure.legend(
            handles=marks,
            loc="lower center",
            bbox_to_anchor=(0.5, 0.08 / self.figure.get_figheight()),
            ncols=min(len(marks), _MOST_LEGEND_ENTRIES),
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
        bottom = box.y0 + (box.height - length) / 2
        frame = self.figure.add_axes((1 - 0.75 / width, bottom, 0.12 / width, length))
        bar = self.figure.colorbar(scale, cax=frame)
        bar.outline.set_visible(False)
        bar.set_label(label, size=9, color=_INK)
        bar.ax.tick_params(labelsize=8, color=_INK, labelcolor=_INK, length=2)

    def _names_beside(self, names: list[str]) -> None:
        """Well-linked nodes choose first; a name that would cover something is left out."""
        pixels = self.axes.transData.transform(self.places)
        radius = self.diameter / 2 * self.figure.dpi / _POINTS
        taken = [
            Bbox.from_bounds(x - radius, y - radius, 2 * radius, 2 * radius) for x, y in pixels
        ]
        page = self.figure.bbox.padded(-4)
        for node in sorted(self.graph, key=lambda node: (-self.graph.degree[node], node)):
            for dx, dy in self._sides(node):
                text = self._name_at(names[node], node, dx, dy)
                box = text.get_window_extent()
                if (
                    box.count_overlaps(taken) == 0
                    and page.contains(box.x0, box.y0)
                    and page.contains(box.x1, box.y1)
                ):
                    taken.append(box)
                    break
                text.remove()

    def _sides(self, node: int) -> list[tuple[int, int]]:
        """The sides of a node, those first that are farthest from any of its links."""
        ways = [self.places[other] - self.places[node] for other in self.graph[node]]
        links = [way / (np.linalg.norm(way) or 1.0) for way in ways]

        def nearness(side: tuple[int, int]) -> float:
            length = math.hypot(*side)
            return max((round(float(link @ side) / length, 1) for link in links), default=0.0)

        return sorted(_SIDES, key=nearness)

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
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )


def _page(places: Array, *, bar: bool) -> tuple[Figure, Axes]:
    """A page as wide as the number of nodes asks for, and as high as their places do."""
    low, high = places.min(axis=0), places.max(axis=0)
    pad = 0.045 * float((high - low).max() or 1.0)
    extent = high - low + 2 * pad
    across = (8.0 if len(places) <= 300 else 11.0) - 2 * _MARGIN
    up = min(max(across * extent[1] / extent[0], 1.2), across)
    # Axes as wide and high as the data, so that a unit is as long in both directions.
    unit = max(extent[0] / across, extent[1] / up)
    middle = (low + high) / 2
    width = across + 2 * _MARGIN + (_BAR_INCHES if bar else 0.0)
    height = up + _TITLE_INCHES + _LEGEND_INCHES
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((_MARGIN / width, _LEGEND_INCHES / height, across / width, up / height))
    axes.set_axis_off()
    axes.set_xlim(middle[0] - unit * across / 2, middle[0] + unit * across / 2)
    axes.set_ylim(middle[1] - unit * up / 2, middle[1] + unit * up / 2)
    return figure, axes


def _points_per_unit(axes: Axes) -> float:
    (x0, _), (x1, _) = axes.transData.transform([(0, 0), (1, 0)])
    return float(x1 - x0) * _POINTS / axes.figure.dpi


def _node_diameter(places: Array, scale: float) -> float:
    """As large as the nodes' distances allow, within what looks well."""
    smallest = max(3.2, 7 - len(places) / 100)
    if len(places) < 2:
        return 20.0
    distance = distances(places)
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
    red, green, blue = to_rgb(color)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.55


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
