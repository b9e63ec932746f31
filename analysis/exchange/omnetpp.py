"""Runs as OMNeT++ result files, `.sca` and `.vec` in the text format of version 3.

opp_scavetool, the IDE's analysis tool and `omnetpp.scave` read them. The module ``NAME``, called as
the experiment, has what is true of the run as a whole, ``NAME.broker[3]`` what is of a broker, and
``NAME.broker[3].to[5]`` what it sent to another. Vectors have the columns TV: there are no event
numbers.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.api import Experiment, Run
from analysis.finished import NANOSECONDS

VERSION = 3
_BINS = 20

Line = tuple[object, ...]


def write_omnetpp(experiment: Experiment, out: Path) -> None:
    """Two files for each run, by its name."""
    for number, run in enumerate(experiment.runs):
        varied = _varied(experiment, number)
        head = list(_head(run, number, varied))
        for suffix, lines in ((".sca", _scalars(run)), (".vec", _vectors(run))):
            with (out / f"{run.directory.name}{suffix}").open("w", encoding="utf-8") as file:
                file.writelines(f"{_text(line)}\n" for line in (*head, *lines))


def _head(run: Run, number: int, varied: Mapping[str, Any]) -> Iterator[Line]:
    manifest = run.manifest
    measurement = ", ".join(f"${key}={value}" for key, value in varied.items())
    yield "version", VERSION
    digest = manifest["fingerprint"]["contents"][:8]
    yield "run", f"{manifest['experiment']}-{number}-{manifest['run']}-{digest}"
    attributes = {
        "configname": manifest["experiment"],
        "experiment": manifest["experiment"],
        "iterationvars": measurement,
        "measurement": measurement,
        "network": _network(run),
        "repetition": manifest["seed"],
        "replication": f"#{manifest['seed']}",
        "runnumber": number,
        "seedset": manifest["seed"],
        "fingerprint": "-".join(manifest["fingerprint"].values()),
        "simulator": f"pysim {manifest['versions']['pysim']} ({manifest['network']['backend']})",
    }
    yield from (("attr", name, value) for name, value in attributes.items())
    yield from (("itervar", name, value) for name, value in varied.items())
    yield from (("config", key, value) for key, value in _leaves(manifest["config"]))


def _scalars(run: Run) -> Iterator[Line]:
    network = _network(run)
    for name, value in run.manifest["deliveries"].items():
        yield "scalar", network, f"deliveries:{name}", value
    for kind, totals in run.manifest["messages"].items():
        for name, value in totals.items():
            yield "scalar", network, f"{kind}:{name}", value
            if name.endswith("bytes"):
                yield "attr", "unit", "B"
    yield from _metric_scalars(run, "fairness", network)
    for row in run.table("agents").itertuples():
        broker = f"{network}.broker[{row.broker}]"
        yield "scalar", broker, f"{row.type}:{row.side}", row.messages
        yield "scalar", broker, f"{row.type}:{row.side}_bytes", row.bytes
        yield "attr", "unit", "B"
    for row in run.table("counters").itertuples():
        link = f"{network}.broker[{row.source}].to[{row.target}]"
        yield "scalar", link, f"{row.type}:{row.channel}:sent", row.sent
        yield "scalar", link, f"{row.type}:{row.channel}:received", row.received
    for row in run.table("queues").itertuples():
        broker = f"{network}.broker[{row.broker}]"
        yield "scalar", broker, "queue:longest", row.longest
        yield "scalar", broker, "queue:busy", row.busy / NANOSECONDS
        yield "attr", "unit", "s"
    yield from _statistic(network, "latency", _latencies(run))


def _metric_scalars(run: Run, name: str, module: str) -> Iterator[Line]:
    try:
        (row,) = run.metric(name).to_dict("records")
    except (LookupError, ValueError):  # there is none, or none of one row
        return
    yield from (("scalar", module, f"{name}:{column}", value) for column, value in row.items())


def _statistic(module: str, name: str, values: "pd.Series[float]") -> Iterator[Line]:
    """A statistic with a histogram; without values it has a count only."""
    yield "statistic", module, f"{name}:histogram"
    yield "field", "count", len(values)
    if len(values):
        fields = {
            "mean": values.mean(),
            "stddev": values.std() if len(values) > 1 else 0.0,
            "sum": values.sum(),
            "sqrsum": (values * values).sum(),
            "min": values.min(),
            "max": values.max(),
        }
        yield from (("field", field, float(value)) for field, value in fields.items())
    yield "attr", "unit", "s"
    if len(values):
        yield from _bins(values)


def _bins(values: "pd.Series[float]") -> Iterator[Line]:
    """Equal cells from the least to the largest value, between the two that hold nothing."""
    low, high = float(values.min()), float(values.max())
    width = (high - low) / _BINS or 1e-9
    edges = [low + cell * width for cell in range(_BINS + 1)]
    cells = [min(int((value - low) / width), _BINS - 1) for value in values]
    yield "bin", "-inf", 0
    for cell, edge in enumerate(edges[:-1]):
        yield "bin", edge, cells.count(cell)
    yield "bin", math.nextafter(edges[-1], math.inf), 0


def _vectors(run: Run) -> Iterator[Line]:
    """Declarations first, each followed by its attributes, then the data, vector after vector."""
    series = list(_series(run))
    for number, (module, name, unit, _) in enumerate(series):
        yield "vector", number, module, name, "TV"
        if unit:
            yield "attr", "unit", unit
        yield "attr", "interpolationmode", "none"
    for number, (_, _, _, points) in enumerate(series):
        for time, value in points:
            yield number, time, value


def _series(run: Run) -> Iterator[tuple[str, str, str, list[tuple[float, float]]]]:
    """Every vector: its module, name, unit, and its points in ascending order of time."""
    network = _network(run)
    deliveries = run.table("deliveries")
    made = deliveries[deliveries.kind.isin(("made", "early"))]
    for broker, rows in made.groupby("broker"):
        points = _points(rows.delivered, (rows.delivered - rows.published) / NANOSECONDS)
        yield f"{network}.broker[{broker}]", "latency:vector", "s", points
    records = run.table("records")
    for (broker, name), rows in records.groupby(["broker", "name"]):
        points = _points(rows.time, rows.value)
        yield f"{network}.broker[{broker}]", f"{name}:vector", "", points
    try:
        traffic = run.metric("traffic_over_time")
    except LookupError:
        return
    for kind, rows in traffic.groupby("type"):
        yield network, f"{kind}:messages:vector", "", _points(rows["bin"], rows.messages)
        yield network, f"{kind}:bytes:vector", "B", _points(rows["bin"], rows["bytes"])


def _points(times: "pd.Series[int]", values: Iterable[float]) -> list[tuple[float, float]]:
    return sorted(zip((times / NANOSECONDS).tolist(), values, strict=True), key=lambda p: p[0])


def _latencies(run: Run) -> "pd.Series[float]":
    deliveries = run.table("deliveries")
    made = deliveries[deliveries.kind == "made"]
    seconds: pd.Series[float] = (made.delivered - made.published) / NANOSECONDS
    return seconds


def _varied(experiment: Experiment, number: int) -> dict[str, Any]:
    row = experiment.settings.iloc[number].to_dict()
    return {key: value for key, value in row.items() if key not in ("run", "seed")}


def _network(run: Run) -> str:
    return str(run.manifest["experiment"])


def _leaves(item: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The configuration's values by dotted key; lists as they are written in JSON."""
    if isinstance(item, Mapping):
        for name, value in item.items():
            yield from _leaves(value, f"{key}.{name}".lstrip("."))
    else:
        yield key, json.dumps(item) if isinstance(item, list) else item


def _text(line: Line) -> str:
    """Tokens with blanks between them; data lines are separated by tabs, as OMNeT++ writes them."""
    return ("\t" if isinstance(line[0], int) else " ").join(map(_token, line))


def _token(value: object) -> str:
    """A token, in quotes if it would not be one without them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else str(value)
    text = str(value)
    if text and not set(text) & set(' \t\n"\\#') and text.isprintable():
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("\t", "\\t") + '"'
