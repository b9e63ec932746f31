"""Link matching: every broker has all subscriptions and decides by them where an event goes on.

Banavar et al., ICDCS 1999, as merc.txt, Sec. II tells it: a copy of all subscriptions at each
broker, and each calculates the subset of links to which an event is to be sent, on the tree of its
source. Events carry nothing but their identity, which names the source. What is not modelled is the
parallel search tree, which makes a match cheaper, not another one: work is all entries at every
broker on the way.
"""

from typing import ClassVar

from pysim.brokers.related.mapped import Branch, TreeBroker, attributes_of
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, World
from pysim.wire import Envelope


class LinkMatching(TreeBroker):
    """Matches at every broker on the way, against everything, and forwards on the source's tree."""

    name: ClassVar[str] = "link-matching"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._wanting: frozenset[BrokerId] = frozenset()

    def publish(self, client: ClientId, event: Envelope) -> None:
        self._route(event)

    def on_event(self, sender: BrokerId, event: Envelope) -> None:
        self._route(event)

    def _route(self, event: Envelope) -> None:
        self.serve(event)
        self._wanting = frozenset(self.wanting(attributes_of(event)))
        self.pass_down(event)

    def leads(self, event: Envelope, branch: Branch) -> bool:
        return not self._wanting.isdisjoint(branch.below)
