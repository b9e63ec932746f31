"""Pages as they are written: headings, links, blocks of code. It builds and runs nothing."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
INDEX = "docs/index.md"


class Block(NamedTuple):
    """A block of code: its language, its text, and the line of the page on which it begins."""

    language: str
    text: str
    line: int


class Heading(NamedTuple):
    """A heading and the anchor by which links reach it."""

    level: int
    text: str
    anchor: str


class Link(NamedTuple):
    """Where a link or a picture leads, relative to its page, with the words of the link."""

    target: str
    anchor: str
    text: str


class Page:
    """A Markdown file below `root`, called by its path there: `docs/metrics.md`."""

    def __init__(self, name: str, root: Path = ROOT) -> None:
        self.name = name
        self.root = root

    @cached_property
    def text(self) -> str:
        return (self.root / self.name).read_text(encoding="utf-8")

    @cached_property
    def tokens(self) -> list[Token]:
        return reader().parse(self.text)

    @property
    def title(self) -> str:
        return next((heading.text for heading in self.headings() if heading.level == 1), self.name)

    def headings(self) -> list[Heading]:
        """All headings, with anchors as code hosts make them."""
        found: list[Heading] = []
        taken: dict[str, int] = {}
        for opening, inline in _pairs(self.tokens, "heading_open"):
            text = plain(inline)
            anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            taken[anchor] = taken.get(anchor, -1) + 1
            unique = f"{anchor}-{taken[anchor]}" if taken[anchor] else anchor
            found.append(Heading(int(opening.tag[1]), text, unique))
        return found

    def blocks(self) -> list[Block]:
        """Fenced and indented blocks; an indented one has no language."""
        return [
            Block(token.info.partition(" ")[0], token.content, (token.map or [0])[0] + 1)
            for token in self.tokens
            if token.type in ("fence", "code_block")
        ]

    def spans(self) -> list[str]:
        """Code within sentences, each on one line."""
        return [
            " ".join(child.content.split())
            for token in self.tokens
            for child in token.children or ()
            if child.type == "code_inline"
        ]

    def links(self) -> list[Link]:
        """All links and pictures that lead to files, or within the page."""
        found = (link for token in self.tokens for link in _links(token.children or []))
        return [link for link in found if link is not None]

    def target(self, link: Link) -> str:
        """What a link leads to, as a path below the root."""
        if not link.target:
            return self.name
        path = (self.root / self.name).parent / link.target
        resolved = path.resolve()
        root = self.root.resolve()
        return str(resolved.relative_to(root)) if resolved.is_relative_to(root) else link.target


def reader() -> MarkdownIt:
    """Reads what code hosts read."""
    return MarkdownIt("commonmark").enable("table")


def all_pages(root: Path = ROOT) -> list[Page]:
    """The README and every page of the docs, in the order in which a reader meets them."""
    found = sorted(path.relative_to(root).as_posix() for path in root.glob("docs/**/*.md"))
    known = [link for _, links in site_map(root) for link in links]
    order = {name: place for place, (name, _) in enumerate([(INDEX, ""), *known])}
    rest = sorted(found, key=lambda name: (order.get(name, len(order)), name))
    return [Page(name, root) for name in ("README.md", *rest)]


def site_map(root: Path = ROOT) -> list[tuple[str, list[tuple[str, str]]]]:
    """The map on the first page: below "The map", each heading with its pages and their titles."""
    page = Page(INDEX, root)
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    inside = False
    for opening, inline in _pairs(page.tokens, "heading_open", "paragraph_open"):
        if opening.type == "heading_open":
            if opening.tag == "h2":
                inside = plain(inline) == "The map"
            elif inside:
                groups.append((plain(inline), []))
        elif inside and groups:
            link = next((link for link in _links(inline.children or []) if link), None)
            if link is not None:
                groups[-1][1].append((page.target(link), link.text))
    return groups


def problems(page: Page) -> list[str]:
    """What is wrong with the links of a page, a sentence each."""
    found = []
    for link in page.links():
        target = page.target(link)
        if not (page.root / target).exists():
            found.append(f"{page.name}: there is no {link.target}")
        elif link.anchor and link.anchor not in _anchors(target, page.root):
            found.append(f"{page.name}: {target} has no heading #{link.anchor}")
    return found


def _anchors(name: str, root: Path) -> set[str]:
    return {heading.anchor for heading in Page(name, root).headings()}


def plain(inline: Token) -> str:
    """The words of a heading or a sentence, without what marks them."""
    return "".join(
        " " if child.type == "softbreak" else child.content for child in inline.children or ()
    )


def _pairs(tokens: list[Token], *kinds: str) -> Iterator[tuple[Token, Token]]:
    for opening, inline in pairwise(tokens):
        if opening.type in kinds:
            yield opening, inline


def _links(children: list[Token]) -> Iterator[Link | None]:
    for place, child in enumerate(children):
        if child.type == "link_open":
            words = []
            for inner in children[place + 1 :]:
                if inner.type == "link_close":
                    break
                words.append(inner.content)
            yield _link(str(child.attrs["href"]), "".join(words))
        elif child.type == "image":
            yield _link(str(child.attrs["src"]), child.content)


def _link(href: str, text: str) -> Link | None:
    """A link to a file; None for one that leaves the project."""
    parts = urlsplit(href)
    return None if parts.scheme else Link(unquote(parts.path), parts.fragment, text)
