"""Each message and each packet is counted once, whatever was captured of it."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from analysis.addresses import broker_of, device_of
from analysis.captures.messages import MESSAGES, PACKETS
from analysis.placing import Coverage, placed, share_headers

BOTH = Coverage(3, paired=True, both_views=True)
ONE = Coverage(3, paired=False, both_views=False)
ROUTERS_ONE = Coverage(3, paired=False, both_views=True)

NOTHING = np.array([], "i8")


def row(capture: str, source: str, target: str, ports: tuple[int, int] = (7472, 7472)) -> Any:
    device = device_of(capture)
    assert device is not None
    node = int(device.node[1:]) if device.node[0] == "b" else -1
    ends = [broker_of(address, capture) for address in (source, target)]
    direction = "out" if ends[0] == node else "in" if ends[1] == node else "passing"
    return {
        "capture": capture, "connection": 0, "direction": direction, "time": 1, "length": 100,
        "source_address": source, "target_address": target,
        "source_port": ports[0], "target_port": ports[1], "protocol": "udp",
        "type": 5, "origin": 0, "sequence": 1, "first_time": 1, "role": "datagram",
        "link_header": 2, "ip_header": 20, "transport_header": 8,
    }  # fmt: skip


def place(seen: Any, coverage: Coverage, publications: Any = NOTHING) -> tuple[Any, Any]:
    tables = [pa.Table.from_pylist([seen], schema) for schema in (MESSAGES, PACKETS)]
    messages, packets = placed(tables[0], tables[1], coverage, publications)
    return messages.to_pylist()[0], packets.to_pylist()[0]


NODE = {broker: f"10.0.0.{broker + 1}" for broker in range(4)}


@pytest.mark.parametrize(
    ("capture", "source", "target", "coverage", "counted", "arrived", "line", "crossing"),
    [
        # a link between 0 and 1, captured at both ends
        ("b0-b1", "10.128.0.1", "10.128.0.2", BOTH, True, False, ("b0", "b1", True), True),
        ("b1-b0", "10.128.0.1", "10.128.0.2", BOTH, False, True, ("b0", "b1", True), False),
        # the same at the lower end only: the way back is counted where it arrives
        ("b0-b1", "10.128.0.1", "10.128.0.2", ONE, True, True, ("b0", "b1", True), True),
        ("b0-b1", "10.128.0.2", "10.128.0.1", ONE, True, True, ("b1", "b0", True), True),
        # unicast from 0 to 2 by 1: the first line
        ("b0-b1", NODE[0], NODE[2], BOTH, True, False, ("b0", "b1", True), True),
        ("b1-b0", NODE[0], NODE[2], BOTH, False, False, ("b0", "b1", True), False),
        ("b0-b1", NODE[0], NODE[2], ONE, True, True, ("b0", "b1", True), True),
        # the second line
        ("b1-b2", NODE[0], NODE[2], BOTH, False, False, ("b1", "b2", True), True),
        ("b2-b1", NODE[0], NODE[2], BOTH, False, True, ("b1", "b2", True), False),
        ("b1-b2", NODE[0], NODE[2], ONE, False, False, ("b1", "b2", True), True),
        # a line between two routers: nobody can tell the direction, the lower end counts
        ("r3-r20", NODE[0], NODE[2], BOTH, False, False, ("r3", "r20", False), True),
        ("r20-r3", NODE[0], NODE[2], BOTH, False, False, ("r3", "r20", False), False),
        ("r3-r20", NODE[0], NODE[2], ROUTERS_ONE, False, False, ("r3", "r20", False), True),
        # a broker's line to its router
        ("b2-r3", NODE[0], NODE[2], ROUTERS_ONE, False, True, ("r3", "b2", True), True),
        ("r3-b2", NODE[0], NODE[2], BOTH, False, False, ("r3", "b2", True), True),
        ("b2-r3", NODE[0], NODE[2], BOTH, False, True, ("r3", "b2", True), False),
        # latencies between hosts: a host's line leads to everyone
        ("b0", NODE[0], NODE[2], BOTH, True, False, ("b0", None, True), True),
        ("b2", NODE[0], NODE[2], BOTH, False, True, (None, "b2", True), False),
    ],
)
def test_what_a_row_stands_for(
    capture: str, source: str, target: str, coverage: Coverage, counted: bool, arrived: bool,
    line: tuple[str | None, str | None, bool], crossing: bool,
) -> None:  # fmt: skip
    message, packet = place(row(capture, source, target), coverage)
    assert (message["counted"], message["arrived"]) == (counted, arrived)
    assert (packet["a"], packet["b"], packet["directed"]) == line
    assert (packet["counted"], packet["departure"]) == (crossing, counted)
    assert message["crossed"] == crossing


def test_every_crossing_of_a_line_is_counted_once() -> None:
    for source, target in ((0, 2), (2, 0), (1, 2), (0, 1), (2, 1)):
        for line in (
            ("b0-b1", "b1-b0"),
            ("b1-b2", "b2-b1"),
            ("b0-r1", "r1-b0"),
            ("r1-r2", "r2-r1"),
        ):
            seen = [place(row(end, NODE[source], NODE[target]), BOTH)[1] for end in line]
            assert [one["counted"] for one in seen].count(True) == 1
            assert len({(one["a"], one["b"]) for one in seen}) == 1


def test_channels_follow_from_ports_and_strangers_have_none() -> None:
    link, _ = place(row("b0-b1", "10.128.0.1", "10.128.0.2", (49153, 7471)), BOTH)
    unicast, _ = place(row("b0-b1", NODE[0], NODE[1]), BOTH)
    other, _ = place(row("b0-b1", NODE[0], "192.168.0.9", (53, 5353)), BOTH)
    assert [one["channel"] for one in (link, unicast, other)] == ["link", "udp", None]
    assert [(one["source"], one["target"]) for one in (link, unicast, other)] == [
        *[(0, 1), (0, 1), (0, None)]
    ]
    beyond, _ = place(row("b0-b1", NODE[0], NODE[3]), BOTH)  # there are three brokers
    assert beyond["target"] is None


def test_types_have_names_and_events_are_known_by_their_identity() -> None:
    known = np.array(sorted([0 << 32 | 1, 7 << 32 | 3]), "i8")
    event, _ = place(row("b0-b1", NODE[0], NODE[1]), BOTH, known)
    control, _ = place(row("b0-b1", NODE[0], NODE[1]) | {"sequence": 2, "type": 201}, BOTH, known)
    assert (event["name"], event["publication"]) == ("event", True)
    assert (control["name"], control["publication"]) == ("type-201", False)


def test_shared_headers_add_up() -> None:
    def table(schema: pa.Schema, *rows: dict[str, Any]) -> pa.Table:
        start = row("b0-b1", NODE[0], NODE[1])
        return pa.Table.from_pylist([start | one for one in rows], schema)

    back = {"source_address": NODE[1], "target_address": NODE[0]}
    messages = table(
        MESSAGES,
        {"time": 20, "length": 33},
        {"time": 20, "length": 33},
        {"time": 20, "length": 34},
        {"time": 30, "length": 50},
        {"time": 20, "length": 10, **back},
    )
    packets = table(
        PACKETS,
        {"time": 10},  # completes nothing: with the next
        {"time": 20},
        {"time": 30, "role": "retransmission"},  # not shared out
        {"time": 30},
        {"time": 40},  # behind the last message
        {"time": 20, **back, "transport_header": 32},
    )
    shared = share_headers(messages, packets)
    assert shared["ip_header"].to_pylist() == [13, 13, 14, 20, 20]
    assert shared["link_header"].to_pylist() == [1, 1, 2, 2, 2]
    assert shared["transport_header"].to_pylist() == [5, 5, 6, 8, 32]
