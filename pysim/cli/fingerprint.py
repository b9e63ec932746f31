"""`pysim fingerprint`: of a run that is there, or of an experiment that is run for it."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from pysim.cli import UsageError
from pysim.cli.run import run_with_progress
from pysim.cli.settings import given_settings
from pysim.experiments import manifest
from pysim.experiments.config import load
from pysim.experiments.fingerprint import combined, differences
from pysim.experiments.plan import prepare


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    parts = _recorded(options) if options.source.is_dir() else _measured(options)
    if options.json:
        print(json.dumps({**parts, "fingerprint": combined(parts)}, indent=2))
    else:
        for name, part in parts.items():
            print(f"{name:12} {part}")
        print(f"{'fingerprint':12} {combined(parts)}")
    return 0 if options.expect is None else _compare(parts, options.expect)


def _recorded(options: argparse.Namespace) -> dict[str, str]:
    if given_settings(options):
        raise UsageError(f"{options.source} has run already: --set and --seed change nothing")
    try:
        return manifest.read(options.source).fingerprint
    except ValueError as error:
        raise UsageError(str(error)) from None


def _measured(options: argparse.Namespace) -> dict[str, str]:
    settings = {**given_settings(options), "network.capture": "none"}
    plan = prepare(load(options.source, settings).single())
    with tempfile.TemporaryDirectory(prefix="pysim-") as directory:
        quiet = options.quiet or options.json
        result = run_with_progress(plan, Path(directory) / "run", "run", False, quiet)
    return result.fingerprint


def _compare(parts: dict[str, str], expected: str) -> int:
    try:
        different = list(differences(parts, expected))
    except ValueError as error:
        raise UsageError(str(error)) from None
    for name, want, found in different:
        print(f"pysim: {name} differ: expected {want}, found {found}", file=sys.stderr)
    return 1 if different else 0
