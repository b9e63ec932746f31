"""Does every event that matches one filter match another? What covering routing rests upon.

It must not know brokers, or what is done with a covered subscription.

A subscription covers another if its set of matching events contains the other's (Bittner and Hinze
on subscription tree pruning, Sec. 3.1). The paper knows this for conjunctions only; here it holds
for the whole language: s covers t iff no event matches `t and not s`. An answer of True is proven.
It is always found for conjunctions of comparisons, ranges and equalities, and for other filters if
the search stays within its budget of branches and needs no knowledge of patterns in strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Generic

from pysim.filters.index import DuplicateKeyError, K, UnknownKeyError
from pysim.filters.language import Filter
from pysim.filters.regions import ANYTHING, meet
from pysim.filters.satisfiable import Form, OutOfBudget, form, is_satisfiable
from pysim.filters.values import Value

DEFAULT_BUDGET = 500
"""Branches of a search: enough for dozens of alternatives.

A branch looks at every alternative that is left, so its time grows with the size of the filters.
"""

_MOST_COMPILED = 8192


def covers(general: Filter, special: Filter, budget: int = DEFAULT_BUDGET) -> bool:
    """Whether all events that match `special` match `general`; False if the budget is too small."""
    return _covers(_compiled(general), _compiled(special), budget)


def satisfiable(filter: Filter, budget: int = DEFAULT_BUDGET) -> bool:
    """Whether some event may match; True if that cannot be told."""
    return _may_hold([_compiled(filter).form], budget)


def intersects(one: Filter, other: Filter, budget: int = DEFAULT_BUDGET) -> bool:
    """Whether some event may match both; True if that cannot be told."""
    first, second = _compiled(one), _compiled(other)
    pins = second.pins
    for attribute, values in first.pins.items():  # most filters that do not intersect differ here
        if attribute in pins and values.isdisjoint(pins[attribute]):
            return False
    return _may_hold([first.form, second.form], budget)


class CoveringTable(Generic[K]):
    """Filters under keys, asked which of them cover a filter and which it covers.

    The answers are those of asking `covers` for each filter, in the order of insertion. But most
    filters are not asked: two that pin one attribute to different values, as `title = "Emma"` and
    `title = "Ulysses"`, cannot cover each other, nor can a filter that needs an attribute cover one
    that does not mention it. That holds only for a covered filter that surely matches something, so
    those of which this is not known are always asked.
    """

    def __init__(self) -> None:
        self._entries: dict[K, _Entry[K]] = {}
        self._inserted = 0
        # Filters as the covering ones, each on one shelf: that of an attribute which it needs.
        self._general: dict[str | None, _Shelf[K]] = {}
        # Filters as the covered ones, on the shelves of all attributes that they mention.
        self._special: dict[str, _Shelf[K]] = {}
        self._unsure: dict[K, _Entry[K]] = {}
        self._sorted = 16  # how many filters there were when places were last chosen for all

    def insert(self, key: K, filter: Filter) -> None:
        """Add a filter under a new key; `DuplicateKeyError` if the key is in use."""
        if key in self._entries:
            raise DuplicateKeyError(key)
        compiled = _compiled(filter)
        self._inserted += 1
        entry = self._entries[key] = _Entry(key, self._inserted, compiled)
        if not compiled.is_surely_satisfiable:
            self._unsure[key] = entry
        for attribute in compiled.mentions:
            shelf = self._special.setdefault(attribute, _Shelf())
            shelf.add(entry, compiled.pins.get(attribute))
        self._shelve(entry)
        if len(self._entries) > 2 * self._sorted:
            self._shelve_all_again()

    def remove(self, key: K) -> None:
        """Take out the filter under the key; `UnknownKeyError` if there is none."""
        if key not in self._entries:
            raise UnknownKeyError(key)
        entry = self._entries.pop(key)
        pins = entry.compiled.pins
        self._general[entry.place].discard(key, entry.place_pins)
        self._unsure.pop(key, None)
        for attribute in entry.compiled.mentions:
            self._special[attribute].discard(key, pins.get(attribute))

    def covering(self, filter: Filter) -> list[K]:
        """The keys of all filters that cover this one."""
        special = _compiled(filter)
        found = {
            entry.number: entry.key
            for entry in self._possibly_covering(special)
            if _covers(entry.compiled, special, DEFAULT_BUDGET)
        }
        return [found[number] for number in sorted(found)]

    def covered_by(self, filter: Filter) -> list[K]:
        """The keys of all filters that this one covers."""
        general = _compiled(filter)
        found = {
            entry.number: entry.key
            for entry in self._possibly_covered(general)
            if _covers(general, entry.compiled, DEFAULT_BUDGET)
        }
        return [found[number] for number in sorted(found)]

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def _shelve(self, entry: _Entry[K]) -> None:
        entry.place = self._rarest(entry.compiled)
        self._general.setdefault(entry.place, _Shelf()).add(entry, entry.place_pins)

    def _shelve_all_again(self) -> None:
        """Which attribute tells filters apart best is not known before there are some."""
        self._general.clear()
        for entry in self._entries.values():
            self._shelve(entry)
        self._sorted = len(self._entries)

    def _rarest(self, general: _Compiled) -> str | None:
        """The attribute needed by a filter for which the fewest others come into question."""
        return min(
            sorted(general.needs),
            key=lambda name: _count(self._special.get(name), general.pins.get(name)),
            default=None,
        )

    def _possibly_covering(self, special: _Compiled) -> Iterator[_Entry[K]]:
        if not special.is_surely_satisfiable:
            yield from self._entries.values()
            return
        for place, shelf in self._general.items():
            if place is None:
                yield from shelf.loose.values()
            elif place in special.mentions:
                yield from shelf.under(special.pins.get(place))

    def _possibly_covered(self, general: _Compiled) -> Iterator[_Entry[K]]:
        name = self._rarest(general)
        if name is None:
            yield from self._entries.values()
            return
        yield from self._unsure.values()
        if name in self._special:
            yield from self._special[name].under(general.pins.get(name))


def _covers(general: _Compiled, special: _Compiled, budget: int) -> bool:
    if general is special:
        return True
    negation, positive = general.negation, special.form
    if negation is None or positive is None:
        return True
    alternatives: Iterable[Form] = (negation,)
    if not negation.regions and len(negation.choices) == 1:
        alternatives = negation.choices[0]
    hard = []
    for alternative in alternatives:
        if alternative.choices or not positive.chosen.isdisjoint(alternative.regions):
            hard.append(alternative)
        elif _all_meet(positive, alternative):
            # Nothing that `special` has to choose is touched: the two hold together if it can hold.
            return not special.is_satisfiable
    if not hard or general.filter == special.filter:
        return True
    return not _any_holds(positive, hard, budget)


def _all_meet(positive: Form, alternative: Form) -> bool:
    for attribute, region in alternative.regions.items():
        if not meet(positive.regions.get(attribute, ANYTHING), region):
            return False
    return True


def _any_holds(positive: Form, alternatives: list[Form], budget: int) -> bool:
    try:
        for alternative in alternatives:
            holds, budget = is_satisfiable([positive, alternative], budget)
            if holds:
                return True
    except OutOfBudget:
        return True
    return False


def _may_hold(forms: list[Form | None], budget: int) -> bool:
    known = [form for form in forms if form is not None]
    if len(known) < len(forms):
        return False
    try:
        return is_satisfiable(known, budget)[0]
    except OutOfBudget:
        return True


class _Compiled:
    """A filter and its negation as the search needs them, each found when it is first asked for."""

    def __init__(self, filter: Filter) -> None:
        self.filter = filter

    @cached_property
    def form(self) -> Form | None:
        return form(self.filter)

    @cached_property
    def negation(self) -> Form | None:
        return form(self.filter, negated=True)

    @cached_property
    def is_satisfiable(self) -> bool:
        return _may_hold([self.form], DEFAULT_BUDGET)

    @cached_property
    def is_surely_satisfiable(self) -> bool:
        try:
            sure = self.form and is_satisfiable([self.form], DEFAULT_BUDGET, only_if_sure=True)
        except OutOfBudget:
            return False
        return bool(sure and sure[0])

    @cached_property
    def mentions(self) -> frozenset[str]:
        """The attributes that can make a difference."""
        return frozenset(self.form.attributes()) if self.form else frozenset()

    @cached_property
    def needs(self) -> frozenset[str]:
        """Attributes that every matching event has."""
        return _needs(self.form) if self.form else frozenset()

    @cached_property
    def pins(self) -> dict[str, frozenset[Value]]:
        """For attributes that take one of few values in every matching event, these values."""
        return _pins(self.form) if self.form else {}


# Whoever asks for covering asks about the same filters again and again.
_compiled = lru_cache(_MOST_COMPILED)(_Compiled)


def _needs(form: Form) -> frozenset[str]:
    own = frozenset(name for name, region in form.regions.items() if not region.missing)
    return own.union(*(frozenset.intersection(*map(_needs, choice)) for choice in form.choices))


def _pins(form: Form) -> dict[str, frozenset[Value]]:
    pins = {
        attribute: points
        for attribute, region in form.regions.items()
        if (points := region.points()) is not None
    }
    for choice in form.choices:
        options = [_pins(alternative) for alternative in choice]
        for attribute in set.intersection(*map(set, options)):
            values = frozenset[Value]().union(*(option[attribute] for option in options))
            pins[attribute] = pins.get(attribute, values) & values
    return pins


@dataclass(slots=True, eq=False)
class _Entry(Generic[K]):
    key: K
    number: int  # the order of insertion
    compiled: _Compiled
    place: str | None = None  # the attribute on whose shelf it is looked for as a covering filter

    @property
    def place_pins(self) -> frozenset[Value] | None:
        return self.compiled.pins.get(self.place) if self.place is not None else None


@dataclass(slots=True, eq=False)
class _Shelf(Generic[K]):
    """Entries by the values of one attribute; the loose ones pin it to no values."""

    pinned: dict[Value, dict[K, _Entry[K]]] = field(default_factory=dict)
    loose: dict[K, _Entry[K]] = field(default_factory=dict)

    def add(self, entry: _Entry[K], values: frozenset[Value] | None) -> None:
        if values is None:
            self.loose[entry.key] = entry
            return
        for value in values:
            self.pinned.setdefault(value, {})[entry.key] = entry

    def discard(self, key: K, values: frozenset[Value] | None) -> None:
        if values is None:
            del self.loose[key]
            return
        for value in values:
            del self.pinned[value][key]
            if not self.pinned[value]:
                del self.pinned[value]

    def under(self, values: frozenset[Value] | None) -> Iterator[_Entry[K]]:
        """The entries that may agree with one of the values: all, if there are none to ask for."""
        yield from self.loose.values()
        for value in self.pinned if values is None else values:
            yield from self.pinned.get(value, {}).values()

    def count(self, values: frozenset[Value] | None) -> int:
        """How many entries `under` gives."""
        some: Iterable[Value] = self.pinned if values is None else values
        return len(self.loose) + sum(len(self.pinned.get(value, ())) for value in some)


def _count(shelf: _Shelf[K] | None, values: frozenset[Value] | None) -> int:
    return shelf.count(values) if shelf else 0
