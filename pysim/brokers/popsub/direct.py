"""Direct Delivery: an unpopular publication goes straight to the brokers that want it.

PopSub, Sec. 4.3. What this module settles:

- The publisher's broker matches against its PRT entries of the link, and sends one message to each
  distinct broker that such a subscription came from (its id names it), off the tree, by TCP.
- The receiver matches it against the subscriptions of its own clients and does not send it on.
- With `order`, publications of an advertisement reach clients in the order of publication. Each
  flip then sends a SWITCH down the tree. To direct delivery, its epoch is in all publications that
  come directly, and they wait until it is there. Back to the tree, it names the brokers that got
  any of them; each also gets a DIRECT-END behind them, and what comes by the tree waits for it.
- Way ``direct``. Counters: ``direct-forwards``. A direct forward enters the gain ratio with a gain
  of one, as in the paper. For each unpopular publication there is a record ``direct-forwards``.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar, cast

from pysim.brokers.covering.tables import Entry
from pysim.brokers.popsub.gains import GainEntry
from pysim.brokers.popsub.interests import Interest
from pysim.brokers.popsub.order import DirectInterval, Order
from pysim.brokers.popsub.popularity import CAPACITY, EVALUATION, PHI, Capacity, Evaluation, Phi
from pysim.brokers.popsub.routing import Publication
from pysim.brokers.popsub.switching import Switching
from pysim.network.transport import BrokerId
from pysim.network.world import World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import DirectEnd, DirectEvent, Event, Switch


class _Epoch:
    """A time of direct delivery on a link, and who was sent anything in it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.receivers: set[BrokerId] = set()


class DirectDelivery(Switching):
    """PopSub that sends unpopular publications to each subscriber's broker by itself."""

    name: ClassVar[str] = "popsub-direct"

    def __init__(
        self,
        world: World,
        *,
        capacity: Capacity = CAPACITY,
        phi: Phi = PHI,
        evaluation: Evaluation = EVALUATION,
        order: Order = False,
    ) -> None:
        super().__init__(world, capacity, phi, evaluation, order)
        self.counters["direct-forwards"] = 0
        self._last_epoch = 0
        self._epochs: dict[tuple[BrokerId, MessageId], _Epoch] = {}
        self._intervals: dict[MessageId, dict[int, DirectInterval]] = {}

    # The publisher's broker

    def send_unpopular(self, publication: Publication, entries: Sequence[GainEntry]) -> None:
        if self.inboxes is None:
            forwards = self._send_directly(publication, [entry.link for entry in entries])
        else:
            forwards = sum(self._send_in_order(publication, entry) for entry in entries)
        self._done.direct += forwards
        self.counters["direct-forwards"] += forwards
        self.counters["gain"] += forwards
        self.counters["gain-forwards"] += forwards
        self.world.record("direct-forwards", forwards)

    def _send_directly(self, publication: Publication, links: Collection[BrokerId]) -> int:
        """Send to all brokers behind links that want it; how many they are."""
        message = cast(Event, publication.event.message)
        direct = publication.event.with_body(DirectEvent(message.attributes, message.payload))
        return self._send_to(_subscribers(publication.found, links), direct)

    def _send_in_order(self, publication: Publication, entry: GainEntry) -> int:
        epoch = self._epochs[entry.link, entry.advertisement]
        brokers = _subscribers(publication.found, [entry.link])
        epoch.receivers.update(brokers)
        message = cast(Event, publication.event.message)
        direct = DirectEvent(message.attributes, message.payload, entry.advertisement, epoch.number)
        return self._send_to(brokers, publication.event.with_body(direct))

    def _send_to(self, brokers: Collection[BrokerId], direct: Envelope) -> int:
        for broker in brokers:
            self.world.send_direct(broker, direct)
        return len(brokers)

    def flipped(self, entry: GainEntry) -> None:
        if self.inboxes is None:
            return
        self._last_epoch += 1
        if entry.popular:
            self._end_epoch(entry)
        else:
            self._epochs[entry.link, entry.advertisement] = _Epoch(self._last_epoch)
            self.world.send(entry.link, Switch(entry.advertisement, self._last_epoch, "direct"))

    def _end_epoch(self, entry: GainEntry) -> None:
        epoch = self._epochs.pop((entry.link, entry.advertisement))
        receivers = tuple(sorted(epoch.receivers))
        switch = Switch(entry.advertisement, self._last_epoch, "tree", epoch.number, receivers)
        self.world.send(entry.link, switch)
        for broker in receivers:
            self.world.send_direct(broker, DirectEnd(entry.advertisement, epoch.number))

    def answer(self, advertisement: MessageId, entry: Entry) -> None:
        if self.inboxes is not None:
            epoch = self._epochs[entry.last_hop, advertisement].number
            switch = Switch(advertisement, epoch, "direct", subscription=entry.id)
            self.world.send(entry.last_hop, switch)

    # Subscribers' brokers

    def on_direct_event(self, sender: BrokerId, event: Envelope) -> None:
        message = cast(DirectEvent, event.message)
        advertisement = message.advertisement
        if self.inboxes is None or advertisement is None:
            self.deliver_now(event, "direct")
        elif self.local[advertisement]:
            interval = self._interval(advertisement, message.epoch)
            interval.add(lambda: self.deliver_now(event, "direct"))
            self.inboxes.release(advertisement)

    def on_direct_end(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(DirectEnd, envelope.message)
        self._end_interval(message.advertisement, message.epoch)

    def switched(self, switch: Switch) -> None:
        assert self.inboxes is not None
        if switch.mode == "tree":
            self._interval(switch.advertisement, switch.number).is_open = False
            if self.world.id not in switch.view:
                self._end_interval(switch.advertisement, switch.number)
            return
        interval = self._interval(switch.advertisement, switch.epoch)
        if not interval.has_begun:
            interval.has_begun = True
            self.inboxes.begin(switch.advertisement, interval)
            self.inboxes.release(switch.advertisement)

    def unwanted(self, advertisement: MessageId) -> None:
        if self.inboxes is not None:
            self._intervals.pop(advertisement, None)
            self.inboxes.clear(advertisement)

    def _interval(self, advertisement: MessageId, epoch: int) -> DirectInterval:
        intervals = self._intervals.setdefault(advertisement, {})
        if epoch not in intervals:
            intervals[epoch] = DirectInterval()
        return intervals[epoch]

    def _end_interval(self, advertisement: MessageId, epoch: int) -> None:
        assert self.inboxes is not None
        self._interval(advertisement, epoch).is_ended = True
        self.inboxes.release(advertisement)


def _subscribers(found: Iterable[Interest], links: Iterable[BrokerId]) -> list[BrokerId]:
    """The brokers behind links whose subscriptions match."""
    return sorted(
        {
            origin
            for interest in found
            for link in links
            if link in interest.sides
            for origin in interest.sides[link].origins
        }
    )
