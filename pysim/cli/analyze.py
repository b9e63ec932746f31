"""`pysim analyze`: captures and tables of finished runs become messages, books and metrics.

A run that cannot be analysed is reported; the others are analysed nevertheless.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pysim.cli import UsageError

if TYPE_CHECKING:
    from analysis.pipeline import Analysis


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    from analysis.finished import run_directories  # Spark takes a second to load
    from analysis.several import analyses

    try:
        directories = run_directories(options.directory)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    outcomes = []
    for directory, result in analyses(directories, options.master, force=options.force):
        outcome = {"directory": str(directory), "error": None} | _described(result)
        outcomes.append(outcome)
        if not options.json:
            _report(outcome)
    if options.json:
        print(json.dumps({"runs": outcomes}, indent=2))
    return 1 if any(outcome["error"] for outcome in outcomes) else 0


def _described(analysis: "Analysis | Exception") -> dict[str, Any]:
    """What came of one run, as plain data."""
    from analysis.metrics import METRICS

    if isinstance(analysis, Exception):
        return {"error": str(analysis)}
    return {
        "run": analysis.run.name,
        "reused": analysis.reused,
        "stages": analysis.seconds,
        "seconds": round(sum(analysis.seconds.values()), 3),
        "metrics": [name for name in METRICS if name not in analysis.absent],
        "absent": analysis.absent,
        "books": analysis.books.as_dict(),
    }


def _report(outcome: dict[str, Any]) -> None:
    if outcome["error"]:
        print(f"pysim: {outcome['error']}", file=sys.stderr, flush=True)
    else:
        print("\n".join(_lines(outcome)), flush=True)


def _lines(outcome: dict[str, Any]) -> Iterator[str]:
    how = "was there already" if outcome["reused"] else f"took {outcome['seconds']:.1f} s"
    metrics = len(outcome["metrics"])
    yield f"analysis     {outcome['directory']}/analysis: {metrics} metrics; it {how}"
    if outcome["absent"]:
        reasons: dict[str, list[str]] = {}
        for name, reason in outcome["absent"].items():
            reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            yield f"absent       {', '.join(names)}: {reason}"
    rows = outcome["books"]["types"]
    messages, size = (sum(row[key] for row in rows) for key in ("sent", "bytes_sent"))
    yield f"books        balance: {messages:,} messages, {size:,} bytes sent"
