"""Tables II and III of the paper on covering, and what it could not measure: a burst in bytes.

Sec. VI-B and VI-F. Tolerances were set before anything was run: a quarter for Table II, to which
costs are fitted, a third for Table III.
"""

from collections.abc import Iterator, Mapping

from analysis.reproduction.covering_sizes import (
    ACTIVE,
    CORE,
    FOUR,
    INCREMENTAL,
    LAZY,
    NONE,
    SMALL,
    SMALL_WINDOW,
    dearer,
    protocols,
    share,
)
from analysis.reproduction.figure import Claim, Figure, Panel
from analysis.reproduction.measures import number, ratio
from analysis.reproduction.rules import UNPUBLISHED, about, at_least, at_most, exactly

THRESHOLD = "protocol.threshold"

# Table II: seconds in all, and milliseconds for a message, by kind of work

_KINDS = {
    "matching": "matching of subscriptions",
    "covering": "covering of subscriptions",
    "unsubscription": "unsubscriptions",
    "publication": "publications",
}
_SPENT: Mapping[str, Mapping[str, tuple[float, float]]] = {
    ACTIVE: {"matching": (14.5, 0.81), "covering": (216, 12), "unsubscription": (11.7, 1.4),
             "publication": (600, 3.0)},
    LAZY: {"matching": (28.8, 1.6), "covering": (486, 27), "unsubscription": (0, 0),
           "publication": (1240, 6.2)},
    NONE: {"matching": (33.7, 1.6), "covering": (0, 0), "unsubscription": (0, 0),
           "publication": (1580, 7.9)},
}  # fmt: skip
_TOTAL = {ACTIVE: 842, LAZY: 1754, NONE: 1614}


def _spent() -> Iterator[Claim]:
    for protocol, kinds in _SPENT.items():
        for kind, (seconds, each) in kinds.items():
            name = f"{protocol}: {_KINDS[kind]}"
            key = f"{kind}-{protocol.replace(' ', '-')}"
            rule = about(seconds, round(seconds / 4, 1)) if seconds else exactly(0)
            yield Claim(key, f"{name}, s", rule, number(f"seconds of {kind}", protocol))
            if each:
                yield Claim(f"each-{key}", f"{name}, ms for one", about(each, round(each / 4, 2)),
                            number(f"milliseconds of {kind}", protocol))  # fmt: skip
    for protocol, seconds in _TOTAL.items():
        yield Claim(f"total-{protocol.replace(' ', '-')}", f"{protocol}: all, s",
                    about(seconds, round(seconds / 4)),
                    number("seconds of all", protocol))  # fmt: skip


TABLE2 = Figure(
    "table2",
    "What brokers spend, without unsubscriptions",
    "Covering takes an order of magnitude longer than matching, and lets active covering process"
    " publications in less than half the time. Lazy covering has more of both. In all 842 s with"
    " active covering, 1,754 s with lazy covering, 1,614 s without any.",
    (
        Panel("Processing time of a core broker", "", y_label="s", kind="bars",
              parts=tuple((f"seconds of {kind}", name) for kind, name in _KINDS.items())),
    ),
    (
        *_spent(),
        Claim("half", "publications: time with active covering, % of without",
              at_most(50), share("seconds of publication", ACTIVE, NONE)),
        Claim("lazy-between", "publications: time with lazy covering, % of without",
              about(78, 20), share("seconds of publication", LAZY, NONE)),
        *(Claim(f"dearer-{each}", f"{each}: time for covering over that for matching",
                at_least(10), ratio(number("seconds of covering", each),
                                    number("seconds of matching", each)))
          for each in (ACTIVE, LAZY)),
        Claim("best", "time in all with active covering, % of without",
              about(52, 13), share("seconds of all", ACTIVE, NONE)),
    ),
    quick={
        "duration": "178 s",
        "service.seconds": dearer(50),
        "workload.degree": 42,
        "workload.subscriptions": 860,
        "workload.size": 0.6,
        "workload.ramp": "84 s",
        "workload.publish_start": "96 s",
        "workload.publish_stop": "176 s",
    },
)  # fmt: skip


# Table III: new roots and delays by the threshold

_BY_THRESHOLD: Mapping[float, tuple[tuple[float, ...], float, float]] = {
    0.9: ((664, 1783, 1196, 1276, 1543), 112, 0.54365),
    0.5: ((154, 0, 0, 0, 174), 92.7, 0.47654),
    0.1: ((0, 0, 0, 0, 0), 59.2, 0.33281),
}


def _by_threshold() -> Iterator[Claim]:
    for threshold, (core, inner, delay) in _BY_THRESHOLD.items():
        at, where = {THRESHOLD: threshold}, f"threshold {threshold}"
        for letter, count in zip(CORE, core, strict=True):
            rule = about(count, round(count / 3)) if count else exactly(0)
            yield Claim(f"{letter.lower()}-{threshold}", f"{where}: new roots received at {letter}",
                        rule, number(f"triggered at {letter}", INCREMENTAL, at))  # fmt: skip
        yield Claim(f"inner-{threshold}", f"{where}: new roots at the mean inner broker",
                    about(inner, round(inner / 3)),
                    number("triggered at inner", INCREMENTAL, at))  # fmt: skip
        yield Claim(f"delay-{threshold}", f"{where}: mean delay, s",
                    about(delay, round(delay / 3, 3)),
                    number("delay", INCREMENTAL, at))  # fmt: skip


def _falls(value: str, low: float, high: float) -> Claim:
    """The lower threshold has no more of something than the higher one."""
    return Claim(f"{value.split()[0]}-{low}-{high}",
                 f"{value} in the core at threshold {low}, over that at {high}",
                 at_most(1), ratio(number(f"{value} at the core", INCREMENTAL, {THRESHOLD: low}),
                                   number(f"{value} at the core", INCREMENTAL,
                                          {THRESHOLD: high})))  # fmt: skip


TABLE3 = Figure(
    "table3",
    "The similarity threshold",
    "The lower the threshold, the fewer new roots are sent and the shorter are delays: with 0.9"
    " the core brokers receive 664 to 1,783, with 0.5 some at A and E, with 0.1 none at all. More"
    " false positives are the price.",
    (
        Panel("New roots in the core", "triggered at the core", THRESHOLD, "threshold",
              "received by a core broker"),
        Panel("Mean delay", "delay", THRESHOLD, "threshold", "s"),
        Panel("False positives", "false positive percent", THRESHOLD, "threshold",
              "% of publication hops"),
    ),
    (
        *_by_threshold(),
        _falls("triggered", 0.5, 0.9),
        _falls("triggered", 0.1, 0.5),
        Claim("price", "% of publication hops that serve nobody, threshold 0.1 over 0.9",
              at_least(1), ratio(number("false positive percent", INCREMENTAL, {THRESHOLD: 0.1}),
                                 number("false positive percent", INCREMENTAL,
                                        {THRESHOLD: 0.9}))),
        *(Claim(f"mistakes-{threshold}",
                f"threshold {threshold}: % of publication hops that serve nobody", UNPUBLISHED,
                number("false positive percent", INCREMENTAL, {THRESHOLD: threshold}))
          for threshold in _BY_THRESHOLD),
    ),
    quick={
        **SMALL,
        "duration": "190 s",
        "sweep": {"protocol": [{**each, "threshold": threshold}
                               for each in protocols(SMALL_WINDOW, INCREMENTAL)
                               for threshold in _BY_THRESHOLD]},
    },
)  # fmt: skip


# Bytes

_FIVE = (NONE, *FOUR)
_ON_THE_WIRE = (
    ("burst bytes", "bytes of the burst on the core's links"),
    ("burst messages", "messages of the burst on the core's links"),
    ("burst bytes on the busiest link", "bytes of the burst on the busiest link"),
    ("burst occupies on the busiest link", "s for which these occupy 10 Mbit/s"),
    ("burst spreads over on the busiest link", "s from the first to the last of them"),
    ("bytes of a publication", "bytes of a publication on a link, with headers"),
    ("frame bytes of a publication", "bytes of a publication's own frame"),
    ("wire bytes in all", "bytes on the core's links in the whole run"),
)

BYTES = Figure(
    "bytes",
    "A burst of subscriptions in bytes on the wire",
    "Nothing: the paper counts messages.",
    tuple(
        Panel(title, column, y_label=label, kind="groups", parts=((column, ""),))
        for title, column, label in (
            ("The burst on the busiest link", "burst bytes on the busiest link", "bytes"),
            ("occupies it for", "burst occupies on the busiest link", "s at 10 Mbit/s"),
            ("A publication", "bytes of a publication", "bytes on a link"),
        )
    ),
    tuple(
        Claim(f"{column.replace(' ', '-')}-{each.replace(' ', '-')}", f"{each}: {text}",
              UNPUBLISHED, number(column, each))
        for column, text in _ON_THE_WIRE for each in _FIVE
    ),
    quick={
        "duration": "40 s",
        "workload.degree": 42,
        "workload.subscriptions": 860,
        "workload.size": 0.6,
        "workload.ramp": "5 s",
        "workload.publish_start": "8 s",
        "workload.unsubscribe_start": "14 s",
        "sweep": {"protocol": protocols(SMALL_WINDOW, *_FIVE)},
    },
)  # fmt: skip
