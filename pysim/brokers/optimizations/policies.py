"""All that optimizes one broker's table: what is stored, what is told, what is known of events.

It must not know messages or any protocol, and of time no more than how to be called later; a broker
asks it and acts.
"""

from collections.abc import Callable, Iterable
from typing import Generic

from pysim.brokers.optimizations.choice import Optimize, storage, summary
from pysim.brokers.optimizations.statistics import Statistics
from pysim.brokers.optimizations.storage import E
from pysim.brokers.optimizations.summaries import Chain, Change
from pysim.filters import Event, Filter


class Policies(Generic[E]):
    """The policies of the broker `own`, whose table has entries of the type `entries`.

    A broker calls `start` when it starts, keeps its entries in `storage`, shows every event that it
    routes to `observe` unless that is None, and sends what `wanted` and `unwanted` answer.
    """

    def __init__(self, entries: type[E], optimize: Optimize, own: int) -> None:
        self._optimize = optimize
        self._statistics = Statistics(optimize.sample)
        self._summaries: dict[int, Chain] = {}
        self.storage = storage(entries, optimize, own, self._statistics.selectivities)
        self.observe: Callable[[Event], None] | None = None
        if optimize.learns:
            self.observe = self._statistics.observe

    def start(self, schedule: Callable[[float, Callable[[], None]], object]) -> None:
        """Optimize what is stored whenever it is due; `schedule` calls something after seconds."""
        if self._optimize.renews:
            schedule(self._optimize.start, lambda: self._renew(schedule, 1))

    def wanted(self, neighbor: int, filters: Iterable[Filter]) -> Change:
        """Filters are wanted of a neighbor that were not."""
        self._statistics.refresh()
        return self._summary(neighbor).add(filters)

    def unwanted(self, neighbor: int, filters: Iterable[Filter]) -> Change:
        """Filters are wanted of a neighbor no longer."""
        self._statistics.refresh()
        return self._summary(neighbor).remove(filters)

    def forget(self, neighbor: int) -> None:
        """Whatever a neighbor was told, it is gone."""
        self._summaries.pop(neighbor, None)

    def _renew(self, schedule: Callable[[float, Callable[[], None]], object], times: int) -> None:
        """Optimize what is stored, for the so manieth time, and again when it is due."""
        self._statistics.refresh()
        self.storage.renew(times)
        if self._optimize.every is not None:
            schedule(self._optimize.every, lambda: self._renew(schedule, times + 1))

    def _summary(self, neighbor: int) -> Chain:
        found = self._summaries.get(neighbor)
        if found is None:
            selectivities = self._statistics.selectivities
            found = self._summaries[neighbor] = summary(self._optimize, selectivities)
        return found
