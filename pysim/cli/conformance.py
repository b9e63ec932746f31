"""`pysim conformance`: does a protocol keep its promises? Exit 0 only then."""

import argparse
import shlex
from pathlib import Path

import msgspec

from pysim import brokers
from pysim.brokers.loading import load_entry_points, load_file
from pysim.cli import UsageError
from pysim.cli.settings import pairs
from pysim.conformance import CASES, Report, examine, told
from pysim.experiments import registries
from pysim.experiments.schema import FieldError, convert


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    if options.case is not None and len(options.only) != 1:
        raise UsageError("--case needs the check that it is of: --only CHECK")
    reports = [_examined(name, options) for name in _names(options.protocol)]
    if options.json:
        print(msgspec.json.format(msgspec.json.encode([_plain(r) for r in reports])).decode())
    else:
        replay, most = _command(options), 8 if options.case is None else 200
        print("\n\n".join("\n".join(told(report, replay, most)) for report in reports))
    return 0 if all(report.holds for report in reports) else 1


def _names(protocol: str) -> tuple[str, ...]:
    """The protocols of a file, or the one that is named."""
    if protocol.endswith(".py") or Path(protocol).is_file():
        return load_file(Path(protocol)).protocols
    load_entry_points()
    brokers.options(protocol)  # refuses a name that is not known
    return (protocol,)


def _examined(name: str, options: argparse.Namespace) -> Report:
    given = pairs(options.set)
    try:
        settings = convert(given, registries.protocols()[name])
    except FieldError as problem:
        raise UsageError(f"{name}: {problem.sentence(given)}") from None
    try:
        return examine(
            name,
            {key: getattr(settings, key) for key in given},
            only=options.only,
            seed=options.seed,
            cases=options.cases or CASES,
            case=options.case,
            ns3=options.ns3,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


def _command(options: argparse.Namespace) -> str:
    """The same command, for who looks again."""
    words = ["pysim", "conformance", options.protocol, "--seed", str(options.seed)]
    for setting in options.set:
        words += ["--set", setting]
    return shlex.join(words)


def _plain(report: Report) -> dict[str, object]:
    return {
        "protocol": report.protocol,
        "holds": report.holds,
        "held": report.held,
        "skipped": report.skipped,
        "findings": [
            {
                "check": finding.check,
                "kind": finding.kind,
                "sentence": finding.sentence,
                "number": finding.number,
                "case": str(finding.case).splitlines() if finding.case else [],
            }
            for finding in report.findings
        ],
    }
