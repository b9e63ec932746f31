"""Follows publications from broker to broker, one event at a time; plain Python inside Arrow.

This runs in Spark's Python workers: a tree cannot be followed by joins without one join a hop.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa


class Way(NamedTuple):
    """What went from one broker to another: copies sent and arrived, and the first arrival."""

    source: int
    target: int
    sent: int
    arrived: int
    time: int | None


class Leg(NamedTuple):
    """What `analysis.metrics.inputs.journeys` says about a way."""

    hops: int | None
    first: bool
    useful: int
    misrouted: int
    lost: int
    repeated: int
    pure_forward: int


_FIELDS = ("origin", "sequence", "source", "target", *Leg._fields)


def follow_journeys(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row for each way of each event in the batches."""
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for event in batch.to_pylist():
            ways = [Way(**way) for way in event["ways"]]
            legs = follow(event["origin"], ways, set(event["served"] or ()))
            rows += (
                (event["origin"], event["sequence"], way.source, way.target, *leg)
                for way, leg in zip(ways, legs, strict=True)
            )
        columns = zip(*rows, strict=True) if rows else [()] * len(_FIELDS)
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, _type(name)) for name, column in zip(_FIELDS, columns, strict=True)],
            list(_FIELDS),
        )


def follow(origin: int, ways: list[Way], served: set[int]) -> list[Leg]:
    """What became of an event that `origin` published, way by way."""
    came_by = _first_arrivals(origin, ways)
    depths = _depths(origin, came_by)
    onward: dict[int, list[Way]] = {}
    for way in ways:
        onward.setdefault(way.source, []).append(way)
    serves, loses = set(served), {way.source for way in ways if way.arrived < way.sent}
    for broker in sorted(depths, key=lambda broker: -depths[broker]):
        for behind in (serves, loses):
            if broker in behind and broker in came_by:
                behind.add(came_by[broker].source)
    return [_leg(way, came_by, depths, served, serves, loses, onward) for way in ways]


def _first_arrivals(origin: int, ways: list[Way]) -> dict[int, Way]:
    """How each broker came to the event; its publisher's had it from the start."""
    came_by: dict[int, Way] = {}
    for way in sorted((way for way in ways if way.arrived), key=lambda way: (way.time, way.source)):
        if way.target != origin:
            came_by.setdefault(way.target, way)
    return came_by


def _depths(origin: int, came_by: dict[int, Way]) -> dict[int, int]:
    """Hops from the origin to each broker that the event reached from there."""
    children: dict[int, list[int]] = {}
    for way in came_by.values():
        children.setdefault(way.source, []).append(way.target)
    depths, reached = {origin: 0}, [origin]
    for broker in reached:
        for child in children.get(broker, ()):
            depths[child] = depths[broker] + 1
            reached.append(child)
    return depths


def _leg(
    way: Way,
    came_by: dict[int, Way],
    depths: dict[int, int],
    served: set[int],
    serves: set[int],
    loses: set[int],
    onward: dict[int, list[Way]],
) -> Leg:
    first = came_by.get(way.target) is way
    repeated = way.arrived - first
    useful = first and way.target in serves
    undecided = first and not useful and way.target in loses
    return Leg(
        hops=depths.get(way.target) if first else None,
        first=first,
        useful=int(useful),
        misrouted=repeated + (first and not useful and not undecided),
        lost=max(0, way.sent - way.arrived) + undecided,
        repeated=repeated,
        pure_forward=int(first and way.target not in served and way.target in onward),
    )


def _type(field: str) -> pa.DataType:
    if field == "first":
        return pa.bool_()
    return pa.int32() if field in ("source", "target", "hops") else pa.int64()
