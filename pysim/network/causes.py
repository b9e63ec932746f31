"""Which reconfiguration caused which message, for those who ask how far each one reaches.

It stays outside of protocols and of the bytes: while an agent reacts to a change of a link, to a
message or to a timer that some reconfiguration caused, all that it sends and schedules has the
same cause. What local clients do has none. A run that does not ask pays nothing for it.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from pysim.network.host import Agent, Host
from pysim.network.transport import BrokerId, DirectProtocol
from pysim.network.world import BARE_NOTICE, Replacement, Timer, World
from pysim.wire import Envelope, Message, type_name

_Hop = tuple[BrokerId, BrokerId, int, int]


class CauseRow(NamedTuple):
    """How many messages of a type that a reconfiguration caused came to a broker's agent."""

    reconfiguration: int
    broker: BrokerId
    type: str
    messages: int


class Causes:
    """The cause of what happens now, those of messages under way, and what was handled so far."""

    def __init__(self) -> None:
        self.current: int | None = None
        self._under_way: dict[_Hop, int] = {}
        self._handled: defaultdict[tuple[int, BrokerId, int], int] = defaultdict(int)

    def under(self, cause: int | None, act: Callable[..., None], *arguments: Any) -> None:
        """Do something that has this cause, as has all that happens meanwhile."""
        before, self.current = self.current, cause
        try:
            act(*arguments)
        finally:
            self.current = before

    def bind(self, callback: Callable[[], None]) -> Callable[[], None]:
        """The same callback, with the cause of this moment whenever it is called."""
        return partial(self.under, self.current, callback)

    def sent(self, source: BrokerId, target: BrokerId, envelope: Envelope) -> None:
        if self.current is not None:
            self._under_way[source, target, envelope.origin, envelope.sequence] = self.current

    def handled(self, source: BrokerId, target: BrokerId, envelope: Envelope) -> int | None:
        """Count a message that comes to an agent; the result is its cause."""
        hop = (source, target, envelope.origin, envelope.sequence)
        cause = self._under_way.pop(hop, None)
        if cause is not None:
            self._handled[cause, target, envelope.type] += 1
        return cause

    def rows(self) -> list[CauseRow]:
        """What was handled, by reconfiguration, broker and type."""
        return sorted(
            CauseRow(cause, broker, type_name(code), messages)
            for (cause, broker, code), messages in self._handled.items()
        )


class TracedWorld(World):
    """A world that notes the cause of what its agent sends and schedules."""

    def __init__(self, causes: Causes, broker: BrokerId, *given: Any) -> None:
        super().__init__(broker, *given)
        self._causes = causes
        send = self.send

        def traced(neighbor: BrokerId, item: Message | Envelope) -> None:
            if causes.current is None:
                send(neighbor, item)
                return
            envelope = item if isinstance(item, Envelope) else self.originate(item)
            send(neighbor, envelope)
            causes.sent(broker, neighbor, envelope)

        self.send = traced

    def send_direct(
        self, broker: BrokerId, item: Message | Envelope, protocol: DirectProtocol = "tcp"
    ) -> None:
        envelope = item if isinstance(item, Envelope) else self.originate(item)
        super().send_direct(broker, envelope, protocol)
        self._causes.sent(self.id, broker, envelope)

    def schedule(self, delay: float, callback: Callable[[], None]) -> Timer:
        return super().schedule(delay, self._causes.bind(callback))


class TracedHost(Host):
    """A host that lets its agent react under the cause of what it reacts to."""

    def __init__(self, causes: Causes, *given: Any) -> None:
        super().__init__(*given)
        self._causes = causes

    def start(self, agent: Agent) -> None:
        super().start(agent)
        causes, broker = self._causes, self.world.id

        def receive(sender: BrokerId, envelope: Envelope) -> None:
            cause = causes.handled(sender, broker, envelope)
            causes.under(cause, agent.receive, sender, envelope)

        self.receive = receive

    def link_up(self, neighbor: BrokerId) -> None:
        self._causes.under(self._cause_of_change(neighbor), super().link_up, neighbor)

    def link_down(self, neighbor: BrokerId) -> None:
        self._causes.under(self._cause_of_change(neighbor), super().link_down, neighbor)

    def link_replaced(self, replacement: Replacement) -> None:
        self._causes.under(replacement.reconfiguration, super().link_replaced, replacement)

    def _cause_of_change(self, neighbor: BrokerId) -> int | None:
        return self.notices.get(neighbor, BARE_NOTICE).reconfiguration
