"""A host joins one agent to its world and to the network: it opens frames, keeps the agent's books
and turns an agent's failure into an error that says where and when it happened."""

from collections.abc import Callable
from typing import Any, Protocol

from pysim.filters import Filter
from pysim.network.agent_books import AgentBooks
from pysim.network.transport import NANOSECONDS, BrokerId, Transport
from pysim.network.world import (
    BARE_NOTICE,
    ClientId,
    Deferred,
    LinkNotice,
    Replacement,
    World,
)
from pysim.wire import Envelope, WireError


class Agent(Protocol):
    """The reactions to the network and to local clients; `pysim.brokers.Broker` is their base."""

    def start(self) -> None: ...

    def receive(self, sender: BrokerId, envelope: Envelope) -> None: ...

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None: ...

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None: ...

    def link_replaced(self, replacement: Replacement) -> None: ...

    def subscribe(self, client: ClientId, filter: Filter) -> None: ...

    def unsubscribe(self, client: ClientId, filter: Filter) -> None: ...

    def advertise(self, client: ClientId, filter: Filter) -> None: ...

    def unadvertise(self, client: ClientId, filter: Filter) -> None: ...

    def publish(self, client: ClientId, event: Envelope) -> None: ...


class CostModel(Protocol):
    """How long a broker's CPU works on a piece of input."""

    def cost(self, agent: Any, envelope: Envelope | None) -> float:
        """Seconds of service, asked after the agent handled `envelope` (None: local work)."""


class AgentError(RuntimeError):
    """An agent raised: which broker, when, and on what; the cause is chained."""

    def __init__(self, broker: BrokerId, time: int, activity: str, cause: BaseException) -> None:
        super().__init__(
            f"broker {broker} failed at {time / NANOSECONDS:.9f} s {activity}: "
            f"{type(cause).__name__}: {cause}"
        )
        self.broker = broker
        self.time = time
        self.activity = activity


class Host:
    """One broker's place in the network; the transport calls its `Upcalls`."""

    __slots__ = (
        "_agent",
        "_costs",
        "_transport",
        "books",
        "malformed",
        "notices",
        "receive",
        "world",
    )

    def __init__(
        self,
        world: World,
        transport: Transport,
        books: AgentBooks,
        costs: CostModel | None,
    ) -> None:
        self.world = world
        self.books = books
        self.notices: dict[BrokerId, LinkNotice] = {}
        """What the next change of the link to a neighbor is to be announced with."""
        self.malformed: list[str] = []
        self._transport = transport
        self._costs = costs
        self._agent: Agent | None = None
        self.receive: Callable[[BrokerId, Envelope], None] = _nobody_hears
        world._guard = self.guard

    @property
    def agent(self) -> Agent | None:
        """The live agent, or None while the broker is down."""
        return self._agent

    def start(self, agent: Agent) -> None:
        """Let a new agent live here."""
        self._agent = agent
        self.receive = agent.receive
        self.guard("while starting", agent.start)

    def stop(self) -> None:
        """The broker crashed: its agent and all it knew are gone."""
        self._agent = None
        self.receive = _nobody_hears
        self.notices.clear()
        self.world._end_life()

    def frame_arrived(self, sender: BrokerId, frame: bytes) -> int | None:
        try:
            envelope = Envelope.open(frame)
        except WireError as error:
            self.books.enter_received(frame)
            self._reject(sender, error)
            return None
        return self.message_arrived(sender, envelope)

    def message_arrived(self, sender: BrokerId, envelope: Envelope) -> int | None:
        self.books.enter_received(envelope.frame)
        world = self.world
        deferred: list[Deferred] | None = None if self._costs is None else []
        world._deferred = deferred
        try:
            self.receive(sender, envelope)
        except Exception as error:
            self.receive_failed(sender, envelope, error)
        finally:
            world._deferred = None
        return None if deferred is None else self._service(envelope, deferred)

    def receive_failed(self, sender: BrokerId, envelope: Envelope, error: BaseException) -> None:
        if isinstance(error, WireError):
            self._reject(sender, error)
        elif isinstance(error, Exception):
            activity = f"handling {envelope!r} from broker {sender}"
            raise AgentError(self.world.id, self._transport.now, activity, error) from error
        else:
            raise error

    def work(self, task: Callable[[], None]) -> int | None:
        deferred: list[Deferred] | None = None if self._costs is None else []
        self.world._deferred = deferred
        try:
            self.guard("in local work", task)
        finally:
            self.world._deferred = None
        return None if deferred is None else self._service(None, deferred)

    def link_up(self, neighbor: BrokerId) -> None:
        world = self.world
        world.neighbors = tuple(sorted({*world.neighbors, neighbor}))
        agent = self._agent
        if agent is not None:
            notice = self.notices.pop(neighbor, BARE_NOTICE)
            self.guard(f"on link up to {neighbor}", lambda: agent.link_up(neighbor, notice))

    def link_down(self, neighbor: BrokerId) -> None:
        world = self.world
        world.neighbors = tuple(n for n in world.neighbors if n != neighbor)
        agent = self._agent
        if agent is not None:
            notice = self.notices.pop(neighbor, BARE_NOTICE)
            self.guard(f"on link down to {neighbor}", lambda: agent.link_down(neighbor, notice))

    def link_replaced(self, replacement: Replacement) -> None:
        """Tell the agent what takes the place of a link that it lost."""
        agent = self._agent
        if agent is not None:
            self.guard("on a link's replacement", lambda: agent.link_replaced(replacement))

    def guard(self, activity: str, task: Callable[[], None]) -> None:
        """Do something of the agent's; its failure becomes an `AgentError`."""
        try:
            task()
        except AgentError:
            raise
        except Exception as error:
            raise AgentError(self.world.id, self._transport.now, activity, error) from error

    def _service(self, envelope: Envelope | None, deferred: list[Deferred]) -> int:
        """How long what was just done takes; the deliveries that it made wait until then."""
        assert self._costs is not None
        service = round(self._costs.cost(self._agent, envelope) * NANOSECONDS)
        if deferred:
            self.world._deliver_after(service, deferred)
        return service

    def _reject(self, sender: BrokerId, error: WireError) -> None:
        self.malformed.append(f"from broker {sender}: {error}")
        self._transport.malformed(self.world.id, sender)


def _nobody_hears(sender: BrokerId, envelope: Envelope) -> None:
    """What becomes of a message while the broker is down."""
