"""Files and records: both byte orders and resolutions, and all that can be wrong with a file."""

import random
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.captures import records
from analysis.captures.decode import decode
from analysis.captures.records import CaptureError, open_capture, scan
from tests.analysis.captures.pcaps import (
    ETHERNET,
    PPP,
    RAW,
    Record,
    file_header,
    ipv4,
    pcap,
    ppp,
    record,
    tcp,
    write_pcap,
)

PACKETS = [Record(1_700_000_000_123_456_789 + n, ppp(ipv4(tcp(bytes(n))))) for n in range(5)]


def complaint(path: Path) -> str:
    with pytest.raises(CaptureError) as caught:
        scan(open_capture(path))
    return str(caught.value)


@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize("nanoseconds", [False, True])
@pytest.mark.parametrize("link_type", [ETHERNET, PPP, RAW, 12, 14, 228, 229])
def test_the_header_tells_order_resolution_link_type_and_snaplen(
    tmp_path: Path, big_endian: bool, nanoseconds: bool, link_type: int
) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(
        file_header(link_type, big_endian=big_endian, nanoseconds=nanoseconds, snaplen=77)
    )
    capture = open_capture(path)
    assert (capture.big_endian, capture.nanoseconds) == (big_endian, nanoseconds)
    assert (capture.link_type, capture.snaplen) == (link_type, 77)
    assert scan(capture).offsets.tolist() == []


@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize(("nanoseconds", "rest"), [(False, 123_456_000), (True, 123_456_789)])
def test_times_are_nanoseconds_in_every_flavour(
    tmp_path: Path, big_endian: bool, nanoseconds: bool, rest: int
) -> None:
    last = Record((2**32 - 1) * 1_000_000_000 + 123_456_789, b"")
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap([PACKETS[0], last], big_endian=big_endian, nanoseconds=nanoseconds))
    capture = open_capture(path)
    times = decode(capture, scan(capture).offsets).time.tolist()
    assert times == [1_700_000_000_000_000_000 + rest, (2**32 - 1) * 1_000_000_000 + rest]


def test_the_length_of_a_frame_check_sequence_is_not_part_of_the_link_type(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(file_header(0x2400_0000 | ETHERNET))
    assert open_capture(path).link_type == ETHERNET


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\xd4", "is not a pcap file: it starts with d4"),
        (b"Hello, world, this is a text", "is not a pcap file: it starts with 48 65 6c 6c"),
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "is a pcapng file; convert it with `editcap -F nsecpcap"),
        (b"\x34\xcd\xb2\xa1" + bytes(40), "is a modified pcap file; convert it with `editcap"),
        (b"\x1f\x8b\x08" + bytes(40), "is compressed with gzip; unpack it first"),
        (file_header()[:23], "ends within its file header, after 23 bytes"),
        (file_header(version=(2, 3)), "has pcap version 2.3; only 2.4 can be read"),
        (file_header(105), "has the unknown link type 105; known are 1 (Ethernet), 9 (PPP), 12"),
    ],
)
def test_a_file_that_is_no_usable_capture_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "bad.pcap"
    path.write_bytes(content)
    assert complaint(path).startswith(f"{path} {problem}")
    assert "\n" not in complaint(path)


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        open_capture(tmp_path / "nothing.pcap")


@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize(("captured", "length"), [(262_145, 262_145), (2**32 - 1, 60), (4, 2**31)])
def test_a_record_of_absurd_size_is_damage_and_is_located(
    tmp_path: Path, big_endian: bool, captured: int, length: int
) -> None:
    good = pcap(PACKETS[:3], big_endian=big_endian)
    order = ">" if big_endian else "<"
    path = tmp_path / "bad.pcap"
    path.write_bytes(good + struct.pack(order + "IIII", 0, 0, captured, length) + bytes(500_000))
    assert complaint(path) == (
        f"{path} is damaged: packet 4, at byte {len(good)}, claims {captured} captured bytes "
        f"of {length}"
    )


def test_the_largest_packets_are_read(tmp_path: Path) -> None:
    path = write_pcap(tmp_path / "a.pcap", [Record(0, bytes(65535)), *PACKETS])
    assert len(scan(open_capture(path)).offsets) == 6
    path.write_bytes(file_header() + record(Record(0, bytes(262_144)), snaplen=262_144))
    assert len(scan(open_capture(path)).offsets) == 1


def test_a_capture_cut_at_any_byte_is_read_up_to_the_cut(tmp_path: Path) -> None:
    whole = pcap(PACKETS)
    ends = [24]
    for packet in PACKETS:
        ends.append(ends[-1] + 16 + len(packet.frame))
    path = tmp_path / "cut.pcap"
    for size in range(24, len(whole) + 1):
        path.write_bytes(whole[:size])
        capture = open_capture(path)
        found = scan(capture)
        before = [end for end in ends if end <= size]
        assert found.offsets.tolist() == ends[: len(before) - 1]
        assert found.end == before[-1]
        assert found.truncated == (size not in ends)
        assert len(decode(capture, found.offsets).time) == len(before) - 1
    for size in range(24):
        path.write_bytes(whole[:size])
        assert str(path) in complaint(path)


@settings(max_examples=50, deadline=None)
@given(sizes=st.lists(st.integers(0, 300), max_size=40), data=st.data())
def test_parts_of_a_file_hold_the_same_records_as_the_whole(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.pcap"
    capture = open_capture(write_pcap(path, [Record(0, bytes(size)) for size in sizes]))
    whole = scan(capture)
    borders = [*whole.offsets.tolist(), whole.end]
    cut = data.draw(st.sampled_from(borders))
    before, after = scan(capture, stop=cut), scan(capture, start=cut)
    assert [*before.offsets, *after.offsets] == whole.offsets.tolist()
    assert (before.end, before.truncated) == (cut, False)
    assert (after.end, after.truncated) == (whole.end, False)


def test_there_is_no_limit_to_the_number_of_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = open_capture(write_pcap(tmp_path / "a.pcap", PACKETS * 20))
    whole = scan(capture)
    assert len(whole.offsets) == 100
    for chunk in (1, 7, 99, 100, 101):
        monkeypatch.setattr(records, "_CHUNK", chunk)
        parted = scan(capture)
        assert parted.offsets.tolist() == whole.offsets.tolist()
        assert parted[1:] == whole[1:]


def test_random_bytes_behind_a_file_header_end_in_records_or_in_a_sentence(tmp_path: Path) -> None:
    rng = random.Random(1)
    path = tmp_path / "noise.pcap"
    for _ in range(300):
        noise = bytes(rng.choice((0, 0, 0, rng.randrange(256))) for _ in range(rng.randrange(400)))
        path.write_bytes(file_header() + noise)
        capture = open_capture(path)
        with suppress(CaptureError):
            offsets = scan(capture).offsets
            assert np.all(np.diff(offsets) >= 16)
            decode(capture, offsets)
