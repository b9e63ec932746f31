"""What the figures on destination-based routing have in common: names, quick looks, shares."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.reproduction.figure import Measure
from analysis.reproduction.measures import number, ratio

FBR, DDBR, MERC = THREE = ("FBR", "D-DBR", "MERC")
BROKERS, DEGREE = "topology.brokers", "topology.degree"
RATE, MATCHING, DESTINATIONS = "workload.rate", "workload.matching", "workload.destinations"
PAYLOAD, FAILED = "workload.payload", "faults[0].share"
MAX_DEGREE, LOSSES = "protocol.max_degree", "protocol.losses"

CLUSTERS: Mapping[str, Any] = {"kind": "clusters", "clusters": 5, "size": 6, "degree": 4.0}
FLAT: Mapping[str, Any] = {"kind": "random-graph", "brokers": 30, "degree": 4.0}
"""The overlays of a quick look."""

_FASTER: Mapping[str, Any] = {"edge": 8.0}
_ROUTED = "protocol, topology, service.speed, workload.rate"
_TIMED = f"{_ROUTED}, workload.publish_stop, duration"


def percent(one: Measure, other: Measure) -> Measure:
    """The first in percent of the second."""
    part = ratio(one, other)
    return lambda rows: 100 * part(rows)


def compared(value: str, protocol: str, of: str, at: Mapping[str, Any] | None = None) -> Measure:
    """What one protocol has of a column, in percent of what another has."""
    where = at or {}
    return percent(number(value, protocol, where), number(value, of, where))


def on_line(brokers: Sequence[int] = (1, 4, 10)) -> dict[str, Any]:
    """A twelfth of the events of a line, and fewer lengths of it."""
    return {
        "duration": "23 s",
        "workload.publish_stop": "20 s",
        "sweep": {BROKERS: list(brokers)},
    }


def general(figure: str) -> dict[str, Any]:
    """30 brokers with 10 subscriptions each, and matching so much dearer that FBR is as busy.

    A broker stores 10 x 18 trees x 2.5 hops instead of 5005 copies: an eleventh.
    """
    slow = ("1000 /min", "2000 /min", "2500 /min")
    fast = ("2000 /min", "8000 /min", "14000 /min", "56000 /min")
    end = ["22 s", "27 s"]
    sweeps: dict[str, dict[str, Any]] = {
        "fig15": {_TIMED: [
            *([{"name": "fbr-general"}, FLAT, {}, rate, *end] for rate in slow),
            *([{"name": "d-dbr"}, FLAT, {}, rate, *end] for rate in fast),
            *([{"name": "merc"}, CLUSTERS, _FASTER, rate, *end]
              for rate in (*fast[:2], "11000 /min")),
        ]},
        "fig16": {_ROUTED: [
            [{"name": "d-dbr"}, FLAT, {}, "2000 /min"],
            [{"name": "merc"}, CLUSTERS, _FASTER, "2000 /min"],
        ]},
    }  # fmt: skip
    return {
        "duration": "27 s",
        "topology": FLAT,
        "service.seconds": {"publication-entries": "67 us"},
        "workload.subscriptions": 10,
        "workload.symbols": 10,
        "workload.advertise_ramp": "2 s",
        "workload.start": "4 s",
        "workload.ramp": "6 s",
        "workload.publish_start": "12 s",
        "workload.publish_stop": "22 s",
        "sweep": sweeps[figure],
    }


def tables(**lists: Any) -> dict[str, Any]:
    """30 brokers with 10 subscriptions each."""
    pairs = [
        [{"name": "fbr-general"}, FLAT],
        [{"name": "d-dbr"}, FLAT],
        [{"name": "merc"}, CLUSTERS],
    ]
    return {
        "topology": FLAT,
        "duration": "25 s",
        "workload.subscriptions": 10,
        "workload.symbols": 10,
        "workload.ramp": "10 s",
        "sweep": {"protocol, topology": pairs, **lists},
    }
