"""The text of a file, wherever it lies, and errors that name its lines; it knows no format."""

from __future__ import annotations

import gzip
import io
import math
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from topologies.errors import TopologyError, suggest

_ARCHIVE = re.compile(r"(?P<path>.+?\.(?:tar|tar\.gz|tgz))(?::(?P<member>.+))?$")


@dataclass(frozen=True)
class Source:
    """A file's name, as errors give it, and its text."""

    name: str
    text: str

    @property
    def stem(self) -> str:
        """The file's name without folders and endings."""
        return PurePosixPath(self.name.rpartition(":")[2]).name.split(".")[0]

    def lines(self, comment: str = "#") -> Iterator[tuple[int, str]]:
        """Every line that says something, with its number; comments and blank lines are dropped."""
        for number, line in enumerate(self.text.splitlines(), start=1):
            stripped = line.strip()
            if stripped and not stripped.startswith(comment):
                yield number, stripped

    def error(self, line: int | None, what: str) -> TopologyError:
        """To be raised: what is wrong, and where."""
        place = self.name if line is None else f"{self.name}, line {line}"
        return TopologyError(f"{place}: {what}")

    def number(self, line: int | None, text: object, what: str) -> float:
        """A finite number, or an error that says what should have been one."""
        try:
            value = float(str(text))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.error(line, f"{what} '{text}' is not a number")
        return value

    def amount(self, line: int | None, text: object, what: str) -> float:
        """A number that is not negative, or an error that says what should have been one."""
        value = self.number(line, text, what)
        if value < 0:
            raise self.error(line, f"{what} {text} is negative")
        return value

    def fields(self, line: int, text: str, count: int, layout: str) -> list[str]:
        """The first `count` words of a line, or an error that says what a line should hold."""
        words = text.split()
        if len(words) < count:
            raise self.error(line, f"expected '{layout}', got '{text[:60]}'")
        return words[:count]


def read_source(path: str | Path) -> Source:
    """The text of a plain or gzipped file, or of `archive.tar.gz:member`."""
    archive = _ARCHIVE.match(str(path))
    try:
        if archive:
            return _read_member(Path(archive["path"]), archive["member"])
        return Source(str(path), _decode(Path(path).read_bytes()))
    except OSError as error:
        # BadGzipFile and tarfile's errors have no strerror, only a text.
        raise TopologyError(f"cannot read {path}: {error.strerror or error}") from None
    except (EOFError, zlib.error, tarfile.TarError, UnicodeDecodeError) as error:
        raise TopologyError(f"cannot read {path}: {error}") from None


def _decode(content: bytes) -> str:
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    return content.decode("utf-8-sig")


def _read_member(path: Path, wanted: str | None) -> Source:
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
        files = {member.name: member for member in archive.getmembers() if member.isfile()}
        name = _find_member(path, list(files), wanted)
        content = archive.extractfile(files[name])
        assert content is not None  # only a member that is no file has no content
        return Source(f"{path}:{name}", _decode(content.read()))


def _find_member(path: Path, names: list[str], wanted: str | None) -> str:
    """The member of that name; its folder and ending may be left out."""
    if wanted is None:
        raise TopologyError(
            f"{path} is an archive of {len(names)} files: name one of them, as in "
            f"{path}:{PurePosixPath(names[0]).name if names else 'member'}"
        )
    for shorten in (str, lambda name: PurePosixPath(name).name, lambda name: Source(name, "").stem):
        found = [name for name in names if shorten(name) == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            raise TopologyError(f"{path}:{wanted} could be any of {', '.join(sorted(found))}")
    stems = {Source(name, "").stem for name in names}
    raise TopologyError(f"{path} has no member '{wanted}': {suggest(wanted, stems)}")
