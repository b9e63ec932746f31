"""The publication gain table G[link, advertisement] of a broker (PopSub, Sec. 4.1).

It must not know messages or how popularity is decided; it counts.

The gain of forwarding a publication of A over a link is the number of subscriptions behind it that
intersect A, by the average number of hops to them: count^2 / sum of hops. What is settled beyond
the paper:

- It is kept where a subscription arrives, for the link that it came over: one hop at the neighbor.
  (The paper's sender-side index can only mean this, for the table of the neighbor that will
  forward publications back.) Local subscriptions do not count.
- An entry is made with its first subscription. With its last, the gain is none, 0, but the entry
  stays until advertisement or link go: who subscribes next must find publications on the way that
  they were on, or it could hear of a change that is none any more. There is no entry for the link
  that leads to the advertiser: no publication of A goes there.
"""

from collections.abc import Iterable, Iterator

from pysim.brokers.covering.tables import Advertisement
from pysim.brokers.popsub.interests import Interest
from pysim.network.transport import BrokerId
from pysim.wire import MessageId


class GainEntry:
    """One line of the table; `popular` and `rate` are what the last evaluation found."""

    __slots__ = ("advertisement", "count", "hops", "link", "popular", "rate", "seen")

    def __init__(self, link: BrokerId, advertisement: MessageId) -> None:
        self.link = link
        self.advertisement = advertisement
        self.count = 0
        self.hops = 0
        self.popular = True
        self.rate = 0.0
        self.seen = 0
        """Publications since the last evaluation whose next hops include the link."""

    @property
    def gain(self) -> float:
        return self.count * self.count / self.hops if self.count else 0.0


class GainTable:
    """Entries by advertisement and link; `changed` says whether any gain did since it was reset."""

    def __init__(self) -> None:
        self._rows: dict[MessageId, dict[BrokerId, GainEntry]] = {}
        self.changed = False

    def of(self, advertisement: MessageId) -> dict[BrokerId, GainEntry]:
        """The entries of an advertisement by link."""
        return self._rows.get(advertisement, _NONE)

    def count(self, interest: Interest, link: BrokerId, hops: int, sign: int) -> None:
        """A subscription came over a link (sign 1) or went (sign -1), after so many hops."""
        for advertisement in interest.advertisements:
            if link not in advertisement.hops:
                self._add(advertisement.id, link, sign, sign * hops)

    def recount(self, advertisement: Advertisement, interests: Iterable[Interest]) -> None:
        """The sides of an advertisement changed: count what intersects it anew."""
        row = self._rows.get(advertisement.id, {})
        for entry in row.values():
            entry.count = entry.hops = 0
        for interest in interests:
            for link, side in interest.sides.items():
                if link not in advertisement.hops:
                    self._add(advertisement.id, link, side.count, side.hops)
        for link in advertisement.hops:
            row.pop(link, None)
        self.changed = True

    def forget(self, advertisement: MessageId) -> None:
        """An advertisement is gone."""
        if self._rows.pop(advertisement, None) is not None:
            self.changed = True

    def _add(self, advertisement: MessageId, link: BrokerId, count: int, hops: int) -> None:
        row = self._rows.setdefault(advertisement, {})
        entry = row.get(link)
        if entry is None:
            entry = row[link] = GainEntry(link, advertisement)
        entry.count += count
        entry.hops += hops
        self.changed = True

    def forget_link(self, link: BrokerId) -> None:
        """A link is gone."""
        for row in self._rows.values():
            if row.pop(link, None) is not None:
                self.changed = True

    def __iter__(self) -> Iterator[GainEntry]:
        for row in self._rows.values():
            yield from row.values()


_NONE: dict[BrokerId, GainEntry] = {}
