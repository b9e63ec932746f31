"""The overlay, and what lies beneath it: from an experiment's tables to graphs and latencies.

It must not know protocols or workloads. Every file that it reads is noted in `Ground.inputs`.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import networkx as nx

import topologies
from pysim.experiments import config as tables
from pysim.experiments.schema import FieldError
from pysim.network.streams import Streams
from pysim.network.transport import LinkSettings
from topologies import LatencyMatrix, TopologyError

_Made = TypeVar("_Made")
_MATRICES = 5  # of 24 MB each, if all are as large as the paper's
_TREES = 50


class Way(NamedTuple):
    """How far it is from one broker to another: seconds, and links that a packet crosses."""

    delay: float
    hops: int


@dataclass(frozen=True)
class Underlay:
    """An IP network, and the router or host of it that each broker sits at."""

    network: nx.Graph | LatencyMatrix
    homes: tuple[int, ...]
    access: LinkSettings


class Ground:
    """All that is given about the network before anything runs.

    `links` is what a link is like where no topology says it; `inputs` are the files that were
    read, as the experiment names them, with the SHA-256 of each. FieldError if it cannot be.
    """

    def __init__(self, experiment: tables.Experiment, folder: Path) -> None:
        network = experiment.network
        self.inputs: dict[str, str] = {}
        self.links = LinkSettings(network.delay, network.rate, network.queue, network.loss)
        self._folder = folder
        self._drawn_from = _drawn_from(experiment)
        self._streams = Streams(self._drawn_from)
        self.underlay: Underlay | None = None
        grown = experiment.topology.parameters
        if isinstance(grown, tables.LatencyTree):
            self._grow(grown, network)
        else:
            self.overlay: nx.Graph = self._overlay(experiment.topology)
            if network.underlay is not None:
                self.underlay = self._underlay(network)
        self._ways_from = cache(self._routes)

    def link(self, a: int, b: int) -> LinkSettings:
        """What the overlay link between two brokers is like."""
        data = self.overlay.get_edge_data(a, b, {})
        return LinkSettings(
            data.get("delay", self.links.delay),
            data.get("rate", self.links.rate),
            self.links.queue,
            self.links.loss,
        )

    def way(self, a: int, b: int) -> Way:
        """How far it is between two brokers, neighbors on the overlay if there is no underlay."""
        if self.underlay is None:
            return Way(self.link(a, b).delay, 1)
        network, homes = self.underlay.network, self.underlay.homes
        if isinstance(network, LatencyMatrix):
            return Way(network.delay(homes[a], homes[b]), 1)
        between = self._ways_from(homes[a])[homes[b]]
        return Way(between.delay + 2 * self.underlay.access.delay, between.hops + 2)

    def _overlay(self, table: tables.Topology) -> nx.Graph:
        graph = self._graph(table, "topology", "topology")
        self._refusing("topology", lambda: topologies.require_connected(graph))
        return graph

    def _underlay(self, network: tables.Network) -> Underlay:
        table = network.underlay
        assert table is not None
        key = "network.underlay"
        if _is_latencies(table):
            found: nx.Graph | LatencyMatrix = self._latencies(table, key)
        else:
            found = self._graph(table, key, "underlay")
            self._refusing(key, lambda: topologies.require_connected(found))
        return Underlay(found, self._homes(found, network.attach), _access(network))

    def _grow(self, table: tables.LatencyTree, network: tables.Network) -> None:
        """The latencies first, then the tree on them; its brokers sit at the hosts it grew on."""
        beneath = network.underlay
        if beneath is None or not _is_latencies(beneath):
            known = '"king-like", "planetlab-like" or "matrix"'
            problem = f"grows on latencies, so network.underlay must be of the kind {known}"
            raise FieldError("topology.kind", problem)
        matrix = self._latencies(beneath, "network.underlay")
        grown = self._refusing(
            "topology", lambda: _tree(matrix, self._drawn_from, table.brokers, table.neighbors)
        )
        self.overlay = grown.copy()
        hosts = tuple(self.overlay.nodes[broker]["host"] for broker in range(table.brokers))
        self.underlay = Underlay(matrix, hosts, _access(network))

    def _graph(self, table: tables.Topology, key: str, purpose: str) -> nx.Graph:
        given = table.parameters
        if isinstance(given, tables.TopologyFile):
            path = self._input(given.file)
            return self._refusing(
                f"{key}.file", lambda: topologies.load(path, format=given.format, unit=given.unit)
            )
        stream = self._streams.stream(purpose)
        return self._refusing(
            key, lambda: topologies.build(table.name, stream, **msgspec.structs.asdict(given))
        )

    def _latencies(self, table: tables.Underlay, key: str) -> LatencyMatrix:
        given = table.parameters
        if not isinstance(given, tables.MatrixFile):
            drawn = tuple(msgspec.structs.asdict(given).items())
            return self._refusing(key, lambda: _model(table.name, self._drawn_from, drawn))
        path = self._input(given.file)
        options = msgspec.structs.asdict(given)
        del options["file"]
        return self._refusing(f"{key}.file", lambda: topologies.load_matrix(path, **options))

    def _homes(self, network: nx.Graph | LatencyMatrix, attach: str) -> tuple[int, ...]:
        """Where brokers sit: each at a place of its own; only routers are shared, if they must."""
        brokers, places = len(self.overlay), range(len(network))
        if brokers > len(places) and isinstance(network, LatencyMatrix):
            problem = f"it has {len(places)} hosts for {brokers} brokers"
            raise FieldError("network.underlay", problem, bare=True)
        if attach == "in-order":
            return tuple(broker % len(places) for broker in range(brokers))
        stream = self._streams.stream("attach")
        if brokers > len(places):
            return tuple(stream.choices(places, k=brokers))
        return tuple(stream.sample(places, brokers))

    def _routes(self, home: int) -> dict[int, Way]:
        assert self.underlay is not None

        def delay(a: int, b: int, data: dict[str, Any]) -> float:
            return float(data.get("delay", self.links.delay))

        delays, paths = nx.single_source_dijkstra(self.underlay.network, home, weight=delay)
        return {node: Way(delays[node], len(paths[node]) - 1) for node in delays}

    def _input(self, file: str) -> Path:
        """The path of a file that the experiment names; a member of an archive counts as it."""
        path = self._folder / file
        archive = path if path.exists() else Path(str(path).rpartition(":")[0])
        if archive.is_file():
            self.inputs[file] = hashlib.sha256(archive.read_bytes()).hexdigest()
        return path

    def _refusing(self, key: str, make: Callable[[], _Made]) -> _Made:
        try:
            return make()
        except TopologyError as error:
            text = re.sub(r"^topology '[^']*': ", "", str(error))
            own = key == "topology" and text.startswith(key)  # it names the table itself
            raise FieldError("" if own else key, text, bare=True) from None


@lru_cache(_MATRICES)
def _model(name: str, seed: int, parameters: tuple[tuple[str, Any], ...]) -> LatencyMatrix:
    """Latencies that a model draws; the points of a sweep often share them, and they take long."""
    models: dict[str, Any] = {
        "king-like": topologies.king_like,
        "planetlab-like": topologies.planetlab_like,
    }
    made: LatencyMatrix = models[name](Streams(seed).stream("underlay"), **dict(parameters))
    return made


@lru_cache(_TREES)
def _tree(matrix: LatencyMatrix, seed: int, brokers: int, neighbors: int | None) -> nx.Graph:
    """The overlay that grows on latencies; whoever changes it takes a copy."""
    stream = Streams(seed).stream("topology")
    return topologies.overlay_from_matrix(matrix, brokers, stream, neighbors=neighbors)


def _drawn_from(experiment: tables.Experiment) -> int:
    """What the network's chance comes from: the seed, unless several runs are to share it."""
    topology = experiment.topology.parameters
    drawn = topology.draw if isinstance(topology, tables.LatencyTree) else None
    return experiment.seed if drawn is None else drawn


def _is_latencies(table: tables.Underlay) -> bool:
    """Whether an underlay is a matrix of latencies, and not routers."""
    return isinstance(table.parameters, tables.MatrixFile) or "-like" in table.name


def _access(network: tables.Network) -> LinkSettings:
    """A broker's own line to the underlay."""
    return LinkSettings(network.access_delay, network.access_rate, network.queue)
