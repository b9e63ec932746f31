"""The subscriptions of a broker's own clients, and which clients an event is for.

It must not know how brokers tell each other; for that it says when a filter's first client comes
and its last one goes.
"""

from collections.abc import Collection

from pysim.filters import Event, Filter, MatchingIndex, new_index
from pysim.network.world import ClientId


class LocalClients:
    """Who subscribed to what at this broker.

    Its length is the number of subscriptions; a filter is in it if any client subscribed to it.
    """

    def __init__(self) -> None:
        self.by_filter: dict[Filter, set[ClientId]] = {}
        """The clients of each filter, in the order in which the first of them came."""
        self._index: MatchingIndex[Filter] = new_index()

    def add(self, client: ClientId, filter: Filter) -> bool:
        """Enter a subscription; True if it is the first to its filter here.

        One that the client has already is no change.
        """
        clients = self.by_filter.get(filter)
        if clients is not None:
            clients.add(client)
            return False
        self.by_filter[filter] = {client}
        self._index.insert(filter, filter)
        return True

    def remove(self, client: ClientId, filter: Filter) -> bool:
        """Withdraw a subscription; True if it was the last to its filter here.

        One that the client does not have is no change.
        """
        clients = self.by_filter.get(filter)
        if clients is None or client not in clients:
            return False
        clients.remove(client)
        if clients:
            return False
        del self.by_filter[filter]
        self._index.remove(filter)
        return True

    def interested(self, attributes: Event) -> list[ClientId]:
        """The clients that an event is for, each once, in ascending order."""
        matching = self._index.match(attributes)
        return sorted({client for filter in matching for client in self.by_filter[filter]})

    def filters(self) -> Collection[Filter]:
        """Every filter that a client subscribed to, in the order in which the first did."""
        return self.by_filter.keys()

    def __contains__(self, filter: object) -> bool:
        return filter in self.by_filter

    def __len__(self) -> int:
        return sum(map(len, self.by_filter.values()))
