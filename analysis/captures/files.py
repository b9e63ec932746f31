"""Finds captures on disk and shares them out in parts of similar size; it decodes no packet."""

import glob
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.captures.records import CaptureError, Records, open_capture, scan

FEWEST_BYTES, MOST_BYTES = 4 << 20, 32 << 20
"""Bounds of what a task reads, unless the user sets it."""
SUFFIXES = (".pcap", ".cap", ".pcapng")
"""Names of captures end so; other files of a directory are passed over."""


@dataclass(frozen=True)
class Part:
    """Whole records of one capture, from byte `start` to byte `stop`."""

    path: Path
    start: int
    stop: int
    number: int
    """What packet of its file the first one is, counted from 1."""


@dataclass(frozen=True)
class Survey:
    """What a look through a capture has found."""

    path: Path
    problem: str | None = None
    """Why the capture cannot be read, in a sentence."""
    truncated: bool = False
    """The file ends within a packet; those before it can be read."""
    packets: int = 0
    parts: tuple[Part, ...] = ()

    def __str__(self) -> str:
        if self.problem:
            return self.problem
        if self.truncated:
            return f"{self.path} ends within packet {self.packets + 1}; it is read up to there"
        return f"{self.path} has {self.packets} packets"


def find_captures(paths: Iterable[str]) -> list[Path]:
    """The captures that files, directories and patterns such as ``runs/*/captures`` name.

    Their paths are absolute, since a task may run elsewhere.
    """
    found: dict[Path, None] = {}
    for text in paths:
        matches = _matches(_local(text))
        if not matches:
            raise CaptureError(f"there is no file or directory {text}")
        files = [file for match in matches for file in _files(match)]
        if not files:
            raise CaptureError(f"there is no capture (*{', *'.join(SUFFIXES)}) in {text}")
        found.update(dict.fromkeys(files))
    return list(found)


def task_bytes(captures: Iterable[Path]) -> int:
    """An eighth of all bytes, in bounds: some cores find work, and little work is few tasks."""
    total = sum(path.stat().st_size for path in captures if path.exists())
    return min(max(total // 8, FEWEST_BYTES), MOST_BYTES)


def survey(path: Path, part_bytes: int = MOST_BYTES) -> Survey:
    """Look through a capture once, and cut it into parts of at most about this many bytes."""
    try:
        records = scan(open_capture(path))
    except CaptureError as error:
        return Survey(path, problem=str(error))
    except OSError as error:
        return Survey(path, problem=f"{path} cannot be read: {error.strerror}")
    parts = tuple(_parts(path, records, part_bytes))
    return Survey(path, truncated=records.truncated, packets=len(records.offsets), parts=parts)


def group(parts: Iterable[Part], part_bytes: int) -> list[tuple[Part, ...]]:
    """Put parts together, in order, as long as a group has at most this many bytes."""
    groups: list[tuple[Part, ...]] = []
    room = 0
    for part in parts:
        size = part.stop - part.start
        if groups and size <= room:
            groups[-1] += (part,)
        else:
            groups.append((part,))
            room = part_bytes
        room -= size
    return groups


def _parts(path: Path, records: Records, part_bytes: int) -> Iterator[Part]:
    """Cut where records start, into parts as equal as the records allow."""
    offsets, end = records.offsets, records.end
    if not len(offsets):
        return
    begin = int(offsets[0])
    count = -(-(end - begin) // part_bytes)
    targets = begin + (end - begin) * np.arange(count) // count
    firsts = np.unique(np.searchsorted(offsets[1:], targets, side="right"))
    starts = [int(start) for start in offsets[firsts]]
    for first, start, stop in zip(firsts, starts, [*starts[1:], end], strict=True):
        yield Part(path, start, stop, int(first) + 1)


def _local(text: str) -> str:
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/+", text)
    if scheme is None:
        return text
    if scheme[1] != "file":
        raise CaptureError(f"{text} is not on a mounted file system; mount it or copy it first")
    return "/" + text[scheme.end() :]


def _matches(text: str) -> list[Path]:
    names = [text] if Path(text).exists() else sorted(glob.glob(text, recursive=True))
    return [Path(name).absolute() for name in names]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
