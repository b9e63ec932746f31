"""Measures what one message-hop costs, in a process of its own: ``python -m benchmarks.hops ...``.

The same traffic is forwarded by Python agents or in C++ alone. Only the time between the end of the
set-up (links connected, tables filled) and the last event is measured, in CPU time of this process
and in slices of as many events each, whatever the size of the network: what a slice's end cuts
off of the last floods, the next slice gets. The calmest tenth of them tells what a hop costs when
nothing else disturbs; on a shared machine the mean may be half as much again.
"""

import argparse
import hashlib
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import count
from pathlib import Path
from statistics import fmean, quantiles

import networkx as nx

import topologies
from pysim.brokers import Broker, EventForwarding, SubscriptionForwarding
from pysim.filters import Filter, Operator, Predicate
from pysim.network.ns3 import Ns3Settings, Ns3Transport
from pysim.network.simulation import Simulation
from pysim.network.transport import NANOSECONDS, BrokerId
from pysim.network.world import World
from pysim.wire import Envelope
from pysim.wire.messages import Event

FRAME_SIZE = 200
SETUP_SECONDS = 2.0
EVENTS_PER_SECOND = 50
SLICE_EVENTS = 10
SUBSCRIBERS_SHARE = 0.2
DEGREE = 4

Routes = Mapping[BrokerId, Mapping[BrokerId, list[BrokerId]]]
"""By broker and by origin: the neighbors on the way to the subscribers."""


class RecodingFlood(EventForwarding):
    """Decodes every event and encodes it anew for each broker it passes."""

    def on_event(self, sender: BrokerId, event: Envelope) -> None:
        self._spread(sender, event.with_body(event.message))


class Router(SubscriptionForwarding):
    """Decodes, matches, and passes the bytes on; its table is filled without messages."""

    def fill(self, routes: Mapping[BrokerId, list[BrokerId]]) -> None:
        for origin, neighbors in routes.items():
            for neighbor in neighbors:
                self.enter(neighbor, topic_filter(origin))


class RecodingRouter(Router):
    """Decodes, matches, and encodes anew at each broker."""

    def on_event(self, sender: BrokerId, event: Envelope) -> None:
        self._route(sender, event.with_body(event.message))


class HeaderRouter(Broker):
    """Decides by the header's origin alone and passes the bytes on as they came."""

    def __init__(self, world: World, routes: Routes) -> None:
        super().__init__(world)
        self._routes = routes[world.id]

    def publish(self, client: int, event: Envelope) -> None:
        self.on_event(self.world.id, event)

    def on_event(self, sender: BrokerId, event: Envelope) -> None:
        send = self.world.send
        for neighbor in self._routes.get(event.origin, ()):
            if neighbor != sender:
                send(neighbor, event)


@cache
def topic_filter(origin: BrokerId) -> Filter:
    return Predicate("topic", Operator.EQ, origin)


def event_of(origin: BrokerId, sequence: int) -> Event:
    """An event whose frame is exactly FRAME_SIZE bytes long."""
    event = Event({"topic": origin}, b"")
    missing = FRAME_SIZE - len(Envelope.seal(event, origin, sequence).frame)
    padded = Event(event.attributes, bytes(missing - 1))
    excess = len(Envelope.seal(padded, origin, sequence).frame) - FRAME_SIZE
    return Event(event.attributes, bytes(missing - 1 - excess))


def subscriptions(overlay: nx.Graph, workload: str) -> dict[BrokerId, list[BrokerId]]:
    """Which brokers subscribe to each origin's events; flooding has no subscriptions."""
    if workload == "flooding":
        return {}
    rng = random.Random(7)
    chosen = max(1, round(SUBSCRIBERS_SHARE * len(overlay)))
    return {origin: sorted(rng.sample(range(len(overlay)), chosen)) for origin in overlay}


def routes_of(overlay: nx.Graph, subscribed: Mapping[BrokerId, list[BrokerId]]) -> Routes:
    """Where each broker sends events of each origin."""
    routes: dict[BrokerId, dict[BrokerId, list[BrokerId]]] = {b: {} for b in overlay}
    for origin in overlay:
        tree = overlay
        if subscribed:
            paths = nx.single_source_shortest_path(overlay, origin)
            edges = {e for s in subscribed[origin] for e in nx.utils.pairwise(paths[s])}
            tree = nx.Graph(edges)
            tree.add_node(origin)
        for broker in tree:
            routes[broker][origin] = sorted(tree.adj[broker])
    return routes


def schedule_publications(
    transport: Ns3Transport,
    overlay: nx.Graph,
    events: int,
    publish: Callable[[BrokerId, Event], None],
) -> None:
    """Let random brokers publish at a constant rate; all is prepared beforehand."""
    rng = random.Random(11)
    for number in range(events):
        origin = rng.randrange(len(overlay))
        when = round((SETUP_SECONDS + number / EVENTS_PER_SECOND) * NANOSECONDS)
        transport.schedule(when, partial(publish, origin, event_of(origin, 1)))


def set_up_relay(transport: Ns3Transport, overlay: nx.Graph, routes: Routes, events: int) -> None:
    """Forward in C++ alone; Python only hands each event to its first broker."""
    for broker in sorted(overlay):
        transport.attach_relay(broker, sorted(routes[broker].items()))
    for a, b in sorted(map(sorted, overlay.edges)):
        transport.connect(a, b)
    sequences = {broker: count(1) for broker in overlay}

    def publish(origin: BrokerId, event: Event) -> None:
        frame = Envelope.seal(event, origin, next(sequences[origin])).frame
        for neighbor in routes[origin][origin]:
            transport.send(origin, neighbor, frame)

    schedule_publications(transport, overlay, events, publish)


def set_up_agents(
    transport: Ns3Transport,
    overlay: nx.Graph,
    make: Callable[[World], Broker],
    routes: Routes,
    events: int,
) -> None:
    """Forward in Python; tables are filled beforehand, clients and ground truth play no part."""
    simulation = Simulation(transport, overlay, make, seed=1)

    def publish(origin: BrokerId, event: Event) -> None:
        agent = simulation.hosts[origin].agent
        assert agent is not None
        agent.publish(0, simulation.hosts[origin].world.originate(event))

    def fill_tables() -> None:
        for broker, host in simulation.hosts.items():
            if isinstance(host.agent, Router):
                host.agent.fill(routes[broker])

    transport.schedule(NANOSECONDS, fill_tables)
    schedule_publications(transport, overlay, events, publish)


AGENTS: dict[tuple[str, str], Callable[[World, Routes], Broker]] = {
    ("flooding", "recode"): lambda world, routes: RecodingFlood(world),
    ("flooding", "pass-on"): lambda world, routes: EventForwarding(world),
    ("tree", "recode"): lambda world, routes: RecodingRouter(world),
    ("tree", "match"): lambda world, routes: Router(world),
    ("tree", "pass-on"): HeaderRouter,
}


def measure(workload: str, agent: str, tcp: str, brokers: int, events: int, capture: bool) -> dict:
    overlay = topologies.build(
        "balanced-tree", random.Random(1), brokers=brokers, max_degree=DEGREE
    )
    subscribed = subscriptions(overlay, workload)
    routes = routes_of(overlay, subscribed)
    with tempfile.TemporaryDirectory() as directory:
        transport = Ns3Transport(
            Ns3Settings(
                brokers,
                tcp=tcp,
                capture="both" if capture else "none",
                capture_directory=Path(directory) if capture else None,
            )
        )
        memory_before = memory()
        if agent == "relay":
            set_up_relay(transport, overlay, routes, events)
        else:
            make = AGENTS[workload, agent]
            set_up_agents(transport, overlay, lambda world: make(world, routes), routes, events)
        transport.run(round((SETUP_SECONDS - 0.01) * NANOSECONDS))
        executed = transport.events
        slices = list(measured_slices(transport, events))
        rows = [row for row in transport.counters() if row.type == Event.CODE]
        result = {
            "hops": sum(row.received for row in rows),
            "bytes": sum(row.received_bytes for row in rows),
            "quiet": quantiles(slices, n=10)[0],
            "mean": fmean(slices),
            "events": transport.events - executed,
            "memory": memory() - memory_before,
        }
        transport.close()
        result["captures"] = digest(Path(directory)) if capture else ""
    return result


def measured_slices(transport: Ns3Transport, events: int) -> Iterator[float]:
    """Run to the end in slices of SLICE_EVENTS; microseconds of CPU time per hop in each."""
    slice_seconds = SLICE_EVENTS / EVENTS_PER_SECOND
    now, hops = SETUP_SECONDS - 0.01, event_hops(transport)
    while now < SETUP_SECONDS + events / EVENTS_PER_SECOND:
        now += slice_seconds
        begin = time.process_time()
        transport.run(round(now * NANOSECONDS))
        spent = time.process_time() - begin
        before, hops = hops, event_hops(transport)
        if hops > before:
            yield spent / (hops - before) * 1e6
    transport.run(round((now + 5) * NANOSECONDS))


def event_hops(transport: Ns3Transport) -> int:
    return sum(row.received for row in transport.counters() if row.type == Event.CODE)


def memory() -> int:
    """Bytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def digest(directory: Path) -> str:
    total = hashlib.blake2b(digest_size=16)
    for path in sorted(directory.iterdir()):
        total.update(path.name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=["flooding", "tree"])
    parser.add_argument("agent", choices=["relay", "recode", "match", "pass-on"])
    parser.add_argument("tcp", choices=["linux", "lean", "stock"])
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--events", type=int, default=600)
    parser.add_argument("--no-capture", dest="capture", action="store_false")
    print(json.dumps(measure(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
