"""Settings on the overlays of the covering paper, and what clients hold while operations go by."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import networkx as nx

from pysim.filters import Filter
from pysim.network.streams import Streams
from pysim.workloads import Operation, Setting, Site
from topologies.published import overlay49, tiered, workflow

Holding = tuple[int, int, Filter]
"""A broker, a client there, and a filter."""


def setting_on(overlay: nx.Graph, duration: float, seed: int = 1) -> Setting:
    nodes = (overlay.nodes[broker] for broker in range(len(overlay)))
    sites = tuple(Site(node.get("role"), node.get("region", node.get("domain"))) for node in nodes)
    return Setting(len(overlay), duration, Streams(seed), sites)


OVERLAY49 = overlay49()
TIERED = tiered()
WORKFLOW = workflow()


@dataclass
class Clients:
    """What clients hold at a moment; whoever withdraws or repeats what is not so is caught."""

    subscribed: set[Holding] = field(default_factory=set)
    advertised: set[Holding] = field(default_factory=set)

    def follow(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        """The same operations, each before it is done."""
        for act in operations:
            yield act
            if act.filter is not None:
                self._change(act, act.filter)

    def _change(self, act: Operation, filter: Filter) -> None:
        held = self.advertised if "advertise" in act.action else self.subscribed
        mine = (act.broker, act.client, filter)
        if act.action.startswith("un"):
            held.remove(mine)
        else:
            assert mine not in held
            held.add(mine)
