"""What neighbors hold where a summary stands for the subscriptions that are wanted of them.

It must not know entries or advertisements, nor which policies make a summary.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pysim.brokers.optimizations import Change, Policies
from pysim.filters import Filter
from pysim.network.transport import BrokerId
from pysim.wire import Envelope, Message, MessageId
from pysim.wire.messages import Subscribe


class Messages(NamedTuple):
    """What to send a neighbor: subscriptions, and after them the ids of those to withdraw."""

    subscribe: Sequence[Envelope]
    withdraw: Sequence[MessageId]


class Summarized:
    """For each neighbor the filters that are wanted of it, and what it holds in their place.

    What a summary tells is no client's subscription: it may stand for many of them, or be like
    none. So it is a subscription of this broker's own, with an id that `originate` gives it, and
    goes one hop: the neighbor summarizes anew what it sends on. Subscriptions of equal filters are
    wanted once, while there is any of them.
    """

    def __init__(self, policies: Policies[Any], originate: Callable[[Message], Envelope]) -> None:
        self._policies = policies
        self._originate = originate
        self._wanted: defaultdict[BrokerId, Counter[Filter]] = defaultdict(Counter)
        self._held: defaultdict[BrokerId, dict[Filter, MessageId]] = defaultdict(dict)

    def add(self, neighbor: BrokerId, filters: Iterable[Filter]) -> Messages:
        """Subscriptions of these filters are wanted of a neighbor."""
        wanted, new = self._wanted[neighbor], []
        for filter in filters:
            wanted[filter] += 1
            if wanted[filter] == 1:
                new.append(filter)
        return self._messages(neighbor, self._policies.wanted(neighbor, new))

    def remove(self, neighbor: BrokerId, filters: Iterable[Filter]) -> Messages:
        """Subscriptions of these filters are wanted of a neighbor no longer."""
        wanted, old = self._wanted[neighbor], []
        for filter in filters:
            wanted[filter] -= 1
            if not wanted[filter]:
                del wanted[filter]
                old.append(filter)
        return self._messages(neighbor, self._policies.unwanted(neighbor, old))

    def forget(self, neighbor: BrokerId) -> None:
        """Whatever a neighbor held, it is gone."""
        self._wanted.pop(neighbor, None)
        self._held.pop(neighbor, None)
        self._policies.forget(neighbor)

    def held(self, neighbor: BrokerId) -> dict[Filter, MessageId]:
        """What a neighbor holds, with the ids that it knows it by; not to be changed."""
        return self._held[neighbor]

    def _messages(self, neighbor: BrokerId, change: Change) -> Messages:
        held = self._held[neighbor]
        new = [self._originate(Subscribe(filter)) for filter in change.subscribe]
        held.update(zip(change.subscribe, (envelope.id for envelope in new), strict=True))
        return Messages(new, [held.pop(filter) for filter in change.unsubscribe])
