"""Reorder buffers: publications of an advertisement reach clients in the order of publication.

PopSub promises that for the tree and for batches, and leaves buffers for the rest to its users.
This module must not know brokers or messages, only what has to wait for what.

For each advertisement with something to wait for there is an inbox: what came by the tree, and
intervals in which publications came by another way, in the order of their SWITCHes. Links keep
order, so that is the order of publication, except within an interval that is not complete; all
behind it waits.
"""

from collections import deque
from collections.abc import Callable, Set
from typing import Annotated, Protocol

from pysim.gossip import Lpbcast
from pysim.wire import MessageId

Order = Annotated[bool, "whether a reorder buffer keeps the order of each advertisement"]

Deliver = Callable[[], object]


class Interval(Protocol):
    """What came by another way than the tree, from one SWITCH to the next."""

    @property
    def is_open(self) -> bool:
        """Whether the SWITCH back to the tree has not come yet."""

    def release(self) -> bool:
        """Deliver what can be delivered by now; whether that was the last of it."""


class GossipInterval:
    """The numbers that a group has to bring, from `first` on to `last`, once that is known.

    Of the `early` ones all was done before it began.
    """

    def __init__(self, gossip: Lpbcast, first: int, early: Set[int] = frozenset()) -> None:
        self.first = first
        self._early = early
        self.last: int | None = None
        self._gossip = gossip
        self._next = first
        self._came: dict[int, Deliver] = {}

    @property
    def is_open(self) -> bool:
        return self.last is None

    @property
    def is_complete(self) -> bool:
        """Whether all of it was released."""
        return self.last is not None and self._next > self.last

    def end(self, last: int) -> dict[int, Deliver]:
        """Let `last` be the last number; what came of later ones and was not released."""
        self.last = last
        beyond = {number: self._came[number] for number in self._came if number > last}
        for number in beyond:
            del self._came[number]
        return beyond

    def add(self, number: int, deliver: Deliver) -> None:
        self._came[number] = deliver

    def release(self) -> bool:
        while self.last is None or self._next <= self.last:
            deliver = self._came.pop(self._next, None)
            if deliver is not None:
                deliver()
            elif self._next not in self._gossip.lost and self._next not in self._early:
                return False
            self._next += 1
        return True


class DirectInterval:
    """An epoch of direct delivery; its publications may come before it is known to have begun."""

    def __init__(self) -> None:
        self._came: deque[Deliver] = deque()
        self.has_begun = False
        self.is_open = True
        self.is_ended = False

    def add(self, deliver: Deliver) -> None:
        self._came.append(deliver)

    def release(self) -> bool:
        while self._came:
            self._came.popleft()()
        return self.is_ended


class Inboxes:
    """By advertisement, what waits for its turn."""

    def __init__(self) -> None:
        self._waiting: dict[MessageId, deque[Interval | Deliver]] = {}

    def begin(self, advertisement: MessageId, interval: Interval) -> None:
        """From now on publications come by another way."""
        self._waiting.setdefault(advertisement, deque()).append(interval)

    def tree_came(self, advertisement: MessageId, deliver: Deliver) -> None:
        """The tree brought a publication.

        During an interval the tree brings none. If one comes all the same, it was of another
        advertisement when it was published, one that overlaps this and has gone; it need not wait.
        """
        waiting = self._waiting.get(advertisement)
        if not waiting or (not callable(waiting[-1]) and waiting[-1].is_open):
            deliver()
        else:
            waiting.append(deliver)
            self.release(advertisement)

    def release(self, advertisement: MessageId) -> None:
        """Deliver all whose turn has come."""
        waiting = self._waiting.get(advertisement)
        if waiting is None:
            return
        while waiting:
            first = waiting[0]
            if callable(first):
                first()
            elif not first.release():
                return
            waiting.popleft()
        del self._waiting[advertisement]

    def clear(self, advertisement: MessageId) -> None:
        """Nobody is interested any more."""
        self._waiting.pop(advertisement, None)
