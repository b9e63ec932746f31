"""Lazy covering: what is covered does not travel, but what has travelled stays.

Subscription covering and its withdrawal (Toronto, 2011), Sec. II and VI-A.2. A new subscription
that covers older ones is sent and these are left where they are, so fewer messages go to and fro
and tables grow. When it goes, only what came after it may have to be sent.
"""

from typing import ClassVar

from pysim.brokers.covering.routing import CoveringRouting, Graph
from pysim.brokers.covering.stores import Lazy
from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.filters.relations import new_graph
from pysim.network.world import World


class LazyCovering(CoveringRouting):
    """Neighbors hold what was a root once; so does the table, and n counts it."""

    name: ClassVar[str] = "lazy-covering"

    def __init__(
        self, world: World, *, graph: Graph = "simplified", optimize: Optimized = UNOPTIMIZED
    ) -> None:
        super().__init__(world, lambda: Lazy(new_graph(graph)), optimize)
