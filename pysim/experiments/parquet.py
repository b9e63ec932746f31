"""The tables of a run, as Parquet files: the same run gives the same bytes.

Times are whole nanoseconds of simulated time. Rows stand in the order in which things happened, or
in the order of brokers where nothing happened.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pysim.experiments.plan import Plan
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
    },
    "subscriptions": {
        **_CLIENT,
        "filter": pa.string(),
        "since": pa.int64(),
        "until": pa.int64(),
    },
    "counters": {
        "source": pa.uint32(),
        "target": pa.uint32(),
        "channel": pa.string(),
        "type": pa.string(),
        **dict.fromkeys(_COUNTS.split(), pa.int64()),
    },
    "queues": {
        "broker": pa.uint32(),
        **dict.fromkeys(("served", "busy", "waiting", "longest", "length"), pa.int64()),
    },
    "records": {
        "broker": pa.uint32(),
        "name": pa.string(),
        "value": pa.float64(),
        "time": pa.int64(),
    },
}


def write_tables(plan: Plan, simulation: Simulation, directory: Path) -> None:
    """Write all tables of a run that is not closed yet."""
    observer, transport = simulation.observer, simulation.transport
    rows: dict[str, Iterable[Sequence[object]]] = {
        "links": _links(plan),
        "changes": _changes(plan),
        "events": ((*row.id, *row[1:]) for row in observer.events),
        "deliveries": ((*row.event, *row[1:]) for row in observer.deliveries),
        "subscriptions": (
            (row.broker, row.client, str(row.filter), row.since, row.until)
            for row in observer.subscriptions
        ),
        "counters": ((*row[:3], type_name(row.type), *row[4:]) for row in transport.counters()),
        "queues": transport.queues(),
        "records": observer.records,
    }
    directory.mkdir()
    for name, schema in _SCHEMAS.items():
        pq.write_table(_table(rows[name], schema), directory / f"{name}.parquet")


def _table(rows: Iterable[Sequence[object]], schema: dict[str, Any]) -> Any:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [
        pa.array(column, type=kind) for column, kind in zip(columns, schema.values(), strict=True)
    ]
    return pa.table(arrays, names=list(schema))


def _links(plan: Plan) -> Iterator[tuple[object, ...]]:
    for a, b in sorted((min(link), max(link)) for link in plan.ground.overlay.edges):
        yield a, b, plan.ground.way(a, b).delay, plan.ground.link(a, b).rate


def _changes(plan: Plan) -> Iterator[tuple[object, ...]]:
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
