"""Topologies from files, their format found by name or by text; it knows no generator.

| format | delay of a link | rate |
|---|---|---|
| graphml, gml | `delay`, in seconds; or from longitudes and latitudes | `rate`, `LinkSpeedRaw` |
| gtitm | length times `unit` (default 1 ms) | |
| brite | delay times `unit` (default 1 ms) | bandwidth in Mbit/s |
| rocketfuel-latencies | latency times `unit` (default 1 ms) | |
| rocketfuel-weights | none; attribute `weight` | |
| sndlib | from longitudes and latitudes | capacity, if in Mbit/s |
| abilene | from longitudes and latitudes | capacity in kbit/s |
| caida | none; attribute `relation` | |

From longitudes and latitudes: great-circle distance at 200,000 km/s. Any file may be gzipped, or a
member of a tar archive: `topology_zoo_gml.tar.gz:Abilene`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import networkx as nx

from topologies.errors import TopologyError, check_range, suggest
from topologies.importers._source import Source, read_source
from topologies.importers.abilene import read_abilene
from topologies.importers.attributed import read_gml, read_graphml
from topologies.importers.brite import read_brite
from topologies.importers.caida import read_caida
from topologies.importers.gtitm import read_gtitm
from topologies.importers.rocketfuel import read_latencies, read_weights
from topologies.importers.sndlib import read_sndlib

__all__ = ["FORMATS", "Format", "load"]


@dataclass(frozen=True)
class Format:
    """How to know a format (`ending` of the name, `opening` of the text) and how to read it.

    `unit` is how many seconds one of the file's lengths or delays stands for, which `read` takes as
    its second argument; None where a file has neither.
    """

    read: Callable[..., nx.Graph]
    ending: str
    opening: str
    unit: float | None = None


FORMATS: dict[str, Format] = {
    "graphml": Format(read_graphml, r"\.graphml", r"(<\?xml.*?)?<graphml\b"),
    "gml": Format(read_gml, r"\.gml", r"((Creator|Version)[^\n]*\s+)*graph\s*\["),
    "gtitm": Format(read_gtitm, r"\.alt", r"GRAPH \(#nodes", unit=1e-3),
    "brite": Format(read_brite, r"\.brite", r"Topology: \(", unit=1e-3),
    "rocketfuel-latencies": Format(read_latencies, r"latencies\.intra(\.txt)?", r"(?!)", unit=1e-3),
    "rocketfuel-weights": Format(read_weights, r"weights\.intra(\.txt)?", r"(?!)"),
    "sndlib": Format(read_sndlib, r"\.json", r'\{.*?"nodes"'),
    "abilene": Format(read_abilene, r"(?!)", r"router\s"),
    "caida": Format(read_caida, r"as-rel2?(\.txt)?", r"\d+\|\d+\|"),
}
"""Every format by name."""


def load(path: str | Path, *, format: str | None = None, unit: float | None = None) -> nx.Graph:
    """The topology in a file; without `format`, its name decides, then its first lines.

    The nodes are numbered in the order of the file, or by their ids if these are numbers. It may be
    disconnected: see `topologies.require_connected`.
    """
    source = read_source(path)
    name = format or _detect(source)
    if name not in FORMATS:
        raise TopologyError(f"there is no topology format '{name}': {suggest(name, FORMATS)}")
    chosen = FORMATS[name]
    if chosen.unit is None:
        if unit is not None:
            raise TopologyError(f"unit = {unit:g} means nothing for format '{name}'")
        return chosen.read(source)
    if unit is not None:
        check_range("unit", unit, 0)
    return chosen.read(source, chosen.unit if unit is None else unit)


def _detect(source: Source) -> str:
    name = source.name.lower().removesuffix(".gz")
    for candidate, format in FORMATS.items():
        if re.search(f"({format.ending})$", name):
            return candidate
    head = re.sub(r"\A(#[^\n]*\n|\s)*", "", source.text[:20_000])
    for candidate, format in FORMATS.items():
        if re.match(format.opening, head, re.DOTALL):
            return candidate
    raise source.error(
        None, f"neither name nor text tells its format: give one of {', '.join(sorted(FORMATS))}"
    )
