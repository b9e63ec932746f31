"""D-DBR: events are matched at their source and carry the brokers they are for (Sec. III).

The matching layer is in `routing`, the multicasting layer in `multicast`: all brokers are one
cluster. `self_organization` moves links to where events go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from pysim.brokers.destinations.clusters import ClusterName
from pysim.brokers.destinations.links import (
    MISSES,
    PERIOD,
    Detection,
    Misses,
    Period,
    Watch,
    watch_of,
)
from pysim.brokers.destinations.multicast import Updates
from pysim.brokers.destinations.routing import DestinationRouting
from pysim.brokers.destinations.self_organization import (
    MAX_DEGREE,
    NEVER,
    SLOT,
    Cycle,
    Losses,
    MaxDegree,
    Plan,
    SelfOrganization,
    Slot,
)
from pysim.network.transport import BrokerId
from pysim.network.world import World
from pysim.wire import Envelope
from pysim.wire.messages import OverlayAccept, OverlayPropose

_ALL = "all"


class DDbr(DestinationRouting):
    """Dynamic destination-based routing: every broker knows the overlay, lists tell the rest."""

    name: ClassVar[str] = "d-dbr"

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        watch_of(options).check()
        Plan(
            options.get("cycle", NEVER),
            options.get("max_degree", MAX_DEGREE),
            options.get("slot", SLOT),
        ).check()

    def __init__(
        self,
        world: World,
        *,
        detection: Detection = "heartbeats",
        heartbeat: Period = PERIOD,
        misses: Misses = MISSES,
        updates: Updates = "numbered",
        cycle: Cycle = NEVER,
        max_degree: MaxDegree = MAX_DEGREE,
        slot: Slot = SLOT,
        losses: Losses = "ends",
    ) -> None:
        super().__init__(world, Watch(detection, heartbeat, misses), updates)
        self.join_cluster(_ALL)
        multicast = self.clusters[_ALL].multicast
        plan = Plan(cycle, max_degree, slot, losses)
        self._organization = SelfOrganization(world, multicast, plan, self._counters)

    def start(self) -> None:
        super().start()
        self._organization.start()

    def cluster_of(self, neighbor: BrokerId) -> ClusterName | None:
        return _ALL

    def _found(self, neighbor: BrokerId) -> None:
        super()._found(neighbor)
        self._organization.link_found(neighbor)

    # Self-organization

    def event_came(self, envelope: Envelope) -> None:
        self._organization.count((envelope.origin,))

    def event_goes(self, destinations: Sequence[BrokerId]) -> None:
        self._organization.count(destinations)

    def event_crosses(self, neighbor: BrokerId) -> None:
        self._organization.count_carried(neighbor)

    def on_overlay_propose(self, sender: BrokerId, envelope: Envelope) -> None:
        self._organization.proposed(sender, cast(OverlayPropose, envelope.message).gain)

    def on_overlay_accept(self, sender: BrokerId, envelope: Envelope) -> None:
        message = cast(OverlayAccept, envelope.message)
        self._organization.accepted(sender, message.lose, message.dropped)

    def on_overlay_commit(self, sender: BrokerId, envelope: Envelope) -> None:
        self._organization.committed(sender)

    def on_overlay_abort(self, sender: BrokerId, envelope: Envelope) -> None:
        self._organization.refused(sender)

    on_overlay_busy = on_overlay_abort
