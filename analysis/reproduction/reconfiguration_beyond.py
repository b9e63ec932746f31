"""What the paper on reconfiguration does not have: its figures in bytes, and worse links.

A figure in bytes asks of packets what the published one asks of messages: where nothing is
published, all packets from the first reconfiguration on, acknowledgments and handshakes included;
where events are, the control messages and the misrouted events, with the headers of their packets.
Fig. 12, 22 and 27 to 29 are not about amounts of traffic and have no such twin.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from analysis.reproduction.figure import Claim, Family, Figure, Measure, Panel
from analysis.reproduction.measures import (
    HIGHEST,
    LOWEST,
    difference,
    number,
    ratio,
)
from analysis.reproduction.reconfiguration import (
    BROKERS,
    CONFINED,
    COST,
    DEFERRED,
    DENSITY,
    FIG13,
    FIG14,
    FIG15,
    FIG16,
    FIG17,
    FIG18,
    FIG19,
    FIG20,
    FIG27,
    FIG28,
    FIG29,
    OURS,
    PATTERNS,
    PUBLISHING,
    QUICK,
    RATE,
    SAVED,
    STRAWMAN,
    T_S,
    T_U,
    every,
    timers,
)
from analysis.reproduction.reconfiguration_events import (
    EQ2,
    FIG12,
    FIG21,
    FIG22,
    FIG23,
    FIG24,
    FIG25,
    FIG26,
)
from analysis.reproduction.rules import UNPUBLISHED, about, at_least, at_most, exactly

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED = (
    FIG12, FIG13, FIG14, FIG15, FIG16, FIG17, FIG18, FIG19, FIG20, FIG21, FIG22, FIG23, FIG24,
    FIG25, FIG26, FIG27, FIG28, FIG29, EQ2,
)  # fmt: skip

BYTES = Figure(
    "bytes",
    "The default scenario in bytes on the wire",
    "Table II lets FLUSH and RECACK weigh a tenth of an event, SUB and UNSUB as much as an event,"
    " and ACTIVATE and REC as much as the patterns that they carry. The paper has no bytes.",
    (
        Panel("Weights that bytes imply", "", kind="groups", y_label="in units of an event",
              parts=tuple((f"weight of {kind}", name) for kind, name in (
                  ("subscribe", "SUB"), ("unsubscribe", "UNSUB"), ("flush", "FLUSH"),
                  ("activate", "ACTIV."), ("rec", "REC"), ("recack", "RECACK")))),
        Panel("What is not messages", "", kind="bars", y_label="% of all bytes", parts=tuple(
            (f"share of {name}", name) for name in ("headers", "acknowledgments", "handshakes"))),
    ),
    (
        Claim("subscribe", "bytes of a SUB on the wire, in units of an event",
              about(1, 0.2), number("weight of subscribe", STRAWMAN)),
        Claim("unsubscribe", "bytes of an UNSUB on the wire, in units of an event",
              about(1, 0.2), number("weight of unsubscribe", STRAWMAN)),
        Claim("flush", "bytes of a FLUSH on the wire, in units of an event",
              about(0.1, 0.1), number("weight of flush", "NDU")),
        Claim("recack", "bytes of a RECACK on the wire, in units of an event",
              about(0.1, 0.1), number("weight of recack", "RP")),
        Claim("activate", "bytes of an ACTIVATE over its published weight",
              about(1, 0.2), ratio(number("weight of activate", "ILA"),
                                   ratio(number("cost of activate", "ILA"),
                                         number("messages of activate", "ILA")))),
        Claim("rec", "bytes of a REC over its published weight",
              about(1, 0.2), ratio(number("weight of rec", "RP"),
                                   ratio(number("cost of rec", "RP"),
                                         number("messages of rec", "RP")))),
        *every("saved", "points saved in bytes beyond those saved in normalized cost", about(0, 10),
               {name: difference(number("wire bytes saved", name), number("cost saved", name))
                for name in OURS}),
        Claim("headers", "% of all bytes that are TCP, IP and link headers",
              UNPUBLISHED, number("share of headers", STRAWMAN)),
        Claim("acknowledgments", "% of all bytes that are acknowledgments",
              UNPUBLISHED, number("share of acknowledgments", STRAWMAN)),
        Claim("handshakes", "% of all bytes that are handshakes",
              UNPUBLISHED, number("share of handshakes", STRAWMAN)),
        Claim("wait", "seconds from the start of a new link to its first message",
              UNPUBLISHED, number("seconds of a new link's handshake", STRAWMAN)),
        *every("lost", "deliveries per new link that miss events published in these seconds",
               UNPUBLISHED, {name: number("events lost in a new link's handshake", name)
                             for name in (STRAWMAN, *OURS)}),
    ),
    quick=QUICK,
)  # fmt: skip

_BYTES = "bytes on the wire"
_FLUSHING = ("NDU", *CONFINED)

FIG13_BYTES = Figure(
    "fig13-bytes",
    "Control messages of a reconfiguration in bytes",
    "FLUSH and RECACK hardly count beside subscriptions and unsubscriptions. The paper counts"
    " messages, not bytes.",
    (
        Panel("Messages with the headers of their packets", "wire bytes", kind="bars",
              y_label="bytes on the wire", parts=tuple(
                  (f"wire bytes of {kind} each", name) for kind, name in (
                      ("subscribe", "SUB"), ("unsubscribe", "UNSUB"), ("flush", "FLUSH"),
                      ("activate", "ACTIVATE"), ("rec", "REC"), ("recack", "RECACK")))),
    ),
    (
        *every("flush", "FLUSH messages, % of the bytes of its control messages", at_most(10),
               {name: number("wire bytes of flush percent", name) for name in _FLUSHING}),
        Claim("rec", "RP: bytes of REC messages per reconfiguration",
              UNPUBLISHED, number("wire bytes of rec each", "RP")),
    ),
    quick=QUICK,
    file="bytes",
)  # fmt: skip

_SUFFIXES = ("", " saved", " of STRAWMAN")
_ALL = {"cost": "all wire bytes"}
_MESSAGES = {
    "cost": "wire bytes",
    "cost with events": "wire bytes with events",
    "misrouted": "wire bytes misrouted",
    "misrouted percent": "wire bytes misrouted percent",
    "useful events": "useful wire bytes",
    "overhead of useful events": "overhead of useful wire bytes",
    "useful events per overhead": "useful wire bytes per overhead",
}
_PARTS = {f"cost of {kind}": f"wire bytes of {kind} each" for kind in ("subscribe", "unsubscribe")}
_TRAFFIC = {name: f"wire {name}" for name in ("traffic", "traffic before", "traffic within")}


def _in_bytes(
    figure: Figure,
    columns: Mapping[str, str],
    sweep: Mapping[str, Any],
    unit: str = _BYTES,
    without: tuple[str, ...] = (),
) -> Figure:
    """A published figure with other columns in the place of some, from runs that are captured.

    It is without the statements, by their keys, that are not about amounts of traffic or about
    points that it has.
    """
    names = {old + end: new + end for old, new in columns.items() for end in _SUFFIXES}
    return replace(
        figure,
        name=f"{figure.name}-bytes",
        title=f"{figure.title}, in bytes",
        published=f"{figure.published} The paper counts messages, not bytes.",
        panels=tuple(_renamed_panel(panel, names, unit) for panel in figure.panels),
        claims=tuple(
            replace(claim, text=f"{claim.text}, in bytes", measure=_renamed(claim.measure, names))
            for claim in figure.claims
            if claim.key not in without
        ),
        file=figure.name,
        settings={"network.capture": "one", "repeat": 10, "sweep": sweep},
    )


def _renamed_panel(panel: Panel, names: Mapping[str, str], unit: str) -> Panel:
    return replace(
        panel,
        y=names[panel.y],
        y_label=panel.y_label if panel.y_label.startswith("%") else unit,
        parts=tuple((names[column], label) for column, label in panel.parts),
    )


def _renamed(measure: Measure, names: Mapping[str, str]) -> Measure:
    """The same measure of other columns, which are given the names that it asks for."""

    def of_others(rows: "pd.DataFrame") -> "pd.Series[float]":
        kept = rows.drop(columns=[name for name in names if name in rows])
        return measure(kept.rename(columns={new: old for old, new in names.items()}))

    return of_others


_SCALES: dict[str, Any] = {BROKERS: [50, 100, 200, 500]}
_RATES: dict[str, Any] = {PUBLISHING: ["1.0 /s", "6.4 /s", "25.6 /s"]}
_TIMED = ("TDU", "NDU", "ILA")
_T_U = timers((*_TIMED, "ILA, no flush"), T_U,
              ("0.075 s", "0.125 s", "0.2 s", "0.3 s", "0.4 s"))  # fmt: skip
_SECOND = timers(("ILA", "ILA, no flush"), T_U, ("0.24 s", "0.26 s"))[1:]
_T_S = timers(("ILA", "ILA, no flush"), T_S, ("0.01 s", "0.04 s", "0.06 s", "0.15 s", "0.4 s"))
_LEVELS = [{"name": "timed-deferred-unsubscription"}, {"name": "reconfiguration-path"}]
_LONGER = [*timers(_TIMED, T_U, ("0.075 s", "0.125 s", "0.4 s")), _LEVELS[1]]

IN_BYTES = (
    _in_bytes(FIG14, _ALL, _SCALES),
    _in_bytes(FIG15, _ALL, _SCALES, without=("involved",)),
    _in_bytes(FIG16, _ALL, {PATTERNS: [32, 96, 200, 800]}),
    _in_bytes(FIG17, _ALL, {DENSITY: ["3 %", "20 %", "60 %", "100 %"]}),
    _in_bytes(FIG18, _ALL, {RATE: ["1 /s", "3 /s", "30 /s", "200 /s", "400 /s"]}),
    _in_bytes(FIG19, _ALL, {"protocol": [*_T_U, *_SECOND]}),
    _in_bytes(FIG20, _ALL, {"protocol": [*_T_S, *_LEVELS]}),
    _in_bytes(FIG21, _MESSAGES, _RATES),
    _in_bytes(FIG23, {**_MESSAGES, **_PARTS}, _RATES),
    _in_bytes(FIG24, _MESSAGES, _RATES, "useful bytes per byte of overhead", ("remarkable",)),
    _in_bytes(FIG25, _MESSAGES, {"protocol": _LONGER}),
    _in_bytes(FIG26, _TRAFFIC, {}, "bytes a second"),
)


def _conditions(
    figure: str, title: str, key: str, label: str, quick: list[str], log_x: bool = False
) -> Figure:
    """How protocols do where links are worse than the paper's."""
    return Figure(
        figure,
        title,
        "The paper assumes links of 10 Mbit/s without errors or delay. Its claim that all protocols"
        " save against STRAWMAN and deliver everything in the end is put to the test.",
        (
            Panel("Cost of a reconfiguration", "cost", key, label, COST, log_x=log_x),
            Panel("Delivery while links change", "delivered", key, label, "% delivered",
                  log_x=log_x, from_zero=False),
        ),
        (
            *every("saved", "% saved where that is least", at_least(0),
                   {name: number("cost saved", name, {key: LOWEST}) for name in OURS}),
            *every("exact", "% of events that come after the last change, where that is least",
                   exactly(100), {name: number("delivered at last", name, {key: LOWEST})
                                  for name in (STRAWMAN, *OURS)}),
            *every("missed", "seconds after the last break in which events are still missed, where"
                   " that is longest",
                   UNPUBLISHED, {name: number("missed for", name, {key: HIGHEST})
                                 for name in (STRAWMAN, *OURS)}),
        ),
        quick={**QUICK, "sweep": {key: quick}},
    )  # fmt: skip


SLOW = _conditions("slow", "Reconfiguration over slow links", "network.rate", "bit/s",
                   ["64 kbit/s"], log_x=True)  # fmt: skip
LOSSY = _conditions("lossy", "Reconfiguration over lossy links", "network.loss",
                    "share of packets lost", ["1 %"])  # fmt: skip
DELAYS = _conditions("delays", "Reconfiguration over long links", "network.delay", "seconds",
                     ["50 ms"])  # fmt: skip

_LITERAL, _NEAR, _SHARED = "protocol.literal", "faults[0].near", "faults[0].shared_end"
_ANYWHERE = {_NEAR: False, _SHARED: False}
_READINGS = {
    "settled": ("as settled", {_LITERAL: False, **_ANYWHERE}),
    "literal": ("to the letter", {_LITERAL: True, **_ANYWHERE}),
    "near": ("new links near", {_LITERAL: False, _NEAR: True}),
    "both": ("to the letter, new links near", {_LITERAL: True, _NEAR: True}),
    "shared": ("new links share an end", {_LITERAL: False, _SHARED: True}),
    "shared-literal": ("to the letter, new links share an end", {_LITERAL: True, _SHARED: True}),
}

READINGS = Figure(
    "readings",
    "Cost of a reconfiguration under other readings of the paper",
    "In Fig. 14 the deferred protocols save about 20 points less than ILA and RP. To the letter,"
    " Fig. 2 and 7 count subscribers and do not remember what neighbors were told. New links are"
    " random, and it is said to be common that they share an end with the old one (Sec. IV-A).",
    tuple(Panel(title[0].upper() + title[1:], "cost saved", BROKERS, "dispatchers", SAVED,
                only=only) for title, only in _READINGS.values()),
    (
        *(Claim(f"gap-{key}", f"{title}: points that ILA and RP save more than TDU and NDU",
                about(20, 7.5), difference(number("cost saved", CONFINED, only),
                                           number("cost saved", DEFERRED, only)))
          for key, (title, only) in _READINGS.items()),
        *every("letter", "cost to the letter over that with told state", UNPUBLISHED,
               {name: ratio(number("cost", name, _READINGS["literal"][1]),
                            number("cost", name, _READINGS["settled"][1]))
                for name in OURS}),
    ),
    quick={**QUICK, "sweep": {BROKERS: [50, 100]}},
)  # fmt: skip

FAMILY = Family(
    "reconfiguration",
    "Cugola, Frey, Murphy, Picco: Content-Based Routing for Publish-Subscribe on a Dynamic"
    " Topology",
    {
        figure.name: figure
        for figure in (*PUBLISHED, BYTES, FIG13_BYTES, *IN_BYTES, SLOW, LOSSY, DELAYS, READINGS)
    },
)
