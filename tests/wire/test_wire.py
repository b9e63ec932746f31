"""The wire format: every type survives the trip, and no bytes whatever do harm."""

import random
import struct

import msgspec
import pytest

from pysim.filters import canonical, parse
from pysim.wire import (
    HEADER_SIZE,
    MAX_FRAME_SIZE,
    Envelope,
    Message,
    MessageId,
    WireError,
    message_type,
    message_types,
    messages,
    read_header,
    type_name,
)
from pysim.wire.messages import (
    Activate,
    AddressedEvent,
    Batch,
    Event,
    Flush,
    Gossip,
    Rec,
    Subscribe,
    Switch,
)

FILTER = canonical(parse('price < 30 and (author = "Le Guin" or not exists signed)'))
ADVERTISEMENT = MessageId(3, 9)
NUMBERS = ((1, 4), (7, 7))

SAMPLES: dict[str, Message] = {
    "advertise": messages.Advertise(FILTER),
    "unadvertise": messages.Unadvertise(FILTER),
    "subscribe": Subscribe(FILTER),
    "unsubscribe": messages.Unsubscribe(FILTER),
    "event": Event({"price": 12, "rating": 4.5, "author": "Le Guin"}, b"payload"),
    "batch": Batch((b"one", b"two")),
    "flush": Flush(7),
    "activate": Activate(7, (FILTER, FILTER)),
    "rec": Rec(7, (FILTER,), (), (1, 2, 3), (4, 5)),
    "recack": messages.Recack(7),
    "counted-event": messages.CountedEvent({"a": 1}, ADVERTISEMENT, 2, 5, b"x"),
    "pruned-unsubscribe": messages.PrunedUnsubscribe(ADVERTISEMENT, ((MessageId(1, 2), 3),)),
    "packed-unsubscribe": messages.PackedUnsubscribe(ADVERTISEMENT, ((MessageId(1, 2), FILTER),)),
    "addressed-event": AddressedEvent((1, 2, 70000), {"a": "b"}, b""),
    "addressed-subscribe": messages.AddressedSubscribe((1,), (2, 3), FILTER),
    "addressed-unsubscribe": messages.AddressedUnsubscribe((1,), ADVERTISEMENT),
    "heartbeat": messages.Heartbeat(1, 99),
    "topology-update": messages.TopologyUpdate(4, 1, 17, (2, 3, 5)),
    "overlay-propose": messages.OverlayPropose(1.5),
    "overlay-accept": messages.OverlayAccept(0.5, None),
    "overlay-commit": messages.OverlayCommit(3),
    "overlay-abort": messages.OverlayAbort(),
    "overlay-busy": messages.OverlayBusy(),
    "tree-advertise": messages.TreeAdvertise(ADVERTISEMENT, FILTER),
    "tree-subscribe": messages.TreeSubscribe(ADVERTISEMENT, FILTER),
    "tree-event": messages.TreeEvent(ADVERTISEMENT, {"a": 1}),
    "vector-event": messages.VectorEvent(b"\x0f\xf0", {"a": 1}),
    "hop-subscribe": messages.HopSubscribe(FILTER, 4),
    "switch": Switch(ADVERTISEMENT, 2, "gossip", 40, (1, 2)),
    "join": messages.Join(ADVERTISEMENT, 5),
    "join-reply": messages.JoinReply(ADVERTISEMENT, (1, 2), 10, 20),
    "leave": messages.Leave(ADVERTISEMENT, 5),
    "gossip": Gossip(ADVERTISEMENT, ((4, b"event"),), NUMBERS, (1,), (2,)),
    "retrieve": messages.Retrieve(ADVERTISEMENT, NUMBERS),
    "retrieved": messages.Retrieved(ADVERTISEMENT, ((4, b"event"),)),
    "number-request": messages.NumberRequest(ADVERTISEMENT),
    "number-reply": messages.NumberReply(ADVERTISEMENT, 12),
}


def test_there_is_a_sample_of_every_type() -> None:
    assert set(SAMPLES) == {kind.name for kind in message_types().values() if kind.code < 224}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_type_survives_the_trip(name: str) -> None:
    sent = Envelope.seal(SAMPLES[name], 70000, 4_000_000_000)
    received = Envelope.open(sent.frame)
    assert received.message == SAMPLES[name]
    assert type(received.message) is type(SAMPLES[name])
    assert (received.id, type_name(received.type)) == ((70000, 4_000_000_000), name)


def test_the_header_is_as_documented() -> None:
    frame = Envelope.seal(Flush(5), 0x01020304, 0x0A0B0C0D, flags=0x1122).frame
    assert frame == bytes.fromhex("00000012 01 20 1122 01020304 0a0b0c0d 91 05")
    assert read_header(b"??" + frame, 2) == (18, 1, 32, 0x1122, 0x01020304, 0x0A0B0C0D)


def test_another_body_keeps_the_identity() -> None:
    event = Envelope.seal(AddressedEvent((1, 2), {}), 4, 8)
    shorter = event.with_body(AddressedEvent((2,), {}))
    assert (shorter.id, len(shorter.frame)) == (event.id, len(event.frame) - 1)


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (b"", "a frame needs 16 bytes of header, 0 are there"),
        (bytes(15), "a frame needs 16 bytes of header, 15 are there"),
        (struct.pack(">IBBHII", 16, 9, 5, 0, 0, 0), "wire version 9 is not version 1"),
        (struct.pack(">IBBHII", 15, 1, 5, 0, 0, 0), "frame length 15 is outside 16..1048576 bytes"),
        (struct.pack(">IBBHII", 99, 1, 5, 0, 0, 0), "a frame of 99 bytes came as 16 bytes"),
        (
            struct.pack(">IBBHII", MAX_FRAME_SIZE + 1, 1, 5, 0, 0, 0),
            "frame length 1048577 is outside 16..1048576 bytes",
        ),
    ],
)
def test_a_wrong_header_is_refused_in_one_sentence(frame: bytes, problem: str) -> None:
    with pytest.raises(WireError) as error:
        Envelope.open(frame)
    assert str(error.value) == problem


def test_a_type_of_a_newer_version_is_told_apart_from_a_malformed_body() -> None:
    envelope = Envelope.open(struct.pack(">IBBHII", 16, 1, 201, 0, 0, 0))
    assert repr(envelope) == "<type-201 0:0, 16 bytes>"
    with pytest.raises(WireError, match="message type 201 is not known to this version"):
        envelope.message  # noqa: B018


def test_a_wrong_body_names_its_place() -> None:
    body = msgspec.msgpack.encode([7, ["x"], [], [1], [2]])
    frame = struct.pack(">IBBHII", HEADER_SIZE + len(body), 1, Rec.CODE, 0, 3, 4) + body
    with pytest.raises(WireError, match=r"malformed rec from 3:4: .*\$\[1\]\[0\]"):
        Envelope.open(frame).message  # noqa: B018


def test_a_message_over_the_limit_is_not_made() -> None:
    with pytest.raises(WireError, match=r"the event would be .* the limit is 1048576"):
        Envelope.seal(Event({}, bytes(MAX_FRAME_SIZE)), 0, 0)


def test_codes_are_unique_and_within_a_byte() -> None:
    with pytest.raises(ValueError, match="code 3 belongs to Subscribe already"):

        @message_type(3)
        class Usurper(Message, frozen=True):
            pass

    with pytest.raises(ValueError, match=r"code 300 is outside 1\.\.255"):

        @message_type(300)
        class Beyond(Message, frozen=True):
            pass


def test_a_hundred_thousand_mutated_frames_decode_or_are_refused() -> None:
    """Nothing but WireError, ever; what decodes is encodable again."""
    rng = random.Random(20)
    frames = [Envelope.seal(sample, 1, 2).frame for sample in SAMPLES.values()]
    outcomes = {"decoded": 0, "refused": 0}
    for _ in range(110_000):
        frame = mutate(rng, rng.choice(frames))
        try:
            message = Envelope.open(frame).message
        except WireError:
            outcomes["refused"] += 1
        else:
            Envelope.seal(message, 1, 2)
            outcomes["decoded"] += 1
    assert sum(outcomes.values()) == 110_000
    assert min(outcomes.values()) > 1000


def mutate(rng: random.Random, frame: bytes) -> bytes:
    data = bytearray(frame)
    for _ in range(rng.randrange(1, 4)):
        kind = rng.randrange(4)
        at = rng.randrange(len(data)) if data else 0
        if kind == 0 and data:
            data[at] = rng.randrange(256)
        elif kind == 1 and data:
            del data[at : at + rng.randrange(1, 9)]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif data:
            data[at] ^= 1 << rng.randrange(8)
    if rng.random() < 0.8 and len(data) >= HEADER_SIZE:  # mostly past the length check
        data[:5] = struct.pack(">IB", len(data), 1)
    return bytes(data)
