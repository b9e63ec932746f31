"""One look for all figures: the same types look the same, and the same figure is the same file."""

import re
from html import escape
from xml.etree import ElementTree

import pytest

from analysis.figures import rendered, style, sweep
from analysis.figures.numbers import Unit
from analysis.figures.style import COLORS, PAPER_COLORS
from pysim.wire import message_types
from tests.analysis.figures import frames
from tests.analysis.figures.test_drawings import CASES, DRAWINGS, drawn

ALL_TYPES = [kind.name for kind in message_types().values()]


def test_types_look_the_same_whatever_the_order_in_which_they_come() -> None:
    types = ["event", "subscribe", "flush", "rec"]
    assert style.looks(types) == style.looks(types[::-1])


def test_events_and_subscriptions_keep_their_colours_in_every_protocol() -> None:
    for event in ("event", "addressed-event", "tree-event"):
        assert style.looks([event, "subscribe"])[event].color == PAPER_COLORS["blue"]
    assert style.looks(ALL_TYPES)["subscribe"].color == PAPER_COLORS["orange"]
    assert style.looks(ALL_TYPES)["unsubscribe"].color == PAPER_COLORS["green"]


def test_up_to_seven_types_have_colours_of_their_own() -> None:
    types = ["event", "subscribe", "unsubscribe", "flush", "activate", "rec", "recack"]
    assert len({look.color for look in style.looks(types).values()}) == 7


def test_no_two_types_look_the_same_in_a_fill() -> None:
    looks = style.looks([*ALL_TYPES, "type-201"])
    assert len({(look.color, look.hatch) for look in looks.values()}) == len(looks)


def test_every_colour_means_one_thing() -> None:
    assert len(set(PAPER_COLORS.values())) == len(COLORS)


@pytest.mark.parametrize("format", ["svg", "pdf", "png"])
def test_the_same_figure_is_the_same_file(format: str) -> None:
    draw = DRAWINGS["breakdown"]["three seeds"]
    first, second = draw(), draw()
    assert first is not None
    assert second is not None
    assert rendered(first, format) == rendered(second, format)


def test_files_name_no_date_and_no_address() -> None:
    text = rendered(drawn(DRAWINGS["latency"]["one seed"]), "svg").decode()
    assert "<dc:date>" not in text
    assert not re.search(r'(?:href|src)="http', text)


@pytest.mark.parametrize("draw", CASES[::3])
def test_on_a_page_a_figure_is_well_formed_and_takes_the_pages_colours(draw) -> None:  # type: ignore[no-untyped-def]
    text = style.inline(drawn(draw), "one", "It&#x27;s a &lt;label&gt;")
    root = ElementTree.fromstring(text)
    assert root.attrib["aria-label"] == "It's a <label>"
    assert "http" not in text
    assert "<style" not in text
    assert not re.findall(r"(?<!&)#[0-9a-fA-F]{6}\b", text), (
        "a colour that does not follow the page"
    )
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert all(name.startswith("one-") for name in ids)
    used = re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', text)
    assert {a or b for a, b in used} <= set(ids)


def test_names_that_mean_something_elsewhere_are_only_names() -> None:
    names = ("$\\frac$", "\\1 \\g<0>", "--><script>", "&amp;")
    rows = frames.sweep(names, names)
    drawing = sweep.draw(rows, "cost", "<b>", Unit("kB", 1.0), "network.rate", ["protocol.name"])
    assert drawing is not None
    label = escape(drawing.caption, quote=True)
    text = style.inline(drawing, "one", label)
    assert "<script" not in text
    assert ElementTree.fromstring(text).attrib["aria-label"] == drawing.caption


def test_the_page_has_every_colour_for_paper_and_for_dark_screens() -> None:
    sheet = style.style_sheet()
    for name, (paper, dark) in COLORS.items():
        assert f"--{name}:{paper};" in sheet
        assert f"--{name}:{dark};" in sheet
