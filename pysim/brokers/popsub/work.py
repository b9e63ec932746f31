"""What popularity-based brokers tell a service model about their work.

It must not know prices: what a unit costs is the service model's business.

A broker's capacity is the number of publications that it can forward in a second, so the unit is
a publication on its way to one receiver:

- ``messages``: publications that went out one by one over a link, each to one broker;
- ``direct``: the same, off the tree;
- ``batched-<n>``, n from 1 to 256: batches and gossips of n publications, each to one broker. What
  such a batch costs is the entry n of the batch-factor table. More than 256 in one message (which
  only gossip has) are several batches of 256 and the rest.
- ``matched``: publications that were matched here, whether or not they went on; the paper's
  capacity does not price them, another model may.
"""

from collections.abc import Mapping

LARGEST_BATCH = 256
"""The largest size of the published batch-factor table (PopSub, Sec. 5.1)."""

MESSAGES = "messages"
DIRECT = "direct"
MATCHED = "matched"
_BATCHED = tuple(f"batched-{size}" for size in range(LARGEST_BATCH + 1))

WORK_UNITS = frozenset({MESSAGES, DIRECT, MATCHED, *_BATCHED[1:]})


class Work:
    """The units of one broker since they were last taken."""

    __slots__ = ("_batches", "direct", "matched", "messages")

    def __init__(self) -> None:
        self.messages = 0
        self.direct = 0
        self.matched = 0
        self._batches: dict[str, float] = {}

    def batch(self, size: int) -> None:
        """A batch of that many publications went to one broker."""
        whole, rest = divmod(size, LARGEST_BATCH)
        for unit, count in ((_BATCHED[LARGEST_BATCH], whole), (_BATCHED[rest], int(rest > 0))):
            if count:
                self._batches[unit] = self._batches.get(unit, 0) + count

    def take(self) -> Mapping[str, float]:
        """All units, and none from now on."""
        done = self._batches
        done[MESSAGES] = self.messages
        done[DIRECT] = self.direct
        done[MATCHED] = self.matched
        self.messages = self.direct = self.matched = 0
        self._batches = {}
        return done
