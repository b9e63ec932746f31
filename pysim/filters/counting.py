"""The two-step engine for Boolean filters: first the predicates, then the filters they may decide.

It must not know how a predicate is found; that is the predicate index's part. The steps are those
of Bittner and Hinze on subscription tree pruning, Sec. 4.4. Distinct predicates are kept once,
however many filters contain them. An event's fulfilled predicates are looked up in one-dimensional
indexes; the association table names the filters of each; a filter becomes a candidate when the
number of its fulfilled predicates reaches the minimum that it needs to match; candidates are
evaluated.

One thing differs: the paper counts for every filter that shares a predicate with the event, here
only those are counted of which a trigger is fulfilled. Triggers are predicates of a filter without
which it cannot match, the rarest that can be had: `symbol = "IBM" and price < 30` is never touched
by the many events that are cheap and not of IBM. No match is lost, and most of the counting is.
`two_step` has the published steps without triggers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic

from pysim.filters.index import DuplicateKeyError, K, UnknownKeyError
from pysim.filters.language import Filter, Predicate, canonical
from pysim.filters.needs import is_proven_by_count, minimum_count, triggers
from pysim.filters.predicates import PredicateIndex
from pysim.filters.values import Event


class CountingIndex(Generic[K]):
    """A `MatchingIndex` for thousands of filters that come and go one by one."""

    def __init__(self) -> None:
        self._subscriptions: dict[K, _Subscription[K]] = {}
        self._predicates: PredicateIndex[_Association[K]] = PredicateIndex()
        self._associations: dict[Predicate, _Association[K]] = {}
        # With negations an event may match that fulfils no predicate: nothing triggers these.
        self._always_candidates: set[_Subscription[K]] = set()

    def insert(self, key: K, filter: Filter) -> None:
        if key in self._subscriptions:
            raise DuplicateKeyError(key)
        filter = canonical(filter)
        predicates, minimum = minimum_count(filter)
        associations = [self._acquire(predicate) for predicate in predicates]
        subscription = _Subscription(
            key, filter, frozenset(associations), minimum, is_proven_by_count(filter)
        )
        self._subscriptions[key] = subscription
        if not minimum:
            self._always_candidates.add(subscription)
        for trigger in triggers(filter):
            self._associations[trigger].add(subscription)

    def remove(self, key: K) -> None:
        if key not in self._subscriptions:
            raise UnknownKeyError(key)
        subscription = self._subscriptions.pop(key)
        self._always_candidates.discard(subscription)
        for association in subscription.associations:
            association.discard(subscription)
            self._release(association)

    def match(self, event: Event) -> set[K]:
        matched: set[K] = set()
        touched: set[_Subscription[K]] = set()
        fulfilled = self._predicates.fulfilled(event)
        for association in fulfilled:
            if association.decided:
                matched |= association.decided
            if association.triggered:
                touched |= association.triggered
        if not touched and not self._always_candidates:
            return matched  # the usual case where every filter is one predicate
        for candidate in self._candidates(touched, fulfilled):
            if candidate.is_proven_by_count or candidate.filter.matches(event):
                matched.add(candidate.key)
        return matched

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, key: object) -> bool:
        return key in self._subscriptions

    def _candidates(
        self, touched: set[_Subscription[K]], fulfilled: list[_Association[K]]
    ) -> Iterator[_Subscription[K]]:
        """The subscriptions that have enough fulfilled predicates, or need none."""
        yield from self._always_candidates
        if touched:
            held = set(fulfilled)
            for subscription in touched:
                if len(held & subscription.associations) >= subscription.minimum:
                    yield subscription

    def _acquire(self, predicate: Predicate) -> _Association[K]:
        association = self._associations.get(predicate)
        if association is None:
            association = self._associations[predicate] = _Association(predicate)
            self._predicates.insert(predicate, association)
        association.users += 1
        return association

    def _release(self, association: _Association[K]) -> None:
        association.users -= 1
        if not association.users:
            del self._associations[association.predicate]
            self._predicates.remove(association.predicate)


@dataclass(slots=True, eq=False)
class _Subscription(Generic[K]):
    """A canonical filter under its key; equal to itself only, which makes sets of them quick."""

    key: K
    filter: Filter
    associations: frozenset[_Association[K]]  # of its predicates that are not negated
    minimum: int  # how many of these hold in any event that matches, at least
    is_proven_by_count: bool  # whether that many also suffice


@dataclass(slots=True, eq=False)
class _Association(Generic[K]):
    """A predicate with the subscriptions that use it."""

    predicate: Predicate
    users: int = 0
    decided: set[K] = field(default_factory=set)  # keys: this predicate alone makes them match
    triggered: set[_Subscription[K]] = field(default_factory=set)

    def add(self, subscription: _Subscription[K]) -> None:
        if subscription.minimum == 1 and subscription.is_proven_by_count:
            self.decided.add(subscription.key)
        else:
            self.triggered.add(subscription)

    def discard(self, subscription: _Subscription[K]) -> None:
        self.decided.discard(subscription.key)
        self.triggered.discard(subscription)
