"""The colours of message types, the same on a page and on a chart, on paper and in the dark.

On a page a type's colour never stands alone: its mark has a form too (`page/scene.js`).
"""

from typing import NamedTuple

from analysis.figures.style import COLORS

# Not vermillion and green: these are for what breaks and what is new.
_NAMES = ("blue", "orange", "message-1", "sky", "slate", "message-2", "load-4", "header-2")


class Color(NamedTuple):
    """How messages of a type look on paper and in the dark."""

    paper: str
    dark: str


def color_of(place: int) -> Color:
    """The colour of the type with this place among those of a run."""
    return Color(*COLORS[_NAMES[place % len(_NAMES)]])


def style_sheet() -> str:
    """The colours as CSS variables: by the system's choice, or by that of the page's button."""
    base = ("ink", "muted", "grid", "paper", "own", "vermillion", "green")
    paper = {f"--{name}": COLORS[name][0] for name in base}
    dark = {f"--{name}": COLORS[name][1] for name in base}
    for place in range(len(_NAMES)):
        paper[f"--type-{place}"], dark[f"--type-{place}"] = color_of(place)
    return (
        f":root{{{_variables(paper)}}}\n"
        f"@media (prefers-color-scheme: dark){{:root:not(.light){{{_variables(dark)}}}}}\n"
        f":root.dark{{{_variables(dark)}}}\n"
    )


def _variables(values: dict[str, str]) -> str:
    return "".join(f"{name}:{value};" for name, value in values.items())
