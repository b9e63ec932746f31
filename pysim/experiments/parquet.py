"""The tables of a run, as Parquet files: the same run gives the same bytes.

Times are whole nanoseconds of simulated time; seconds of the machine's own stand in a table of
their own, `filter-times`, which is not the same when a run is repeated. Rows stand in the order in
which things happened, or in the order of brokers where nothing happened.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pysim.experiments.plan import Plan
from pysim.experiments.probes import Measured
from pysim.experiments.sampling import BrokerSamples
from pysim.network.deliveries import Deliveries
from pysim.network.faults import (
    BrokerCrash,
    BrokerRestart,
    LinkBreak,
    LinkCreate,
    LossChange,
    in_order,
)
from pysim.network.simulation import Simulation
from pysim.wire import type_name
from topologies import LatencyMatrix

_ROW_GROUP = 1 << 20
_ID = {"origin": pa.uint32(), "sequence": pa.uint32()}
_CLIENT = {"broker": pa.uint32(), "client": pa.uint32()}
_COUNTS = (
    "sent sent_bytes received received_bytes lost_link lost_packet unfinished unserved"
    " unserved_bytes"
)

_SCHEMAS: dict[str, dict[str, Any]] = {
    "links": {
        "a": pa.uint32(),
        "b": pa.uint32(),
        "delay": pa.float64(),
        "rate": pa.float64(),
    },
    "wires": {
        "a": pa.string(),
        "b": pa.string(),
        "delay": pa.float64(),
        "rate": pa.float64(),
    },
    "changes": {
        "time": pa.int64(),
        "change": pa.string(),
        "a": pa.uint32(),
        "b": pa.uint32(),
        "loss": pa.float64(),
        "reconfiguration": pa.int64(),
    },
    "events": {**_ID, **_CLIENT, "time": pa.int64(), "due": pa.int64()},
    "deliveries": {
        **_ID,
        **_CLIENT,
        "published": pa.int64(),
        "delivered": pa.int64(),
        "kind": pa.string(),
        "way": pa.string(),
    },
    "missing": {**_ID, **_CLIENT},
    "subscriptions": {
        **_CLIENT,
        "filter": pa.string(),
        "since": pa.int64(),
        "until": pa.int64(),
    },
    "agents": {
        "broker": pa.uint32(),
        "side": pa.string(),
        "type": pa.string(),
        "messages": pa.int64(),
        "bytes": pa.int64(),
    },
    "counters": {
        "source": pa.uint32(),
        "target": pa.uint32(),
        "channel": pa.string(),
        "type": pa.string(),
        **dict.fromkeys(_COUNTS.split(), pa.int64()),
    },
    "traffic": {
        "time": pa.int64(),
        "type": pa.string(),
        "messages": pa.int64(),
        "bytes": pa.int64(),
    },
    "causes": {
        "reconfiguration": pa.int64(),
        "broker": pa.uint32(),
        "type": pa.string(),
        "messages": pa.int64(),
    },
    "queues": {
        "broker": pa.uint32(),
        **dict.fromkeys(
            ("served", "busy", "waiting", "longest", "length", "delayed", "joined"), pa.int64()
        ),
    },
    "records": {
        "broker": pa.uint32(),
        "name": pa.string(),
        "value": pa.float64(),
        "time": pa.int64(),
    },
}

_MORE: dict[str, dict[str, Any]] = {
    "stored": {
        "round": pa.int32(),
        "broker": pa.uint32(),
        **dict.fromkeys(("entries", "associations", "predicates", "bytes"), pa.int64()),
        **dict.fromkeys(("sampled", "candidates", "filtered"), pa.int64()),
    },
    "matching": {"round": pa.int32(), "events": pa.int64(), "matching": pa.int64()},
    "rounds": {
        "round": pa.int32(),
        "type": pa.string(),
        "messages": pa.int64(),
        "bytes": pa.int64(),
    },
    "applied": {
        "broker": pa.uint32(),
        "class": pa.int32(),
        "remote": pa.int64(),
        "untouched": pa.int64(),
    },
    "brokers": {
        "time": pa.int64(),
        "broker": pa.uint32(),
        "name": pa.string(),
        "value": pa.float64(),
    },
    "lists": {
        "source": pa.uint32(),
        "target": pa.uint32(),
        "type": pa.string(),
        "first": pa.bool_(),
        **dict.fromkeys(("length", "messages", "bytes"), pa.int64()),
    },
    "tables": {
        "broker": pa.uint32(),
        "entry": pa.string(),
        "leads_to": pa.string(),
        "since": pa.int64(),
        "until": pa.int64(),
    },
    "frames": {
        "source": pa.uint32(),
        "target": pa.uint32(),
        "channel": pa.string(),
        **dict.fromkeys(("departed", "arrived", "lost"), pa.int64()),
        "frame": pa.binary(),
    },
    "weights": {"type": pa.string(), "messages": pa.int64(), "weight": pa.float64()},
    "state": {"broker": pa.uint32(), "entries": pa.int64(), "stored": pa.int64()},
    "filter-times": {
        "round": pa.int32(),
        "broker": pa.uint32(),
        "engine": pa.string(),
        "seconds": pa.float64(),
    },
}
"""Tables of runs that measure `brokers`, `lists`, `tables`, `frames`, `costs`, `rounds`, `pruning`.

Only `filter-times` depends on the machine.
"""


def write_tables(plan: Plan, simulation: Simulation, measured: Measured, directory: Path) -> None:
    """Write all tables of a run that is not closed yet."""
    observer, transport = simulation.observer, simulation.transport
    rows: dict[str, Iterable[Sequence[object]]] = {
        "links": _links(plan),
        "wires": _wires(plan, simulation),
        "changes": _changes(plan, simulation),
        "events": ((*row.id, *row[1:]) for row in observer.events),
        "missing": ((*event, broker, client) for event, broker, client in observer.missing()),
        "subscriptions": (
            (row.broker, row.client, str(row.filter), row.since, row.until)
            for row in observer.subscriptions
        ),
        "agents": _agents(simulation),
        "counters": ((*row[:3], type_name(row.type), *row[4:]) for row in transport.counters()),
        "traffic": ((row.time, type_name(row.type), *row[2:]) for row in measured.traffic),
        "causes": measured.causes,
        "queues": transport.queues(),
        "records": observer.records,
    }
    directory.mkdir()
    for name, schema in _SCHEMAS.items():
        if name != "deliveries":
            pq.write_table(_table(rows[name], schema), directory / f"{name}.parquet")
    _write_deliveries(observer.deliveries, directory / "deliveries.parquet")
    for name, more in measured.more.items():
        pq.write_table(_table(more, _MORE[name]), directory / f"{name}.parquet")


def _write_deliveries(deliveries: Deliveries, path: Path) -> None:
    """Write what may be tens of millions of rows, a row group at a time."""
    schema = _SCHEMAS["deliveries"]
    with pq.ParquetWriter(path, pa.schema(list(schema.items()))) as writer:
        for columns in deliveries.parts(_ROW_GROUP):
            writer.write_table(_from_columns(columns, schema))


def _table(rows: Iterable[Sequence[object]], schema: dict[str, Any]) -> Any:
    columns: Sequence[Any]
    if isinstance(rows, BrokerSamples):
        columns = rows.columns()
    else:
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return _from_columns(columns, schema)


def _from_columns(columns: Sequence[Any], schema: dict[str, Any]) -> Any:
    arrays = [
        pa.array(column, type=kind) for column, kind in zip(columns, schema.values(), strict=True)
    ]
    return pa.table(arrays, names=list(schema))


def _links(plan: Plan) -> Iterator[tuple[object, ...]]:
    for a, b in sorted((min(link), max(link)) for link in plan.ground.overlay.edges):
        yield a, b, plan.ground.way(a, b).delay, plan.ground.link(a, b).rate


def _wires(plan: Plan, simulation: Simulation) -> Iterator[tuple[object, ...]]:
    """What packets cross, by the names that captures have: links, or the underlay's lines.

    A line of a latency matrix leads from its host to everyone, so it has one end and no delay.
    """
    underlay = plan.ground.underlay
    if underlay is None:
        for a, b in sorted(_pairs_ever_linked(plan, simulation)):
            link = plan.ground.link(a, b)
            yield f"b{a}", f"b{b}", link.delay, link.rate
    elif isinstance(underlay.network, LatencyMatrix):
        for broker in range(plan.setting.brokers):
            yield f"b{broker}", None, None, underlay.access.rate
    else:
        usual = plan.ground.links
        for a, b, data in sorted(underlay.network.edges(data=True), key=lambda edge: edge[:2]):
            delay, rate = data.get("delay", usual.delay), data.get("rate", usual.rate)
            yield f"r{a}", f"r{b}", delay, rate
        for broker, home in enumerate(underlay.homes):
            yield f"b{broker}", f"r{home}", underlay.access.delay, underlay.access.rate


def _pairs_ever_linked(plan: Plan, simulation: Simulation) -> set[tuple[int, int]]:
    created = [(s.a, s.b) for s in in_order(plan.faults) if isinstance(s, LinkCreate)]
    asked = [(change.a, change.b) for change in simulation.link_changes]
    return {(min(pair), max(pair)) for pair in (*plan.ground.overlay.edges, *created, *asked)}


def _agents(simulation: Simulation) -> Iterator[tuple[object, ...]]:
    """The agents' own counts: what each handed to the network and took from it."""
    for broker, host in sorted(simulation.hosts.items()):
        for side, counts in (("sent", host.books.sent), ("received", host.books.received)):
            for code, (messages, size) in sorted(counts.items()):
                yield broker, side, type_name(code), messages, size


def _changes(plan: Plan, simulation: Simulation) -> list[tuple[object, ...]]:
    """What went wrong on purpose, and what agents asked for, by time."""
    asked = [
        (change.time, "create" if change.opened else "break", change.a, change.b, None, None)
        for change in simulation.link_changes
    ]
    return sorted([*_faults(plan), *asked], key=_time)


def _time(row: tuple[Any, ...]) -> int:
    time: int = row[0]
    return time


def _faults(plan: Plan) -> Iterator[tuple[object, ...]]:
    for step in in_order(plan.faults):
        match step:
            case LinkBreak(time, a, b, notices) | LinkCreate(time, a, b, _, notices):
                change = "break" if isinstance(step, LinkBreak) else "create"
                number = notices[a].reconfiguration if a in notices else None
                yield time, change, a, b, None, number
            case BrokerCrash(time, broker):
                yield time, "crash", broker, None, None, None
            case BrokerRestart(time, broker):
                yield time, "restart", broker, None, None, None
            case LossChange(time, a, b, loss):
                yield time, "loss", a, b, loss, None
