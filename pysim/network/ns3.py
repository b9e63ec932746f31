"""The packet-level network: ns-3 carries every frame over simulated links, TCP and IP.

This module turns settings into an ns-3 simulation through the native library of `ns3-app/` and
knows nothing of protocols. The library is loaded once per process, by cppyy from one narrow header.
"""

import resource
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Literal

import networkx as nx
import numpy as np

from pysim.network.agent_books import AgentBooks
from pysim.network.outlet import Originate, Send
from pysim.network.transport import (
    NANOSECONDS,
    BrokerId,
    Counter,
    DirectProtocol,
    LinkSettings,
    QueueReport,
    Upcalls,
)
from pysim.wire import Envelope
from pysim.wire.envelope import receive_by_type

TcpProfile = Literal["linux", "lean", "stock"]
TCP_PROFILES: tuple[TcpProfile, ...] = ("linux", "lean", "stock")
CapturePolicy = Literal["both", "one", "chosen", "none"]

_DISK_RESERVE = 64 << 20

_Pages = tuple[dict[int, list[int]], dict[int, list[int]], dict[BrokerId, int]]
"""Of an agent's books: sent, received, contents."""


@dataclass(frozen=True, slots=True)
class RouterUnderlay:
    """An IP network beneath the overlay: brokers sit at some of its nodes, the rest are routers.

    `graph` has the nodes 0..n-1, its edges may have `delay` (s), `rate` (bit/s), `queue` and
    `loss`; what is missing comes from `defaults`. `homes[broker]` is the node a broker is attached
    to by an access link with the properties `access`.
    """

    graph: nx.Graph
    homes: tuple[int, ...]
    defaults: LinkSettings
    access: LinkSettings


@dataclass(frozen=True, slots=True)
class MatrixUnderlay:
    """One-way delays (s) between all brokers, and the access link that each of them sends over."""

    delays: "np.typing.NDArray[np.float64]"
    access: LinkSettings


@dataclass(frozen=True, slots=True)
class Ns3Settings:
    """What a packet-level network is made of; without an underlay each overlay link is a link."""

    brokers: int
    tcp: TcpProfile = "linux"
    seed: int = 1
    max_frame: int = 1 << 20
    underlay: RouterUnderlay | MatrixUnderlay | None = None
    capture: CapturePolicy = "none"
    capture_directory: Path | None = None
    captured_links: tuple[tuple[BrokerId, BrokerId], ...] = ()


class Ns3Transport:
    """A `Transport` on ns-3. One may be open at a time in a process; `close` it before the next.

    Nothing happens before `run`; link changes are possible before and during it.
    """

    name = "ns3"

    def __init__(self, settings: Ns3Settings) -> None:
        _allow_open_files(settings)
        self._settings = settings
        self._native = native_library()
        self._links = LinkSettings()
        self._simulation = self._native.Simulation(
            self._native_settings(), Envelope, receive_by_type
        )
        self._bind_functions()
        self._lay_underlay()

    def _bind_functions(self) -> None:
        """Take the ready-made functions; calling them costs a third of a call through cppyy."""
        function = self._simulation.Function
        self._now: Callable[[], int] = function("now")
        self.send: Callable[[BrokerId, BrokerId, bytes], None] = function("send")
        self.submit: Callable[[BrokerId, Callable[[], None]], None] = function("submit")
        self.schedule: Callable[[int, Callable[[], None]], int] = function("schedule")
        self.cancel: Callable[[int], None] = function("cancel")
        self.inject: Callable[[BrokerId, BrokerId, bytes], bool] = function("inject")
        """Write raw bytes into a link's stream, however malformed; for tests of the framing."""
        self._send_direct: Callable[[BrokerId, BrokerId, bytes, bool], None] = function(
            "send_direct"
        )
        self._book: Callable[[BrokerId], _Pages] = function("book")
        self._enter_sent: Callable[[BrokerId, BrokerId, bytes], None] = function("enter_sent")
        self._enter_received: Callable[[BrokerId, bytes], None] = function("enter_received")
        self._run: Callable[[int, Callable[[int], None] | None], None] = function("run")
        self._counters: Callable[[], list[tuple[Any, ...]]] = function("counters")
        self._queues: Callable[[], list[tuple[Any, ...]]] = function("queues")
        self._malformed: Callable[[], list[tuple[BrokerId, int]]] = function("malformed")
        self._digest: Callable[[], int] = function("digest")
        self._events: Callable[[], int] = function("events")

    @property
    def now(self) -> int:
        return self._now()

    @property
    def events(self) -> int:
        """How many ns-3 events have been executed."""
        return self._events()

    def outlet(self, broker: BrokerId, originate: Originate, books: AgentBooks) -> Send:
        send: Send = self._simulation.Outlet(broker, originate)
        return send

    def books(self, broker: BrokerId) -> "NativeBooks":
        return NativeBooks(
            partial(self._book, broker),
            partial(self._enter_sent, broker),
            partial(self._enter_received, broker),
        )

    def attach(self, broker: BrokerId, host: Upcalls, service: bool) -> None:
        self._simulation.Attach(broker, host, service)

    def attach_relay(
        self, broker: BrokerId, routes: Sequence[tuple[BrokerId, Sequence[BrokerId]]]
    ) -> None:
        """Forward in C++ alone on this broker, by (origin, neighbors) routes: a yardstick."""
        self._simulation.AttachRelay(broker)
        for origin, neighbors in routes:
            self._simulation.RelayRoute(broker, origin, list(neighbors))

    def connect(self, a: BrokerId, b: BrokerId, settings: LinkSettings | None = None) -> None:
        self._check_brokers(a, b)
        if a == b:
            raise ValueError(f"broker {a} cannot have a link to itself")
        if self._simulation.HasLink(a, b):
            raise ValueError(f"there is a link between brokers {a} and {b} already")
        self._simulation.Connect(a, b, self._parameters(settings or self._links))

    def disconnect(self, a: BrokerId, b: BrokerId) -> None:
        self._require_link(a, b)
        self._simulation.Disconnect(a, b)

    def set_loss(self, a: BrokerId, b: BrokerId, loss: float) -> None:
        self._require_link(a, b)
        if self._settings.underlay is not None:
            raise ValueError("loss rates of overlay links exist only without an underlay")
        self._simulation.SetLoss(a, b, loss)

    def crash(self, broker: BrokerId) -> None:
        self._check_brokers(broker)
        self._simulation.Crash(broker)

    def restart(self, broker: BrokerId) -> None:
        self._check_brokers(broker)
        self._simulation.Restart(broker)

    def send_direct(
        self, source: BrokerId, target: BrokerId, frame: bytes, protocol: DirectProtocol
    ) -> None:
        self._send_direct(source, target, frame, protocol == "udp")

    def malformed(self, broker: BrokerId, sender: BrokerId) -> None:
        self._simulation.Malformed(broker, sender)

    @property
    def malformed_frames(self) -> dict[BrokerId, int]:
        """Malformed frames by the broker that got them."""
        return dict(self._malformed())

    def run(self, until: int, progress: Callable[[int], None] | None = None) -> None:
        def watch(now: int) -> None:
            self._check_captures()
            if progress is not None:
                progress(now)

        self._run(until, watch)
        self._check_captures()

    def counters(self) -> Sequence[Counter]:
        return sorted(Counter(*row) for row in self._counters())

    def queues(self) -> Sequence[QueueReport]:
        return [QueueReport(*row) for row in self._queues()]

    def timing_fingerprint(self) -> str:
        return f"{self._digest():016x}"

    def close(self) -> None:
        """End the simulation: sockets unhooked, captures closed, Python objects let go."""
        if self._simulation is not None:
            self._simulation.__destruct__()
            self._simulation = None

    # Building

    def _native_settings(self) -> Any:
        given = self._settings
        settings = self._native.Settings()
        settings.brokers = given.brokers
        settings.tcp = given.tcp
        settings.seed = given.seed & 0x7FFFFFFF
        settings.maxFrame = given.max_frame
        settings.capturePolicy = given.capture
        settings.captureDirectory = str(given.capture_directory or "")
        for a, b in given.captured_links:
            settings.captured.push_back((a, b))
        if isinstance(given.underlay, RouterUnderlay):
            settings.ground = "routers"
            settings.routers = len(given.underlay.graph)
        elif isinstance(given.underlay, MatrixUnderlay):
            settings.ground = "matrix"
            settings.access = self._parameters(given.underlay.access)
        return settings

    def _parameters(self, link: LinkSettings) -> Any:
        parameters = self._native.LinkParameters()
        parameters.delay = round(link.delay * NANOSECONDS)
        parameters.rate = round(link.rate)
        parameters.queue = link.queue
        parameters.loss = link.loss
        return parameters

    def _lay_underlay(self) -> None:
        underlay = self._settings.underlay
        if isinstance(underlay, RouterUnderlay):
            self._lay_routers(underlay)
        elif isinstance(underlay, MatrixUnderlay):
            nanoseconds = np.rint(underlay.delays * NANOSECONDS).astype(np.int64)
            self._simulation.SetDelayMatrix(nanoseconds.ravel().tolist())

    def _lay_routers(self, underlay: RouterUnderlay) -> None:
        first_router = self._settings.brokers
        for a, b, data in sorted(underlay.graph.edges(data=True), key=lambda edge: edge[:2]):
            link = LinkSettings(
                delay=data.get("delay", underlay.defaults.delay),
                rate=data.get("rate", underlay.defaults.rate),
                queue=data.get("queue", underlay.defaults.queue),
                loss=data.get("loss", underlay.defaults.loss),
            )
            self._simulation.AddUnderlayLink(
                first_router + a, first_router + b, self._parameters(link)
            )
        for broker, home in enumerate(underlay.homes):
            self._simulation.AddUnderlayLink(
                broker, first_router + home, self._parameters(underlay.access)
            )

    # Checking: ns-3 ends the process where Python would raise, so nothing wrong may reach it.

    def _check_brokers(self, *brokers: BrokerId) -> None:
        for broker in brokers:
            if not 0 <= broker < self._settings.brokers:
                raise ValueError(f"there is no broker {broker}")

    def _require_link(self, a: BrokerId, b: BrokerId) -> None:
        self._check_brokers(a, b)
        if not self._simulation.HasLink(a, b):
            raise ValueError(f"there is no link between brokers {a} and {b}")

    def _check_captures(self) -> None:
        """Stop before the disk is full, or if a capture was not written for another reason."""
        directory = self._settings.capture_directory
        if directory is None:
            return
        if self._simulation.CapturesFailed():
            raise OSError(f"a capture in {directory} could not be written: the run was stopped")
        if shutil.disk_usage(directory).free < _DISK_RESERVE:
            raise OSError(
                f"the disk of {directory} has less than {_DISK_RESERVE >> 20} MiB left: "
                "the run was stopped"
            )


@dataclass(frozen=True, slots=True)
class NativeBooks:
    """The books of one broker's agents, kept by the native library."""

    _read: Callable[[], _Pages]
    enter_sent: Callable[[BrokerId, bytes], None]
    enter_received: Callable[[bytes], None]

    @property
    def sent(self) -> dict[int, list[int]]:
        return self._read()[0]

    @property
    def received(self) -> dict[int, list[int]]:
        return self._read()[1]

    @property
    def contents(self) -> dict[BrokerId, int]:
        return self._read()[2]


@cache
def native_library() -> Any:
    """The C++ namespace of the native library."""
    directory = Path(str(distribution("pysim").locate_file("pysim/network/native")))
    library = directory / "libpysim-ns3.so"
    if not library.exists():
        raise RuntimeError(f"the native library {library} is missing: run `make setup`")
    import cppyy  # only here: a run on the memory network does without

    cppyy.add_include_path(str(directory))
    cppyy.load_library(str(library))
    cppyy.include("facade.h")
    return cppyy.gbl.pysim


def _allow_open_files(settings: Ns3Settings) -> None:
    """Every captured device is an open file: raise the limit as far as it goes."""
    if settings.capture != "none":
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
