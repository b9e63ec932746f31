"""How long destination lists are on each link, by the type of the message that carries them.

It watches from outside: no agent sees it, and no message is other for it. It must not know what a
protocol does with a list.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from pysim.network.simulation import Simulation
from pysim.network.transport import BrokerId, DirectProtocol
from pysim.network.world import World
from pysim.wire import Envelope, Message

_encode = msgspec.msgpack.Encoder().encode


class ListRow(NamedTuple):
    """Messages from one broker to another with lists of one length; `bytes` are those of the lists.

    `first` are those that their origin sent; others were passed on.
    """

    source: BrokerId
    target: BrokerId
    type: str
    first: bool
    length: int
    messages: int
    bytes: int


class DestinationLists:
    """Counts the lists of all messages that are sent from now on."""

    def __init__(self, simulation: Simulation) -> None:
        self._messages: Counter[tuple[BrokerId, BrokerId, str, bool, int]] = Counter()
        self._bytes: Counter[tuple[BrokerId, BrokerId, str, bool, int]] = Counter()
        for host in simulation.hosts.values():
            self._watch(host.world)

    def rows(self) -> Iterator[ListRow]:
        """All counts so far, in order."""
        for key in sorted(self._messages):
            yield ListRow(*key, self._messages[key], self._bytes[key])

    def _watch(self, world: World) -> None:
        send, send_direct = world.send, world.send_direct

        def noted(neighbor: BrokerId, item: Message | Envelope) -> None:
            self._note(world.id, neighbor, item)
            send(neighbor, item)

        def noted_direct(
            broker: BrokerId, item: Message | Envelope, protocol: DirectProtocol = "tcp"
        ) -> None:
            self._note(world.id, broker, item)
            send_direct(broker, item, protocol)

        world.send = noted
        world.send_direct = noted_direct  # type: ignore[method-assign]

    def _note(self, source: BrokerId, target: BrokerId, item: Message | Envelope) -> None:
        message = item.message if isinstance(item, Envelope) else item
        destinations = getattr(message, "destinations", None)
        if destinations is not None:
            first = not isinstance(item, Envelope) or item.id.origin == source
            key = source, target, message.NAME, first, len(destinations)
            self._messages[key] += 1
            self._bytes[key] += len(_encode(destinations))
