"""Every figure that is reproduced can be read: titles and numbers have room, lines are there."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TypeGuard

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.reproduction import FAMILIES
from analysis.reproduction.drawing import apart, draw
from analysis.reproduction.figure import Figure, Panel
from analysis.reproduction.measures import GREATEST, LEAST
from analysis.reproduction.table import PER_OVERHEAD, SAVED
from tests.analysis.figures.legible import assert_legible

PLAIN = ("lines", "time", "bars", "groups")
PROTOCOLS: Mapping[str, tuple[str, ...]] = {
    "reconfiguration": ("STRAWMAN", "TDU", "NDU", "ILA", "RP"),
    "covering": ("active", "lazy", "packing", "incremental"),
    "destinations": ("FBR", "D-DBR", "MERC"),
    "popsub": ("tree", "direct", "batching", "gossip"),
}
FIGURES = [
    pytest.param(family, figure, id=f"{family}/{figure.name}")
    for family in PROTOCOLS
    for figure in FAMILIES[family].figures.values()
    if figure.panels and all(panel.kind in PLAIN for panel in figure.panels)
]


def rows_for(figure: Figure, protocols: tuple[str, ...]) -> pd.DataFrame:
    """Large numbers, of which there are many, for all that the figure's charts show."""
    return pd.DataFrame(
        {"protocol": protocol, "seed": 1, **columns}
        for protocol in protocols
        for columns in points_of(figure)
    )


def points_of(figure: Figure) -> Iterator[dict[str, object]]:
    axes = {panel.x for panel in figure.panels if panel.kind == "lines" and panel.x}
    fixed = [key for panel in figure.panels for key in panel.only if key not in axes]
    lowest = min([500.0, *(place for panel in figure.panels for place in panel.uprights)])
    for number in range(10):
        place = lowest * 2**number
        yield {
            **{key: wanted(figure, key) for key in fixed},
            **dict.fromkeys(axes, place),
            **{name: 1e4 * (number + 1) for panel in figure.panels for name in values_of(panel)},
        } | {
            f"curve of {panel.y}": {0.0: 1.0, 5.0: 3e4, 30.0: 2e5, 3600.0: 1e4}
            for panel in figure.panels
            if panel.kind == "time"
        }


def values_of(panel: Panel) -> Iterator[str]:
    if panel.y:
        yield panel.y
    if panel.y.endswith(SAVED):
        own = panel.y.removesuffix(SAVED)
        yield from (own, f"{own} of STRAWMAN")
    if panel.y.endswith(PER_OVERHEAD):
        useful = panel.y.removesuffix(PER_OVERHEAD)
        yield from (useful, f"overhead of {useful}")
    yield from (column for column, _ in panel.parts)


def wanted(figure: Figure, key: str) -> object:
    """A value that the first chart with such a condition shows."""
    value = next(panel.only[key] for panel in figure.panels if key in panel.only)
    return 1.0 if value in (LEAST, GREATEST) else value


@pytest.mark.parametrize(("family", "figure"), FIGURES)
def test_titles_and_numbers_of_every_figure_can_be_read(family: str, figure: Figure) -> None:
    drawing = draw(figure, rows_for(figure, PROTOCOLS[family]))
    assert drawing is not None
    with style.in_style():
        drawing.figure.canvas.draw()
    assert_legible(drawing)


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=30, unique=True).map(sorted),
    st.integers(10, 90),
)
def test_numbers_that_are_kept_leave_room_for_each_other(places: list[int], digits: int) -> None:
    kept = apart(places, digits)
    assert kept[0] == places[0]
    length = math.log(places[-1] / places[0])
    for one, other in pairwise(kept):
        width = (len(f"{one:,g}") + len(f"{other:,g}")) / 2
        assert math.log(other / one) / length * digits > width


_TIMER, _FLUSH = "protocol.unsubscribe_after", "protocol.flush"


def _is_marked(part: Artist) -> TypeGuard[Line2D]:
    """Whether it is the line itself, not a bar nor an end of one."""
    return isinstance(part, Line2D) and part.get_linestyle() != "None"


def test_a_variant_has_its_protocols_color_other_dashes_and_hollow_markers() -> None:
    panel = Panel("Cost", "cost", _TIMER, "T_u, s", "messages", by=("protocol", _FLUSH))
    rows = pd.DataFrame(
        [{"protocol": "ILA", _FLUSH: flush, _TIMER: timer, "seed": seed, "cost": seed + timer}
         for flush in (True, False) for timer in (0.1, 0.2) for seed in (1, 2)]
    )  # fmt: skip
    drawing = draw(Figure("timers", "Timers", "Nothing.", (panel,), ()), rows)
    assert drawing is not None
    bars = drawing.figure.axes[0].containers
    usual, variant = [line for each in bars for line in each.get_children() if _is_marked(line)]
    assert usual.get_color() == variant.get_color()
    assert usual.get_linestyle() != variant.get_linestyle()
    assert usual.get_marker() != variant.get_marker()
    assert usual.get_markerfacecolor() == usual.get_color()
    assert variant.get_markerfacecolor() == "white"


def simple(panel: Panel, costs: Mapping[float, float]) -> Axes:
    rows = pd.DataFrame(
        {"protocol": "ILA", _TIMER: timer, "seed": 1, "cost": cost} for timer, cost in costs.items()
    )
    drawing = draw(Figure("timers", "Timers", "Nothing.", (panel,), ()), rows)
    assert drawing is not None
    return drawing.figure.axes[0]


def test_what_was_published_is_drawn_across_and_upright_and_named_once() -> None:
    panel = Panel("Cost", "cost", _TIMER, "T_u, s", "messages", levels=(300, 900), uprights=(0.1,))
    axes = simple(panel, {0.1: 200.0, 0.2: 210.0})
    places = [(*line.get_xdata(), *line.get_ydata()) for line in axes.get_lines()]
    assert places[-3:] == [(0, 1, 300, 300), (0, 1, 900, 900), (0.1, 0.1, 0, 1)]
    assert axes.get_legend_handles_labels()[1].count("published") == 1
    assert axes.get_ylim()[1] > 900


@pytest.mark.parametrize("from_zero", [True, False])
def test_an_axis_begins_at_zero_unless_differences_are_what_counts(from_zero: bool) -> None:
    panel = Panel("Delivery", "cost", _TIMER, "T_u, s", "%", from_zero=from_zero)
    low, high = simple(panel, {0.1: 99.0, 0.2: 99.5}).get_ylim()
    assert bool(low == 0) is from_zero
    assert low < 99 < 99.5 < high


def test_a_chart_over_time_shows_what_is_between_its_begin_and_its_end() -> None:
    panel = Panel("Traffic", "traffic", x_label="time, s", kind="time", begin=3, end=7)
    curve = {float(time): 10.0 * time for time in range(10)}
    rows = pd.DataFrame({"protocol": ["ILA"], "seed": [1], "curve of traffic": [curve]})
    drawing = draw(Figure("burst", "A burst", "Nothing.", (panel,), ()), rows)
    assert drawing is not None
    (line,) = drawing.figure.axes[0].get_lines()
    assert [*line.get_xdata()] == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("place", "words"), [(0.1, "0.1"), (64_000, "64,000"), (1e7, "10,000,000")]
)
def test_numbers_along_an_axis_are_written_out(place: float, words: str) -> None:
    panel = Panel("Cost", "cost", _TIMER, "T_u, s", "messages", log_x=True)
    axes = simple(panel, {place: 1.0})
    assert [label.get_text() for label in axes.get_xticklabels()] == [words]


def test_a_line_without_points_is_within_the_chart() -> None:
    panel = Panel("Cost", "cost", _TIMER, "T_u, s", "messages")
    rows = pd.DataFrame(
        [{"protocol": "STRAWMAN", "seed": 1, "cost": 640.0},
         *({"protocol": "ILA", _TIMER: timer, "seed": 1, "cost": 200.0} for timer in (0.1, 0.2))]
    )  # fmt: skip
    drawing = draw(Figure("timers", "Timers", "Nothing.", (panel,), ()), rows)
    assert drawing is not None
    low, high = drawing.figure.axes[0].get_ylim()
    assert low <= 200 < 640 < high
