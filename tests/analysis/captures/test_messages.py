"""Captures become tables: whose messages, which way, what was noted; alone, by Spark, from ns-3."""

import shutil
import struct
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from analysis.addresses import broker_of
from analysis.captures.messages import (
    MESSAGES,
    NOTES,
    PACKETS,
    Tables,
    balanced_groups,
    read_messages,
    run_tables,
)
from analysis.captures.records import CaptureError
from pysim.network.faults import BrokerCrash, BrokerRestart, LinkReplace
from pysim.network.ns3 import MatrixUnderlay, RouterUnderlay
from pysim.network.transport import LinkSettings
from pysim.wire import Envelope
from tests.analysis.captures.conversations import (
    ACK,
    SYN,
    TICK,
    End,
    Frame,
    Stream,
    write_capture,
)
from tests.analysis.captures.pcaps import RAW
from tests.network.ns3_stage import MS, Relay, S, publish, simulation


def frame(number: int, size: int = 100, code: int = 5, version: int = 1) -> Frame:
    return Frame(struct.pack(">IBBHII", size, version, code, 0, 7, number) + bytes(size - 16))


def conversation(source: End, target: End, *frames: Frame) -> list[bytes]:
    """One connection that says these frames, a segment each."""
    there, back = Stream(source, target, 0, frames), Stream(target, source, 0, [])
    packets = [there.packet(flags=SYN), back.packet(flags=SYN | ACK), there.packet()]
    at = 0
    for each in frames:
        packets.append(there.segment(at, at + len(each.data)))
        at += len(each.data)
    return [packet.bytes for packet in packets]


def read(tmp_path: Path, packets: Iterable[bytes], name: str = "b0-b1", **options: Any) -> Tables:
    return read_messages(write_capture(tmp_path / f"{name}.pcap", packets), **options)


def directions(tables: Tables) -> list[str]:
    """Of the first packet of each flow, which way it went."""
    return tables.packets["direction"].to_pylist()[:1]


LINK = End("10.128.0.13", 49153), End("10.128.0.14", 7471)


# Which way ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "source", "target", "direction"),
    [
        ("b3-b7", "10.128.0.13", "10.128.0.14", "out"),
        ("b7-b3", "10.128.0.13", "10.128.0.14", "in"),
        ("b3-b7.2", "10.128.0.14", "10.128.0.13", "in"),
        ("b3-b7", "10.0.0.4", "10.0.0.9", "out"),
        ("b3-b7", "10.0.0.9", "10.0.0.4", "in"),
        ("b3-b7", "10.0.0.8", "10.0.0.9", "passing"),
        ("b3", "10.0.0.4", "10.0.0.9", "out"),
        ("b3", "10.0.0.9", "10.0.0.4", "in"),
        ("b3-r0", "10.0.0.4", "10.0.0.9", "out"),
        ("r0-b3", "10.0.0.4", "10.0.0.9", "passing"),
        ("r3-r1", "10.0.0.4", "10.0.0.9", "passing"),
    ],
)
def test_the_name_of_a_capture_tells_which_way_packets_went(
    name: str, source: str, target: str, direction: str, tmp_path: Path
) -> None:
    ends = End(source, 49153), End(target, 7472)
    tables = read(tmp_path, conversation(*ends, frame(1)), name)
    turned = {"out": "in", "in": "out", "passing": "passing"}[direction]
    assert tables.packets["direction"].to_pylist() == [direction, turned, direction, direction]
    assert tables.messages["direction"].to_pylist() == [direction]


def test_a_capture_of_another_name_belongs_to_the_end_that_all_its_connections_share(
    tmp_path: Path,
) -> None:
    one, two, three = (End(f"192.168.0.{n}", 7471) for n in (1, 2, 3))
    packets = conversation(one, two, frame(1)) + conversation(three, two, frame(2))
    assert set(read(tmp_path, packets, "home").messages["direction"].to_pylist()) == {"in"}
    alone = conversation(one, two, frame(1))
    assert read(tmp_path, alone, "home").messages["direction"].to_pylist() == ["passing"]
    assert read(tmp_path, alone, "home", local="192.168.0.1").messages["direction"].to_pylist() == [
        "out"
    ]


# Tables -------------------------------------------------------------------------------------------


def test_the_tables_have_their_columns_also_when_there_is_nothing(tmp_path: Path) -> None:
    tables = read(tmp_path, [])
    assert (tables.messages.schema, tables.packets.schema) == (MESSAGES, PACKETS)
    assert (len(tables.messages), len(tables.packets), tables.notes) == (0, 0, [])


def test_a_message_and_a_packet_in_full(tmp_path: Path) -> None:
    tables = read(tmp_path, conversation(*LINK, frame(1)), "b3-b7")
    (message,) = tables.messages.to_pylist()
    crc = message.pop("crc")
    assert crc == frame(1).summary[4]
    assert message == {
        "capture": "b3-b7",
        "connection": 0,
        "direction": "out",
        "source_address": "10.128.0.13",
        "target_address": "10.128.0.14",
        "source_port": 49153,
        "target_port": 7471,
        "protocol": "tcp",
        "type": 5,
        "origin": 7,
        "sequence": 1,
        "length": 100,
        "first_time": 4 * TICK,
        "time": 4 * TICK,
        "segments": 1,
        "destinations": None,
        "version": 1,
    }
    assert tables.packets.to_pylist()[1] == {
        "capture": "b3-b7",
        "number": 2,
        "time": 2 * TICK,
        "direction": "in",
        "source_address": "10.128.0.14",
        "target_address": "10.128.0.13",
        "source_port": 7471,
        "target_port": 49153,
        "protocol": "tcp",
        "connection": 0,
        "length": 42,
        "role": "handshake",
        "link_header": 2,
        "ip_header": 20,
        "transport_header": 20,
        "frame_header": 0,
        "body": 0,
        "repeated": 0,
        "unattributed": 0,
    }


# Bad input ----------------------------------------------------------------------------------------


def test_a_capture_cut_at_any_byte_is_read_up_to_there(tmp_path: Path) -> None:
    frames = [frame(1), frame(2, size=30), frame(3, size=16)]
    packets = conversation(*LINK, *frames)
    path = write_capture(tmp_path / "b3-b7.pcap", packets)
    whole = read_messages(path)
    data = path.read_bytes()
    bounds = [24]
    for packet in packets:
        bounds.append(bounds[-1] + 16 + len(packet))
    cut = tmp_path / "cut" / "b3-b7.pcap"
    cut.parent.mkdir()
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        if size < 24:
            with pytest.raises(CaptureError, match=r"b3-b7\.pcap"):
                read_messages(cut)
            continue
        count = sum(bound <= size for bound in bounds) - 1
        tables = read_messages(cut)
        assert tables.packets == whole.packets.slice(0, count)
        assert tables.messages == whole.messages.slice(0, max(0, count - 3))
        expected = [] if size in bounds else [("truncated", count * TICK)]
        assert [(note.kind, note.time) for note in tables.notes] == expected


def test_a_message_type_of_a_newer_version_is_kept_and_noted(tmp_path: Path) -> None:
    frames = [frame(1), frame(2, code=201), frame(3, version=2, code=5), frame(4, code=201)]
    tables = read(tmp_path, conversation(*LINK, *frames, frame(5)), "b3-b7")
    rows = tables.messages.to_pylist()
    assert [(row["sequence"], row["type"], row["version"]) for row in rows] == [
        (1, 5, 1), (2, 201, 1), (3, 5, 2), (4, 201, 1), (5, 5, 1)
    ]  # fmt: skip
    assert [note[1:] for note in tables.notes] == [
        (5 * TICK, "unknown-type", "2 messages are of type 201, which this version does not know"),
        (
            6 * TICK,
            "newer-version",
            "1 messages are of version 2, which this version does not know",
        ),
    ]
    assert tables.packets["unattributed"].to_pylist() == [0] * 8


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"\0\0\0\x0f" + bytes(40), "its length field says 15"),
        (b"\0\x10\0\x01\x01" + bytes(40), "its length field says 1048577"),
        (struct.pack(">IBBHII", 60, 0, 5, 0, 1, 1) + bytes(44), "its version is 0"),
    ],
)
def test_a_malformed_frame_ends_the_reading_of_its_stream(
    bad: bytes, reason: str, tmp_path: Path
) -> None:
    tables = read(tmp_path, conversation(*LINK, frame(1), Frame(bad), frame(2)), "b3-b7")
    assert tables.messages["sequence"].to_pylist() == [1]
    (note,) = tables.notes
    assert (note.kind, note.time) == ("malformed", 5 * TICK)
    assert note.text == (
        "connection 0, 10.128.0.13:49153 to 10.128.0.14:7471: what begins in packet 5 is no frame "
        f"({reason}); {len(bad) + 100} bytes are not read"
    )
    assert tables.packets["unattributed"].to_pylist() == [0, 0, 0, 0, len(bad), 100]


def test_a_capture_of_another_program_says_so(tmp_path: Path) -> None:
    web = End("192.168.0.1", 50000), End("192.168.0.2", 443)
    packets = [*conversation(*web, Frame(b"GET / HTTP/1.1")), b"\xc0\x21\1"]
    tables = read(tmp_path, packets, "web")
    assert len(tables.messages) == 0
    (note,) = tables.notes
    assert (note.kind, note.text) == (
        "foreign",
        "none of its 5 packets is pysim's, which uses the ports 7471 and 7472; this is a capture "
        "of another program: tcp port 443 (4), no IP (1)",
    )


def test_another_program_on_pysims_ports_is_told_apart(tmp_path: Path) -> None:
    tables = read(tmp_path, conversation(*LINK, Frame(b"GET / HTTP/1.1\r\n\r\n")))
    assert [note.kind for note in tables.notes] == ["foreign", "malformed"]
    assert tables.notes[0].text == (
        "what it holds on the ports 7471 and 7472 is not in pysim's wire format; this is a capture "
        "of another program"
    )


def test_foreign_packets_among_ours_are_noted_and_disturb_nothing(tmp_path: Path) -> None:
    web = End("10.128.0.13", 50000), End("10.128.0.14", 80)
    packets = conversation(*LINK, frame(1), frame(2))
    for place, stranger in enumerate(conversation(*web, frame(9))):
        packets.insert(2 * place, stranger)
    tables = read(tmp_path, packets, "b3-b7")
    assert tables.messages["sequence"].to_pylist() == [1, 2]
    (note,) = tables.notes
    assert note.text == "4 of 9 packets (268 bytes) are not pysim's: tcp port 80 (4)"


def test_a_capture_that_kept_only_headers_says_so(tmp_path: Path) -> None:
    packets = conversation(*LINK, frame(1), frame(2))
    tables = read_messages(write_capture(tmp_path / "b3-b7.pcap", packets, kept=60))
    assert len(tables.messages) == 0
    assert "snapped" in [note.kind for note in tables.notes]


# Spark --------------------------------------------------------------------------------------------


def test_groups_are_of_about_equal_size() -> None:
    sizes = [(f"f{n:02}", size) for n, size in enumerate([100, 1, 1, 50, 49, 0, 0, 99])]
    groups = balanced_groups(sizes, 3)
    loads = [sum(dict(sizes)[name] for name in group) for group in groups]
    assert sorted(name for group in groups for name in group) == [name for name, _ in sizes]
    assert max(loads) - min(loads) <= 2
    assert balanced_groups(sizes[:2], 5) == [["f00"], ["f01"]]
    assert len(balanced_groups([(str(n), 64 << 20) for n in range(10)], 2)) == 10


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    """A run with whole, empty, cut and foreign captures."""
    directory = tmp_path / "run" / "captures"
    directory.mkdir(parents=True)
    for n in range(6):
        write_capture(directory / f"b{n}-b{n + 1}.pcap", conversation(*LINK, *map(frame, range(n))))
    write_capture(directory / "b8.pcap", [])
    (directory / "b9.pcap").write_bytes(b"")
    cut = (directory / "b5-b6.pcap").read_bytes()[:-1]
    (directory / "b6-b5.pcap").write_bytes(cut)
    write_capture(directory / "wrong.pcap", [bytes(40)], link_type=RAW)
    return directory.parent


def test_spark_gives_the_same_tables_and_notes_what_cannot_be_read(
    spark: SparkSession, run_directory: Path
) -> None:
    paths = sorted((run_directory / "captures").iterdir())
    alone = {path.stem: read_messages(path) for path in paths if path.stem != "b9"}
    messages, packets, notes = run_tables(spark, run_directory)
    assert messages.orderBy("capture", "connection", "time").toArrow() == pa.concat_tables(
        [alone[name].messages for name in sorted(alone)]
    )
    assert packets.orderBy("capture", "number").toArrow() == pa.concat_tables(
        [alone[name].packets for name in sorted(alone)]
    )
    expected = [note for name in sorted(alone) for note in alone[name].notes]
    found = [tuple(row) for row in notes.orderBy("capture", "time", "kind").collect()]
    assert [row for row in found if row[2] != "unreadable"] == expected
    (unreadable,) = [row for row in found if row[2] == "unreadable"]
    assert unreadable == ("b9", 0, "unreadable", f"{paths[-2]} is empty")
    assert notes.toArrow().schema == NOTES


def test_captures_are_read_once_and_nothing_is_shuffled(
    spark: SparkSession, run_directory: Path
) -> None:
    messages, packets, _ = run_tables(spark, run_directory)
    assert messages.count() == 19
    shutil.rmtree(run_directory)
    assert packets.count() == 41
    for table in (messages, packets):
        assert "Exchange" not in table._jdf.queryExecution().toString()


def test_a_directory_without_captures_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="there is no capture"):
        run_tables(spark, tmp_path)


# Runs on ns-3: what captures say is what the applications counted ---------------------------------


class Unicast(Relay):
    """Sends every publication straight to all other brokers."""

    protocol: Literal["tcp", "udp"] = "tcp"

    def publish(self, client: int, event: Envelope) -> None:
        for broker in range(5):
            if broker != self.world.id:
                self.world.send_direct(broker, event, self.protocol)

    def on_event(self, sender: int, event: Envelope) -> None:
        pass


class Datagrams(Unicast):
    protocol = "udp"


LINE = nx.path_graph(5)
DISTANCES = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) * 0.02
ROUTERS = nx.Graph([(0, 1, {"delay": 0.002}), (1, 3), (0, 2), (2, 3)])
BY_ROUTERS = RouterUnderlay(
    ROUTERS, (0, 3, 1, 2, 0), LinkSettings(rate=10e6), LinkSettings(delay=0.001)
)
REPLACED = [
    LinkReplace(1 * S + 500 * MS, (1, 2), (0, 3), repair=100 * MS),
    LinkReplace(2 * S, (3, 4), (1, 4), repair=50 * MS),
    LinkReplace(2 * S + 300 * MS, (1, 4), (3, 4), repair=50 * MS),
]
CRASH = [BrokerCrash(2 * S, 2), BrokerRestart(2 * S + 500 * MS, 2)]

RUNS: dict[str, dict[str, Any]] = {
    "links that lose": {"link": LinkSettings(loss=0.05), "tcp": "lean"},
    "links that are replaced": {"link": LinkSettings(delay=0.05, rate=1e6), "faults": REPLACED},
    "a broker that crashes": {"link": LinkSettings(delay=0.05), "faults": CRASH},
    "unicast by TCP on links that lose": {"make": Unicast, "link": LinkSettings(loss=0.01)},
    "unicast by UDP on links that lose": {"make": Datagrams, "link": LinkSettings(loss=0.02)},
    "a matrix that loses": {"underlay": MatrixUnderlay(DISTANCES, LinkSettings(loss=0.01))},
    "a matrix with replaced links": {
        "underlay": MatrixUnderlay(DISTANCES, LinkSettings()),
        "faults": REPLACED,
    },
    "unicast in a matrix with a crash": {
        "make": Unicast,
        "underlay": MatrixUnderlay(DISTANCES, LinkSettings()),
        "faults": CRASH,
    },
    "routers with replaced links": {"underlay": BY_ROUTERS, "faults": REPLACED},
    "datagrams over routers": {"make": Datagrams, "underlay": BY_ROUTERS},
}


@pytest.mark.parametrize("case", RUNS)
def test_captures_of_a_run_agree_with_its_counters(case: str, tmp_path: Path) -> None:
    settings = dict(RUNS[case])
    faults = settings.pop("faults", [])
    with simulation(LINE, capture="both", capture_directory=tmp_path, **settings) as sim:
        sim.add_faults(faults)
        sizes = [21 + 37 * n % 3000 for n in range(200)]
        sim.add_operations(publish(1 * S + n * 9 * MS, n % 5, size) for n, size in enumerate(sizes))
        sim.run(40.0)
        rows = sim.transport.counters()
    captures = [read_messages(path) for path in sorted(tmp_path.iterdir())]
    received = {
        (row.source, row.target, row.channel, row.type): (row.received, row.received_bytes)
        for row in rows
        if row.received
    }
    assert totals(captures, "in") == received
    assert sum(messages for messages, _ in received.values()) > 500
    assert_all_is_accounted_for(captures)
    if "lose" in case and "UDP" not in case:
        assert sum(t.packets["role"].to_pylist().count("retransmission") for t in captures) > 5
    if not faults and "UDP" not in case:
        assert totals(captures, "out") == received  # on the way nothing was lost for good


def totals(captures: list[Tables], direction: str) -> dict[tuple[object, ...], tuple[int, int]]:
    """Messages and bytes by source, target, channel and type, of one direction."""
    messages: Counter[tuple[object, ...]] = Counter()
    sizes: Counter[tuple[object, ...]] = Counter()
    for tables in captures:
        for row in tables.messages.to_pylist():
            if row["direction"] == direction:
                overlay = 7471 in (row["source_port"], row["target_port"])
                ends = (broker_of(row[f"{end}_address"], row["capture"]) for end in ENDS)
                key = (*ends, "link" if overlay else row["protocol"], row["type"])
                messages[key] += 1
                sizes[key] += row["length"]
    return {key: (messages[key], sizes[key]) for key in messages}


ENDS = ("source", "target")
SHARES = PACKETS.names[PACKETS.names.index("link_header") :]


def assert_all_is_accounted_for(captures: list[Tables]) -> None:
    """Shares add up, and all unattributed bytes have a note."""
    for tables in captures:
        columns = np.array([tables.packets[name].to_numpy() for name in SHARES])
        assert (columns.sum(axis=0) == tables.packets["length"].to_numpy()).all()
        kinds = {note.kind for note in tables.notes}
        assert kinds <= {"after-reset", "fragments", "gap", "unfinished", "foreign"}
        assert kinds or not columns[-1].any()
        # Only what tells of lost fragments is neither TCP nor UDP.
        assert "foreign" not in kinds or "fragments" in kinds
