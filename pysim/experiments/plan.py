"""A run that is ready to go: everything that can be refused has been refused here.

A plan holds what the configuration means: the overlay and what is beneath it, what clients do, what
goes wrong, what a broker's CPU costs. It builds no network and writes no file.
"""

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import msgspec
import networkx as nx

import topologies
from pysim import brokers
from pysim.brokers.loading import source_of
from pysim.brokers.optimizations import Optimize
from pysim.experiments import config as tables
from pysim.experiments.config import Config
from pysim.experiments.ground import Ground
from pysim.experiments.maintenance import TreeMaintenance
from pysim.experiments.schema import FieldError
from pysim.naming import nearest
from pysim.network.faults import (
    BrokerCrash,
    BrokerRestart,
    Fault,
    FaultError,
    LinkBreak,
    LinkCreate,
    LinkReplace,
    LossChange,
    rehearse,
)
from pysim.network.host import CostModel
from pysim.network.service import FasterCost, cost_model
from pysim.network.simulation import places
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.network.world import LinkNotice
from pysim.units import Duration, Size
from pysim.workloads import (
    Auctions,
    Estimate,
    InputFile,
    Setting,
    Site,
    Workload,
    WorkloadError,
    input_files,
)

_HANDSHAKE_BITS = 8 * 128  # what a link carries of one packet of a handshake at most
_MARGIN = 0.001

_Draw = Callable[..., Random]
"""A stream of chance for a purpose."""
_Thing = TypeVar("_Thing")


@dataclass(frozen=True)
class Plan:
    """What will run."""

    config: Config
    ground: Ground
    setting: Setting
    workload: Workload
    estimate: Estimate
    faults: tuple[Fault, ...]
    costs: CostModel | None


def prepare(config: Config) -> Plan:
    """Work out and check a whole experiment; ConfigError names what cannot be."""
    try:
        return _prepare(config)
    except FieldError as problem:
        raise config.error(problem) from None


def _prepare(config: Config) -> Plan:
    experiment = config.experiment
    ground = Ground(experiment, config.folder)
    _check_overlay(experiment, ground)
    _check_options(experiment)
    _note_source(experiment, ground.inputs)
    workload = _located(experiment, config.folder, ground.inputs)
    streams = Streams(experiment.seed)
    setting = Setting(len(ground.overlay), experiment.duration, streams, _sites(ground.overlay))
    estimate = _checked_workload(workload, setting, experiment, ground)
    faults = _checked_faults(experiment, ground, streams)
    _check_capture(experiment.network, ground, faults)
    _check_measures(experiment, workload)
    costs = _costs(experiment.service, setting)
    return Plan(config, ground, setting, workload, estimate, faults, costs)


def _sites(overlay: nx.Graph) -> tuple[Site, ...]:
    """What the overlay says of its brokers; the domains of a workflow are its regions."""
    nodes = (overlay.nodes[broker] for broker in range(len(overlay)))
    return tuple(Site(node.get("role"), node.get("region", node.get("domain"))) for node in nodes)


def _check_overlay(experiment: tables.Experiment, ground: Ground) -> None:
    """Refuse an overlay that the protocol cannot run on."""
    name = experiment.protocol.name
    protocol = brokers.protocols()[name]
    try:
        if protocol.needs_tree:
            topologies.require_tree(ground.overlay)
    except topologies.TopologyError as error:
        raise FieldError("", f"{error}, and {name} needs a tree") from None
    try:
        protocol.check_overlay(places(ground.overlay))
    except ValueError as error:
        raise FieldError("topology", f"{error} (protocol {name})", bare=True) from None


def _check_options(experiment: tables.Experiment) -> None:
    options = msgspec.structs.asdict(experiment.protocol.parameters)
    try:
        brokers.protocols()[experiment.protocol.name].check_options(options)
    except ValueError as error:
        raise FieldError("protocol", str(error), bare=True) from None


def _note_source(experiment: tables.Experiment, inputs: dict[str, str]) -> None:
    """A protocol of others counts by what its source says, like any file that a result is of."""
    source = source_of(experiment.protocol.name)
    if source is not None:
        inputs[experiment.protocol.file or source.label] = source.digest


def _check_measures(experiment: tables.Experiment, workload: Workload) -> None:
    """Some measurements know what they measure: how events come, and what brokers store."""
    protocol = brokers.protocols()[experiment.protocol.name]
    for measure in {"rounds", "pruning"}.intersection(experiment.measure):
        if not isinstance(workload, Auctions):
            raise FieldError("measure", f'"{measure}" needs the workload "auctions"')
        if not hasattr(protocol, "stored"):
            problem = f'"{measure}" needs brokers with a table of subscriptions'
            raise FieldError("measure", problem)
    if "frames" in experiment.measure and experiment.network.backend != "memory":
        problem = '"frames" is for the memory network; others have captures (network.capture)'
        raise FieldError("measure", problem)
    if "pruning" in experiment.measure:
        optimize: Optimize = experiment.protocol.table()["optimize"]
        if "post-pruning" not in optimize.by or not optimize.share:
            raise FieldError("measure", '"pruning" needs "post-pruning" with a `share` above 0')


def _located(experiment: tables.Experiment, folder: Path, inputs: dict[str, str]) -> Workload:
    """The workload with its tables found from anywhere; what they hold is noted."""
    workload = experiment.workload.parameters
    assert isinstance(workload, Workload)
    found = {}
    for key, file in input_files(workload).items():
        path = folder / file
        found[key] = InputFile(path)
        if path.is_file():
            with path.open("rb") as content:
                inputs[file] = hashlib.file_digest(content, "sha256").hexdigest()
    return msgspec.structs.replace(workload, **found)


def _checked_workload(
    workload: Workload, setting: Setting, experiment: tables.Experiment, ground: Ground
) -> Estimate:
    try:
        workload.check(setting)
    except WorkloadError as error:
        raise FieldError(f"workload.{error.key}", str(error)) from None
    ready = _links_up(ground)
    if workload.earliest() < ready:
        problem = f"begins at {Duration(workload.earliest())}, before links can be up"
        raise FieldError("workload", f"{problem} ({Duration(ready)})", bare=True)
    estimate = workload.estimate(setting)
    if estimate.largest > experiment.network.max_frame:
        allowed = experiment.network.max_frame
        problem = f"the workload has messages of {Size(estimate.largest)}, {allowed} are allowed"
        raise FieldError("network.max_frame", problem)
    return estimate


def _links_up(ground: Ground) -> float:
    """When the slowest link of the beginning is up: three packets have to cross it."""
    ways = [
        ground.way(a, b).delay + ground.way(a, b).hops * _HANDSHAKE_BITS / ground.link(a, b).rate
        for a, b in ground.overlay.edges
    ]
    return math.ceil((3 * max(ways, default=0.0) + _MARGIN) * 1e4) / 1e4


def _checked_faults(
    experiment: tables.Experiment, ground: Ground, streams: Streams
) -> tuple[Fault, ...]:
    faults: list[Fault] = []
    numbers = itertools.count()  # of reconfigurations, over all faults
    for place, fault in enumerate(experiment.faults):
        key = f"faults[{place}]"
        try:
            faults += _faults(
                fault, experiment, ground, partial(streams.stream, "faults", key), numbers
            )
        except FieldError as problem:
            raise problem.below(key) from None
    try:
        rehearse(faults, ground.overlay)
    except FaultError as error:
        raise FieldError("faults", str(error), bare=True) from None
    return tuple(faults)


def _faults(
    fault: tables.Fault,
    experiment: tables.Experiment,
    ground: Ground,
    draw: _Draw,
    numbers: Iterator[int],
) -> Iterator[Fault]:
    given: Any = fault.parameters
    for name in ("time", "start", "stop"):
        if getattr(given, name, 0) > experiment.duration:
            raise FieldError(name, f"the run ends at {experiment.duration}")
    match fault.name:
        case "link-break":
            yield LinkBreak(_ns(given.time), *given.link)
        case "link-create":
            yield LinkCreate(_ns(given.time), *given.link)
        case "link-replace":
            notice = LinkNotice(reconfiguration=next(numbers))
            repair = _ns(given.repair)
            yield LinkReplace(_ns(given.time), given.old, given.new, repair, notice=notice)
        case "link-loss":
            if experiment.network.mode == "underlay":
                raise FieldError("kind", 'a link has a loss rate only in the mode "links"')
            yield LossChange(_ns(given.time), given.link[0], given.link[1], given.loss)
        case "broker-crash":
            yield BrokerCrash(_ns(given.time), given.broker)
        case "broker-restart":
            yield BrokerRestart(_ns(given.time), given.broker)
        case "broker-failures":
            for broker in _drawn(draw(), sorted(ground.overlay), given.share):
                yield BrokerCrash(_ns(given.time), broker)
        case "link-failures":
            links = sorted((min(link), max(link)) for link in ground.overlay.edges)
            for link in _drawn(draw(), links, given.share):
                yield LinkBreak(_ns(given.time), *link)
        case "reconfigurations":
            yield from _reconfigurations(given, ground, draw, numbers)


def _drawn(stream: Random, things: Sequence[_Thing], share: float) -> list[_Thing]:
    """A share of these things; with a larger share the same ones, and more."""
    return stream.sample(things, len(things))[: round(share * len(things))]


def _reconfigurations(
    given: tables.Reconfigurations, ground: Ground, draw: _Draw, numbers: Iterator[int]
) -> Iterator[Fault]:
    if len(ground.overlay) < 3 or not topologies.describe(ground.overlay)["tree"]:
        raise FieldError("kind", "only trees of 3 brokers and more can be reconfigured")
    if not given.rate:
        return iter(())
    ticks = itertools.count()
    times = itertools.takewhile(
        lambda time: time < given.stop, (given.start + tick / given.rate for tick in ticks)
    )
    maintenance = TreeMaintenance(
        draw(),
        draw("initiators"),
        _ns(given.repair),
        given.max_degree,
        given.near,
        given.shared_end,
    )
    return maintenance.schedule(ground.overlay, map(_ns, times), numbers)


def _check_capture(network: tables.Network, ground: Ground, faults: tuple[Fault, ...]) -> None:
    if not isinstance(network.capture, tuple):
        return
    links = {(min(link), max(link)) for link in ground.overlay.edges}
    for fault in faults:
        if isinstance(fault, LinkCreate):
            links.add((min(fault.a, fault.b), max(fault.a, fault.b)))
        elif isinstance(fault, LinkReplace):
            links.add((min(fault.new), max(fault.new)))
    for link in network.capture:
        if link not in links:
            raise FieldError("network.capture", f"there is no link {link} at any time")


def _costs(service: tables.Service, setting: Setting) -> CostModel | None:
    settings = msgspec.structs.asdict(service.parameters)
    speeds = settings.pop("speed", None) or {}
    roles = sorted({site.role for site in setting.sites if site.role is not None})
    for role in speeds:
        if role not in roles:
            problem = nearest(role, roles) if roles else "the overlay has no roles"
            raise FieldError("service.speed", f'no broker has the role "{role}"; {problem}')
    try:
        model = cost_model(service.name, **settings)
    except ValueError as error:
        raise FieldError("service", str(error), bare=True) from None
    if model is None or not speeds:
        return model
    faster = {
        broker: speeds[site.role]
        for broker, site in enumerate(setting.sites)
        if site.role in speeds
    }
    return FasterCost(model, faster)


def _ns(seconds: float) -> int:
    return round(seconds * NANOSECONDS)
