"""The look that all figures share, and how they become files; it knows no metric.

Colours are those of Okabe and Ito, which the colour-blind can tell apart. They never stand alone:
dashes, markers, hatches or a label beside the mark say the same in a greyscale print. The same
figure gives the same file on every machine: the font comes with matplotlib, and no date is written.
"""

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.figures.numbers import MINUS
from pysim.wire import message_types

WIDE = 7.0  # inches: the text of a printed page, and of a paper's two columns
HALF = 3.4  # two of them stand side by side

# By name: on paper, and on a dark screen. Every one is used for one thing only, since a figure
# inside a page has its colours exchanged by value.
COLORS = {
    "ink": ("#1F2328", "#E6E9ED"),
    "muted": ("#59626C", "#A0A9B4"),
    "grid": ("#DDE1E6", "#30363D"),
    "paper": ("#FFFFFF", "#14171B"),
    "blue": ("#0072B2", "#4AA3E0"),
    "orange": ("#E69F00", "#E8A91C"),
    "green": ("#009E73", "#22B98E"),
    "vermillion": ("#D55E00", "#F0803C"),
    "sky": ("#56B4E9", "#9AD6F8"),
    "yellow": ("#F0E442", "#F3EA6E"),
    "slate": ("#33383E", "#C9CFD6"),
    "message-1": ("#8C2F63", "#DB8AB5"),
    "message-2": ("#CC79A7", "#9C5680"),
    "header-1": ("#6A737D", "#8B949E"),
    "header-2": ("#99A1AA", "#6B737C"),
    "header-3": ("#C5CAD0", "#4A515A"),
    "own": ("#ECEEF1", "#272C33"),
    "load-1": ("#F4D9B4", "#7C5735"),
    "load-2": ("#F0B55C", "#A0611F"),
    "load-3": ("#DE7F14", "#C46A10"),
    "load-4": ("#A94400", "#EE9B3D"),
    "load-5": ("#5C1A00", "#FFD59A"),
}
PAPER_COLORS = {name: paper for name, (paper, _) in COLORS.items()}
INK, MUTED, GRID, PAPER = (PAPER_COLORS[name] for name in ("ink", "muted", "grid", "paper"))
LOADS = tuple(PAPER_COLORS[f"load-{level}"] for level in range(1, 6))

SMALL = 7.0
_MILLION = 1e6
_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.0,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "text.color": INK,
    "text.parse_math": False,  # a dollar in a name is one
    "lines.linewidth": 1.4,
    "lines.markersize": 4.0,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "legend.labelcolor": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "path",
    "svg.hashsalt": "pysim",
    "pdf.fonttype": 42,
}
_NO_DATE: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Drawing:
    """A figure, and what is seen on it in words."""

    figure: Figure
    caption: str


class Look(NamedTuple):
    """How a type of message looks in every figure of a report."""

    color: str
    hatch: str


@contextmanager
def in_style() -> Iterator[None]:
    """Whatever is drawn or saved inside has the house's look."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def styled(draw: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Let a function draw in the house's look."""

    @wraps(draw)
    def in_it(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        with in_style():
            return draw(*arguments, **named)

    return in_it


def page(width: float, height: float) -> Figure:
    """An empty figure (inches) that arranges what is put into it."""
    figure = Figure(
        figsize=(width, height),
        layout=ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, wspace=0.06, hspace=0.05),
    )
    FigureCanvasAgg(figure)
    return figure


def panel(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of a single panel."""
    figure = page(width, height)
    return figure, figure.add_subplot()


def grouped(axis: Axis) -> None:
    """Write an axis's numbers with their thousands apart, and millions as such."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: _written(value)))


def _written(value: float) -> str:
    if abs(value) >= _MILLION:
        return f"{value / _MILLION:,.6g} M".replace("-", MINUS)
    return f"{value:,.6g}".replace("-", MINUS)


def whole_numbers(axis: Axis) -> None:
    """Let an axis have ticks at whole numbers only."""
    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, nbins=9))


def begin_of_percents(axes: Axes, lowest: float) -> float:
    """Let an axis of percents begin at 0, unless all are so high that nothing could be seen."""
    floors = (99.0, 95.0, 90.0, 80.0, 50.0) if lowest < 100 else ()
    floor = next((floor for floor in floors if lowest > floor + 0.2 * (100 - floor)), 0.0)
    axes.set_ylim(bottom=floor)
    return floor


def rendered(drawing: Drawing, format: str) -> bytes:
    """A figure as the contents of a file: svg, pdf or png."""
    buffer = io.BytesIO()
    with in_style():
        drawing.figure.savefig(buffer, format=format, dpi=300, metadata=_NO_DATE[format])
    return buffer.getvalue()


def inline(drawing: Drawing, name: str, label: str) -> str:
    """A figure as an element of an HTML page, whose colours follow the page's.

    `name` is unique on the page; `label` is what a screen reader says, already escaped.
    """
    text = rendered(drawing, "svg").decode()
    text = text[text.index("<svg") :]
    # A style inside a figure would be one for the whole page; comments repeat all labels.
    text = re.sub(r"<(metadata|style)\b.*?</\1>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r' (?:xmlns|xmlns:xlink|version)="[^"]*"', "", text)
    text = text.replace("xlink:href=", "href=")
    # Ids are unique in one figure only, and a page holds many.
    text = re.sub(r'(\bid="|\bhref="#|url\(#)', rf"\g<1>{name}-", text)
    text = re.sub(r"#[0-9a-fA-F]{6}\b", _variable, text)
    text = re.sub(r'\bd="[^"]*"', _shortened, text)
    width, height = (round(inches * 96) for inches in drawing.figure.get_size_inches())
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None
    head = f'<svg role="img" aria-label="{label}" width="{width}" height="{height}" {box[0]}>'
    return head + text[text.index(">") + 1 :].strip()


def style_sheet() -> str:
    """The colours as variables of a page: on paper, and on a dark screen."""
    paper = "".join(f"--{name}:{color};" for name, color in PAPER_COLORS.items())
    dark = "".join(f"--{name}:{color};" for name, (_, color) in COLORS.items())
    return (
        f":root{{color-scheme:light dark;{paper}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )


def looks(types: Sequence[str]) -> dict[str, Look]:
    """A look for every type of message, the same wherever the same types are shown together.

    Events are blue, subscriptions orange, unsubscriptions green, whatever a protocol's own variant
    of them is called; other types take the colours that are left, and hatches when none is.
    """
    order = {kind.name: code for code, kind in message_types().items()}
    found: dict[str, Look] = {}
    uses = dict.fromkeys(_COLOR_ORDER, 0)
    ordered = sorted(set(types), key=lambda name: (order.get(name, 256), name))
    wanted = {name: _preferred(name) for name in ordered}
    for name in sorted(ordered, key=lambda name: wanted[name] is None):
        color = wanted[name] or min(_LEFT_OVER, key=lambda color: uses[color])
        hatch = _HATCHES[(_COLOR_ORDER.index(color) + uses[color]) % len(_HATCHES)]
        found[name] = Look(PAPER_COLORS[color], hatch)
        uses[color] += 1
    return {name: found[name] for name in ordered}


_COLOR_ORDER = ("blue", "orange", "green", "vermillion", "sky", "slate", "yellow")
_LEFT_OVER = ("vermillion", "sky", "slate", "yellow", "green", "orange", "blue")
_HATCHES = ("", "///", "\\\\\\", "xxx", "...", "---", "+++", "ooo", "|||", "**")


def _preferred(name: str) -> str | None:
    for word, color in (
        ("event", "blue"),
        ("unsubscribe", "green"),
        ("subscribe", "orange"),
        ("unadvertise", "slate"),
        ("advertise", "sky"),
    ):
        if word in name:
            return color
    return None


def _shortened(path: re.Match[str]) -> str:
    """A path with as many digits as a screen can show."""
    return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", path[0])


def _variable(color: re.Match[str]) -> str:
    name = _NAMES.get(color[0].upper())
    return f"var(--{name})" if name else color[0]


_NAMES: Mapping[str, str] = {color: name for name, color in PAPER_COLORS.items()}
