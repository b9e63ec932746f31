"""From pages to a folder of HTML that needs nothing but a browser; broken links are refused.

The order of pages, and what the menu says, is the map on the first page. A link to a file of the
project outside the docs leads to a page that shows it.
"""

import posixpath
import shutil
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, guess_lexer_for_filename
from pygments.util import ClassNotFound

from analysis.replay.palette import style_sheet
from tools.site.pages import INDEX, ROOT, Page, all_pages, problems, reader, site_map

_HERE = Path(__file__).parent
_FORMAT = HtmlFormatter(nowrap=True)
_SHOWN = ("toml", "py", "sh", "json", "csv", "graphml")
"""Files outside the docs that a link may lead to."""


class SiteError(Exception):
    """A site that would have holes; the text lists them."""


def build(out: Path, root: Path = ROOT) -> list[Path]:
    """Write the whole site, in place of one that is there; SiteError if a link leads nowhere."""
    pages = [page for page in all_pages(root) if page.name != "README.md"]
    listed = {name for _, entries in site_map(root) for name, _ in entries}
    wrong = [problem for page in pages for problem in problems(page)]
    wrong += [
        f"{page.name}: is not on the map of {INDEX}"
        for page in pages
        if page.name not in listed and page.name != INDEX
    ]
    names = {page.name for page in pages}
    wrong += [
        f"{page.name}: {link.target} is no page of the site"
        for page in pages
        for link in page.links()
        if page.target(link).endswith(".md") and page.target(link) not in names
    ]
    if wrong:
        raise SiteError("\n".join(wrong))
    shutil.rmtree(out, ignore_errors=True)
    written = [_write(out / address(page.name), _html(page)) for page in pages]
    _write(out / "style.css", _style())
    for name in sorted({name for page in pages for name in _files(page)}):
        target = out / address(name)
        if name.startswith("docs/"):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target)
        else:
            _write(target, _source(root, name))
    return written


def address(name: str) -> str:
    """Where a file of the project is in the site: docs at its top, others below `files/`."""
    inside = name.removeprefix("docs/") if name.startswith("docs/") else f"files/{name}.html"
    if inside.endswith(".md"):
        inside = inside.removesuffix(".md") + ".html"
    return posixpath.join(posixpath.dirname(inside), "index.html") if _is_front(name) else inside


def _is_front(name: str) -> bool:
    return posixpath.basename(name) == "README.md"


def _files(page: Page) -> Iterator[str]:
    """What a page needs besides other pages."""
    for link in page.links():
        name = page.target(link)
        if not name.endswith(".md"):
            if not name.startswith("docs/") and not name.endswith(_SHOWN):
                raise SiteError(f"{page.name}: {link.target} is nothing that the site can show")
            yield name


def _html(page: Page) -> str:
    tokens = reader().parse(page.text)  # of its own: links are changed in it
    headings = iter(page.headings())
    for token in tokens:
        if token.type == "heading_open":
            token.attrSet("id", next(headings).anchor)
        for child in token.children or ():
            _redirect(child, page)
    body = _Renderer(reader()).render(tokens, reader().options, {})
    return _framed(page, page.title, body)


class _Renderer(RendererHTML):
    """HTML with coloured code, and tables that scroll by themselves."""

    def fence(self, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        token = tokens[place]
        return f"<pre><code>{_colored(token.content, token.info)}</code></pre>\n"

    def table_open(self, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        return '<div class="rows"><table>\n'

    def table_close(self, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
        return "</table></div>\n"


def _colored(text: str, language: str) -> str:
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return escape(text)
    return str(highlight(text, lexer, _FORMAT))


def _redirect(child: Token, page: Page) -> None:
    """Let a link lead to where its target is in the site."""
    key = {"link_open": "href", "image": "src"}.get(child.type)
    if key is None or "://" in str(child.attrs[key]):
        return
    path, mark, anchor = str(child.attrs[key]).partition("#")
    if path:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page.name), path))
        child.attrSet(key, _relative(page, target) + mark + anchor)


def _relative(page: Page, target: str) -> str:
    here = posixpath.dirname(address(page.name))
    return posixpath.relpath(address(target), here or ".")


def _framed(page: Page, title: str, body: str) -> str:
    parts = {
        "TITLE": escape(title),
        "TOP": _relative(page, INDEX),
        "STYLE": posixpath.relpath("style.css", posixpath.dirname(address(page.name)) or "."),
        "MENU": "\n".join(_menu(page)),
        "BODY": body,
    }
    framed = (_HERE / "template.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        framed = framed.replace(f"<!--{name}-->", text)
    return framed


def _menu(page: Page) -> Iterator[str]:
    for group, entries in site_map(page.root):
        yield f"<h2>{escape(group)}</h2>\n<ul>"
        for name, text in entries:
            if name != page.name:
                yield f'<li><a href="{_relative(page, name)}">{escape(text)}</a></li>'
                continue
            yield f'<li class="here"><a href="#">{escape(text)}</a>'
            parts = [heading for heading in page.headings() if heading.level == 2]
            items = (f'<li><a href="#{part.anchor}">{escape(part.text)}</a></li>' for part in parts)
            yield f"<ul>{''.join(items)}</ul></li>"
        yield "</ul>"


def _source(root: Path, name: str) -> str:
    text = (root / name).read_text(encoding="utf-8")
    lexer = guess_lexer_for_filename(name, text)
    code = f"<h1><code>{escape(name)}</code></h1>\n<pre><code>{highlight(text, lexer, _FORMAT)}"
    return _framed(Page(name, root), name, f"{code}</code></pre>\n")


def _style() -> str:
    light, dark = (
        HtmlFormatter(style=name).get_style_defs("pre") for name in ("tango", "github-dark")
    )
    own = (_HERE / "style.css").read_text(encoding="utf-8")
    return f"{style_sheet()}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{own}"


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
