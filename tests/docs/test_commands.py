"""Every command, every block of Python and every table of the README and the docs works."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pysim import cli
from tests.docs.exceptions import CHANGES, changed
from tests.docs.reading import commands, hidden, lines, steps
from tests.docs.trying import failures
from tests.docs.workspace import Workspace, workspace
from tests.wireshark.reading import require_tshark
from tools.site.pages import ROOT, Page, all_pages

PAGES = {page.name: page for page in all_pages()}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with workspace(tmp_path_factory.mktemp("reader")) as made:
        yield made


def texts(page: Page) -> list[str]:
    """All that a test does of a page."""
    found = [command.text for command in commands(page)]
    for step in steps(page):
        found += lines(step.text) if step.kind == "sh" else [step.text]
    return found


@pytest.mark.parametrize(
    "name", [name for name, page in PAGES.items() if steps(page) or commands(page)]
)
def test_what_a_page_says_works(name: str, reader: Workspace) -> None:
    if any("tshark" in text for text in texts(PAGES[name])):
        require_tshark()
    assert not failures(PAGES[name], reader)


@pytest.mark.parametrize("name", PAGES)
def test_what_is_named_exists(name: str) -> None:
    targets = (ROOT / "Makefile").read_text()
    known = cli._parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    for command in commands(PAGES[name]):
        if command.bare:
            program, word = command.text.removeprefix(".venv/bin/").split()
            assert word in known if program == "pysim" else f"\n{word}:" in targets, command.text


@pytest.mark.parametrize("name", PAGES)
def test_commands_are_in_blocks_that_are_typed(name: str) -> None:
    assert not hidden(PAGES[name])


def test_every_exception_is_needed() -> None:
    used = {
        change
        for name, page in PAGES.items()
        for text in texts(page)
        for change in changed(name, text)[1]
    }
    assert [change for change in CHANGES if change not in used] == []


def test_a_command_that_fails_is_noticed_wherever_it_stands(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(
        "Save it as `some.py`:\n\n```python\nX = 3\n```\n\n"
        "```sh\npysim list topologies\npysim list nothing      # no such group\n```\n\n"
        "```python\nimport some\n\nassert some.X == 4\n```\n\n"
        '```toml\n[protocol]\nname = "event-forwardin"\n```\n\n'
        "and `pysim topology describe lin` too.\n"
    )
    folder = tmp_path / "reader"
    folder.mkdir()
    with workspace(folder) as reader:
        typed, read, run, sentence = failures(Page("docs/page.md", tmp_path), reader)
    assert "invalid choice: 'nothing'" in typed
    assert 'did you mean "event-forwarding"' in read
    assert "AssertionError" in run
    assert "pysim topology describe lin\n" in sentence
