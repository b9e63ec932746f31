"""Partial views: the few members that a member knows, and the news of members that it passes on.

They must not know messages or time. After lpbcast (Eugster et al., ACM TOCS 21(4), 2003): whoever
is evicted from a full view becomes news, so that views stay close to uniform samples of the group.
What is settled beyond it:

- One member, the group's publisher, is never evicted: no member can lose touch with the group.
- Who left is not taken in again on hearsay for some rounds (lpbcast puts a time stamp on it); what
  the member itself says counts at once.
"""

from collections.abc import Iterable
from random import Random

from pysim.network.transport import BrokerId

_ROUNDS_REMEMBERED = 5
"""For how many rounds a member that left is news, and is kept out."""


class PartialView:
    """Who a member knows: at most `size` others, `keep` always among them."""

    def __init__(self, own: BrokerId, keep: BrokerId, size: int, random: Random) -> None:
        self._own = own
        self._keep = keep
        self._size = size
        self._random = random
        self._members: list[BrokerId] = [] if own == keep else [keep]
        self._joined: list[BrokerId] = []
        self._left: dict[BrokerId, int] = {}

    @property
    def members(self) -> tuple[BrokerId, ...]:
        return tuple(self._members)

    @property
    def joined(self) -> tuple[BrokerId, ...]:
        """News of members."""
        return tuple(self._joined)

    @property
    def left(self) -> tuple[BrokerId, ...]:
        """News of who is no member any more."""
        return tuple(self._left)

    def targets(self, fanout: int) -> list[BrokerId]:
        """Some members, at random."""
        return self._random.sample(self._members, min(fanout, len(self._members)))

    def hear(self, joined: Iterable[BrokerId], left: Iterable[BrokerId] = ()) -> None:
        """News came from another member; a full view loses members at random."""
        for member in left:
            self.forget(member)
        for member in joined:
            if member not in self._left:
                self._take_in(member)
        self._evict()

    def welcome(self, member: BrokerId) -> None:
        """A member speaks for itself: it is one, whatever was heard of it."""
        self._left.pop(member, None)
        self._take_in(member)
        self._evict()

    def forget(self, member: BrokerId) -> None:
        """A member left."""
        if member in (self._own, self._keep):
            return
        if member in self._members:
            self._members.remove(member)
        if member in self._joined:
            self._joined.remove(member)
        if member not in self._left:
            self._left[member] = _ROUNDS_REMEMBERED
            if len(self._left) > self._size:
                del self._left[self._random.choice(list(self._left))]

    def end_round(self) -> None:
        """A round is over: old news of who left is none any more."""
        self._left = {member: rounds - 1 for member, rounds in self._left.items() if rounds > 1}

    def _take_in(self, member: BrokerId) -> None:
        if member != self._own and member not in self._members:
            self._members.append(member)
            self._tell(member)

    def _evict(self) -> None:
        while len(self._members) > self._size:
            member = self._random.choice([m for m in self._members if m != self._keep])
            self._members.remove(member)
            self._tell(member)

    def _tell(self, member: BrokerId) -> None:
        if member != self._keep and member not in self._joined:
            self._joined.append(member)
            if len(self._joined) > self._size:
                self._joined.pop(self._random.randrange(len(self._joined)))
