"""Bodies in words: every field of every type, with the bytes that it takes."""

import random

import msgspec
import pytest

from analysis.replay.decoding import Body, Field, decode_body
from pysim.filters import parse
from pysim.wire import HEADER_SIZE, Envelope, Message, MessageId, message_types
from pysim.wire.frame import pack_header
from pysim.wire.messages import AddressedEvent, Batch, Event, Subscribe, Withdraw
from tests.wireshark import samples


def body(message: Message) -> Body:
    return decode_body(Envelope.seal(message, 3, 7).frame)


def test_an_event_has_its_attributes_and_its_payload() -> None:
    assert body(Event({"price": 25, "format": "audio"}, b"\x01\x02")) == Body(
        1,
        [
            Field("attributes", 'price = 25, format = "audio"', 21),
            Field("payload", "2 bytes: 01 02", 4),
        ],
    )


def test_filters_identities_and_lists_are_written_as_people_do() -> None:
    assert body(Subscribe(parse("price < 30"))).fields[0].text == "price < 30"
    assert body(Withdraw((MessageId(4, 1), MessageId(5, 2)))).fields[0].text == "4:1, 5:2"
    long = body(AddressedEvent(tuple(range(50)), {})).fields[0].text
    assert long.startswith("0, 1, 2, ")
    assert long.endswith("39 … and 10 more")


def test_frames_inside_a_frame_are_read_too() -> None:
    inner = Envelope.seal(Event({"price": 25}), 3, 1).frame
    assert body(Batch((inner,))).fields[0].text == "event 3:1 (price = 25)"


@pytest.mark.parametrize("kind", message_types().values(), ids=lambda kind: kind.name)
def test_every_byte_of_every_type_belongs_to_a_field(kind: object) -> None:
    rng = random.Random(1)
    cls = kind.message  # type: ignore[attr-defined]
    for _ in range(20):
        frame = Envelope.seal(samples.message(cls, rng), 3, 7).frame
        lead, fields = decode_body(frame)
        assert lead + sum(field.size for field in fields) == len(frame) - HEADER_SIZE
        assert [field.name for field in fields] == list(cls.__struct_fields__)


def frame(code: int, encoded: bytes) -> bytes:
    return pack_header(HEADER_SIZE + len(encoded), 1, code, 0, 3, 7) + encoded


def test_a_type_that_nobody_registered_is_shown_as_it_is() -> None:
    encoded = msgspec.msgpack.encode(["new", 7])
    assert decode_body(frame(240, encoded)) == Body(
        1, [Field("field 1", "new", 4), Field("field 2", "7", 1)]
    )


@pytest.mark.parametrize(("code", "encoded"), [(5, b"\x92\x01\x02"), (5, b"\xc1"), (240, b"")])
def test_a_body_that_cannot_be_read_says_why(code: int, encoded: bytes) -> None:
    (field,) = decode_body(frame(code, encoded)).fields
    assert (field.name, field.size) == ("body", len(encoded))
    assert field.text
