"""One run, from a checked plan to a complete directory of results."""

import dataclasses
import gc
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, time
from typing import Any

import msgspec

from pysim import brokers
from pysim.brokers import Broker
from pysim.brokers.loading import load_file
from pysim.experiments import config
from pysim.experiments import manifest as manifests
from pysim.experiments.capture import largest_captures
from pysim.experiments.config import Experiment
from pysim.experiments.directory import require_free, run_directory
from pysim.experiments.ground import Ground
from pysim.experiments.manifest import Manifest, Timings
from pysim.experiments.plan import Plan
from pysim.experiments.probes import Probes
from pysim.experiments.schema import FieldError
from pysim.network.faults import LinkReplaced, in_order
from pysim.network.memory import MemoryTransport
from pysim.network.simulation import Simulation
from pysim.network.transport import NANOSECONDS, LinkSettings, Transport
from pysim.units import readable
from pysim.workloads import input_files
from topologies import LatencyMatrix

Progress = Callable[[int], None]

_NEW_OBJECTS = 50_000
"""How many make it worth while to look for garbage during a run, which makes hardly any cycles."""


class RunError(Exception):
    """A run that went to its end and cannot be trusted; the text says why."""


def run(
    plan: Plan,
    final: Path,
    name: str,
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> Manifest:
    """Run a plan into the directory `final`, which is complete afterwards or absent.

    `name` is what the manifest calls the run, `replace` allows to replace a complete one, and
    `progress` hears the simulated time (ns) now and then.
    """
    require_free(final, replace)
    _require_space(plan, final)
    with run_directory(final, replace) as directory, _little_garbage():
        result = _run_into(plan, directory, name, progress)
        manifests.write(result, directory)
    return result


@contextmanager
def _little_garbage() -> Iterator[None]:
    """Let Python look for cycles less often: a run keeps most of what it makes to its end."""
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def portable(plan: Plan) -> Experiment:
    """The configuration with the files it names found from anywhere.

    A protocol's file is the exception: it goes with the configuration, so that it stays as it was.
    """
    experiment = plan.config.experiment
    named = {"topology": experiment.topology, "network.underlay": experiment.network.underlay}
    files = {
        f"{key}.file": file
        for key, table in named.items()
        if (file := getattr(table and table.parameters, "file", None))
    }
    tables = input_files(experiment.workload.parameters)
    files |= {f"workload.{key}": file for key, file in tables.items()}
    found = plan.config.set(
        {key: str((plan.config.folder / file).absolute()) for key, file in files.items()}
    ).experiment
    if not found.protocol.file:
        return found
    protocol = config.Protocol(
        found.protocol.name, found.protocol.parameters, Path(found.protocol.file).name
    )
    return msgspec.structs.replace(found, protocol=protocol)


def sources(plan: Plan) -> dict[str, str]:
    """The files that go with the portable configuration: their texts by name."""
    file = plan.config.experiment.protocol.file
    if not file:
        return {}
    return {Path(file).name: load_file(plan.config.folder / file).text}


def _run_into(plan: Plan, directory: Path, name: str, progress: Progress | None) -> Manifest:
    begin = perf_counter()
    captures = directory / "captures"
    probes = Probes(plan)
    simulation = _simulation(plan, probes, captures)
    try:
        began, ready = time(), perf_counter()
        simulation.run(plan.setting.duration, progress)
        ended = perf_counter()
        _require_balance(simulation)
        from pysim.experiments.parquet import write_tables  # Arrow takes longer than small runs

        outcome = manifests.outcome(plan, simulation)
        write_tables(plan, simulation, probes.measured(simulation), directory / "tables")
    finally:
        simulation.close()
    files = {"config.toml": config.text(portable(plan)), **sources(plan)}
    for file, text in files.items():
        (directory / file).write_text(text, "utf-8")
    captured = manifests.captures_in(captures, _capture_policy(plan))
    timings = Timings(
        began=began,
        set_up=ready - begin,
        simulation=ended - ready,
        writing=perf_counter() - ended,
        speed=plan.setting.duration / (ended - ready),
    )
    return manifests.manifest(plan, name, outcome, captured, timings)


def _simulation(plan: Plan, probes: Probes, captures: Path) -> Simulation:
    experiment = plan.config.experiment
    options = msgspec.structs.asdict(experiment.protocol.parameters)
    transport = _transport(plan, probes, captures)
    try:
        simulation = Simulation(
            transport,
            plan.ground.overlay,
            lambda world: brokers.make(experiment.protocol.name, world, **options),
            experiment.seed,
            plan.costs,
            partial(_link_settings, plan.ground),
            probes.observer,
            trace_causes=probes.causes,
        )
        if probes.clients_act:
            simulation.add_operations(plan.workload.operations(plan.setting))
        simulation.add_faults(plan.faults)
        _require_turns(simulation, plan)
        probes.attach(simulation)
    except BaseException:
        transport.close()
        raise
    return simulation


def _require_turns(simulation: Simulation, plan: Plan) -> None:
    """Stop a run as soon as links are replaced at a time that its protocol replaces in turn."""
    name = plan.config.experiment.protocol.name
    if not brokers.protocols()[name].promises.links_in_turn:
        return

    def look() -> None:
        agents = [host.agent for host in simulation.hosts.values()]
        if sum(agent.under_way() for agent in agents if isinstance(agent, Broker)) > 1:
            raise RunError(
                f"at {simulation.transport.now / NANOSECONDS:g} s a link is replaced while another"
                f" replacement goes on, and {name} takes one after the other: let links break less"
                " often"
            )

    for step in in_order(plan.faults):
        if isinstance(step, LinkReplaced):
            simulation.transport.schedule(step.time, look)


def _transport(plan: Plan, probes: Probes, captures: Path) -> Transport:
    experiment = plan.config.experiment
    network = experiment.network
    ground = plan.ground
    if network.backend == "memory":
        latency = None if ground.underlay is None else lambda a, b: ground.way(a, b).delay
        return MemoryTransport(experiment.seed, latency, network.loss, probes.frames)
    from pysim.network.ns3 import Ns3Settings, Ns3Transport  # a memory run does without

    policy = _capture_policy(plan)
    if policy != "none":
        captures.mkdir()
    chosen = policy if isinstance(policy, tuple) else ()
    return Ns3Transport(
        Ns3Settings(
            brokers=plan.setting.brokers,
            tcp=network.tcp,
            seed=experiment.seed,
            max_frame=int(network.max_frame),
            underlay=_ns3_underlay(ground),
            capture="chosen" if chosen else policy,
            capture_directory=captures if policy != "none" else None,
            captured_links=chosen,
        )
    )


def _ns3_underlay(ground: Ground) -> Any:
    from pysim.network.ns3 import MatrixUnderlay, RouterUnderlay

    underlay = ground.underlay
    if underlay is None:
        return None
    if isinstance(underlay.network, LatencyMatrix):
        chosen = underlay.network.submatrix(underlay.homes)
        return MatrixUnderlay(chosen.delays, underlay.access)
    return RouterUnderlay(underlay.network, underlay.homes, ground.links, underlay.access)


def _link_settings(ground: Ground, a: int, b: int) -> LinkSettings:
    return dataclasses.replace(ground.link(a, b), delay=ground.way(a, b).delay)


def _capture_policy(plan: Plan) -> Any:
    """What is captured: nothing on a network without packets, and nothing of no links."""
    network = plan.config.experiment.network
    return "none" if network.backend == "memory" else network.capture or "none"


def _require_space(plan: Plan, final: Path) -> None:
    """Refuse captures that the disk may not hold."""
    place = next(path for path in (final, *final.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(place).free
    needed = largest_captures(plan)
    if needed > free:
        problem = f"captures may take {readable(needed)}, and {readable(free)} are free on {place}"
        raise plan.config.error(FieldError("network.capture", problem))


def _require_balance(simulation: Simulation) -> None:
    wrong = simulation.balance()
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise RunError(f"the books do not balance: {wrong[0]}{more}")
