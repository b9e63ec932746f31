"""Destination lists are counted on each link, whatever carries them; nothing is other for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pysim.brokers import Broker, register
from pysim.brokers.registry import _PROTOCOLS
from pysim.experiments.run import run
from pysim.network.transport import BrokerId
from pysim.network.world import ClientId
from pysim.wire import Envelope
from pysim.wire.messages import AddressedEvent, Event
from tests.experiments.files import small_plan


class Relay(Broker):
    """Sends an event along a line of brokers; its list shrinks at every hop."""

    name = "relay"

    def publish(self, client: ClientId, event: Envelope) -> None:
        message = event.message
        assert isinstance(message, Event)
        self._pass_on(event, tuple(range(300, 300 - 4, -1)), message.attributes)

    def on_addressed_event(self, sender: BrokerId, envelope: Envelope) -> None:
        message = envelope.message
        assert isinstance(message, AddressedEvent)
        self._pass_on(envelope, message.destinations[1:], message.attributes)

    def _pass_on(self, event: Envelope, left: tuple[int, ...], attributes: Any) -> None:
        if self.world.id + 1 in self.world.neighbors:
            sealed = Envelope.seal(AddressedEvent(left, attributes), *event.id)
            self.world.send(self.world.id + 1, sealed)


@pytest.fixture
def relay() -> Iterator[type[Broker]]:
    yield register(Relay)
    del _PROTOCOLS[Relay.name]


@pytest.mark.parametrize("backend", ["memory", "ns3"])
def test_lists_are_counted_by_link_type_and_length(
    tmp_path: Path, relay: type[Broker], backend: str
) -> None:
    steps = [{"time": "1 s", "broker": 0, "publish": {"price": 1}}] * 2
    steps += [{"time": "2 s", "broker": 1, "publish": {"price": 1}}]
    outcomes = [
        run(
            small_plan(
                tmp_path,
                network={"backend": backend, "capture": "none"},
                topology={"kind": "line", "brokers": 3},
                protocol={"name": relay.name},
                workload={"kind": "script", "steps": steps},
                measure=measure,
            ),
            tmp_path / f"run{len(measure)}",
            "x",
        )
        for measure in (["lists"], [])
    ]
    assert outcomes[0].fingerprint == outcomes[1].fingerprint
    table = pq.read_table(tmp_path / "run1" / "tables" / "lists.parquet")
    kind, each = "addressed-event", 3  # bytes of an id above 255
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (0, 1, kind, True, 4, 2, 2 * (1 + 4 * each)),
        (1, 2, kind, False, 3, 2, 2 * (1 + 3 * each)),
        (1, 2, kind, True, 4, 1, 1 + 4 * each),
    ]
