"""Fig. 19 to 24 on destination-based routing, and what its paper could not measure.

Sec. V-B: lists by the size of the overlay, an overlay that organizes itself, and failures; then
bytes, the related work, and MERC with 1000 brokers. Tolerances as in `destinations`, set before
anything was run.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.reproduction.destinations_sizes import (
    BROKERS,
    CLUSTERS,
    DDBR,
    DEGREE,
    DESTINATIONS,
    FAILED,
    FBR,
    FLAT,
    LOSSES,
    MAX_DEGREE,
    MERC,
    PAYLOAD,
    THREE,
    compared,
    percent,
)
from analysis.reproduction.figure import Claim, Figure, Measure, Panel
from analysis.reproduction.measures import GREATEST, LEAST, difference, number, ratio
from analysis.reproduction.rules import UNPUBLISHED, about, at_least, exactly

_SIX, _TENTH, _HALF, _ALL = 6.0, 0.1, 0.5, 1.0
_SHARES = ((_TENTH, "10 %"), (_HALF, "50 %"), (_ALL, "all"))
_CASES = "topology, workload.destinations, workload.symbols"


def _graph(brokers: int, degree: float = _SIX) -> dict[str, Any]:
    return {"kind": "random-graph", "brokers": brokers, "degree": degree}


_SMALLER: Mapping[str, Any] = {
    "duration": "12 s",
    "workload.advertise_ramp": "1 s",
    "workload.start": "3 s",
    "workload.ramp": "1 s",
    "workload.publish_start": "5 s",
    "workload.rate": "100 /s",
    "workload.publish_stop": "10 s",
}
_SIZES = [
    [_graph(brokers), share, symbols]
    for share, symbols in (("10 %", 20), ("50 %", 4), ("100 %", 1))
    for brokers in (50, 100)
]


# Lists by the size of the overlay


def _by_size(column: str) -> tuple[Panel, ...]:
    return tuple(
        Panel(f"For {words} of the brokers", column, BROKERS, "brokers", "ids",
              only={DESTINATIONS: share, DEGREE: _SIX})
        for share, words in _SHARES
    )  # fmt: skip


def _list(brokers: Any, share: float, degree: float = _SIX) -> Measure:
    return number("list length", DDBR, {DEGREE: degree, DESTINATIONS: share, BROKERS: brokers})


FIG19 = Figure(
    "fig19",
    "Destination lists by the number of brokers",
    "Lists grow with the number of brokers and the share of destinations, and stay short: 3.8 ids"
    " at 700 brokers of degree 6 if all are destinations, 3.2 at degree 9; 2.84 at 100 brokers of"
    " degree 3 with 50 destinations (Sec. I).",
    _by_size("list length"),
    (
        Claim("all-700", "700 brokers, degree 6, all: mean length",
              about(3.8, 0.38), _list(700, _ALL)),
        Claim("all-700-9", "700 brokers, degree 9, all: mean length",
              about(3.2, 0.32), _list(700, _ALL, 9.0)),
        Claim("half-100-3", "100 brokers, degree 3, 50 destinations: mean length",
              about(2.84, 0.28), _list(100, _HALF, 3.0)),
        *(Claim(f"grows-{100 * share:g}", f"{words}: ids that the largest overlay has more",
                at_least(0), difference(_list(GREATEST, share), _list(LEAST, share)))
          for share, words in _SHARES),
        Claim("share", "ids that all destinations have more than 10 %, largest overlay",
              at_least(0), difference(_list(GREATEST, _ALL), _list(GREATEST, _TENTH))),
        *(Claim(f"mean-{100 * share:g}-{brokers}", f"{words}: mean length at {brokers} brokers",
                UNPUBLISHED, _list(brokers, share))
          for share, words in _SHARES for brokers in (100, 300, 500, 700)
          if (share, brokers) != (_ALL, 700)),
    ),
    quick={**_SMALLER, "sweep": {_CASES: [*_SIZES, [_graph(100, 3.0), "50 %", 4]]}},
)  # fmt: skip

FIG20 = Figure(
    "fig20",
    "How long lists are",
    "700 brokers of degree 6, 10 % of them destinations: over 95 % of the lists are shorter than 5,"
    " over 99 % shorter than 12.",
    (
        Panel("Lists of a length", "lists of length", x_label="ids", y_label="% of messages",
              kind="time", begin=1),
        Panel("Lists up to a length", "lists up to length", x_label="ids", y_label="% of messages",
              kind="time", begin=1),
    ),
    (
        Claim("below-5", "% of lists shorter than 5", at_least(95), number("lists below 5", DDBR)),
        Claim("below-12", "% of lists shorter than 12",
              at_least(99), number("lists below 12", DDBR)),
        Claim("mean", "mean length", UNPUBLISHED, number("list length", DDBR)),
    ),
    quick={**_SMALLER, "sweep": {_CASES: [[_graph(200), "10 %", 20]]}},
)  # fmt: skip


def _first(brokers: Any, share: float) -> Measure:
    return number("list length at the source", DDBR, {DESTINATIONS: share, BROKERS: brokers})


def _straight(share: float) -> Measure:
    """How much of the variance of lengths a line over the number of brokers explains."""

    def measure(rows: Any) -> Any:
        chosen = rows[rows[DESTINATIONS] == share]

        def explained(group: Any) -> float:
            means = group.groupby(BROKERS)["list length at the source"].mean()
            return float(means.corr(means.index.to_series()) ** 2)

        return chosen.groupby("seed").apply(explained, include_groups=False)

    return measure


FIG21 = Figure(
    "fig21",
    "Destination lists at the source",
    "Lists that leave an event's source grow linearly with the number of brokers, and with the"
    " share of destinations.",
    _by_size("list length at the source"),
    (
        *(Claim(f"linear-{100 * share:g}", f"{words}: variance that a straight line explains",
                at_least(0.95), _straight(share)) for share, words in _SHARES),
        Claim("share", "length with all destinations over that with 10 %, largest overlay",
              at_least(1), ratio(_first(GREATEST, _ALL), _first(GREATEST, _TENTH))),
        *(Claim(f"mean-{100 * share:g}-{brokers}", f"{words}: mean length at {brokers} brokers",
                UNPUBLISHED, _first(brokers, share))
          for share, words in _SHARES for brokers in (100, 700)),
    ),
    quick={**_SMALLER, "sweep": {_CASES: [*_SIZES, *(
        [_graph(150), share, symbols] for share, symbols in (("10 %", 20), ("50 %", 4),
                                                            ("100 %", 1)))]}},
)  # fmt: skip


# An overlay that organizes itself

_READINGS = (("ends", "between its ends"), ("carried", "that it carries"))
"""What the loss of a link may count: events between its ends, or all that it carries."""
_LESS, _MORE = 3, 4


def _hops(when: str, losses: str, degree: int = _LESS) -> Measure:
    return number(f"hops at {when}", DDBR, {LOSSES: losses, MAX_DEGREE: degree})


def _inverse(measure: Measure) -> Measure:
    return lambda rows: 1 / measure(rows)


def _organized() -> Iterator[Claim]:
    before = _hops("first", _READINGS[0][0])
    yield Claim("before", "hops of a message before", about(3.97, 0.4), before)
    yield Claim("accuracy-before", "routing accuracy before", about(0.252, 0.025), _inverse(before))
    for losses, words in _READINGS:
        after = _hops("last", losses)
        where = f"loss of a link by events {words}"
        yield Claim(
            f"after-{losses}", f"{where}: hops of a message afterwards", about(3.51, 0.35), after
        )
        yield Claim(
            f"saved-{losses}",
            f"{where}: hops afterwards, % of those before",
            about(88.4, 5),
            percent(after, _hops("first", losses)),
        )
        yield Claim(
            f"accuracy-{losses}",
            f"{where}: routing accuracy afterwards",
            about(0.285, 0.029),
            _inverse(after),
        )
        yield Claim(
            f"more-{losses}",
            f"{where}, MaxDegree {_MORE}: hops of a message afterwards",
            UNPUBLISHED,
            _hops("last", losses, _MORE),
        )


FIG22 = Figure(
    "fig22",
    "An overlay that organizes itself",
    "On 70 brokers, whose pairs exchange 1 to 100 messages a minute, the mean number of hops falls"
    " from 3.97 to 3.51, and routing accuracy rises from 0.252 to 0.285.",
    tuple(
        Panel(f"MaxDegree {degree}, {losses}", "hops", x_label="seconds",
              y_label="hops of a message", kind="time", begin=0,
              only={MAX_DEGREE: degree, LOSSES: losses})
        for degree in (_LESS, _MORE) for losses, _ in _READINGS
    ),
    tuple(_organized()),
    quick={
        "duration": "160 s",
        "protocol.cycle": "35 s",
        "protocol.slot": "0.5 s",
        "workload.rate": "6000 /min",
        "workload.publish_stop": "155 s",
        "sweep": {LOSSES: [losses for losses, _ in _READINGS], MAX_DEGREE: [_LESS, _MORE]},
    },
)  # fmt: skip


# Failures


def _failing(
    name: str, what: str, published: str, half: tuple[float, float], of_all: str
) -> Figure:
    column = "delivered of all pairs"
    return Figure(
        name,
        f"Deliveries after {what} have failed",
        published,
        (
            Panel("Of all pairs", column, FAILED, f"share of {what} that failed", "% delivered"),
            Panel("Of pairs whose ends are alive", "delivered", FAILED,
                  f"share of {what} that failed", "% delivered"),
        ),
        (
            *(Claim(f"half-{each.lower()}", f"{each}: % of {of_all} if half the {what} fail",
                    about(value, round(value / 10, 1)), number(column, each, {FAILED: _HALF}))
              for each, value in zip((FBR, DDBR), half, strict=True)),
            Claim("robust", f"% of {of_all} that D-DBR delivers more, half the {what} failed",
                  at_least(0), difference(number(column, DDBR, {FAILED: _HALF}),
                                          number(column, FBR, {FAILED: _HALF}))),
            *(Claim(f"alive-{each.lower()}",
                    f"{each}: % of pairs whose ends are alive if half the {what} fail",
                    UNPUBLISHED, number("delivered", each, {FAILED: _HALF}))
              for each in (FBR, DDBR)),
        ),
        quick={"repeat": 6, "sweep": {"faults[0].share": ["30 %", "50 %"]}},
    )  # fmt: skip


FIG23 = _failing(
    "fig23",
    "brokers",
    "If half the brokers fail, D-DBR still delivers 21.8 % of all events, FBR 8.7 %.",
    (8.7, 21.8),
    "all pairs",
)
FIG24 = _failing(
    "fig24",
    "links",
    "If half the links are lost, D-DBR still delivers 86.2 % of all events, FBR 17.5 %.",
    (17.5, 86.2),
    "all pairs",
)


# Bytes

_LEAST_PAYLOAD = {PAYLOAD: LEAST}
_COSTS = ("events", "subscriptions", "advertisements", "heartbeats", "topology updates")


_APART = ("acknowledgments", "handshakes")
_SHORT = {"topology updates": "updates", "acknowledgments": "ACKs"}
_PAYLOADS = (0, 873, 5673, 9873)
_BEFORE = "wire bytes before publishing"
_IDLE = "wire bytes of an idle hour"


def _lighter(protocol: str) -> Measure:
    """Bytes that all of FBR's packets have more until all is advertised and subscribed."""
    return difference(
        number(_BEFORE, FBR, _LEAST_PAYLOAD), number(_BEFORE, protocol, _LEAST_PAYLOAD)
    )


def _priced() -> Iterator[Claim]:
    for each in THREE:
        for kind in (*_COSTS, *_APART):
            yield Claim(
                f"{kind.replace(' ', '-')}-{each.lower()}",
                f"{each}: bytes on the wire of {kind}",
                UNPUBLISHED,
                number(f"wire bytes of {kind}", each, _LEAST_PAYLOAD),
            )
        for key, text, column in (
            ("wire", "bytes on the wire in all", "wire bytes in all"),
            ("before", "bytes on the wire before anything is published", _BEFORE),
            ("idle", "bytes on the wire in an hour without events", _IDLE),
        ):
            yield Claim(
                f"{key}-{each.lower()}",
                f"{each}: {text}",
                UNPUBLISHED,
                number(column, each, _LEAST_PAYLOAD),
            )
    for each in (DDBR, MERC):
        yield Claim(
            f"saved-{each.lower()}",
            f"bytes on the wire that {each} saves against FBR before anything is published",
            UNPUBLISHED,
            _lighter(each),
        )
        yield Claim(
            f"hours-{each.lower()}",
            f"{each}: hours of heartbeats that weigh as much as what it saves",
            UNPUBLISHED,
            ratio(_lighter(each), number(_IDLE, each, _LEAST_PAYLOAD)),
        )
        yield from _listed(each)


def _listed(each: str) -> Iterator[Claim]:
    yield Claim(
        f"lists-{each.lower()}",
        f"{each}: bytes of lists in all messages",
        UNPUBLISHED,
        number("list bytes in all", each, _LEAST_PAYLOAD),
    )
    yield Claim(
        f"list-{each.lower()}",
        f"{each}: bytes of an event's list",
        UNPUBLISHED,
        number("list bytes", each, _LEAST_PAYLOAD),
    )
    for key, column, text in (
        ("share", "list share", "an event's frame"),
        ("wire-share", "wire list share", "an event's bytes on the wire"),
    ):
        for payload in _PAYLOADS:
            yield Claim(
                f"{key}-{each.lower()}-{payload}",
                f"{each}: % of {text} with {payload} B beside its quote that is its list",
                UNPUBLISHED,
                number(column, each, {PAYLOAD: payload}),
            )


BYTES = Figure(
    "bytes",
    "Lists, heartbeats and updates in bytes on the wire",
    "That lists are short, and a small part of events of 1 kB to 10 kB; nothing in bytes.",
    (
        Panel("All packets", "", y_label="bytes on the wire", kind="bars", only=_LEAST_PAYLOAD,
              parts=tuple((f"wire bytes of {kind}", _SHORT.get(kind, kind))
                          for kind in (*_COSTS, _APART[0]))),
        *(Panel(title, column, PAYLOAD, "bytes beside the quote", "% of an event",
                only={"workload.kind": "stock"})
          for title, column in (("Lists in frames", "list share"),
                                ("Lists on the wire", "wire list share"))),
    ),
    tuple(_priced()),
    quick={
        "duration": "25 s",
        "topology": FLAT,
        "workload.subscriptions": 10,
        "workload.symbols": 10,
        "workload.advertise_ramp": "2 s",
        "workload.start": "4 s",
        "workload.ramp": "6 s",
        "workload.publish_start": "12 s",
        "workload.publish_stop": "22 s",
        "sweep": {"protocol, topology, workload.payload": [
            [{"name": "fbr-general"}, FLAT, "0 B"],
            *([{"name": name}, overlay, payload]
              for name, overlay in (("d-dbr", FLAT), ("merc", CLUSTERS))
              for payload in ("0 B", "5673 B")),
        ]},
    },
)  # fmt: skip


# The related work

_EF, _MBR, _DRP, _LINKS, _MEDYM = "EF", "MBR", "DRP", "link matching", "MEDYM"
_COMPARED = (_EF, _MBR, _LINKS, _MEDYM, _DRP, FBR, DDBR)


RELATED = Figure(
    "related",
    "Related work on one overlay",
    "Event flooding has a low routing accuracy; multicast groups a better one, filter-based routing"
    " a better one still, as good as D-DBR's; MEDYM reaches no broker that is not interested, but"
    " has every subscription at every broker, as link matching has. A bit vector of fixed size"
    " limits DRP.",
    (
        Panel("Messages of an event", "", y_label="over a link", kind="groups",
              parts=(("messages of an event", ""),)),
        Panel("Bytes of an event", "", y_label="of its frames", kind="groups",
              parts=(("bytes of an event", ""),)),
        Panel("Subscriptions stored", "", y_label="of others, at a broker", kind="groups",
              parts=(("stored", ""),)),
    ),
    (
        Claim("ef-mbr", "routing accuracy, multicast groups over event flooding",
              at_least(1), ratio(number("accuracy", _MBR), number("accuracy", _EF))),
        Claim("mbr-fbr", "routing accuracy, FBR over multicast groups",
              at_least(1), ratio(number("accuracy", FBR), number("accuracy", _MBR))),
        Claim("fbr-ddbr", "routing accuracy, D-DBR over FBR",
              about(1, 0.1), ratio(number("accuracy", DDBR), number("accuracy", FBR))),
        Claim("medym", "MEDYM: routing accuracy", exactly(1), number("accuracy", _MEDYM)),
        *(Claim(f"stored-{name.lower().replace(' ', '-')}",
                f"{name}: subscriptions of others stored at a broker",
                UNPUBLISHED, number("stored", name)) for name in (_LINKS, _MEDYM, FBR, DDBR)),
        *(Claim(f"accuracy-{name.lower().replace(' ', '-')}", f"{name}: routing accuracy",
                UNPUBLISHED, number("accuracy", name)) for name in _COMPARED if name != _MEDYM),
        *(Claim(f"bytes-{name.lower().replace(' ', '-')}", f"{name}: bytes of an event's frames",
                UNPUBLISHED, number("bytes of an event", name)) for name in _COMPARED),
    ),
    quick={
        "repeat": 1,
        "topology.brokers": 30,
        "workload.subscriptions": 6,
        "workload.rate": "20 /s",
        "workload.publish_stop": "15 s",
        "duration": "18 s",
    },
)  # fmt: skip

SCALE = Figure(
    "scale",
    "MERC with 1000 brokers",
    "With 1000 brokers in ten clusters MERC's lists are as long as D-DBR's with 100 brokers.",
    (
        Panel("Length of lists", "", y_label="ids", kind="groups",
              parts=(("list length", "mean"), ("list length at the source", "at the source"))),
        Panel("TRT and SPRT", "", y_label="bytes at a broker", kind="groups",
              parts=(("table bytes", ""),)),
    ),
    (
        Claim("same", "mean list, MERC with 1000 brokers in % of D-DBR with 100",
              about(100, 10), compared("list length", MERC, DDBR)),
        Claim("undelivered", "MERC: % of deliveries that did not come",
              exactly(0), number("undelivered", MERC)),
        *(Claim(f"{key}-{each.lower()}", f"{each}: {text}", UNPUBLISHED, number(column, each))
          for each in (MERC, DDBR)
          for key, text, column in (
              ("list", "mean list", "list length"),
              ("source", "mean list at the source", "list length at the source"),
              ("tables", "bytes of TRT and SPRT at a broker", "table bytes"),
              ("stored", "subscriptions of others stored at a broker", "stored"))),
    ),
    quick={
        "duration": "25 s",
        "workload.subscriptions": 10,
        "workload.symbols": 30,
        "workload.matching": "20 %",
        "workload.advertise_ramp": "2 s",
        "workload.start": "4 s",
        "workload.ramp": "4 s",
        "workload.publish_start": "12 s",
        "workload.rate": "20 /s",
        "workload.publish_stop": "22 s",
        "sweep": {"protocol, topology": [
            [{"name": "merc", "detection": "notice"},
             {"kind": "clusters", "clusters": 5, "size": 20, "degree": _SIX}],
            [{"name": "d-dbr", "detection": "notice"}, _graph(20)],
        ]},
    },
)  # fmt: skip

LISTS = (FIG19, FIG20, FIG21, FIG22, FIG23, FIG24, BYTES, RELATED, SCALE)
"""All figures of this module, in the order of the paper, and then ours."""
