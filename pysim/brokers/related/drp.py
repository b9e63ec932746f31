"""DRP: events carry their destinations in a bit vector of fixed size.

Carzaniga, Hall and Wolf, technical report, Lugano 2009, as merc.txt, Sec. II tells it: like other
destination-based protocols it matches an event at its source, and there the vector is made; it
travels unchanged. Broker b has the bit b modulo the vector's size. If there are more brokers than
bits, some share one and are served together: such an event reaches brokers that do not want it, and
is matched there in vain. That, or vectors as long as there are brokers, is the scalability limit.

An event goes down the tree of its source to every branch in which some broker's bit is set, so each
broker gets it once at most.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, cast

from pysim.brokers.related.mapped import Branch, TreeBroker
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, World
from pysim.wire import Envelope
from pysim.wire.messages import Event, VectorEvent

_MOST_BITS = 1 << 16


class Drp(TreeBroker):
    """Matches at the source, and at every broker whose bit is set."""

    name: ClassVar[str] = "drp"

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        bits = options.get("bits", 256)
        if not 1 <= bits <= _MOST_BITS:
            raise ValueError(f"bits(={bits}) should be from 1 to {_MOST_BITS:,}")

    def __init__(
        self, world: World, *, bits: Annotated[int, "size of the vector in every event"] = 256
    ) -> None:
        super().__init__(world)
        self._bits = bits
        self._masks: dict[frozenset[BrokerId], int] = {}

    def publish(self, client: ClientId, event: Envelope) -> None:
        self.serve(event)
        message = cast(Event, event.message)
        wanting = self.wanting(message.attributes)
        if wanting:
            vector = self._mask(wanting).to_bytes((self._bits + 7) // 8, "little")
            sealed = VectorEvent(vector, message.attributes, message.payload)
            self.pass_down(Envelope.seal(sealed, *event.id))

    def on_vector_event(self, sender: BrokerId, event: Envelope) -> None:
        if self._vector(event) >> (self.world.id % self._bits) & 1:
            self.serve(event)
        self.pass_down(event)

    def leads(self, event: Envelope, branch: Branch) -> bool:
        if branch.below not in self._masks:
            self._masks[branch.below] = self._mask(branch.below)
        return bool(self._vector(event) & self._masks[branch.below])

    def _mask(self, brokers: Iterable[BrokerId]) -> int:
        bits = self._bits
        mask = 0
        for broker in brokers:
            mask |= 1 << (broker % bits)
        return mask

    def _vector(self, event: Envelope) -> int:
        return int.from_bytes(cast(VectorEvent, event.message).vector, "little")
