"""What was published on covering and its withdrawal: Fig. 1, 9 to 16 and 18, Tables II and III.

Technical report of the Middleware Systems Research Group (Toronto, June 2011), Sec. VI. Statements
are in our words, and so are the tolerances, all set before anything was run: a third for counts,
queues and delays, half for tenths of a second, 15 % for routing tables.
"""

from analysis.reproduction.covering_sizes import (
    ACTIVE,
    DEGREE,
    FOUR,
    INCREMENTAL,
    LAZY,
    PACKING,
    UNSUBSCRIPTIONS,
    at_core,
    dearer,
    over_time,
    share,
    small,
)
from analysis.reproduction.covering_slow import FIG13, FIG14, FIG15, FIG16, FIG18
from analysis.reproduction.covering_tables import BYTES, TABLE2, TABLE3
from analysis.reproduction.figure import Claim, Family, Figure, Panel
from analysis.reproduction.measures import GREATEST, LEAST, greatest, least, number, ratio
from analysis.reproduction.rules import UNPUBLISHED, about, at_least, at_most

_OTHERS = (ACTIVE, LAZY, PACKING)
_DELAY = over_time("Delay", "delay", "s", log_y=True)
_QUEUE = over_time("Longest queue in the core", "queue", "messages", log_y=True)
_TABLES = over_time("Routing tables of the core", "core entries", "uncovered entries", log_y=True)


# Fig. 9 and the run of it that is Fig. 1

FIG1 = Figure(
    "fig1",
    "A burst of subscriptions after a few unsubscriptions",
    "Queues grow at once, and the system is stable again only after several hours.",
    (
        over_time("Longest queue", "queue", "messages in the core"),
        over_time("Everywhere", "queue anywhere", "messages at any broker"),
    ),
    (
        Claim("stays", "longest queue in the core an hour later, % of its peak",
              at_least(50), number("queue left", ACTIVE)),
        Claim("congested", "seconds until no core broker has 100 messages in its queue",
              at_least(3500), number("congested", ACTIVE)),
        Claim("peak", "longest queue in the core, messages", UNPUBLISHED, number("queue", ACTIVE)),
    ),
    quick=small(ACTIVE),
)  # fmt: skip

FIG9 = Figure(
    "fig9",
    "Four algorithms while 20 roots are unsubscribed",
    "With active covering delays reach 2,400 s, over 1,000 s on average, and queues of the core"
    " 24,000 messages; lazy covering and packing have about 60 % of the delay and queues of"
    " 1,500; the incremental algorithm has 0.4 s, later 0.2 s, and 150 messages. The number of"
    " new roots rises from 700 at A to almost 20,000 at E, and is 1,100 at E with the incremental"
    " algorithm.",
    (_DELAY, _QUEUE, at_core(), _TABLES),
    (
        Claim("delay-active", "active: mean delay, s", at_least(1000), number("delay", ACTIVE)),
        Claim("peak-active", "active: highest mean delay at any time, s",
              at_least(2400), number("peak delay", ACTIVE)),
        Claim("delay-lazy", "lazy: mean delay, % of active", about(60, 20),
              share("delay", LAZY, ACTIVE)),
        Claim("delay-packing", "packing: mean delay, % of active", about(60, 20),
              share("delay", PACKING, ACTIVE)),
        Claim("delay-incremental", "incremental: mean delay, s",
              about(0.4, 0.2), number("delay", INCREMENTAL)),
        Claim("settled-incremental", "incremental: mean delay of the last tenth, s",
              about(0.2, 0.1), number("delay at last", INCREMENTAL)),
        Claim("improvement", "incremental: mean delay, % of active",
              at_most(1), share("delay", INCREMENTAL, ACTIVE)),
        Claim("order", "least delay of the three others over that of incremental",
              at_least(1), least([ratio(number("delay", each), number("delay", INCREMENTAL))
                                  for each in _OTHERS])),
        Claim("worst", "greatest delay of lazy and packing over that of active",
              at_most(1), greatest([ratio(number("delay", each), number("delay", ACTIVE))
                                    for each in (LAZY, PACKING)])),
        Claim("roots-active-a", "active: new roots received at A",
              about(700, 233), number("triggered at A", ACTIVE)),
        Claim("roots-active-e", "active: new roots received at E",
              about(20_000, 6667), number("triggered at E", ACTIVE)),
        Claim("roots-incremental-e", "incremental: new roots received at E",
              about(1100, 367), number("triggered at E", INCREMENTAL)),
        *(Claim(f"rise-{each}", f"{each}: new roots at E over those at A",
                at_least(2), ratio(number("triggered at E", each), number("triggered at A", each)))
          for each in _OTHERS),
        Claim("near-publishers", "new roots of incremental, % of active: at E over at A",
              at_most(1), ratio(share("triggered at E", INCREMENTAL, ACTIVE),
                                share("triggered at A", INCREMENTAL, ACTIVE))),
        *(Claim(f"inner-{each}", f"{each}: new roots at inner brokers over those at core brokers",
                at_most(0.5), ratio(number("triggered at inner", each),
                                    number("triggered at the core", each))) for each in FOUR),
        Claim("queue-active", "active: longest queue in the core, messages",
              about(24_000, 8000), number("queue", ACTIVE)),
        Claim("queue-lazy", "lazy: longest queue in the core, messages",
              about(1500, 500), number("queue", LAZY)),
        Claim("queue-packing", "packing: longest queue in the core, messages",
              about(1500, 500), number("queue", PACKING)),
        Claim("queue-incremental", "incremental: longest queue in the core, messages",
              about(150, 75), number("queue", INCREMENTAL)),
        *(Claim(f"left-{each}", f"{each}: longest queue in the core an hour later, % of its peak",
                at_least(50), number("queue left", each)) for each in (ACTIVE, LAZY)),
        Claim("calm", "incremental: seconds until no core broker has 100 messages in its queue",
              at_most(600), number("congested", INCREMENTAL)),
        Claim("tables-lazy", "lazy: routing tables of the core, % of active",
              at_least(100), share("entries at the core", LAZY, ACTIVE)),
        Claim("tables-incremental", "incremental: routing tables of the core, % of active",
              at_most(100), share("entries at the core", INCREMENTAL, ACTIVE)),
        Claim("mistakes", "incremental: % of publication hops that serve nobody",
              at_most(10), number("false positive percent", INCREMENTAL)),
        *(Claim(f"own-queue-{each}", f"{each}: longest queue at publishers' brokers, messages",
                UNPUBLISHED, number("queue of publishers", each)) for each in FOUR),
        *(Claim(f"any-queue-{each}", f"{each}: longest queue at any broker, messages",
                UNPUBLISHED, number("queue anywhere", each)) for each in FOUR),
        *(Claim(f"undelivered-{each}", f"{each}: % of deliveries not made when the run ends",
                UNPUBLISHED, number("undelivered", each)) for each in FOUR),
        *(Claim(f"before-{each}", f"{each}: mean delay before the first unsubscription, s",
                UNPUBLISHED, number("delay before", each)) for each in FOUR),
        *(Claim(f"tables-{each}-entries", f"{each}: routing tables of the core, uncovered entries",
                UNPUBLISHED, number("entries at the core", each)) for each in FOUR),
    ),
    quick=small(*FOUR),
)  # fmt: skip


# One thing varies

_PAIR = (ACTIVE, INCREMENTAL)


def _along(key: str, label: str) -> tuple[Panel, ...]:
    """Delay and queue against what varies, and queues over time at its ends."""
    return (
        Panel("Mean delay", "delay", key, label, "s", log_y=True),
        Panel("Longest queue in the core", "queue", key, label, "messages", log_y=True),
        Panel("Routing tables of the core", "entries at the core", key, label, "entries"),
        over_time("Queue, least", "queue", "messages", log_y=True, only={key: LEAST}),
        over_time("Queue, greatest", "queue", "messages", log_y=True, only={key: GREATEST}),
        over_time("Delay, greatest", "delay", "s", log_y=True, only={key: GREATEST}),
    )


FIG10 = Figure(
    "fig10",
    "20 to 60 unsubscriptions",
    "Twenty unsubscriptions cost active covering over 260 s of delay on average; the incremental"
    " algorithm stays below half a second. Queues grow in length and in time with the number of"
    " unsubscriptions, and hardly with the incremental algorithm.",
    _along(UNSUBSCRIPTIONS, "unsubscriptions"),
    (
        Claim("delay-active", "active: mean delay after 20 unsubscriptions, s",
              at_least(260), number("delay", ACTIVE, {UNSUBSCRIPTIONS: LEAST})),
        *(Claim(f"delay-incremental-{count}",
                f"incremental: mean delay after {count} unsubscriptions, s",
                at_most(0.5), number("delay", INCREMENTAL, {UNSUBSCRIPTIONS: count}))
          for count in (20, 40, 60)),
        Claim("queue-grows", "active: longest queue after 60 over that after 20 unsubscriptions",
              at_least(1), ratio(number("queue", ACTIVE, {UNSUBSCRIPTIONS: GREATEST}),
                                 number("queue", ACTIVE, {UNSUBSCRIPTIONS: LEAST}))),
        Claim("time-grows", "active: time of congestion after 60 over that after 20",
              at_least(1), ratio(number("congested", ACTIVE, {UNSUBSCRIPTIONS: GREATEST}),
                                 number("congested", ACTIVE, {UNSUBSCRIPTIONS: LEAST}))),
        *(Claim(f"queue-{count}", f"incremental: longest queue after {count}, % of active",
                at_most(10), share("queue", INCREMENTAL, ACTIVE, {UNSUBSCRIPTIONS: count}))
          for count in (20, 40, 60)),
        *(Claim(f"active-{count}", f"active: mean delay after {count} unsubscriptions, s",
                UNPUBLISHED, number("delay", ACTIVE, {UNSUBSCRIPTIONS: count}))
          for count in (40, 60)),
    ),
    quick={**small(*_PAIR), "workload.degree": 25},
)  # fmt: skip

FIG11 = Figure(
    "fig11",
    "Covering degrees of 700 to 2100",
    "Active covering suffers the more, the more is covered: its routing tables grow from just"
    " under 8,000 to over 21,000 entries, its queues are about 10,000 messages at a degree of"
    " 1400 and still grow after an hour at 2100. With the incremental algorithm tables shrink"
    " with the degree, delays stay the same, and queues stay below 150 messages.",
    _along(DEGREE, "covering degree"),
    (
        Claim("tables-700", "active: routing tables of the core at 700, entries",
              about(8000, 1200), number("entries at the core", ACTIVE, {DEGREE: 700})),
        Claim("tables-2100", "active: routing tables of the core at 2100, entries",
              about(21_000, 3150), number("entries at the core", ACTIVE, {DEGREE: 2100})),
        Claim("tables-grow", "active: routing tables at the greatest degree over the least",
              at_least(1), ratio(number("entries at the core", ACTIVE, {DEGREE: GREATEST}),
                                 number("entries at the core", ACTIVE, {DEGREE: LEAST}))),
        Claim("tables-shrink", "incremental: routing tables at the greatest degree over the least",
              at_most(1), ratio(number("entries at the core", INCREMENTAL, {DEGREE: GREATEST}),
                                number("entries at the core", INCREMENTAL, {DEGREE: LEAST}))),
        Claim("queue-1400", "active: longest queue in the core at 1400, messages",
              about(10_000, 3333), number("queue", ACTIVE, {DEGREE: 1400})),
        Claim("queue-2100", "active: longest queue an hour later at the greatest degree, % of peak",
              at_least(90), number("queue left", ACTIVE, {DEGREE: GREATEST})),
        *(Claim(f"queue-incremental-{degree}",
                f"incremental: longest queue in the core at {degree}, messages",
                at_most(150), number("queue", INCREMENTAL, {DEGREE: degree}))
          for degree in (700, 1400, 2100)),
        Claim("sensitive", "active: mean delay at the greatest degree over the least",
              at_least(2), ratio(number("delay", ACTIVE, {DEGREE: GREATEST}),
                                 number("delay", ACTIVE, {DEGREE: LEAST}))),
        Claim("stable", "incremental: mean delay at the greatest degree over the least",
              about(1, 0.5), ratio(number("delay", INCREMENTAL, {DEGREE: GREATEST}),
                                   number("delay", INCREMENTAL, {DEGREE: LEAST}))),
        *(Claim(f"{each}-tables-{degree}", f"{each}: routing tables of the core at {degree}",
                UNPUBLISHED, number("entries at the core", each, {DEGREE: degree}))
          for each, degree in ((ACTIVE, 1400), (INCREMENTAL, 700), (INCREMENTAL, 1400),
                               (INCREMENTAL, 2100))),
        *(Claim(f"{each}-delay-{degree}", f"{each}: mean delay at {degree}, s",
                UNPUBLISHED, number("delay", each, {DEGREE: degree}))
          for each in _PAIR for degree in (700, 1400, 2100)),
    ),
    quick=small(*_PAIR, **{DEGREE: [14, 28, 42]}),
)  # fmt: skip


# The workflow

FIG12 = Figure(
    "fig12",
    "Monitors of a distributed workflow",
    "With active covering delays jump whenever a monitor stops monitoring, queues grow and routing"
    " tables fluctuate much; with the incremental algorithm delays stay at 0.24 s, there is hardly"
    " any congestion, and tables change much less.",
    (
        _DELAY,
        _QUEUE,
        over_time("Routing tables", "entries", "mean of all brokers"),
    ),
    (
        Claim("delay-incremental", "incremental: mean delay, s",
              about(0.24, 0.12), number("delay", INCREMENTAL)),
        Claim("spikes", "active: highest mean delay at any time over the mean",
              at_least(2), ratio(number("peak delay", ACTIVE), number("delay", ACTIVE))),
        Claim("stable", "incremental: highest mean delay at any time over the mean",
              at_most(2), ratio(number("peak delay", INCREMENTAL), number("delay", INCREMENTAL))),
        Claim("slower", "active: mean delay over that of incremental",
              at_least(1), ratio(number("delay", ACTIVE), number("delay", INCREMENTAL))),
        Claim("queue", "incremental: longest queue in the core, % of active",
              at_most(10), share("queue", INCREMENTAL, ACTIVE)),
        Claim("tables", "incremental: how far routing tables vary, % of active",
              at_most(50), share("swing of entries", INCREMENTAL, ACTIVE)),
        *(Claim(f"{key}-{each}", f"{each}: {text}", UNPUBLISHED, number(column, each))
          for each in _PAIR
          for key, text, column in (("peak", "highest mean delay at any time, s", "peak delay"),
                                    ("longest", "longest queue in the core, messages", "queue"),
                                    ("roots", "new roots that brokers received", "triggered"))),
    ),
    quick={
        "duration": "1300 s",
        "service.seconds": dearer(5),
        "workload.small": 16,
        "workload.medium": 16,
        "workload.large": 8,
    },
)  # fmt: skip


FAMILY = Family(
    "covering",
    "The Middleware Systems Research Group (Toronto) on covering and incremental unsubscription",
    {
        figure.name: figure
        for figure in (
            FIG1, FIG9, FIG10, FIG11, FIG12, FIG13, FIG14, FIG15, FIG16, FIG18, TABLE2, TABLE3,
            BYTES,
        )
    },
)  # fmt: skip
