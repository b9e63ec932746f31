"""The site can be built, no link is broken, and what is generated is current."""

import re
from pathlib import Path

import pytest

from tools.site import diagrams, pictures, reference
from tools.site.build import SiteError, build
from tools.site.pages import ROOT, Page, all_pages, problems, site_map


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    build(out)
    return out


def test_the_site_has_every_page_of_the_map_and_asks_nobody_for_anything(site: Path) -> None:
    pages = {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}
    assert len([name for name in pages if not name.startswith("files/")]) == len(all_pages()) - 1
    loaded = re.compile(r'(?:src|<link[^>]* href)="([^"]+)"')
    for name, text in pages.items():
        for target in loaded.findall(text):
            assert (site / name).parent.joinpath(target).is_file(), f"{name} loads {target}"
    assert "url(" not in (site / "style.css").read_text()


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    texts = {path.resolve(): path.read_text() for path in site.rglob("*.html")}
    for path, text in texts.items():
        for target in re.findall(r'<a href="([^"]+)"', text):
            if "://" in target:
                continue
            name, _, anchor = target.partition("#")
            there = (path.parent / name).resolve() if name else path
            assert there.is_file(), f"{path.name} leads to {target}"
            assert not anchor or f'id="{anchor}"' in texts[there], f"{path.name}: {target}"


def test_the_readme_leads_nowhere_wrong() -> None:
    assert problems(Page("README.md")) == []


def small_docs(root: Path, text: str) -> None:
    """Docs of two pages; one says `text`."""
    (root / "docs").mkdir()
    (root / "README.md").write_text("# Read me\n")
    (root / "docs/index.md").write_text("# All\n\n## The map\n\n### Some\n\n- [P](page.md)\n")
    (root / "docs/page.md").write_text(f"# Page\n\n{text}\n")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[a](nowhere.md)", "docs/page.md: there is no nowhere.md"),
        ("[a](index.md#no)", "docs/page.md: docs/index.md has no heading #no"),
        ("![a](none.svg)", "docs/page.md: there is no none.svg"),
        ("[a](../README.md)", "docs/page.md: ../README.md is no page of the site"),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    small_docs(tmp_path, text)
    with pytest.raises(SiteError, match=re.escape(complaint)):
        build(tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_page_that_is_not_on_the_map_is_refused(tmp_path: Path) -> None:
    small_docs(tmp_path, "Some words.")
    (tmp_path / "docs/more.md").write_text("# More\n")
    with pytest.raises(SiteError, match=r"^docs/more\.md: is not on the map of docs/index\.md$"):
        build(tmp_path / "out", tmp_path)


def test_the_map_says_what_pages_are_called() -> None:
    groups = site_map()
    assert [group for group, _ in groups][:3] == ["Begin", "Run", "Look"]
    assert ("docs/concepts.md", "Concepts") in groups[0][1]


def test_headings_are_reached_as_on_code_hosts(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# A `[b]` c\n\n## What's it?\n\n## What's it?\n")
    page = Page("page.md", tmp_path)
    assert [heading.anchor for heading in page.headings()] == ["a-b-c", "whats-it", "whats-it-1"]


def test_the_reference_of_experiment_files_is_what_the_code_says() -> None:
    assert (ROOT / reference.NAME).read_text() == reference.page(), "`make docs` writes it anew"


def test_every_key_has_a_meaning() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \| ", reference.page(), re.MULTILINE)
    assert len(rows) > 200
    assert [key for key, meaning in rows if not meaning] == []


@pytest.mark.parametrize(
    ("module", "folder"), [(pictures, pictures.FOLDER), (diagrams, diagrams.PICTURES)]
)
def test_pictures_are_what_is_drawn_now(module: object, folder: Path, tmp_path: Path) -> None:
    drawn = {path.name: path.read_text() for path in module.write(tmp_path)}  # type: ignore[attr-defined]
    kept = {path.name: path.read_text() for path in (ROOT / folder).iterdir()}
    assert kept.keys() == drawn.keys()
    assert [name for name in kept if kept[name] != drawn[name]] == [], "`make docs` draws them anew"
