"""The packet-level network obeys closed forms: latency, throughput, handshakes, headers."""

import struct
from pathlib import Path

import dpkt
import networkx as nx
import numpy as np
import pytest

from pysim.network.ns3 import MatrixUnderlay, RouterUnderlay
from pysim.network.transport import LinkSettings
from pysim.wire import Envelope
from tests.network.ns3_stage import (
    MS,
    Relay,
    S,
    changes,
    events,
    packets,
    publish,
    simulation,
)

PPP, IP, TCP, TIMESTAMPS = 2, 20, 20, 12
TCP_TICK = 1
"""ns-3's TCP sends a nanosecond after the application wrote."""


def serialization(size: int, rate: float) -> int:
    """Nanoseconds that a packet takes to leave a device."""
    return int(size * 8 * S / rate)


@pytest.mark.parametrize("hops", [1, 2, 5])
@pytest.mark.parametrize(("tcp", "options"), [("linux", TIMESTAMPS), ("lean", 0)])
def test_a_lone_message_takes_serialization_and_propagation_on_every_hop(
    hops: int, tcp: str, options: int, tmp_path: Path
) -> None:
    rate, delay, size = 10e6, 0.002, 200
    line = nx.path_graph(hops + 1)
    link = LinkSettings(delay=delay, rate=rate)
    with simulation(line, link=link, tcp=tcp, capture="both", capture_directory=tmp_path) as sim:
        sim.add_operations([publish(1 * S, 0, size)])
        sim.run(2.0)
        ((arrival, _, _),) = events(sim.hosts[hops].agent)
    per_hop = serialization(size + PPP + IP + TCP + options, rate) + round(delay * S)
    assert arrival == S + hops * (per_hop + TCP_TICK)
    first = next(p for p in packets(tmp_path / "b0-b1.pcap") if p.payload)
    last = next(p for p in packets(tmp_path / f"b{hops}-b{hops - 1}.pcap") if p.payload)
    assert first.size == size + PPP + IP + TCP + options
    assert (first.time, last.time) == (S + TCP_TICK, arrival)


def test_the_capture_holds_the_very_bytes_of_the_frame(tmp_path: Path) -> None:
    with simulation(nx.path_graph(2), capture="both", capture_directory=tmp_path) as sim:
        sim.add_operations([publish(1 * S, 0, 333)])
        sim.run(2.0)
    (sent,) = [p.payload for p in packets(tmp_path / "b0-b1.pcap") if p.payload]
    (received,) = [p.payload for p in packets(tmp_path / "b1-b0.pcap") if p.payload]
    assert sent == received
    envelope = Envelope.open(sent)
    assert (len(sent), envelope.origin, envelope.sequence) == (333, 0, 1)


def test_checksums_in_captures_are_right(tmp_path: Path) -> None:
    with simulation(nx.path_graph(2), capture="both", capture_directory=tmp_path) as sim:
        sim.add_operations([publish(1 * S, 0)])
        sim.run(2.0)
    for packet in packets(tmp_path / "b0-b1.pcap"):
        ip, tcp = packet.ip.sum, packet.ip.data.sum
        packet.ip.sum = packet.ip.data.sum = 0
        bytes(packet.ip)  # dpkt fills in what it computes
        assert (packet.ip.sum, packet.ip.data.sum) == (ip, tcp) != (0, 0)


@pytest.mark.parametrize(
    ("tcp", "segment", "headers"),
    [("linux", 1448, PPP + IP + TCP + TIMESTAMPS), ("lean", 1460, PPP + IP + TCP)],
)
def test_a_saturated_link_carries_its_rate_less_headers(
    tcp: str, segment: int, headers: int
) -> None:
    rate, frame, count = 2e6, 14480, 200
    link = LinkSettings(delay=0.001, rate=rate)
    with simulation(nx.path_graph(2), link=link, tcp=tcp) as sim:
        sim.add_operations(publish(1 * S, 0, frame) for _ in range(count))
        sim.run(30.0)
        arrivals = [time for time, *_ in events(sim.hosts[1].agent)]
    assert len(arrivals) == count
    # After slow start the link never idles: full segments back to back.
    steady = arrivals[count // 2 :]
    goodput = (len(steady) - 1) * frame * 8 * S / (steady[-1] - steady[0])
    assert goodput == pytest.approx(rate * segment / (segment + headers), rel=0.002)


def test_the_initiator_can_send_after_one_round_trip_and_the_other_end_half_a_one_later() -> None:
    rate, delay = 10e6, 0.005
    with simulation(nx.path_graph(2), link=LinkSettings(delay=delay, rate=rate)) as sim:
        sim.run(1.0)
        ups = [sim.hosts[b].agent.log for b in (0, 1)]  # type: ignore[union-attr]
    one_way = round(delay * S)
    syn = serialization(PPP + IP + TCP + 16, rate)  # SACK, timestamps, window scale; no MSS
    ack = serialization(PPP + IP + TCP + TIMESTAMPS, rate)
    ((initiator, *_),), ((acceptor, *_),) = ups
    assert initiator == 2 * (one_way + syn)
    assert acceptor == initiator + one_way + ack


def test_frames_written_at_once_share_a_segment_and_a_slow_link_shows_its_length() -> None:
    rate = 64e3
    with simulation(nx.path_graph(2), link=LinkSettings(delay=0.0, rate=rate)) as sim:
        sim.add_operations(publish(2 * S, 0) for _ in range(5))
        sim.run(5.0)
        got = events(sim.hosts[1].agent)
    arrival = 2 * S + TCP_TICK + serialization(5 * 200 + PPP + IP + TCP + TIMESTAMPS, rate)
    assert got == [(arrival, 0, sequence) for sequence in range(1, 6)]


def test_frames_longer_than_a_segment_and_than_the_socket_buffer_arrive_whole() -> None:
    sizes = [20, 1448, 1449, 100_000, 1_000_000]
    with simulation(nx.path_graph(3), max_frame=1 << 20) as sim:
        sim.add_operations(publish((1 + i) * S, 0, size) for i, size in enumerate(sizes))
        sim.run(12.0)
        assert [row.received_bytes for row in sim.transport.counters()] == [sum(sizes)] * 2
        assert sim.balance() == []


def test_loss_is_repaired_by_tcp_and_seen_in_the_capture(tmp_path: Path) -> None:
    link = LinkSettings(delay=0.002, rate=10e6, loss=0.05)
    with simulation(nx.path_graph(2), link=link, capture="both", capture_directory=tmp_path) as sim:
        sim.add_operations(publish(5 * S + i * 10 * MS, 0) for i in range(500))
        sim.run(60.0)
        assert [sequence for *_, sequence in events(sim.hosts[1].agent)] == [*range(1, 501)]
        assert sim.balance() == []
    sent = [p for p in packets(tmp_path / "b0-b1.pcap") if p.payload and p.ip.data.dport == 7471]
    arrived = [p for p in packets(tmp_path / "b1-b0.pcap") if p.payload and p.ip.data.dport == 7471]
    lost = 1 - len(arrived) / len(sent)
    assert 0.02 < lost < 0.09


def test_a_link_comes_up_at_both_ends_whatever_is_lost_of_its_handshake() -> None:
    """Neither end has anything to send, which would acknowledge the handshake as well."""
    link = LinkSettings(delay=0.002, rate=10e6, loss=0.2)
    for seed in range(1, 41):
        with simulation(nx.path_graph(2), link=link, seed=seed) as sim:
            sim.run(60.0)
            assert [changes(sim.hosts[broker].agent) for broker in (0, 1)] == [
                [("up", 1)],
                [("up", 0)],
            ], seed


def test_a_peer_that_sends_little_is_echoed_its_last_timestamp(tmp_path: Path) -> None:
    """What 1 sends is acknowledged by data alone, since 0 always has some within 40 ms. The echo
    that comes with it is at most that old, or 1 takes its own pauses for round trips."""
    link = LinkSettings(delay=0.002, rate=10e6)
    with simulation(nx.path_graph(2), link=link, capture="both", capture_directory=tmp_path) as sim:
        sim.add_operations(publish(2 * S + i * 10 * MS, 0) for i in range(1000))
        sim.add_operations(publish(3 * S + i * S, 1) for i in range(8))
        sim.run(13.0)
    ages, acknowledged = [], 0
    for packet in packets(tmp_path / "b1-b0.pcap"):
        tcp = packet.ip.data
        if tcp.dport == 7471 and tcp.data and tcp.ack > acknowledged:
            acknowledged = tcp.ack
            options = dict(dpkt.tcp.parse_opts(tcp.opts))
            _, echo = struct.unpack(">II", options[dpkt.tcp.TCP_OPT_TIMESTAMP])
            ages.append(packet.time // MS - echo)
    assert len(ages) == 9
    assert max(ages[1:]) <= 50  # the first acknowledges the handshake


def test_a_matrix_underlay_delays_each_pair_as_given(tmp_path: Path) -> None:
    delays = np.array([[0, 0.010, 0.030], [0.010, 0, 0.070], [0.030, 0.070, 0]])
    underlay = MatrixUnderlay(delays, LinkSettings(rate=10e6))
    with simulation(
        nx.path_graph(3), underlay=underlay, capture="both", capture_directory=tmp_path
    ) as sim:
        sim.add_operations([publish(1 * S, 0)])
        sim.run(2.0)
        ((first, *_),), ((second, *_),) = (events(sim.hosts[b].agent) for b in (1, 2))
    hop = serialization(200 + PPP + IP + TCP + TIMESTAMPS, 10e6) + TCP_TICK
    assert first == S + hop + 10 * MS
    # Broker 1 has one access link for all it sends: the ACK to broker 0 leaves it first.
    ack = serialization(PPP + IP + TCP + TIMESTAMPS, 10e6)
    assert second == first + ack + (hop - TCP_TICK) + 70 * MS
    assert {path.name for path in tmp_path.iterdir()} == {"b0.pcap", "b1.pcap", "b2.pcap"}


def test_a_router_underlay_adds_up_the_way_of_least_delay(tmp_path: Path) -> None:
    #      r1          brokers 0 and 1 sit at r0 and r3; by r1 it takes 2 + 2 ms,
    #     /  \         by r2 it takes 10 + 10 ms
    #   r0    r3
    #     \  /
    #      r2
    routers = nx.Graph()
    routers.add_nodes_from(range(4))
    for a, b, delay in [(0, 1, 0.002), (1, 3, 0.002), (0, 2, 0.010), (2, 3, 0.010)]:
        routers.add_edge(a, b, delay=delay)
    link = LinkSettings(rate=10e6)
    underlay = RouterUnderlay(routers, (0, 3), link, LinkSettings(delay=0.001, rate=10e6))
    with simulation(
        nx.path_graph(2), underlay=underlay, capture="one", capture_directory=tmp_path
    ) as sim:
        sim.add_operations([publish(1 * S, 0)])
        sim.run(2.0)
        ((arrival, *_),) = events(sim.hosts[1].agent)
    packet = serialization(200 + PPP + IP + TCP + TIMESTAMPS, 10e6)
    assert arrival == S + TCP_TICK + 4 * packet + (1 + 2 + 2 + 1) * MS
    assert {path.name for path in tmp_path.iterdir()} == {
        "b0-r0.pcap", "b1-r3.pcap", "r0-r1.pcap", "r0-r2.pcap", "r1-r3.pcap", "r2-r3.pcap"
    }  # fmt: skip


class Messenger(Relay):
    """Sends events off the tree, straight to the last broker."""

    protocol = "tcp"

    def publish(self, client: int, event: Envelope) -> None:
        self.world.send_direct(4, event, self.protocol)  # type: ignore[arg-type]

    def _flood(self, sender: int, event: Envelope) -> None:
        pass


class Datagrams(Messenger):
    protocol = "udp"


def test_datagrams_take_the_shortest_way_through_other_brokers() -> None:
    ring = nx.cycle_graph(5)
    slow, quick = LinkSettings(delay=0.100), LinkSettings(delay=0.002)

    def link(a: int, b: int) -> LinkSettings:
        return slow if (a, b) == (0, 4) else quick

    with simulation(ring, make=Datagrams, link=link) as sim:
        sim.add_operations([publish(1 * S, 0)])
        sim.run(2.0)
        ((arrival, *_),) = events(sim.hosts[4].agent)
        assert sim.balance() == []
    udp = serialization(200 + PPP + IP + 8, 10e6)
    assert arrival == S + 4 * (udp + 2 * MS)


def test_unicast_by_tcp_pays_one_handshake_and_then_none() -> None:
    with simulation(nx.path_graph(5), make=Messenger) as sim:
        sim.add_operations([publish(1 * S, 0), publish(2 * S, 0)])
        sim.run(3.0)
        first, second = (time for time, *_ in events(sim.hosts[4].agent))
        assert sim.balance() == []
        (row,) = sim.transport.counters()
        assert (row.channel, row.source, row.target, row.received) == ("tcp", 0, 4, 2)
    direct = 4 * (serialization(200 + PPP + IP + TCP + TIMESTAMPS, 10e6) + 2 * MS) + TCP_TICK
    assert second - 2 * S == direct
    assert first - 1 * S > direct + 2 * 4 * 2 * MS
