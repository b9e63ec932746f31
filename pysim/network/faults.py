"""What can go wrong with links and brokers, as plain data with a time.

It must not know agents or a transport: a fault is a sentence in an experiment, and whoever can cut
and join links (`Stage`) acts it out. All that the overlay alone decides is checked before the run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol, assert_never

import networkx as nx

from pysim.network.transport import NANOSECONDS, BrokerId, LinkSettings
from pysim.network.world import BARE_NOTICE, LinkNotice, Replacement

Notices = Mapping[BrokerId, LinkNotice]
"""What each end of a link is told beyond the change itself; an end that is not named: nothing."""

SettingsRule = Callable[[BrokerId, BrokerId], LinkSettings]
"""What the link between two brokers, lower id first, is like if nothing else is said."""


@dataclass(frozen=True, slots=True)
class LinkBreak:
    """A link is cut; times are nanoseconds of simulated time, here and below."""

    time: int
    a: BrokerId
    b: BrokerId
    notices: Notices = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkCreate:
    """A link is set up; without `settings` it is like the links of the beginning."""

    time: int
    a: BrokerId
    b: BrokerId
    settings: LinkSettings | None = None
    notices: Notices = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkReplace:
    """The link `old` is cut, and `repair` later the link `new` is set up in its place.

    If the notice numbers the reconfiguration, the ends of `old` are then told of `new`, and the
    `initiator`, the first end of `old` unless said otherwise, the whole way (see `Replacement`).
    """

    time: int
    old: tuple[BrokerId, BrokerId]
    new: tuple[BrokerId, BrokerId]
    repair: int = 0
    settings: LinkSettings | None = None
    notice: LinkNotice = BARE_NOTICE
    """Told to both ends of both links."""
    initiator: BrokerId | None = None


@dataclass(frozen=True, slots=True)
class LinkReplaced:
    """The ends of a lost link, initiator first, are told which new link takes its place."""

    time: int
    old: tuple[BrokerId, BrokerId]
    new: tuple[BrokerId, BrokerId]
    reconfiguration: int


@dataclass(frozen=True, slots=True)
class BrokerCrash:
    """A broker stops; its agent, its queue, and its clients' subscriptions are gone."""

    time: int
    broker: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerRestart:
    """A crashed broker comes back with a fresh agent and the links it had."""

    time: int
    broker: BrokerId


@dataclass(frozen=True, slots=True)
class LossChange:
    """A link's packet loss rate becomes `loss`."""

    time: int
    a: BrokerId
    b: BrokerId
    loss: float


Step = LinkBreak | LinkCreate | LinkReplaced | BrokerCrash | BrokerRestart | LossChange
Fault = Step | LinkReplace


class FaultError(ValueError):
    """A fault that cannot happen; the text says when, what and why."""


class Stage(Protocol):
    """Where faults are acted out; each method raises ValueError if it cannot be done."""

    def cut(self, a: BrokerId, b: BrokerId, notices: Notices) -> None: ...

    def join(
        self, a: BrokerId, b: BrokerId, settings: LinkSettings | None, notices: Notices
    ) -> None: ...

    def report(self, replaced: LinkReplaced) -> None: ...

    def crash(self, broker: BrokerId) -> None: ...

    def restart(self, broker: BrokerId) -> None: ...

    def set_loss(self, a: BrokerId, b: BrokerId, loss: float) -> None: ...


def in_order(faults: Iterable[Fault]) -> list[Step]:
    """The single steps of all faults, by time; at the same time in the order given."""
    return sorted((step for fault in faults for step in _steps(fault)), key=lambda step: step.time)


def act_out(step: Step, stage: Stage) -> None:
    """Let a step happen; FaultError if it cannot."""
    try:
        _play(step, stage)
    except ValueError as error:
        raise FaultError(f"at {step.time / NANOSECONDS:.9f} s, {_title(step)}: {error}") from None


class Overlay:
    """The overlay as faults change it: which links there are, and which brokers are down.

    It is a `Stage` without a network, so a plan can be rehearsed before anything runs; a
    simulation keeps one beside its network to know what the overlay is. Every edge of `graph`
    carries its `LinkSettings` as `settings`.
    """

    def __init__(self, graph: nx.Graph, link_settings: SettingsRule | None = None) -> None:
        self.graph = nx.Graph()
        self.down: set[BrokerId] = set()
        self._rule = link_settings or _default_settings
        self._former: dict[BrokerId, list[tuple[BrokerId, LinkSettings]]] = {}
        self.graph.add_nodes_from(sorted(graph.nodes))
        for a, b in sorted(map(_ordered, graph.edges)):
            self.join(a, b, None, {})

    def links(self) -> list[tuple[BrokerId, BrokerId]]:
        """All links, lower end first, in ascending order."""
        return sorted(map(_ordered, self.graph.edges))

    def settings(self, a: BrokerId, b: BrokerId) -> LinkSettings:
        """What a link is like at this moment."""
        self._check_link(a, b)
        settings: LinkSettings = self.graph.edges[a, b]["settings"]
        return settings

    def cut(self, a: BrokerId, b: BrokerId, notices: Notices) -> None:
        self._check_link(a, b)
        self.graph.remove_edge(a, b)

    def join(
        self, a: BrokerId, b: BrokerId, settings: LinkSettings | None, notices: Notices
    ) -> None:
        for end in (a, b):
            self._check_broker(end)
            if end in self.down:
                raise ValueError(f"broker {end} is down")
        if a == b:
            raise ValueError(f"broker {a} cannot be linked to itself")
        if self.graph.has_edge(a, b):
            raise ValueError(f"brokers {a} and {b} are linked already")
        self.graph.add_edge(a, b, settings=settings or self._rule(*_ordered((a, b))))

    def report(self, replaced: LinkReplaced) -> None:
        for end in (*replaced.old, *replaced.new):
            self._check_broker(end)

    def replacements(self, replaced: LinkReplaced) -> dict[BrokerId, Replacement]:
        """What the ends of a lost link are told: nothing if the new one does not join them."""
        initiator, other = replaced.old
        if not nx.has_path(self.graph, initiator, other):
            return {}
        path = tuple(nx.shortest_path(self.graph, initiator, other))
        for place, step in enumerate(pairwise(path), 1):
            if set(step) == set(replaced.new):
                head, tail, number = path[:place], path[place:], replaced.reconfiguration
                return {
                    initiator: Replacement(number, head[-1], head, tail),
                    other: Replacement(number, tail[0]),
                }
        return {}

    def crash(self, broker: BrokerId) -> None:
        self._check_broker(broker)
        if broker in self.down:
            raise ValueError(f"broker {broker} is down already")
        neighbors = sorted(self.graph.adj[broker])
        self._former[broker] = [(n, self.settings(broker, n)) for n in neighbors]
        self.graph.remove_edges_from([(broker, n) for n in neighbors])
        self.down.add(broker)

    def restart(self, broker: BrokerId) -> None:
        for neighbor, settings in self.revive(broker):
            self.join(broker, neighbor, settings, {})

    def revive(self, broker: BrokerId) -> list[tuple[BrokerId, LinkSettings]]:
        """Mark a broker as running; the result are the links it gets back, as they were.

        A link to a broker that is down comes back with that one.
        """
        self._check_broker(broker)
        if broker not in self.down:
            raise ValueError(f"broker {broker} is not down")
        self.down.remove(broker)
        former = self._former.pop(broker)
        for neighbor, settings in former:
            if neighbor in self.down:
                self._former[neighbor].append((broker, settings))
        return [(n, settings) for n, settings in former if n not in self.down]

    def set_loss(self, a: BrokerId, b: BrokerId, loss: float) -> None:
        settings = self.settings(a, b)
        if not 0.0 <= loss <= 1.0:
            raise ValueError(f"loss(={loss}) should be between 0 and 1")
        self.graph.edges[a, b]["settings"] = replace(settings, loss=loss)

    def _check_broker(self, broker: BrokerId) -> None:
        if broker not in self.graph:
            raise ValueError(f"there is no broker {broker}")

    def _check_link(self, a: BrokerId, b: BrokerId) -> None:
        self._check_broker(a)
        self._check_broker(b)
        if not self.graph.has_edge(a, b):
            raise ValueError(f"there is no link between brokers {a} and {b}")


def rehearse(faults: Iterable[Fault], graph: nx.Graph) -> None:
    """Check that all faults can happen to this overlay in turn; FaultError names the first not."""
    overlay = Overlay(graph)
    for step in in_order(faults):
        act_out(step, overlay)


def _steps(fault: Fault) -> Iterator[Step]:
    if fault.time < 0:
        raise FaultError(f"time(={fault.time}) of {_title(fault)} should be >= 0 ns")
    if not isinstance(fault, LinkReplace):
        yield fault
        return
    if fault.repair < 0:
        raise FaultError(f"repair(={fault.repair}) of {_title(fault)} should be >= 0 ns")
    yield LinkBreak(fault.time, *fault.old, dict.fromkeys(fault.old, fault.notice))
    yield LinkCreate(
        fault.time + fault.repair,
        *fault.new,
        fault.settings,
        dict.fromkeys(fault.new, fault.notice),
    )
    number = fault.notice.reconfiguration
    if number is not None:
        first, second = fault.old
        old = (second, first) if fault.initiator == second else fault.old
        yield LinkReplaced(fault.time + fault.repair, old, fault.new, number)


def _play(step: Step, stage: Stage) -> None:
    match step:
        case LinkBreak(_, a, b, notices):
            stage.cut(a, b, notices)
        case LinkCreate(_, a, b, settings, notices):
            stage.join(a, b, settings, notices)
        case LinkReplaced():
            stage.report(step)
        case BrokerCrash(_, broker):
            stage.crash(broker)
        case BrokerRestart(_, broker):
            stage.restart(broker)
        case LossChange(_, a, b, loss):
            stage.set_loss(a, b, loss)
        case _:
            assert_never(step)


def _title(fault: Fault) -> str:
    match fault:
        case LinkBreak(_, a, b):
            return f"break of link {a}-{b}"
        case LinkCreate(_, a, b):
            return f"new link {a}-{b}"
        case LinkReplace(_, (a, b), (c, d)) | LinkReplaced(_, (a, b), (c, d)):
            return f"replacement of link {a}-{b} by {c}-{d}"
        case BrokerCrash(_, broker):
            return f"crash of broker {broker}"
        case BrokerRestart(_, broker):
            return f"restart of broker {broker}"
        case LossChange(_, a, b):
            return f"loss on link {a}-{b}"
        case _:
            assert_never(fault)


def _default_settings(a: BrokerId, b: BrokerId) -> LinkSettings:
    return LinkSettings()


def _ordered(edge: tuple[BrokerId, BrokerId]) -> tuple[BrokerId, BrokerId]:
    a, b = edge
    return (a, b) if a < b else (b, a)
