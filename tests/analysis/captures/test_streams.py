"""Streams are put together and cut into frames whatever the network did to their segments."""

import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.captures.messages import Tables, read_messages
from analysis.captures.streams import _crc32
from pysim.wire import Envelope, message_types
from pysim.wire.messages import Batch, Event
from tests.analysis.captures.conversations import (
    ACK,
    RST,
    SYN,
    TICK,
    WORD,
    End,
    Frame,
    Packet,
    Stream,
    interleaved,
    ip_packet,
    random_connection,
    random_frame,
    slow_reading,
    write_capture,
)

A, B = End("10.128.0.1", 49153), End("10.128.0.2", 7471)
SHARES = ("frame_header", "body", "repeated", "unattributed")


def read(tmp_path: Path, packets: list[Packet], name: str = "b0-b1") -> Tables:
    return read_messages(write_capture(tmp_path / f"{name}.pcap", [p.bytes for p in packets]))


def event(number: int, size: int = 100) -> Frame:
    header = struct.pack(">IBBHII", size, 1, 5, 0, 7, number)
    return Frame(header + bytes(number % 251 for _ in range(size - 16)))


def events(count: int, initial: int = 0, size: int = 100) -> Stream:
    return Stream(A, B, initial, [event(number, size) for number in range(count)])


def opened(stream: Stream) -> Packet:
    return stream.packet(flags=SYN)


def numbers(tables: Tables) -> list[int]:
    return tables.messages["sequence"].to_pylist()


def kinds(tables: Tables) -> list[str]:
    return [note.kind for note in tables.notes]


def assert_as_read_slowly(tables: Tables, packets: list[Packet]) -> None:
    expected = slow_reading(packets)
    rows = tables.packets.to_pylist()
    assert [row["role"] for row in rows] == expected.roles
    assert [tuple(row[share] for share in SHARES) for row in rows] == expected.shares
    messages = [
        (
            End(row["source_address"], row["source_port"]),
            End(row["target_address"], row["target_port"]),
            tuple(
                row[key] for key in ("type", "origin", "sequence", "length", "crc", "destinations")
            ),
            row["first_time"],
            row["time"],
            row["segments"],
        )
        for row in tables.messages.to_pylist()
    ]
    assert messages == expected.messages


@given(
    sizes=st.lists(st.integers(16, 120), max_size=8),
    spans=st.lists(st.tuples(st.integers(0, 900), st.integers(1, 300)), max_size=25),
    initial=st.sampled_from([0, 12345, WORD - 1, WORD - 200]),
    completed=st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_any_segments_in_any_order_give_what_a_reader_byte_by_byte_gets(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    spans: list[tuple[int, int]],
    initial: int,
    completed: bool,
) -> None:
    stream = Stream(A, B, initial, [event(n, size) for n, size in enumerate(sizes)])
    whole = len(stream.data)
    packets = [stream.segment(start, start + size) for start, size in spans if start < whole]
    if completed:
        packets.append(stream.segment(0, whole))
    syn = opened(stream)
    syn.role = "handshake"
    packets = [syn, *(packet for packet in packets if packet.payload)]
    path = tmp_path_factory.getbasetemp() / "b0-b1.pcap"
    tables = read_messages(write_capture(path, [packet.bytes for packet in packets]))
    assert_as_read_slowly(tables, packets)
    if completed:
        assert numbers(tables) == list(range(len(sizes)))


@pytest.mark.parametrize("seed", range(8))
def test_many_connections_at_once_and_one_after_another(seed: int, tmp_path: Path) -> None:
    """About 150 connections a seed, both ways, five incarnations of each pair of ends."""
    rng = random.Random(seed)
    server = End("10.128.0.2", 7471)
    conversations = []
    for client in range(30):
        ends = End("10.128.0.1", 49153 + client), server
        incarnations = [random_connection(rng, *ends) for _ in range(5)]
        conversations.append([packet for packets in incarnations for packet in packets])
    packets = interleaved(rng, conversations)
    tables = read(tmp_path, packets)
    assert_as_read_slowly(tables, packets)
    assert tables.packets["connection"].to_numpy().max() == 149
    assert len(tables.messages) > 500


def test_the_checksum_is_that_of_zlib_for_every_length() -> None:
    data = random.Random(1).randbytes(100)
    array = np.frombuffer(data, np.uint8)
    for start in range(4):
        for size in range(90):
            ours = ~_crc32(array, start, size, np.uint32(0xFFFFFFFF)) & 0xFFFFFFFF
            assert ours == zlib.crc32(data[start : start + size])


def test_a_message_is_there_when_its_last_hole_is_filled(tmp_path: Path) -> None:
    stream = events(3)
    spans = [(0, 50), (120, 300), (50, 90), (90, 120)]
    packets = [opened(stream), *(stream.segment(*span) for span in spans)]
    rows = read(tmp_path, packets).messages.to_pylist()
    assert [(row["first_time"], row["time"], row["segments"]) for row in rows] == [
        (2 * TICK, 5 * TICK, 3),
        (5 * TICK, 5 * TICK, 2),
        (3 * TICK, 5 * TICK, 1),
    ]


def test_bytes_that_come_again_are_what_they_were_at_first(tmp_path: Path) -> None:
    stream = events(1)
    other = Stream(A, B, 0, [event(99)])
    packets = [opened(stream), stream.segment(0, 60), other.segment(0, 100)]
    tables = read(tmp_path, packets)
    (crc,) = tables.messages["crc"].to_pylist()
    assert crc == zlib.crc32(stream.data[:60] + other.data[60:])
    assert tables.packets["repeated"].to_pylist() == [0, 0, 60]


def test_a_hole_that_stays_ends_the_reading_and_is_told(tmp_path: Path) -> None:
    stream = events(10)
    packets = [opened(stream), stream.segment(0, 250), stream.segment(300, 1000)]
    tables = read(tmp_path, packets)
    assert numbers(tables) == [0, 1]
    assert tables.packets["unattributed"].to_pylist() == [0, 0, 700]
    assert [(note.kind, note.time) for note in tables.notes] == [
        ("unfinished", 2 * TICK),
        ("gap", 3 * TICK),
    ]
    assert tables.notes[1].text == (
        "connection 0, 10.128.0.1:49153 to 10.128.0.2:7471: 50 bytes are missing and never come; "
        "the 700 bytes seen behind them are not read"
    )


def test_a_hole_in_one_direction_leaves_the_other_alone(tmp_path: Path) -> None:
    there, back = events(2), Stream(B, A, 5, [event(5), event(6)])
    packets = [opened(there), back.packet(flags=SYN | ACK), there.segment(10, 200)]
    tables = read(tmp_path, [*packets, back.segment(0, 200)])
    assert numbers(tables) == [5, 6]
    assert tables.messages["direction"].to_pylist() == ["in", "in"]


def test_an_unfinished_message_is_told_and_its_bytes_are_attributed(tmp_path: Path) -> None:
    stream = events(2)
    for end, text in (
        (102, "the last message is unfinished: 2 bytes of it are there"),
        (110, "the last message is unfinished: 10 of 100 bytes of it are there"),
        (150, "the last message is unfinished: 50 of 100 bytes of it are there"),
    ):
        tables = read(tmp_path, [opened(stream), stream.segment(0, end)])
        assert numbers(tables) == [0]
        (note,) = tables.notes
        assert (note.kind, note.text.split(": ", 1)[1]) == ("unfinished", text)
        assert tables.packets["unattributed"].to_pylist() == [0, 0]
        assert tables.packets["frame_header"].to_pylist() == [0, min(end - 84, 32)]


# Where a stream begins ----------------------------------------------------------------------------


def test_a_capture_that_begins_between_messages_reads_all_that_follow(tmp_path: Path) -> None:
    stream = events(9, initial=WORD - 300)
    packets = [stream.segment(start, start + 100) for start in range(200, 900, 100)]
    tables = read(tmp_path, packets)
    assert numbers(tables) == list(range(2, 9))
    assert kinds(tables) == ["mid-stream"]
    assert tables.packets["unattributed"].to_pylist() == [0] * 7


def test_a_capture_that_begins_within_a_message_goes_on_with_the_next_segment(
    tmp_path: Path,
) -> None:
    stream = events(9)
    packets = [stream.segment(130, 180), stream.segment(180, 250), stream.segment(250, 300)]
    packets += [stream.segment(start, start + 100) for start in range(300, 900, 100)]
    tables = read(tmp_path, packets)
    assert numbers(tables) == list(range(3, 9))
    assert tables.packets["unattributed"].to_pylist() == [50, 70, 50] + [0] * 6
    (note,) = tables.notes
    assert "170 bytes before the first recognizable message are not read" in note.text


def test_what_came_before_the_first_segment_of_a_capture_stays_unread(tmp_path: Path) -> None:
    stream = events(4)
    packets = [stream.segment(100, 200), stream.segment(0, 100), stream.segment(200, 400)]
    tables = read(tmp_path, packets)
    assert numbers(tables) == [1, 2, 3]
    assert tables.packets["unattributed"].to_pylist() == [0, 100, 0]
    assert tables.packets["role"].to_pylist() == ["data"] * 3


def test_a_frame_inside_a_batch_is_not_taken_for_the_beginning(tmp_path: Path) -> None:
    inner = [Envelope.seal(Event({}, bytes(60)), 1, n).frame for n in range(3)]
    batch = Envelope.seal(Batch(tuple(inner)), 1, 100).frame
    stream = Stream(A, B, 0, [Frame(batch), event(200), event(201)])
    start = batch.index(inner[1])
    whole = len(batch)
    packets = [stream.segment(start, whole + 100), stream.segment(whole + 100, whole + 200)]
    tables = read(tmp_path, packets)
    assert numbers(tables) == [201]


def test_a_segment_that_only_looks_like_a_frame_at_first_is_no_beginning(tmp_path: Path) -> None:
    rng = random.Random(3)
    stream = Stream(
        A, B, 0, [Frame(struct.pack(">IBBHII", 1016, 1, 5, 0, 0, 1) + rng.randbytes(1000))]
    )
    packets = [stream.segment(start, start + 100) for start in range(16, 1016, 100)]
    tables = read(tmp_path, packets)
    assert len(tables.messages) == 0
    assert sum(tables.packets["unattributed"].to_pylist()) == 1000


# Incarnations -------------------------------------------------------------------------------------


def test_a_syn_that_comes_again_begins_nothing_new(tmp_path: Path) -> None:
    stream = events(2)
    packets = [opened(stream), opened(stream), stream.segment(0, 200)]
    tables = read(tmp_path, packets)
    assert tables.packets["connection"].to_pylist() == [0, 0, 0]
    assert numbers(tables) == [0, 1]


@pytest.mark.parametrize("initial", [0, 1, 77])
def test_a_new_syn_of_the_same_ends_begins_a_new_connection(initial: int, tmp_path: Path) -> None:
    first, second = events(2), Stream(A, B, initial, [event(10), event(11)])
    packets = [opened(first), first.segment(0, 150), opened(second), second.segment(0, 200)]
    tables = read(tmp_path, packets)
    assert tables.packets["connection"].to_pylist() == [0, 0, 1, 1]
    assert list(zip(tables.messages["connection"].to_pylist(), numbers(tables), strict=True)) == [
        (0, 0),
        (1, 10),
        (1, 11),
    ]
    assert kinds(tables) == ["unfinished"]


def test_a_refused_connection_that_is_tried_again_is_a_new_one(tmp_path: Path) -> None:
    stream = events(1)
    refusal = Stream(B, A, 0, []).packet(flags=RST | ACK)
    packets = [opened(stream), refusal, opened(stream), stream.segment(0, 100)]
    assert read(tmp_path, packets).packets["connection"].to_pylist() == [0, 0, 1, 1]


def test_a_connection_whose_syn_the_capture_missed_ends_with_the_next_syn(tmp_path: Path) -> None:
    old, new = events(2, initial=5000), events(3, initial=9000)
    answer = Stream(B, A, 100, [])
    packets = [old.segment(0, 200), answer.packet(flags=SYN | ACK), new.segment(0, 300)]
    tables = read(tmp_path, packets)
    assert tables.packets["connection"].to_pylist() == [0, 1, 1]
    assert numbers(tables) == [0, 1, 0, 1, 2]


def test_payload_after_a_reset_is_no_message(tmp_path: Path) -> None:
    stream = events(3)
    reset = Stream(B, A, 0, []).packet(flags=RST)
    packets = [opened(stream), stream.segment(0, 100), reset, stream.segment(100, 300)]
    tables = read(tmp_path, packets)
    assert numbers(tables) == [0]
    assert tables.packets["unattributed"].to_pylist() == [0, 0, 0, 200]
    (note,) = tables.notes
    assert note.kind == "after-reset"
    assert note.text.endswith("200 bytes came after the connection was reset")


def test_sequence_numbers_wrap_as_often_as_they_like(tmp_path: Path) -> None:
    """Of three gigabytes of a stream the capture has the beginning and some bytes far behind it."""
    rng = random.Random(2)
    stream = Stream(A, B, WORD - 5, [random_frame(rng) for _ in range(5)])
    packets = [opened(stream), stream.segment(0, len(stream.data))]
    far = len(stream.data)
    for _ in range(6):
        far += WORD // 8
        packets.append(stream.packet(b"x" * 10, far))
    tables = read(tmp_path, packets)
    assert len(tables.messages) == 5
    (note,) = tables.notes
    assert note.text.endswith(
        f"{WORD // 8} bytes are missing and never come; the 60 bytes seen behind them are not read"
    )


# Datagrams ----------------------------------------------------------------------------------------

C, D = End("10.0.0.1", 7472), End("10.0.0.5", 7472)


def fragments(frame: bytes, size: int, number: int = 9) -> list[bytes]:
    """A datagram from C to D in IP fragments of so many bytes."""
    datagram = struct.pack(">HHHH", C.port, D.port, 8 + len(frame), 0) + frame
    pieces = []
    for start in range(0, len(datagram), size):
        more = 0x2000 if start + size < len(datagram) else 0
        content = datagram[start : start + size]
        pieces.append(ip_packet(C, D, 17, content, number, more | start // 8))
    return pieces


def read_raw(tmp_path: Path, packets: list[bytes], name: str = "b0-b1") -> Tables:
    return read_messages(write_capture(tmp_path / f"{name}.pcap", packets))


def test_each_datagram_is_a_message(tmp_path: Path) -> None:
    packets = [Packet(C, D, event(n).data).bytes for n in (4, 5, 4)]
    tables = read_raw(tmp_path, packets)
    assert numbers(tables) == [4, 5, 4]
    assert tables.messages["protocol"].to_pylist() == ["udp"] * 3
    assert tables.packets["role"].to_pylist() == ["datagram"] * 3
    assert [tables.packets[share].to_pylist() for share in SHARES] == [
        [16] * 3, [84] * 3, [0] * 3, [0] * 3
    ]  # fmt: skip


def test_a_datagram_that_is_no_frame_is_told(tmp_path: Path) -> None:
    wrong = [b"", b"abc", bytes(16), event(1).data[:-1], event(1).data + b"x"]
    packets = [Packet(C, D, data).bytes for data in (event(0).data, *wrong)]
    tables = read_raw(tmp_path, packets)
    assert numbers(tables) == [0]
    (note,) = tables.notes
    assert note.kind == "malformed"
    assert note.text.endswith("; so it is with 4 more of its datagrams")
    assert tables.packets["unattributed"].to_pylist() == [0, *map(len, wrong)]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 3, 0, 2]])
def test_fragments_are_put_together_in_any_order(order: list[int], tmp_path: Path) -> None:
    frame = event(3, size=900)
    pieces = fragments(frame.data, 240)
    tables = read_raw(tmp_path, [pieces[index] for index in order])
    (message,) = tables.messages.to_pylist()
    assert message["crc"] == zlib.crc32(frame.data)
    assert (message["segments"], message["length"]) == (4, 900)
    assert message["first_time"] == (order.index(0) + 1) * TICK
    assert message["time"] == len(order) * TICK
    assert sum(tables.packets["frame_header"].to_pylist()) == 16
    assert sum(tables.packets["body"].to_pylist()) == 884
    assert set(tables.packets["source_port"].to_pylist()) >= {7472}
    assert kinds(tables).count("fragments") == 1


def test_fragments_smaller_than_the_headers_share_them(tmp_path: Path) -> None:
    tables = read_raw(tmp_path, fragments(event(3, size=60).data, 8))
    assert numbers(tables) == [3]
    assert tables.packets["frame_header"].to_pylist() == [0, 8, 8, 0, 0, 0, 0, 0, 0]
    assert tables.packets["transport_header"].to_pylist() == [8] + [0] * 8


def test_fragments_of_which_one_is_missing_are_told(tmp_path: Path) -> None:
    pieces = fragments(event(3, size=900).data, 240)
    again = fragments(event(4, size=900).data, 240, number=10)
    tables = read_raw(tmp_path, [*pieces[:2], *pieces[3:], *again])
    assert numbers(tables) == [4]
    note = next(note for note in tables.notes if note.kind == "fragments")
    assert note.text == "7 IP fragments: 4 were put together to datagrams, 3 could not be"


def test_fragments_of_tcp_are_told_and_not_read(tmp_path: Path) -> None:
    stream = events(1)
    whole = stream.segment(0, 100).bytes[22:]
    pieces = [ip_packet(A, B, 6, whole[:80], 1, 0x2000), ip_packet(A, B, 6, whole[80:], 1, 10)]
    tables = read_raw(tmp_path, [opened(stream).bytes, *pieces])
    assert len(tables.messages) == 0
    assert tables.packets["role"].to_pylist() == ["handshake", "other", "other"]
    assert "fragments" in kinds(tables)


def test_every_type_with_a_destination_list_has_it_first() -> None:
    """Only there it is looked for."""
    for known in message_types().values():
        fields = known.message.__struct_fields__
        assert "destinations" not in fields[1:], known.name
