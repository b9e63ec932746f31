"""Which publications are popular (PopSub, Sec. 4.2), and the broker that acts on it.

It must not know what becomes of unpopular publications: that is in the protocols' modules.

Algorithm 1 as its text has it (the pseudo-code differs): entries are popular in the order of their
gain until the first whose rate would exceed the capacity to fill, tau phi; that one and all of
equal or lower gain are not. What is settled beyond the paper:

- The rate of an entry is the number of publications of A, by the second of the last interval, whose
  next hops include the link, however they were sent. (To count only what the tree carried would
  oscillate: whatever is taken off the tree would have no rate at the next evaluation.) All that
  pass a broker count, also those of other brokers' clients.
- The flags stay as they are while the table is unchanged and the rates of popular entries are
  within 10 % of tau phi.
- Only the broker of the publisher acts on a flag, so only brokers with an advertisement of their
  own evaluate.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any

from pysim.brokers.popsub.gains import GainEntry
from pysim.brokers.popsub.routing import GainRouting, Publication
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId, World
from pysim.units import Duration, Share

Capacity = Annotated[float, "publications that a broker can forward in a second (tau)"]
Phi = Annotated[Share, "part of the capacity that popular publications may fill (phi)"]
Evaluation = Annotated[Duration, "time from one evaluation of popularity to the next"]

CAPACITY = 1000.0
PHI = Share(0.05)
EVALUATION = Duration(2.0)

_POSITIVE = frozenset({"capacity", "evaluation", "interval", "view", "fanout"})
"""Options, here and in subclasses, that nothing would work with if they were zero."""

HYSTERESIS = 0.1
"""How far from the capacity to fill the popular rates may be before flags are set anew."""


def popular_entries(entries: Iterable[GainEntry], capacity: float) -> set[GainEntry]:
    """Algorithm 1: the entries that fill a capacity."""
    popular: set[GainEntry] = set()
    filled = 0.0
    for _, group in groupby(sorted(entries, key=_falling_gain), key=_falling_gain):
        equals = list(group)
        filled += sum(entry.rate for entry in equals)
        if filled > capacity:
            break
        popular.update(equals)
    return popular


def keeps_its_flags(entries: Iterable[GainEntry], capacity: float) -> bool:
    """Whether the popular entries of an unchanged table still fill the capacity, more or less."""
    filled = sum(entry.rate for entry in entries if entry.popular)
    return abs(filled - capacity) <= HYSTERESIS * capacity


def _falling_gain(entry: GainEntry) -> float:
    return -entry.gain


class PopSub(GainRouting):
    """A broker that lets popular publications of its clients take the tree.

    A subclass supplies `send_unpopular`, and may override `flipped` and `evaluated`. The options
    are those of every subclass.
    """

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        for name in _POSITIVE & options.keys():
            if not 0 < options[name] < math.inf:
                raise ValueError(f"{name}(={options[name]}) should be finite and more than 0")

    def __init__(self, world: World, capacity: float, phi: float, evaluation: float) -> None:
        super().__init__(world)
        self._fill = capacity * phi
        self._evaluation = evaluation
        self._is_evaluating = False
        self.counters.update(dict.fromkeys(("unpopular-publications", "flips"), 0))

    def advertise(self, client: ClientId, filter: Filter) -> None:
        super().advertise(client, filter)
        if not self._is_evaluating:
            self._is_evaluating = True
            self.world.schedule(self._evaluation, self._evaluate)

    # Sending

    def send_published(self, publication: Publication, links: Sequence[BrokerId]) -> None:
        gains = self.gains.of(publication.advertisement)
        popular: list[GainEntry] = []
        unpopular: list[GainEntry] = []
        for link in links:
            entry = gains[link]
            entry.seen += 1
            (popular if entry.popular else unpopular).append(entry)
        if popular:
            self.send_along_tree(publication, popular)
        if unpopular:
            self.counters["unpopular-publications"] += 1
            self.send_unpopular(publication, unpopular)

    def send_unpopular(self, publication: Publication, entries: Sequence[GainEntry]) -> None:
        """Let a publication go that is unpopular on the links of some entries."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it sends the unpopular")

    # Algorithm 1, periodically

    def _evaluate(self) -> None:
        if not self._announced:
            self._is_evaluating = False
            return
        self.world.schedule(self._evaluation, self._evaluate)
        entries = list(self.gains)
        for entry in entries:
            entry.rate = entry.seen / self._evaluation
            entry.seen = 0
        if not self.gains.changed and keeps_its_flags(entries, self._fill):
            return
        self.gains.changed = False
        popular = popular_entries(entries, self._fill)
        for entry in entries:
            if entry.popular != (entry in popular):
                entry.popular = not entry.popular
                if entry.advertisement.origin == self.world.id:
                    self.counters["flips"] += 1
                    self.flipped(entry)
        self.evaluated(entries)

    def flipped(self, entry: GainEntry) -> None:
        """A local client's advertisement became popular, or unpopular, on a link."""

    def evaluated(self, entries: Iterable[GainEntry]) -> None:
        """All flags have been set anew."""
