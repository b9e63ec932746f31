"""The two-step engine as it was published, natively: what filter times are reproduced with.

It must not know how it works; that is told in `ns3-app/filters/two-step.h`, and in plain Python in
`counting`. It has no triggers, so that its times depend on what those of the paper depend on: how
many predicates an event fulfils, in how many filters they are, and how many candidates they make.
"""

from __future__ import annotations

from functools import lru_cache

from pysim.filters._engine import TwoStepEngine
from pysim.filters.index import K
from pysim.filters.language import Filter, Predicate
from pysim.filters.needs import minimum_of
from pysim.filters.program import Leaf, Program

_MOST_COMPILED = 4096


class TwoStepIndex(TwoStepEngine[K]):
    """A `MatchingIndex` that also tells its size, its work, and how often predicates hold.

    `associations` counts the distinct predicates of each filter, negated ones too; `predicates`
    those of all filters together; `bytes` is the memory of all tables and trees. `candidates` is
    the number of filters evaluated, for all `events` so far.
    """

    __slots__ = ()

    def insert(self, key: K, filter: Filter) -> None:
        self.enter(key, *_compiled(filter))

    def replace(self, key: K, filter: Filter) -> None:
        """Put another filter under a key; `UnknownKeyError` if there is none.

        Predicates that it shares with the old one keep their counts, also if no other has them.
        """
        self.exchange(key, *_compiled(filter))

    def fulfilled(self, predicate: Predicate) -> int:
        """How many events fulfilled a predicate, since the first filter came that has it."""
        return self.selectivity(Program(predicate).leaves)[0]

    def seen(self, predicate: Predicate) -> int:
        """How many events there were since then; 0 if no filter has the predicate."""
        return self.selectivity(Program(predicate).leaves)[1]


@lru_cache(_MOST_COMPILED)
def _compiled(filter: Filter) -> tuple[list[Leaf], int]:
    """The leaves, and the minimum predicate count."""
    return Program(filter).leaves, minimum_of(filter)
