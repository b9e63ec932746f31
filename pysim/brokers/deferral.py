"""What the protocols that defer unsubscriptions share: lost routes that wait, and the FLUSH.

It must not know when a protocol lets a route go before its time, nor why.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Generic, TypeVar, cast

from pysim.brokers.subscription_forwarding import SubscriptionForwarding
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import LinkNotice, Timer, World
from pysim.units import Duration
from pysim.wire import Envelope
from pysim.wire.messages import Flush

Key = TypeVar("Key")
Value = TypeVar("Value")

UnsubscribeAfter = Annotated[
    Duration, "time until routes over a lost link are given up all the same (T_u)"
]
UseFlush = Annotated[bool, "let FLUSH give up the routes over a lost link early"]

TABLE_I = Duration(0.15)
"""T_u and T_s as the paper sets them."""


class WaitingRoom(Generic[Key, Value]):
    """Values that wait under a key until they are taken or their time is up."""

    def __init__(self, world: World, time: float) -> None:
        self._world = world
        self._time = time
        self._waiting: dict[Key, tuple[Value, Timer]] = {}

    def put(self, key: Key, value: Value, time_up: Callable[[], None]) -> None:
        """Let a value wait; if nobody takes it in time it is gone, and `time_up` is called."""

        def leave() -> None:
            del self._waiting[key]
            time_up()

        self._waiting[key] = (value, self._world.schedule(self._time, leave))

    def take(self, key: Key) -> Value | None:
        """The value under a key, which waits no longer; None if there is none."""
        value, timer = self._waiting.pop(key, (None, None))
        if timer is not None:
            timer.cancel()
        return value

    def items(self) -> list[tuple[Key, Value]]:
        return [(key, value) for key, (value, _) in self._waiting.items()]

    def __len__(self) -> int:
        return len(self._waiting)


class LostRoutes:
    """Routes over lost links, out of the table at once, whose unsubscriptions are deferred.

    They are kept by link and reconfiguration (the paper's *pending*), not by neighbor: the same
    neighbor may be back over another link before they are given up.
    """

    def __init__(self, broker: SubscriptionForwarding, time: float) -> None:
        self._broker = broker
        self._routes: WaitingRoom[tuple[int, int | None], list[Filter]] = WaitingRoom(
            broker.world, time
        )
        self._links_lost = 0

    def __len__(self) -> int:
        return len(self._routes)

    def keep(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        """The paper's manageBrokenLink; a leaf has nobody to unsubscribe from, so it is done."""
        broker = self._broker
        broker.forget(neighbor)
        patterns = broker.patterns_of(neighbor)
        for pattern in patterns:
            broker.strike(neighbor, pattern)
        if broker.world.neighbors:
            self._links_lost += 1
            key = (self._links_lost, notice.reconfiguration)
            self._routes.put(key, patterns, lambda: self._give_up(patterns))

    def of(self, reconfiguration: int) -> Iterator[Filter]:
        """The patterns of the routes that wait for a reconfiguration."""
        for (_, number), patterns in self._routes.items():
            if number == reconfiguration:
                yield from patterns

    def release(self, reconfiguration: int) -> None:
        """Give up the routes that wait for a reconfiguration, before their time."""
        for key, patterns in self._routes.items():
            if key[1] == reconfiguration:
                self._routes.take(key)
                self._give_up(patterns)

    def _give_up(self, patterns: list[Filter]) -> None:
        """Unsubscribe wherever nobody else on this side wants a pattern by now."""
        broker = self._broker
        for pattern in patterns:
            for neighbor in broker.concerned(broker.world.id, broker.subscribers(pattern)):
                broker.untell(neighbor, pattern)


def pass_flush_on(world: World, sender: BrokerId, flush: Envelope) -> int:
    """Send a FLUSH to all neighbors but the sender; the result is its reconfiguration."""
    for neighbor in world.neighbors:
        if neighbor != sender:
            world.send(neighbor, flush)
    return cast(Flush, flush.message).reconfiguration
