"""The seam between who wants to know which filters no other covers and who keeps track of it.

It must not know any graph, nor what a broker does with covered subscriptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, Protocol

from pysim.filters.index import K
from pysim.filters.language import Filter


class Placed(NamedTuple, Generic[K]):
    """Where a new filter has come to lie."""

    covered: bool
    """Whether a stored filter covers or equals it: it is no root."""

    displaced: Sequence[K]
    """The keys that were roots and lie below it now, in order of insertion."""

    roots_examined: int
    """How many roots it was compared with."""


class RelationGraph(Protocol[K]):
    """Filters under keys of the caller's choice, the covered ones below those that cover them.

    An edge leads from a filter to one that it covers, for which this was proven; a filter that none
    leads to is a root (Sec. IV of the study of incremental covering; below, its Properties are
    named). Equal filters are one node: its first key stands for it, later ones count as covered.

    Of filters whose relations `covers` can decide, roots are those that no other covers, whatever
    the order of insertions and removals (Property 4), and no child covers a sibling (Property 6).
    Of others there may be more roots than need be, never fewer.
    """

    @property
    def comparisons(self) -> int:
        """How often two filters have been compared so far, in both directions at once."""

    @property
    def root_count(self) -> int: ...

    def insert(self, key: K, filter: Filter) -> Placed[K]:
        """Add a filter under a new key; `DuplicateKeyError` if the key is in use."""

    def remove(self, key: K) -> Sequence[K]:
        """Take a filter out; the keys that were no roots and are now, in order of insertion.

        They are the next key of the same node, or else keys of its children (Property 5).
        `UnknownKeyError` if the key is not in use.
        """

    def is_root(self, key: K) -> bool:
        """Whether the key stands for a root; `UnknownKeyError` if it is not in use."""

    def roots(self) -> Iterable[K]:
        """The keys of the roots, in order of insertion."""

    def edges(self) -> Iterable[tuple[K, K]]:
        """The keys of parents and of their children; no order."""

    def __len__(self) -> int: ...

    def __contains__(self, key: object) -> bool: ...
