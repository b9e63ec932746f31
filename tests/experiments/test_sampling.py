"""Brokers are looked at from time to time, and nothing is other for it."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pysim.brokers import Broker, EventForwarding, SubscriptionForwarding, registry
from pysim.experiments.config import ConfigError
from pysim.experiments.probes import MISROUTED
from pysim.experiments.run import run
from pysim.experiments.sampling import SAMPLES
from pysim.network.world import World
from pysim.wire import Envelope, MessageId
from pysim.wire.messages import CountedEvent
from tests.experiments.files import SCRIPT, small, small_plan

Rows = list[tuple[Any, ...]]

MS = 1_000_000


def rows(folder: Path, table: str) -> Rows:
    columns = pq.read_table(folder / "tables" / f"{table}.parquet").to_pydict()
    return list(zip(*columns.values(), strict=True))


def of(sampled: Rows, name: str, broker: int) -> dict[int, float]:
    """A broker's numbers of that name, by the millisecond."""
    return {time // MS: v for time, b, n, v in sampled if (b, n) == (broker, name)}


class Counting(SubscriptionForwarding):
    """Counts what it gets, and says how much it stores and how hard it worked."""

    name = "counting"
    work_units = frozenset({"table-entries", "new-entries"})

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.counters: Counter[str] = Counter()

    def receive(self, sender: int, envelope: Envelope) -> None:  # type: ignore[override]
        self.counters["received"] += 1
        super().receive(sender, envelope)

    def stored_size(self) -> int:
        return self.table_size() + 100

    def take_work(self) -> dict[str, float]:
        return {"table-entries": float(self.table_size())}


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> type[Broker]:
    monkeypatch.setitem(registry._PROTOCOLS, "counting", Counting)
    return Counting


LIVELY: dict[str, Any] = {
    "topology": {"kind": "random-tree", "brokers": 12},
    "workload__churn": "1 /s",
    "service": {"model": "type", "default": "3 ms"},
    "faults": [
        {"kind": "reconfigurations", "start": "2 s", "stop": "3 s"},
        {"kind": "broker-crash", "time": "3.2 s", "broker": 4},
    ],
}


@pytest.mark.parametrize("backend", ["memory", "ns3"])
def test_who_is_looked_at_does_the_same(tmp_path: Path, backend: str) -> None:
    network = {"backend": backend, "capture": "none"}
    watched, alone = (
        run(
            small_plan(tmp_path, network=network, measure=measure, **LIVELY),
            tmp_path / f"{backend}{len(measure)}",
            "x",
        )
        for measure in (["brokers"], [])
    )
    assert watched.fingerprint == alone.fingerprint
    assert watched.messages == alone.messages
    tables = [tmp_path / f"{backend}{number}" / "tables" for number in (0, 1)]
    for name in ("queues", "deliveries", "counters"):
        one, other = ((folder / f"{name}.parquet").read_bytes() for folder in tables)
        assert one == other
    assert not (tables[0] / "brokers.parquet").exists()


@pytest.mark.parametrize("backend", ["memory", "ns3"])
def test_samples_come_at_equal_times_and_at_the_end(tmp_path: Path, backend: str) -> None:
    network = {"backend": backend, "capture": "none"}
    plan = small_plan(tmp_path, workload=SCRIPT, network=network, measure=["brokers"])
    run(plan, tmp_path / "run", "x")
    sampled = rows(tmp_path / "run", "brokers")
    times = sorted({time for time, *_ in sampled})
    assert times == [10 * MS * number for number in range(1, SAMPLES + 1)]
    assert [row[1:3] for row in sampled[:5]] == [(broker, "entries") for broker in range(5)]
    entries = of(sampled, "entries", 0)
    assert (entries[1000], entries[1020], entries[4000]) == (0, 1, 1)
    assert {name for _, _, name, _ in sampled} == {"entries"}  # nobody waits without a service


@pytest.mark.parametrize("backend", ["memory", "ns3"])
def test_a_queue_is_what_waits_and_what_is_in_service(tmp_path: Path, backend: str) -> None:
    """Three events at 2 s, each in service for 100 ms at each of two brokers."""
    published = [{"time": "2 s", "broker": 0, "publish": {"price": 20}}] * 3
    plan = small_plan(
        tmp_path,
        network={"backend": backend, "capture": "none"},
        topology={"kind": "line", "brokers": 2},
        protocol={"name": "event-forwarding"},
        workload={"kind": "script", "steps": published},
        service={"model": "type", "seconds": {"local": "100 ms", "event": "150 ms"}},
        measure=["brokers"],
    )
    run(plan, tmp_path / "run", "x")
    sampled = rows(tmp_path / "run", "brokers")
    first, second = (of(sampled, "queue", broker) for broker in (0, 1))
    assert [first[time] for time in (1990, 2010, 2090, 2110, 2210, 2290, 2310, 4000)] == [
        *(0, 3, 3, 2, 1, 1, 0, 0)
    ]
    assert [second[time] for time in (2090, 2110, 2240, 2260, 2310, 2410, 2550, 2560)] == [
        *(0, 1, 2, 1, 2, 1, 1, 0)
    ]
    worked = of(sampled, "busy", 0)
    assert [worked[time] for time in (1990, 2050, 2290, 4000)] == [
        pytest.approx(seconds, abs=1e-6) for seconds in (0, 0.05, 0.29, 0.3)
    ]


def test_agents_may_count_and_store(tmp_path: Path, counting: type[Broker]) -> None:
    plan = small_plan(
        tmp_path, workload=SCRIPT, protocol={"name": counting.name}, measure=["brokers"]
    )
    run(plan, tmp_path / "run", "x")
    sampled = rows(tmp_path / "run", "brokers")
    received = of(sampled, "received", 2)
    assert min(received) == 1010  # a counter is a row from when it counts
    assert (received[1010], received[1990], received[2010]) == (1, 1, 2)
    assert of(sampled, "stored", 2)[4000] == of(sampled, "entries", 2)[4000] + 100


def test_a_broker_that_is_down_has_no_rows(tmp_path: Path) -> None:
    faults = [
        {"kind": "broker-crash", "time": "2.495 s", "broker": 4},
        {"kind": "broker-restart", "time": "2.995 s", "broker": 4},
    ]
    service = {"model": "type", "default": "1 ms"}
    plan = small_plan(
        tmp_path, workload=SCRIPT, faults=faults, service=service, measure=["brokers"]
    )
    run(plan, tmp_path / "run", "x")
    for name in ("entries", "queue"):
        seen = of(rows(tmp_path / "run", "brokers"), name, 4)
        assert {time for time in seen if 2480 <= time <= 3020} == {2480, 2490, 3000, 3010, 3020}


# The cost of work


def test_work_is_priced_by_the_units_of_the_protocol(
    tmp_path: Path, counting: type[Broker]
) -> None:
    service = {"model": "work", "fixed": "1 ms", "seconds": {"table-entries": "10 ms"}}
    settings = {"protocol": {"name": counting.name}, "service": service}
    plan = small_plan(tmp_path, workload=SCRIPT, **settings)
    run(plan, tmp_path / "run", "x")
    busy = {broker: spent / MS for broker, _, spent, *_ in rows(tmp_path / "run", "queues")}
    # Broker 1 gets the subscription and one event, and has one entry each time.
    assert busy[1] == 22.0


def test_a_protocol_that_counts_no_work_cannot_be_priced_by_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        small(tmp_path, service={"model": "work", "fixed": "1 ms"})
    assert str(error.value) == (
        'small.toml: service.model = "work": needs brokers that count their work,'
        " and those of subscription-forwarding do not"
    )


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("table-entry", 'did you mean "table-entries"?'),
        ("xyz", 'known are "new-entries", "table-entries"'),
    ],
)
def test_work_that_a_protocol_does_not_count_is_refused(
    tmp_path: Path, counting: type[Broker], name: str, ending: str
) -> None:
    service = {"model": "work", "seconds": {name: "1 us"}}
    with pytest.raises(ConfigError) as error:
        small(tmp_path, protocol={"name": counting.name}, service=service)
    assert str(error.value) == (
        f"small.toml: service.seconds.{name} is not work that counting counts; {ending}"
    )


def test_a_sweep_over_protocols_says_which_one_counts_no_work(
    tmp_path: Path, counting: type[Broker]
) -> None:
    with pytest.raises(ConfigError, match=r"those of event-forwarding do not \(in the sweep, at"):
        small(
            tmp_path,
            protocol={"name": counting.name},
            service={"model": "work", "seconds": {"new-entries": "1 us"}},
            sweep={"protocol.name": [counting.name, "event-forwarding"]},
        )


# Events that serve nobody, whatever message carries them


class Numbering(EventForwarding):
    """Floods events that count their hops: each hop has other bytes and the same identity."""

    name = "numbering"

    def publish(self, client: int, event: Envelope) -> None:
        attributes = event.message.attributes
        self._flood(event.id, CountedEvent(attributes, MessageId(0, 0), 0, 0), self.world.id)

    def on_counted_event(self, sender: int, envelope: Envelope) -> None:
        message = envelope.message
        grown = CountedEvent(message.attributes, message.advertisement, message.distance + 1, 0)
        self._flood(envelope.id, grown, sender)

    def _flood(self, event: MessageId, message: CountedEvent, sender: int) -> None:
        envelope = Envelope.seal(message, *event)
        for client in self.clients.interested(message.attributes):
            self.world.deliver(client, envelope)
        for neighbor in self.world.neighbors:
            if neighbor != sender:
                self.world.send(neighbor, envelope)


def test_events_with_a_count_are_misrouted_as_others_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._PROTOCOLS, "numbering", Numbering)
    misrouted = []
    for protocol in ("numbering", "event-forwarding"):
        folder = tmp_path / protocol
        settings = {"protocol": {"name": protocol}, "measure": ["misrouted"]}
        made = run(small_plan(tmp_path, **settings), folder, "x")
        assert made.deliveries.is_exact
        found = rows(folder, "records")
        misrouted.append({broker: count for broker, name, count, _ in found if name == MISROUTED})
    assert misrouted[0] == misrouted[1]
    assert sum(misrouted[0].values()) > 0
