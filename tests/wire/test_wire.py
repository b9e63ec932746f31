"""The wire format: every type survives the trip, and no bytes whatever do harm."""

import gc
import random
import struct
import tracemalloc

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
    plain_envelope,
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

KINDS = {"plain": plain_envelope.Envelope, "chosen": Envelope}
"""In a compiled tree the chosen ones are native."""

each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)

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
    "withdraw": messages.Withdraw((ADVERTISEMENT, MessageId(1, 2))),
    "withdraw-advertisement": messages.WithdrawAdvertisement(ADVERTISEMENT),
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
    "addressed-advertise": messages.AddressedAdvertise((2, 9), (1,), FILTER),
    "addressed-unadvertise": messages.AddressedUnadvertise((2, 9), ADVERTISEMENT, 3),
    "addressed-link-loss": messages.AddressedLinkLoss((2, 9), 1, 7, 1),
    "tree-unsubscribe": messages.TreeUnsubscribe(ADVERTISEMENT, ADVERTISEMENT),
    "tree-unadvertise": messages.TreeUnadvertise(ADVERTISEMENT),
    "hop-subscribe": messages.HopSubscribe(FILTER, 4),
    "switch": Switch(ADVERTISEMENT, 2, "gossip", 40, (1, 2), MessageId(1, 2)),
    "join": messages.Join(ADVERTISEMENT, 40),
    "join-reply": messages.JoinReply(ADVERTISEMENT, (1, 2), 10, 20),
    "leave": messages.Leave(ADVERTISEMENT),
    "gossip": Gossip(ADVERTISEMENT, ((4, b"event"),), NUMBERS, (1,), (2,)),
    "retrieve": messages.Retrieve(ADVERTISEMENT, NUMBERS),
    "retrieved": messages.Retrieved(ADVERTISEMENT, ((4, b"event"),), NUMBERS),
    "number-request": messages.NumberRequest(ADVERTISEMENT),
    "number-reply": messages.NumberReply(ADVERTISEMENT, 12),
    "direct-event": messages.DirectEvent({"a": 1}, b"x", ADVERTISEMENT, 3),
    "direct-end": messages.DirectEnd(ADVERTISEMENT, 3),
    "flagged-event": messages.FlaggedEvent({"a": 1}, ADVERTISEMENT, "gossip", (1, 2), b"x"),
}


def test_there_is_a_sample_of_every_type() -> None:
    assert set(SAMPLES) == {kind.name for kind in message_types().values() if kind.code < 224}


@each_kind
@pytest.mark.parametrize("name", SAMPLES)
def test_every_type_survives_the_trip(kind: type[Envelope], name: str) -> None:
    sent = kind.seal(SAMPLES[name], 70000, 4_000_000_000)
    received = kind.open(sent.frame)
    assert received.message == SAMPLES[name]
    assert type(received.message) is type(SAMPLES[name])
    assert (received.id, type_name(received.type)) == ((70000, 4_000_000_000), name)


@each_kind
def test_the_header_is_as_documented(kind: type[Envelope]) -> None:
    frame = kind.seal(Flush(5), 0x01020304, 0x0A0B0C0D, flags=0x1122).frame
    assert frame == bytes.fromhex("00000012 01 20 1122 01020304 0a0b0c0d 91 05")
    assert read_header(b"??" + frame, 2) == (18, 1, 32, 0x1122, 0x01020304, 0x0A0B0C0D)


@each_kind
def test_another_body_keeps_the_identity(kind: type[Envelope]) -> None:
    event = kind.seal(AddressedEvent((1, 2), {}), 4, 8)
    shorter = event.with_body(AddressedEvent((2,), {}))
    assert (shorter.id, len(shorter.frame)) == (event.id, len(event.frame) - 1)


@each_kind
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
def test_a_wrong_header_is_refused_in_one_sentence(
    kind: type[Envelope], frame: bytes, problem: str
) -> None:
    with pytest.raises(WireError) as error:
        kind.open(frame)
    assert str(error.value) == problem


@each_kind
def test_a_type_of_a_newer_version_is_told_apart_from_a_malformed_body(
    kind: type[Envelope],
) -> None:
    envelope = kind.open(struct.pack(">IBBHII", 16, 1, 201, 0, 0, 0))
    assert repr(envelope) == "<type-201 0:0, 16 bytes>"
    with pytest.raises(WireError, match="message type 201 is not known to this version"):
        envelope.message  # noqa: B018


@each_kind
def test_a_wrong_body_names_its_place(kind: type[Envelope]) -> None:
    body = msgspec.msgpack.encode([7, ["x"], [], [1], [2]])
    frame = struct.pack(">IBBHII", HEADER_SIZE + len(body), 1, Rec.CODE, 0, 3, 4) + body
    with pytest.raises(WireError, match=r"malformed rec from 3:4: .*\$\[1\]\[0\]"):
        kind.open(frame).message  # noqa: B018


def received(*body: object) -> Message:
    encoded = msgspec.msgpack.encode(body)
    frame = struct.pack(">IBBHII", HEADER_SIZE + len(encoded), 1, Subscribe.CODE, 0, 3, 4) + encoded
    return Envelope.open(frame).message


def test_equal_filters_come_as_one_object() -> None:
    one, other = (received([0, [3, "a", 1], [12, "b"]]) for _ in range(2))
    assert isinstance(one, Subscribe)
    assert isinstance(other, Subscribe)
    assert one.filter is other.filter


def test_values_that_are_equal_to_python_only_are_told_apart() -> None:
    for _ in range(2):  # the second time all that is known is known
        for form in ([3, "a", 1], [1, [3, "a", 1]], [3, "a", 1.0], [3, "a", 0]):
            assert isinstance(received(form), Subscribe)
        with pytest.raises(WireError, match=r"a float or a string, found True at \$\[2\]"):
            received([3, "a", True])
        with pytest.raises(WireError, match=r"a float or a string, found False at \$\[1\]\[2\]"):
            received([1, [3, "a", False]])
        with pytest.raises(WireError, match=r"a code from 0 to 16, found True at \$\[0\]"):
            received([True, [3, "a", 1]])


@pytest.mark.parametrize("junk", [{"a": 1}, [3, "a", {"b": 1}], [3, [1], 2], [2, {}], None, "x"])
def test_what_is_no_filter_is_refused_again_and_again(junk: object) -> None:
    words = []
    for _ in range(2):
        with pytest.raises(WireError, match=r"malformed subscribe from 3:4: Expected") as refused:
            received(junk)
        words.append(str(refused.value))
    assert words[0] == words[1]


def test_a_message_carries_filters_and_no_other_objects() -> None:
    with pytest.raises(NotImplementedError, match="a message cannot carry a slice"):
        Envelope.seal(Subscribe(slice(1)), 1, 2)  # type: ignore[arg-type]


@each_kind
def test_a_message_over_the_limit_is_not_made(kind: type[Envelope]) -> None:
    with pytest.raises(WireError, match=r"the event would be .* the limit is 1048576"):
        kind.seal(Event({}, bytes(MAX_FRAME_SIZE)), 0, 0)


def test_codes_are_unique_and_within_a_byte() -> None:
    with pytest.raises(ValueError, match="code 3 belongs to Subscribe already"):

        @message_type(3)
        class Usurper(Message, frozen=True):
            pass

    with pytest.raises(ValueError, match=r"code 300 is outside 1\.\.255"):

        @message_type(300)
        class Beyond(Message, frozen=True):
            pass


@each_kind
def test_a_hundred_thousand_mutated_frames_decode_or_are_refused(kind: type[Envelope]) -> None:
    """Nothing but WireError, ever; what decodes is encodable again."""
    rng = random.Random(20)
    frames = [kind.seal(sample, 1, 2).frame for sample in SAMPLES.values()]
    outcomes = {"decoded": 0, "refused": 0}
    for _ in range(110_000):
        frame = mutate(rng, rng.choice(frames))
        try:
            message = kind.open(frame).message
        except WireError:
            outcomes["refused"] += 1
        else:
            kind.seal(message, 1, 2)
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


@each_kind
def test_an_identity_that_does_not_fit_is_refused(kind: type[Envelope]) -> None:
    for fields in ((-1, 1), (2**32, 1), (1, -1), (1, 2**32), (1, 1, -1), (1, 1, 2**16)):
        with pytest.raises(ValueError, match="should fit the header"):
            kind.seal(Flush(1), *fields)


@each_kind
def test_what_came_is_bytes(kind: type[Envelope]) -> None:
    with pytest.raises(TypeError):
        kind.open("text" * 9)  # type: ignore[arg-type]


@each_kind
def test_a_body_is_decoded_once(kind: type[Envelope]) -> None:
    envelope = kind.open(kind.seal(Event({"a": 1}), 1, 2).frame)
    assert envelope.message is envelope.message


@pytest.mark.skipif(Envelope is plain_envelope.Envelope, reason="nobody compiled this tree")
def test_native_envelopes_are_the_plain_ones_to_the_byte() -> None:
    rng = random.Random(21)
    for sample in SAMPLES.values():
        fields = rng.randrange(2**32), rng.randrange(2**32), rng.randrange(2**16)
        native, plain = (
            Envelope.seal(sample, *fields),
            plain_envelope.Envelope.seal(sample, *fields),
        )
        assert native.frame == plain.frame
        assert native.with_body(sample).frame == plain.with_body(sample).frame
        assert (native.type, native.id, repr(native)) == (plain.type, plain.id, repr(plain))


@pytest.mark.skipif(Envelope is plain_envelope.Envelope, reason="nobody compiled this tree")
def test_native_envelopes_keep_no_memory() -> None:
    frames = [Envelope.seal(sample, 1, 2).frame for sample in SAMPLES.values()]
    wrong = frames[0][:-1]

    def work() -> None:
        for frame in frames:
            envelope = Envelope.open(frame)
            envelope.with_body(envelope.message)
        with pytest.raises(WireError):
            Envelope.open(wrong)

    work()
    gc.collect()
    tracemalloc.start()
    for _ in range(5):
        work()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        work()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 10_000
