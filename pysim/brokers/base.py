"""The base class of every broker: local clients, and dispatch of messages to handlers by type.

It must not know any protocol, nor the network beyond the world that an agent is given.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar, NoReturn

from pysim.brokers.clients import LocalClients
from pysim.brokers.promises import Promises
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, LinkNotice, Place, Replacement, World
from pysim.wire import Envelope, message_types, type_name
from pysim.wire.envelope import receive_by_type
from pysim.wire.messages import Event


class Broker:
    """A publish/subscribe broker.

    A subclass supplies `name`, a handler ``on_<message type>(self, sender, envelope)`` for each
    type it takes part in (`on_event`, `on_subscribe`, ...), and overrides the reactions it cares
    about: `start`, `link_up`, `link_down`, `link_replaced`, and, called by local clients,
    `subscribe`, `unsubscribe`, `advertise`, `unadvertise`, `publish`. Its options are keyword-only
    parameters of its constructor, each ``Annotated`` with a line of help.

    It gets `self.world` (see `pysim.network.world.World`), `self.clients` with the local
    subscriptions, and `deliver_locally(envelope)`. Nothing blocks; everything that happens, happens
    in a reaction.
    """

    __slots__ = ("__dict__", "clients", "world")

    name: ClassVar[str] = ""
    needs_tree: ClassVar[bool] = True
    """Whether the protocol works on overlays without cycles only."""
    promises: ClassVar[Promises] = Promises()
    """What `pysim conformance` holds the protocol to."""
    work_units: ClassVar[frozenset[str]] = frozenset()
    """The names of all work that `take_work` may tell of; none where a protocol counts none."""
    _handlers: ClassVar[Mapping[int, Callable[[Any, BrokerId, Envelope], None]]] = {}
    """By type code, once there is a broker of this class: one table that stays in the caches."""

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        """Raise ValueError if options do not go together; before anything runs."""

    @classmethod
    def check_overlay(cls, places: Mapping[BrokerId, Place]) -> None:
        """Raise ValueError if brokers cannot live at these places; before anything runs."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.clients = LocalClients()
        type(self)._handlers = _handlers(type(self))  # type: ignore[arg-type]

    def start(self) -> None:
        """The broker comes to life; links are announced by `link_up` as they are connected."""

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        """`neighbor` can be sent to from now on."""

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        """`neighbor` is gone, and so is what was in flight."""

    def link_replaced(self, replacement: Replacement) -> None:
        """A new link is about to take the place of one that this broker lost."""

    def subscribe(self, client: ClientId, filter: Filter) -> None:
        """A local client subscribes."""
        self.clients.add(client, filter)

    def unsubscribe(self, client: ClientId, filter: Filter) -> None:
        """A local client withdraws a subscription."""
        self.clients.remove(client, filter)

    def advertise(self, client: ClientId, filter: Filter) -> None:
        """A local client announces what it will publish; most tree protocols need not know."""

    def unadvertise(self, client: ClientId, filter: Filter) -> None:
        """A local client withdraws an advertisement."""

    def publish(self, client: ClientId, event: Envelope) -> None:
        """A local client publishes; `event` is an `Event` that carries its identity already."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it publishes")

    receive = receive_by_type
    """Hand a message, (sender, envelope), to the handler of its type; `sender` sent it last."""

    def _unhandled(self, envelope: Envelope) -> NoReturn:
        """No handler is there for a message that came."""
        raise TypeError(
            f"{type(self).__name__} has no handler for {type_name(envelope.type)} messages"
        )

    def deliver_locally(self, envelope: Envelope) -> None:
        """Deliver an event to every local client with a matching subscription, once each."""
        if not self.clients.by_filter:
            return  # before the body is decoded, which a mere relay need not do
        message = envelope.message
        assert isinstance(message, Event)
        for client in self.clients.interested(message.attributes):
            self.world.deliver(client, envelope)

    def routing_table(self) -> Mapping[Any, object]:
        """The routing state, for tests and pictures; empty where a protocol keeps none."""
        return {}

    def table_size(self) -> int:
        """How many entries an event is matched against, for cost models that go by it."""
        return len(self.routing_table()) or len(self.clients.filters())

    def under_way(self) -> int:
        """Replacements of links whose repair began here, less those whose repair ended here.

        Over all brokers that is how many are being carried out. A protocol that promises
        `links_in_turn` tells it, so that a run in which two of them overlap can say so.
        """
        return 0

    def take_work(self) -> Mapping[str, float]:
        """The units of work done since this was last asked, by names out of `work_units`.

        A broker with work to tell of overrides both; the mapping is the caller's from then on.
        """
        return {}


@cache
def _handlers(broker: type) -> Mapping[int, Callable[[Any, BrokerId, Envelope], None]]:
    """The handlers of a class by type code: one table for all its brokers, so it stays in cache."""
    return {
        code: getattr(broker, method)
        for code, kind in message_types().items()
        if hasattr(broker, method := "on_" + kind.name.replace("-", "_"))
    }
