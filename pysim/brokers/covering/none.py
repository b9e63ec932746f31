"""No covering: every subscription goes to wherever an advertisement intersects it."""

from typing import ClassVar

from pysim.brokers.covering.routing import CoveringRouting
from pysim.brokers.covering.stores import Unrelated
from pysim.network.world import World


class NoCovering(CoveringRouting):
    """Advertisement-based routing as it is; its table is all that it stores."""

    name: ClassVar[str] = "no-covering"

    def __init__(self, world: World) -> None:
        super().__init__(world, Unrelated)
