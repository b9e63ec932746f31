"""MERC: match at the edge and route within clusters (merc.txt, Sec. IV).

Inside a cluster it is D-DBR. Edge brokers belong to several clusters, have the tables of each, and
pass on to the others what comes to them from one, with their own number as its source: that is
Alg. 3, and `routing` has it for any broker with more than one cluster. An edge broker is an
ordinary member too: its own clients use the tables of all its clusters. The graph of clusters must
be a tree, else what is passed on would come back; anything else is refused before a run. A link
that the topology does not have belongs to no cluster and is not used.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pysim.brokers.destinations import clusters
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
from pysim.network.transport import BrokerId
from pysim.network.world import Place, World


class Merc(DestinationRouting):
    """Match at edge and route intra-cluster: lists name brokers of one cluster only."""

    name: ClassVar[str] = "merc"

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        watch_of(options).check()

    @classmethod
    def check_overlay(cls, places: Mapping[BrokerId, Place]) -> None:
        clusters.check(places)

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
        place = world.place
        self._cluster_of = {n: clusters.link_cluster(place, n) for n in place.links}
        for name in clusters.clusters(place):
            self.join_cluster(name)

    def cluster_of(self, neighbor: BrokerId) -> ClusterName | None:
        return self._cluster_of.get(neighbor)
