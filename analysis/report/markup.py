"""Pieces of HTML that cannot be forgotten to escape; it knows nothing of reports.

Text is a `str` and is escaped when it becomes part of an element; what has been made here is
`Markup` and is taken as it is.
"""

from collections.abc import Iterable
from html import escape
from xml.sax.saxutils import quoteattr

_EMPTY = frozenset(("br", "hr", "meta"))


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(element: str, /, *content: str, **attributes: str) -> Markup:
    """An element; `class_` is the attribute ``class``."""
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(value)}"
        for key, value in attributes.items()
    )
    if element in _EMPTY:
        return Markup(f"<{element}{given}>")
    return Markup(f"<{element}{given}>{joined(content)}</{element}>")


def joined(content: Iterable[str], between: str = "") -> Markup:
    """Pieces one after the other, each escaped unless it is HTML already."""
    return Markup(
        between.join(piece if isinstance(piece, Markup) else escape(piece) for piece in content)
    )
