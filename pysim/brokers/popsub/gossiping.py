"""Gossiping: unpopular publications are broadcast in a gossip group of their advertisement.

PopSub, Sec. 4.5, with groups on demand as there, and with the hand-over between tree and group
that its Algorithms 4 and 5 do not get right (`printed` has them as they are). What this module
settles:

- Gossiped publications of A have consecutive numbers g. A flip of (link, A) to unpopular sends
  SWITCH(gossip, g + 1, view) over the link, one to popular SWITCH(tree, g). So for a subscriber the
  numbers from one SWITCH to the next are those it has to take from the group, and no others:
  before and after, the tree brings what it wants.
- A subscriber's broker that hears of gossip joins the group, at the publisher's broker; `lpbcast`
  then sees to it that nothing is missing. Back to the tree it fetches what it misses up to g, and
  leaves; if gossip comes back before, it stays. A broker whose last local subscription to A goes,
  leaves.
- Gossip may overtake a SWITCH. What it brought of numbers beyond the SWITCH to the tree, the tree
  brings again, unless the next SWITCH says that gossip had to bring it: it is remembered until
  then, and not delivered twice.
- Only the brokers of publisher and subscribers are in a group. A publication is numbered if it is
  for some unpopular link, and given to the group once, for however many links.
- The publisher's broker keeps the publications that a link's current or last interval has, and
  what it could forget for a minute longer: a SWITCH may be on its way through long queues while
  popularity changes several times.
- With `order`, publications of A reach clients in the order of publication: see `order`.
- Way ``gossip``. Counters: ``groups`` (advertisements of local clients that ever gossiped),
  ``gossiped`` (publications given to a group), ``gossips-received``, and of publications that came
  from groups, ``gossiped-received`` and those that no local client wanted, ``gossiped-unmatched``;
  also ``gossips-sent``, ``retrieved`` and ``lost`` as in lpbcast.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence, Set
from typing import Annotated, ClassVar, Literal, cast

from pysim.brokers.covering.tables import Entry
from pysim.brokers.popsub.gains import GainEntry
from pysim.brokers.popsub.interests import Interest
from pysim.brokers.popsub.order import Deliver, GossipInterval, Order
from pysim.brokers.popsub.popularity import CAPACITY, EVALUATION, PHI, Capacity, Evaluation, Phi
from pysim.brokers.popsub.routing import Publication
from pysim.brokers.popsub.switching import Switching
from pysim.brokers.promises import Promises
from pysim.gossip import GossipSettings, Lpbcast
from pysim.network.transport import BrokerId
from pysim.network.world import World
from pysim.units import Duration
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import Retrieve, Retrieved, Switch

View = Annotated[int, "members that a member of a gossip group knows"]
Fanout = Annotated[int, "members that a round of gossip goes to"]
Interval = Annotated[Duration, "time from one round of gossip to the next"]

_KEPT = 60.0
"""Seconds for which a publication is kept after it could be forgotten."""

VIEW, FANOUT, INTERVAL = 10, 2, Duration(10.0)

COUNTERS = (
    "groups",
    "gossiped",
    "gossips-sent",
    "gossips-received",
    "gossiped-received",
    "gossiped-unmatched",
    "repeated",
    "retrieved",
    "lost",
)


class PublisherGroup:
    """The group of a local client's advertisement, and which intervals of it are whose."""

    def __init__(self, gossip: Lpbcast) -> None:
        self.gossip = gossip
        self.epoch = 0
        self.epochs: dict[BrokerId, int] = {}
        """When each link changed its way."""
        self._starts: dict[BrokerId, deque[int]] = {}

    def begin(self, link: BrokerId) -> int:
        """A link gossips from now on; the first number."""
        first = self.gossip.highest + 1
        self._starts.setdefault(link, deque(maxlen=2)).append(first)
        self._next_epoch(link)
        needed_from = min(starts[0] for starts in self._starts.values())
        self.gossip.world.schedule(_KEPT, lambda: self.gossip.keep_from(needed_from))
        return first

    def end(self, link: BrokerId) -> int:
        """A link takes the tree from now on; the last number."""
        self._next_epoch(link)
        return self.gossip.highest

    def _next_epoch(self, link: BrokerId) -> None:
        self.epoch += 1
        self.epochs[link] = self.epoch


class Membership:
    """A subscriber's broker in a group; `epoch` is that of the last SWITCH."""

    def __init__(self, gossip: Lpbcast) -> None:
        self.gossip = gossip
        self.epoch = 0
        self.intervals: list[GossipInterval] = []
        """Where order is kept, those that are not complete."""
        self._held_back: dict[int, Deliver] = {}
        """Where order is kept, what came of numbers beyond the last interval."""

    def begin(self, first: int, early: Set[int]) -> GossipInterval:
        """Keep order in an interval from now on; of the `early` numbers all is done."""
        interval = GossipInterval(self.gossip, first, early)
        for number, deliver in self._held_back.items():
            if number >= first:
                interval.add(number, deliver)
        self._held_back = {}
        self.intervals.append(interval)
        return interval

    def end(self, last: int) -> Set[int]:
        """End the interval; the numbers beyond it that came and were not delivered."""
        self._held_back = self.intervals[-1].end(last)
        return self._held_back.keys()

    def forget(self) -> None:
        """Nothing has to be kept in order any more."""
        self.intervals.clear()
        self._held_back = {}

    def interval_of(self, number: int) -> GossipInterval | None:
        """The interval that a number belongs to, where order is kept."""
        self.intervals = [each for each in self.intervals if not each.is_complete]
        for interval in reversed(self.intervals):
            if interval.first <= number:
                return interval
        return None

    def has_all(self) -> bool:
        """Whether it has nothing more to wait for."""
        return self.gossip.wanted_from is None and not self.gossip.missing()


class Gossiping(Switching):
    """PopSub that broadcasts unpopular publications in groups of those who want them."""

    name: ClassVar[str] = "popsub-gossip"
    promises: ClassVar[Promises] = Promises(advertised=True, timers=True, settles=60.0)

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
        order: Order = False,
    ) -> None:
        super().__init__(world, capacity, phi, evaluation, order)
        self.settings = GossipSettings(view, fanout, interval)
        self.published: dict[MessageId, PublisherGroup] = {}
        self.memberships: dict[MessageId, Membership] = {}
        self._ahead: dict[MessageId, tuple[MessageId, int]] = {}
        """Publications that gossip delivered before it had to: advertisements and numbers."""
        self.counters.update(dict.fromkeys(COUNTERS, 0))

    # Algorithm 4: the publisher's broker

    def send_unpopular(self, publication: Publication, entries: Sequence[GainEntry]) -> None:
        self.published[publication.advertisement].gossip.publish(publication.event.frame)
        self.counters["gossiped"] += 1

    def flipped(self, entry: GainEntry) -> None:
        group = self._group(entry.advertisement)
        if entry.popular:
            self._send_switch(entry, group, "tree", group.end(entry.link))
        else:
            self._send_switch(entry, group, "gossip", group.begin(entry.link))

    def answer(self, advertisement: MessageId, entry: Entry) -> None:
        group = self.published[advertisement]
        gossip = group.gossip
        switch = Switch(
            advertisement,
            group.epochs[entry.last_hop],
            "gossip",
            gossip.highest + 1,
            gossip.view.members,
            entry.id,
        )
        self.world.send(entry.last_hop, switch)

    def _unlearn(self, hop: BrokerId, id: MessageId) -> None:
        """Before an advertisement of a local client goes, its groups end."""
        if id in self.published:
            for entry in self.gains.of(id).values():
                if not entry.popular:
                    entry.popular = True
                    self.flipped(entry)
        super()._unlearn(hop, id)

    def _group(self, advertisement: MessageId) -> PublisherGroup:
        group = self.published.get(advertisement)
        if group is None:
            self.counters["groups"] += 1
            gossip = self._lpbcast(advertisement, _nothing)
            group = self.published[advertisement] = PublisherGroup(gossip)
        return group

    def _send_switch(
        self,
        entry: GainEntry,
        group: PublisherGroup,
        mode: Literal["gossip", "tree"],
        number: int,
    ) -> None:
        view = group.gossip.view.members if mode == "gossip" else ()
        epoch = group.epochs[entry.link]
        self.world.send(entry.link, Switch(entry.advertisement, epoch, mode, number, view))

    # Algorithm 5: subscribers' brokers

    def deliver(self, found: Collection[Interest], event: Envelope, way: str) -> bool:
        if way == "tree" and self._ahead.pop(event.id, None) is not None:
            return any(interest.clients for interest in found)
        return super().deliver(found, event, way)

    def switched(self, switch: Switch) -> None:
        membership = self._membership(switch.advertisement)
        gossip = membership.gossip
        if switch.epoch < membership.epoch:
            return
        if switch.mode == "gossip" and gossip.wanted_from is not None:
            membership.epoch = switch.epoch
        elif switch.mode == "gossip":
            membership.epoch = switch.epoch
            early = self._take_early(switch)
            if self.inboxes is not None:
                interval = membership.begin(switch.number, early)
                self.inboxes.begin(switch.advertisement, interval)
            gossip.join(switch.number, switch.view)
        elif switch.mode == "tree" and switch.epoch > membership.epoch:
            membership.epoch = switch.epoch
            if gossip.wanted_from is not None:
                self._end_interval(membership, switch)
            gossip.stop_wanting(switch.number)
        self._settle(membership)

    def _end_interval(self, membership: Membership, switch: Switch) -> None:
        """Up to this number gossip has to bring all; what it delivered beyond, was too early."""
        came = dict(membership.gossip.delivered_after(switch.number))
        if membership.intervals:
            held_back = membership.end(switch.number)
            came = {number: frame for number, frame in came.items() if number not in held_back}
        for number, frame in came.items():
            self._ahead[Envelope.open(frame).id] = switch.advertisement, number

    def _take_early(self, switch: Switch) -> set[int]:
        """The numbers that were delivered too early and are in the interval that begins now."""
        early = {
            id: number
            for id, (advertisement, number) in self._ahead.items()
            if advertisement == switch.advertisement and number >= switch.number
        }
        for id in early:
            del self._ahead[id]
        return set(early.values())

    def unwanted(self, advertisement: MessageId) -> None:
        membership = self.memberships.get(advertisement)
        if membership is not None and membership.gossip.is_active:
            membership.gossip.leave()
            membership.forget()
        self._ahead = {id: of for id, of in self._ahead.items() if of[0] != advertisement}
        if self.inboxes is not None:
            self.inboxes.clear(advertisement)

    def _membership(self, advertisement: MessageId) -> Membership:
        membership = self.memberships.get(advertisement)
        if membership is None:

            def deliver(number: int, frame: bytes) -> None:
                self._gossip_came(advertisement, number, Envelope.open(frame))

            membership = Membership(self._lpbcast(advertisement, deliver))
            self.memberships[advertisement] = membership
        return membership

    def _gossip_came(self, advertisement: MessageId, number: int, event: Envelope) -> None:
        self.counters["gossiped-received"] += 1
        interval = self.memberships[advertisement].interval_of(number)
        if interval is None:
            self._deliver_gossip(event)
        else:
            interval.add(number, lambda: self._deliver_gossip(event))

    def _deliver_gossip(self, event: Envelope) -> None:
        if not self.deliver_now(event, "gossip"):
            self.counters["gossiped-unmatched"] += 1

    def _settle(self, membership: Membership) -> None:
        """Leave a group that has nothing more to bring."""
        gossip = membership.gossip
        if gossip.is_active and membership.has_all():
            gossip.leave()
        if self.inboxes is not None:
            self.inboxes.release(gossip.group)

    # Both

    def _handle(self, sender: BrokerId, envelope: Envelope) -> None:
        """Hand a message to its group; what asks for more than is here is told so."""
        message = cast(Retrieve, envelope.message)  # or another with a group
        group = message.group
        if group in self.published:
            self.published[group].gossip.handle(sender, message)
        elif group in self.memberships:
            self.memberships[group].gossip.handle(sender, message)
            self._settle(self.memberships[group])
        elif isinstance(message, Retrieve):
            self.world.send_direct(sender, Retrieved(group, (), message.numbers))

    on_gossip = on_join = on_join_reply = on_leave = _handle
    on_retrieve = on_retrieved = on_number_request = on_number_reply = _handle

    def _lpbcast(self, group: MessageId, deliver: Callable[[int, bytes], None]) -> Lpbcast:
        return Lpbcast(self.world, group, deliver, self.settings, self._done.batch, self.counters)


def _nothing(number: int, frame: bytes) -> None:
    """A publisher's broker has delivered to its own clients before."""
