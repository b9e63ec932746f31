"""What a run's messages weigh in all, and what its brokers hold at the end.

It watches from outside: no agent sees it, and no message is other for it. What a message weighs
says `pysim.wire.weights`.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from pysim.brokers import Broker
from pysim.experiments.sampling import sizes_of
from pysim.network.simulation import Simulation
from pysim.network.transport import BrokerId, DirectProtocol
from pysim.network.world import World
from pysim.wire import Envelope, Message, type_name
from pysim.wire.weights import CARRIERS, weight, weight_of_type


class WeightRow(NamedTuple):
    """Messages of one type that agents sent, and their weight in all."""

    type: str
    messages: int
    weight: float


class StateRow(NamedTuple):
    """What a broker holds: entries that an event is matched against, and all subscriptions."""

    broker: BrokerId
    entries: int
    stored: int


class Costs:
    """Weighs all messages that are sent from now on by brokers of a protocol.

    Only messages whose weight depends on what they carry are looked at one by one, and only where
    the protocol has a handler for such: others do not send any.
    """

    def __init__(self, simulation: Simulation, protocol: type[Broker]) -> None:
        self._simulation = simulation
        self._weights: Counter[int] = Counter()  # in tenths, which add up exactly
        self._carriers = frozenset(
            kind.CODE for kind in CARRIERS if hasattr(protocol, f"on_{kind.NAME.replace('-', '_')}")
        )
        if self._carriers:
            for host in simulation.hosts.values():
                self._watch(host.world)

    def weights(self) -> Iterator[WeightRow]:
        """A row for each type that anything was sent of, by type."""
        sent: Counter[int] = Counter()
        for row in self._simulation.transport.counters():
            sent[row.type] += row.sent
        for code, messages in sorted(sent.items()):
            fixed = weight_of_type(code)
            tenths = self._weights[code] if fixed is None else messages * round(10 * fixed)
            if messages:
                yield WeightRow(type_name(code), messages, tenths / 10)

    def state(self) -> Iterator[StateRow]:
        """A row for each broker that is up."""
        for broker, host in sorted(self._simulation.hosts.items()):
            sizes = dict(sizes_of(host.agent))
            if "entries" in sizes:
                entries = int(sizes["entries"])
                yield StateRow(broker, entries, int(sizes.get("stored", entries)))

    def _watch(self, world: World) -> None:
        send, send_direct = world.send, world.send_direct

        def weighed(neighbor: BrokerId, item: Message | Envelope) -> None:
            self._weigh(item)
            send(neighbor, item)

        def weighed_direct(
            broker: BrokerId, item: Message | Envelope, protocol: DirectProtocol = "tcp"
        ) -> None:
            self._weigh(item)
            send_direct(broker, item, protocol)

        world.send = weighed
        world.send_direct = weighed_direct  # type: ignore[method-assign]

    def _weigh(self, item: Message | Envelope) -> None:
        code = item.type if isinstance(item, Envelope) else item.CODE
        if code in self._carriers:
            message = item.message if isinstance(item, Envelope) else item
            self._weights[code] += round(10 * weight(message))
