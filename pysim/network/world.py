"""The small world an agent lives in: identity, time, neighbors, sending, timers, chance, records.

An agent gets a `World` and nothing else. It never reads a clock, a socket or a global random
generator, and it cannot tell which network carries its messages.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pysim.network.agent_books import AgentBooks
from pysim.network.outlet import Send
from pysim.network.transport import NANOSECONDS, BrokerId, DirectProtocol, Transport
from pysim.wire import Envelope, Message, WireError

ClientId = int
Deferred = tuple[Sequence[ClientId], Envelope, str]
"""Deliveries that wait for the end of a service: to whom, what, and the way it came by."""


@dataclass(frozen=True, slots=True)
class LinkNotice:
    """What the tree maintenance module tells a broker about a link change, beyond the change.

    `reconfiguration` numbers a lost link and the new one in its place alike; a bare change is
    `BARE_NOTICE`. All agents are told the same; a protocol uses what it may assume to know. A link
    that an agent closed on purpose is `closed`: both ends know it at once, as by TCP's FIN.
    """

    reconfiguration: int | None = None
    closed: bool = False


BARE_NOTICE = LinkNotice()


@dataclass(frozen=True, slots=True)
class Replacement:
    """What the tree maintenance module tells an end of a lost link when its replacement is known.

    `near` is the new link's end in this broker's part of the tree. One of the two old ends is the
    initiator: it alone is told the whole way to the other one, which is `head`, from itself to the
    new link, and then `tail`.
    """

    reconfiguration: int
    near: BrokerId
    head: tuple[BrokerId, ...] = ()
    tail: tuple[BrokerId, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """What the topology says about a broker, and about the links that it begins with.

    An operator would have configured the broker with it; nothing of it changes during a run.
    """

    attributes: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[BrokerId, Mapping[str, Any]] = field(default_factory=dict)


class LinkControl(Protocol):
    """Who opens and closes overlay links when an agent asks for it."""

    def open_link(self, a: BrokerId, b: BrokerId) -> None: ...

    def close_link(self, a: BrokerId, b: BrokerId) -> None: ...


class Records(Protocol):
    """Where deliveries and an agent's own measurements go."""

    def delivered(
        self, broker: BrokerId, client: ClientId, envelope: Envelope, time: int, way: str = ""
    ) -> None: ...

    def delivered_to_all(
        self,
        broker: BrokerId,
        clients: Sequence[ClientId],
        envelope: Envelope,
        time: int,
        way: str = "",
    ) -> None: ...

    def recorded(self, broker: BrokerId, name: str, value: float, time: int) -> None: ...


class Timer:
    """A scheduled callback that can be cancelled."""

    __slots__ = ("_ticket", "_transport")

    def __init__(self, transport: Transport, ticket: int) -> None:
        self._transport = transport
        self._ticket = ticket

    def cancel(self) -> None:
        """Forget the callback; it is fine if it has fired already."""
        self._transport.cancel(self._ticket)


class World:
    """Everything an agent may know and do.

    `id` is the broker's number, `neighbors` the brokers it has a live overlay link to (ascending),
    `random` a stream of its own, `place` what its topology says about it.
    """

    __slots__ = (  # all in one place: a run touches every broker's world, and caches are small
        "__dict__",  # for who watches a world and wraps its methods
        "_books",
        "_deferred",
        "_guard",
        "_life",
        "_link_control",
        "_records",
        "_sequence",
        "_transport",
        "id",
        "neighbors",
        "place",
        "random",
        "send",
    )

    def __init__(
        self,
        broker: BrokerId,
        transport: Transport,
        stream: random.Random,
        records: Records,
        books: AgentBooks,
    ) -> None:
        self.id = broker
        self.neighbors: tuple[BrokerId, ...] = ()
        self.random = stream
        self.place = Place()
        self.send: Send = transport.outlet(broker, self.originate, books)
        """Send to a neighbor: a message as a new one, an envelope byte for byte as it is."""
        self._transport = transport
        self._books = books
        self._records = records
        self._sequence = 0
        self._life = 0
        self._guard = _unguarded
        self._link_control: LinkControl | None = None
        self._deferred: list[Deferred] | None = None

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return self._transport.now / NANOSECONDS

    @property
    def incarnation(self) -> int:
        """How often the broker has crashed: what a restarted one tells itself apart by."""
        return self._life

    def originate(self, message: Message) -> Envelope:
        """Give a new message its identity and its bytes, to send it to several brokers."""
        self._sequence += 1
        try:
            return Envelope.seal(message, self.id, self._sequence)
        except WireError as error:  # our own mistake, not that of whoever sent what we react to
            raise ValueError(str(error)) from None

    def send_direct(
        self, broker: BrokerId, item: Message | Envelope, protocol: DirectProtocol = "tcp"
    ) -> None:
        """Send to any broker off the overlay, by unicast over the simulated IP network."""
        envelope = item if isinstance(item, Envelope) else self.originate(item)
        self._transport.send_direct(self.id, broker, envelope.frame, protocol)
        self._books.enter_sent(broker, envelope.frame)

    def open_link(self, broker: BrokerId) -> None:
        """Ask for an overlay link; both ends hear `link_up`, or nothing if it cannot be."""
        self._control().open_link(self.id, broker)

    def close_link(self, neighbor: BrokerId) -> None:
        """Ask for the end of an overlay link; both ends hear `link_down` with a `closed` notice.

        What is in flight then is lost: an agent stops using a link before it closes it.
        """
        self._control().close_link(self.id, neighbor)

    def schedule(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` after `delay` seconds of simulated time, unless the broker crashes."""
        if delay < 0:
            raise ValueError(f"delay(={delay}) should be >= 0 seconds")
        life = self._life

        def fire() -> None:
            if self._life == life:
                self._guard("on a timer", callback)

        ticket = self._transport.schedule(round(delay * NANOSECONDS), fire)
        return Timer(self._transport, ticket)

    def deliver(self, client: ClientId, envelope: Envelope, way: str = "") -> None:
        """Hand an event to a local client (when the service of its message ends).

        `way` is what a protocol with several calls the one that this event came by.
        """
        if self._deferred is None:
            self._records.delivered(self.id, client, envelope, self._transport.now, way)
        else:
            self._deferred.append(((client,), envelope, way))

    def deliver_to_all(
        self, clients: Sequence[ClientId], envelope: Envelope, way: str = ""
    ) -> None:
        """Hand an event to several local clients at once, each of whom is there once."""
        if self._deferred is None:
            self._records.delivered_to_all(self.id, clients, envelope, self._transport.now, way)
        else:
            self._deferred.append((clients, envelope, way))

    def record(self, name: str, value: float) -> None:
        """Note a measurement of the agent's own in the run's results."""
        self._records.recorded(self.id, name, value, self._transport.now)

    def _control(self) -> LinkControl:
        if self._link_control is None:
            raise RuntimeError("agents cannot change the overlay of this network")
        return self._link_control

    def _deliver_after(self, delay: int, deferred: list[Deferred]) -> None:
        """Make deliveries when the service ends that they came from, unless a crash ends it."""
        life = self._life

        def hand_over() -> None:
            if self._life == life:
                now, deliver = self._transport.now, self._records.delivered_to_all
                for clients, envelope, way in deferred:
                    deliver(self.id, clients, envelope, now, way)

        self._transport.schedule(delay, hand_over)

    def _end_life(self) -> None:
        """The broker crashed: what its agent scheduled is void, and it has no neighbors."""
        self._life += 1
        self.neighbors = ()


def _unguarded(activity: str, task: Callable[[], None]) -> None:
    """Until a host looks after a world, errors go their own way."""
    task()
