"""Fig. 13 to 16 and 18 of the paper on covering: an engine that is a hundred times slower.

Sec. VI-H to VI-J. Delays of Fig. 13 to 16 are those of 300 publications that all edge brokers want,
from 600 s after the unsubscriptions on. Tolerances as in `covering`, set before anything was run.
"""

from dataclasses import replace
from typing import Any

from analysis.reproduction.covering_sizes import (
    ACTIVE,
    DEGREE,
    FOUR,
    INCREMENTAL,
    LAZY,
    PACKING,
    UNSUBSCRIPTIONS,
    dearer,
    over_time,
    protocols,
    share,
)
from analysis.reproduction.figure import Claim, Figure, Measure, Panel
from analysis.reproduction.measures import GREATEST, LEAST, number, ratio
from analysis.reproduction.rules import UNPUBLISHED, about, at_least, at_most

PLACEMENT, MOVES = "workload.placement", "workload.moves"
TIERS = range(4)
HOUR = 3600.0

_PAIR = (ACTIVE, INCREMENTAL)
_CLUSTERED, _SCATTERED = {PLACEMENT: "clustered"}, {PLACEMENT: "scattered"}
_MONITORS, _ALL = {MOVES: LEAST}, {MOVES: GREATEST}
_MOVEMENTS = (("monitors", "monitors move", _MONITORS), ("all", "all move", _ALL))

_SMALLER = {
    "duration": "8360 s",
    "service.seconds": dearer(1000),
    "workload.roots": 30,
    "workload.subscriptions": 3000,
    "workload.ramp": "4500 s",
    "workload.publish_start": "4520 s",
    "workload.publish_stop": "5360 s",
    "workload.unsubscriptions": 30,
    "workload.unsubscribe_start": "4760 s",
    "workload.probes": 30,
    "workload.probe_start": "4835 s",
}
"""A tenth of Fig. 13: thirty roots of the same degree."""


def _smaller(*names: str, **lists: Any) -> dict[str, Any]:
    return {**_SMALLER, "sweep": {"protocol": protocols("240 s", *names), **lists}}


def _hours(protocol: str, at: dict[str, Any] | None = None) -> Measure:
    """For how long a core broker has a queue of 100 messages and more."""
    seconds = number("congested", protocol, at or {})
    return lambda rows: seconds(rows) / HOUR


def _probed(protocol: str, at: dict[str, Any] | None = None) -> Measure:
    return number("probe delay", protocol, at or {})


_QUEUE = over_time("Longest queue in the core", "queue", "messages", log_y=True)
_DELAYS = Panel(
    "Delay of the 300",
    "",
    y_label="s",
    kind="groups",
    log_y=True,
    parts=(
        ("probe delay, 10th percentile", "10 %"),
        ("probe delay", "mean"),
        ("probe delay, 90th percentile", "90 %"),
    ),
)

FIG13 = Figure(
    "fig13",
    "Four algorithms with a slow engine",
    "After 300 unsubscriptions publications take over 4,400 s with active covering, less than"
    " half of it with lazy covering and packing, and 0.4 s, later 0.2 s, with the incremental"
    " algorithm. The congestion of active covering lasts for almost three hours.",
    (
        _DELAYS,
        _QUEUE,
        over_time("Routing tables of the core", "core entries", "uncovered entries", log_y=True),
    ),
    (
        Claim("delay-active", "active: mean delay of the 300, s", at_least(4400), _probed(ACTIVE)),
        Claim("delay-lazy", "lazy: mean delay of the 300, % of active",
              at_most(50), share("probe delay", LAZY, ACTIVE)),
        Claim("delay-packing", "packing: mean delay of the 300, % of active",
              at_most(50), share("probe delay", PACKING, ACTIVE)),
        Claim("delay-incremental", "incremental: mean delay of the 300, s",
              about(0.4, 0.2), _probed(INCREMENTAL)),
        Claim("settled-incremental", "incremental: mean delay of the last tenth, s",
              about(0.2, 0.1), number("delay at last", INCREMENTAL)),
        Claim("hours", "active: hours until no core broker has 100 messages in its queue",
              about(3, 1), _hours(ACTIVE)),
        Claim("calm", "incremental: longest queue in the core, % of active",
              at_most(10), share("queue", INCREMENTAL, ACTIVE)),
        *(Claim(f"{key}-{each}", f"{each}: {text}", UNPUBLISHED, number(column, each))
          for each in FOUR
          for key, text, column in (
              ("queue", "longest queue in the core, messages", "queue"),
              ("entries", "routing tables of the core, uncovered entries", "entries at the core"),
              ("before", "mean delay before the first unsubscription, s", "delay before"))),
    ),
    quick=_smaller(*FOUR),
)  # fmt: skip


def _along(key: str, label: str) -> tuple[Panel, ...]:
    return (
        Panel("Mean delay of the 300", "probe delay", key, label, "s", log_y=True),
        Panel("Longest queue in the core", "queue", key, label, "messages", log_y=True),
        over_time("Queue, greatest", "queue", "messages", log_y=True, only={key: GREATEST}),
    )


FIG14 = Figure(
    "fig14",
    "100 to 300 unsubscriptions with a slow engine",
    "After 100 unsubscriptions both algorithms deliver in 20 ms. After 200 and 300 active"
    " covering takes over 1,200 s and 2,000 s, and its congestion lasts up to three hours; the"
    " incremental algorithm takes no longer than before. (The paper prints 100 and 300; we read"
    " 200 and 300.)",
    _along(UNSUBSCRIPTIONS, "unsubscriptions"),
    (
        *(Claim(f"few-{each}", f"{each}: mean delay of the 300 after 100 unsubscriptions, s",
                about(0.02, 0.01), _probed(each, {UNSUBSCRIPTIONS: LEAST})) for each in _PAIR),
        Claim("active-200", "active: mean delay of the 300 after 200 unsubscriptions, s",
              at_least(1200), _probed(ACTIVE, {UNSUBSCRIPTIONS: 200})),
        Claim("active-300", "active: mean delay of the 300 after 300 unsubscriptions, s",
              at_least(2000), _probed(ACTIVE, {UNSUBSCRIPTIONS: GREATEST})),
        Claim("same", "incremental: mean delay of the 300 after 300 over that after 100",
              about(1, 0.5), ratio(_probed(INCREMENTAL, {UNSUBSCRIPTIONS: GREATEST}),
                                   _probed(INCREMENTAL, {UNSUBSCRIPTIONS: LEAST}))),
        Claim("hours", "active: hours of congestion after 300 unsubscriptions",
              about(3, 1), _hours(ACTIVE, {UNSUBSCRIPTIONS: GREATEST})),
        Claim("incremental-300", "incremental: mean delay of the 300 after 300 unsubscriptions, s",
              UNPUBLISHED, _probed(INCREMENTAL, {UNSUBSCRIPTIONS: GREATEST})),
    ),
    quick=_smaller(*_PAIR, **{UNSUBSCRIPTIONS: [10, 20, 30]}),
)  # fmt: skip

FIG15 = Figure(
    "fig15",
    "Covering degrees of 10 to 50 with a slow engine",
    "As in Fig. 11, but much worse: with active covering and a degree of 50 queues are still"
    " congested after nine hours.",
    _along(DEGREE, "covering degree"),
    (
        Claim("hours", "active: hours of congestion at a degree of 50",
              at_least(9), _hours(ACTIVE, {DEGREE: GREATEST})),
        Claim("sensitive", "active: mean delay of the 300 at the greatest degree over the least",
              at_least(2), ratio(_probed(ACTIVE, {DEGREE: GREATEST}),
                                 _probed(ACTIVE, {DEGREE: LEAST}))),
        Claim("calm", "incremental: longest queue at a degree of 50, % of active",
              at_most(10), share("queue", INCREMENTAL, ACTIVE, {DEGREE: GREATEST})),
        *(Claim(f"{each}-{degree}", f"{each}: mean delay of the 300 at a degree of {degree}, s",
                UNPUBLISHED, _probed(each, {DEGREE: degree}))
          for each in _PAIR for degree in (10, 30, 50)),
        *(Claim(f"hours-{degree}", f"active: hours of congestion at a degree of {degree}",
                UNPUBLISHED, _hours(ACTIVE, {DEGREE: degree})) for degree in (10, 30)),
    ),
    quick=_smaller(*_PAIR),
)  # fmt: skip

FIG16 = Figure(
    "fig16",
    "Related subscriptions in one region, with a slow engine",
    "The incremental algorithm delivers in 50 ms, less than 3 % of the 2,000 s of active"
    " covering; the core's routing tables have 1,200 entries instead of 7,300. Active covering"
    " has longer queues than with scattered subscriptions, which begin to shrink only after 4,000"
    " s; the incremental algorithm has no congestion.",
    (
        replace(_DELAYS, only=_CLUSTERED),
        over_time("Longest queue in the core", "queue", "messages", log_y=True, only=_CLUSTERED),
        over_time("Routing tables of the core", "core entries", "uncovered entries",
                  log_y=True, only=_CLUSTERED),
    ),
    (
        Claim("delay-incremental", "incremental: mean delay of the 300, s",
              about(0.05, 0.025), _probed(INCREMENTAL, _CLUSTERED)),
        Claim("delay-active", "active: mean delay of the 300, s",
              about(2000, 667), _probed(ACTIVE, _CLUSTERED)),
        Claim("share", "incremental: mean delay of the 300, % of active",
              at_most(3), share("probe delay", INCREMENTAL, ACTIVE, _CLUSTERED)),
        Claim("tables-active", "active: routing tables of the core, entries",
              about(7300, 1095), number("entries at the core", ACTIVE, _CLUSTERED)),
        Claim("tables-incremental", "incremental: routing tables of the core, entries",
              about(1200, 180), number("entries at the core", INCREMENTAL, _CLUSTERED)),
        Claim("tables-share", "incremental: routing tables of the core, % of active",
              about(18, 9), share("entries at the core", INCREMENTAL, ACTIVE, _CLUSTERED)),
        Claim("worse", "active: longest queue, clustered over scattered",
              at_least(1), ratio(number("queue", ACTIVE, _CLUSTERED),
                                 number("queue", ACTIVE, _SCATTERED))),
        Claim("drop", "active: seconds after which the longest queue begins to shrink",
              at_least(4000), number("longest queue after", ACTIVE, _CLUSTERED)),
        Claim("calm", "incremental: longest queue in the core, messages",
              at_most(100), number("queue", INCREMENTAL, _CLUSTERED)),
        Claim("more-evident", "% of active's queue that incremental has, clustered over scattered",
              at_most(1), ratio(share("queue", INCREMENTAL, ACTIVE, _CLUSTERED),
                                share("queue", INCREMENTAL, ACTIVE, _SCATTERED))),
    ),
    quick=_smaller(*_PAIR),
)  # fmt: skip


# Subscribers that move


def _by_tier(title: str, column: str, label: str) -> Panel:
    parts = tuple((f"{column} at tier {tier}", f"tier {tier}") for tier in TIERS)
    return Panel(title, "", y_label=label, kind="groups", parts=parts, only=_ALL)


def _lower(protocol: str) -> Measure:
    """Percent of false positives, by a broker's mean, that brokers of the lower two tiers send."""

    def measure(rows: Any) -> Any:
        found = [number(f"false positives at tier {tier}", protocol, _ALL)(rows) for tier in TIERS]
        whole = sum(found[1:], found[0])
        return 100 * sum(found[3:], found[2]) / whole

    return measure


def _swing(protocol: str, at: dict[str, Any]) -> Measure:
    return ratio(number("swing of entries", protocol, at), number("entries", protocol, at))


FIG18 = Figure(
    "fig18",
    "Subscribers that move, with a slow engine",
    "When only monitors move, the core broker's queue grows all the time with active covering"
    " and hardly exists with the incremental algorithm; movement of all others changes little."
    " Routing tables fluctuate with active covering, and are much smaller and stable with the"
    " incremental one. Upper tiers carry more publications, the more so with the incremental"
    " algorithm; false positives fall mostly on the lower tiers.",
    (
        over_time("Queue, monitors move", "queue", "core, messages", log_y=True, only=_MONITORS),
        over_time("Queue, all move", "queue", "core, messages", log_y=True, only=_ALL),
        over_time("Tables, monitors move", "entries", "mean entries", only=_MONITORS),
        over_time("Tables, all move", "entries", "mean entries", only=_ALL),
        _by_tier("Publications", "publications", "received by a broker"),
        _by_tier("False positives", "false positives", "sent by a broker"),
    ),
    (
        Claim("grows", "active: queue of the core broker at the end, % of its longest",
              at_least(80), number("queue left", ACTIVE, _MONITORS)),
        *(Claim(f"calm-{key}", f"incremental: longest queue of the core broker, {words}, messages",
                at_most(100), number("queue", INCREMENTAL, at))
          for key, words, at in _MOVEMENTS),
        Claim("no-change", "active: longest queue when all move over that when monitors do",
              about(1, 0.33), ratio(number("queue", ACTIVE, _ALL),
                                    number("queue", ACTIVE, _MONITORS))),
        *(Claim(f"smaller-{key}", f"incremental: mean routing table, {words}, % of active",
                at_most(50), share("entries", INCREMENTAL, ACTIVE, at))
          for key, words, at in _MOVEMENTS),
        Claim("tables-same", "active: mean routing table when all move over that when monitors do",
              about(1, 0.15), ratio(number("entries", ACTIVE, _ALL),
                                    number("entries", ACTIVE, _MONITORS))),
        Claim("fluctuates", "active: how far the mean routing table varies, over its mean",
              at_least(0.5), _swing(ACTIVE, _MONITORS)),
        Claim("hides", "incremental: mean routing table when all move, over that before it",
              at_most(1), ratio(number("entries", INCREMENTAL, _ALL),
                                number("entries at first", INCREMENTAL, _ALL))),
        *(Claim(f"upper-{each}", f"{each}: publications at a broker of tier 0 over tier 3",
                at_least(1), ratio(number("publications at tier 0", each, _ALL),
                                   number("publications at tier 3", each, _ALL)))
          for each in _PAIR),
        Claim("more", "publications at a broker of tier 0, incremental over active",
              at_least(1), ratio(number("publications at tier 0", INCREMENTAL, _ALL),
                                 number("publications at tier 0", ACTIVE, _ALL))),
        Claim("lower", "incremental: % of a broker's false positives that tiers 2 and 3 send",
              at_least(50), _lower(INCREMENTAL)),
        *(Claim(f"mistakes-{each}", f"{each}: % of publication hops that serve nobody, all move",
                UNPUBLISHED, number("false positive percent", each, _ALL)) for each in _PAIR),
        *(Claim(f"{key}-{each}", f"{each}: {text}", UNPUBLISHED, number(column, each, _MONITORS))
          for each in _PAIR
          for key, text, column in (
              ("queue", "longest queue of the core broker, monitors move, messages", "queue"),
              ("roots", "new roots that brokers received, monitors move", "triggered"),
              ("stored", "mean of all stored entries, covered ones too, monitors move", "stored"),
              ("swing", "how far that varies", "swing of stored"))),
    ),
    quick={
        "duration": "2990 s",
        "service.seconds": dearer(1000),
        "workload.players": 500,
        "workload.publishers": 4,
        "workload.size": 0.01,
        "workload.monitor_moves": "5 /min",
        "workload.ramp": "750 s",
        "workload.publish_start": "770 s",
        "workload.move_start": "830 s",
        "sweep": {"protocol": protocols("60 s", *_PAIR)},
    },
)  # fmt: skip
