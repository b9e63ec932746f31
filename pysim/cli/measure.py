"""`pysim measure`: what this machine does, in a form that an experiment file takes."""

import argparse
import json
from collections.abc import Iterator

from pysim.cli import UsageError
from pysim.experiments.batch_factors import Measured, measure


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    for name in ("publications", "repeats"):
        if getattr(options, name) < 1:
            raise UsageError(f"--{name} {getattr(options, name)}: expected at least 1")
    found = measure(options.publications, options.repeats)
    if options.json:
        table = {"throughput": found.throughput, "factors": found.factors}
        print(json.dumps(table, indent=2))
    else:
        print("\n".join(_lines(found)))
    return 0


def _lines(found: Measured) -> Iterator[str]:
    """A table of an experiment file, with what it came from as comments."""
    for size, rate in found.throughput.items():
        yield f"# in batches of {size:<4} {rate:>9,.0f} publications a second"
    yield ""
    yield "[service]"
    yield 'model = "capacity"'
    yield f"capacity = {found.throughput[1]:.0f}"
    pairs = ", ".join(f"[{size}, {factor:g}]" for size, factor in found.factors)
    yield f"factors = [{pairs}]"
