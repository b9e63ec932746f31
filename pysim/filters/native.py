"""The native engine that finds filters by their triggers, and one that evaluates them all.

It must not know how they work; that is told in `ns3-app/filters/`.
"""

from __future__ import annotations

from functools import lru_cache

from pysim.filters._engine import Engine
from pysim.filters.index import K
from pysim.filters.language import Filter
from pysim.filters.needs import triggers
from pysim.filters.program import Leaf, Program

_MOST_COMPILED = 4096


class NativeIndex(Engine[K]):
    """A `MatchingIndex` for any number of filters; `match` is native from its call to its end."""

    __slots__ = ()

    def insert(self, key: K, filter: Filter) -> None:
        self.enter(key, *_compiled(filter))


class ScanningIndex(Engine[K]):
    """A `MatchingIndex` that evaluates every filter for every event, natively.

    It is what indexes are measured against: the reference, compiled.
    """

    __slots__ = ()

    def insert(self, key: K, filter: Filter) -> None:
        self.enter(key, Program(filter, frozenset()).leaves, False)


@lru_cache(_MOST_COMPILED)
def _compiled(filter: Filter) -> tuple[list[Leaf], bool]:
    """The leaves, and whether any trigger decides: most filters come to every broker of a run."""
    program = Program(filter, triggers(filter))
    return program.leaves, program.decided
