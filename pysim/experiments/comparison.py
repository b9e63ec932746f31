"""From a few words to an experiment: the same workload and overlay under several protocols.

What it makes is an ordinary experiment with a sweep over protocols, which could stand in a file. It
starts no run, and reads and writes no file.
"""

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pysim.brokers import protocols
from pysim.experiments import config as tables
from pysim.experiments import registries
from pysim.experiments.config import Config, ConfigError, Experiment, expand
from pysim.experiments.plan import prepare
from pysim.experiments.schema import FieldError
from pysim.naming import nearest
from pysim.units import Duration

MEASURE = "costs"
"""What a run must measure to be compared: weights of messages, and what brokers hold."""

FILE = "compare.toml"
"""What a comparison of the command line would be called if it were a file; it becomes one."""

_BROKERS = 50
_STOP = 20.0  # seconds: until then clients act, unless told otherwise
_LEAST_REST = 2.0  # seconds in which what was sent last may still arrive
_STOPS = ("publish_stop", "stop")  # what workloads call the end of publishing
_LONGEST = 60  # characters of a name
_SECTIONS = ("workload", "topology", "network")


class Words(NamedTuple):
    """What was asked for: tables for each system, the workload and the overlay, and other keys.

    `over` are the values of each key to compare at. Keys may be short ("skew").
    """

    systems: Sequence[Mapping[str, Any]]
    workload: Mapping[str, Any]
    topology: Mapping[str, Any]
    settings: Mapping[str, Any]
    over: Mapping[str, Sequence[Any]]
    seeds: int


def experiment(words: Words) -> Config:
    """The experiment that was asked for; ConfigError says what cannot be."""
    raw: dict[str, Any] = {
        "name": _name(words.systems),
        "repeat": words.seeds,
        "measure": [MEASURE],
        "network": {"capture": "one"},
        "topology": dict(words.topology),
        "protocol": dict(words.systems[0]),
        "workload": dict(words.workload),
    }
    over = {full_key(key, raw): list(values) for key, values in words.over.items()}
    settings = {full_key(key, raw): value for key, value in words.settings.items()}
    for key, value in {**settings, **{key: values[0] for key, values in over.items()}}.items():
        tables.put(FILE, raw, key, value)
    raw["sweep"] = {"protocol": [dict(system) for system in words.systems], **over}
    _supply(raw, words.systems)
    return tables.read(FILE, Path(), _in_order(raw))


def with_costs(config: Config) -> Config:
    """A file's experiment, with what a comparison must measure."""
    measured = config.experiment.measure
    if MEASURE in measured:
        return config
    return config.set({"measure": [*measured, MEASURE]})


def check(config: Config) -> None:
    """Refuse what is no comparison, and every system that cannot run here, all in one sentence."""
    points = expand(config)
    if len({json.dumps(tables.plain(point.config.experiment.protocol)) for point in points}) < 2:
        raise ConfigError(f"{config.file}: there is nothing to compare: name at least two systems")
    problems: dict[str, None] = {}
    seen: set[str] = set()
    for point in points:
        protocol = point.config.experiment.protocol
        if protocol.name in seen:
            continue
        seen.add(protocol.name)
        try:
            prepare(point.config)
        except ConfigError as error:
            problems[str(error).removeprefix(f"{config.file}: ")] = None
    if problems:
        raise ConfigError(f"{config.file}: {'; '.join(problems)}")


def directory_name(config: Config) -> str:
    """What tells comparisons apart that are not the same with more seeds or more values."""
    raw = copy.deepcopy(dict(config.raw))
    for key in ("repeat", "name", "description"):
        raw.pop(key, None)
    keys = sorted(set(raw.pop("sweep", {})) - {"protocol"})
    for key in keys:
        _drop(raw, key)
    essence = {"systems": config.experiment.sweep.get("protocol"), "over": keys, **raw}
    digest = hashlib.sha256(json.dumps(essence, sort_keys=True, default=str).encode()).hexdigest()
    return f"{config.experiment.name}-{digest[:8]}"


def full_key(key: str, raw: Mapping[str, Any]) -> str:
    """A key as files have it: "skew" is that of the workload, "brokers" that of the overlay."""
    if "." in key or key in Experiment.__struct_fields__:
        return key
    known = {section: list(_keys_of(section, raw)) for section in _SECTIONS}
    for section, names in known.items():
        if key in names:
            return f"{section}.{key}"
    every = [name for names in known.values() for name in names]
    workload, topology = (raw[section].get("kind", "file") for section in _SECTIONS[:2])
    raise ConfigError(
        f'{FILE}: "{key}" is no key of the workload {workload}, of the topology {topology} or of'
        f" the network; {nearest(key, every)}"
    )


def _keys_of(section: str, raw: Mapping[str, Any]) -> Iterator[str]:
    if section == "network":
        yield from tables.Network.__struct_fields__
        return
    choice = tables.WorkloadTable if section == "workload" else tables.Topology
    kind = raw[section].get("kind", "file")
    if kind not in choice.types():
        unknown = f"is not a known {choice.WHAT}; {nearest(kind, choice.types())}"
        problem = FieldError(f"{section}.{choice.KEY}", unknown)
        raise ConfigError(f"{FILE}: {problem.sentence(raw)}")
    yield from choice.types()[kind].__struct_fields__


def _supply(raw: dict[str, Any], systems: Sequence[Mapping[str, Any]]) -> None:
    """What nobody said: how many brokers, and how long clients act and the run goes on."""
    topology: dict[str, Any] = raw["topology"]
    known = registries.topologies().get(topology.get("kind", ""), None)
    if known is not None and "brokers" in _required(known):
        topology.setdefault("brokers", _BROKERS)
    stop = next((key for key in _keys_of("workload", raw) if key in _STOPS), None)
    if stop is not None and "duration" not in raw:
        raw["workload"].setdefault(stop, str(Duration(_STOP)))
    if "duration" not in raw:
        raw["duration"] = str(Duration(_STOP + _rest(systems)))


def _rest(systems: Sequence[Mapping[str, Any]]) -> float:
    """How long the slowest system needs, after the last event, to come to its end."""
    known = protocols()
    named = [known[system["name"]] for system in systems if system.get("name") in known]
    return max([_LEAST_REST, *(broker.promises.settles for broker in named)])


def _required(kind: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind) if field.required}


def _name(systems: Sequence[Mapping[str, Any]]) -> str:
    names = (str(system.get("name", "protocol")) for system in systems)
    whole = "-vs-".join(dict.fromkeys(re.sub(r"[^A-Za-z0-9.+-]+", "", name) for name in names))
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}-and-others"


def _drop(raw: dict[str, Any], key: str) -> None:
    section, _, inner = key.partition(".")
    if isinstance(raw.get(section), dict) and inner:
        raw[section].pop(inner, None)


def _in_order(raw: Mapping[str, Any]) -> dict[str, Any]:
    """As people order the keys of a file."""
    fields = [name for name in Experiment.__struct_fields__ if name in raw]
    return {name: raw[name] for name in (*fields, *(key for key in raw if key not in fields))}
