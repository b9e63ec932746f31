"""RECONFIGURATION PATH: one message walks from the lost link to the new one and mends tables.

Cugola, Frey, Murphy, Picco, "Content-Based Routing for Publish-Subscribe on a Dynamic Topology",
Sec. IV-C and Fig. 11; step numbers below are its own. One end of the lost link, the initiator, is
told the whole path; the new ends are told of their link. Reconfigurations may be prepared while
others are, but they must not be carried out at the same time: from the moment the initiator is told
to the FLUSH at its end no other may begin, and no link of the path may break. What this module
settles beyond the paper:

- The routes of a lost link stay in the table, under the reconfiguration and not under the
  neighbor's name, until the initiator starts or step 6. They count like any others, and nothing is
  sent there.
- P_add are the routes of the lost link when the initiator starts.
- Of P_del, those go on to the next broker that have no subscriber here but that one.
- A new link is dormant at either end, nothing is told over it, until the REC is there. A REC that
  is early waits for its link; the table is changed and the RECACK sent at once, for who sent the
  REC goes on to (un)subscribe on the assumption that it arrived in order.
- Told state follows the REC: who adds routes to the next broker was told of them by it, and who
  deletes routes from the last one was unsubscribed from.
- A link that comes or goes without a reconfiguration is treated as in STRAWMAN.
- A REC names the same patterns at every broker of the path, so neighbors cannot be told summaries;
  what is stored may be optimized.
"""

from collections.abc import Collection, Mapping, Set
from typing import Any, ClassVar, cast

from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.brokers.promises import Promises
from pysim.brokers.subscription_forwarding import Literal, SubscriptionForwarding
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import BARE_NOTICE, LinkNotice, Replacement, World
from pysim.wire import Envelope, Message
from pysim.wire.messages import Flush, Rec, Recack, Unsubscribe


class ReconfigurationPath(SubscriptionForwarding):
    """Subscription forwarding that repairs the tables along the reconfiguration path, and no more.

    Only one reconfiguration at a time can be carried out.
    """

    name: ClassVar[str] = "reconfiguration-path"
    promises: ClassVar[Promises] = Promises(links_in_turn=True)

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        super().check_options(options)
        if options.get("optimize", UNOPTIMIZED).summarizes:
            raise ValueError(
                f"{cls.name} sends patterns as they are along the path, so it takes post-pruning"
                " or predicate-replacement only"
            )

    def __init__(
        self, world: World, *, literal: Literal = False, optimize: Optimized = UNOPTIMIZED
    ) -> None:
        super().__init__(world, literal=literal, optimize=optimize)
        self.forward = self._forward
        self._dormant: dict[int, BrokerId] = {}
        """New neighbors by reconfiguration, until its REC is there."""
        self._early: dict[int, tuple[BrokerId, Rec]] = {}
        """Each REC that waits for its link, with who sent it."""
        self._ignored: dict[int, tuple[BrokerId, Set[Filter]]] = {}
        """The paper's ignore: what the next broker cannot unsubscribe before its RECACK."""
        self._stored: dict[int, tuple[BrokerId, Set[Filter]]] = {}
        """The paper's storedP_add at the first broker of the tail, with the last of the head."""
        self._under_way = 0

    # Links

    def link_down(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        self._ignored = {n: each for n, each in self._ignored.items() if each[0] != neighbor}
        if notice.reconfiguration is None:
            super().link_down(neighbor, notice)
        else:
            self.told.pop(neighbor, None)
            self._substitute(neighbor, _other_part(notice.reconfiguration))

    def link_up(self, neighbor: BrokerId, notice: LinkNotice) -> None:
        number = notice.reconfiguration
        if number is None:
            super().link_up(neighbor, notice)
            return
        self._dormant[number] = neighbor
        early = self._early.pop(number, None)
        if early is not None:
            self._open(*early)

    def link_replaced(self, replacement: Replacement) -> None:
        """The paper's substituteLinkTo (step 1a), for the initiator."""
        if replacement.head:
            self._under_way += 1
            number = replacement.reconfiguration
            lost = _other_part(number)
            patterns = tuple(self.patterns_of(lost))
            self._walk(lost, Rec(number, patterns, patterns, replacement.head, replacement.tail))

    def _substitute(self, gone: BrokerId, come: BrokerId) -> None:
        for pattern in self.patterns_of(gone):
            self.enter(come, pattern)
            self.strike(gone, pattern)

    # The path

    def on_rec(self, sender: BrokerId, envelope: Envelope) -> None:
        self._walk(sender, cast(Rec, envelope.message))

    def _walk(self, sender: BrokerId, rec: Rec) -> None:
        me = self.world.id
        if me in rec.head:
            self._mend_head(sender, rec)
        if me in (rec.head[-1], rec.tail[0]):
            self._open(sender, rec)
        elif me in rec.tail:
            self._follow_tail(rec)

    def _mend_head(self, sender: BrokerId, rec: Rec) -> None:
        """What the lost link served is now to be found further along the path."""
        for pattern in rec.patterns_to_delete:
            self.strike(sender, pattern)
        place = rec.head.index(self.world.id) + 1
        if place < len(rec.head):
            after = rec.head[place]
            self._go_on(after, rec)
        else:
            after = _other_part(rec.reconfiguration)
        for pattern in rec.patterns_to_add:
            self.enter(after, pattern)
        if sender >= 0:
            self.told[sender].update(rec.patterns_to_add)
            self.world.send(sender, Recack(rec.reconfiguration))  # 1c

    def _go_on(self, after: BrokerId, rec: Rec) -> None:
        """Step 1b: the next broker of the head is to do the same."""
        self._ignored[rec.reconfiguration] = (after, frozenset(rec.patterns_to_add))
        unwanted = tuple(p for p in rec.patterns_to_delete if not self.subscribers(p) - {after})
        self.told[after].difference_update(unwanted)
        self._send_rec(after, rec, rec.patterns_to_add, unwanted)

    def _open(self, sender: BrokerId, rec: Rec) -> None:
        """At the ends of the new link the REC goes on when the link is up."""
        number = rec.reconfiguration
        if self._dormant.pop(number, None) is None:
            self._early[number] = (sender, rec)
        elif self.world.id in rec.head:
            self._cross(rec.tail[0], rec)
        else:
            self._reconcile(sender, rec)
            self._follow_tail(rec)

    def _cross(self, after: BrokerId, rec: Rec) -> None:
        """Steps 2 and 3: the last broker of the head opens the new link."""
        self._substitute(_other_part(rec.reconfiguration), after)
        super().link_up(after, BARE_NOTICE)
        self._send_rec(after, rec, rec.patterns_to_add, ())

    def _reconcile(self, sender: BrokerId, rec: Rec) -> None:
        """Step 4: what was added along the head and is no longer wanted goes again."""
        self.told[sender].update(rec.patterns_to_add)
        for pattern in rec.patterns_to_add:
            if not self.subscribers(pattern) - {sender}:
                self.untell(sender, pattern)
        self._stored[rec.reconfiguration] = (sender, frozenset(rec.patterns_to_add))

    def _follow_tail(self, rec: Rec) -> None:
        number, me = rec.reconfiguration, self.world.id
        if me != rec.tail[-1]:
            self._send_rec(rec.tail[rec.tail.index(me) + 1], rec, (), ())  # 5
            return
        lost = _other_part(number)
        for pattern in self.patterns_of(lost):
            self.remove_subscriber(lost, pattern)  # 6
        self._flush(me, number, Flush(number))  # 7

    def _send_rec(
        self,
        target: BrokerId,
        rec: Rec,
        to_add: tuple[Filter, ...],
        to_delete: tuple[Filter, ...],
    ) -> None:
        number = rec.reconfiguration
        if target not in self.world.neighbors:
            raise ValueError(
                f"reconfiguration {number} cannot go on to broker {target}, which is no neighbor:"
                " it overlaps with another one"
            )
        self.world.send(target, Rec(number, to_add, to_delete, rec.head, rec.tail))

    def on_recack(self, sender: BrokerId, envelope: Envelope) -> None:
        self._ignored.pop(cast(Recack, envelope.message).reconfiguration, None)  # 1d

    def on_flush(self, sender: BrokerId, envelope: Envelope) -> None:
        self._flush(sender, cast(Flush, envelope.message).reconfiguration, envelope)

    def _flush(self, sender: BrokerId, number: int, flush: Message | Envelope) -> None:
        stored = self._stored.pop(number, None)
        if stored is None:
            for neighbor in self._awake():
                if neighbor != sender:
                    self.world.send(neighbor, flush)  # 7
            return
        self._under_way -= 1
        before, added = stored
        for pattern in self.wanted_beside(before):
            if pattern not in added:
                self.tell(before, pattern)  # 8

    # Ordinary messages meanwhile

    def on_unsubscribe(self, sender: BrokerId, envelope: Envelope) -> None:
        pattern = cast(Unsubscribe, envelope.message).filter
        ignored = self._ignored.values()
        if not any(sender == after and pattern in added for after, added in ignored):
            self.remove_subscriber(sender, pattern)

    def concerned(self, subscriber: BrokerId, others: Set[BrokerId]) -> Collection[BrokerId]:
        awake = self._awake()
        return [n for n in super().concerned(subscriber, others) if n in awake]

    def _forward(self, subscriber: BrokerId, event: Envelope) -> None:
        if subscriber >= 0:  # there is nothing where a lost link led to
            self.world.send(subscriber, event)

    def _awake(self) -> list[BrokerId]:
        """The neighbors whose links are no longer dormant."""
        dormant = self._dormant.values()
        return [n for n in self.world.neighbors if n not in dormant]

    def under_way(self) -> int:
        return self._under_way

    def unsettled(self) -> int:
        lost = sum(s < 0 for entry in self._table.values() for s in entry.subscribers)
        waiting = len(self._dormant) + len(self._early)
        return lost + waiting + len(self._ignored) + len(self._stored)


def _other_part(reconfiguration: int) -> BrokerId:
    """What a lost link led to, as a subscriber; no broker has this number."""
    return -1 - reconfiguration
