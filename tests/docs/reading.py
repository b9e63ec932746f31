"""What a page tells a reader to do: files to save, commands to type, Python and TOML to write.

Nothing has to be marked for a test. A block in `sh` is typed as it stands; Python is run; TOML that
is introduced by "Save it as `NAME`" is saved, like Python, and other TOML is read. Commands within
sentences count, too: `pysim list` alone is only named, with anything behind it it is typed.
"""

import re
from typing import NamedTuple

from tools.site.pages import Page

PROGRAMS = ("pysim", "make", "python", "pytest", "tshark")
_PROGRAM = re.compile(rf"(?:\.venv/bin/)?(?:{'|'.join(PROGRAMS)})(?=\s|$)")
_SAVED = re.compile(r"[Ss]ave (?:it|this) as `([\w./-]+)`")


class Step(NamedTuple):
    """Something to do; `kind` is `sh`, `python`, `toml` or, with a `file` to save it in, `save`."""

    kind: str
    text: str
    line: int
    file: str = ""


class Command(NamedTuple):
    """A command within a sentence; a bare one is only named."""

    text: str
    bare: bool


def steps(page: Page) -> list[Step]:
    """What the blocks of a page say, in their order."""
    lines = page.text.splitlines()
    found = []
    for block in page.blocks():
        if block.language in ("sh", "python", "toml"):
            before = "\n".join(lines[max(0, block.line - 4) : block.line - 1])
            names = _SAVED.findall(before)
            kind = "save" if names else block.language
            found.append(Step(kind, block.text, block.line, names[-1] if names else ""))
    return found


def commands(page: Page) -> list[Command]:
    """The commands within sentences, each once."""
    found = dict.fromkeys(span for span in page.spans() if _PROGRAM.match(span))
    return [Command(span, _is_name(span)) for span in found if " " in span]


def hidden(page: Page) -> list[str]:
    """Commands in blocks of which nobody would know that they are commands."""
    return [
        line
        for block in page.blocks()
        if block.language not in ("sh", "python", "toml", "yaml")
        for line in block.text.splitlines()
        if re.match(r"\s*(\$ |(?:\.venv/bin/)?pysim [a-z]|make [a-z]+$)", line)
    ]


def _is_name(span: str) -> bool:
    return re.fullmatch(r"(?:\.venv/bin/)?(?:pysim|make) [a-z-]+", span) is not None


def lines(script: str) -> list[str]:
    """The commands of a block, one by one; all in one if it is a program of its own.

    So a command that stands on several pages is typed once.
    """
    joined = script.replace("\\\n", " ").splitlines()
    typed = [line for line in joined if line.strip() and not line.startswith("#")]
    if all(_PROGRAM.match(line) for line in typed) and not script.startswith("#!"):
        return [" ".join(line.partition("  #")[0].split()) for line in typed]
    return [script]
