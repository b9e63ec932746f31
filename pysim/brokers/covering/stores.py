"""Relation graphs that do less than covering: nothing covers in one, nothing is displaced in one.

They must not know brokers; what they tell a broker makes it forward everything, or lazily.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic

from pysim.filters import Filter
from pysim.filters.index import K
from pysim.filters.relations import Placed, RelationGraph

_UNCOVERED: Placed[object] = Placed(False, (), 0)


class Unrelated(Generic[K]):
    """A `RelationGraph` that compares nothing: each of its keys is a root."""

    comparisons = 0

    def __init__(self) -> None:
        self._keys: dict[K, None] = {}

    @property
    def root_count(self) -> int:
        return len(self._keys)

    def insert(self, key: K, filter: Filter) -> Placed[K]:
        self._keys[key] = None
        return _UNCOVERED  # type: ignore[return-value]  # it names no key

    def remove(self, key: K) -> Sequence[K]:
        del self._keys[key]
        return ()

    def is_root(self, key: K) -> bool:
        return key in self._keys

    def roots(self) -> Iterable[K]:
        return self._keys.keys()

    def edges(self) -> Iterable[tuple[K, K]]:
        return ()

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys


class Lazy(Generic[K]):
    """A `RelationGraph` whose roots are never displaced: who was one stays one until it goes.

    A new filter that is covered is no root, as in the graph it is made of. One that covers others
    leaves them where they are, so among the roots some cover others: a list that is searched from
    its beginning is longer by these. The graph has not kept them, and says how many roots of its
    own it looked at; that share of all roots is what is told here. Of an uncovered filter it is all
    of them, and so exact.
    """

    def __init__(self, graph: RelationGraph[K]) -> None:
        self._graph = graph
        self._roots: dict[K, None] = {}

    @property
    def comparisons(self) -> int:
        return self._graph.comparisons

    @property
    def root_count(self) -> int:
        return len(self._roots)

    def insert(self, key: K, filter: Filter) -> Placed[K]:
        share = len(self._roots) / max(1, self._graph.root_count)
        placed = self._graph.insert(key, filter)
        if not placed.covered:
            self._roots[key] = None
        return Placed(placed.covered, (), round(share * placed.roots_examined))

    def remove(self, key: K) -> Sequence[K]:
        new = [root for root in self._graph.remove(key) if root not in self._roots]
        self._roots.pop(key, None)
        self._roots.update(dict.fromkeys(new))
        return new

    def is_root(self, key: K) -> bool:
        return key in self._roots

    def roots(self) -> Iterable[K]:
        return self._roots.keys()

    def edges(self) -> Iterable[tuple[K, K]]:
        return self._graph.edges()

    def __len__(self) -> int:
        return len(self._graph)

    def __contains__(self, key: object) -> bool:
        return key in self._graph
