"""What is expected of a suite's runs, in a file to commit, and what differs from it.

The file is JSON with a figure a line, so that its diff reads like the tool's own table.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from pysim.experiments import manifest
from pysim.experiments.smoke.processes import Failure
from pysim.experiments.smoke.suite import SuiteError

FILE = "expected.json"

Status = Literal["same", "changed", "new", "gone", "failed"]

_MATTER = ("ns3", "msgspec", "networkx")  # versions of others that a result may depend on


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a run gave: its fingerprint and its cost."""

    fingerprint: dict[str, str]
    figures: dict[str, int]


class Expectations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Results by run, and the versions that they were made with."""

    versions: dict[str, str]
    runs: dict[str, Result]


class Change(NamedTuple):
    """A figure that is not as expected; what is absent is zero."""

    figure: str
    expected: int
    found: int


class Comparison(msgspec.Struct, frozen=True):
    """A run against what is expected of it.

    `parts` names what changed of the fingerprint, of all `kinds` that it has. `error` says why a
    run failed.
    """

    name: str
    status: Status
    kinds: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    figures: tuple[Change, ...] = ()
    error: str = ""


def versions() -> dict[str, str]:
    """What results of this moment depend on, beside pysim itself."""
    return {name: version for name, version in manifest.versions().items() if name in _MATTER}


def read(folder: Path) -> Expectations | None:
    """What is expected of a suite, None if nothing is yet; SuiteError if it cannot be read."""
    file = folder / FILE
    if not file.exists():
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=Expectations)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        remedy = "mend it, or remove it and say --update"
        raise SuiteError(f"{file} cannot be read: {error}; {remedy}") from None


def write(expectations: Expectations, folder: Path) -> None:
    """Store what is expected, all of it or nothing."""
    content = msgspec.json.format(msgspec.json.encode(expectations), indent=2)
    file = folder / FILE
    partial = file.with_name(f".{FILE}.partial")
    try:
        partial.write_bytes(content + b"\n")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def compare(name: str, expected: Result | None, found: Result | Failure) -> Comparison:
    """Hold a run that has ended against what is expected of it."""
    if isinstance(found, Failure):
        return Comparison(name, "failed", error=found.reason)
    kinds = tuple(found.fingerprint)
    if expected is None:
        return Comparison(name, "new", kinds)
    parts = tuple(
        kind for kind in kinds if found.fingerprint[kind] != expected.fingerprint.get(kind)
    )
    figures = tuple(
        Change(figure, expected.figures.get(figure, 0), found.figures.get(figure, 0))
        for figure in {**found.figures, **expected.figures}
        if found.figures.get(figure, 0) != expected.figures.get(figure, 0)
    )
    return Comparison(name, "changed" if parts or figures else "same", kinds, parts, figures)


def renewed(
    before: Expectations | None, found: Mapping[str, Result], gone: Collection[str]
) -> Expectations:
    """The expectations after an update, in the order of their names."""
    kept = {} if before is None else before.runs
    runs = {name: result for name, result in {**kept, **found}.items() if name not in gone}
    return Expectations(versions(), dict(sorted(runs.items())))
