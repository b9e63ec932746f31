"""Protocols by name, and their options."""

from typing import Annotated

import pytest

from pysim.brokers import (
    REQUIRED,
    Broker,
    EventForwarding,
    Option,
    ProtocolError,
    SubscriptionForwarding,
    make,
    options,
    protocols,
    register,
    registry,
)
from pysim.brokers.optimizations import Optimize
from pysim.network import MemoryTransport, Observer, PlainBooks, Streams, World


@pytest.fixture
def world() -> World:
    stream = Streams(1).stream("broker", 0)
    return World(0, MemoryTransport(), stream, Observer(), PlainBooks())


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten afterwards."""
    monkeypatch.setattr(registry, "_PROTOCOLS", dict(protocols()))


def test_the_protocols_that_ship_have_the_names_of_experiment_files():
    known = protocols()
    assert known["event-forwarding"] is EventForwarding
    assert known["subscription-forwarding"] is SubscriptionForwarding


def test_making_a_broker_with_its_options(world):
    broker = make("subscription-forwarding", world, literal=True)
    assert isinstance(broker, SubscriptionForwarding)
    assert isinstance(make("event-forwarding", world), EventForwarding)


def test_options_tell_type_default_and_help():
    assert options("event-forwarding") == {}
    assert options("subscription-forwarding") == {
        "literal": Option(
            "literal",
            bool,
            False,
            "count subscribers only, as in Fig. 2, instead of remembering what was told",
        ),
        "optimize": Option(
            "optimize",
            Optimize,
            Optimize(),
            "how routing tables are made smaller: see docs/optimizations.md",
        ),
    }


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        (
            "subscription-forwading",
            {},
            'unknown protocol "subscription-forwading"; did you mean "subscription-forwarding"?',
        ),
        (
            "subscription-forwarding",
            {"litteral": True},
            'protocol "subscription-forwarding" has no option "litteral"; did you mean "literal"?',
        ),
        (
            "event-forwarding",
            {"literal": True},
            'protocol "event-forwarding" has no option "literal"; it has none',
        ),
    ],
)
def test_what_does_not_exist_is_refused_with_the_nearest_name(world, name, settings, message):
    with pytest.raises(ProtocolError) as caught:
        make(name, world, **settings)
    assert str(caught.value) == message


def test_a_name_like_no_other_gets_the_list_of_choices(world):
    with pytest.raises(ProtocolError, match=r'^unknown protocol "zzz"; known are .*event-forw'):
        make("zzz", world)


@pytest.mark.usefixtures("own_registry")
def test_a_third_party_registers_its_own_protocol(world):
    @register
    class Mute(Broker):
        name = "mute"

        def __init__(
            self,
            world: World,
            *,
            volume: Annotated[int, "how loud it is not"],
            pitch: float = 1.0,
        ) -> None:
            super().__init__(world)
            self.volume = volume

    assert protocols()["mute"] is Mute
    assert options("mute") == {
        "volume": Option("volume", int, REQUIRED, "how loud it is not"),
        "pitch": Option("pitch", float, 1.0, ""),
    }
    assert make("mute", world, volume=3).volume == 3
    with pytest.raises(ProtocolError, match=r'^protocol "mute" needs the option "volume"$'):
        make("mute", world)
    assert register(Mute) is Mute


@pytest.mark.usefixtures("own_registry")
def test_a_name_is_given_once_and_must_be_given():
    class Impostor(Broker):
        name = "event-forwarding"

    class Nameless(Broker):
        pass

    with pytest.raises(ValueError, match=r"^the protocol name 'event-forwarding' belongs to Event"):
        register(Impostor)
    with pytest.raises(ValueError, match=r"^Nameless needs a name to be registered$"):
        register(Nameless)
