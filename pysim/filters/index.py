"""The seam between who asks which subscriptions match an event and who knows how to find out.

It must not know any engine.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeVar

from pysim.filters.language import Filter
from pysim.filters.values import Event

K = TypeVar("K", bound=Hashable)


class MatchingIndex(Protocol[K]):
    """Filters under keys of the caller's choice; every engine behaves as `LinearIndex` does.

    What an index answers depends on the filters that are in it, never on how they got there.
    """

    def insert(self, key: K, filter: Filter) -> None:
        """Add a filter under a new key; `DuplicateKeyError` if the key is in use."""

    def remove(self, key: K) -> None:
        """Take out the filter under the key; `UnknownKeyError` if there is none."""

    def match(self, event: Event) -> set[K]:
        """The keys of all filters that match, in a set of the caller's own.

        A set has no order that two processes share: sort before order can be seen.
        """

    def __len__(self) -> int: ...

    def __contains__(self, key: object) -> bool: ...


class DuplicateKeyError(ValueError):
    """A key was inserted that is already in the index."""

    def __str__(self) -> str:
        return f"The key {self.args[0]!r} is already in the index; remove it first."


class UnknownKeyError(ValueError):
    """A key was removed that is not in the index."""

    def __str__(self) -> str:
        return f"The key {self.args[0]!r} is not in the index."
