"""Can any event match this? The search behind covering, for any filter or its negation.

It must not know what is asked for it: covering, overlap or emptiness.

A filter is turned into a form: AND and OR with negations moved down to the predicates, in which the
predicates of a conjunction have already been intersected into one region an attribute. What is left
to search are choices, the ORs: alternatives that cannot hold are dropped, a choice with one
alternative left is made, and then the smallest choice is branched on, within a budget of branches.
Attributes are independent of each other, so a conjunction whose regions are not empty can hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from pysim.filters.language import And, Filter, Not, Or, Predicate
from pysim.filters.regions import ANYTHING, Region, both, either, inside, meet, outside

Regions: TypeAlias = dict[str, Region]
Choice: TypeAlias = "Sequence[Form]"

_DEEPEST = 100  # branches below each other: a deeper search is given up before Python's stack is


class OutOfBudget(Exception):  # noqa: N818  (a signal of the search, not an error)
    """The search has taken all its branches and has not decided."""


class Form:
    """A conjunction: a region for each attribute it speaks of, and choices to be made as well."""

    __slots__ = ("choices", "chosen", "regions")

    def __init__(self, regions: Regions, choices: tuple[Choice, ...] = ()) -> None:
        self.regions = regions
        self.choices = choices
        # Every attribute that a choice speaks of.
        self.chosen = frozenset(
            attribute for choice in choices for form in choice for attribute in form.attributes()
        )

    def attributes(self) -> Iterable[str]:
        return self.chosen.union(self.regions)


def form(filter: Filter, negated: bool = False) -> Form | None:
    """The form of a filter or of its negation; None if it is plain that no event matches."""
    if isinstance(filter, Predicate):
        region = outside(filter) if negated else inside(filter)
        return None if region.is_empty else Form({filter.attribute: region})
    if isinstance(filter, Not):
        return form(filter.child, not negated)
    assert isinstance(filter, And | Or)
    parts = [form(child, negated) for child in filter.children]
    if isinstance(filter, And) is not negated:
        return _conjunction(parts)
    return _disjunction([part for part in parts if part is not None])


def is_satisfiable(
    forms: Sequence[Form], budget: int, only_if_sure: bool = False
) -> tuple[bool, int]:
    """Whether one event may match all forms, and what is left of the budget.

    A False is proven. A True is, if `only_if_sure`; otherwise patterns of strings may still exclude
    each other. `OutOfBudget` if it cannot be told.
    """
    search = _Search(budget, only_if_sure)
    regions: Regions | None = {}
    for each in forms:
        regions = _merged(regions, each.regions)
    choices = [choice for each in forms for choice in each.choices]
    return search.run(regions, choices), search.budget


def can_join(regions: Regions, form: Form) -> bool:
    """Whether each region of a form, taken alone, leaves something of these regions."""
    for attribute, region in form.regions.items():
        known = regions.get(attribute)
        if known is not None and not meet(known, region):
            return False
    return True


class _Search:
    def __init__(self, budget: int, only_if_sure: bool) -> None:
        self.budget = budget
        self._only_if_sure = only_if_sure
        self._depth = 0

    def run(self, regions: Regions | None, choices: list[Choice]) -> bool:
        """Whether the regions and one alternative of each choice can hold together."""
        settled = _settled(regions, choices)
        if settled is None:
            return False
        regions, choices = settled
        if not choices:
            return not self._only_if_sure or _are_sure(regions)
        groups = _independent(choices)
        if len(groups) > 1:
            return all(self._branch(regions, group) for group in groups)
        return self._branch(regions, choices)

    def _branch(self, regions: Regions, choices: list[Choice]) -> bool:
        smallest = min(range(len(choices)), key=lambda place: len(choices[place]))
        others = choices[:smallest] + choices[smallest + 1 :]
        self._depth += 1
        for alternative in choices[smallest]:
            self.budget -= 1
            if self.budget < 0 or self._depth > _DEEPEST:
                raise OutOfBudget
            together = _merged(regions, alternative.regions)
            if self.run(together, [*others, *alternative.choices]):
                self._depth -= 1
                return True
        self._depth -= 1
        return False


def _settled(regions: Regions | None, choices: list[Choice]) -> tuple[Regions, list[Choice]] | None:
    """The regions after all choices that leave no choice, and the others; None if none is left."""
    while regions is not None:
        open_choices: list[Choice] = []
        forced: Form | None = None
        for place, choice in enumerate(choices):
            possible = [alternative for alternative in choice if can_join(regions, alternative)]
            if not possible:
                return None
            if len(possible) == 1:
                forced = possible[0]
                open_choices += [*choices[place + 1 :], *forced.choices]
                break
            open_choices.append(possible)
        choices = open_choices
        if forced is None:
            return regions, choices
        regions = _merged(regions, forced.regions)
    return None


def _independent(choices: list[Choice]) -> list[list[Choice]]:
    """The choices in groups that share no attribute, so that each can be decided alone."""
    groups: list[tuple[set[str], list[Choice]]] = []
    for choice in choices:
        attributes = {attribute for form in choice for attribute in form.attributes()}
        members: list[Choice] = [choice]
        apart = []
        for group in groups:
            if group[0].isdisjoint(attributes):
                apart.append(group)
            else:
                attributes |= group[0]
                members = group[1] + members
        groups = [*apart, (attributes, members)]
    return [members for _, members in groups]


def _merged(regions: Regions | None, others: Regions) -> Regions | None:
    """The regions of both together; None if one of them is empty."""
    if regions is None:
        return None
    merged = dict(regions)
    for attribute, region in others.items():
        known = merged.get(attribute)
        if known is not None:
            region = both(known, region)
            if region.is_empty:
                return None
        merged[attribute] = region
    return merged


def _are_sure(regions: Regions) -> bool:
    return all(region.is_surely_not_empty for region in regions.values())


def _conjunction(parts: Sequence[Form | None]) -> Form | None:
    regions: dict[str, list[Region]] = defaultdict(list)
    choices: list[Choice] = []
    for part in parts:
        if part is None:
            return None
        for attribute, region in part.regions.items():
            regions[attribute].append(region)
        choices += part.choices
    together = {attribute: _folded(both, some) for attribute, some in regions.items()}
    if any(region.is_empty for region in together.values()):
        return None
    return Form(together, tuple(choices))


def _disjunction(parts: Sequence[Form]) -> Form | None:
    """One of the parts; those that are one region of the same attribute become their union."""
    regions: dict[str, list[Region]] = defaultdict(list)
    others: list[Form] = []
    for part in _without_nesting(parts):
        if not part.regions and not part.choices:
            return part
        region = _only_region(part)
        if region is None:
            others.append(part)
            continue
        ((attribute, _),) = part.regions.items()
        regions[attribute].append(region)
    unions = {attribute: _folded(either, some) for attribute, some in regions.items()}
    if ANYTHING in unions.values():
        return Form({})
    alternatives = [Form({attribute: region}) for attribute, region in unions.items()] + others
    if not alternatives:
        return None
    return alternatives[0] if len(alternatives) == 1 else Form({}, (tuple(alternatives),))


def _folded(combine: Callable[[Region, Region], Region], regions: list[Region]) -> Region:
    """All regions in one: neighbors first, then pairs of pairs, so that none is copied often."""
    while len(regions) > 1:
        pairs = [combine(*pair) for pair in zip(regions[::2], regions[1::2], strict=False)]
        regions = pairs + regions[2 * len(pairs) :]
    return regions[0]


def _without_nesting(parts: Iterable[Form]) -> Iterable[Form]:
    for part in parts:
        if not part.regions and len(part.choices) == 1:
            yield from part.choices[0]
        else:
            yield part


def _only_region(part: Form) -> Region | None:
    if part.choices or len(part.regions) != 1:
        return None
    (region,) = part.regions.values()
    return None if region.patterns else region
