"""A report as its reader's browser sees it."""

from html.parser import HTMLParser
from pathlib import Path

_EMPTY = ("meta", "br", "hr")


class Page(HTMLParser):
    """Checks that elements are closed in order, and notes what a test asks for."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text("utf-8")
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(self.source)
        self.close()
        assert self._open == [], f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"{tag} was never opened"
        assert self._open.pop() == tag, f"{tag} is closed out of order, at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data.replace("\N{NO-BREAK SPACE}", " ")

    def ids(self, prefix: str = "") -> list[str]:
        """The ids that begin so, in their order."""
        found = (str(attributes["id"]) for _, attributes in self.elements if "id" in attributes)
        return [name for name in found if name.startswith(prefix)]

    def values(self, attribute: str) -> set[str]:
        """All values of an attribute."""
        return {str(attrs[attribute]) for _, attrs in self.elements if attribute in attrs}
