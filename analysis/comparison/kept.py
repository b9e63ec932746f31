"""Numbers of runs that were read before: captures are read once, however often one compares.

What is kept counts only for the same run, the same files and the same code that reads them.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.comparison.numbers import Numbers
from analysis.finished import MANIFEST
from analysis.pipeline import code_version
from analysis.report.build import write_whole

FILE = "numbers.json"


def known(root: Path, directories: Sequence[Path]) -> dict[Path, Numbers]:
    """The numbers of those runs that have not changed since they were read."""
    kept = _kept(root)
    return {
        run: _numbers(kept[run.name])
        for run in directories
        if run.name in kept and kept[run.name]["key"] == _key(run)
    }


def keep(root: Path, found: Mapping[Path, Numbers]) -> None:
    """Keep these numbers for the next time; those with a problem are read again."""
    kept = {
        run.name: {"key": _key(run), "asked": each.asked, "values": _plain(each.values)}
        for run, each in found.items()
        if not each.problem
    }
    write_whole(root / FILE, json.dumps(kept, indent=1).encode())


def _kept(root: Path) -> dict[str, Any]:
    try:
        found = json.loads((root / FILE).read_bytes())
    except (OSError, ValueError):
        return {}  # there is none, or it is the half of one: it only spares work
    return found if isinstance(found, dict) else {}


def _key(run: Path) -> str:
    """A digest of what numbers depend on; files count by their sizes and times."""
    files = sorted((*run.glob("captures/*"), *run.glob("tables/*")))
    parts = [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files]
    own = Path(__file__).with_name("numbers.py").read_text("utf-8")
    manifest = (run / MANIFEST).read_text("utf-8")
    text = "\n".join([code_version(), own, manifest, *parts])
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {key: None if math.isnan(value) else value for key, value in values.items()}


def _numbers(kept: Mapping[str, Any]) -> Numbers:
    values = {key: math.nan if value is None else value for key, value in kept["values"].items()}
    return Numbers(values, kept["asked"])
