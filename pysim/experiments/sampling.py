"""What brokers hold from time to time: queues, tables, and what agents count of their own.

It watches from outside: no agent sees it, and no message is other for it. It must not know what a
protocol counts.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from pysim.network.simulation import Simulation
from pysim.network.transport import NANOSECONDS, BrokerId

SAMPLES = 400
"""How often a run is looked at."""


class SampleRow(NamedTuple):
    """A number that a broker had at a time (ns)."""

    time: int
    broker: BrokerId
    name: str
    value: float


class BrokerSamples(Sequence[SampleRow]):
    """Looks at all brokers at equal times of a run, and when it has ended (`conclude`).

    A broker that is up has rows `queue` (all that waits or is in service) and `busy` (seconds for
    which its server has worked so far) if it has a service model, `entries` and `stored` if its
    agent has such a size, and one for each of its counters.
    A broker that is down has none.
    """

    def __init__(self, simulation: Simulation, duration: int) -> None:
        self._simulation = simulation
        self._busy: dict[BrokerId, int] = {}
        self._times = array("q")
        self._brokers = array("I")
        self._names: list[str] = []
        self._values = array("d")
        for time in sorted({duration * number // SAMPLES for number in range(1, SAMPLES + 1)}):
            simulation.transport.schedule(max(0, time - 1), self._look_at_servers)
            if 0 < time < duration:
                simulation.transport.schedule(time, self._look)

    def conclude(self) -> None:
        """The last look, when the run is over."""
        self._look()

    def columns(self) -> tuple[Sequence[int], Sequence[int], Sequence[str], Sequence[float]]:
        """All rows, column by column."""
        return self._times, self._brokers, self._names, self._values

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, place: int) -> SampleRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[SampleRow]: ...
    def __getitem__(self, place: int | slice) -> SampleRow | list[SampleRow]:
        if isinstance(place, slice):
            return [self[index] for index in range(*place.indices(len(self)))]
        return SampleRow(*(column[place] for column in self.columns()))  # type: ignore[arg-type]

    def _look_at_servers(self) -> None:
        self._busy = {queue.broker: queue.busy for queue in self._simulation.transport.queues()}

    def _look(self) -> None:
        """Note all numbers; a server that worked in the nanosecond before has one in service."""
        now = self._simulation.transport.now
        queues = {
            queue.broker: (
                queue.length + (queue.busy > self._busy.get(queue.broker, queue.busy)),
                queue.busy / NANOSECONDS,
            )
            for queue in self._simulation.transport.queues()
        }
        for broker, host in self._simulation.hosts.items():
            agent = host.agent
            if agent is None:
                continue
            if broker in queues:
                for name, value in zip(("queue", "busy"), queues[broker], strict=True):
                    self._note(now, broker, name, value)
            for name, value in (*sizes_of(agent), *_counters(agent)):
                self._note(now, broker, name, value)

    def _note(self, time: int, broker: BrokerId, name: str, value: float) -> None:
        self._times.append(time)
        self._brokers.append(broker)
        self._names.append(name)
        self._values.append(value)


def sizes_of(agent: object) -> Iterator[tuple[str, float]]:
    """How much an agent holds, as far as it says so: `entries`, and all that it has `stored`."""
    for name, method in (("entries", "table_size"), ("stored", "stored_size")):
        size = getattr(agent, method, None)
        if size is not None:
            yield name, size()


def _counters(agent: object) -> Iterator[tuple[str, float]]:
    counters = getattr(agent, "counters", None)
    if isinstance(counters, Counter):
        yield from sorted(counters.items())
