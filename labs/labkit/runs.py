"""The runs of a lab: experiment files of the folder `experiments`, on either network.

It knows no exercise. `simulate` is for looking into brokers, on the memory network; `run` leaves a
run's directory below `results/`, as `pysim run` does.
"""

import atexit
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import networkx as nx
import pandas as pd

from analysis import open_run
from analysis.captures.messages import read_messages
from pysim import brokers
from pysim.brokers import Broker
from pysim.experiments import config
from pysim.experiments import run as experiments
from pysim.experiments.plan import Plan, prepare
from pysim.network import Fault, LinkSettings, MemoryTransport, Simulation, World
from pysim.network.frame_log import FrameLog
from pysim.wire import Envelope, Message, type_name
from pysim.workloads.operations import Operation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analysis.api import Run

EXPERIMENTS = Path(__file__).parents[1] / "experiments"
RESULTS = Path("results")

Link = tuple[int, int]
Make = Callable[[World], Broker]


class Hop(NamedTuple):
    """One message on its way from one broker to the next; times in seconds."""

    time: float
    source: int
    target: int
    name: str
    message: Message

    @property
    def link(self) -> Link:
        return self.source, self.target


class EndlessError(RuntimeError):
    """Brokers sent more messages than they were allowed."""


class _Bounded(MemoryTransport):
    """A memory network that carries so many messages over links and then raises `EndlessError`."""

    def __init__(self, seed: int, log: FrameLog, most: int) -> None:
        super().__init__(seed, log=log)
        self._left = most

    def send(self, source: int, target: int, frame: bytes) -> None:
        self._left -= 1
        if self._left < 0:
            raise EndlessError
        super().send(source, target, frame)


class Stage:
    """Brokers on the memory network, every message of which is written down.

    They may send `most` messages: a student's broker may send one in a circle.
    """

    def __init__(
        self,
        overlay: nx.Graph,
        make: Make,
        operations: Iterable[Operation],
        faults: Iterable[Fault] = (),
        seed: int = 1,
        links: LinkSettings | None = None,
        most: int = 1_000_000,
    ) -> None:
        self._frames = FrameLog()
        transport = _Bounded(seed, self._frames, most)
        self.simulation = Simulation(
            transport, overlay, make, seed, link_settings=lambda a, b: links or LinkSettings()
        )
        self.simulation.add_operations(operations)
        self.simulation.add_faults(faults)

    def until(self, seconds: float) -> "Stage":
        """Let time pass."""
        self.simulation.run(seconds)
        return self

    def hops(self, begin: float, end: float, *names: str) -> list[Hop]:
        """The messages that left a broker in that time, of those types or of all."""
        found = []
        for row in self._frames.rows():
            if begin <= row.departed / 1e9 < end:
                envelope = Envelope.open(row.frame)
                name = type_name(envelope.type)
                if not names or name in names:
                    hop = Hop(row.departed / 1e9, row.source, row.target, name, envelope.message)
                    found.append(hop)
        return found

    def tables(self) -> dict[int, dict[str, set[int]]]:
        """Every broker's routing table: who wants what, by the filter's text."""
        return {
            broker: {str(filter): set(wanted) for filter, wanted in _table(host.agent).items()}
            for broker, host in self.simulation.hosts.items()
        }


def _table(agent: object) -> Mapping[object, Iterable[int]]:
    assert isinstance(agent, Broker)
    return agent.routing_table()  # type: ignore[return-value]  # that of subscription forwarding


def plan(name: str, **settings: object) -> Plan:
    """An experiment of the labs, with other values at keys such as ``protocol__name``."""
    changed = {key.replace("__", "."): value for key, value in settings.items()}
    return prepare(config.load(EXPERIMENTS / f"{name}.toml", changed).single())


def stage(plan: Plan, make: Make | None = None) -> Stage:
    """An experiment on the memory network; `make` are other brokers than the file names."""
    experiment = plan.config.experiment
    options = msgspec.structs.asdict(experiment.protocol.parameters)
    named = partial(brokers.make, experiment.protocol.name, **options)
    operations = plan.workload.operations(plan.setting)
    return Stage(
        plan.ground.overlay,
        make or named,
        operations,
        plan.faults,
        experiment.seed,
        plan.ground.links,
    )


def run(plan: Plan, name: str) -> "Run":
    """Run an experiment into ``results/NAME``; an older run of that name is replaced."""
    directory = RESULTS / name
    experiments.run(plan, directory, directory.name, replace=True)
    return open_run(directory)


def totals(runs: Mapping[str, "Run"]) -> pd.DataFrame:
    """What was sent in some runs: a row for each and each type of message, hops counted."""
    rows = [
        (label, name, total["sent"], total["sent_bytes"])
        for label, run in runs.items()
        for name, total in run.manifest["messages"].items()
    ]
    return pd.DataFrame(rows, columns=["run", "message", "sent", "bytes"])


def captured_messages(run: "Run", begin: float, end: float) -> pd.DataFrame:
    """All messages that left a broker in that time (seconds), out of the captures."""
    found = [read_messages(path).messages.to_pandas() for path in run.captures()]
    messages = pd.concat(found, ignore_index=True)
    messages["name"] = messages.type.map(type_name)
    inside = messages.time.between(begin * 1e9, end * 1e9, inclusive="left")
    return messages[inside & (messages.direction == "out")]


def captured_packets(run: "Run", capture: str) -> pd.DataFrame:
    """The packets that one end of one link captured; ``b8-b7`` is broker 8's end."""
    return read_messages(run.directory / "captures" / f"{capture}.pcap").packets.to_pandas()


def open_spark() -> "SparkSession":
    """A Spark session that ends with the notebook; the analysis uses it, too."""
    from analysis.session import open_session  # Spark takes a second to load

    whole_life = ExitStack()
    atexit.register(whole_life.close)
    return whole_life.enter_context(open_session())
