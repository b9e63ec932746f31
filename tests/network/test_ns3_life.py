"""The life of links, brokers and simulations on the packet-level network."""

import gc
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import traceback
from pathlib import Path

import networkx as nx
import pytest

from pysim.brokers import (
    EventForwarding,
    InformedLinkActivation,
    NotifiedDeferredUnsubscription,
    ReconfigurationPath,
    SubscriptionForwarding,
    TimedDeferredUnsubscription,
)
from pysim.experiments.maintenance import TreeMaintenance
from pysim.filters import parse
from pysim.network.faults import (
    BrokerCrash,
    BrokerRestart,
    LinkBreak,
    LinkCreate,
    LinkReplace,
    LossChange,
)
from pysim.network.host import AgentError
from pysim.network.memory import MemoryTransport
from pysim.network.ns3 import MatrixUnderlay, Ns3Settings, Ns3Transport
from pysim.network.service import TypeCost
from pysim.network.simulation import Simulation
from pysim.network.transport import LinkSettings
from pysim.wire import Envelope
from pysim.workloads.operations import Operation
from tests.network.ns3_stage import (
    MS,
    Relay,
    S,
    changes,
    events,
    hashes,
    packets,
    publish,
    simulation,
    total,
)

# Links ------------------------------------------------------------


def test_a_cut_link_loses_what_is_in_flight_and_tells_both_ends(tmp_path: Path) -> None:
    slow = LinkSettings(delay=0.100)
    with simulation(nx.path_graph(3), link=slow, capture="both", capture_directory=tmp_path) as sim:
        sim.add_operations(publish(1 * S + i * 10 * MS, 0) for i in range(10))
        sim.add_faults([LinkBreak(1 * S + 155 * MS, 0, 1)])
        sim.run(3.0)
        got = events(sim.hosts[1].agent)
        assert len(got) == 6  # sent at 1.00 .. 1.05, under way 100 ms
        row = next(r for r in sim.transport.counters() if r.source == 0)
        assert (row.sent, row.received, row.lost_link, row.unfinished) == (10, 6, 4, 0)
        assert changes(sim.hosts[0].agent) == [("up", 1), ("down", 1)]
        assert changes(sim.hosts[1].agent) == [("up", 2), ("up", 0), ("down", 0)]
        assert sim.balance() == []
    # Nothing that was in flight shows at the receiving end after the cut.
    assert max(p.time for p in packets(tmp_path / "b1-b0.pcap")) <= 1 * S + 155 * MS


def test_a_link_returns_with_a_new_connection_and_the_same_capture(tmp_path: Path) -> None:
    with simulation(nx.path_graph(2), capture="both", capture_directory=tmp_path) as sim:
        sim.add_faults([LinkBreak(2 * S, 0, 1), LinkCreate(3 * S, 0, 1)])
        sim.add_operations([publish(1 * S, 0), publish(4 * S, 0)])
        sim.run(5.0)
        assert [sequence for *_, sequence in events(sim.hosts[1].agent)] == [1, 2]
        assert changes(sim.hosts[1].agent) == [("up", 0), ("down", 0), ("up", 0)]
        assert sim.balance() == []
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["b0-b1.pcap", "b1-b0.pcap"]
    ports = {p.ip.data.sport for p in packets(tmp_path / "b0-b1.pcap") if p.ip.data.dport == 7471}
    assert len(ports) == 2


def test_a_link_that_returns_at_once_gets_a_cable_without_a_past(tmp_path: Path) -> None:
    slow = LinkSettings(delay=0.200)
    with simulation(nx.path_graph(2), link=slow, capture="both", capture_directory=tmp_path) as sim:
        sim.add_operations([publish(1 * S, 0), publish(3 * S, 0)])
        sim.add_faults([LinkReplace(1 * S + 50 * MS, (0, 1), (0, 1), repair=10 * MS)])
        sim.run(5.0)
        assert [sequence for *_, sequence in events(sim.hosts[1].agent)] == [2]
        assert sim.balance() == []
    names = [path.name for path in sorted(tmp_path.iterdir())]
    assert names == ["b0-b1.2.pcap", "b0-b1.pcap", "b1-b0.2.pcap", "b1-b0.pcap"]


def test_a_link_cut_during_its_handshake_was_never_up() -> None:
    with simulation(nx.path_graph(2), link=LinkSettings(delay=0.100)) as sim:
        sim.add_faults([LinkBreak(150 * MS, 0, 1)])
        sim.run(2.0)
        assert changes(sim.hosts[0].agent) == changes(sim.hosts[1].agent) == []


def test_a_new_link_between_other_brokers_carries_events() -> None:
    with simulation(nx.path_graph(4)) as sim:
        sim.add_faults([LinkReplace(2 * S, (1, 2), (0, 3), repair=100 * MS)])
        sim.add_operations([publish(3 * S, 1)])
        sim.run(4.0)
        assert [len(events(sim.hosts[b].agent)) for b in range(4)] == [1, 0, 1, 1]


def test_links_over_an_underlay_break_and_return() -> None:
    rng = random.Random(1)
    import numpy as np

    delays = np.array(
        [[0 if i == j else rng.uniform(0.01, 0.1) for j in range(4)] for i in range(4)]
    )
    underlay = MatrixUnderlay((delays + delays.T) / 2, LinkSettings())
    with simulation(nx.path_graph(4), underlay=underlay) as sim:
        sim.add_operations(publish(1 * S + i * 100 * MS, 0) for i in range(40))
        sim.add_faults([LinkBreak(2 * S, 1, 2), LinkCreate(3 * S, 1, 2)])
        sim.run(8.0)
        assert len(events(sim.hosts[1].agent)) == 40
        assert 25 <= len(events(sim.hosts[3].agent)) <= 32
        assert sim.balance() == []


def test_a_change_of_loss_while_running_shows_in_datagrams() -> None:
    class Datagrams(Relay):
        def publish(self, client: int, event: Envelope) -> None:
            self.world.send_direct(1, event, "udp")

    with simulation(nx.path_graph(2), make=Datagrams) as sim:
        sim.add_operations(publish(1 * S + i * 10 * MS, 0) for i in range(400))
        sim.add_faults([LossChange(3 * S, 0, 1, loss=0.5)])
        sim.run(6.0)
        (row,) = sim.transport.counters()
        assert row.received + row.lost_packet == row.sent == 400
        assert 60 < row.lost_packet < 140
        early = [time for time, *_ in events(sim.hosts[1].agent) if time < 3 * S]  # type: ignore[operator]
        assert len(early) == 200
        assert sim.balance() == []


def test_a_long_datagram_travels_in_fragments_and_is_lost_once() -> None:
    class Datagrams(Relay):
        def publish(self, client: int, event: Envelope) -> None:
            self.world.send_direct(1, event, "udp")

    with simulation(nx.path_graph(2), make=Datagrams, link=LinkSettings(loss=0.2)) as sim:
        sim.add_operations(publish(8 * S + i * 100 * MS, 0, 6000) for i in range(50))
        sim.run(60.0)
        (row,) = sim.transport.counters()
        assert row.received + row.lost_packet == row.sent == 50
        assert 10 < row.lost_packet < 50


def test_unicast_finds_another_way_when_a_link_goes_and_returns() -> None:
    class Datagrams(Relay):
        def publish(self, client: int, event: Envelope) -> None:
            self.world.send_direct(1, event, "udp")

        def _flood(self, sender: int, event: Envelope) -> None:
            pass

    with simulation(nx.cycle_graph(5), make=Datagrams) as sim:
        sim.add_operations(publish(second * S, 0) for second in (1, 3, 5))
        sim.add_faults([LinkBreak(2 * S, 0, 1), LinkCreate(4 * S, 0, 1)])
        sim.run(6.0)
        times = [time % S for time, *_ in events(sim.hosts[1].agent)]  # type: ignore[operator]
    assert times[0] == times[2]
    assert times[1] == 4 * times[0]  # by 4, 3 and 2


# Brokers ------------------------------------------------------------


def test_a_crashed_broker_hears_nothing_and_starts_afresh() -> None:
    with simulation(nx.path_graph(3)) as sim:
        sim.add_operations(publish(1 * S + i * 100 * MS, 0) for i in range(40))
        sim.add_faults([BrokerCrash(2 * S, 1), BrokerRestart(3 * S, 1)])
        sim.run(6.0)
        assert changes(sim.hosts[0].agent) == [("up", 1), ("down", 1), ("up", 1)]
        # Towards 2 it is the one that connects, and so it can send half a round trip earlier.
        assert changes(sim.hosts[1].agent) == [("up", 2), ("up", 0)]
        assert 28 <= len(events(sim.hosts[2].agent)) <= 30
        assert sim.balance() == []


def test_unicast_to_a_crashed_broker_is_lost_and_booked() -> None:
    class Direct(Relay):
        def publish(self, client: int, event: Envelope) -> None:
            for protocol in ("tcp", "udp"):
                self.world.send_direct(2, event, protocol)  # type: ignore[arg-type]

    ring = nx.cycle_graph(4)
    with simulation(ring, make=Direct) as sim:
        sim.add_operations(publish(1 * S + i * 100 * MS, 0) for i in range(30))
        sim.add_faults([BrokerCrash(2 * S + 1 * MS, 2)])
        sim.run(40.0)
        rows = {row.channel: row for row in sim.transport.counters()}
        # Ten arrived, one was in flight, the others find no way any more.
        tcp, udp = rows["tcp"], rows["udp"]
        assert (tcp.received, tcp.lost_link, tcp.unfinished) == (10, 20, 0)
        assert (udp.received, udp.lost_packet, udp.lost_link) == (10, 1, 19)
        assert sim.balance() == []


def test_service_times_add_up_in_one_queue() -> None:
    # Ten events at once, 50 ms each: the last leaves after half a second, the queue was nine long.
    costs = TypeCost(seconds={"event": 0.050})
    with simulation(nx.path_graph(3), costs=costs) as sim:
        sim.add_operations(publish(1 * S, 0) for _ in range(10))
        sim.run(5.0)
        first, *_, last = (time for time, *_ in events(sim.hosts[2].agent))
        report = sim.transport.queues()[1]
        assert (report.served, report.busy, report.length) == (10, 500 * MS, 0)
        assert (report.longest, report.delayed, report.joined) == (9, 9, sum(range(10)))
        assert last - first == pytest.approx(9 * 50 * MS, abs=2 * MS)  # type: ignore[operator]
        assert first - 1 * S == pytest.approx(50 * MS + 4 * MS, abs=2 * MS)  # type: ignore[operator]
        assert sim.balance() == []


def test_memory_and_ns3_keep_the_same_queues() -> None:
    """The same arrivals, a crash in the midst of a service and an end in the midst of another."""

    def run(transport: object) -> object:
        sim = Simulation(
            transport,  # type: ignore[arg-type]
            nx.star_graph(3),
            EventForwarding,
            seed=1,
            costs=TypeCost(default=0.030, seconds={"event": 0.070}),
            link_settings=lambda a, b: LinkSettings(delay=0.001, rate=100e9),
        )
        sim.add_operations(publish(1 * S + i * 10 * MS, 1 + i % 3) for i in range(60))
        sim.add_faults([BrokerCrash(2 * S + 500_123, 2)])
        sim.run(2.5)
        assert sim.balance() == []
        queues = [
            (q.broker, q.served, q.longest, q.length, q.delayed, q.joined)
            for q in sim.transport.queues()
        ]
        busy = [round(q.busy / MS) for q in sim.transport.queues()]
        sim.close()
        return queues, busy

    assert run(MemoryTransport()) == run(Ns3Transport(Ns3Settings(4)))


# Captures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "files"),
    [
        ({"capture": "both"}, {"b0-b1", "b1-b0", "b1-b2", "b2-b1"}),
        ({"capture": "one"}, {"b0-b1", "b1-b2"}),
        ({"capture": "chosen", "captured_links": ((2, 1),)}, {"b1-b2", "b2-b1"}),
        ({"capture": "none"}, set()),
    ],
)
def test_captures_follow_their_policy(
    settings: dict[str, object], files: set[str], tmp_path: Path
) -> None:
    with simulation(nx.path_graph(3), capture_directory=tmp_path, **settings) as sim:
        sim.add_operations([publish(1 * S, 0)])
        sim.run(2.0)
    assert {path.stem for path in tmp_path.iterdir()} == files
    assert all(packets(path) for path in tmp_path.iterdir())


def test_a_capture_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    problem = r"cannot write the capture .*missing/b0-b1.pcap: No such"
    with (
        pytest.raises(Exception, match=problem),
        simulation(nx.path_graph(2), capture="both", capture_directory=missing),
    ):
        pass


# Malformed input ------------------------------------------------------------


@pytest.mark.parametrize(
    "rubbish",
    [b"\x00\x00\x00\x05rubbish......", b"\xff\xff\xff\xff" + bytes(20), bytes(64)],
    ids=["too short", "too long", "zero"],
)
def test_a_malformed_frame_closes_its_connection_and_nothing_else(rubbish: bytes) -> None:
    with simulation(nx.path_graph(4)) as sim:
        sim.add_operations([publish(1 * S, 0), publish(3 * S, 3)])
        sim.transport.schedule(2 * S, lambda: sim.transport.inject(1, 2, rubbish))  # type: ignore[attr-defined]
        sim.run(4.0)
        assert sim.transport.malformed_frames == {2: 1}  # type: ignore[attr-defined]
        assert changes(sim.hosts[2].agent)[-1] == ("down", 1)
        assert changes(sim.hosts[1].agent)[-1] == ("down", 2)
        assert [len(events(sim.hosts[b].agent)) for b in range(4)] == [0, 1, 2, 1]


def test_a_frame_whose_body_does_not_decode_closes_its_connection() -> None:
    frame = Envelope.seal(parse_event(), 1, 9).frame
    broken = frame[:16] + b"\xc1" * (len(frame) - 16)
    with simulation(nx.path_graph(3), make=SubscriptionForwarding) as sim:
        sim.transport.schedule(2 * S, lambda: sim.transport.send(0, 1, broken))
        sim.run(4.0)
        assert sim.transport.malformed_frames == {1: 1}  # type: ignore[attr-defined]
        assert sim.hosts[1].world.neighbors == (2,)
        assert "malformed event from 1:9" in sim.hosts[1].malformed[0]


def parse_event() -> object:
    from pysim.wire.messages import Event

    return Event({"body": "abc"})


def test_random_bytes_never_crash_the_process() -> None:
    rng = random.Random(3)
    with simulation(nx.star_graph(20)) as sim:
        for leaf in range(1, 21):
            for _ in range(10):
                data = rng.randbytes(rng.randrange(1, 300))
                when = 2 * S + rng.randrange(S)
                sim.transport.schedule(when, lambda leaf=leaf, data=data: inject(sim, leaf, data))
        sim.run(5.0)
        assert sum(sim.transport.malformed_frames.values()) >= 18  # type: ignore[attr-defined]


def inject(sim: Simulation, leaf: int, data: bytes) -> None:
    sim.transport.inject(leaf, 0, data)  # type: ignore[attr-defined]


# Errors, interrupts, one run after another --------------------------------------------------


class Faulty(Relay):
    def on_event(self, sender: int, event: Envelope) -> None:
        if self.world.id == 2:
            raise KeyError("lost")
        super().on_event(sender, event)


def test_an_agent_that_raises_stops_the_run_and_says_where() -> None:
    with simulation(nx.path_graph(4), make=Faulty) as sim:
        sim.add_operations([publish(1 * S, 0)])
        with pytest.raises(
            AgentError, match=r"broker 2 failed at 1\.0\d+ s handling <event 0:1"
        ) as e:
            sim.run(5.0)
        assert isinstance(e.value.__cause__, KeyError)
        assert "on_event" in "".join(traceback.format_exception(e.value.__cause__))
        assert sim.transport.now < 2 * S
        with pytest.raises(RuntimeError, match="stopped by an error"):
            sim.run(6.0)
    with simulation(nx.path_graph(2)) as sim:  # and the next one works
        sim.run(1.0)


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (lambda t: t.connect(0, 1), "there is a link between brokers 0 and 1 already"),
        (lambda t: t.connect(0, 0), "broker 0 cannot have a link to itself"),
        (lambda t: t.connect(0, 7), "there is no broker 7"),
        (lambda t: t.disconnect(0, 2), "there is no link between brokers 0 and 2"),
        (lambda t: t.send(0, 2, bytes(16)), "broker 0 has no link to broker 2 to send over"),
        (lambda t: t.send(0, 1, bytes(16)), "broker 0 sends broker 1 a frame of 16 bytes that"),
        (lambda t: t.send(9, 1, bytes(16)), "there is no broker 9"),
        (lambda t: t.send_direct(0, 0, bytes(16), "udp"), "broker 0 sends directly to itself"),
        (lambda t: t.schedule(-1, print), r"delay\(=-1 ns\) should be >= 0"),
        (lambda t: t.run(1), r"until\(=1 ns\) should be >= the current simulated time"),
    ],
)
def test_impossible_orders_are_refused_in_one_sentence(act: object, problem: str) -> None:
    with simulation(nx.path_graph(3)) as sim:
        sim.run(1.0)
        with pytest.raises(ValueError, match=problem):
            act(sim.transport)  # type: ignore[operator]
        sim.run(2.0)


def test_a_frame_over_the_limit_is_refused() -> None:
    with simulation(nx.path_graph(2), max_frame=1000) as sim:
        sim.add_operations([publish(1 * S, 0, 1001)])
        with pytest.raises(AgentError, match="a frame of 1001 bytes that is malformed or over"):
            sim.run(2.0)


def test_two_simulations_at_once_are_refused() -> None:
    with simulation(nx.path_graph(2)), pytest.raises(Exception, match="close it first"):
        Ns3Transport(Ns3Settings(2))


def test_functions_of_a_closed_simulation_say_so() -> None:
    transport = Ns3Transport(Ns3Settings(2))
    transport.close()
    with pytest.raises(RuntimeError, match="the simulation is closed"):
        transport.send(0, 1, b"")


def test_ctrl_c_stops_the_run() -> None:
    script = textwrap.dedent(
        """
        import networkx as nx
        from tests.network.ns3_stage import S, publish, simulation
        with simulation(nx.path_graph(30)) as sim:
            sim.add_operations(publish(S + i * 1000000, i % 30) for i in range(10**7))
            print("running", flush=True)
            sim.run(10000.0)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0
    assert time.monotonic() - sent < 5  # it takes 0.1 s; a machine may be busy


def test_simulations_in_a_row_leak_nothing_and_are_identical(tmp_path: Path) -> None:
    def one_run(number: int) -> dict[str, str]:
        directory = tmp_path / str(number)
        directory.mkdir()
        with simulation(nx.path_graph(20), capture="both", capture_directory=directory) as sim:
            sim.add_operations(publish(1 * S + i * 10 * MS, i % 20) for i in range(100))
            sim.add_faults([LinkReplace(1 * S + 500 * MS, (4, 5), (0, 19), repair=50 * MS)])
            sim.run(3.0)
            sim.transport.schedule(S, lambda: None)  # a timer that never fires must be let go
        return hashes(directory)

    expected = one_run(0)
    for number in range(1, 4):
        one_run(number)
    gc.collect()
    files, memory, objects = open_files(), resident(), len(gc.get_objects())
    for number in range(4, 16):
        assert one_run(number) == expected
    gc.collect()
    assert open_files() == files
    assert len(gc.get_objects()) - objects < 500
    assert resident() - memory < 12 << 20


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


# Determinism and agreement ------------------------------------------------------------


def test_two_processes_write_identical_captures(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        import networkx as nx
        from pysim.network.faults import LinkReplace, BrokerCrash
        from pysim.network.transport import LinkSettings
        from tests.network.ns3_stage import MS, S, publish, simulation
        link = LinkSettings(loss=0.02)
        tree = nx.balanced_tree(3, 3)
        captures = dict(capture="both", capture_directory=Path(sys.argv[1]))
        with simulation(tree, link=link, **captures) as sim:
            sim.add_operations(publish(2 * S + i * 7 * MS, i % 40) for i in range(200))
            sim.add_faults([LinkReplace(2500 * MS, (0, 1), (2, 39), repair=50 * MS),
                            BrokerCrash(3 * S, 3)])
            sim.run(8.0)
            print(sim.fingerprint())
        """
    )
    outputs = []
    for number in range(2):
        directory = tmp_path / str(number)
        directory.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": str(number + 1)}
        outputs.append(
            subprocess.run(
                [sys.executable, "-c", script, str(directory)],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
    assert outputs[0] == outputs[1] != ""
    assert hashes(tmp_path / "0") == hashes(tmp_path / "1") != {}


def test_what_follows_a_loss_does_not_depend_on_what_memory_held() -> None:
    """ns-3's Cubic leaves members unset that matter after losses."""
    script = textwrap.dedent(
        """
        import networkx as nx
        from pysim.network.transport import LinkSettings
        from tests.network.ns3_stage import MS, S, publish, simulation
        for loss in (0.05, 0.1, 0.15):
            with simulation(nx.balanced_tree(2, 2), link=LinkSettings(loss=loss)) as sim:
                sim.add_operations(publish(S + i * 20 * MS, i % 7, 20_000) for i in range(200))
                sim.run(8.0)
                print(sim.fingerprint())
        """
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "MALLOC_PERTURB_": filling},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for filling in ("1", "101", "201")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    "protocol",
    [
        EventForwarding,
        SubscriptionForwarding,
        TimedDeferredUnsubscription,
        NotifiedDeferredUnsubscription,
        InformedLinkActivation,
        ReconfigurationPath,
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_memory_and_ns3_make_the_same_decisions(protocol: type, seed: int) -> None:
    """Infinite bandwidth (as near as ns-3 comes), the same delays, nothing that ever ties.

    A link breaks and comes back, others are replaced, and clients act meanwhile.
    """
    rng = random.Random(seed)
    tree = nx.random_labeled_tree(15, seed=seed)

    def link(a: int, b: int) -> LinkSettings:
        return LinkSettings(delay=0.001 + (17 * a + b) * 1e-6, rate=100e9)

    operations = []
    held: list[tuple[int, str]] = []
    for step in range(150):
        when = 1 * S + step * 50 * MS + step * 1234
        broker = rng.randrange(15)
        if held and rng.random() < 0.3:
            broker, letter = held.pop(rng.randrange(len(held)))
            operations.append(Operation(when, broker, "unsubscribe", filter=contains(letter)))
        elif rng.random() < 0.5:
            letter = rng.choice("abcde")
            if (broker, letter) not in held:
                held.append((broker, letter))
                operations.append(Operation(when, broker, "subscribe", filter=contains(letter)))
        else:
            body = "".join(rng.sample("abcdefgh", 3))
            operations.append(Operation(when, broker, "publish", attributes={"body": body}))
    a, b = next(iter(tree.edges))
    oracle = TreeMaintenance(rng, rng, repair=100 * MS, max_degree=6)
    replacements = oracle.schedule(tree, (6 * S + i * 300 * MS + 10_999 for i in range(5)))
    faults = [LinkBreak(4 * S + 333, a, b), LinkCreate(5 * S + 777, a, b), *replacements]

    def run(transport: object) -> tuple[object, ...]:
        sim = Simulation(transport, tree, protocol, seed=1, link_settings=link)  # type: ignore[arg-type]
        sim.add_operations(operations)
        sim.add_faults(faults)
        sim.run(10.0)
        prints = sim.fingerprint()
        tables = {b: host.agent.routing_table() for b, host in sim.hosts.items()}  # type: ignore[union-attr]
        result = (
            prints["contents"],
            prints["deliveries"],
            tables,
            total(sim.transport.counters(), "sent"),
        )
        assert sim.balance() == []
        sim.close()
        return result

    assert run(MemoryTransport()) == run(Ns3Transport(Ns3Settings(15)))


def contains(letter: str) -> object:
    return parse(f'body contains "{letter}"')


# ns-3's own view ------------------------------------------------------------


def test_the_application_is_a_citizen_of_ns3() -> None:
    script = textwrap.dedent(
        """
        import importlib.util, cppyy
        from pathlib import Path
        from pysim.network.ns3 import native_library
        native_library()
        root = Path(importlib.util.find_spec("ns3").submodule_search_locations[0])
        cppyy.add_include_path(str(root / "include"))
        cppyy.include("ns3/type-id.h")
        tid = cppyy.gbl.ns3.TypeId.LookupByName("pysim::BrokerApplication")
        print(tid.GetParent().GetName())
        print(sorted(str(tid.GetAttribute(i).name) for i in range(tid.GetAttributeN())))
        print(sorted(str(tid.GetTraceSource(i).name) for i in range(tid.GetTraceSourceN())))
        """
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [
        "ns3::Application",
        "['Broker', 'MaxFrameSize', 'ServiceModel']",
        "['FrameReceived', 'FrameSent', 'LinkChange', 'QueueLength']",
    ]
