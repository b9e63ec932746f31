"""What tshark reads with the dissector is what pysim reads, message by message, field by field."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec
import networkx as nx
import pytest

from pysim.brokers import Broker
from pysim.experiments.config import load
from pysim.experiments.plan import prepare
from pysim.experiments.run import run
from pysim.filters import Filter, Not, Operator, Predicate, parse
from pysim.network.transport import LinkSettings
from pysim.network.world import LinkNotice
from pysim.wire import MAX_FRAME_SIZE, Envelope, Message, MessageId, MessageType, message_types
from pysim.wire.messages import (
    AddressedEvent,
    Batch,
    Event,
    Flush,
    Gossip,
    Join,
    OverlayAbort,
    OverlayAccept,
    OverlayCommit,
    OverlayPropose,
    Subscribe,
    Switch,
    VectorEvent,
)
from pysim.wireshark import dissector
from tests.network.ns3_stage import simulation
from tests.wire.test_wire import SAMPLES, mutate
from tests.wireshark import captures, samples
from tests.wireshark.reading import Reading, ours, require_tshark, theirs, tshark

OF_EACH_TYPE = 40
MUTATED = 3000


@pytest.fixture(autouse=True)
def _tshark() -> None:
    require_tshark()


def random_frames(seed: int) -> list[bytes]:
    rng = random.Random(seed)
    kinds = [kind.message for kind in message_types().values()] * OF_EACH_TYPE
    rng.shuffle(kinds)
    return [
        Envelope.seal(
            samples.message(kind, rng), rng.getrandbits(32), number, flags=rng.choice((0, 0, 7))
        ).frame
        for number, kind in enumerate(kinds)
    ]


def test_every_type_over_tcp_however_segments_are_cut(tmp_path: Path) -> None:
    frames = random_frames(1)
    stream = captures.pieces(b"".join(frames), random.Random(2))
    capture = captures.write(tmp_path / "tcp.pcap", captures.tcp(stream))
    found = theirs(capture)
    assert len(found) == len(message_types()) * OF_EACH_TYPE
    for reading, frame in zip(found, frames, strict=True):
        assert reading == ours(frame)


def test_every_type_over_udp(tmp_path: Path) -> None:
    frames = [frame for frame in random_frames(3) if len(frame) <= 65_507]
    capture = captures.write(tmp_path / "udp.pcap", captures.udp(frames))
    assert theirs(capture) == [ours(frame) for frame in frames]
    assert {frame[5] for frame in frames} == set(message_types())


def test_mutated_frames_are_malformed_for_both_or_for_neither(tmp_path: Path) -> None:
    rng = random.Random(4)
    whole = [Envelope.seal(sample, 1, 2).frame for sample in SAMPLES.values()]
    frames = [frame for _ in range(MUTATED) if (frame := mutate(rng, rng.choice(whole)))]
    capture = captures.write(tmp_path / "mutated.pcap", captures.udp(frames))
    found = theirs(capture)
    verdicts = set()
    for reading, frame in zip(found, frames, strict=True):
        expected = ours(frame)
        assert reading["verdict"] == expected["verdict"], frame.hex()
        if expected["verdict"] != "read" or is_as_written(frame):
            assert reading == expected
        verdicts.add(expected["verdict"])
    assert {"read", "malformed", "unknown"} < verdicts


def is_as_written(frame: bytes) -> bool:
    """Whether the frame is the one that pysim would write, with each attribute once."""
    envelope = Envelope.open(frame)
    return envelope.with_body(envelope.message).frame[16:] == frame[16:]


def test_a_range_between_the_greatest_integer_and_a_float_is_not_empty(tmp_path: Path) -> None:
    """As floats both ends are 2^63."""
    frames = [
        Envelope.seal(Subscribe(parse(f"a in {bounds}")), 1, 2).frame
        for bounds in (f"({2**63 - 1}, {2.0**63}]", f"[{2**63 - 1}, {2.0**63})")
    ]
    capture = captures.write(tmp_path / "ends.pcap", captures.udp(frames))
    assert theirs(capture) == [ours(frame) for frame in frames]
    assert {reading["verdict"] for reading in map(ours, frames)} == {"read"}


NAN, INFINITY = float("nan"), float("inf")
ON_THE_BORDER: dict[type[Message], list[object]] = {
    Subscribe: [
        *([3, "a", number] for number in (1.0, -1e10, -float(2**63), float(2**63), 2**63 - 1)),
        *([3, "a", number] for number in (2**63, 2**64 - 1, NAN, INFINITY, -INFINITY, True, None)),
        *([13, "a", *ends] for ends in ((2**53, 2**53 + 1), (2**53 + 1, 2**53), (5, 5), (5, 5.0))),
        *([13, "a", *ends] for ends in ((-(2**63), -(2**63) + 1), (-(2**63) + 1, -(2**63)))),
        *([code, "a", 5, 5] for code in (14, 15, 16)),
        *([14, "a", *ends] for ends in ((1, "b"), ("b", 1), ("a", "b"), ("b", "a"), ("", "a"))),
        *([code, "a", value] for code in (9, 10, 11) for value in ("x", 5)),
        *([12, "a"], [12, ""], [12], [12, "a", 1], [12, b"a"], [3, "a"], [3, "a", 1, 2]),
        *([0], [1], [2], [0, [12, "a"]], [2, [12, "a"], [12, "b"]], [2, [0, [12, "a"]]]),
        *([17, "a", 1], [-1, "a", 1], [3.0, "a", 1], [False, [12, "a"]], [], "a", {"a": 1}, 5),
    ],
    OverlayPropose: [3, -1, 2**64 - 1, 1.5, "1.5", None, True, NAN],
    OverlayCommit: [None, 5, -1, 1.0, False, [5]],
    Flush: [0, -1, 2**63 - 1, 1.0, True, None, "1", b"1", [1]],
}
STRAY = {
    Switch: [
        [[1, 2], 1, mode, 3, *view]
        for mode in ("gossip", "tree", "both", "", 1)
        for view in ((), ([],), ([1],), (1,), ([], []))
    ],
    Join: [[[1, 2], 3], [[1], 3], [[1, 2, 3], 3], [[1, -2], 3], [[1.0, 2], 3], [5, 3]],
    Event: [[{"a": value}] for value in (1, 1.5, "x", NAN, True, None, b"x", [1], {"b": 1})]
    + [[{1: 1}], [{}, b""], [{}, ""], [{}, b"", 1], [], [[]], {}, 5, None],
}
UTF8 = "7f c280 ed9fbf ee8080 f48fbfbf"
NOT_UTF8 = "80 c080 c1bf c3 e09fbf eda080 e282 f08fbfbf f4908080 f5808080 ff c37f e28228"


def bodies_on_the_border() -> Iterator[bytes]:
    encode = msgspec.msgpack.encode
    for kind, fields in ON_THE_BORDER.items():
        yield from (raw(kind.CODE, encode([field])) for field in fields)
    for kind, arrays in STRAY.items():
        yield from (raw(kind.CODE, encode(array)) for array in arrays)
    for text in map(bytes.fromhex, f"{UTF8} {NOT_UTF8}".split()):
        yield raw(Event.CODE, b"\x91\x81\xa1a" + bytes((0xA0 + len(text),)) + text)
        yield raw(Event.CODE, b"\x91\x81" + bytes((0xA0 + len(text),)) + text + b"\x01")


def test_a_body_on_the_border_is_judged_alike(tmp_path: Path) -> None:
    frames = list(bodies_on_the_border())
    capture = captures.write(tmp_path / "border.pcap", captures.udp(frames))
    found = theirs(capture)
    for reading, frame in zip(found, frames, strict=True):
        assert with_defaults(reading, frame) == ours(frame), frame.hex()
    verdicts = [reading["verdict"] for reading in found]
    assert min(verdicts.count("read"), verdicts.count("malformed")) > 40


def with_defaults(reading: Reading, frame: bytes) -> Reading:
    """A reading with what a broker puts in place of fields that a shorter body lacks."""
    if reading["verdict"] == "read" and frame[5] == Event.CODE:
        return {"payload": [""], **reading}
    if reading["verdict"] == "read" and frame[5] == Switch.CODE:
        return {"view.count": "0", **reading}
    return reading


class Talker(Broker):
    """Broker 0 sends broker 1 all frames over the link, by unicast and by datagram."""

    frames: list[bytes]

    def link_up(self, neighbor: int, notice: LinkNotice) -> None:
        if self.world.id == 0:
            for frame in self.frames:
                envelope = Envelope.open(frame)
                self.world.send(neighbor, envelope)
                self.world.send_direct(neighbor, envelope)
                if len(frame) <= 65_507:
                    self.world.send_direct(neighbor, envelope, "udp")

    def receive(self, sender: int, envelope: Envelope) -> None:
        pass


@pytest.mark.parametrize(
    ("loss", "options"), [(0.0, ()), (0.05, ("-2", "-o", "tcp.reassemble_out_of_order:TRUE"))]
)
def test_a_capture_of_the_packet_level_network(
    tmp_path: Path, loss: float, options: tuple[str, ...]
) -> None:
    frames = random_frames(5)[:200]
    kind = type("Talker", (Talker,), {"frames": frames})
    link = LinkSettings(delay=0.002, rate=10e6, loss=loss)
    with simulation(
        nx.path_graph(2), kind, link, capture="both", capture_directory=tmp_path
    ) as sim:
        sim.run(60.0)
    expected = [ours(frame) for frame in frames]
    capture = tmp_path / "b1-b0.pcap"
    for port in (captures.OVERLAY, captures.DIRECT):
        assert theirs(capture, *options, "-Y", f"tcp.dstport == {port}") == expected
    datagrams = theirs(capture, "-Y", f"udp.dstport == {captures.DIRECT}")
    if loss:
        assert 0 < len(datagrams) < len(expected)
        assert all(reading in expected for reading in datagrams)
    else:
        assert datagrams == expected


def seal(*messages: Message) -> list[bytes]:
    """Frames of broker 3, numbered from 7."""
    return [Envelope.seal(message, 3, 7 + n).frame for n, message in enumerate(messages)]


def raw(code: int, body: bytes = b"", length: int | None = None, version: int = 1) -> bytes:
    """A frame that need not be right."""
    size = 16 + len(body) if length is None else length
    return struct.pack(">IBBHII", size, version, code, 0, 3, 7) + body


def info(capture: Path, *arguments: str, lua: str | None = None) -> list[str]:
    """The info column, packet by packet."""
    columns = ("-o", 'gui.column.format:"Info","%i"')
    return tshark(capture, *columns, *arguments, lua=lua).splitlines()


def test_the_info_column_tells_what_a_packet_says(tmp_path: Path) -> None:
    event = Event({"price": 12, "two words": 4.0, "author": "Le Guin"}, b"payload")
    first, second = seal(Flush(7), event)
    frames = [
        *seal(
            Subscribe(parse('body contains "x"')),
            event,
            AddressedEvent(tuple(range(300)), {}),
            OverlayAccept(0.1, None),
            OverlayAbort(),
            SAMPLES["rec"],
            Gossip(MessageId(3, 9), ((4, b"1"), (5, first)), ((1, 4), (7, 7)), (), (2,)),
            Batch((first, second)),
        ),
        first + second,
    ]
    capture = captures.write(tmp_path / "info.pcap", captures.tcp(frames))
    numbers = ", ".join(map(str, range(300)))[:160]
    assert info(capture) == [
        'SUBSCRIBE 3:7 body contains "x"',
        'EVENT 3:8 price = 12, `two words` = 4.0, author = "Le Guin"; payload 7 bytes',
        f"ADDRESSED-EVENT 3:9 destinations {numbers}…; hops 0",
        "OVERLAY-ACCEPT 3:10 lose 0.1; dropped none",
        "OVERLAY-ABORT 3:11",
        "REC 3:12 reconfiguration 7; patterns_to_add price < 30 and"
        ' (author = "Le Guin" or not exists signed); head 1, 2, 3; tail 4, 5',
        "GOSSIP 3:13 group 3:9; publications (4, 1 byte), (5, FLUSH 3:7);"
        " digest (1, 4), (7, 7); left 2",
        "BATCH 3:14 frames FLUSH 3:7, EVENT 3:8",
        "FLUSH 3:7 reconfiguration 7 |"
        ' EVENT 3:8 price = 12, `two words` = 4.0, author = "Le Guin"; payload 7 bytes',
    ]


def test_the_end_of_a_frame_and_the_next_ones_share_a_segment(tmp_path: Path) -> None:
    one, two, three = seal(Flush(1), Flush(2), Flush(3))
    payloads = [one + two[:5], two[5:17], two[17:] + three]
    capture = captures.write(tmp_path / "shared.pcap", captures.tcp(payloads))
    assert theirs(capture) == [ours(frame) for frame in (one, two, three)]
    shown = [line.partition(" [")[0] for line in info(capture)]
    assert shown[0] == "FLUSH 3:7 reconfiguration 1"
    assert shown[2] == "FLUSH 3:8 reconfiguration 2 | FLUSH 3:9 reconfiguration 3"


def test_what_is_wrong_with_a_frame_is_flagged(tmp_path: Path) -> None:
    frames = {
        raw(201, b"\x93\x01\xa1x\xc3"): "message type 201 is not known to this version",
        raw(3, b"\x91\x01"): "malformed subscribe: expected array, found int at $[0]",
        raw(5, b"\x92\x80"): "malformed event: the body ends too early at $[1]",
        raw(5, b"\x91\x80\x00"): "malformed event: 1 bytes follow the body at $",
        raw(32, b"\x92\x01\x01"): "malformed flush: 2 fields instead of 1 at $",
        raw(32, b"\x91\xc1"): "malformed flush: 0xc1 begins nothing in MessagePack at $[0]",
        raw(104, b"\x90", version=9): "wire version 9 is not version 1",
        raw(104, b"\x90", length=15): "frame length 15 is outside 16..1048576 bytes",
        raw(104, b"\x90", length=99): "a frame of 99 bytes came as 17 bytes",
        b"GET / HTTP": "a frame needs 16 bytes of header, 10 are there",
        b"GET / HTTP/1.1\r\n\r\n": "wire version 47 is not version 1",
    }
    capture = captures.write(tmp_path / "wrong.pcap", captures.udp(frames))
    told = tshark(
        capture, "-T", "fields", "-e", "_ws.expert.message", "-e", "_ws.expert.severity"
    ).splitlines()
    warning, error = 6291456, 8388608
    assert told == [
        f"{sentence}\t{warning if 'not known' in sentence else error}"
        for sentence in frames.values()
    ]
    assert theirs(capture) == [ours(frame) for frame in frames]


def test_a_body_of_an_unknown_type_is_shown_as_it_is(tmp_path: Path) -> None:
    body = b"\x96\x01\xa1x\xc3\xc0\xc4\x01\xff\x81\xa1k\xcb\x3f\xf8" + bytes(6)
    capture = captures.write(tmp_path / "newer.pcap", captures.udp([raw(201, body)]))
    shown = tshark(capture, "-T", "fields", "-e", "pysim.undecoded").strip()
    assert shown == '[1, "x", true, none, 0xff, {"k": 1.5}]'


def test_after_a_wrong_header_the_rest_of_a_segment_is_not_guessed_at(tmp_path: Path) -> None:
    (good,) = seal(Flush(1))
    payloads = [good + raw(5, b"\x90", version=7) + good, good]
    capture = captures.write(tmp_path / "lost.pcap", captures.tcp(payloads))
    assert [reading["verdict"] for reading in theirs(capture)] == [
        "read",
        "wire version 7 is not version 1",
        "read",
    ]


def test_frames_inside_frames_are_dissected_down_to_a_limit(tmp_path: Path) -> None:
    (frame,) = seal(Flush(1))
    for _ in range(30):
        (frame,) = seal(Batch((frame, b"no frame")))
    capture = captures.write(tmp_path / "nested.pcap", captures.udp([frame]))
    (reading,) = theirs(capture)
    levels = 1
    while "inside" in reading:
        (reading,) = reading["inside"]
        levels += 1
    assert (levels, reading["verdict"]) == (
        16,
        "frames inside frames are shown down to level 16",
    )


def test_long_lists_and_the_largest_frame(tmp_path: Path) -> None:
    long = seal(AddressedEvent(tuple(range(10_000)), {}), AddressedEvent((5,) * 12_000, {}))
    (largest,) = seal(VectorEvent(bytes(MAX_FRAME_SIZE - 16 - 1 - 5 - 1 - 2), {}))
    assert len(largest) == MAX_FRAME_SIZE
    stream = b"".join((*long, largest))
    segments = [stream[at : at + 60_000] for at in range(0, len(stream), 60_000)]
    capture = captures.write(tmp_path / "long.pcap", captures.tcp(segments))
    whole, shortened, huge = theirs(capture)
    assert (whole, huge) == (ours(long[0]), ours(largest))
    assert (shortened["destinations.count"], len(shortened["destinations"])) == ("12000", 10_000)
    assert shortened["verdict"] == "2000 more destinations are not shown"


def nested(levels: int) -> Filter:
    tree: Filter = Predicate("a", Operator.EXISTS)
    for _ in range(levels - 1):
        tree = Not(tree)
    return tree


def test_filters_have_at_most_a_hundred_levels(tmp_path: Path) -> None:
    (allowed,) = seal(Subscribe(nested(100)))
    beyond = raw(3, b"\x91" + b"\x92\x02" * 100 + b"\x92\x0c\xa1a")
    capture = captures.write(tmp_path / "deep.pcap", captures.udp([allowed, beyond]))
    found = theirs(capture)
    assert found == [ours(allowed), ours(beyond)]
    assert [reading["verdict"] for reading in found] == ["read", "malformed"]


def test_integers_beyond_63_bits_are_told_in_full(tmp_path: Path) -> None:
    capture = captures.write(tmp_path / "large.pcap", captures.udp(seal(Flush(2**64 - 1))))
    assert info(capture) == ["FLUSH 3:7 reconfiguration 18446744073709551615"]


def test_a_capture_that_cuts_packets_says_so(tmp_path: Path) -> None:
    frames = seal(Event({"a": 1}, bytes(100)), Event({"b": 2}, bytes(200)))
    headers = 2 + 20 + 8
    capture = captures.write(tmp_path / "cut.pcap", captures.udp(frames), headers + 40)
    shown = tshark(capture, "-T", "fields", "-e", "pysim.attributes", "-e", "_ws.expert.message")
    told = "the body goes on after what was captured"
    assert shown.splitlines() == [f"a = 1\t{told}", f"b = 2\t{told}"]
    shorter = captures.write(tmp_path / "shorter.pcap", captures.udp(frames), headers + 9)
    assert [reading["verdict"] for reading in theirs(shorter)] == [
        "the frame goes on after what was captured"
    ] * 2


@pytest.mark.parametrize(
    ("display_filter", "numbers"),
    [
        ('pysim.type == "subscribe"', [7]),
        ("pysim.destinations == 70000", [9]),
        ("pysim.destinations.count > 1", [8, 9]),
        ('pysim.filter contains "price"', [7]),
        ('pysim.attributes == "a = 1" and pysim.id == "3:8"', [8]),
        ('pysim.gain > 1.25 or pysim.group == "3:9"', [10, 11]),
    ],
)
def test_messages_are_found_by_display_filters(
    tmp_path: Path, display_filter: str, numbers: list[int]
) -> None:
    frames = seal(
        Subscribe(parse("price < 30")),
        AddressedEvent((1, 2), {"a": 1}),
        AddressedEvent((2, 70_000), {"a": 11}),
        SAMPLES["overlay-propose"],
        SAMPLES["join"],
    )
    capture = captures.write(tmp_path / "found.pcap", captures.udp(frames))
    shown = tshark(capture, "-Y", display_filter, "-T", "fields", "-e", "pysim.sequence")
    assert [int(number) for number in shown.split()] == numbers


def test_a_plugin_that_is_installed_and_given_as_well_is_loaded_once(tmp_path: Path) -> None:
    capture = captures.write(tmp_path / "twice.pcap", captures.udp(seal(Flush(1))))
    other = tmp_path / "other.lua"
    other.write_text(dissector())
    assert info(capture, "-X", f"lua_script:{other}") == ["FLUSH 3:7 reconfiguration 1"]


class Newcomer(Message, frozen=True):
    """A third-party type whose names and kinds of fields are taken, or unheard of."""

    length: int
    number: bytes
    filter: Filter
    extra: dict[int, bool]


def test_a_new_type_is_known_without_a_change_to_the_dissector(tmp_path: Path) -> None:
    types = {**message_types(), 250: MessageType(250, "new-comer", Newcomer)}
    assert not any('"any"' in line for line in dissector().split("-- Reads")[0].splitlines())
    body = b"\x94\x05\xc4\x02\xab\xcd\x92\x0c\xa1a\x81\x01\xc3"
    capture = captures.write(tmp_path / "new.pcap", captures.udp([raw(250, body)]))
    lua = dissector(types)
    assert info(capture, lua=lua) == [
        "NEW-COMER 3:7 length 5; number 2 bytes; exists a; extra {1: true}"
    ]
    keys = ("pysim.length", "pysim.new_comer.length", "pysim.new_comer.number", "pysim.filter")
    fields = [option for key in keys for option in ("-e", key)]
    shown = tshark(capture, "-T", "fields", *fields, lua=lua)
    assert shown == "29\t5\tabcd\texists a\n"


def test_the_ports_are_those_of_the_address_plan() -> None:
    root = Path(__file__).parents[2]
    plan = (root / "ns3-app" / "model" / "address-plan.h").read_text()
    for name, port in (("OVERLAY_PORT", captures.OVERLAY), ("DIRECT_PORT", captures.DIRECT)):
        assert f"{name} = {port};" in plan
    assert f'["ports"] = {{ {captures.OVERLAY}, {captures.DIRECT} }}' in dissector()


def test_the_page_shows_what_tshark_prints(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    plan = prepare(load(root / "experiments" / "first.toml"))
    run(plan, tmp_path / "run", "seed1")
    printed = tshark(tmp_path / "run" / "captures" / "b3-b0.pcap")
    page = (root / "docs" / "wireshark.md").read_text()
    for line in page.split("```text\n")[1].split("```")[0].splitlines():
        assert line in printed.splitlines()
