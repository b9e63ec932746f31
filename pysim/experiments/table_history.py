"""Routing tables as they change, for who watches a run: each entry, and from when to when it stood.

It watches from outside: no agent sees it, and no message is other for it. It must not know what a
protocol keeps in its table beyond `routing_table()`.
"""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, cast

from pysim.network.simulation import Simulation
from pysim.network.transport import BrokerId

_Entry = tuple[Hashable, frozenset[Any] | str]
"""What a table has under a key, and where that leads."""

_LOOKS_AT_BROKERS = 40_000
_FEWEST, _MOST = 50, 2000


class TableRow(NamedTuple):
    """An entry of a broker's table and where it led; `until` is None if it stood at the end.

    Both times are those of looks: an entry is seen with the first look after it came, and missed
    with the first after it went.
    """

    broker: BrokerId
    entry: str
    leads_to: str
    since: int
    until: int | None


class TableHistory:
    """Looks at all tables at equal times, the more often the fewer brokers there are.

    A broker that is down has no table.
    """

    def __init__(self, simulation: Simulation, duration: int) -> None:
        self._simulation = simulation
        self._standing: dict[BrokerId, dict[_Entry, int]] = {}
        self._ended: list[TableRow] = []
        for time in look_times(duration, len(simulation.hosts)):
            simulation.transport.schedule(time, self._look)

    def conclude(self) -> list[TableRow]:
        """The last look, when the run is over; all rows, by broker and time."""
        self._look()
        standing = [
            _row(broker, entry, since, None)
            for broker, table in self._standing.items()
            for entry, since in table.items()
        ]
        return sorted([*self._ended, *standing], key=lambda row: (row.broker, row.since, *row[1:3]))

    def _look(self) -> None:
        now = self._simulation.transport.now
        for broker, host in self._simulation.hosts.items():
            table: Mapping[Hashable, object] = getattr(host.agent, "routing_table", dict)()
            before = self._standing.get(broker, {})
            seen = ((entry, _kept(leads_to)) for entry, leads_to in table.items())
            after = self._standing[broker] = {entry: before.get(entry, now) for entry in seen}
            for entry, since in before.items():
                if entry not in after:
                    self._ended.append(_row(broker, entry, since, now))


def look_times(duration: int, brokers: int) -> list[int]:
    """When tables are looked at, but for the end of the run."""
    looks = min(max(_LOOKS_AT_BROKERS // max(brokers, 1), _FEWEST), _MOST)
    return sorted({duration * number // looks for number in range(1, looks)} - {0})


def _kept(leads_to: object) -> frozenset[Any] | str:
    """What an entry leads to, in a form that does not change when the broker changes it."""
    return frozenset(leads_to) if isinstance(leads_to, set | frozenset) else str(leads_to)


def _row(broker: BrokerId, entry: _Entry, since: int, until: int | None) -> TableRow:
    """Texts are made at the end: most entries stand for many looks."""
    key, leads_to = entry
    several = isinstance(key, tuple) and not hasattr(key, "_fields")  # such as a tree and a filter
    name = ": ".join(map(str, cast(tuple[object, ...], key))) if several else str(key)
    ends = leads_to if isinstance(leads_to, str) else ", ".join(map(str, sorted(leads_to)))
    return TableRow(broker, name, ends, since, until)
