"""The four tables of the matching layer: L-SRT, R-SRT, L-PRT, R-PRT, with sources for last hops.

They must not know messages or ways. D-DBR has one R-SRT and one R-PRT, a MERC edge broker one of
each for every cluster it belongs to (merc.txt, Sec. III-A and IV-A).
"""

from collections.abc import Iterator

from pysim.brokers.filter_groups import FilterGroup
from pysim.filters import Event, Filter, MatchingIndex, new_index
from pysim.network.transport import BrokerId
from pysim.wire import MessageId


class Item:
    """An advertisement or a subscription: whose it is, and which brokers were told of it."""

    __slots__ = ("filter", "former", "id", "name", "source", "told")

    def __init__(
        self, id: MessageId, filter: Filter, source: BrokerId, name: MessageId | None = None
    ) -> None:
        self.id = id
        self.name = name
        """The id under which this broker tells others of it; None as long as it told nobody."""
        self.filter = filter
        self.source = source
        """The broker that it came from, for its clients or, at a cluster's edge, for others."""
        self.told: tuple[BrokerId, ...] = ()
        """Who was told and holds it; a tuple, as there are many items."""
        self.former: tuple[BrokerId, ...] = ()
        """Who was told and has no more need of it, as far as is known here: it may have one that
        is not known yet, so it has to hear of the end too."""

    def dismiss(self, broker: BrokerId) -> None:
        """A broker has no more need of it."""
        self.told = tuple(other for other in self.told if other != broker)
        self.former = (*self.former, broker)

    def forget(self, broker: BrokerId) -> None:
        """A broker was told, and has forgotten everything."""
        if broker in self.told or broker in self.former:
            self.told = tuple(other for other in self.told if other != broker)
            self.former = tuple(other for other in self.former if other != broker)


class Table:
    """Items by id, found by the events they match and by the filters they intersect."""

    def __init__(self) -> None:
        self._items: dict[MessageId, Item] = {}
        self._group: FilterGroup[Item] = FilterGroup()
        self._index: MatchingIndex[Item] | None = None
        """From the first event on: most tables are never asked about events."""

    def get(self, id: MessageId) -> Item | None:
        return self._items.get(id)

    def add(self, item: Item) -> None:
        self._items[item.id] = item
        self._group.add(item)
        if self._index is not None:
            self._index.insert(item, item.filter)

    def remove(self, item: Item) -> None:
        del self._items[item.id]
        self._group.remove(item)
        if self._index is not None:
            self._index.remove(item)

    def match(self, event: Event) -> set[Item]:
        """The items that match an event."""
        if self._index is None:
            self._index = new_index()
            for item in self._items.values():
                self._index.insert(item, item.filter)
        return self._index.match(event)

    def intersecting(self, filter: Filter) -> list[Item]:
        """The items that some event may match together with a filter."""
        return list(self._group.intersecting(filter))

    def intersects(self, filter: Filter) -> bool:
        """Whether there is such an item."""
        return self._group.intersects(filter)

    def sources(self, filter: Filter) -> list[BrokerId]:
        """The brokers that such items came from, each once, ascending."""
        return sorted({item.source for item in self._group.intersecting(filter)})

    def matching_sources(self, event: Event) -> list[BrokerId]:
        """The brokers whose items an event matches, each once, ascending."""
        return sorted({item.source for item in self.match(event)})

    def of(self, source: BrokerId) -> list[Item]:
        """What came from a broker."""
        return [item for item in self._items.values() if item.source == source]

    def __iter__(self) -> Iterator[Item]:
        return iter(list(self._items.values()))

    def __len__(self) -> int:
        return len(self._items)
