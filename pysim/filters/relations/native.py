"""The native relation graphs: what of a filter they are told, so that they need not ask for it.

It must not know how they work; that is told in `ns3-app/filters/`. They do what those of
`reference` do, with the same counts.
"""

from __future__ import annotations

from functools import lru_cache
from sys import intern
from typing import Any, TypeAlias

from pysim.filters._engine import SimplifiedEngine, TraditionalEngine
from pysim.filters.index import K
from pysim.filters.language import And, Filter, Predicate
from pysim.filters.relations.graph import Placed
from pysim.filters.satisfiable import form

Side: TypeAlias = tuple[str, bool, Any, Any]
"""What a box allows of an attribute: its name, whether it is one value, the cuts at the ends.

The cuts are those of `regions`; None stands for no upper end.
"""

_MOST_COMPILED = 8192


class NativeSimplifiedGraph(SimplifiedEngine[K]):
    """A `RelationGraph` as `SimplifiedGraph`."""

    __slots__ = ()

    def insert(self, key: K, filter: Filter) -> Placed[K]:
        """Add a filter under a new key; `DuplicateKeyError` if the key is in use."""
        return Placed(*self.enter(key, filter, _box(filter)))


class NativeTraditionalGraph(TraditionalEngine[K]):
    """A `RelationGraph` as `TraditionalGraph`."""

    __slots__ = ()

    def insert(self, key: K, filter: Filter) -> Placed[K]:
        """Add a filter under a new key; `DuplicateKeyError` if the key is in use."""
        return Placed(*self.enter(key, filter, _box(filter)))


@lru_cache(_MOST_COMPILED)
def _box(filter: Filter) -> tuple[Side, ...] | None:
    """The sides of a conjunction of equalities and ranges, if there is an event that it matches.

    None for any other filter. Most filters come to every broker of a run.
    """
    known = form(filter) if _is_conjunction(filter) else None
    if known is None:
        return None
    sides = []
    for name, region in known.regions.items():
        cuts = region.numbers or region.strings
        if region.patterns or (region.numbers and region.strings) or len(cuts) > 2:
            return None
        high = cuts[1] if len(cuts) == 2 else None
        sides.append((intern(name), region.points() is not None, cuts[0], high))
    return tuple(sides)


def _is_conjunction(filter: Filter) -> bool:
    if isinstance(filter, And):
        return all(map(_is_conjunction, filter.children))
    return isinstance(filter, Predicate)
