"""What an agent sends by, for networks that have nothing faster; the ns-3 network makes its own.

It joins the network's plain `send` with the identity of new messages and the agent's books.
"""

from collections.abc import Callable

from pysim.network.agent_books import AgentBooks
from pysim.network.transport import BrokerId
from pysim.wire import Envelope, Message

Send = Callable[[BrokerId, Message | Envelope], None]
Originate = Callable[[Message], Envelope]


def plain_outlet(
    transmit: Callable[[BrokerId, BrokerId, bytes], None],
    broker: BrokerId,
    originate: Originate,
    books: AgentBooks,
) -> Send:
    """The function that sends `broker`'s messages to its neighbors and enters them in its books."""

    def send(neighbor: BrokerId, item: Message | Envelope) -> None:
        envelope = item if isinstance(item, Envelope) else originate(item)
        transmit(broker, neighbor, envelope.frame)
        books.enter_sent(neighbor, envelope.frame)

    return send
