"""`pysim smoke`: run a suite, hold it against what is expected, show in a table what changed."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from pysim.cli import UsageError
from pysim.cli.progress import Counter
from pysim.experiments.run import run
from pysim.experiments.smoke import expectations, suite
from pysim.experiments.smoke.expectations import Change, Comparison, Expectations, Result
from pysim.experiments.smoke.figures import LATENCY, figures
from pysim.experiments.smoke.processes import Failure, in_processes
from pysim.experiments.smoke.suite import Entry, SuiteError
from pysim.units import Span

_COUNTED = {
    "same": "as expected",
    "changed": "changed",
    "new": "new",
    "gone": "gone",
    "failed": "failed",
}


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    try:
        entries = suite.chosen(suite.read(options.suite), options.names)
        expected = _expected(options)
    except SuiteError as error:
        raise UsageError(str(error)) from None
    begin = perf_counter()
    results = _results(entries, options)
    comparisons = _comparisons(entries, expected, results, bool(options.names))
    update = _update(options, expected, results, comparisons) if options.update else ""
    if options.json:
        print(_json(options, expected, comparisons))
    else:
        seconds = perf_counter() - begin
        print("\n".join(_report(options, expected, comparisons, seconds, update)))
    allowed = ("same", "changed", "new", "gone") if options.update else ("same",)
    return 0 if all(row.status in allowed for row in comparisons) else 1


def _expected(options: argparse.Namespace) -> Expectations | None:
    """What is expected before anything runs; UsageError if it does not fit what is asked for."""
    found = expectations.read(options.suite)
    file = options.suite / expectations.FILE
    if found is None and not options.update:
        raise UsageError(f"{file} is missing; --update makes it")
    mixed = found is not None and found.versions != expectations.versions()
    if options.update and options.names and mixed:
        raise UsageError(f"{file} was made with other versions: update all of it, without names")
    return found


def _results(entries: Sequence[Entry], options: argparse.Namespace) -> dict[str, Result | Failure]:
    """Run everything; the directories of the runs are kept only if it is asked for."""
    jobs = len(os.sched_getaffinity(0)) if options.jobs is None else options.jobs
    if jobs < 1:
        raise UsageError("--jobs must be at least 1")
    with _place(options) as place:
        work = {entry.name: partial(_run, entry, Path(place) / entry.name) for entry in entries}
        stream = None if options.quiet or options.json else sys.stderr
        found = {}
        with Counter(len(work), "runs", stream) as progress:
            for name, result in in_processes(work, jobs, _seconds(options)):
                found[name] = result
                progress(len(found), len(found) / len(work))
    return found


def _place(options: argparse.Namespace) -> AbstractContextManager[str | Path]:
    """Where the runs go."""
    if options.out is None:
        return tempfile.TemporaryDirectory(prefix="pysim-smoke-")
    return nullcontext(options.out)


def _seconds(options: argparse.Namespace) -> float:
    try:
        return Span.parse(options.timeout)
    except ValueError as error:
        raise UsageError(f"--timeout {options.timeout}: {error}") from None


def _run(entry: Entry, directory: Path) -> Result:
    """One run, in a process of its own."""
    manifest = run(entry.plan, directory, entry.run, replace=True)
    return Result(manifest.fingerprint, figures(manifest, directory))


def _comparisons(
    entries: Sequence[Entry],
    expected: Expectations | None,
    results: Mapping[str, Result | Failure],
    is_part: bool,
) -> list[Comparison]:
    """All runs of the suite in its order, then those that are expected and no longer in it."""
    known = {} if expected is None else expected.runs
    rows = [
        expectations.compare(entry.name, known.get(entry.name), results[entry.name])
        for entry in entries
    ]
    gone = [] if is_part else [name for name in known if name not in results]
    return rows + [Comparison(name, "gone") for name in gone]


def _update(
    options: argparse.Namespace,
    before: Expectations | None,
    results: Mapping[str, Result | Failure],
    comparisons: Sequence[Comparison],
) -> str:
    """Store what was found; what failed keeps its expectation."""
    found = {name: made for name, made in results.items() if isinstance(made, Result)}
    gone = [row.name for row in comparisons if row.status == "gone"]
    after = expectations.renewed(before, found, gone)
    file = options.suite / expectations.FILE
    if after == before:
        return f"{file} is as it was"
    expectations.write(after, options.suite)
    return f"{file} is renewed"


def _report(
    options: argparse.Namespace,
    expected: Expectations | None,
    comparisons: Sequence[Comparison],
    seconds: float,
    update: str,
) -> Iterator[str]:
    yield from _versions(expected)
    for row in comparisons:
        if row.status != "same":
            yield from _table(row)
    counts = [
        f"{number} {word}"
        for status, word in _COUNTED.items()
        if (number := sum(row.status == status for row in comparisons))
    ]
    yield f"{options.suite}: {', '.join(counts)}; {seconds:.0f} s"
    if update:
        yield update
    elif any(row.status in ("changed", "new", "gone") for row in comparisons):
        yield "If that is as it should be, --update makes it the expectation."


def _versions(expected: Expectations | None) -> Iterator[str]:
    now = expectations.versions()
    then = now if expected is None else expected.versions
    for name in sorted({*now, *then}):
        if now.get(name) != then.get(name):
            was, this = then.get(name, "none"), now.get(name, "none")
            yield f"Expectations were made with {name} {was}; this is {name} {this}."


def _table(row: Comparison) -> Iterator[str]:
    """What is to be said about a run that is not as expected."""
    yield f"{row.name}: {_verdict(row)}"
    if row.status != "changed":
        return
    if not row.figures:
        yield "  no figure of its cost changed"
        yield ""
        return
    lines = [("figure", "expected", "found", "change"), *map(_cells, row.figures)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for figure, *numbers in lines:
        columns = zip(numbers, widths[1:], strict=True)
        yield f"  {figure:{widths[0]}}" + "".join(f"  {cell:>{width}}" for cell, width in columns)
    yield ""


def _verdict(row: Comparison) -> str:
    match row.status:
        case "failed":
            return f"failed: {row.error}"
        case "new":
            return "nothing is expected of it yet"
        case "gone":
            return "expected, and no longer in the suite"
    kept = [kind for kind in row.kinds if kind not in row.parts]
    said = [f"{_listed(row.parts)} changed"] if row.parts else []
    return ", ".join(said + ([f"{_listed(kept)} as expected"] if kept else []))


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _cells(change: Change) -> tuple[str, str, str, str]:
    figure, expected, found = change
    by = f"{(found - expected) / expected:+.2%}" if expected else f"+{found:,}"
    by = by.replace("%", " %")
    if figure == LATENCY:
        return "latency median", f"{expected / 1e6:.6f} ms", f"{found / 1e6:.6f} ms", by
    return figure, f"{expected:,}", f"{found:,}", by


def _json(
    options: argparse.Namespace,
    expected: Expectations | None,
    comparisons: Sequence[Comparison],
) -> str:
    found: dict[str, Any] = {
        "suite": str(options.suite),
        "updated": options.update,
        "versions": {
            "expected": None if expected is None else expected.versions,
            "found": expectations.versions(),
        },
        "runs": [_plain(row) for row in comparisons],
    }
    return json.dumps(found, indent=2)


def _plain(row: Comparison) -> dict[str, Any]:
    return {
        "name": row.name,
        "status": row.status,
        "changed": list(row.parts),
        "figures": [change._asdict() for change in row.figures],
        "error": row.error,
    }
