"""A run in which one client after the other acts, in plain words."""

import networkx as nx

from pysim.filters import Filter, canonical, parse
from pysim.network import Simulation
from pysim.workloads.operations import Operation

from . import stage
from .stage import MS

Log = list[tuple[int, int, str]]


class Lab:
    """A run in which clients act one after the other, with time to settle."""

    def __init__(self, links: list[tuple[int, int]], protocol: str, **options: object) -> None:
        self.run: Simulation = stage.simulation(nx.Graph(links), protocol, options)
        self.run.run(0.02)

    def do(self, words: str) -> Log:
        """``0 subscribe x < 5``, ``2.7 publish 4``; the messages, but events, that it caused."""
        who, action, what = words.split(maxsplit=2)
        broker, _, client = who.partition(".")
        attributes = {"x": float(what)} if action == "publish" else {}
        filter = canonical(parse(what)) if action != "publish" else None
        now = self.run.transport.now
        self.run.add_operations(
            [Operation(now, int(broker), action, int(client or 0), filter, attributes)]  # type: ignore[arg-type]
        )
        return self.settle()

    def settle(self) -> Log:
        self.run.run((self.run.transport.now + 200 * MS) / 1e9)
        log = list(self.run.transport.log)  # type: ignore[attr-defined]
        self.run.transport.log.clear()  # type: ignore[attr-defined]
        return log

    def table(self, broker: int) -> dict[str, list[int]]:
        table = self.run.hosts[broker].agent.routing_table()  # type: ignore[union-attr]
        return {str(filter): sorted(hops) for filter, hops in table.items()}

    def holders(self, filter: str) -> list[int]:
        wanted: Filter = canonical(parse(filter))
        return [b for b, a in stage.agents(self.run).items() if wanted in a.routing_table()]

    def hops(self) -> list[tuple[int, int]]:
        """Where the last event went."""
        return self.run.transport.hops.get(self.run.observer.events[-1].id, [])  # type: ignore[attr-defined]
