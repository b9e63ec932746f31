"""The bytes of captured frames are those that brokers sent."""

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from analysis.captures.contents import FrameKey, read_contents
from analysis.captures.messages import read_messages
from tests.analysis.captures.conversations import (
    End,
    interleaved,
    random_connection,
    write_capture,
)
from tests.analysis.runs import FLOOD, LARGE, LATENCIES, make_run


def keys(path: Path) -> set[FrameKey]:
    """What names the frames that a capture holds, by its table of messages."""
    names = list(FrameKey._fields)
    messages = read_messages(path).messages.select(names).to_pylist()
    return {FrameKey(**row) for row in messages}


@pytest.mark.parametrize("seed", range(5))
def test_streams_with_repeated_disordered_and_missing_segments_give_their_frames(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    server = End("10.128.0.2", 7471)
    each = [
        random_connection(rng, End("10.128.0.1", 49153 + number), server) for number in range(20)
    ]
    said = {
        frame.data
        for packets in each
        for packet in packets
        if packet.stream
        for frame in packet.stream.frames
    }
    packets = interleaved(rng, each)
    path = write_capture(tmp_path / "b0-b1.pcap", [packet.bytes for packet in packets])
    found = read_contents(path)
    assert set(found.values()) <= said
    assert len(found) > 50
    missed = keys(path) - set(found)
    assert len(missed) <= len(keys(path)) / 10  # streams that are not captured from their start


SENT = {
    "many in a segment": {"workload": FLOOD},
    "many segments": {"workload": LARGE},
    "datagrams": {"workload": FLOOD, "protocol__name": "test-direct", "protocol__protocol": "udp"},
    "fragments": {"workload": LARGE, "protocol__name": "test-direct", "protocol__protocol": "udp"},
    "hosts": {"workload": FLOOD, "network": LATENCIES},
}


@pytest.mark.parametrize("settings", SENT.values(), ids=SENT)
def test_captures_hold_the_frames_that_the_other_network_logs(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    settings = {"duration": "3 s", **settings}
    captured = make_run(tmp_path, "ns3", **settings)
    paths = sorted((captured / "captures").glob("*.pcap"))
    contents = [read_contents(path) for path in paths]
    assert [set(found) for found in contents] == [keys(path) for path in paths]
    settings.pop("network", None)
    logged = make_run(tmp_path, "memory", network__backend="memory", measure=["frames"], **settings)
    frames = pq.read_table(logged / "tables" / "frames.parquet")["frame"].to_pylist()
    assert {frame for found in contents for frame in found.values()} == set(frames)
