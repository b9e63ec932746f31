"""What the figures on destination-based routing have in common: names, quick looks, shares."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.reproduction.figure import Measure
from analysis.reproduction.measures import number, ratio

FBR, DDBR, MERC = THREE = ("FBR", "D-DBR", "MERC")
BROKERS, DEGREE = "topology.brokers", "topology.degree"
RATE, MATCHING, DESTINATIONS = "workload.rate", "workload.matching", "workload.destinations"
PAYLOAD, FAILED, MAX_DEGREE = "workload.payload", "faults[0].share", "protocol.max_degree"

_CLUSTERS = {"kind": "clusters", "clusters": 6, "size": 5, "degree": 5.0}
_FLAT = {"kind": "random-graph", "brokers": 30, "degree": 5.0}
_FASTER: Mapping[str, Any] = {"edge": 8.0}
_ROUTED = "protocol, topology, service.speed, workload.rate"


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

    A broker stores 10 x 18 trees x 2.3 hops instead of 5005 copies: a twelfth.
    """
    slow = ("1000 /min", "2000 /min", "2500 /min")
    fast = ("2000 /min", "8000 /min", "14000 /min", "56000 /min")
    rows = {
        "fig15": [
            *([{"name": "fbr-general"}, _FLAT, {}, rate] for rate in slow),
            *([{"name": "d-dbr"}, _FLAT, {}, rate] for rate in fast),
            *([{"name": "merc"}, _CLUSTERS, _FASTER, rate] for rate in (*fast[:2], "11000 /min")),
        ],
        "fig16": [
            [{"name": "d-dbr"}, _FLAT, {}, "2000 /min"],
            [{"name": "merc"}, _CLUSTERS, _FASTER, "2000 /min"],
        ],
    }
    return {
        "duration": "27 s",
        "topology": _FLAT,
        "service.seconds": {"publication-entries": "74 us"},
        "workload.subscriptions": 10,
        "workload.symbols": 10,
        "workload.advertise_ramp": "2 s",
        "workload.start": "4 s",
        "workload.ramp": "6 s",
        "workload.publish_start": "12 s",
        "workload.publish_stop": "22 s",
        "sweep": {_ROUTED: rows[figure]},
    }


def tables(**lists: Any) -> dict[str, Any]:
    """30 brokers with 10 subscriptions each."""
    pairs = [
        [{"name": "fbr-general"}, _FLAT],
        [{"name": "d-dbr"}, _FLAT],
        [{"name": "merc"}, _CLUSTERS],
    ]
    return {
        "topology": _FLAT,
        "duration": "25 s",
        "workload.subscriptions": 10,
        "workload.symbols": 10,
        "workload.ramp": "10 s",
        "sweep": {"protocol, topology": pairs, **lists},
    }
