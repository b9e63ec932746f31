"""Lines of published figures can be told apart, also those of one protocol in two forms."""

from typing import TypeGuard

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.lines import Line2D

from analysis.reproduction.drawing import draw
from analysis.reproduction.figure import Figure, Panel

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
