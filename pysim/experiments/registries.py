"""Which kinds of topology, protocol and workload there are, with the parameters of each.

One place asks the packages that own them; experiment files and `pysim list` ask this one. Packages
are imported when they are asked, so that start-up pays for nothing it does not use.
"""

from collections.abc import Mapping
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pysim.experiments.schema import FieldError, Parameter, described_within, struct_of

Types = Mapping[str, type[msgspec.Struct]]


class Kind(NamedTuple):
    """One entry of `pysim list`."""

    name: str
    summary: str
    parameters: list[Parameter]


@cache
def topologies() -> Types:
    """The parameters of every kind of topology."""
    from topologies import kinds

    return {name: struct_of(kind.generator, skip=int(kind.draws)) for name, kind in kinds().items()}


@cache
def underlays() -> Types:
    """The parameters of every kind of underlay: all topologies, and models of latency."""
    return {**topologies(), **{name: struct_of(model, skip=1) for name, model in _models().items()}}


def latency_models() -> list[Kind]:
    """The kinds of underlay that are latencies between hosts, without routers."""
    models = _models()
    return _kinds({name: underlays()[name] for name in models}, models)


def protocols() -> Types:
    """The options of every protocol that is registered by now."""
    from pysim.brokers import protocols

    found = protocols().items()
    return {name: _options(broker) for name, broker in found}  # type: ignore[arg-type]


def protocols_in(path: Path) -> tuple[str, ...]:
    """Make the protocols of a Python file known; their names."""
    from pysim.brokers import ProtocolError
    from pysim.brokers.loading import load_file

    try:
        return load_file(path).protocols
    except ProtocolError as error:
        raise FieldError("protocol.file", str(error), bare=True) from error


def look_for_protocol(name: object) -> None:
    """Let installed packages supply a protocol, if it is none of those that are known."""
    from pysim.brokers import protocols
    from pysim.brokers.loading import load_entry_points

    if isinstance(name, str) and name not in protocols():
        problem = load_entry_points().get(name)
        if problem is not None:
            raise FieldError("protocol.name", problem)


def workloads() -> Types:
    """The parameters of every kind of workload: the workload itself."""
    from pysim.workloads import kinds

    return kinds()


def catalogue() -> dict[str, list[Kind]]:
    """Everything that an experiment can be made of, by group."""
    from pysim import brokers
    from pysim.brokers.loading import load_entry_points
    from pysim.experiments.config import GROWN, Fault, Service
    from topologies import kinds as topology_kinds

    load_entry_points()
    generators = {name: kind.generator for name, kind in topology_kinds().items()}
    return {
        "protocols": _kinds(protocols(), brokers.protocols()),
        "topologies": [*_kinds(topologies(), generators), *_kinds(GROWN, GROWN)],
        "workloads": _kinds(workloads(), workloads()),
        "services": _kinds(Service.types(), Service.types()),
        "faults": _kinds(Fault.types(), Fault.types()),
        "figures": _figures(),
    }


def _models() -> Mapping[str, Any]:
    from topologies import models

    return {"king-like": models.king_like, "planetlab-like": models.planetlab_like}


def _figures() -> list[Kind]:
    """What `pysim reproduce` knows, by family and figure."""
    from analysis.reproduction import FAMILIES

    return [
        Kind(f"{family.name}/{figure.name}", figure.title, [])
        for family in FAMILIES.values()
        for figure in family.figures.values()
    ]


@cache
def _options(broker: type) -> type[msgspec.Struct]:
    return struct_of(broker, skip=1)


def _kinds(types: Types, documented: Mapping[str, Any]) -> list[Kind]:
    return [
        Kind(name, _summary(documented[name]), described_within(parameters))
        for name, parameters in types.items()
    ]


def _summary(documented: Any) -> str:
    """The first line of a docstring, without its full stop."""
    return (getdoc(documented) or "").partition("\n")[0].removesuffix(".")
