"""Every packet has a role, and every byte of it belongs to exactly one column."""

import random
import struct
from pathlib import Path
from typing import Any

import pytest

from analysis.captures.messages import read_messages
from tests.analysis.captures.conversations import (
    ACK,
    FIN,
    IP_HEADER,
    PPP_HEADER,
    PSH,
    RST,
    SYN,
    TCP_HEADER,
    UDP_HEADER,
    WORD,
    End,
    Frame,
    Packet,
    Stream,
    interleaved,
    ip_packet,
    random_connection,
    write_capture,
)
from tests.analysis.captures.pcaps import ETHERNET

A, B = End("10.128.0.1", 49153), End("10.128.0.2", 7471)
COLUMNS = (
    "link_header",
    "ip_header",
    "transport_header",
    "frame_header",
    "body",
    "repeated",
    "unattributed",
)


def frame(size: int = 100) -> Frame:
    return Frame(struct.pack(">IBBHII", size, 1, 5, 0, 7, 1) + bytes(size - 16))


THERE = Stream(A, B, WORD - 50, [frame(), frame(), frame()])
BACK = Stream(B, A, 1000, [frame()])


def rows(tmp_path: Path, packets: list[bytes], **options: int) -> list[dict[str, Any]]:
    """What became of the packets; that their shares add up is checked for every one."""
    found = read_messages(write_capture(tmp_path / "b0-b1.pcap", packets, **options)).packets
    result: list[dict[str, Any]] = found.to_pylist()
    for row in result:
        assert all(row[column] >= 0 for column in COLUMNS), row
        assert sum(row[column] for column in COLUMNS) == row["length"], row
    return result


def roles(tmp_path: Path, *packets: Packet) -> list[str]:
    return [row["role"] for row in rows(tmp_path, [packet.bytes for packet in packets])]


def ends_at(stream: Stream, place: int) -> int:
    """The acknowledgment number that covers so many bytes of a stream."""
    return (stream.initial + 1 + place) % WORD


SYN_, SYN_ACK = THERE.packet(flags=SYN), BACK.packet(flags=SYN | ACK)


def test_the_handshake_ends_with_the_first_bare_ack_of_a_syn_ack(tmp_path: Path) -> None:
    assert roles(tmp_path, SYN_, SYN_ACK, THERE.packet(), THERE.packet(), BACK.packet()) == [
        "handshake", "handshake", "handshake", "ack", "ack"
    ]  # fmt: skip


def test_a_handshake_that_ends_with_data_has_two_packets_of_its_own(tmp_path: Path) -> None:
    packets = SYN_, SYN_ACK, THERE.segment(0, 100), THERE.packet()
    assert roles(tmp_path, *packets) == ["handshake", "handshake", "data", "ack"]


def test_what_is_repeated_of_a_handshake_belongs_to_it(tmp_path: Path) -> None:
    packets = SYN_, SYN_, SYN_ACK, THERE.packet(), SYN_ACK, THERE.packet(), THERE.packet()
    assert roles(tmp_path, *packets) == ["handshake"] * 6 + ["ack"]


def test_data_in_a_syn_is_read(tmp_path: Path) -> None:
    packets = [THERE.packet(THERE.data[:100], flags=SYN).bytes, THERE.segment(100, 300).bytes]
    found = rows(tmp_path, packets)
    assert [(row["role"], row["frame_header"], row["body"]) for row in found] == [
        ("handshake", 16, 84),
        ("data", 32, 168),
    ]


def test_a_retransmission_has_only_bytes_that_this_capture_saw_before(tmp_path: Path) -> None:
    spans = [(0, 100), (200, 300), (0, 100), (50, 150), (100, 200), (0, 300)]
    found = rows(tmp_path, [SYN_.bytes, *(THERE.segment(*span).bytes for span in spans)])[1:]
    assert [(row["role"], row["repeated"]) for row in found] == [
        ("data", 0),
        ("data", 0),
        ("retransmission", 100),
        ("data", 50),
        ("data", 50),
        ("retransmission", 300),
    ]


def test_a_keep_alive_is_an_ack_with_or_without_a_byte(tmp_path: Path) -> None:
    packets = SYN_, THERE.segment(0, 100), THERE.packet(b"", 99), THERE.packet(b"\0", 99)
    assert roles(tmp_path, *packets) == ["handshake", "data", "ack", "ack"]


def test_a_segment_of_one_byte_that_comes_again_is_a_retransmission(tmp_path: Path) -> None:
    packets = SYN_, THERE.segment(0, 99), THERE.segment(99, 100), THERE.segment(99, 100)
    assert roles(tmp_path, *packets) == ["handshake", "data", "data", "retransmission"]


def test_a_probe_of_a_closed_window_is_data_once(tmp_path: Path) -> None:
    packets = SYN_, THERE.segment(0, 100), THERE.segment(100, 101), THERE.segment(100, 101)
    assert roles(tmp_path, *packets) == ["handshake", "data", "data", "retransmission"]
    assert roles(tmp_path, *packets[:3], THERE.segment(100, 300)) == ["handshake", *["data"] * 3]


def test_a_keep_alive_before_any_data_repeats_nothing_that_is_a_message(tmp_path: Path) -> None:
    packets = [SYN_.bytes, THERE.packet(b"\0", -1).bytes, THERE.segment(0, 300).bytes]
    found = rows(tmp_path, packets)
    assert [(row["role"], row["repeated"]) for row in found[1:]] == [("ack", 1), ("data", 0)]


def test_fins_and_the_acks_that_cover_them_are_the_teardown(tmp_path: Path) -> None:
    fin = THERE.packet(b"", 300, FIN | ACK)
    early = BACK.packet(ack=ends_at(THERE, 20))  # before sequence numbers wrap
    almost = BACK.packet(ack=ends_at(THERE, 300))
    covers = BACK.packet(ack=ends_at(THERE, 301))
    answer = BACK.packet(b"", 100, FIN | ACK, ends_at(THERE, 301))
    last = THERE.packet(b"", 301, ACK, ends_at(BACK, 101))
    packets = SYN_, SYN_ACK, THERE.segment(0, 300), BACK.segment(0, 100)
    closing = fin, early, almost, fin, covers, answer, last
    assert roles(tmp_path, *packets, *closing)[4:] == [
        "teardown", "ack", "ack", "teardown", "teardown", "teardown", "teardown"
    ]  # fmt: skip


def test_data_with_fin_is_data_and_its_ack_is_teardown(tmp_path: Path) -> None:
    last = THERE.segment(200, 300, FIN | PSH | ACK)
    packets = SYN_, THERE.segment(0, 200), last, last, BACK.packet(ack=ends_at(THERE, 301))
    assert roles(tmp_path, *packets)[1:] == ["data", "data", "retransmission", "teardown"]


@pytest.mark.parametrize("flags", [RST, RST | ACK])
def test_a_reset_is_a_reset(flags: int, tmp_path: Path) -> None:
    assert roles(tmp_path, SYN_, BACK.packet(flags=flags)) == ["handshake", "reset"]


def test_headers_are_as_long_as_they_are(tmp_path: Path) -> None:
    datagram = Packet(End("10.0.0.1", 7472), End("10.0.0.2", 7472), frame().data)
    first, second = rows(tmp_path, [THERE.packet(flags=SYN).bytes, datagram.bytes])
    assert [first[column] for column in COLUMNS] == [PPP_HEADER, IP_HEADER, TCP_HEADER, 0, 0, 0, 0]
    assert [second[column] for column in COLUMNS] == [
        PPP_HEADER, IP_HEADER, UDP_HEADER, 16, 84, 0, 0
    ]  # fmt: skip


def test_padding_counts_as_link_header(tmp_path: Path) -> None:
    ethernet = bytes(12) + b"\x08\x00" + THERE.packet().bytes[PPP_HEADER:] + bytes(6)
    (row,) = rows(tmp_path, [ethernet], link_type=ETHERNET)
    assert (row["length"], row["link_header"], row["unattributed"]) == (60, 14 + 6, 0)


def test_what_the_capture_did_not_keep_is_unattributed(tmp_path: Path) -> None:
    packets = [SYN_.bytes, THERE.segment(0, 300).bytes]
    _, row = rows(tmp_path, packets, kept=PPP_HEADER + IP_HEADER + TCP_HEADER + 150)
    assert (row["length"], row["frame_header"], row["body"]) == (342, 32, 118)
    assert row["unattributed"] == 150


def test_other_programs_are_other(tmp_path: Path) -> None:
    web = Stream(End("10.128.0.1", 50000), End("10.128.0.2", 80), 0, [frame()])
    ping = ip_packet(A, B, 1, bytes(64))
    found = rows(tmp_path, [web.packet(flags=SYN).bytes, web.segment(0, 100).bytes, ping])
    assert [row["role"] for row in found] == ["other"] * 3
    assert [row["connection"] for row in found] == [None] * 3
    assert [row["unattributed"] for row in found] == [0, 100, 64]
    assert [row["protocol"] for row in found] == ["tcp", "tcp", "icmp"]


def test_a_packet_without_ip_has_neither_ends_nor_direction(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, [b"\xc0\x21" + bytes(30)])
    assert (row["role"], row["link_header"], row["unattributed"]) == ("other", 2, 30)
    nothing = "source_address", "target_address", "source_port", "target_port", "direction"
    assert [row[key] for key in (*nothing, "protocol", "connection")] == [None] * 7


def test_ipv6_is_read_like_ipv4(tmp_path: Path) -> None:
    def wrapped(packet: Packet) -> bytes:
        content = packet.bytes[PPP_HEADER + IP_HEADER :]
        ends = bytes(15) + b"\x01" if packet.source == A else bytes(15) + b"\x02"
        other = bytes(15) + b"\x02" if packet.source == A else bytes(15) + b"\x01"
        return (
            b"\x00\x57"
            + struct.pack(">IHBB", 6 << 28, len(content), 6, 64)
            + ends
            + other
            + content
        )

    found = rows(tmp_path, [wrapped(SYN_), wrapped(THERE.segment(0, 300)), wrapped(BACK.packet())])
    assert [row["role"] for row in found] == ["handshake", "data", "ack"]
    assert (found[1]["ip_header"], found[1]["frame_header"], found[1]["body"]) == (40, 48, 252)
    assert [row["source_address"] for row in found] == ["::1", "::1", "::2"]
    assert {row["connection"] for row in found} == {0}


@pytest.mark.parametrize("seed", range(30))
def test_damaged_packets_add_up_as_well(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    ends = [(End("10.128.0.1", 49153 + n), End("10.128.0.2", 7471)) for n in range(4)]
    packets = interleaved(rng, [random_connection(rng, *pair) for pair in ends])
    damaged = []
    for packet in packets:
        content = bytearray(packet.bytes)
        for _ in range(rng.choice([0, 0, 1, 5])):
            content[rng.randrange(min(len(content), 80))] = rng.randrange(256)
        damaged.append(bytes(content[: rng.choice([len(content), rng.randrange(len(content))])]))
    assert len(rows(tmp_path, damaged)) == len(packets)
    rows(tmp_path, damaged, kept=60)
