"""Packets are read as they were made: against scapy, dpkt and tshark, whole, cut and damaged."""

import os
import random
import shutil
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pytest

from analysis.captures.arrow import addresses
from analysis.captures.decode import Packets, decode, payloads
from analysis.captures.records import CaptureFile, open_capture, scan
from tests.analysis.captures import samples
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
    udp,
    write_pcap,
)
from tests.analysis.captures.samples import Sample
from tests.wireshark.reading import require_tshark

ROOT = Path(__file__).parents[3]
ABSENT = {"ip": 0, "source": "", "target": "", "fragment": False, "payload": b""}
ABSENT |= dict.fromkeys(("link_header", "ip_header", "transport_header"), 0)
"""What a field is where there is nothing to read; -1 in all others."""
AT_TRANSPORT = {"source_port": 4, "target_port": 4, "sequence": 8, "acknowledgment": 12}
AT_TRANSPORT |= {"flags": 14, "window": 16}
"""By field: so many bytes of the transport header must be there."""


def read(path: Path) -> tuple[CaptureFile, Packets]:
    capture = open_capture(path)
    return capture, decode(capture, scan(capture).offsets)


def read_one(
    directory: Path, frame: bytes, link_type: int = PPP, length: int | None = None
) -> dict[str, Any]:
    """The fields of a single packet, as Python numbers."""
    _, packets = read(write_pcap(directory / "one.pcap", [Record(0, frame, length)], link_type))
    return {name: column[0].item() for name, column in packets._asdict().items()}


def as_samples(capture: CaptureFile, packets: Packets) -> Iterable[dict[str, Any]]:
    """What was decoded, in the terms of a sample."""
    ends, content = payloads(capture, packets)
    sources = addresses(packets.ip, packets.source_high, packets.source_low).to_pylist()
    targets = addresses(packets.ip, packets.target_high, packets.target_low).to_pylist()
    for row in range(len(packets.time)):
        read = {name: column[row].item() for name, column in packets._asdict().items()}
        read |= {"source": sources[row] or "", "target": targets[row] or ""}
        start = read["payload_offset"]
        kept = capture.data[start : start + read["payload_captured"]].tobytes()
        assert content[ends[row] : ends[row + 1]].tobytes() == kept
        yield read | {"payload": kept, "payload_length": read["payload"]}


def expected(sample: Sample, kept: int) -> dict[str, Any]:
    """What must be read of a sample of which so many bytes were captured."""
    whole = {field.name: getattr(sample, field.name) for field in fields(sample)}
    del whole["frame"], whole["link_type"]
    at_transport = sample.link_header + sample.ip_header
    at_payload = at_transport + sample.transport_header
    least = {4: 20, 6: 40}.get(sample.ip, 0)
    if kept < sample.link_header or kept < sample.link_header + least:
        found = {name: ABSENT.get(name, -1) for name in whole} | {"payload_length": 0}
        return found | {"link_header": sample.link_header * (kept >= sample.link_header)}
    found = whole | {"payload": sample.payload[: max(0, kept - at_payload)]}
    found["payload_length"] = len(sample.payload)
    for name, needed in AT_TRANSPORT.items():
        if kept < at_transport + needed:
            found[name] = -1
    if sample.transport_header >= 20 and kept < at_transport + 14:  # TCP's data offset is not there
        found |= {"transport_header": 0, "payload": b"", "payload_length": 0}
    return found


def is_in_extensions(sample: Sample, kept: int) -> bool:
    """Cut between the IPv6 header and its end: how far it gets depends on the extensions."""
    start = sample.link_header + 40
    return sample.ip == 6 and start <= kept < sample.link_header + sample.ip_header


def captures_of(made: list[Sample], rng: random.Random, directory: Path) -> Iterable[tuple]:
    """The samples in captures of all flavours: path, samples, snaplen."""
    by_link_type = defaultdict(list)
    for sample in made:
        by_link_type[sample.link_type].append(sample)
    for link_type, group in by_link_type.items():
        for number, start in enumerate(range(0, len(group), 20)):
            snaplen = rng.choice((65535, 65535, rng.randrange(100), rng.randrange(200)))
            records = [Record(n, sample.frame) for n, sample in enumerate(group)][start:][:20]
            path = directory / f"{link_type}-{number}.pcap"
            options = {"big_endian": rng.random() < 0.5, "nanoseconds": rng.random() < 0.5}
            path.write_bytes(pcap(records, link_type, snaplen=snaplen, **options))
            yield path, group[start : start + 20], snaplen


@cache
def random_samples(seed: int) -> list[Sample]:
    rng = random.Random(seed)
    return [samples.sample(rng) for _ in range(1000)] + [samples.arp()] * 3


@pytest.mark.parametrize("seed", [1, 2])
def test_random_packets_are_read_as_they_were_made(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    made = random_samples(seed)
    checked = cut = 0
    for path, group, snaplen in captures_of(made, rng, tmp_path):
        for sample, found in zip(group, as_samples(*read(path)), strict=True):
            kept = min(len(sample.frame), snaplen)
            assert (found["captured"], found["length"]) == (kept, len(sample.frame))
            if is_in_extensions(sample, kept):
                assert found["ip"] == 6
                assert found["ip_header"] <= sample.ip_header
                assert found["source"] == sample.source
                assert found["protocol"] in (-1, sample.protocol)
                assert found["payload"] == b""
                cut += 1
                continue
            wanted = expected(sample, kept)
            assert {name: found[name] for name in wanted} == wanted, sample
            checked += 1
    assert checked > 900
    assert cut > 5


def test_every_cut_of_a_packet_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    rng = random.Random(3)
    for number in range(40):
        sample = samples.sample(rng)
        cuts = range(min(len(sample.frame), 180) + 1)
        records = [Record(0, sample.frame[:kept], len(sample.frame)) for kept in cuts]
        path = write_pcap(tmp_path / f"{number}.pcap", records, sample.link_type)
        for kept, found in zip(cuts, as_samples(*read(path)), strict=True):
            if not is_in_extensions(sample, kept):
                wanted = expected(sample, kept)
                assert {name: found[name] for name in wanted} == wanted, (sample, kept)


def test_dpkt_reads_the_same(tmp_path: Path) -> None:
    """Another reader of the same bytes, for what it can read: whole packets, not PPP."""
    rng = random.Random(4)
    everything = random_samples(1) + random_samples(2)
    made = [sample for sample in everything if sample.link_type in (ETHERNET, RAW) and sample.ip]
    compared = 0
    for path, group, snaplen in captures_of(made, rng, tmp_path):
        if snaplen < 65535:
            continue
        with path.open("rb") as file:
            frames = [frame for _, frame in dpkt.pcap.Reader(file)]
        _, packets = read(path)
        for row, (sample, frame) in enumerate(zip(group, frames, strict=True)):
            compared += compare_with_dpkt(packets, row, frame, sample.link_type)
    assert compared > 150


def compare_with_dpkt(packets: Packets, row: int, frame: bytes, link_type: int) -> bool:
    version = packets.ip[row]
    if link_type == ETHERNET:
        ip = dpkt.ethernet.Ethernet(frame).data
    else:
        ip = dpkt.ip.IP(frame) if version == 4 else dpkt.ip6.IP6(frame)
    size = 4 if version == 4 else 16
    for end, packed in (("source", ip.src), ("target", ip.dst)):
        parts = (int(getattr(packets, f"{end}_{half}")[row]) for half in ("high", "low"))
        high, low = parts
        assert (high << 64 | low).to_bytes(size, "big") == packed
    if packets.fragment[row] and version == 6:  # dpkt takes some of them for whole
        return False
    transport = ip.data
    if isinstance(transport, dpkt.tcp.TCP):
        assert packets.protocol[row] == 6
        assert packets.sequence[row] == transport.seq
        assert packets.acknowledgment[row] == transport.ack
        assert packets.flags[row] & 0xFF == transport.flags & 0xFF
        assert packets.window[row] == transport.win
        assert packets.transport_header[row] == 20 + len(transport.opts)
    elif not isinstance(transport, dpkt.udp.UDP):
        return False
    assert packets.source_port[row] == transport.sport
    assert packets.target_port[row] == transport.dport
    assert packets.payload[row] == len(transport.data)
    return True


class TestOddPackets:
    """Single packets in which something is unusual or wrong."""

    def test_padding_is_not_payload(self, tmp_path: Path) -> None:
        frame = bytes(12) + b"\x08\x00" + ipv4(tcp(b"abc"))
        found = read_one(tmp_path, frame + bytes(60), ETHERNET)
        assert (found["payload"], found["payload_captured"]) == (3, 3)

    def test_a_length_beyond_the_frame_ends_with_the_frame(self, tmp_path: Path) -> None:
        packet = bytearray(ipv4(udp(b"abc"), protocol=17))
        packet[2:4] = struct.pack(">H", 9000)
        found = read_one(tmp_path, ppp(packet))
        assert (found["payload"], found["payload_captured"]) == (3, 3)

    def test_without_a_length_the_packet_is_as_long_as_the_frame(self, tmp_path: Path) -> None:
        packet = bytearray(ipv4(tcp(b"abc")))
        packet[2:4] = bytes(2)
        assert read_one(tmp_path, ppp(packet))["payload"] == 3

    def test_a_length_below_the_header_leaves_no_transport(self, tmp_path: Path) -> None:
        packet = bytearray(ipv4(tcp(b"abc")))
        packet[2:4] = struct.pack(">H", 19)
        found = read_one(tmp_path, ppp(packet))
        assert (found["ip"], found["ip_header"], found["protocol"]) == (4, 20, 6)
        assert (found["source_port"], found["transport_header"], found["payload"]) == (-1, 0, 0)

    @pytest.mark.parametrize("first", [0x44, 0x05, 0x65, 0xF5])
    def test_a_wrong_version_or_header_length_is_not_ip(self, tmp_path: Path, first: int) -> None:
        packet = bytes([first]) + ipv4(tcp(b"abc"))[1:]
        found = read_one(tmp_path, b"\x00\x21" + packet)
        assert (found["ip"], found["protocol"], found["link_header"]) == (0, -1, 2)
        assert (found["ip_header"], found["payload"]) == (0, 0)

    @pytest.mark.parametrize("size", [0, 4, 16, 60])
    def test_a_tcp_header_of_impossible_size_has_no_payload(
        self, tmp_path: Path, size: int
    ) -> None:
        segment = bytearray(tcp(b"abc", sequence=7))
        segment[12] = size // 4 << 4
        found = read_one(tmp_path, ppp(ipv4(bytes(segment))))
        assert (found["sequence"], found["transport_header"], found["payload"]) == (7, 0, 0)

    def test_ppp_that_carries_something_else_is_not_ip(self, tmp_path: Path) -> None:
        found = read_one(tmp_path, b"\xc0\x21" + ipv4(tcp(b"abc")))
        assert (found["ip"], found["link_header"], found["payload"]) == (0, 2, 0)

    def test_raw_ipv4_is_not_ipv6(self, tmp_path: Path) -> None:
        packet = ipv4(tcp(b"abc"))
        assert read_one(tmp_path, packet, 228)["ip"] == 4
        assert read_one(tmp_path, packet, 229)["ip"] == 0

    def test_endless_tags_of_vlans_are_given_up(self, tmp_path: Path) -> None:
        found = read_one(tmp_path, bytes(12) + b"\x81\x00\x00\x01" * 1000, ETHERNET)
        assert (found["ip"], found["link_header"]) == (0, 0)

    def test_endless_extension_headers_are_given_up(self, tmp_path: Path) -> None:
        extension = bytes([60, 255]) + bytes(2046)
        content = extension * 30
        packet = struct.pack(">IHBB", 6 << 28, len(content), 60, 64) + bytes(32) + content
        found = read_one(tmp_path, packet, RAW)
        assert (found["ip"], found["protocol"], found["payload"]) == (6, -1, 0)
        assert 0 < found["ip_header"] <= 0x7FFF

    def test_a_jumbogram_is_as_long_as_its_frame(self, tmp_path: Path) -> None:
        hop_by_hop = bytes([17, 0, 0xC2, 4]) + struct.pack(">I", 8 + 8 + 70_000)
        packet = struct.pack(">IHBB", 6 << 28, 0, 0, 64) + bytes(32) + hop_by_hop
        found = read_one(tmp_path, packet + udp(b"")[:6] + bytes(2) + bytes(70_000), RAW)
        assert (found["ip_header"], found["payload"]) == (48, 70_000)

    def test_nothing_follows_where_ipv6_says_so(self, tmp_path: Path) -> None:
        packet = struct.pack(">IHBB", 6 << 28, 0, 59, 64) + bytes(32)
        found = read_one(tmp_path, bytes(12) + b"\x86\xdd" + packet + bytes(6), ETHERNET)
        assert (found["ip"], found["protocol"], found["payload"]) == (6, 59, 0)

    def test_offsets_that_are_no_records_are_refused(self, tmp_path: Path) -> None:
        capture = open_capture(write_pcap(tmp_path / "a.pcap", [Record(0, bytes(40))]))
        for offset in (-1, len(capture.data) - 15):
            with pytest.raises(ValueError, match="no records at these offsets"):
                decode(capture, np.array([offset]))


def test_a_packet_is_read_from_its_own_bytes_alone(tmp_path: Path) -> None:
    """Whatever stands around a record, damaged or not, it decodes to the same."""
    rng = random.Random(5)
    by_link_type = defaultdict(list)
    for sample in (random_samples(1) + random_samples(2)) * 2:
        frame = bytes(mutated(sample.frame[: rng.randrange(120)], rng))
        by_link_type[sample.link_type].append(record(Record(5, frame)))
    for link_type, records in by_link_type.items():
        found = []
        for filling in (b"\x00", b"\x45", b"\xff"):
            between = filling * 300
            path = tmp_path / f"{link_type}-{filling.hex()}.pcap"
            path.write_bytes(file_header(link_type) + between + between.join(records) + between)
            sizes = np.array([len(content) for content in records]) + 300
            offsets = 24 + 300 + np.concatenate([[0], np.cumsum(sizes)[:-1]])
            found.append(decode(open_capture(path), offsets))
        for name, *columns in zip(Packets._fields, *found, strict=True):
            assert np.array_equal(columns[0], columns[1]), name
            assert np.array_equal(columns[0], columns[2]), name


def mutated(frame: bytes, rng: random.Random) -> bytearray:
    changed = bytearray(frame)
    for _ in range(rng.choice((0, 1, 1, 2, 10))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0xFF, rng.randrange(256)))
    return changed


def fuzz(directory: Path, rounds: int) -> None:
    """Decode mutated packets; the sizes found must fit together and into the packet."""
    rng = random.Random(6)
    made = random_samples(3)
    for link_type in {sample.link_type for sample in made}:
        frames = [sample.frame for sample in made if sample.link_type == link_type]
        for number in range(rounds):
            chosen = [
                Record(0, bytes(mutated(rng.choice(frames)[: rng.randrange(1, 400)], rng)))
                for _ in range(200)
            ]
            path = write_pcap(directory / f"{link_type}-{number}.pcap", chosen, link_type)
            capture, packets = read(path)
            payloads(capture, packets)
            headers = packets.link_header.astype(int) + packets.ip_header + packets.transport_header
            cut = packets.captured < packets.link_header.astype(int) + packets.ip_header
            assert np.all((headers + packets.payload <= packets.length) | cut)
            assert np.all(packets.payload_captured <= packets.payload)
            assert np.all(packets.payload_captured >= 0)
            assert np.all(packets.payload_offset + packets.payload_captured <= len(capture.data))


def test_damaged_packets_never_make_it_read_outside(tmp_path: Path) -> None:
    """The loops check their bounds for this: in a process of its own, with a cache of its own."""
    code = "import sys, pathlib; from tests.analysis.captures.test_decode import fuzz; "
    code += "fuzz(pathlib.Path(sys.argv[1]), 8)"
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run(
        [sys.executable, "-c", code, tmp_path], cwd=ROOT, env=os.environ | checked, check=True
    )


ELSEWHERE = """import sys
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__name__.startswith("Scikit")]
from analysis.captures import decode
from analysis.captures.records import open_capture, scan
capture = open_capture(sys.argv[1])
print(decode.__file__, decode.decode(capture, scan(capture).offsets).payload)"""
"""Decodes with an `analysis` of the PYTHONPATH, not with the one that is installed."""


def decode_elsewhere(site: Path, home: Path) -> str:
    path = write_pcap(site.parent / "a.pcap", [Record(0, ppp(ipv4(tcp(b"abc"))))])
    places = {"XDG_CACHE_HOME": str(home), "HOME": str(home), "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", ELSEWHERE, path]
    environment = os.environ | places
    return subprocess.run(
        command, cwd=site.parent, env=environment, check=True, capture_output=True, text=True
    ).stdout


def test_without_a_place_for_its_cache_the_decoder_still_works(tmp_path: Path) -> None:
    """A read-only installation of a user without a home."""
    site = tmp_path / "site"
    shutil.copytree(ROOT / "analysis", site / "analysis", ignore=lambda *_: ["__pycache__"])
    for directory in [site, *site.rglob("*/")]:
        (directory / "__pycache__").write_text("a file: nothing can be written into it")
    told = decode_elsewhere(site, Path("/dev/null"))
    assert told == f"{site / 'analysis' / 'captures' / 'decode.py'} [3]\n"


def test_the_decoder_works_from_an_archive(tmp_path: Path) -> None:
    """As Spark ships it to the workers of a cluster."""
    archive = shutil.make_archive(str(tmp_path / "pysim"), "zip", ROOT, "analysis")
    told = decode_elsewhere(Path(archive), tmp_path)
    assert told == f"{archive}/analysis/captures/decode.py [3]\n"


def read_by_tshark(path: Path, names: Sequence[str]) -> list[list[str]]:
    require_tshark()
    settings = ("ip.defragment", "ipv6.defragment", "tcp.desegment_tcp_streams")
    command = [
        "tshark",
        "-r",
        path,
        "-n",
        "-T",
        "fields",
        "-E",
        "occurrence=f",
        "-E",
        "separator=,",
    ]
    command += [part for name in settings for part in ("-o", f"{name}:FALSE")]
    command += [part for name in names for part in ("-e", name)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split(",") for line in told.splitlines()]


TSHARK_FIELDS = {
    "frame.time_epoch": lambda packets: [
        f"{time // 10**9}.{time % 10**9:09}" for time in packets.time.tolist()
    ],
    "frame.len": lambda packets: packets.length,
    "tcp.srcport": lambda packets: np.where(packets.protocol == 6, packets.source_port, -1),
    "tcp.dstport": lambda packets: np.where(packets.protocol == 6, packets.target_port, -1),
    "tcp.seq_raw": lambda packets: packets.sequence,
    "tcp.ack_raw": lambda packets: packets.acknowledgment,
    "tcp.window_size_value": lambda packets: packets.window,
    "tcp.hdr_len": lambda packets: np.where(
        packets.transport_header >= 20, packets.transport_header, -1
    ),
    "tcp.len": lambda packets: np.where(packets.transport_header >= 20, packets.payload, -1),
    "udp.srcport": lambda packets: np.where(packets.protocol == 17, packets.source_port, -1),
    "udp.dstport": lambda packets: np.where(packets.protocol == 17, packets.target_port, -1),
}
"""By field of tshark, our reading of the same; -1 is what tshark leaves empty."""


def compare_with_tshark(path: Path) -> int:
    _, packets = read(path)
    told = read_by_tshark(path, [*TSHARK_FIELDS, "tcp.flags", *ADDRESSES])
    assert len(told) == len(packets.time)
    columns = list(zip(*told, strict=True))
    for (name, ours), theirs in zip(TSHARK_FIELDS.items(), columns, strict=False):
        wanted = [text if "." in text else int(text or -1) for text in theirs]
        assert list(ours(packets)) == wanted, name
    flags = [int(text, 16) & 0x1FF if text else -1 for text in columns[len(TSHARK_FIELDS)]]
    assert packets.flags.tolist() == flags
    v4_source, v4_target, v6_source, v6_target = columns[len(TSHARK_FIELDS) + 1 :]
    source = addresses(packets.ip, packets.source_high, packets.source_low).to_pylist()
    target = addresses(packets.ip, packets.target_high, packets.target_low).to_pylist()
    assert source == [v4 or v6 or None for v4, v6 in zip(v4_source, v6_source, strict=True)]
    assert target == [v4 or v6 or None for v4, v6 in zip(v4_target, v6_target, strict=True)]
    return len(told)


ADDRESSES = ("ip.src", "ip.dst", "ipv6.src", "ipv6.dst")


@pytest.mark.parametrize("link_type", [ETHERNET, PPP, RAW])
def test_tshark_reads_random_packets_the_same(tmp_path: Path, link_type: int) -> None:
    made = random_samples(1) + random_samples(2)
    wanted = [sample for sample in made if sample.link_type == link_type and not sample.fragment]
    frames = [sample.frame for sample in wanted]
    records = [Record(n * 1_234_567_891, frame) for n, frame in enumerate(frames)]
    assert compare_with_tshark(write_pcap(tmp_path / "a.pcap", records, link_type)) > 80


def test_tshark_reads_captures_of_a_run_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pysim", "run", "experiments/first.toml", "--quiet", "--out"]
    subprocess.run([*command, tmp_path / "run"], cwd=ROOT, check=True)
    captures = sorted((tmp_path / "run" / "captures").glob("*.pcap"))
    largest = sorted(captures, key=lambda path: path.stat().st_size)[-3:]
    assert sum(compare_with_tshark(path) for path in largest) > 30
