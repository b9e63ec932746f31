"""One run: brokers on a network, what their clients do, what goes wrong, and what came of it.

It must not know protocols (agents come from `make_agent`) nor which network carries the messages.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random

import networkx as nx

from pysim.filters import Filter, canonical
from pysim.network.agent_books import AgentBooks
from pysim.network.books import discrepancies
from pysim.network.causes import CauseRow, Causes, TracedHost, TracedWorld
from pysim.network.faults import (
    Fault,
    FaultError,
    LinkReplaced,
    Notices,
    Overlay,
    SettingsRule,
    act_out,
    in_order,
    rehearse,
)
from pysim.network.host import Agent, CostModel, Host
from pysim.network.observer import Observer
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS, BrokerId, LinkSettings, Transport
from pysim.network.world import LinkNotice, Place, World
from pysim.wire.messages import Event
from pysim.workloads.operations import Operation

_MAX_BROKER = 2**32 - 1
_CLOSED = LinkNotice(closed=True)


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link that an agent asked for and got, or closed (`opened` is False), at a time (ns)."""

    time: int
    a: BrokerId
    b: BrokerId
    opened: bool


@dataclass(slots=True)
class OperationCounts:
    """What became of the operations so far.

    `taken` came up; of these `skipped` found their broker down and `done` reached its agent. The
    rest waits in an input queue or was lost with one.
    """

    taken: int = 0
    skipped: int = 0
    done: int = 0


class Simulation:
    """A network of brokers, set up at simulated time zero.

    Agents start in ascending order before any link comes up. Whatever an agent raises surfaces
    from `run` as an `AgentError`. The methods `cut`, `join`, `report`, `crash`, `restart` and
    `set_loss` do at once what a fault does at its time. With `trace_causes` the run notes which
    reconfiguration caused which messages, for `causes`.
    """

    def __init__(
        self,
        transport: Transport,
        overlay: nx.Graph,
        make_agent: Callable[[World], Agent],
        seed: int,
        costs: CostModel | None = None,
        link_settings: SettingsRule | None = None,
        observer: Observer | None = None,
        trace_causes: bool = False,
    ) -> None:
        _check_brokers(overlay)
        self.transport = transport
        self.observer = observer or Observer()
        self.overlay = Overlay(overlay, link_settings)
        """The overlay at this moment, as far as faults decide it."""
        self.operations = OperationCounts()
        self.link_changes: list[LinkChange] = []
        """The changes of the overlay that agents asked for, in their order."""
        self.hosts: dict[BrokerId, Host] = {}
        self._make_agent = make_agent
        self._causes = Causes() if trace_causes else None
        self._initial_overlay = self.overlay.graph.copy()
        self._faults: list[Fault] = []
        streams = Streams(seed)
        for broker, place in sorted(places(overlay).items()):
            self._add_host(broker, streams, costs)
            self.hosts[broker].world.place = place
        transport.schedule(0, self._start_agents)
        for a, b in self.overlay.links():
            transport.connect(a, b, self.overlay.settings(a, b))

    # Before and during the run

    def add_operations(self, operations: Iterable[Operation]) -> None:
        """Let clients act; operations are drawn one by one, in ascending order of time."""
        self._await_next(iter(operations), self.transport.now)

    def add_faults(self, faults: Iterable[Fault]) -> None:
        """Let things go wrong; FaultError if the faults so far do not fit this overlay."""
        new = list(faults)
        rehearse([*self._faults, *new], self._initial_overlay)
        now = self.transport.now
        for step in in_order(new):
            if step.time < now:
                raise FaultError(f"time(={step.time}) should be >= the current time of {now} ns")
            self.transport.schedule(step.time - now, partial(act_out, step, self))
        self._faults += new

    def run(self, until_seconds: float, progress: Callable[[int], None] | None = None) -> None:
        """Run until that simulated time; `progress` hears the time (ns) now and then."""
        self.transport.run(round(until_seconds * NANOSECONDS), progress)

    def close(self) -> None:
        """Give the network back; what was observed and booked stays."""
        self.transport.close()

    # What a fault does

    def cut(self, a: BrokerId, b: BrokerId, notices: Notices) -> None:
        """Cut a link; its ends hear of it with their notices."""
        self.overlay.cut(a, b, notices)
        self._announce(a, b, notices)
        self.transport.disconnect(a, b)

    def join(
        self, a: BrokerId, b: BrokerId, settings: LinkSettings | None, notices: Notices
    ) -> None:
        """Set up a link; its ends hear of it with their notices, each when it can send."""
        self.overlay.join(a, b, settings, notices)
        self._announce(a, b, notices)
        self.transport.connect(a, b, self.overlay.settings(a, b))

    def report(self, replaced: LinkReplaced) -> None:
        """Tell the ends of a lost link which new link takes its place."""
        self.overlay.report(replaced)
        for end, replacement in self.overlay.replacements(replaced).items():
            self.hosts[end].link_replaced(replacement)

    def crash(self, broker: BrokerId) -> None:
        """Stop a broker; its agent and its clients' subscriptions are gone."""
        neighbors = sorted(self.overlay.graph.adj[broker]) if broker in self.hosts else []
        self.overlay.crash(broker)
        for neighbor in neighbors:
            self._announce(broker, neighbor, {})
        self.hosts[broker].stop()
        self.observer.broker_crashed(broker, self.transport.now)
        self.transport.crash(broker)

    def restart(self, broker: BrokerId) -> None:
        """Bring a crashed broker back with a fresh agent and the links it had."""
        links = self.overlay.revive(broker)
        self.transport.restart(broker)
        self._start_agent(self.hosts[broker])
        for neighbor, settings in links:
            self.join(broker, neighbor, settings, {})

    def set_loss(self, a: BrokerId, b: BrokerId, loss: float) -> None:
        """Change a link's packet loss rate."""
        self.overlay.set_loss(a, b, loss)
        self.transport.set_loss(a, b, loss)

    # What an agent may ask for (`LinkControl`)

    def open_link(self, a: BrokerId, b: BrokerId) -> None:
        """Set up a link as soon as whoever asks is done; not if it is there or an end is down."""
        self.transport.schedule(0, partial(self._open, a, b))

    def close_link(self, a: BrokerId, b: BrokerId) -> None:
        """Cut a link as soon as whoever asks is done; both ends hear that it was closed."""
        self.transport.schedule(0, partial(self._close, a, b))

    def _open(self, a: BrokerId, b: BrokerId) -> None:
        graph, down = self.overlay.graph, self.overlay.down
        if a != b and b in graph and not {a, b} & down and not graph.has_edge(a, b):
            self.link_changes.append(LinkChange(self.transport.now, a, b, opened=True))
            self.join(a, b, None, {})

    def _close(self, a: BrokerId, b: BrokerId) -> None:
        if self.overlay.graph.has_edge(a, b):
            self.link_changes.append(LinkChange(self.transport.now, a, b, opened=False))
            self.cut(a, b, {a: _CLOSED, b: _CLOSED})

    # After the run

    def fingerprint(self) -> dict[str, str]:
        """Digests of the run, apart, so that a change says what changed.

        `contents`: the bytes on each directed link, in order. `times`: when frames of which length
        went where. `deliveries`: who got which event, whenever. The first and the last are
        the same on any network that leads to the same decisions.
        """
        return {
            "contents": _digest(self._contents()),
            "times": self.transport.timing_fingerprint(),
            "deliveries": self.observer.deliveries.digest(),
        }

    def balance(self) -> list[str]:
        """What does not add up between the agents' books and the network's counters."""
        books = {broker: host.books for broker, host in self.hosts.items()}
        return discrepancies(books, self.transport.counters())

    def causes(self) -> list[CauseRow]:
        """The messages that each reconfiguration caused, by broker; none if not traced."""
        return self._causes.rows() if self._causes is not None else []

    # Hosts and agents

    def _add_host(self, broker: BrokerId, streams: Streams, costs: CostModel | None) -> None:
        books = self.transport.books(broker)
        stream = streams.stream("broker", broker)
        self.hosts[broker] = host = self._host(broker, stream, books, costs)
        host.world._link_control = self
        self.transport.attach(broker, host, service=costs is not None)

    def _host(
        self, broker: BrokerId, stream: Random, books: AgentBooks, costs: CostModel | None
    ) -> Host:
        causes, transport = self._causes, self.transport
        if causes is None:
            world = World(broker, transport, stream, self.observer, books)
            return Host(world, transport, books, costs)
        world = TracedWorld(causes, broker, transport, stream, self.observer, books)
        return TracedHost(causes, world, transport, books, costs)

    def _start_agents(self) -> None:
        for host in self.hosts.values():
            self._start_agent(host)

    def _start_agent(self, host: Host) -> None:
        host.guard("while starting", lambda: host.start(self._make_agent(host.world)))

    def _announce(self, a: BrokerId, b: BrokerId, notices: Notices) -> None:
        """Set what the next change of a link is announced with; an older notice is void."""
        for end, neighbor in ((a, b), (b, a)):
            self.hosts[end].notices.pop(neighbor, None)
            if end in notices:
                self.hosts[end].notices[neighbor] = notices[end]

    # Operations

    def _await_next(self, operations: Iterator[Operation], earliest: int) -> None:
        operation = next(operations, None)
        if operation is None:
            return
        if operation.time < earliest:
            raise ValueError(
                f"time(={operation.time}) of {_title(operation)} should be >= {earliest} ns, "
                "the time of what came before"
            )
        delay = operation.time - self.transport.now
        self.transport.schedule(delay, partial(self._take, operation, operations))

    def _take(self, operation: Operation, rest: Iterator[Operation]) -> None:
        host = self.hosts.get(operation.broker)
        if host is None:
            raise ValueError(f"there is no broker {operation.broker} for {_title(operation)}")
        self.operations.taken += 1
        if host.agent is None:
            self.operations.skipped += 1
        else:
            self.transport.submit(operation.broker, self._prepare(host, operation))
        self._await_next(rest, operation.time)

    def _prepare(self, host: Host, operation: Operation) -> Callable[[], None]:
        """The broker's part of an operation, for its input queue.

        A publication exists from the moment its client hands it in, so that its latency includes
        the wait at its own broker; a subscription stands from the moment its broker takes it up.
        """
        if operation.action == "publish":
            event = Event(dict(operation.attributes), operation.payload)
            envelope = host.world.originate(event)
            broker, client = operation.broker, operation.client
            self.observer.published(broker, client, envelope, self.transport.now)
            return self._work(host, operation, lambda agent: agent.publish(client, envelope))
        filter = _filter_of(operation)
        return self._work(host, operation, lambda agent: self._change(agent, operation, filter))

    def _work(
        self, host: Host, operation: Operation, act: Callable[[Agent], None]
    ) -> Callable[[], None]:
        def work() -> None:
            agent = host.agent
            assert agent is not None
            self.operations.done += 1
            host.guard(f"on the {_title(operation)}", lambda: act(agent))

        return work

    def _change(self, agent: Agent, operation: Operation, filter: Filter) -> None:
        broker, client, now = operation.broker, operation.client, self.transport.now
        match operation.action:
            case "subscribe":
                self.observer.subscribed(broker, client, filter, now)
                agent.subscribe(client, filter)
            case "unsubscribe":
                self.observer.unsubscribed(broker, client, filter, now)
                agent.unsubscribe(client, filter)
            case "advertise":
                agent.advertise(client, filter)
            case "unadvertise":
                agent.unadvertise(client, filter)
            case _:
                raise ValueError(f"clients cannot {operation.action}")

    def _contents(self) -> list[object]:
        return [
            (broker, sorted(books.contents.items()), sorted(books.sent.items()))
            for broker, books in sorted((b, host.books) for b, host in self.hosts.items())
        ]


def places(overlay: nx.Graph) -> dict[BrokerId, Place]:
    """What a topology says about each of its brokers, and about their links."""
    return {
        broker: Place(dict(data), {n: dict(link) for n, link in overlay.adj[broker].items()})
        for broker, data in overlay.nodes(data=True)
    }


def _check_brokers(overlay: nx.Graph) -> None:
    for broker in overlay.nodes:
        if type(broker) is not int or not 0 <= broker <= _MAX_BROKER:
            raise ValueError(f"broker id {broker!r} should be an integer from 0 to {_MAX_BROKER}")


def _filter_of(operation: Operation) -> Filter:
    if operation.filter is None:
        raise ValueError(f"the {_title(operation)} lacks a filter")
    return canonical(operation.filter)


def _title(operation: Operation) -> str:
    return f"{operation.action} of client {operation.client} at broker {operation.broker}"


def _digest(content: object) -> str:
    return hashlib.blake2b(repr(content).encode(), digest_size=16).hexdigest()
