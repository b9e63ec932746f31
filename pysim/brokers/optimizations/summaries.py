"""What a neighbor is told in place of all that is wanted: sets of filters kept up to date in steps.

A summary must not know brokers or messages: it is told which filters are wanted and answers which
subscriptions to send and which to withdraw, in that order, so that at no time less is told than is
wanted.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import count
from typing import NamedTuple, Protocol, TypeAlias

from pysim.filters import Filter
from pysim.filters.covering import CoveringTable
from pysim.filters.merging import MOST_MEMBERS

_Part: TypeAlias = tuple[Hashable, int]


class Change(NamedTuple):
    """What is told now and was not, then what is told no longer."""

    subscribe: Sequence[Filter] = ()
    unsubscribe: Sequence[Filter] = ()


class Summary(Protocol):
    """Stands for a set of wanted filters; what it tells matches at least what they match."""

    def add(self, filter: Filter) -> Change:
        """A filter that was not wanted is wanted now."""

    def remove(self, filter: Filter) -> Change:
        """A filter that was wanted is wanted no longer."""


class Covering:
    """Tells the most general filters only.

    A filter that another one covers hangs below it, in a forest whose roots are told. What covers
    is decided between roots: a filter below a root stays there while the root stands, whatever
    comes between the two. So removing a root asks anew for its children alone, and a comparison
    that ran out of its budget costs a message at most, never a delivery.
    """

    def __init__(self) -> None:
        self._roots: CoveringTable[Filter] = CoveringTable()
        self._children: dict[Filter, dict[Filter, None]] = {}
        self._parent: dict[Filter, Filter] = {}

    def add(self, filter: Filter) -> Change:
        self._children[filter] = {}
        return self._plant(filter)

    def remove(self, filter: Filter) -> Change:
        children = self._children.pop(filter)
        parent = self._parent.pop(filter, None)
        if parent is not None:
            del self._children[parent][filter]
            for child in children:
                self._hang(child, parent)
            return Change()
        self._roots.remove(filter)
        for child in children:
            del self._parent[child]
        return _net([*map(self._plant, children), Change((), (filter,))])

    def _plant(self, filter: Filter) -> Change:
        """Find the place of a filter that hangs nowhere, its own children with it."""
        above = self._roots.covering(filter)
        if above:
            self._hang(filter, above[0])
            return Change()
        below = self._roots.covered_by(filter)
        for root in below:
            self._roots.remove(root)
            self._hang(root, filter)
        self._roots.insert(filter, filter)
        return Change((filter,), below)

    def _hang(self, filter: Filter, parent: Filter) -> None:
        self._parent[filter] = parent
        self._children[parent][filter] = None


class Generalizing:
    """Tells each filter in a more general form, settled when it comes.

    Several filters may have the same form, which is told once, while any of them is wanted.
    """

    def __init__(self, generalized: Callable[[Filter], Filter]) -> None:
        self._generalized = generalized
        self._forms: dict[Filter, Filter] = {}
        self._uses: Counter[Filter] = Counter()

    def add(self, filter: Filter) -> Change:
        form = self._forms[filter] = self._generalized(filter)
        self._uses[form] += 1
        return Change((form,)) if self._uses[form] == 1 else Change()

    def remove(self, filter: Filter) -> Change:
        form = self._forms.pop(filter)
        self._uses[form] -= 1
        if self._uses[form]:
            return Change()
        del self._uses[form]
        return Change((), (form,))


class Merging:
    """Tells one filter for each group of filters that `group` says belong together.

    With each change of a group its merger is made anew from all its members, so that it is as exact
    as `merged` makes it, at the price that the paper names: any change of a member is a new
    subscription and the withdrawal of the old one, at this broker and at all behind. A group of
    more than `MOST_MEMBERS` is told in several parts.
    """

    def __init__(
        self,
        group: Callable[[Filter], Hashable],
        merged: Callable[[Sequence[Filter]], Filter],
    ) -> None:
        self._group = group
        self._merged = merged
        self._members: dict[_Part, dict[Filter, None]] = {}
        self._part: dict[Filter, _Part] = {}
        self._told: dict[_Part, Filter] = {}
        self._uses: Counter[Filter] = Counter()

    def add(self, filter: Filter) -> Change:
        part = self._part[filter] = self._room(self._group(filter))
        self._members.setdefault(part, {})[filter] = None
        return self._renew(part)

    def remove(self, filter: Filter) -> Change:
        part = self._part.pop(filter)
        del self._members[part][filter]
        return self._renew(part)

    def _room(self, group: Hashable) -> _Part:
        """The first part of a group that has room."""
        parts = ((group, number) for number in count())
        return next(part for part in parts if len(self._members.get(part, ())) < MOST_MEMBERS)

    def _renew(self, part: _Part) -> Change:
        old = self._told.pop(part, None)
        members = self._members[part]
        new = None
        if members:
            new = self._told[part] = self._merged(list(members))
        else:
            del self._members[part]
        if new == old:
            return Change()
        return Change(self._use(new), self._disuse(old))

    def _use(self, merger: Filter | None) -> Sequence[Filter]:
        """Two parts may have the same merger where merging is imperfect."""
        if merger is None:
            return ()
        self._uses[merger] += 1
        return (merger,) if self._uses[merger] == 1 else ()

    def _disuse(self, merger: Filter | None) -> Sequence[Filter]:
        if merger is None:
            return ()
        self._uses[merger] -= 1
        if self._uses[merger]:
            return ()
        del self._uses[merger]
        return (merger,)


class Chain:
    """Several summaries, each of what the one before it tells; it takes many filters at once.

    What comes and goes within one change is told nobody.
    """

    def __init__(self, parts: Iterable[Summary]) -> None:
        self._parts = list(parts)

    def add(self, filters: Iterable[Filter]) -> Change:
        """Filters that were not wanted are wanted now."""
        return self._pass_on(Change(tuple(filters)))

    def remove(self, filters: Iterable[Filter]) -> Change:
        """Filters that were wanted are wanted no longer."""
        return self._pass_on(Change((), tuple(filters)))

    def _pass_on(self, change: Change) -> Change:
        for part in self._parts:
            change = _net(
                [
                    *(part.add(filter) for filter in change.subscribe),
                    *(part.remove(filter) for filter in change.unsubscribe),
                ]
            )
        return change


def _net(changes: Iterable[Change]) -> Change:
    """Several changes as one, without what came and went on the way."""
    balance: Counter[Filter] = Counter()
    for change in changes:
        balance.update(change.subscribe)
        balance.subtract(change.unsubscribe)
    return Change(
        tuple(filter for filter, count in balance.items() if count > 0),
        tuple(filter for filter, count in balance.items() if count < 0),
    )
