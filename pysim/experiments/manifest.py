"""What a run says about itself: enough to know what was run, on what, and what came of it.

Everything but `timings` is the same whenever and wherever the run is repeated.
"""

import hashlib
import platform
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import msgspec

from pysim import __version__
from pysim.experiments.config import plain
from pysim.experiments.directory import MANIFEST
from pysim.experiments.plan import Plan
from pysim.network.observer import Statement
from pysim.network.simulation import Simulation
from pysim.network.transport import Counter
from pysim.wire import type_name


class MessageTotals(msgspec.Struct):
    """What became of all messages of one type, over all links; hops, not messages made."""

    sent: int = 0
    sent_bytes: int = 0
    received: int = 0
    received_bytes: int = 0
    lost_link: int = 0
    lost_packet: int = 0
    unfinished: int = 0
    unserved: int = 0


class CaptureFile(msgspec.Struct, frozen=True):
    """One capture."""

    bytes: int
    sha256: str


class Captures(msgspec.Struct, frozen=True):
    """What was captured, and how."""

    policy: Any
    bytes: int
    files: dict[str, CaptureFile]


class Timings(msgspec.Struct, frozen=True):
    """Seconds of wall time, and simulated seconds in each of those that the simulation took.

    `began` is the Unix time at which simulated time began to pass.
    """

    began: float
    set_up: float
    simulation: float
    writing: float
    speed: float


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of `manifest.json`.

    `types` are the codes of the message types by name, `facts` what the workload says of itself.
    """

    experiment: str
    run: str
    status: Literal["complete"] = "complete"
    seed: int
    duration: float
    brokers: int
    network: dict[str, Any]
    versions: dict[str, str]
    fingerprint: dict[str, str]
    deliveries: Statement
    operations: dict[str, int]
    messages: dict[str, MessageTotals]
    types: dict[str, int] = {}
    malformed: int
    captures: Captures
    inputs: dict[str, str]
    facts: dict[str, float] = {}
    config: dict[str, Any]
    timings: Timings


def write(manifest: Manifest, directory: Path) -> None:
    """Put a manifest into its run's directory."""
    (directory / MANIFEST).write_bytes(text(manifest).encode() + b"\n")


def text(manifest: Manifest) -> str:
    """A manifest as it is written: JSON, indented."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode()


def read(directory: Path) -> Manifest:
    """The manifest of a run; ValueError if there is none that can be read."""
    try:
        return msgspec.json.decode((directory / MANIFEST).read_bytes(), type=Manifest)
    except OSError as error:
        raise ValueError(f"{directory} is not a run: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise ValueError(f"{directory / MANIFEST} cannot be read: {error}") from None


def outcome(plan: Plan, simulation: Simulation) -> dict[str, Any]:
    """The part of a manifest that a simulation knows which has run and is not closed yet."""
    network = plan.config.experiment.network
    backend = simulation.transport.name
    counters = simulation.transport.counters()
    return {
        "network": {"backend": backend, "mode": network.mode}
        | ({"tcp": network.tcp} if backend == "ns3" else {}),
        "fingerprint": simulation.fingerprint(),
        "deliveries": simulation.observer.statement(),
        "operations": asdict(simulation.operations),
        "messages": message_totals(counters),
        "types": {type_name(code): code for code in sorted({row.type for row in counters})},
        "malformed": sum(len(host.malformed) for host in simulation.hosts.values()),
    }


def manifest(
    plan: Plan, run: str, outcome: dict[str, Any], captures: Captures, timings: Timings
) -> Manifest:
    """The whole manifest."""
    experiment = plan.config.experiment
    return Manifest(
        experiment=str(experiment.name),
        run=run,
        seed=experiment.seed,
        duration=float(experiment.duration),
        brokers=plan.setting.brokers,
        versions=versions(),
        captures=captures,
        inputs=plan.ground.inputs,
        facts=dict(plan.workload.facts(plan.setting)),
        config=plain(experiment),
        timings=timings,
        **outcome,
    )


def message_totals(counters: Iterable[Counter]) -> dict[str, MessageTotals]:
    """The application's counters, summed up by type of message, in the order of the types."""
    totals: dict[int, MessageTotals] = {}
    for row in counters:
        total = totals.setdefault(row.type, MessageTotals())
        for field in MessageTotals.__struct_fields__:
            setattr(total, field, getattr(total, field) + getattr(row, field))
    return {type_name(code): totals[code] for code in sorted(totals)}


def captures_in(directory: Path, policy: Any) -> Captures:
    """All captures in a directory, by name."""
    files = {
        path.name: CaptureFile(path.stat().st_size, _sha256(path))
        for path in sorted(directory.glob("*.pcap"))
    }
    return Captures(policy, sum(file.bytes for file in files.values()), files)


def versions() -> dict[str, str]:
    """What a result may depend on."""
    return {
        "pysim": __version__,
        "python": platform.python_version(),
        **{package: _installed(package) for package in ("ns3", "msgspec", "networkx")},
    }


@cache
def _installed(package: str) -> str:
    """A package's version; a campaign asks for it once for each of its thousands of runs."""
    return version(package)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
