"""The page that a report is: its head, numbered figures and tables; it knows no metric."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.figures import Drawing
from analysis.figures.style import HALF, inline, style_sheet
from analysis.report.markup import Markup, joined, tag
from analysis.sources import AbsentError

_MOST_TOGETHER = 16  # rows of a table that stay on one printed page
_STYLE = Path(__file__).with_name("style.css")


class Column(NamedTuple):
    """A column of a table: numbers stand right, digit below digit; only words may be broken."""

    title: str
    kind: Literal["number", "name", "words", "code"] = "number"


class Page:
    """A report in the making: numbers figures and tables, and remembers figures for export."""

    def __init__(self) -> None:
        self.drawings: dict[str, Drawing] = {}
        self.absent: dict[str, str] = {}
        self.metrics: dict[str, None] = {}  # in the order in which captions name them
        self._sections: list[tuple[str, str, Markup]] = []
        self._tables = 0

    def section(self, name: str, title: str, content: Iterable[Markup | None]) -> None:
        """Add a section; one without content is left out."""
        found = [piece for piece in content if piece]
        if found:
            self._sections.append((name, title, joined(found, "\n")))

    def figure(
        self,
        name: str,
        title: str,
        draw: Callable[[], Drawing | None],
        metrics: Sequence[str] = (),
    ) -> Markup | None:
        """A figure with its caption; if it cannot be drawn, the page says why at its end."""
        try:
            drawing = draw()
        except AbsentError as reason:
            self.absent[title] = str(reason)
            return None
        if drawing is None:
            self.absent[title] = "there was nothing of the kind"
            return None
        return self.drawn(name, title, drawing, metrics)

    def drawn(self, name: str, title: str, drawing: Drawing, metrics: Sequence[str] = ()) -> Markup:
        """A figure that is drawn already, with its caption."""
        self.drawings[name] = drawing
        number = len(self.drawings)
        svg = Markup(inline(drawing, name, escape(f"{title}. {drawing.caption}", quote=True)))
        words = (
            tag("b", f"Figure {number}. {title}."),
            " ",
            drawing.caption,
            *self.refer(metrics),
        )
        width = "half" if drawing.figure.get_figwidth() <= HALF else "wide"
        plot, caption = tag("div", svg, class_="plot"), tag("figcaption", *words)
        return tag("figure", plot, caption, id=f"figure-{name}", class_=width)

    def table(
        self,
        name: str,
        title: str,
        columns: Sequence[Column],
        rows: Iterable[Sequence[str]],
        *,
        total: bool = False,
        compact: bool = False,
        metrics: Sequence[str] = (),
    ) -> Markup:
        """A table with its caption; with `total` the last row is a sum."""
        self._tables += 1
        heads = [tag("th", column.title, scope="col", class_=column.kind) for column in columns]
        body = [_row(columns, row) for row in rows]
        foot = tag("tfoot", body.pop()) if total and body else Markup("")
        words = (tag("b", f"Table {self._tables}."), f" {title}", *self.refer(metrics))
        head = tag("thead", tag("tr", *heads)) if any(column.title for column in columns) else ""
        # The caption stands outside of what may be wider than the window.
        whole = tag("div", tag("table", head, tag("tbody", *body), foot), class_="rows")
        style = f"table{' compact' * compact}{' long' * (len(body) > _MOST_TOGETHER)}"
        return tag("figure", tag("figcaption", *words), whole, id=f"table-{name}", class_=style)

    def refer(self, metrics: Sequence[str]) -> Iterator[Markup]:
        """Links from a caption to the definitions of its metrics."""
        self.metrics.update(dict.fromkeys(metrics))
        for name in metrics:
            yield Markup(" ")
            yield tag("a", name, href=f"#metric-{name}", class_="metric")

    def html(self, title: str, head: Markup) -> str:
        """The whole file."""
        links = [tag("a", name, href=f"#{key}") for key, name, _ in self._sections]
        sections = [
            tag("section", tag("h2", name), "\n", content, id=key)
            for key, name, content in self._sections
        ]
        style = Markup(style_sheet() + _STYLE.read_text("utf-8"))
        return (
            "<!DOCTYPE html>\n"
            + tag(
                "html",
                tag(
                    "head",
                    tag("meta", charset="utf-8"),
                    tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
                    tag("title", title),
                    tag("style", style),
                ),
                "\n",
                tag(
                    "body",
                    head,
                    "\n",
                    tag("nav", *links),
                    "\n",
                    tag("main", joined(sections, "\n")),
                    "\n",
                ),
                lang="en",
            )
            + "\n"
        )


def pair(*figures: Markup | None) -> Markup | None:
    """Small figures side by side, where the window is wide enough."""
    found = [figure for figure in figures if figure]
    return tag("div", *found, class_="pair") if found else None


def paragraph(*content: str) -> Markup:
    return tag("p", *content)


def _row(columns: Sequence[Column], cells: Sequence[str]) -> Markup:
    cell = zip(columns, cells, strict=True)
    return tag("tr", *(tag("td", text, class_=column.kind) for column, text in cell))
