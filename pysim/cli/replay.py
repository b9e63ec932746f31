"""`pysim replay`: the page on which a run can be watched, or a sequence chart of a part of it."""

import argparse
import re

from pysim.brokers.loading import load_entry_points, load_file
from pysim.cli import UsageError
from pysim.units import Duration


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    from analysis.replay import ReplayError, build_chart, build_page  # they take a second to load

    load_entry_points()
    if options.protocol_file is not None:
        load_file(options.protocol_file)
    chart = options.sequence is not None
    for name in () if chart else ("brokers", "types"):
        if getattr(options, name):
            raise UsageError(f"--{name} is for charts: add --sequence FROM..TO")
    if chart and options.between:
        raise UsageError("--between is for pages; --sequence has a window of its own")
    try:
        if chart:
            path = build_chart(
                options.directory,
                _window(options.sequence),
                options.out,
                _brokers(options.brokers) if options.brokers else None,
                [name.strip() for name in options.types.split(",")] if options.types else None,
                options.axis,
            )
        else:
            window = _window(options.between) if options.between else None
            path = build_page(options.directory, options.out, window)
    except (ReplayError, FileNotFoundError, ValueError) as error:
        raise UsageError(str(error)) from None
    print(f"{'chart' if chart else 'replay':<13}{path}")
    return 0


def _window(text: str) -> tuple[int, int]:
    """``1.0s..1.2s`` in nanoseconds."""
    begin, dots, end = text.partition("..")
    if not dots:
        raise UsageError(f'"{text}" is no window of time; write it as 1.0s..1.2s')
    try:
        window = tuple(round(Duration.parse(part.strip()) * 1e9) for part in (begin, end))
    except ValueError as error:
        raise UsageError(f'"{text}" is no window of time: {error}') from None
    if window[0] >= window[1]:
        raise UsageError(f'the window "{text}" ends before it begins')
    return window[0], window[1]


def _brokers(text: str) -> list[int]:
    """``0-3,7`` as numbers."""
    found: list[int] = []
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if ends is None:
            raise UsageError(f'"{text}" names no brokers; write them as 0-3,7')
        found += range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    return found
