"""What a broker keeps for a cluster that it belongs to, and how it tells the others in it.

It must not know clients, or why something is told.
"""

from collections import defaultdict
from collections.abc import Sequence

from pysim.brokers.destinations.clusters import ClusterName
from pysim.brokers.destinations.multicast import Multicast
from pysim.brokers.destinations.tables import Item, Table
from pysim.network.transport import BrokerId
from pysim.network.world import World
from pysim.wire import MessageId
from pysim.wire.messages import (
    AddressedAdvertise,
    AddressedSubscribe,
    AddressedUnadvertise,
    AddressedUnsubscribe,
)

Withdrawal = AddressedUnadvertise | AddressedUnsubscribe


class Cluster:
    """R-SRT and R-PRT of a cluster, and its multicasting layer."""

    def __init__(self, name: ClusterName, multicast: Multicast, world: World) -> None:
        self.name = name
        self.multicast = multicast
        self.advertisements = Table()
        """R-SRT."""
        self.subscriptions = Table()
        """R-PRT."""
        self.withdrawn: set[MessageId] = set()
        """Tombstones."""
        self._world = world
        self._owed: defaultdict[BrokerId, list[tuple[MessageId, Withdrawal]]] = defaultdict(list)
        """Withdrawals for brokers that no way led to."""

    def tell_advertisement(self, item: Item, to: Sequence[BrokerId]) -> None:
        """Let brokers know of an advertisement that this broker stands for."""
        self._tell(item, AddressedAdvertise((), (self._world.id,), item.filter), to)

    def tell_subscription(self, item: Item, to: Sequence[BrokerId]) -> None:
        """Let brokers know of a subscription that this broker stands for."""
        self._tell(item, AddressedSubscribe((), (self._world.id,), item.filter), to)

    def _tell(
        self, item: Item, message: AddressedAdvertise | AddressedSubscribe, to: Sequence[BrokerId]
    ) -> None:
        if to:
            item.told = (*item.told, *(broker for broker in to if broker not in item.told))
            if item.name is None:
                item.name = self._world.originate(message).id
            self.multicast.tell(message, item.name, to)

    def retract(self, item: Item, withdrawal: Withdrawal) -> None:
        """Withdraw an item from whoever was told of it; who is not reachable hears it later."""
        map = self.multicast.map
        told = sorted({*item.told, *item.former} & map.brokers())
        if not told:
            return
        id = self._world.originate(withdrawal).id
        reachable = map.reachable()
        for broker in told:
            if broker not in reachable:
                self._owed[broker].append((id, withdrawal))
        now = [broker for broker in told if broker in reachable]
        if now:
            self.multicast.tell(withdrawal, id, now)

    def make_up(self, broker: BrokerId) -> None:
        """Send the withdrawals that a broker has missed."""
        for id, withdrawal in self._owed.pop(broker, ()):
            self.multicast.tell(withdrawal, id, [broker])
