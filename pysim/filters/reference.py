"""The plain engine: it asks every filter, and is what all other engines are tested against.

It must not become clever.
"""

from __future__ import annotations

from typing import Generic

from pysim.filters.index import DuplicateKeyError, K, UnknownKeyError
from pysim.filters.language import Filter
from pysim.filters.values import Event


class LinearIndex(Generic[K]):
    """A `MatchingIndex` that evaluates each of its filters for each event."""

    def __init__(self) -> None:
        self._filters: dict[K, Filter] = {}

    def insert(self, key: K, filter: Filter) -> None:
        if key in self._filters:
            raise DuplicateKeyError(key)
        self._filters[key] = filter

    def remove(self, key: K) -> None:
        if key not in self._filters:
            raise UnknownKeyError(key)
        del self._filters[key]

    def match(self, event: Event) -> set[K]:
        return {key for key, filter in self._filters.items() if filter.matches(event)}

    def __len__(self) -> int:
        return len(self._filters)

    def __contains__(self, key: object) -> bool:
        return key in self._filters
