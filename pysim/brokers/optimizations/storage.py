"""The form in which remote subscriptions stand in a broker's matching index.

A storage must not know messages or neighbors: it is told when an entry of the table comes, goes or
changes hands, and finds the entries that an event reaches. What local clients registered stays as
it is; so does what is both local and remote.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Set
from itertools import count
from typing import Generic, Protocol, TypeVar

from pysim.filters import Event, Filter, MatchingIndex, Predicate, new_index
from pysim.filters.pruning import PruningQueue
from pysim.filters.replacement import plan, predicates_of, replaced
from pysim.filters.selectivity import SelectivityTable


class Entry(Hashable, Protocol):
    """A line of a routing table; its subscribers are neighbors, or the broker itself."""

    @property
    def subscribers(self) -> Set[int]: ...


E = TypeVar("E", bound=Entry)


class Storage(Protocol[E]):
    """A matching index of a table's entries that may hold more general forms of their filters."""

    def insert(self, entry: E, filter: Filter) -> None:
        """A new entry, which has its first subscriber."""

    def remove(self, entry: E) -> None:
        """An entry lost its last subscriber."""

    def changed(self, entry: E) -> None:
        """A subscriber came to an entry, or left it to others."""

    def match(self, event: Event) -> set[E]:
        """The entries that an event reaches: all that match it, and perhaps more."""

    def renew(self, times: int) -> bool:
        """Optimize, for the so manieth time; whether the next time could do more with the same."""

    def form(self, entry: E, filter: Filter) -> Filter:
        """What stands for an entry's filter."""


class Exact(Generic[E]):
    """Everything stands as it was registered."""

    def __init__(self) -> None:
        self._index: MatchingIndex[E] = new_index()
        self.insert: Callable[[E, Filter], None] = self._index.insert
        self.remove: Callable[[E], None] = self._index.remove
        self.match: Callable[[Event], set[E]] = self._index.match

    def changed(self, entry: E) -> None:
        """Who subscribes does not matter."""

    def renew(self, times: int) -> bool:
        return False

    def form(self, entry: E, filter: Filter) -> Filter:
        return filter


class _Generalizing(Generic[E]):
    """What storages share that let other forms stand for remote filters.

    A subclass says what becomes of an entry that is remote now (`_came`) or no longer (`_left`).
    """

    def __init__(self, own: int) -> None:
        self._own = own
        self._index: MatchingIndex[E] = new_index()
        self._filters: dict[E, Filter] = {}
        self._forms: dict[E, Filter] = {}
        """Of entries whose form is another."""
        self._remote: set[E] = set()
        self.match: Callable[[Event], set[E]] = self._index.match

    def insert(self, entry: E, filter: Filter) -> None:
        self._filters[entry] = filter
        self._index.insert(entry, filter)
        self.changed(entry)

    def remove(self, entry: E) -> None:
        if entry in self._remote:
            self._remote.discard(entry)
            self._left(entry)
        del self._filters[entry]
        self._forms.pop(entry, None)
        self._index.remove(entry)

    def changed(self, entry: E) -> None:
        is_remote = self._own not in entry.subscribers
        if is_remote == (entry in self._remote):
            return
        if is_remote:
            self._remote.add(entry)
            self._came(entry)
        else:
            self._remote.discard(entry)
            self._left(entry)
            self._stand(entry, self._filters[entry])

    def form(self, entry: E, filter: Filter) -> Filter:
        return self._forms.get(entry, filter)

    def _stand(self, entry: E, form: Filter) -> None:
        """Let another form stand for an entry's filter."""
        if form == self._forms.get(entry, self._filters[entry]):
            return
        self._index.remove(entry)
        self._index.insert(entry, form)
        self._forms[entry] = form

    def _came(self, entry: E) -> None:
        """An entry belongs to neighbors alone from now on."""
        raise NotImplementedError

    def _left(self, entry: E) -> None:
        """An entry is gone, or a local client's too."""
        raise NotImplementedError


class PostPruned(_Generalizing[E]):
    """Remote filters are pruned in the order of the paper's selectivity queue (Sec. 4.3, 4.4).

    A filter enters the queue when pruning is next due, not when it comes: by then events have told
    the selectivities that its first step is chosen by.
    """

    def __init__(self, own: int, queue: PruningQueue[int], share: float) -> None:
        super().__init__(own)
        self._share = share
        self._queue = queue
        self._numbers: dict[E, int] = {}
        self._entries: dict[int, E] = {}
        self._next = count(1)
        self._waiting: dict[int, Filter] = {}
        self._done: Counter[int] = Counter()
        """Steps carried out, by the entry's number."""

    def renew(self, times: int) -> bool:
        for number, filter in self._waiting.items():
            self._queue.add(number, filter)
        self._waiting.clear()
        share = min(1.0, self._share * times)
        self._prune(share)
        return share < 1.0

    def _prune(self, share: float) -> None:
        """Go on until `share` of all steps, of those done and those left, are done."""
        done = self._done.total()
        forms: dict[int, Filter] = {}
        # Steps are planned anew as selectivities change, so how many are left is asked each time.
        while done < round(share * (done + self._queue.steps_left)):
            step = self._queue.prune()
            assert step is not None
            number, pruning = step
            done += 1
            self._done[number] += 1
            forms[number] = pruning.filter
        for number, form in forms.items():
            self._stand(self._entries[number], form)

    def _came(self, entry: E) -> None:
        number = self._numbers[entry] = next(self._next)
        self._entries[number] = entry
        self._waiting[number] = self._filters[entry]

    def _left(self, entry: E) -> None:
        number = self._numbers.pop(entry)
        del self._entries[number]
        del self._done[number]
        if self._waiting.pop(number, None) is None:
            self._queue.remove(number)


class Replaced(_Generalizing[E]):
    """Predicates of remote filters give way to more general ones of the same table (Sec. 3.3)."""

    def __init__(self, own: int, table: SelectivityTable, limit: float) -> None:
        super().__init__(own)
        self._table = table
        self._limit = limit
        self._settled: object = None
        """What the selectivities were when predicates were chosen, unless entries came since."""

    def renew(self, times: int) -> bool:
        """Choose anew, from all predicates of remote filters, which ones replace which."""
        if self._settled == self._table.version:
            return False
        self._settled = self._table.version
        remote = [entry for entry in self._filters if entry in self._remote]
        known: dict[Predicate, None] = {}
        for entry in remote:
            known.update(dict.fromkeys(predicates_of(self._filters[entry])))
        mapping = plan(list(known), self._table, self._limit)
        for entry in remote:
            self._stand(entry, replaced(self._filters[entry], mapping))
        return False

    def _came(self, entry: E) -> None:
        self._settled = None

    def _left(self, entry: E) -> None:
        self._settled = None
