"""The overlay as a map: what every link carried, and where the subscribers are."""

import math
from collections.abc import Collection, Iterable

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from analysis.figures.confidence import Array
from analysis.figures.numbers import SPACE, Unit, byte_unit, counted, in_bytes, percent
from analysis.figures.style import INK, LOADS, MUTED, PAPER, WIDE, Drawing, page, styled
from topologies.graphs import describe
from topologies.layout import positions

Link = tuple[int, int]
_MOST_NUMBERED = 80
_WIDTHS = (0.9, 1.7, 2.6, 3.6, 4.8)
_DASHED = (0, (1.6, 1.0))


@styled
def draw(
    load: pd.DataFrame,
    brokers: int,
    initial: Iterable[Link],
    subscribers: Collection[int],
    *,
    what: str = "headers included",
) -> Drawing:
    """Draw the bytes between `source` and `target`, both directions of a link together.

    `load` is the `link_load` of one run, or whatever `what` tells the caption. `initial` are the
    overlay's links at the start; those that carried bytes and are not among them were made later.
    """
    overlay = nx.Graph()
    overlay.add_nodes_from(range(brokers))
    overlay.add_edges_from(sorted((min(link), max(link)) for link in initial))
    carried = _both_ways(load)
    place = _places(overlay)
    step = _step(max(carried.values(), default=0.0))
    figure = page(WIDE, _height(place) + 0.75)
    axes = figure.subplots()
    later = sorted(set(carried) - set(overlay.edges))
    _draw_links(axes, place, sorted(overlay.edges), carried, step, "solid")
    _draw_links(axes, place, later, carried, step, _DASHED)
    _draw_brokers(axes, place, subscribers)
    _draw_legend(axes, carried, step, dashed=bool(later), demand=bool(subscribers))
    axes.set_aspect("equal")
    axes.margins(0.03)
    axes.set_axis_off()
    return Drawing(figure, _caption(overlay, carried, later, subscribers, what))


def _both_ways(load: pd.DataFrame) -> dict[Link, float]:
    ends = load[["source", "target"]]
    total = load.groupby([ends.min(axis=1), ends.max(axis=1)]).bytes.sum()
    return {(int(a), int(b)): float(size) for (a, b), size in total.items()}


def _places(overlay: nx.Graph) -> Array:
    place = positions(overlay)
    width, height = np.ptp(place, axis=0)
    return place[:, ::-1] if height > width else place


def _height(place: Array) -> float:
    width, height = np.ptp(place, axis=0)
    return float(np.clip(WIDE * height / (width or 1.0), 0.4, 6.0))


def _step(most: float) -> float:
    """The width of a class: 1, 2 or 5 times a power of ten, so that five of them hold all."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most / len(LOADS)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power * len(LOADS) >= most)


def _draw_links(
    axes: Axes,
    place: Array,
    links: Iterable[Link],
    carried: dict[Link, float],
    step: float,
    dashes: object,
) -> None:
    links = list(links)
    levels = [min(int(carried.get(link, 0) / step), len(LOADS) - 1) for link in links]
    axes.add_collection(
        LineCollection(
            [[place[a], place[b]] for a, b in links],
            colors=[LOADS[level] for level in levels],
            linewidths=[_WIDTHS[level] for level in levels],
            linestyles=[dashes],
            capstyle="butt",
            zorder=1,
        )
    )


def _draw_brokers(axes: Axes, place: Array, subscribers: Collection[int]) -> None:
    numbered = len(place) <= _MOST_NUMBERED
    wanting = [broker in subscribers for broker in range(len(place))]
    axes.scatter(
        place[:, 0],
        place[:, 1],
        s=95 if numbered else 14,
        c=[INK if wants else PAPER for wants in wanting],
        edgecolors=INK,
        linewidths=0.7,
        zorder=3,
    )
    for broker, (x, y) in enumerate(place) if numbered else ():
        color = PAPER if wanting[broker] else INK
        axes.text(
            x, y, str(broker), ha="center", va="center_baseline", size=6, color=color, zorder=4
        )


def _draw_legend(
    axes: Axes, carried: dict[Link, float], step: float, *, dashed: bool, demand: bool
) -> None:
    most = max(carried.values(), default=0.0)
    unit = byte_unit(most)
    used = min(len(LOADS), math.ceil(most / step) or 1)
    marks = [
        Line2D([], [], color=LOADS[level], lw=_WIDTHS[level], label=_range(level, step, unit))
        for level in range(used)
    ]
    if dashed:
        marks.append(Line2D([], [], color=MUTED, lw=1.7, ls=_DASHED, label="made while running"))
    if demand:
        marks.append(Line2D([], [], ls="", marker="o", color=INK, label="has subscribers"))
    axes.figure.legend(
        handles=marks,
        loc="outside lower center",
        ncols=min(len(marks), 4),
        columnspacing=1.6,
        handlelength=1.8,
    )


def _range(level: int, step: float, unit: Unit) -> str:
    low, high = level * step / unit.size, (level + 1) * step / unit.size
    return f"{low:g}\N{EN DASH}{high:g}{SPACE}{unit.name}"


def _caption(
    overlay: nx.Graph,
    carried: dict[Link, float],
    later: Collection[Link],
    subscribers: Collection[int],
    what: str,
) -> str:
    text = (
        f"The overlay ({counted(len(overlay), 'broker')}, "
        f"{counted(overlay.number_of_edges(), 'link')}{_diameter(overlay)}) and what each link "
        f"carried, both ways, {what}."
    )
    if carried:
        total = sum(carried.values())
        (a, b), most = max(carried.items(), key=lambda item: item[1])
        heavy = sorted(carried.values(), reverse=True)
        half = int(np.searchsorted(np.cumsum(heavy), total / 2)) + 1
        text += (
            f" Half of all bytes cross {counted(half, 'link')} of {len(carried)}; the busiest, "
            f"{a}-{b}, carried {in_bytes(most)} ({percent(most / total)})."
        )
    if later:
        text += f" Dashed: {counted(len(later), 'link')} made while the run went on."
    if subscribers:
        text += f" Filled: the {counted(len(subscribers), 'broker')} with subscribers."
    return text


def _diameter(overlay: nx.Graph) -> str:
    diameter = describe(overlay)["diameter"]
    return "" if diameter is None else f", diameter {diameter}"
