"""Small captured scenes, made by hand: messages and packets as the reading of captures gives them.

Times are in milliseconds. Brokers are joined by point-to-point links; the link between a and b has
the number 16 a + b (a < b), which its addresses follow from.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession

from analysis.captures.messages import MESSAGES, PACKETS
from analysis.changes import reconfigurations
from analysis.metrics import inputs
from analysis.metrics.metric import Setting
from analysis.placing import Coverage, placed
from pysim.wire import message_types

MS = 1_000_000
CODES = {known.name: known.code for known in message_types().values()}


def address(broker: int, peer: int) -> str:
    """The address of a broker's end of its link to another."""
    low, high = sorted((broker, peer))
    number = 4 * (16 * low + high) + (1 if broker == low else 2)
    return f"10.128.{number // 256}.{number % 256}"


def hop(
    name: tuple[int, int],
    source: int,
    target: int,
    left: float,
    came: float | None,
    *,
    type: str = "event",
    length: int = 40,
    destinations: int | None = None,
    began: float | None = None,
) -> list[dict[str, Any]]:
    """A message on a link, seen leaving and arriving (`came` None: it was lost on the way).

    `left` is when its last byte left; `began`, if it is not the same, when the first one did.
    """
    rows = []
    for capturing, peer, direction, time in (
        (source, target, "out", left),
        (target, source, "in", came),
    ):
        if time is None:
            continue
        first = time if began is None else time - (left - began)
        rows.append(
            {
                "capture": f"b{capturing}-b{peer}",
                "connection": 0,
                "direction": direction,
                "source_address": address(source, target),
                "target_address": address(target, source),
                "source_port": 49153 if source < target else 7471,
                "target_port": 7471 if source < target else 49153,
                "protocol": "tcp",
                "type": CODES.get(type, 0) or int(type.removeprefix("type-")),
                "origin": name[0],
                "sequence": name[1],
                "length": length,
                "first_time": round(first * MS),
                "time": round(time * MS),
                "segments": 1,
                "destinations": destinations,
                "version": 1,
                "crc": hash((name, length)) & 0xFFFFFFFF,
            }
        )
    return rows


def packet(
    source: int, target: int, left: float, came: float | None, role: str = "data", **parts: int
) -> list[dict[str, Any]]:
    """A packet on a link; `parts` are its bytes by column, headers of 2 + 20 + 32 bytes if none."""
    given = {"link_header": 2, "ip_header": 20, "transport_header": 32, **parts}
    columns = ("link_header", "ip_header", "transport_header", "frame_header", "body", "repeated",
               "unattributed")  # fmt: skip
    sizes = {name: given.get(name, 0) for name in columns}
    rows = []
    for capturing, peer, direction, time in (
        (source, target, "out", left),
        (target, source, "in", came),
    ):
        if time is None:
            continue
        rows.append(
            {
                "capture": f"b{capturing}-b{peer}",
                "number": len(rows) + 1,
                "time": round(time * MS),
                "direction": direction,
                "source_address": address(source, target),
                "target_address": address(target, source),
                "source_port": 49153 if source < target else 7471,
                "target_port": 7471 if source < target else 49153,
                "protocol": "tcp",
                "connection": 0,
                "length": sum(sizes.values()),
                "role": role,
                **sizes,
            }
        )
    return rows


class Scene:
    """Captured messages and packets of a few brokers, and the inputs of metrics made of them."""

    def __init__(
        self,
        spark: SparkSession,
        messages: Iterable[list[dict[str, Any]]] = (),
        packets: Iterable[list[dict[str, Any]]] = (),
        *,
        brokers: int = 5,
        duration: float = 1000,
        first_event: float | None = 0,
        events: Sequence[tuple[int, int, float, int]] = (),
        deliveries: Sequence[tuple[int, int, int, float, float, str]] = (),
        missing: Sequence[tuple[int, int, int]] = (),
        changes: Sequence[tuple[float, str, int, int | None, int | None]] = (),
        wires: Sequence[tuple[str, str, float, float]] = (),
    ) -> None:
        """`events` are (origin, sequence, time, due), `deliveries` (origin, sequence, broker,
        published, delivered, kind), `missing` (origin, sequence, broker), `changes` (time, change,
        a, b, number), `wires` (a, b, bit/s, life)."""
        self._spark = spark
        seen = Coverage(brokers, paired=True, both_views=True)
        first = None if first_event is None else round(first_event * MS)
        self.setting = Setting(round(duration * MS), brokers, first)
        published = np.array(sorted(origin << 32 | number for origin, number, *_ in events), "i8")
        said, sent = _by_capture(messages, MESSAGES), _by_capture(packets, PACKETS)
        tables = [
            placed(
                said.get(name, MESSAGES.empty_table()),
                sent.get(name, PACKETS.empty_table()),
                seen,
                published,
            )
            for name in {"": None, **said, **sent}
        ]
        self.messages, self.packets = (
            spark.createDataFrame(pa.concat_tables(each)) for each in zip(*tables, strict=True)
        )
        self.events = spark.createDataFrame(
            [(o, s, o, 0, round(t * MS), due) for o, s, t, due in events],
            "origin long, sequence long, broker long, client long, time long, due long",
        )
        self.deliveries = spark.createDataFrame(
            [(o, s, b, 0, round(p * MS), round(d * MS), k) for o, s, b, p, d, k in deliveries],
            "origin long, sequence long, broker long, client long, published long, delivered long,"
            " kind string",
        )
        self.missing = spark.createDataFrame(
            [(o, s, b, 0) for o, s, b in missing],
            "origin long, sequence long, broker long, client long",
        )
        happened = [(round(t * MS), change, a, b, number) for t, change, a, b, number in changes]
        self.changes = pd.DataFrame(
            happened, columns=["time", "change", "a", "b", "reconfiguration"]
        )
        self.wires = spark.createDataFrame(
            [(a, b, rate, round(life * MS)) for a, b, rate, life in wires],
            "a string, b string, rate double, life long",
        )

    @cached_property
    def reconfigurations(self) -> DataFrame:
        rows = reconfigurations(self.changes, self.setting.duration)
        return self._spark.createDataFrame(
            [tuple(row) for row in rows.astype(object).itertuples(index=False)],
            "reconfiguration long, broken string, created string, from_time long,"
            " last_change long, until long",
        )

    @cached_property
    def hops(self) -> DataFrame:
        return _settled(inputs.hops(self.messages, self.reconfigurations, self.setting))

    @cached_property
    def journeys(self) -> DataFrame:
        return _settled(inputs.journeys(self.hops, self.deliveries))


def rows_of(frame: DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """A table as tuples, sorted, nulls last."""
    found: list[Row] = (frame.select(*columns) if columns else frame).collect()
    return sorted((tuple(row) for row in found), key=lambda row: [(x is None, x) for x in row])


def _by_capture(seen: Iterable[list[dict[str, Any]]], schema: pa.Schema) -> dict[str, pa.Table]:
    captures: dict[str, list[dict[str, Any]]] = {}
    for row in chain(*seen):
        captures.setdefault(row["capture"], []).append(row)
    return {name: pa.Table.from_pylist(rows, schema) for name, rows in captures.items()}


def _settled(frame: DataFrame) -> DataFrame:
    """The same rows without their history, which would be planned anew for every metric."""
    return frame.sparkSession.createDataFrame(frame.toArrow())
