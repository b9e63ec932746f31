"""D-DBR: events are matched at their source and carry the brokers they are for (Sec. III).

The matching layer is in `routing`, the multicasting layer in `multicast`: all brokers are one
cluster.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pysim.brokers.destinations.links import (
    MISSES,
    PERIOD,
    Detection,
    Misses,
    Period,
    Watch,
)
from pysim.brokers.destinations.multicast import Updates
from pysim.brokers.destinations.routing import ClusterName, DestinationRouting
from pysim.network.transport import BrokerId
from pysim.network.world import World

_ALL: ClusterName = 0


class DDbr(DestinationRouting):
    """Dynamic destination-based routing: every broker knows the overlay, lists tell the rest."""

    name: ClassVar[str] = "d-dbr"

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        _watch(options).check()

    def __init__(
        self,
        world: World,
        *,
        detection: Detection = "heartbeats",
        heartbeat: Period = PERIOD,
        misses: Misses = MISSES,
        updates: Updates = "numbered",
    ) -> None:
        super().__init__(world, Watch(detection, heartbeat, misses), updates)
        self.join_cluster(_ALL)

    def cluster_of(self, neighbor: BrokerId) -> ClusterName | None:
        return _ALL


def _watch(options: Mapping[str, Any]) -> Watch:
    return Watch(
        options.get("detection", "heartbeats"),
        options.get("heartbeat", PERIOD),
        options.get("misses", MISSES),
    )
