"""Latency matrices from files; it knows neither topologies nor models.

| format | a file holds | default unit | default meaning |
|---|---|---|---|
| square | n rows of n numbers, separated by commas or blanks | 1 us | round trip |
| triples | lines `i j time` | 1 ms | round trip |
| wondernetwork | CSV with columns `i`, `j`, `rtt_avg_ms` | 1 ms | round trip |
| vivaldi | lines `id x y h height`; a pair is distance + both heights apart | 1 ms | one way |

The defaults are those of the PlanetLab matrix of Zhu et al. in microseconds, of PeerWise, of
WonderNetwork's pings, and of the King coordinates that SimGrid ships (its Meridian coordinates are
round trips: pass rtt=True). A square or triples file marks what was not measured by a negative
number, or leaves it out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from topologies.errors import TopologyError, check_range, suggest
from topologies.importers._source import Source, read_source
from topologies.latency import Array, LatencyMatrix, coordinate_delays

__all__ = ["MATRIX_FORMATS", "MatrixFormat", "load_matrix"]

Labels = tuple[str, ...]

_WORDS = re.compile(r"[,\s]+")


@dataclass(frozen=True)
class MatrixFormat:
    """How to know a format (`opening` of the text) and how to read it; what its numbers mean."""

    read: Callable[[Source], tuple[Array, Labels | None]]
    opening: str
    unit: float
    rtt: bool


def load_matrix(
    path: str | Path,
    *,
    format: str | None = None,
    unit: float | None = None,
    rtt: bool | None = None,
    missing: Literal["refuse", "relay"] = "refuse",
    labels: str | Path | None = None,
) -> LatencyMatrix:
    """The latencies in a file; without `format`, its first lines decide.

    `unit` is how many seconds a number stands for, `rtt` whether it is a round trip, which is then
    halved; the defaults are the format's. A pair measured in one direction only takes that time
    both ways. If a pair was not measured at all the file is refused, or, with missing = "relay",
    the pair takes the time of the best way over one other host. `labels` is a CSV file whose first
    two columns are a host's index and its name.
    """
    source = read_source(path)
    name = format or _detect(source)
    if name not in MATRIX_FORMATS:
        raise TopologyError(f"there is no matrix format '{name}': {suggest(name, MATRIX_FORMATS)}")
    chosen = MATRIX_FORMATS[name]
    if unit is not None:
        check_range("unit", unit, 0)
    numbers, names = chosen.read(source)
    complete = _complete(source, numbers, missing)
    way = 0.5 if (chosen.rtt if rtt is None else rtt) else 1.0
    delays = complete * (way * (chosen.unit if unit is None else unit))
    if labels is not None:
        names = _read_labels(read_source(labels), len(delays))
    try:
        return LatencyMatrix(delays, names, name=source.stem)
    except TopologyError as error:
        raise source.error(None, str(error)) from None


def _detect(source: Source) -> str:
    first = next((text for _, text in source.lines()), "")
    for name, candidate in MATRIX_FORMATS.items():
        if re.match(candidate.opening, first):
            return name
    raise source.error(
        None, f"its text does not tell its format: give one of {', '.join(MATRIX_FORMATS)}"
    )


def _read_square(source: Source) -> tuple[Array, Labels | None]:
    rows: list[Array] = []
    for line, text in source.lines():
        cells = [cell.strip() or "nan" for cell in text.split(",")] if "," in text else text.split()
        try:
            row = np.array(cells, dtype=np.float64)
        except ValueError:
            row = np.array([source.number(line, cell, "time") for cell in cells])
        if rows and len(row) != len(rows[0]):
            raise source.error(line, f"{len(row)} numbers, but {len(rows[0])} in the first row")
        rows.append(row)
        if len(rows) > len(row):
            raise source.error(line, f"row {len(rows)} of a matrix with {len(row)} columns")
    if not rows or len(rows) != len(rows[0]):
        columns = len(rows[0]) if rows else 0
        raise source.error(None, f"{len(rows)} rows of {columns} numbers are no square")
    return np.array(rows), None


def _read_triples(source: Source) -> tuple[Array, Labels | None]:
    times: dict[tuple[int, int], float] = {}
    for line, text in source.lines():
        words = _WORDS.split(text)
        if len(words) != 3 or not (words[0].isdecimal() and words[1].isdecimal()):
            raise source.error(line, f"expected 'i j time', got '{text[:60]}'")
        pair = int(words[0]), int(words[1])
        time = source.number(line, words[2], "time")
        # A host that was measured twice is as near as the quicker measurement says.
        if time >= 0 and pair[0] != pair[1]:
            times[pair] = min(time, times.get(pair, time))
    return _from_pairs(source, times)


def _read_wondernetwork(source: Source) -> tuple[Array, Labels | None]:
    rows = csv.DictReader(source.text.splitlines())
    times: dict[tuple[int, int], float] = {}
    for row in rows:
        try:
            pair = int(row["i"]), int(row["j"])
            time = row["rtt_avg_ms"]
        except (KeyError, TypeError, ValueError):
            raise source.error(rows.line_num, "expected columns i, j and rtt_avg_ms") from None
        times[pair] = source.amount(rows.line_num, time, "rtt_avg_ms")
    return _from_pairs(source, times)


def _read_vivaldi(source: Source) -> tuple[Array, Labels | None]:
    hosts: dict[int, list[float]] = {}
    for line, text in source.lines():
        name, x, y, mark, height = source.fields(line, text, 5, "id x y h height")
        if not name.isdecimal() or mark != "h":
            raise source.error(line, f"expected 'id x y h height', got '{text[:60]}'")
        if int(name) in hosts:
            raise source.error(line, f"host {name} is given twice")
        hosts[int(name)] = [
            source.number(line, x, "x"),
            source.number(line, y, "y"),
            source.amount(line, height, "height"),
        ]
    for host in range(len(hosts)):
        if host not in hosts:
            raise source.error(None, f"host {host} is missing")
    coordinates = np.array([hosts[host] for host in range(len(hosts))]).reshape(-1, 3)
    return coordinate_delays(*coordinates.T), None


def _from_pairs(source: Source, times: dict[tuple[int, int], float]) -> tuple[Array, Labels | None]:
    """A matrix over the hosts that occur; their ids become labels unless they are the indices."""
    ids = sorted({host for pair in times for host in pair})
    if not ids:
        raise source.error(None, "there are no measurements in it")
    index = {host: i for i, host in enumerate(ids)}
    numbers = np.full((len(ids), len(ids)), np.nan)
    for (a, b), time in times.items():
        numbers[index[a], index[b]] = time
    np.fill_diagonal(numbers, 0.0)
    return numbers, None if ids[-1] == len(ids) - 1 else tuple(map(str, ids))


def _complete(source: Source, numbers: Array, missing: str) -> Array:
    """Fill what was not measured from the other direction, then as `missing` says."""
    known = np.where(numbers < 0, np.nan, numbers)
    known = np.where(np.isnan(known), known.T, known)
    holes = [(int(i), int(j)) for i, j in np.argwhere(np.isnan(known))]
    if holes and missing != "relay":
        i, j = holes[0]
        raise source.error(
            None,
            f"{len(holes) // 2} pairs of hosts were not measured in either direction, the first "
            f"{i} and {j}: missing = 'relay' would lead them over a third host",
        )
    reachable = np.where(np.isnan(known), np.inf, known)
    for i, j in holes:
        known[i, j] = (reachable[i] + reachable[:, j]).min()
        if np.isinf(known[i, j]):
            raise source.error(None, f"no host was measured from both host {i} and host {j}")
    return known


def _read_labels(source: Source, count: int) -> Labels:
    names: dict[str, str] = {}
    for row in csv.reader(source.text.splitlines()):
        if len(row) >= 2:
            names[row[0].strip()] = row[1].strip()
    for host in range(count):
        if str(host) not in names:
            raise source.error(None, f"there is no label for host {host}")
    return tuple(names[str(host)] for host in range(count))


MATRIX_FORMATS: dict[str, MatrixFormat] = {
    "wondernetwork": MatrixFormat(_read_wondernetwork, r"i,j,", 1e-3, True),
    "vivaldi": MatrixFormat(_read_vivaldi, r"\d+\s+\S+\s+\S+\s+h\s", 1e-3, False),
    "triples": MatrixFormat(_read_triples, r"\d+\s+\d+\s+[-.\deE+]+$", 1e-3, True),
    "square": MatrixFormat(_read_square, r"[-.\deE+]*\s*,", 1e-6, True),
}
"""Every format by name, in the order in which they are tried."""
