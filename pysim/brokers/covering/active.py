"""Active covering: only what nothing covers travels, and what is covered later is taken back.

Subscription covering and its withdrawal (Toronto, 2011), Sec. II and VI-A.2. When a subscription
goes, all that it had quenched is sent in its place at once: the burst that the paper is about.
"""

from functools import partial
from typing import ClassVar

from pysim.brokers.covering.routing import CoveringRouting, Graph
from pysim.brokers.optimizations import UNOPTIMIZED, Optimized
from pysim.filters.relations import new_graph
from pysim.network.world import World


class ActiveCovering(CoveringRouting):
    """Neighbors hold the roots of the relation graph, at every moment."""

    name: ClassVar[str] = "active-covering"

    def __init__(
        self, world: World, *, graph: Graph = "simplified", optimize: Optimized = UNOPTIMIZED
    ) -> None:
        super().__init__(world, partial(new_graph, graph), optimize)
