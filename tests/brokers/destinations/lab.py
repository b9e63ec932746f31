"""A run in which one client after the other acts, in plain words, with all its messages."""

import networkx as nx

from pysim.filters import canonical, parse
from pysim.network import NANOSECONDS, Simulation
from pysim.wire import Message
from pysim.workloads.operations import Operation

from . import stage
from .stage import BEGIN, MS

Log = list[tuple[int, int, str]]


class Lab:
    """Clients act one after the other, with time to settle; the overlay is known to all."""

    def __init__(self, overlay: nx.Graph, protocol: str, **options: object) -> None:
        self.run: Simulation = stage.simulation(overlay, protocol, options)
        self.settle(BEGIN // MS)

    def do(self, words: str) -> Log:
        """``0 subscribe x < 5``, ``2.7 publish 4``; the messages that it caused."""
        who, action, what = words.split(maxsplit=2)
        broker, _, client = who.partition(".")
        attributes = {"x": int(what)} if action == "publish" else {}
        filter = canonical(parse(what)) if action != "publish" else None
        now = self.run.transport.now
        self.run.add_operations(
            [Operation(now, int(broker), action, int(client or 0), filter, attributes)]  # type: ignore[arg-type]
        )
        return self.settle()

    def settle(self, milliseconds: int = 200) -> Log:
        self.run.run((self.run.transport.now + milliseconds * MS) / NANOSECONDS)
        log = [(a, b, text(message)) for a, b, message in self.run.transport.log]  # type: ignore[attr-defined]
        self.run.transport.log.clear()  # type: ignore[attr-defined]
        return log

    def counters(self, name: str) -> list[int]:
        return [agent.counters[name] for agent in stage.agents(self.run).values()]

    def served(self) -> list[tuple[int, int]]:
        """Who got the last event, by broker and client."""
        last = self.run.observer.events[-1].id
        return [(r.broker, r.client) for r in self.run.observer.deliveries if r.event == last]


def text(message: Message) -> str:
    """``SUB x in [1, 2] -> 3 4``: what it is, and for whom."""
    words = [_NAMES.get(message.NAME, message.NAME.upper())]
    if hasattr(message, "filter"):
        words.append(str(message.filter))
    if hasattr(message, "attributes"):
        words.append(str(message.attributes["x"]))
    if hasattr(message, "neighbors"):
        words.append(f"{message.originator}: {' '.join(map(str, message.neighbors))}")  # type: ignore[attr-defined]
    if hasattr(message, "destinations"):
        words += ["->", *map(str, message.destinations)]
    return " ".join(words)


_NAMES = {
    "addressed-advertise": "ADV",
    "addressed-unadvertise": "UNADV",
    "addressed-subscribe": "SUB",
    "addressed-unsubscribe": "UNSUB",
    "addressed-event": "EVENT",
    "tree-advertise": "ADV",
    "tree-unadvertise": "UNADV",
    "tree-subscribe": "SUB",
    "tree-unsubscribe": "UNSUB",
    "tree-event": "EVENT",
    "topology-update": "UPDATE",
}
