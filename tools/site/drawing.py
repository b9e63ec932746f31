"""Boxes, arrows and words as SVG, for the pictures of the docs; it does not know what they show."""

import math
from html import escape

from analysis.figures.style import COLORS

INK, MUTED, GRID, BLUE, PURPLE, GREEN, RED, OWN = (
    COLORS[name][0]
    for name in ("ink", "muted", "grid", "blue", "message-1", "green", "vermillion", "own")
)


class Drawing:
    """A picture of a given size that things are put on, later ones over earlier ones."""

    def __init__(self, width: int, height: int) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif">',
            f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>',
        ]

    def svg(self) -> str:
        """The whole file."""
        return "\n".join([*self._parts, "</svg>"]) + "\n"

    def box(
        self, x: float, y: float, width: float, height: float, *words: str, ink: str = INK
    ) -> None:
        """A box with a title and, below it, smaller lines."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
            f'fill="{OWN}" stroke="{ink}" stroke-width="1.4"/>'
        )
        top = y + height / 2 - 8.5 * (len(words) - 1) + 5
        for line, text in enumerate(words):
            self.text(x + width / 2, top + 17 * line, text, "middle", strong=line == 0)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        anchor: str = "start",
        ink: str | None = None,
        strong: bool = False,
    ) -> None:
        """A line of words; those that are not strong are smaller and muted unless told."""
        ink = ink or (INK if strong else MUTED)
        weight = ' font-weight="600"' if strong else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{13 if strong else 12}"'
            f'{weight} fill="{ink}">{escape(text, quote=False)}</text>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, ink: str = INK, dashed: bool = False
    ) -> None:
        """A straight line."""
        dashes = ' stroke-dasharray="4 4"' if dashed else ""
        self._parts.append(
            f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{ink}" stroke-width="1.5"{dashes}/>'
        )

    def arrow(
        self, x1: float, y1: float, x2: float, y2: float, ink: str = INK, dashed: bool = False
    ) -> None:
        """A line with a tip at its second end."""
        self.line(x1, y1, x2, y2, ink, dashed)
        length = math.hypot(x2 - x1, y2 - y1)
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        points = (
            (x2, y2),
            (x2 - 9 * ux - 4 * uy, y2 - 9 * uy + 4 * ux),
            (x2 - 9 * ux + 4 * uy, y2 - 9 * uy - 4 * ux),
        )
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polygon points="{corners}" fill="{ink}"/>')

    def dot(self, x: float, y: float, words: str, ink: str = INK, size: float = 15) -> None:
        """A circle with something short inside."""
        self._parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{size:g}" fill="{OWN}" stroke="{ink}" '
            'stroke-width="1.4"/>'
        )
        self.text(x, y + 4.5, words, "middle", strong=True)
