"""`pysim report`: from a run or a sweep to its report; analyses what is not analysed yet.

A run of a sweep that cannot be analysed is named, and the report is on the others.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from pysim.cli import UsageError


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    # Spark and matplotlib take longer to load than most commands take.
    from analysis.report import build
    from analysis.report.source import is_sweep, runs_to_analyse

    try:
        directories = runs_to_analyse(options.directory)
    except (FileNotFoundError, ValueError) as error:
        raise UsageError(str(error)) from None
    alone = not is_sweep(options.directory)
    failures = 0
    for problem in _analysed(directories, options):
        if alone:
            raise problem
        print(f"pysim: {problem}", file=sys.stderr, flush=True)
        failures += 1
    try:
        report = build(options.directory, options.out, options.figures)
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(f"report       {report}")
    if options.figures:
        print(f"figures      {report.parent / 'figures'}")
    return 1 if failures else 0


def _analysed(directories: list[Path], options: argparse.Namespace) -> Iterator[Exception]:
    """Analyse what is not analysed; yields what went wrong with a run, and goes on."""
    from analysis.several import analyses

    for number, (directory, result) in enumerate(analyses(directories, options.master), 1):
        if len(directories) > 1 and not options.quiet:
            print(f"analysed {number} of {len(directories)}: {directory}", file=sys.stderr)
        if isinstance(result, Exception):
            yield result
