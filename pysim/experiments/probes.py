"""What must be measured while a run goes on: traffic by time, events that serve nobody, and more.

Probes watch from outside: no agent sees them, and no message is other for them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx

from pysim.brokers import Broker, protocols
from pysim.brokers.optimizations import Optimize
from pysim.experiments.costs import Costs
from pysim.experiments.lists import DestinationLists
from pysim.experiments.plan import Plan
from pysim.experiments.sampling import BrokerSamples
from pysim.experiments.table_history import TableHistory
from pysim.filters import Filter
from pysim.network.causes import CauseRow
from pysim.network.faults import in_order
from pysim.network.frame_log import FrameLog
from pysim.network.observer import Observer
from pysim.network.outlet import Send
from pysim.network.simulation import Simulation
from pysim.network.transport import NANOSECONDS, BrokerId, DirectProtocol, Transport
from pysim.network.world import ClientId, World
from pysim.wire import Envelope, Message
from pysim.wire.messages import Activate, CountedEvent, Event, Rec
from pysim.workloads import Auctions

if TYPE_CHECKING:
    from pysim.experiments.rounds import Rounds

MISROUTED = "misrouted-events"
"""The record that says how many events came to a broker at and behind which nobody wanted them."""

CARRIED = "patterns-carried"
"""The record of an ACTIVATE or REC that was sent: how many patterns it carried."""
CARRIED_ON_HEAD = "patterns-carried-on-head"
"""The same of a REC that a broker of the path's head sent."""

_EVENTS = frozenset({Event.CODE, CountedEvent.CODE})
"""The types of messages that carry one event over one hop."""

_MOST_BINS = 100


class TrafficRow(NamedTuple):
    """Messages of one type that agents sent in the time bin that begins at `time` (ns)."""

    time: int
    type: int
    messages: int
    bytes: int


class Measured(NamedTuple):
    """What was measured while a run went on; empty where nobody asked.

    `more` are the rows of tables that only some runs have.
    """

    traffic: Sequence[TrafficRow]
    causes: Sequence[CauseRow]
    more: Mapping[str, Sequence[tuple[object, ...]]]


class Probes:
    """All that an experiment asks to be measured; `observer` is the one that its run needs."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._asked = frozenset(plan.config.experiment.measure)
        self._traffic: Traffic | None = None
        self._rounds: Rounds | None = None
        self._samples: BrokerSamples | None = None
        self._lists: DestinationLists | None = None
        self._tables: TableHistory | None = None
        self._costs: Costs | None = None
        self.observer = self._observer()
        self.frames = FrameLog() if "frames" in self._asked else None
        """Where the network is to log its frames, if it is to."""

    @property
    def causes(self) -> bool:
        """Whether the simulation is to trace causes."""
        return "causes" in self._asked

    @property
    def clients_act(self) -> bool:
        """Whether clients are to do anything: one table can be measured without a simulation."""
        return "pruning" not in self._asked

    def attach(self, simulation: Simulation) -> None:
        """Watch a simulation that has its faults and has not begun."""
        if isinstance(self.observer, MisroutedEvents):
            self.observer.watch(simulation)
            for step in in_order(self._plan.faults):  # those of the same time come before us
                simulation.transport.schedule(step.time, self.observer.overlay_changed)
        duration = round(self._plan.setting.duration * NANOSECONDS)
        protocol = protocols()[self._plan.config.experiment.protocol.name]
        if "costs" in self._asked:
            self._costs = Costs(simulation, protocol)
        if "traffic" in self._asked:
            watch_patterns(simulation, protocol)
            self._traffic = Traffic(simulation.transport, duration)
        if "brokers" in self._asked:
            self._samples = BrokerSamples(simulation, duration)
        if "lists" in self._asked:
            self._lists = DestinationLists(simulation)
        if "tables" in self._asked:
            self._tables = TableHistory(simulation, duration)
        if "rounds" in self._asked:
            self._rounds = _rounds(simulation, self._plan)

    def measured(self, simulation: Simulation) -> Measured:
        """What was measured in a simulation that has run; records are among the observer's."""
        if isinstance(self.observer, MisroutedEvents):
            self.observer.conclude(simulation.transport.now)
        more: dict[str, Sequence[tuple[object, ...]]] = {}
        if self._rounds is not None:
            more |= self._rounds.tables()
        if self._samples is not None:
            self._samples.conclude()
            more["brokers"] = self._samples
        if self._lists is not None:
            more["lists"] = list(self._lists.rows())
        if self._tables is not None:
            more["tables"] = self._tables.conclude()
        if self._costs is not None:
            more["weights"] = list(self._costs.weights())
            more["state"] = list(self._costs.state())
        if self.frames is not None:
            more["frames"] = list(self.frames.rows())
        if "pruning" in self._asked:
            more |= _pruning(self._plan)
        return Measured(
            traffic=self._traffic.rows() if self._traffic is not None else [],
            causes=simulation.causes() if self.causes else [],
            more=more,
        )

    def _observer(self) -> Observer | None:
        if "misrouted" in self._asked:
            return MisroutedEvents()
        if "rounds" in self._asked:
            from pysim.experiments.rounds import RepeatedEvents

            return RepeatedEvents()
        return None


def _rounds(simulation: Simulation, plan: Plan) -> "Rounds":
    from pysim.experiments.rounds import Rounds  # it needs the native engines

    assert isinstance(plan.workload, Auctions)
    return Rounds(simulation, plan.workload, plan.setting)


def _pruning(plan: Plan) -> dict[str, Sequence[tuple[object, ...]]]:
    """The tables of a pruning curve: of the workload's subscriptions, at a broker that has none."""
    from pysim.experiments.pruning_curve import of_auctions

    workload = plan.workload
    assert isinstance(workload, Auctions)
    optimize: Optimize = plan.config.experiment.protocol.table()["optimize"]
    model = workload.model(plan.setting)
    points = list(of_auctions(model, workload.subscriptions, workload.events, optimize))
    return {
        "stored": [point.stored for point in points],
        "matching": [point.matching for point in points],
        "filter-times": [time for point in points for time in point.times],
    }


class Traffic:
    """Reads the network's counters 1 ns before each time bin ends.

    What happens at the moment at which a bin ends belongs to the next one.
    """

    def __init__(self, transport: Transport, duration: int) -> None:
        self._transport = transport
        self._bin = _bin(duration)
        self._rows: list[TrafficRow] = []
        self._messages: Counter[int] = Counter()
        self._bytes: Counter[int] = Counter()
        self._begin = 0
        transport.schedule(self._bin - 1, self._tick)

    def rows(self) -> list[TrafficRow]:
        """All bins up to now; types that nothing was sent of have no row."""
        self._read()
        return self._rows

    def _tick(self) -> None:
        self._read()
        self._transport.schedule(self._bin, self._tick)

    def _read(self) -> None:
        messages: Counter[int] = Counter()
        size: Counter[int] = Counter()
        for row in self._transport.counters():
            messages[row.type] += row.sent
            size[row.type] += row.sent_bytes
        for kind in sorted(messages):
            count = messages[kind] - self._messages[kind]
            if count:
                grown = size[kind] - self._bytes[kind]
                self._rows.append(TrafficRow(self._begin, kind, count, grown))
        self._messages, self._bytes = messages, size
        self._begin += self._bin


def _bin(duration: int) -> int:
    """1, 2 or 5 times a power of ten ns, so that a run has at most a hundred bins."""
    size = 1
    while size * _MOST_BINS < duration:
        size = size * 2 if str(size)[0] in "15" else size * 5 // 2
    return size


def watch_patterns(simulation: Simulation, protocol: type[Broker]) -> None:
    """Record how many patterns each control message carries that is sent from now on.

    Only where the protocol has a handler for such messages: others do not send any.
    """
    for host in simulation.hosts.values():
        if hasattr(protocol, "on_rec"):
            _watch_rec(host.world)
        if hasattr(protocol, "on_activate"):
            _watch_activate(host.world)


def _watch_rec(world: World) -> None:
    send = world.send

    def noted(neighbor: BrokerId, item: Message | Envelope) -> None:
        if isinstance(item, Rec):
            carried = len(item.patterns_to_add) + len(item.patterns_to_delete)
            world.record(CARRIED, carried)
            if world.id in item.head:
                world.record(CARRIED_ON_HEAD, carried)
        send(neighbor, item)

    world.send = noted


def _watch_activate(world: World) -> None:
    send_direct = world.send_direct

    def noted(broker: BrokerId, item: Message | Envelope, protocol: DirectProtocol = "tcp") -> None:
        if isinstance(item, Activate):
            world.record(CARRIED, len(item.patterns))
        send_direct(broker, item, protocol)

    world.send_direct = noted  # type: ignore[method-assign]


class MisroutedEvents(Observer):
    """An observer that also counts events sent over a link with nobody interested behind it.

    Who is interested, and what lies behind a link, is judged at the moment of sending: it is asked
    once for each publication, and anew after a subscription has changed. `watch` is called before
    agents start, and `overlay_changed` after each change of the overlay.
    """

    def __init__(self) -> None:
        super().__init__()
        self._misrouted: Counter[BrokerId] = Counter()
        self._interest: dict[tuple[BrokerId, int], int] = {}
        self._behind: dict[BrokerId, dict[BrokerId, int]] = {}
        """By broker and neighbor; who watches a broker's messages holds that broker's."""
        self._overlay = nx.Graph()

    def watch(self, simulation: Simulation) -> None:
        """See every event that is sent from now on."""
        self._overlay = simulation.overlay.graph
        for host in simulation.hosts.values():
            host.world.send = self._watched(host.world)

    def overlay_changed(self) -> None:
        """Forget what lay behind links."""
        for links in self._behind.values():
            links.clear()

    def conclude(self, time: int) -> None:
        """Note the counts among the run's records."""
        for broker, count in sorted(self._misrouted.items()):
            self.recorded(broker, MISROUTED, count, time)

    def subscribed(self, broker: BrokerId, client: ClientId, filter: Filter, time: int) -> None:
        super().subscribed(broker, client, filter, time)
        self._interest.clear()

    def unsubscribed(self, broker: BrokerId, client: ClientId, filter: Filter, time: int) -> None:
        super().unsubscribed(broker, client, filter, time)
        self._interest.clear()

    def broker_crashed(self, broker: BrokerId, time: int) -> None:
        super().broker_crashed(broker, time)
        self._interest.clear()

    def _watched(self, world: World) -> Send:
        send, broker = world.send, world.id
        behind, interested = self._behind.setdefault(broker, {}), self._interest

        def watched(neighbor: BrokerId, item: Message | Envelope) -> None:
            if isinstance(item, Envelope) and item.type in _EVENTS:
                beyond = behind.get(neighbor)
                if beyond is None:  # nobody, if there is no such link
                    beyond = behind[neighbor] = _bits(_reached(self._overlay, broker, neighbor))
                interest = interested.get((item.origin, item.sequence))
                if interest is None:
                    interest = self._interested_in(item)
                if not interest & beyond:
                    self._misrouted[neighbor] += 1
            send(neighbor, item)

        return watched

    def _interested_in(self, event: Envelope) -> int:
        message = event.message
        assert isinstance(message, Event | CountedEvent)
        found = _bits(iter(self.interested_brokers(message.attributes)))
        self._interest[event.origin, event.sequence] = found
        return found


def _reached(overlay: nx.Graph, broker: BrokerId, neighbor: BrokerId) -> Iterator[BrokerId]:
    """What can be reached from a broker by way of one neighbor without coming back."""
    if not overlay.has_edge(broker, neighbor):
        return
    seen, fresh = {broker, neighbor}, [neighbor]
    while fresh:
        here = fresh.pop()
        yield here
        beyond = set(overlay.neighbors(here)) - seen
        fresh += beyond
        seen |= beyond


def _bits(brokers: Iterator[BrokerId]) -> int:
    found = 0
    for broker in brokers:
        found |= 1 << broker
    return found
