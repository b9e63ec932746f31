"""What a network backend offers and what it asks of a host: the seam between `ns3` and `memory`.

A transport moves frames and time. It knows no protocol, no message type beyond its code, and no
client. Times are whole nanoseconds, so that equal runs are equal to the last digit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from pysim.network.agent_books import AgentBooks
    from pysim.network.outlet import Originate, Send
    from pysim.wire import Envelope

BrokerId = int
DirectProtocol = Literal["tcp", "udp"]

NANOSECONDS = 1_000_000_000

_TYPE_OFFSET = 5


def type_code(frame: bytes) -> int:
    """The type in a frame's header as the counters see it; 0 if the frame is too short for one."""
    return frame[_TYPE_OFFSET] if len(frame) > _TYPE_OFFSET else 0


class Upcalls(Protocol):
    """What the network calls on a broker's host.

    A network that opens frames itself may call `message_arrived` in the place of `frame_arrived`.
    Without a service model it may also enter the frame in the books and call the agent itself:
    `receive` at that moment, and `receive_failed` if it raises.
    """

    def frame_arrived(self, sender: BrokerId, frame: bytes) -> int | None:
        """A whole frame came in. With a service model the result is the service time (ns)."""

    def message_arrived(self, sender: BrokerId, envelope: "Envelope") -> int | None:
        """The same, with the frame in its envelope."""

    @property
    def receive(self) -> "Callable[[BrokerId, Envelope], None]":
        """Who hears messages: the live agent, if there is one."""

    def receive_failed(self, sender: BrokerId, envelope: "Envelope", error: BaseException) -> None:
        """Judge what `receive` raised; raises what is to end the run."""

    def work(self, task: Callable[[], None]) -> int | None:
        """Do a piece of local work that waited in the input queue like a message."""

    def link_up(self, neighbor: BrokerId) -> None:
        """The overlay link to `neighbor` carries messages from now on."""

    def link_down(self, neighbor: BrokerId) -> None:
        """The overlay link to `neighbor` is gone, and what was in flight on it."""


class Counter(NamedTuple):
    """Application counters of one message type between two brokers, one direction.

    `sent` are frames accepted from the sender's agent, `received` whole frames that reached the
    receiver's input; the difference is accounted for by cause: `lost_link` (the link or a broker
    went down), `lost_packet` (a datagram that the network dropped), `unfinished` (still under way
    when the run ended). `unserved` are those of `received` that never came to the agent: they wait
    in its input queue, or were lost there when their link or the broker went down.
    """

    source: BrokerId
    target: BrokerId
    channel: Literal["link", "tcp", "udp"]
    type: int
    sent: int
    sent_bytes: int
    received: int
    received_bytes: int
    lost_link: int
    lost_packet: int
    unfinished: int
    unserved: int = 0
    unserved_bytes: int = 0


class QueueReport(NamedTuple):
    """What a broker's input queue saw; times in nanoseconds.

    `served` pieces of input came to the server, after `waiting` in all; it worked for `busy`.
    `length` pieces wait now and `longest` at the worst moment, the one in service not counted.
    `delayed` pieces came while it was busy, and `joined` adds up how long the queue was with each.
    """

    broker: BrokerId
    served: int
    busy: int
    waiting: int
    longest: int
    length: int = 0
    delayed: int = 0
    joined: int = 0


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """One link's properties; a transport uses those it models."""

    delay: float = 0.002
    rate: float = 10e6
    queue: int = 1000
    loss: float = 0.0


class Transport(Protocol):
    """A network backend. `Simulation` drives it; agents never see it."""

    @property
    def name(self) -> str:
        """``ns3`` or ``memory``; every result says which."""

    @property
    def now(self) -> int:
        """Simulated time in nanoseconds."""

    def attach(self, broker: BrokerId, host: Upcalls, service: bool) -> None:
        """Give a broker its host; with `service`, its input passes a queue with one server.

        While the server works, all that the broker sends is held, whatever caused it, and leaves
        in order when the service ends: no message overtakes an earlier one.
        """

    def connect(self, a: BrokerId, b: BrokerId, settings: LinkSettings | None = None) -> None:
        """Begin to set up an overlay link; each end hears `link_up` when it can send."""

    def disconnect(self, a: BrokerId, b: BrokerId) -> None:
        """Cut an overlay link; what is in flight is lost, each live end hears `link_down`.

        What came over it and still waits for service is lost too: after `link_down` an agent
        hears nothing of that link's past.
        """

    def set_loss(self, a: BrokerId, b: BrokerId, loss: float) -> None:
        """Change a link's packet loss rate."""

    def crash(self, broker: BrokerId) -> None:
        """Stop a broker: its links go down, its queue is lost, it hears nothing more."""

    def restart(self, broker: BrokerId) -> None:
        """Let a crashed broker hear again; links are connected anew by the caller."""

    def send(self, source: BrokerId, target: BrokerId, frame: bytes) -> None:
        """Send a frame over an overlay link; ValueError if there is no such link."""

    def books(self, broker: BrokerId) -> "AgentBooks":
        """Empty books for a broker's agents, which `outlet` and `Upcalls` will fill."""

    def outlet(self, broker: BrokerId, originate: "Originate", books: "AgentBooks") -> "Send":
        """What a broker's agent sends by: `send` for messages and envelopes, with its books."""

    def send_direct(
        self, source: BrokerId, target: BrokerId, frame: bytes, protocol: DirectProtocol
    ) -> None:
        """Send a frame off the overlay, by unicast over the simulated IP network."""

    def submit(self, broker: BrokerId, task: Callable[[], None]) -> None:
        """Put local work into a broker's input queue (done at once without a service model)."""

    def schedule(self, delay: int, callback: Callable[[], None]) -> int:
        """Call back after `delay` ns; the result is a ticket for `cancel`."""

    def cancel(self, ticket: int) -> None:
        """Forget a scheduled call; one that has fired or was cancelled is fine."""

    def malformed(self, broker: BrokerId, sender: BrokerId) -> None:
        """A frame from `sender` was malformed: count it and close that connection."""

    def run(self, until: int, progress: Callable[[int], None] | None = None) -> None:
        """Run until `until` ns of simulated time; an exception of an upcall surfaces here."""

    def counters(self) -> Sequence[Counter]:
        """The application's books, in a stable order."""

    def queues(self) -> Sequence[QueueReport]:
        """What the input queues saw, one row per broker that has a service model."""

    def timing_fingerprint(self) -> str:
        """A digest over the times, ends and lengths of all frames handed over."""

    def close(self) -> None:
        """Give everything back; the transport is of no further use."""
