"""Brokers on a small network that writes down every message, and tables computed from scratch."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import networkx as nx

from pysim.brokers import make
from pysim.filters import Filter, parse
from pysim.network import LinkNotice, LinkReplace, LinkSettings, MemoryTransport, Simulation
from pysim.wire import Envelope
from pysim.wire.messages import Activate, Event, Rec, Subscribe, Unsubscribe
from pysim.workloads.operations import Operation

MS = 1_000_000

Log = list[tuple[float, int, int, str]]


def pattern(letter: str) -> Filter:
    """The subscriptions of the reconfiguration paper: one character."""
    return parse(f'body contains "{letter}"')


class Wiretap(MemoryTransport):
    """A memory network that logs `(milliseconds, source, target, message)` of all that is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.log: Log = []

    def send(self, source: int, target: int, frame: bytes) -> None:
        super().send(source, target, frame)
        self.log.append((self.now / MS, source, target, _text(Envelope.open(frame))))

    def send_direct(self, source: int, target: int, frame: bytes, protocol: Any) -> None:
        super().send_direct(source, target, frame, protocol)
        self.log.append((self.now / MS, source, target, _text(Envelope.open(frame))))


class Laboratory:
    """A simulation on links of 1 ms whose messages are logged; operations in plain words.

    Links are up and the log is empty when a test begins, at 10 ms.
    """

    def __init__(self, links: Iterable[tuple[int, int]], protocol: str, **options: Any) -> None:
        self.network = Wiretap()
        self.simulation = Simulation(
            self.network,
            nx.Graph(list(links)),
            partial(make, protocol, **options),
            seed=1,
            link_settings=lambda a, b: LinkSettings(delay=0.001),
        )
        self.look(10)

    def at(self, milliseconds: float, words: str) -> None:
        """Let a client act: ``"2 subscribe x"``, ``"0 publish xyz"``, ``"2.7 unsubscribe x"``.

        ``2.7`` is client 7 at broker 2; client 0 need not be named.
        """
        who, action, what = words.split()
        broker, _, client = who.partition(".")
        self.simulation.add_operations(
            [operation(round(milliseconds * MS), int(broker), int(client or 0), action, what)]
        )

    def replace(
        self,
        milliseconds: float,
        old: tuple[int, int],
        new: tuple[int, int],
        number: int = 1,
        repair: float = 10,
        delay: float = 1,
    ) -> None:
        """Let a link be replaced; the first end of the old one is the initiator."""
        link = LinkSettings(delay=delay / 1000)
        notice = LinkNotice(reconfiguration=number)
        fault = LinkReplace(round(milliseconds * MS), old, new, round(repair * MS), link, notice)
        self.simulation.add_faults([fault])

    def look(self, milliseconds: float) -> Log:
        """Run until then; the result are the messages sent since the last look."""
        self.simulation.run(milliseconds / 1000)
        log = list(self.network.log)
        self.network.log.clear()
        return log

    def tables(self) -> dict[int, dict[str, list[int]]]:
        """Every live broker's table: the subscribers of each letter."""
        return {
            broker: {
                str(p)[-2]: sorted(subscribers)
                for p, subscribers in sorted(
                    host.agent.routing_table().items(), key=lambda item: str(item[0])
                )
            }
            for broker, host in self.simulation.hosts.items()
            if host.agent is not None
        }

    def deliveries(self) -> list[tuple[float, int, int]]:
        """All deliveries so far as (milliseconds, broker, client)."""
        return [
            (row.delivered / MS, row.broker, row.client)
            for row in self.simulation.observer.deliveries
        ]


def operation(time: int, broker: int, client: int, action: Any, what: str) -> Operation:
    """A client's act with a one-letter pattern, or an event with that body."""
    if action == "publish":
        return Operation(time, broker, action, client, attributes={"body": what})
    return Operation(time, broker, action, client, filter=pattern(what))


def expected_tables(
    tree: nx.Graph, subscriptions: Iterable[tuple[int, Filter]]
) -> dict[int, dict[Filter, frozenset[int]]]:
    """The tables of subscription forwarding on a tree, from who subscribes to what where.

    A broker's table names a neighbor for a pattern iff someone behind that neighbor subscribes to
    it, and the broker itself iff it does so itself.
    """
    subscribers: dict[Filter, set[int]] = {}
    for broker, filter in subscriptions:
        subscribers.setdefault(filter, set()).add(broker)
    return {
        broker: _expected_table(broker, _behind(tree, broker), subscribers) for broker in tree.nodes
    }


def _expected_table(
    broker: int, behind: Mapping[int, set[int]], subscribers: Mapping[Filter, set[int]]
) -> dict[Filter, frozenset[int]]:
    table = {
        filter: frozenset(
            [neighbor for neighbor, side in behind.items() if side & wanting]
            + [broker for _ in range(broker in wanting)]
        )
        for filter, wanting in subscribers.items()
    }
    return {filter: names for filter, names in table.items() if names}


def _behind(tree: nx.Graph, broker: int) -> dict[int, set[int]]:
    """For each neighbor, the brokers on its side of the link."""
    rest = nx.restricted_view(tree, [broker], [])
    return {n: set(nx.node_connected_component(rest, n)) for n in tree.adj[broker]}


def _text(envelope: Envelope) -> str:
    message = envelope.message
    if isinstance(message, Event):
        return f"EVENT {message.attributes['body']}"
    if isinstance(message, (Subscribe, Unsubscribe)):
        verb = "SUB" if isinstance(message, Subscribe) else "UNSUB"
        return f"{verb} {_letters((message.filter,))}"
    if isinstance(message, Activate):
        return f"ACTIVATE {_letters(message.patterns)}".strip()
    if isinstance(message, Rec):
        changes = f"+{_letters(message.patterns_to_add)} -{_letters(message.patterns_to_delete)}"
        return f"REC {changes}"
    return message.NAME.upper()


def _letters(patterns: Iterable[Filter]) -> str:
    return "".join(str(pattern)[-2] for pattern in patterns)
