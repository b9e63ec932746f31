"""SWITCH: how subscribers' brokers hear that an advertisement's publications change their way.

It must not know what the ways are. PopSub itself flags a publication for this (Algorithms 4 and 5,
see `printed`), which reaches only those whose filter matches it. What is settled instead:

- A SWITCH goes over the tree, behind the publications that were sent on the link before it, to
  every broker with a subscription that intersects the advertisement. Links keep order, so it
  divides what comes by the tree into before and after, for each of them.
- Each change of an advertisement has the next epoch, and a receiver ignores an older one.
- A subscription that arrives on a link whose publications do not take the tree is answered with a
  SWITCH of its own, which goes back the way that it came.
"""

from collections import Counter
from collections.abc import Collection
from typing import cast

from pysim.brokers.covering.tables import Entry
from pysim.brokers.popsub.interests import Interest
from pysim.brokers.popsub.order import Inboxes
from pysim.brokers.popsub.popularity import PopSub
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import Switch


class Switching(PopSub):
    """A broker that tells subscribers of an advertisement by which way its publications come.

    A subclass supplies `switched`, for a SWITCH that came for local subscriptions; it may override
    `answer`, for a subscription on a link that is unpopular, and `unwanted`, when the last local
    subscription to an advertisement has gone. It gets `local`, the number of local subscriptions
    that intersect each advertisement, and with `order` also `inboxes`, which what comes by the tree
    passes already.
    """

    def __init__(
        self, world: World, capacity: float, phi: float, evaluation: float, order: bool
    ) -> None:
        super().__init__(world, capacity, phi, evaluation)
        self.local: Counter[MessageId] = Counter()
        self.inboxes = Inboxes() if order else None

    def deliver(self, found: Collection[Interest], event: Envelope, way: str) -> bool:
        """Where order is kept, what the tree brings may have to wait; it is matched again then."""
        advertisement = None
        if self.inboxes is not None and way == "tree":
            advertisement = self.advertisement_of(event, found)
        if self.inboxes is None or advertisement is None:
            return super().deliver(found, event, way)
        self.inboxes.tree_came(advertisement, lambda: self.deliver_now(event, way))
        return any(interest.clients for interest in found)

    def deliver_now(self, event: Envelope, way: str) -> bool:
        """Deliver to the local clients that want an event at this moment; whether any does."""
        return super().deliver(self.match(event), event, way)

    def on_switch(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(Switch, envelope.message)
        if message.subscription is not None:
            self._pass_to_one(sender, envelope, message)
            return
        for link, entry in sorted(self.gains.of(message.advertisement).items()):
            if entry.count and link != sender:
                self.world.send(link, envelope)
        if self.local[message.advertisement]:
            self.switched(message)

    def _pass_to_one(self, sender: BrokerId, envelope: Envelope, message: Switch) -> None:
        """Go back the way of a subscription; if it has gone meanwhile, nobody waits for this."""
        assert message.subscription is not None
        for entry in self.subscriptions.all_of(message.subscription):
            if entry.last_hop == self.world.id:
                self.switched(message)
            elif entry.last_hop != sender:
                self.world.send(entry.last_hop, envelope)

    def switched(self, switch: Switch) -> None:
        """Publications that local clients want come by another way."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a switch means")

    def answer(self, advertisement: MessageId, entry: Entry) -> None:
        """A subscription came on a link on which a local client's advertisement is unpopular."""

    def unwanted(self, advertisement: MessageId) -> None:
        """No local client wants an advertisement any more."""

    # Who wants what

    def index(self, entry: Entry) -> None:
        super().index(entry)
        interest = self.interests.of(entry.filter)
        assert interest is not None
        for advertisement in interest.advertisements:
            if entry.last_hop == self.world.id:
                self.local[advertisement.id] += 1
            elif advertisement.id.origin == self.world.id:
                gain = self.gains.of(advertisement.id).get(entry.last_hop)
                if gain is not None and not gain.popular:
                    self.answer(advertisement.id, entry)

    def unindex(self, entry: Entry) -> None:
        interest = self.interests.of(entry.filter)
        assert interest is not None
        super().unindex(entry)
        if entry.last_hop == self.world.id:
            for advertisement in interest.advertisements:
                self.local[advertisement.id] -= 1
                if not self.local[advertisement.id]:
                    del self.local[advertisement.id]
                    self.unwanted(advertisement.id)

    def _learn(self, hop: BrokerId, id: MessageId, filter: Filter) -> None:
        is_new = self.advertisements.get(id) is None
        super()._learn(hop, id, filter)
        if is_new:
            advertisement = self.advertisements.get(id)
            wanting = [each for each in self.interests if advertisement in each.advertisements]
            self.local[id] = sum(len(interest.clients) for interest in wanting)

    def _unlearn(self, hop: BrokerId, id: MessageId) -> None:
        super()._unlearn(hop, id)
        if self.advertisements.get(id) is None:
            self.local.pop(id, None)
