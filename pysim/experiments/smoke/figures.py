"""What a finished run cost, as a short list of whole numbers with names."""

import struct
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median_low

from pysim.experiments.manifest import Manifest

LATENCY = "latency median (ns)"

_FILE_HEADER = 24
_RECORD = struct.Struct("<IIII")  # as ns-3 writes them: seconds, nanoseconds, captured, length


def figures(manifest: Manifest, directory: Path) -> dict[str, int]:
    """The figures of a run, in an order for reading.

    `TYPE sent` and `TYPE bytes` count a message on every link that it crosses. Captured packets and
    bytes are those of all captures: a packet that is captured at both ends of a link counts twice.
    """
    packets = [length for path in _captures(manifest, directory) for length in _lengths(path)]
    return {
        **{name: number for name, number in _messages(manifest) if number},
        **{f"deliveries {kind}": number for kind, number in asdict(manifest.deliveries).items()},
        LATENCY: _median_latency(directory),
        "captured packets": len(packets),
        "captured bytes": sum(packets),
    }


def _messages(manifest: Manifest) -> Iterator[tuple[str, int]]:
    for name, total in manifest.messages.items():
        yield f"{name} sent", total.sent
        yield f"{name} bytes", total.sent_bytes
        yield f"{name} lost", total.lost_link + total.lost_packet
        yield f"{name} unfinished", total.unfinished
        yield f"{name} unserved", total.unserved
    yield "malformed messages", manifest.malformed


def _captures(manifest: Manifest, directory: Path) -> list[Path]:
    return [directory / "captures" / name for name in manifest.captures.files]


def _median_latency(directory: Path) -> int:
    """Of the deliveries that were due and came; zero if none did."""
    import pyarrow.parquet as pq  # takes longer than a small run

    table = pq.read_table(directory / "tables" / "deliveries.parquet").to_pylist()
    latencies = [row["delivered"] - row["published"] for row in table if row["kind"] == "made"]
    return median_low(latencies) if latencies else 0


def _lengths(capture: Path) -> Iterator[int]:
    """The lengths of all packets of one of our own captures, on the wire."""
    data, at = capture.read_bytes(), _FILE_HEADER
    while at < len(data):
        _, _, captured, length = _RECORD.unpack_from(data, at)
        at += _RECORD.size + captured
        yield length
