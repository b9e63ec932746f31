"""Lightweight probabilistic broadcast: one member of one group.

It must not know brokers, filters or what a payload is: it lives in a `World` and is handed the
group's messages.

After lpbcast (Eugster, Guerraoui, Handurukande, Kouznetsov, Kermarrec, ACM TOCS 21(4), 2003), as
PopSub uses it. In each round a member sends one gossip to `fanout` random members of its partial
view: the messages that are new to it, a digest of what it has, and news of members. What is
settled beyond the papers:

- A group has one publisher, the origin of its id, which gives its messages consecutive numbers
  from 1 on. So a digest is a few ranges, and a member knows what it misses.
- Each message is forwarded in `forwards` rounds, by default one, if it came in a gossip; what was
  retrieved is not forwarded.
- A digest has the numbers of the last three rounds, or the last 400 if these are more. A member
  keeps the messages of its digest for others; the publisher keeps those from `keep_from` on.
- What a digest names and a member lacks is asked for at the member's next round (gossip may bring
  it before): from the sender of the digest, a round later from the publisher, and so on each
  round. What the publisher does not have either is lost, and counted.
- After two rounds without any gossip, a member asks the publisher for its highest number.
- A member wants numbers from where it joined, and may stop wanting: intervals of numbers. It takes
  part in the gossip of all, and delivers what it wants, each once.
- A member joins at the publisher, which tells others as news. One that leaves says so to the
  publisher and, with a last round, to others; what still gossips to it is told once more.
- Gossip goes by UDP, in datagrams of at most 60,000 bytes; all that must not be lost by TCP.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pysim.gossip.numbers import NumberSet
from pysim.gossip.views import PartialView
from pysim.network.transport import BrokerId
from pysim.network.world import Timer, World
from pysim.wire import MessageId
from pysim.wire.messages import (
    Gossip,
    Join,
    JoinReply,
    Leave,
    NumberReply,
    NumberRequest,
    Retrieve,
    Retrieved,
)
from pysim.wire.messages.popsub import Publications

_DATAGRAM = 60_000
_REPLY = 500_000
"""Bytes of messages in one gossip and in one answer, at most."""
_OVERHEAD = 12
"""Bytes that a message takes in them beyond its own, at most."""

GossipMessage = (
    Gossip | Join | JoinReply | Leave | Retrieve | Retrieved | NumberRequest | NumberReply
)


@dataclass(frozen=True, slots=True)
class GossipSettings:
    """How a group gossips; the defaults are PopSub's."""

    view: int = 10
    fanout: int = 2
    interval: float = 10.0
    forwards: int = 1
    digest: int = 400
    digest_rounds: int = 3
    silent_rounds: int = 2


class Lpbcast:
    """A member of a group, or its publisher.

    `deliver(number, payload)` is called for each number that is wanted, once. `sent(count)` is told
    of each gossip or answer with that many messages; `counters` may be the owner's. The owner
    hands over what arrives for the group by `handle`. Nothing happens before `join` (of a member)
    or `publish` (of the publisher).
    """

    def __init__(
        self,
        world: World,
        group: MessageId,
        deliver: Callable[[int, bytes], None],
        settings: GossipSettings | None = None,
        sent: Callable[[int], None] = lambda count: None,
        counters: Counter[str] | None = None,
    ) -> None:
        self.world = world
        self.group = group
        self.publisher: BrokerId = group.origin
        self.settings = settings or GossipSettings()
        self.view = PartialView(world.id, group.origin, self.settings.view, world.random)
        self.received = NumberSet()
        self.delivered = NumberSet()
        self.wanted = NumberSet()
        """The intervals that are closed; another may be open."""
        self.wanted_from: int | None = None
        self.lost = NumberSet()
        self.counters: Counter[str] = Counter() if counters is None else counters
        self.highest = 0
        """Of the publisher: the last number that it gave."""
        self._deliver = deliver
        self._sent = sent
        self._cache: dict[int, bytes] = {}
        self._news: dict[int, int] = {}
        """Numbers to be gossiped, with the rounds that are left."""
        self._missing: dict[int, BrokerId | None] = {}
        """With whom to ask next; None once that was tried, which leaves the publisher."""
        self._recent: deque[int] = deque([0], maxlen=self.settings.digest_rounds)
        self._timer: Timer | None = None
        self._is_welcome = False
        self._silent_rounds = 0

    # What the owner does

    @property
    def is_active(self) -> bool:
        """Whether rounds go on."""
        return self._timer is not None

    def publish(self, payload: bytes) -> int:
        """As the publisher: broadcast a message; its number."""
        self.highest += 1
        self.received.add(self.highest)
        self._cache[self.highest] = payload
        self._news[self.highest] = self.settings.forwards
        self._recent[-1] += 1
        self.start()
        return self.highest

    def keep_from(self, number: int) -> None:
        """As the publisher: nobody will ask for less than this number any more."""
        for old in [known for known in self._cache if known < number]:
            del self._cache[old]

    def start(self, phase: float | None = None) -> None:
        """Begin with rounds, the first after `phase` seconds or at a random time of an interval."""
        if self._timer is None:
            if phase is None:
                phase = self.world.random.random() * self.settings.interval
            self._timer = self.world.schedule(phase, self._round)

    def join(self, first: int, view: Iterable[BrokerId] = (), phase: float | None = None) -> None:
        """Become a member that wants all from `first` on; `view` are some others."""
        self.wanted_from = first
        self.view.hear(view)
        self._is_welcome = False
        self._silent_rounds = 0
        self._send_join()
        self._catch_up()
        self.start(phase)

    def enter(self, view: Iterable[BrokerId]) -> None:
        """Become a member without joining at the publisher, by gossiping to others.

        Nobody says where to begin: all that is gossiped or named from then on is wanted.
        """
        self.wanted_from = 1
        self._is_welcome = True
        self.view.hear(view)
        self.start()

    def stop_wanting(self, last: int) -> None:
        """Want nothing after `last`; what is missing up to there is asked for at once."""
        if self.wanted_from is None:
            return
        self.wanted.add(self.wanted_from, last)
        self.wanted_from = None
        self._missing = dict.fromkeys(self.missing())
        self._ask_for_missing()

    def leave(self) -> None:
        """End the membership, at the publisher and with a last round that says so to others."""
        self.world.send_direct(self.publisher, Leave(self.group))
        self.exit()

    def exit(self) -> None:
        """End the membership with a last round; nothing is wanted any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.wanted = NumberSet()
        self.wanted_from = None
        self._missing.clear()
        self._gossip(leaving=True)
        self._news.clear()

    def delivered_after(self, number: int) -> Iterator[tuple[int, bytes]]:
        """What was delivered of later numbers, as far as it is still here: the newest is."""
        for later in self.delivered.within(number + 1, self.delivered.highest):
            if later in self._cache:
                yield later, self._cache[later]

    def is_wanted(self, number: int) -> bool:
        open_from = self.wanted_from
        return number in self.wanted or (open_from is not None and number >= open_from)

    def missing(self, known: NumberSet | None = None) -> NumberSet:
        """What is wanted and has not come; of what is known to be there in an open interval."""
        found = self.wanted if known is None else known & self.wanted
        if known is not None and self.wanted_from is not None:
            found.update(known.within(self.wanted_from, known.highest))
        return found - self.received - self.lost

    # What arrives

    def handle(self, sender: BrokerId, message: GossipMessage) -> None:
        """Take a message of this group."""
        match message:
            case Gossip():
                self._on_gossip(sender, message)
            case Retrieve(_, numbers):
                self._answer(sender, NumberSet(numbers))
            case Retrieved():
                self._on_retrieved(sender, message)
            case Join():
                self.view.welcome(sender)
                self.start()
                oldest = min(self._cache, default=self.highest + 1)
                members = tuple(m for m in self.view.members if m != sender)
                reply = JoinReply(self.group, members, oldest, self.highest)
                self.world.send_direct(sender, reply)
            case JoinReply(_, view, first, last):
                self._is_welcome = True
                self.view.hear(view)
                self._lose_before(first)
                self._learn_of(NumberSet([(first, last)]), self.publisher)
            case Leave():
                self.view.forget(sender)
            case NumberRequest():
                self.world.send_direct(sender, NumberReply(self.group, self.highest))
            case NumberReply(_, number):
                self._learn_of(NumberSet([(1, number)]), self.publisher)

    def _on_gossip(self, sender: BrokerId, gossip: Gossip) -> None:
        if not self.is_active and self.publisher != self.world.id:
            self.world.send_direct(sender, Leave(self.group), "udp")
            return
        self.counters["gossips-received"] += 1
        self._silent_rounds = 0
        self.view.hear(gossip.joined, gossip.left)
        if sender not in gossip.left:
            self.view.welcome(sender)
        for number, payload in gossip.publications:
            if self._take(number, payload):
                self._news[number] = self.settings.forwards
            else:
                self.counters["repeated"] += 1
        self._learn_of(NumberSet(gossip.digest), sender)

    def _on_retrieved(self, sender: BrokerId, reply: Retrieved) -> None:
        for number, payload in reply.publications:
            self.counters["retrieved"] += self._take(number, payload)
        absent = self.missing(NumberSet(reply.absent))
        if not absent:
            return
        if sender == self.publisher:
            self._lose(absent)
        else:
            self._missing.update(dict.fromkeys(absent))
            self._retrieve(self.publisher, absent)

    def _take(self, number: int, payload: bytes) -> bool:
        """A message came; whether it is new here."""
        if number in self.received:
            return False
        self.received.add(number)
        self._cache[number] = payload
        self._recent[-1] += 1
        self._missing.pop(number, None)
        if self.is_wanted(number):
            self._hand_over(number)
        return True

    def _hand_over(self, number: int) -> None:
        if number not in self.delivered:
            self.delivered.add(number)
            self._deliver(number, self._cache[number])

    def _learn_of(self, known: NumberSet, source: BrokerId) -> None:
        """Those numbers are to be had from a source."""
        for number in self.missing(known):
            self._missing.setdefault(number, source)

    def _catch_up(self) -> None:
        """Deliver what came before it was wanted; what is not here any more never came."""
        assert self.wanted_from is not None
        early = self.received.within(self.wanted_from, self.received.highest) - self.delivered
        for number in early:
            if number in self._cache:
                self._hand_over(number)
        self.received = self.received - (early - self.delivered)

    def _lose_before(self, first: int) -> None:
        """The publisher has nothing before a number: whatever is missing there is lost."""
        if self.wanted_from is not None and self.wanted_from < first:
            self._lose(self.missing(NumberSet([(self.wanted_from, first - 1)])))

    def _lose(self, numbers: NumberSet) -> None:
        self.lost.update(numbers)
        self.counters["lost"] += len(numbers)
        for number in numbers:
            self._missing.pop(number, None)

    # Rounds

    def _round(self) -> None:
        if not self.view.members:
            self._timer = None  # a publisher without members rests until one joins
            return
        self._timer = self.world.schedule(self.settings.interval, self._round)
        self._gossip()
        self.view.end_round()
        self._recent.append(0)
        if self.publisher != self.world.id:
            self._forget_old()
            self._ask_for_missing()
            self._mind_silence()
            if not self._is_welcome:
                self._send_join()

    def _gossip(self, leaving: bool = False) -> None:
        """One round: what is new, to some members."""
        news = [(number, self._cache[number]) for number in self._news if number in self._cache]
        left = (self.world.id, *self.view.left) if leaving else self.view.left
        digest = self.received.within(self._digest_from(), self.received.highest).ranges()
        targets = self.view.targets(self.settings.fanout)
        for place, part in enumerate(_parts(news, _DATAGRAM)):
            gossip = Gossip(self.group, part, () if place else digest, self.view.joined, left)
            envelope = self.world.originate(gossip)
            for target in targets:
                self.world.send_direct(target, envelope, "udp")
                self.counters["gossips-sent"] += 1
                self._sent(len(part))
        self._news = {number: left - 1 for number, left in self._news.items() if left > 1}

    def _digest_from(self) -> int:
        return self.received.highest - max(self.settings.digest, sum(self._recent)) + 1

    def _forget_old(self) -> None:
        oldest = self._digest_from()
        for number in [number for number in self._cache if number < oldest]:
            del self._cache[number]

    def _mind_silence(self) -> None:
        self._silent_rounds += 1
        if self._silent_rounds > self.settings.silent_rounds:
            self._silent_rounds = 1
            self.world.send_direct(self.publisher, NumberRequest(self.group))

    def _send_join(self) -> None:
        if self.wanted_from is not None:
            self.world.send_direct(self.publisher, Join(self.group, self.wanted_from))

    # Retrieval

    def _ask_for_missing(self) -> None:
        """Ask for all that is known to be missing: its source first, then the publisher."""
        asked: dict[BrokerId, NumberSet] = {}
        for number, source in self._missing.items():
            target = self.publisher if source is None else source
            asked.setdefault(target, NumberSet()).add(number)
            self._missing[number] = None
        for target, numbers in asked.items():
            self._retrieve(target, numbers)

    def _retrieve(self, target: BrokerId, numbers: NumberSet) -> None:
        self.world.send_direct(target, Retrieve(self.group, numbers.ranges()))

    def _answer(self, sender: BrokerId, numbers: NumberSet) -> None:
        held = [(number, self._cache[number]) for number in numbers if number in self._cache]
        absent = (numbers - NumberSet((number, number) for number, _ in held)).ranges()
        for place, part in enumerate(_parts(held, _REPLY)):
            reply = Retrieved(self.group, part, () if place else absent)
            self.world.send_direct(sender, reply)
            self._sent(len(part))


def _parts(messages: Iterable[tuple[int, bytes]], size: int) -> Iterator[Publications]:
    """Messages in order, as many at a time as fit; there is at least one part."""
    part: list[tuple[int, bytes]] = []
    room = size
    for number, payload in messages:
        room -= len(payload) + _OVERHEAD
        if room < 0 and part:
            yield tuple(part)
            part, room = [], size - len(payload) - _OVERHEAD
        part.append((number, payload))
    yield tuple(part)
