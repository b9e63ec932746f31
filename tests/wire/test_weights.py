"""What messages weigh: as published where it is published, and by one rule elsewhere."""

import pytest

from pysim.filters import parse
from pysim.wire import Message, MessageId, message_types
from pysim.wire.messages import (
    Activate,
    AddressedEvent,
    Batch,
    Event,
    Flush,
    Gossip,
    Heartbeat,
    PackedUnsubscribe,
    Rec,
    Recack,
    Subscribe,
    Unsubscribe,
    Withdraw,
)
from pysim.wire.weights import CARRIERS, NOTICES, weight, weight_of_type

WISH = parse("price < 30")
ID = MessageId(3, 7)
CARRIED = {"filter", "attributes", "subscription", "advertisement", "vector", "tree"}
"""Fields that say that a message carries one filter, one event, or the name of one."""


@pytest.mark.parametrize(
    ("message", "weighs"),
    [
        (Subscribe(WISH), 1),
        (Unsubscribe(WISH), 1),
        (Event({"price": 1}), 1),
        (Flush(1), 0.1),
        (Recack(1), 0.1),
        (Activate(1, (WISH, WISH, WISH)), 3),
        (Rec(1, (WISH, WISH), (WISH,), (), ()), 3),
    ],
)
def test_the_published_weights_are_those_of_table_2(message: Message, weighs: float) -> None:
    assert weight(message) == weighs


@pytest.mark.parametrize(
    ("message", "weighs"),
    [
        (AddressedEvent(tuple(range(300)), {"price": 1}), 1),
        (Heartbeat(1, 1), 0.1),
        (Batch((b"1", b"2")), 2),
        (Gossip(ID, ((1, b""), (2, b""), (3, b"")), ()), 3),
        (Gossip(ID, (), ((1, 5),)), 0.1),
        (PackedUnsubscribe(ID, ((ID, WISH),)), 2),
        (Withdraw((ID, ID)), 2),
    ],
)
def test_others_weigh_what_they_carry_and_lists_of_brokers_weigh_nothing(
    message: Message, weighs: float
) -> None:
    assert weight(message) == weighs


def test_every_type_of_ours_is_of_one_kind_and_none_is_forgotten() -> None:
    assert not NOTICES & set(CARRIERS)
    ours = [k for k in message_types().values() if k.message.__module__.startswith("pysim.")]
    assert len(ours) > 40
    for kind in ours:
        fields = set(kind.message.__struct_fields__)
        carries_one = kind.message not in NOTICES and kind.message not in CARRIERS
        if carries_one:
            assert fields & CARRIED, f"{kind.name} carries nothing, but weighs 1"
        expected = None if kind.message in CARRIERS else 1.0 if carries_one else 0.1
        assert weight_of_type(kind.code) == expected
    assert weight_of_type(250) == 1.0  # of a protocol of others
