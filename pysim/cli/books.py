"""`pysim books`: do the counts of agents, network and captures agree? Exit code 0 only if so."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pysim.cli import UsageError

if TYPE_CHECKING:
    from analysis.books import Books


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    from analysis.finished import run_directories  # numba and Arrow take a second to load

    try:
        directories = run_directories(options.directory)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    found: list[tuple[Path, Books]] = []
    for directory in directories:
        found.append((directory, _books(directory)))
        if not options.json:
            _report(*found[-1])
    balanced = all(books.balanced for _, books in found)
    if options.json:
        runs = [{"directory": str(place), **books.as_dict()} for place, books in found]
        print(json.dumps({"balanced": balanced, "runs": runs}, indent=2))
    return 0 if balanced else 1


def _books(directory: Path) -> "Books":
    """The books of a run; what cannot be read cannot balance."""
    from analysis.books import Books
    from analysis.pipeline import balance

    try:
        return balance(directory)
    except (FileNotFoundError, ValueError) as error:
        return Books([str(error)], [], [])


def _report(directory: Path, books: "Books") -> None:
    print("\n".join(_lines(directory, books)), flush=True)
    for problem in books.problems:
        print(f"pysim: {problem}", file=sys.stderr, flush=True)


def _lines(directory: Path, books: "Books") -> Iterator[str]:
    verdict = "balance" if books.balanced else "do not balance"
    yield f"the books of {directory} {verdict}"
    if books.types:
        yield ""
        yield f"{'':18} {'sent':^32} {'received':^32}".rstrip()
        yield f"{'message':18}" + 2 * f" {'agents':>10} {'network':>10} {'captures':>10}"
    for row in books.types:
        counts = (
            *(row.agents_sent, row.sent, row.captured_leaving),
            *(row.agents_received, row.received, row.captured_arriving),
        )
        yield f"{row.type:18}" + "".join(f" {_shown(count):>10}" for count in counts)
    if books.unchecked:
        yield ""
    for sentence in books.unchecked:
        yield f"not checked  {sentence}"


def _shown(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"
