"""Gossiping as printed: Algorithms 4 and 5 of PopSub, line by line, with all that they lose.

It is here to be compared with `gossiping`, which is what they mean. Publications carry the flags:
`flagged-event` has the printed switchToGossip or switchToTree in its mode, the view, and the
advertisement. What goes wrong, and tests show it:

- A flagged publication goes where it matches. A subscriber whose filter it does not match never
  hears of the group, and gets nothing that is gossiped.
- Who subscribes later never hears of it either.
- Flags are never reset (line 6): after a first return to the tree every publication asks to leave
  the group, and after the next flip to gossip none says so. Who left gets nothing any more.
- Who leaves does so with a gossip round pending, and misses what it would have brought.
- A publication that is gossiped for one link and flagged for another comes by both ways.

What had to be decided to run it: a member wants every number from its first gossip on; it is known
to others by the gossip it sends, as there is no join; the publisher's cache is not bounded. Way
and counters are those of `gossiping`; a flagged publication came by the ``tree``.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, cast

from pysim.brokers.popsub.gains import GainEntry
from pysim.brokers.popsub.gossiping import (
    COUNTERS,
    FANOUT,
    INTERVAL,
    VIEW,
    Fanout,
    Interval,
    View,
)
from pysim.brokers.popsub.popularity import (
    CAPACITY,
    EVALUATION,
    PHI,
    Capacity,
    Evaluation,
    Phi,
    PopSub,
)
from pysim.brokers.popsub.routing import Publication
from pysim.gossip import GossipSettings, Lpbcast
from pysim.network.transport import BrokerId
from pysim.network.world import World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import Event, FlaggedEvent, Gossip, Retrieve, Retrieved


class PrintedGossiping(PopSub):
    """PopSub's Gossiping to the letter: it loses publications, and delivers some twice."""

    name: ClassVar[str] = "popsub-gossip-printed"

    def __init__(
        self,
        world: World,
        *,
        capacity: Capacity = CAPACITY,
        phi: Phi = PHI,
        evaluation: Evaluation = EVALUATION,
        view: View = VIEW,
        fanout: Fanout = FANOUT,
        interval: Interval = INTERVAL,
    ) -> None:
        super().__init__(world, capacity, phi, evaluation)
        self.settings = GossipSettings(view, fanout, interval)
        self.groups: dict[MessageId, Lpbcast] = {}
        self.flags: set[tuple[BrokerId, MessageId]] = set()
        self.counters.update(dict.fromkeys(COUNTERS, 0))

    # Algorithm 4

    def send_along_tree(self, publication: Publication, entries: Sequence[GainEntry]) -> None:
        """Lines 5 to 8."""
        self.count_along_tree(publication, entries)
        for entry in entries:
            if (entry.link, entry.advertisement) in self.flags:
                self._send_flagged(entry, publication, "tree")
            else:
                self.send_on([entry.link], publication.event)

    def send_unpopular(self, publication: Publication, entries: Sequence[GainEntry]) -> None:
        """Lines 9 to 17; a publication is given to the group once."""
        is_gossiped = False
        for entry in entries:
            key = (entry.link, entry.advertisement)
            if key in self.flags:
                is_gossiped = True
                continue
            self.flags.add(key)
            if entry.advertisement not in self.groups:
                self.counters["groups"] += 1
                self.groups[entry.advertisement] = self._lpbcast(entry.advertisement)
            self.count_along_tree(publication, [entry])
            self._send_flagged(entry, publication, "gossip")
        if is_gossiped:
            self.groups[publication.advertisement].publish(publication.event.frame)
            self.counters["gossiped"] += 1

    def _send_flagged(
        self, entry: GainEntry, publication: Publication, mode: Literal["gossip", "tree"]
    ) -> None:
        view: tuple[BrokerId, ...] = ()
        if mode == "gossip":
            view = (self.world.id, *self.groups[entry.advertisement].view.members)
        message = cast(Event, publication.event.message)
        flagged = FlaggedEvent(message.attributes, entry.advertisement, mode, view, message.payload)
        self.send_on([entry.link], publication.event.with_body(flagged))

    # Algorithm 5

    def on_flagged_event(self, sender: BrokerId, event: Envelope) -> None:
        message = cast(FlaggedEvent, event.message)
        found = self.match(event)
        if any(interest.clients for interest in found):
            self._obey(message)
        self.relay(sender, event, found)

    def _obey(self, message: FlaggedEvent) -> None:
        """Lines 3 to 10, at a subscriber's broker."""
        group = self.groups.get(message.advertisement)
        if message.mode == "gossip" and group is None:
            group = self.groups[message.advertisement] = self._lpbcast(message.advertisement)
            group.enter(message.view)
        elif message.mode == "tree" and group is not None:
            group.exit()
            del self.groups[message.advertisement]

    def _handle(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(Gossip, envelope.message)  # or another with a group
        group = self.groups.get(message.group)
        if group is not None:
            group.handle(sender, message)
        elif isinstance(message, Retrieve):
            self.world.send_direct(sender, Retrieved(message.group, (), message.numbers))

    on_gossip = on_leave = on_retrieve = on_retrieved = _handle
    on_number_request = on_number_reply = _handle

    def _lpbcast(self, group: MessageId) -> Lpbcast:
        return Lpbcast(
            self.world, group, self._came, self.settings, self._done.batch, self.counters
        )

    def _came(self, number: int, frame: bytes) -> None:
        event = Envelope.open(frame)
        self.counters["gossiped-received"] += 1
        if not self.deliver(self.match(event), event, "gossip"):
            self.counters["gossiped-unmatched"] += 1
