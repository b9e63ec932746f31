"""Writes TOML, the direction that the standard library lacks, with a comment behind each key."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Line(NamedTuple):
    """One key of a table; without a value it is written as a comment."""

    key: str
    value: Any
    help: str = ""


class Section(NamedTuple):
    """A table: its header as it is written, ``[network]`` or ``[[faults]]``, and its keys."""

    header: str
    lines: list[Line]


def document(sections: Iterable[Section]) -> str:
    """The text of a whole file."""
    return "\n".join("\n".join(_section(section)) + "\n" for section in sections)


def text(table: Mapping[str, Any]) -> str:
    """The text of a file that reads as this table: its own keys first, then a section a table."""
    own = [Line(name, item) for name, item in table.items() if not isinstance(item, Mapping)]
    inner = {name: item for name, item in table.items() if isinstance(item, Mapping)}
    sections = [Section("", own)] if own else []
    for name, item in inner.items():
        sections.append(Section(f"[{key(name)}]", [Line(*pair) for pair in item.items()]))
    return document(sections)


def value(item: Any) -> str:
    """A value as TOML writes it; what is not of TOML's types is written as its text."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if type(item) in (int, float):
        return repr(item)
    if isinstance(item, Mapping):
        inside = ", ".join(f"{key(name)} = {value(part)}" for name, part in item.items())
        return f"{{ {inside} }}" if inside else "{}"
    if type(item) in (list, tuple):
        return f"[{', '.join(value(part) for part in item)}]"
    return json.dumps(str(item), ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A key as TOML writes it: bare where that is allowed."""
    bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if bare else json.dumps(name, ensure_ascii=False)


def _section(section: Section) -> Iterable[str]:
    if section.header:
        yield section.header
    written = [_assignment(line) for line in section.lines]
    width = max((len(text) for text in written if len(text) <= 40), default=0)
    for text, line in zip(written, section.lines, strict=True):
        yield f"{text:{width}}  # {line.help}" if line.help else text


def _assignment(line: Line) -> str:
    if line.value is None:
        return f"# {key(line.key)} ="
    if isinstance(line.value, tuple | list) and any(isinstance(x, Mapping) for x in line.value):
        return f"{key(line.key)} = [\n" + "".join(f"    {value(x)},\n" for x in line.value) + "]"
    return f"{key(line.key)} = {value(line.value)}"
