"""A finished run as its files tell it: manifest, tables, captures; it starts no Spark session."""

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.addresses import broker_of
from analysis.tables import read

NANOSECONDS = 1_000_000_000
MANIFEST = "manifest.json"

_EXPECTED = ("experiment", "run", "duration", "brokers", "network", "fingerprint", "captures")


class FinishedRun:
    """The directory of a run that went to its end.

    FileNotFoundError if it has no manifest, ValueError if that is not one of a complete run.
    """

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self.manifest = _manifest(self.directory)

    @property
    def name(self) -> str:
        """Experiment and run, ``demo/seed1``."""
        return f"{self.manifest['experiment']}/{self.manifest['run']}"

    @property
    def brokers(self) -> int:
        """How many there are; their ids count from 0."""
        return int(self.manifest["brokers"])

    @property
    def duration(self) -> int:
        """Simulated nanoseconds."""
        return round(float(self.manifest["duration"]) * NANOSECONDS)

    @property
    def capture_policy(self) -> str | list[Any]:
        """``both``, ``one`` or ``none`` of the ends of links, or a list of captured links."""
        policy: str | list[Any] = self.manifest["captures"]["policy"]
        return policy

    @property
    def type_names(self) -> dict[int, str]:
        """What the run called the message types that it used, by their codes."""
        return {code: name for name, code in self.manifest.get("types", {}).items()}

    @property
    def has_underlay(self) -> bool:
        """Whether overlay links are connections across an IP network of routers or latencies."""
        return bool(self.manifest["network"]["mode"] == "underlay")

    @property
    def has_routers(self) -> bool:
        """Whether that network has routers; else a host's line leads to everyone."""
        return self.has_underlay and bool(self.table("wires").b.notna().any())

    def table_path(self, name: str) -> Path:
        """Where a table is; FileNotFoundError if it is missing."""
        path = self.directory / "tables" / f"{name}.parquet"
        if not path.is_file():
            raise FileNotFoundError(
                f"{self.directory} lacks tables/{name}.parquet: the run is of another version or "
                "damaged; run it again"
            )
        return path

    def table(self, name: str) -> pd.DataFrame:
        """One of the run's tables."""
        return read(self.table_path(name))

    def captures(self) -> list[Path]:
        """The captures that the run wrote, whether they are still there or not."""
        return [self.directory / "captures" / name for name in self.manifest["captures"]["files"]]

    def strangers(self) -> list[Path]:
        """Captures in the run's directory that the run did not write."""
        own = {path.name for path in self.captures()}
        there = (self.directory / "captures").glob("*.pcap")
        return sorted(path for path in there if path.name not in own)

    @cached_property
    def capture_digests(self) -> dict[str, str]:
        """The SHA-256 of each capture of the run that is there, by name, as it is now."""
        return {path.name: sha256(path) for path in self.captures() if path.is_file()}

    def changed_captures(self) -> Iterator[str]:
        """A sentence for each capture that is not as the run left it."""
        for path in self.captures():
            shown = f"captures/{path.name}"
            written = self.manifest["captures"]["files"][path.name]
            if path.name not in self.capture_digests:
                yield f"{shown} is missing"
            elif path.stat().st_size != written["bytes"]:
                size = path.stat().st_size
                yield f"{shown} has {size:,} bytes, the run wrote {written['bytes']:,}"
            elif self.capture_digests[path.name] != written["sha256"]:
                yield f"{shown} has other bytes than the run wrote (its SHA-256 differs)"

    def broker_of(self, address: str, capture: str = "") -> int | None:
        """The broker behind an address; a link's addresses mean something only in its captures."""
        broker = broker_of(address, capture)
        return broker if broker is not None and broker < self.brokers else None


def run_directories(directory: Path) -> list[Path]:
    """The directory of a run, or those of all runs of an experiment, by name.

    What has tables or captures but no manifest is among them: opening it says what is wrong.
    FileNotFoundError if there is nothing of the kind.
    """
    if (directory / MANIFEST).is_file():
        return [directory]
    inner = sorted(directory.iterdir()) if directory.is_dir() else []
    runs = [path for path in inner if _looks_like_a_run(path)]
    if not runs or _looks_like_a_run(directory):
        raise FileNotFoundError(f"{directory} is no finished run: it has no {MANIFEST}")
    return runs


def _looks_like_a_run(path: Path) -> bool:
    parts = (MANIFEST, "tables", "captures")
    return not path.name.startswith(".") and any((path / part).exists() for part in parts)


def sha256(path: Path) -> str:
    """The digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _manifest(directory: Path) -> dict[str, Any]:
    path = directory / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"{directory} is no finished run: it has no {MANIFEST}")
    try:
        manifest = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    lacking = [key for key in _EXPECTED if not isinstance(manifest, dict) or key not in manifest]
    if lacking:
        raise ValueError(f"{path} is no manifest of a run: it lacks {lacking[0]}")
    if manifest.get("status") != "complete":
        raise ValueError(f"{directory} is no finished run: its status is {manifest.get('status')}")
    complete: dict[str, Any] = manifest
    return complete
