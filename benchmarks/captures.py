"""Measures how fast captures are read: ``python -m benchmarks.captures`` for these rows alone.

All readers get the same capture of a million packets, each in a process of its own that is kept on
one core, and what counts is packets per second of CPU time, over all its processes: with Spark
these are Java and the Python workers, not only the one that waits. Every reader takes its turn,
several times, and its calmest turn counts.

Spark reads the capture many times in one session, all columns, into nowhere; its calmest reading
counts, since Java compiles what is hot while it works. The first reading is told beside it.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import Row, at_least

ROOT = Path(__file__).parents[1]
PACKETS = 1_000_000
PAYLOAD = 200
SCAPY_PACKETS = 20_000
READINGS = 12
HOSTS = 400
TICKS = os.sysconf("SC_CLK_TCK")

TSHARK_FIELDS = ("frame.time_epoch", "ip.src", "ip.dst", "tcp.srcport", "tcp.dstport")
TSHARK_FIELDS += ("tcp.seq_raw", "tcp.len")
TSHARK_OFF = ("ip.defragment", "tcp.desegment_tcp_streams", "tcp.analyze_sequence_numbers")
TSHARK_OFF += ("tcp.calculate_timestamps", "tcp.track_bytes_in_flight")


def write_capture(path: Path, packets: int = PACKETS) -> None:
    """A capture as ns-3 writes it: PPP, IPv4, TCP, 200 bytes of payload; always the same bytes."""
    header = np.array([0xA1B23C4D, 0x00040002, 0, 0, 65535, 9], "<u4")
    with path.open("wb") as file:
        file.write(header.tobytes())
        for first in range(0, packets, 50_000):
            numbers = np.arange(first, min(first + 50_000, packets), dtype=np.int64)
            _records(numbers).tofile(file)


def _records(numbers: np.ndarray) -> np.ndarray:
    size = 2 + 20 + 20 + PAYLOAD
    layout = {
        "record": [("seconds", "<u4"), ("rest", "<u4"), ("captured", "<u4"), ("length", "<u4")],
        "ppp": [("protocol", ">u2")],
        "ip": [("version", "u1"), ("tos", "u1"), ("total", ">u2"), ("id", ">u2"), ("frag", ">u2")],
        "ip2": [("ttl", "u1"), ("kind", "u1"), ("check", ">u2"), ("from", ">u4"), ("to", ">u4")],
        "tcp": [("source", ">u2"), ("target", ">u2"), ("sequence", ">u4"), ("ack", ">u4")],
        "tcp2": [("offset", "u1"), ("flags", "u1"), ("window", ">u2"), ("rest", ">u4")],
        "payload": [("bytes", "u1", PAYLOAD)],
    }
    records = np.zeros(len(numbers), list(layout.items()))
    time, pair = numbers * 1000, numbers * 7919 % HOSTS
    records["record"]["seconds"] = 1_700_000_000 + time // 1_000_000_000
    records["record"]["rest"] = time % 1_000_000_000
    records["record"]["captured"] = records["record"]["length"] = size
    records["ppp"]["protocol"] = 0x21
    records["ip"]["version"] = 0x45
    records["ip"]["total"] = size - 2
    records["ip2"]["ttl"], records["ip2"]["kind"] = 64, 6
    records["ip2"]["from"] = 0x0A800001 + 4 * pair
    records["ip2"]["to"] = 0x0A800002 + 4 * pair
    records["tcp"]["source"], records["tcp"]["target"] = 40_000 + pair, 39_999
    records["tcp"]["sequence"] = numbers * PAYLOAD % 2**32
    records["tcp"]["ack"] = 1 + numbers % 1000
    records["tcp2"]["offset"], records["tcp2"]["flags"] = 0x50, 0x18
    records["tcp2"]["window"] = 65535
    pattern = numbers.astype(np.uint8)[:, None] + np.arange(PAYLOAD, dtype=np.uint8)
    records["payload"]["bytes"] = pattern
    return records


def read_with_dpkt(path: Path) -> dict[str, float]:
    import dpkt

    count, begin = 0, time.process_time()
    with path.open("rb") as file:
        for moment, frame in dpkt.pcap.Reader(file):
            ip = dpkt.ip.IP(frame[2:])  # its own PPP class does not know these frames
            tcp = ip.data
            _ = (moment, len(frame), socket.inet_ntoa(ip.src), socket.inet_ntoa(ip.dst), ip.p)
            _ = (tcp.sport, tcp.dport, tcp.seq, tcp.ack, tcp.flags, tcp.win, len(tcp.data))
            count += 1
    return {"speed": count / (time.process_time() - begin), "packets": count}


def read_with_scapy(path: Path) -> dict[str, float]:
    from scapy.layers.inet import IP, TCP
    from scapy.utils import RawPcapReader

    count, begin = 0, time.process_time()
    with RawPcapReader(str(path)) as reader:
        for frame, moment in islice(reader, SCAPY_PACKETS):
            ip = IP(frame[2:])
            tcp = ip[TCP]
            _ = (moment.sec, len(frame), ip.src, ip.dst, ip.proto, tcp.sport, tcp.dport)
            _ = (tcp.seq, tcp.ack, tcp.flags, tcp.window, len(tcp.payload))
            count += 1
    return {"speed": count / (time.process_time() - begin), "packets": count}


def read_with_tshark(path: Path) -> dict[str, float]:
    command = ["tshark", "-r", str(path), "-n", "-T", "fields"]
    command += [word for name in TSHARK_OFF for word in ("-o", f"{name}:FALSE")]
    command += [word for name in TSHARK_FIELDS for word in ("-e", name)]
    with tempfile.TemporaryDirectory() as home:  # plugins of the user play no part
        environment = os.environ | {"HOME": home, "XDG_CONFIG_HOME": home}
        before = os.times()
        told = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    count = told.count(b"\n")
    return {"speed": count / spent, "packets": count}


def read_into_arrow(path: Path) -> dict[str, float]:
    from analysis.captures.arrow import read_part
    from analysis.captures.files import survey

    readings = []
    for _ in range(READINGS):
        begin = time.process_time()
        count = sum(batch.num_rows for part in survey(path).parts for batch in read_part(part))
        readings.append(time.process_time() - begin)
    return {"speed": count / min(readings), "first": count / readings[0], "packets": count}


def read_with_spark(path: Path) -> dict[str, float]:
    """Read with as many tasks at once as there are cores to run on."""
    from analysis.captures.source import JAVA_OPTIONS
    from analysis.session import open_session

    cores = len(os.sched_getaffinity(0))
    settings = {"spark.driver.defaultJavaOptions": JAVA_OPTIONS}
    with open_session(f"local[{cores}]", small=False, **settings) as spark:
        packets = spark.read.format("pcap").load(str(path))
        family, readings = Family(), []
        for _ in range(READINGS):
            wall, spent = time.perf_counter(), family.cpu_seconds()
            packets.write.format("noop").mode("overwrite").save()
            readings.append((family.cpu_seconds() - spent, time.perf_counter() - wall))
        count = packets.count()
    return {
        "speed": count / min(spent for spent, _ in readings),
        "first": count / readings[0][0],
        "wall": min(wall for _, wall in readings),
        "packets": count,
    }


class Family:
    """CPU time of this process and of all that descend from it.

    Spark ends workers that have nothing to do; what a process had spent when it was last seen still
    counts, and it was idle when it ended.
    """

    def __init__(self) -> None:
        self._spent: dict[tuple[int, str], float] = {}

    def cpu_seconds(self) -> float:
        children: dict[int, list[int]] = {}
        seen: dict[int, tuple[str, float]] = {}
        for process, parent, birth, seconds in _processes():
            children.setdefault(parent, []).append(process)
            seen[process] = birth, seconds
        family = [os.getpid()]
        for process in family:
            family += children.get(process, [])
            birth, seconds = seen[process]
            self._spent[process, birth] = seconds
        return sum(self._spent.values())


def _processes() -> Iterator[tuple[int, int, str, float]]:
    """Every process: its number, its parent's, when it was born, and its CPU seconds."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            spent = (int(fields[11]) + int(fields[12])) / TICKS
            yield int(entry.name), int(fields[1]), fields[19], spent


READERS: dict[str, Callable[[Path], dict[str, float]]] = {
    "dpkt": read_with_dpkt,
    "scapy": read_with_scapy,
    "tshark": read_with_tshark,
    "arrow": read_into_arrow,
    "spark": read_with_spark,
}


def rows(rounds: int) -> Iterable[Row]:
    """All of it, for the table of `make bench`."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "million.pcap")
        write_capture(path)
        yield from _compare(path, rounds)


def _compare(path: Path, rounds: int) -> Iterable[Row]:
    cases = [(name, 1) for name in READERS] + [("spark", 2)]
    best: dict[tuple[str, int], dict[str, float]] = {}
    for number in range(rounds):
        for case in cases:
            print(f"  round {number + 1} of {rounds}: captures, {case[0]}", file=sys.stderr)
            result = _measure(*case, path)
            assert result["packets"] == (SCAPY_PACKETS if case[0] == "scapy" else PACKETS), case
            best[case] = _calmer(best.get(case, result), result)
    yield from _verdict({name: best[name, 1] for name in READERS}, best["spark", 2])


def _measure(reader: str, cores: int, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.captures", reader, str(path), str(cores)]
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    result: dict[str, float] = json.loads(output)
    return result


def _calmer(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    calmest = {key: max(one[key], other[key]) for key in one}
    return calmest | ({"wall": min(one["wall"], other["wall"])} if "wall" in one else {})


def _verdict(one_core: dict[str, dict[str, float]], two: dict[str, float]) -> Iterable[Row]:
    speeds = {name: result["speed"] for name, result in one_core.items()}
    unit = "packets per CPU second"
    note = {"scapy": f" (the first {SCAPY_PACKETS:,} packets)", "tshark": " (-T fields)"}
    for name in ("dpkt", "tshark", "scapy"):
        yield Row(f"captures: {name}{note.get(name, '')}", speeds[name], unit)
    yield Row("captures: into Arrow rows", speeds["arrow"], unit)
    yield Row("captures: through Spark, all columns", speeds["spark"], unit)
    yield Row("captures: through Spark, first reading", one_core["spark"]["first"], unit)
    yield at_least(
        "captures: into Arrow rows against dpkt", speeds["arrow"] / speeds["dpkt"], "x", 20
    )
    yield at_least("captures: through Spark against dpkt", speeds["spark"] / speeds["dpkt"], "x", 5)
    ratio = speeds["spark"] / speeds["tshark"]
    yield at_least("captures: through Spark against tshark", ratio, "x", 10)
    ratio = one_core["spark"]["wall"] / two["wall"]
    yield at_least("captures: Spark on two cores against one", ratio, "x", 1.6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader", choices=READERS, nargs="?", help="measure this one only")
    parser.add_argument("capture", type=Path, nargs="?")
    parser.add_argument("cores", type=int, nargs="?", default=1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.reader:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
        result: Any = READERS[options.reader](options.capture)
        print(json.dumps(result))
    else:
        for row in rows(options.rounds):
            print(f"{row.name:60} {row.value:12,.4g} {row.unit:24} {row.bar:18} {row.holds}")


if __name__ == "__main__":
    main()
