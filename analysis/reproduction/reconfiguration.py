"""What Cugola, Frey, Murphy and Picco published of control messages: Fig. 13 to 20, 27 to 29.

"Content-Based Routing for Publish-Subscribe on a Dynamic Topology", Sec. V. Statements are in our
words, and so are the tolerances: where the paper says "about", a tenth of the number or five to
ten percentage points, and a quarter where a ratio is told in round numbers of a logarithmic chart
(Fig. 24).
"""

import math
from collections.abc import Callable

from analysis.reproduction.figure import Claim, Figure, Measure, Panel
from analysis.reproduction.measures import (
    GREATEST,
    HIGHEST,
    LEAST,
    LOWEST,
    between,
    difference,
    number,
    ratio,
    total,
    within,
)
from analysis.reproduction.rules import Rule, about, at_least, at_most

BROKERS, PATTERNS = "topology.brokers", "workload.patterns"
DENSITY, PUBLISHING = "workload.subscribers", "workload.rate"
RATE = "faults[0].rate"
TREE = "topology.kind"
FLUSH = "protocol.flush"
T_U, T_S = "protocol.unsubscribe_after", "protocol.activate_after"
STRAWMAN, EVENTS = "STRAWMAN", "event forwarding"
DEFERRED, CONFINED = ("TDU", "NDU"), ("ILA", "RP")
OURS = (*DEFERRED, *CONFINED)
QUICK = {"repeat": 2, BROKERS: 50}
"""What a quick look is content with: two seeds, half as many dispatchers."""
COST, SAVED = "control messages, weighed", "% less than STRAWMAN"


def costs(
    x: str,
    label: str,
    value: str = "cost",
    log_x: bool = False,
    published: tuple[float, ...] = (),
) -> tuple[Panel, Panel]:
    """The paper's usual pair of charts: the cost of a reconfiguration, and what is saved."""
    return (
        Panel("Cost of a reconfiguration", value, x, label, COST, log_x=log_x),
        Panel("Improvement", f"{value} saved", x, label, SAVED, log_x=log_x, levels=published),
    )


def _saved(protocols: str | tuple[str, ...], **at: object) -> Measure:
    return number("cost saved", protocols, {_KEYS[key]: place for key, place in at.items()})


_KEYS = {
    "brokers": BROKERS,
    "patterns": PATTERNS,
    "density": DENSITY,
    "rate": RATE,
    "publishing": PUBLISHING,
    "timer": T_U,
}


def every(key: str, text: str, rule: Rule, measures: dict[str, Measure]) -> tuple[Claim, ...]:
    """The same statement about several protocols."""
    return tuple(
        Claim(f"{key}-{name.lower().replace(' ', '-')}", f"{name}: {text}", rule, measure)
        for name, measure in measures.items()
    )


def _beside_strawman(protocol: str, rate: object) -> Measure:
    """By how many messages a reconfiguration costs less than with STRAWMAN."""
    return difference(
        number("cost", STRAWMAN, {RATE: rate}), number("cost", protocol, {RATE: rate})
    )


def _size(gap: Measure) -> Measure:
    """How far something is from zero, on whichever side its mean is."""
    return lambda rows: gap(rows) * (1 if gap(rows).mean() >= 0 else -1)


def _risen(protocol: str) -> Measure:
    """What a reconfiguration costs more at 30 a second than at the lowest rate."""
    return difference(
        number("cost", protocol, {RATE: 30.0}), number("cost", protocol, {RATE: LEAST})
    )


def grows(value: str, protocol: str, key: str) -> Measure:
    """By how much a number is greater at the last place than at the first."""
    return difference(
        number(value, protocol, {key: GREATEST}), number(value, protocol, {key: LEAST})
    )


def _percent(part: str, protocol: str, *whole: str) -> Measure:
    of_one = ratio(number(part, protocol), total(*(number(name, protocol) for name in whole)))
    return lambda rows: 100 * of_one(rows)


FIG13 = Figure(
    "fig13",
    "Messages of a reconfiguration, counted and weighed",
    "REC messages are few and heavy: 3.44 per reconfiguration weigh 90.9. FLUSH and RECACK hardly"
    " count. Weighing makes the paper's own protocols look worse than counting does.",
    (
        Panel("Messages", "messages", kind="bars", y_label="per reconfiguration", parts=(
            ("messages of subscribe", "SUB"), ("messages of unsubscribe", "UNSUB"),
            ("messages of flush", "FLUSH"), ("messages of activate", "ACTIVATE"),
            ("messages of rec", "REC"), ("messages of recack", "RECACK"))),
        Panel("Normalized cost", "cost", kind="bars", y_label="per reconfiguration", parts=(
            ("cost of subscribe", "SUB"), ("cost of unsubscribe", "UNSUB"),
            ("cost of flush", "FLUSH"), ("cost of activate", "ACTIVATE"),
            ("cost of rec", "REC"), ("cost of recack", "RECACK"))),
    ),
    (
        Claim("rec", "RP: REC messages per reconfiguration",
              about(3.44, 0.35), number("messages of rec", "RP")),
        Claim("rec-head", "RP: REC messages per reconfiguration that brokers of the head send",
              about(3.44, 0.35), number("messages of rec on the head", "RP")),
        Claim("rec-cost", "RP: normalized cost of REC messages per reconfiguration",
              about(90.9, 9.1), number("cost of rec", "RP")),
        Claim("rec-head-cost", "RP: their normalized cost per reconfiguration",
              about(90.9, 9.1), number("cost of rec on the head", "RP")),
        *every("flush", "FLUSH messages, % of the normalized cost", at_most(10),
               {name: number("flush percent", name) for name in ("NDU", *CONFINED)}),
        Claim("recack", "RP: RECACK messages, % of the normalized cost",
              at_most(10), _percent("cost of recack", "RP", "cost")),
        Claim("few", "NDU: FLUSH messages, % of the number of SUB and UNSUB messages",
              at_most(10), _percent("messages of flush", "NDU",
                                    "messages of subscribe", "messages of unsubscribe")),
        *every("conservative", "normalized cost over the number of messages", at_least(1),
               {name: ratio(number("cost", name), number("messages", name))
                for name in ("NDU", *CONFINED)}),
    ),
    quick=QUICK,
)  # fmt: skip

FIG14 = Figure(
    "fig14",
    "Cost of a reconfiguration against system scale, balanced trees",
    "All protocols beat STRAWMAN, by up to 75 %; the two deferred ones save about 20 points less"
    " than ILA and RP. TDU and NDU can hardly be told apart, nor can ILA and RP. What is saved"
    " shrinks a little as the system grows, since the patterns stay 200.",
    costs(BROKERS, "dispatchers", published=(75,)),
    (
        *every("best", "greatest % saved at any scale", about(75, 7.5),
               {name: _saved(name, brokers=HIGHEST) for name in CONFINED}),
        Claim("up-to-50", "TDU: the same, which the introduction has up to 50",
              about(50, 5), _saved("TDU", brokers=HIGHEST)),
        Claim("up-to-80", "RP: the same, which the introduction has up to 80",
              about(80, 5), _saved("RP", brokers=HIGHEST)),
        Claim("gap", "points that ILA and RP save more than TDU and NDU",
              about(20, 7.5), difference(_saved(CONFINED), _saved(DEFERRED))),
        Claim("deferred", "points that NDU saves more than TDU",
              about(0, 5), difference(_saved("NDU"), _saved("TDU"))),
        Claim("confined", "points that RP saves more than ILA",
              about(0, 5), difference(_saved("RP"), _saved("ILA"))),
        Claim("grows", "STRAWMAN: cost with most dispatchers over that with fewest",
              at_least(1), ratio(number("cost", STRAWMAN, {BROKERS: GREATEST}),
                                 number("cost", STRAWMAN, {BROKERS: LEAST}))),
        *every("better", "% saved at the scale where that is least", at_least(0),
               {name: _saved(name, brokers=LOWEST) for name in OURS}),
        *every("saturation", "points saved at 100 dispatchers beyond the largest system",
               at_least(0), {name: difference(_saved(name, brokers=100),
                                              _saved(name, brokers=GREATEST)) for name in OURS}),
        *every("shrinks", "points saved in the smallest system beyond the largest", at_least(0),
               {name: difference(_saved(name, brokers=LEAST), _saved(name, brokers=GREATEST))
                for name in OURS}),
    ),
    quick={"repeat": 2, "sweep": {BROKERS: [50, 100, 200]}},
)  # fmt: skip


def _dearer(protocol: str) -> Measure:
    """A protocol's cost on random trees over that on balanced ones."""
    return ratio(within(TREE, "random-tree", number("cost", protocol)),
                 within(TREE, "balanced-tree", number("cost", protocol)))  # fmt: skip


def _avoided(protocol: str, tree: str) -> Measure:
    return within(TREE, tree, difference(number("cost", STRAWMAN), number("cost", protocol)))


def _less_affected(protocol: str) -> Measure:
    """By how much less a protocol's cost grows on random trees than STRAWMAN's and TDU's."""
    one, other, own = _dearer(STRAWMAN), _dearer("TDU"), _dearer(protocol)
    return lambda rows: ((one(rows) + other(rows)) / 2 - own(rows)).dropna()


_INVOLVED_GAP = difference(number("involved saved", CONFINED), number("involved saved", DEFERRED))

FIG15 = Figure(
    "fig15",
    "Cost of a reconfiguration against system scale, random trees",
    "Random trees are deeper, so everything costs more, and more messages are saved. ILA and RP"
    " save about 10 points more of STRAWMAN's cost than on balanced trees, the deferred protocols"
    " about 10 points less.",
    tuple(Panel(p.title, p.y, p.x, p.x_label, p.y_label, only={TREE: "random-tree"})
          for p in costs(BROKERS, "dispatchers")),
    (
        *every("more", "points saved on random trees beyond balanced ones", about(10, 5),
               {name: difference(within(TREE, "random-tree", _saved(name)),
                                 within(TREE, "balanced-tree", _saved(name)))
                for name in CONFINED}),
        *every("less", "points saved on random trees beyond balanced ones", about(-10, 5),
               {name: difference(within(TREE, "random-tree", _saved(name)),
                                 within(TREE, "balanced-tree", _saved(name)))
                for name in DEFERRED}),
        *every("dearer", "cost on random trees over that on balanced ones", at_least(1),
               {name: _dearer(name) for name in (STRAWMAN, *OURS)}),
        *every("affected", "the same ratio, STRAWMAN's and TDU's mean less its own", at_least(0),
               {name: _less_affected(name) for name in CONFINED}),
        Claim("involved", "points that ILA and RP save more dispatchers than TDU and NDU, random"
              " trees beyond balanced ones (told with Fig. 27)",
              at_least(0), difference(within(TREE, "random-tree", _INVOLVED_GAP),
                                      within(TREE, "balanced-tree", _INVOLVED_GAP))),
        *every("absolute", "cost that is avoided, random trees over balanced ones", at_least(1),
               {name: ratio(_avoided(name, "random-tree"), _avoided(name, "balanced-tree"))
                for name in OURS}),
    ),
    quick={"repeat": 2, "sweep": {BROKERS: [50, 100, 200]}},
)  # fmt: skip

FIG16 = Figure(
    "fig16",
    "Cost of a reconfiguration against the number of patterns",
    "The more patterns there are, the fewer subscribers each has and the farther STRAWMAN's"
    " messages travel: all protocols save more the more patterns there are.",
    costs(PATTERNS, "patterns"),
    every("grows", "points saved with most patterns beyond those with fewest", at_least(0),
          {name: grows("cost saved", name, PATTERNS) for name in OURS}),
    quick={**QUICK, "sweep": {PATTERNS: [32, 96, 400]}},
)  # fmt: skip

FIG17 = Figure(
    "fig17",
    "Cost of a reconfiguration against the density of subscribers",
    "The denser the subscribers, the less there is to save. Where every dispatcher subscribes, the"
    " deferred protocols still save 20 % and ILA 40 %.",
    costs(DENSITY, "share of dispatchers that subscribe", published=(20, 40)),
    (
        *every("all", "% saved where all dispatchers subscribe", about(20, 5),
               {name: _saved(name, density=1.0) for name in DEFERRED}),
        Claim("all-ila", "ILA: % saved where all dispatchers subscribe",
              about(40, 5), _saved("ILA", density=1.0)),
        *every("shrinks", "points saved with most subscribers beyond those with fewest", at_most(0),
               {name: grows("cost saved", name, DENSITY) for name in OURS}),
    ),
    quick={**QUICK, "sweep": {DENSITY: ["3 %", "20 %", "100 %"]}},
)  # fmt: skip

FIG18 = Figure(
    "fig18",
    "Cost of a reconfiguration against the rate of reconfigurations",
    "Reconfigurations that overlap undo each other's work, so each costs more, most with STRAWMAN"
    " and least with ILA; beyond some rate the tree is so torn that each costs less again and the"
    " protocols differ less. All stay better than STRAWMAN; NDU falls behind TDU at high rates.",
    costs(RATE, "reconfigurations a second", log_x=True),
    (
        Claim("rises", "STRAWMAN: cost at 30 rec/s over that at the lowest rate",
              at_least(1), ratio(number("cost", STRAWMAN, {RATE: 30.0}),
                                 number("cost", STRAWMAN, {RATE: LEAST}))),
        *every("falls", "cost at the highest rate over that at 30 rec/s", at_most(1),
               {name: ratio(number("cost", name, {RATE: GREATEST}),
                            number("cost", name, {RATE: 30.0}))
                for name in (STRAWMAN, "TDU", "NDU", "ILA")}),
        *every("limited", "by how much STRAWMAN's cost rises more up to 30 rec/s", at_least(0),
               {name: difference(_risen(STRAWMAN), _risen(name))
                for name in ("TDU", "NDU", "ILA")}),
        *every("better", "% saved at the rate where that is least", at_least(0),
               {name: _saved(name, rate=LOWEST) for name in ("TDU", "NDU", "ILA")}),
        Claim("notified-200", "cost of NDU over that of TDU at 200 rec/s",
              at_least(1), ratio(number("cost", "NDU", {RATE: 200.0}),
                                 number("cost", "TDU", {RATE: 200.0}))),
        Claim("notified", "cost of NDU over that of TDU at the highest rate",
              at_least(1), ratio(number("cost", "NDU", {RATE: GREATEST}),
                                 number("cost", "TDU", {RATE: GREATEST}))),
        *every("alike", "points between its cost and STRAWMAN's at the highest rate, beyond those"
               " at the lowest", at_most(0),
               {name: difference(_size(_saved(name, rate=GREATEST)),
                                 _size(_saved(name, rate=LEAST)))
                for name in ("TDU", "NDU", "ILA")}),
        *every("closer", "how far its cost is from STRAWMAN's at the highest rate, less how far at"
               " the lowest", at_most(0),
               {name: difference(_size(_beside_strawman(name, GREATEST)),
                                 _size(_beside_strawman(name, LEAST)))
                for name in ("TDU", "NDU", "ILA")}),
    ),
    quick={**QUICK, "sweep": {RATE: ["3 /s", "30 /s", "200 /s", "400 /s"]}},
)  # fmt: skip

_TIMED = ("protocol", FLUSH)
_STRAWMAN_TABLE: dict[str, object] = {"name": "subscription-forwarding"}
_TABLES: dict[str, dict[str, object]] = {
    "TDU": {"name": "timed-deferred-unsubscription"},
    "NDU": {"name": "notified-deferred-unsubscription"},
    "ILA": {"name": "informed-link-activation"},
    "ILA, no flush": {"name": "informed-link-activation", "flush": False},
    "RP": {"name": "reconfiguration-path"},
}


def timers(names: tuple[str, ...], key: str, times: tuple[str, ...]) -> list[dict[str, object]]:
    """Protocol tables with one of their timers set in turn, after STRAWMAN's."""
    short = key.rpartition(".")[2]
    return [
        _STRAWMAN_TABLE,
        *({**_TABLES[name], short: time} for name in names for time in times),
    ]


def _gained(protocol: str) -> Measure:
    """Points that the longest unsubscription timer saves beyond one just longer than the repair."""
    return difference(_saved(protocol, timer=GREATEST), _saved(protocol, timer=0.125))


def _flushing(measure: Callable[[str], Measure]) -> dict[str, Measure]:
    """A measure of ILA as the paper has it, and without its FLUSH."""
    return {
        "ILA": within(FLUSH, True, measure("ILA")),
        "ILA without FLUSH": within(FLUSH, False, measure("ILA")),
    }


def _timed(measure: Callable[[str], Measure]) -> dict[str, Measure]:
    """A measure of every protocol with an unsubscription timer."""
    return {"TDU": measure("TDU"), "NDU": measure("NDU"), **_flushing(measure)}


def _useful(protocol: str, measure: Measure) -> Measure:
    """The same of those runs alone whose T_u is long enough, and for ILA short enough."""
    return between(T_U, _REPAIR, _USEFUL[protocol], measure)


_REPAIR = 0.1
_USEFUL = {"TDU": math.inf, "NDU": math.inf, "ILA": 0.25}
"""The times below which T_u is to stay: ILA's is T_s and the repair."""

FIG19 = Figure(
    "fig19",
    "Cost of a reconfiguration against the unsubscription timer, 30 reconfigurations a second",
    "With a timer shorter than the repair (0.1 s) protocols behave like STRAWMAN; the cost drops"
    " where it exceeds it, below STRAWMAN's. Longer timers help TDU further, NDU less. ILA loses"
    " again where the timer exceeds T_s plus the repair (0.25 s), unless FLUSH comes first.",
    (
        Panel("Cost of a reconfiguration", "cost", T_U, "T_u, s", COST, by=_TIMED,
              uprights=(0.1, 0.25)),
        Panel("Improvement", "cost saved", T_U, "T_u, s", SAVED, by=_TIMED, uprights=(0.1, 0.25)),
    ),
    (
        *every("step", "points saved with T_u just beyond the repair more than just before it",
               at_least(5), _timed(lambda name: difference(_saved(name, timer=0.125),
                                                           _saved(name, timer=0.075)))),
        *every("short", "% saved with the shortest timer", about(0, 10),
               _timed(lambda name: _saved(name, timer=LEAST))),
        *every("improves", "% saved with T_u beyond the repair (ILA: and below 0.25 s), where that"
               " is least", at_least(0),
               _timed(lambda name: _useful(name, _saved(name, timer=LOWEST)))),
        *every("dependency", "points between the most and the least that is saved there",
               at_most(10), _timed(lambda name: _useful(name, difference(
                   _saved(name, timer=HIGHEST), _saved(name, timer=LOWEST))))),
        Claim("longer", "TDU: cost with the longest timer over that with 0.125 s",
              at_most(1), ratio(number("cost", "TDU", {T_U: GREATEST}),
                                number("cost", "TDU", {T_U: 0.125}))),
        Claim("longer-ndu", "NDU: points saved with the longest timer beyond those with 0.125 s",
              at_least(0), _gained("NDU")),
        Claim("smaller", "the same points of TDU, less NDU's",
              at_least(0), difference(_gained("TDU"), _gained("NDU"))),
        *every("second", "cost with T_u = 0.26 s over that with 0.24 s", at_least(1.02),
               _flushing(lambda name: ratio(number("cost", name, {T_U: 0.26}),
                                            number("cost", name, {T_U: 0.24})))),
    ),
    quick={**QUICK, "sweep": {"protocol": timers(
        ("TDU", "NDU", "ILA", "ILA, no flush"), T_U,
        ("0.075 s", "0.125 s", "0.24 s", "0.26 s"))}},
)  # fmt: skip

FIG20 = Figure(
    "fig20",
    "Cost of a reconfiguration against ILA's subscription timer",
    "A T_s below T_u less the repair (0.05 s) lets needless subscriptions pass, so that ILA costs"
    " about what the deferred protocols do. A longer T_s helps or makes no difference.",
    (
        Panel("Cost of a reconfiguration", "cost", T_S, "T_s, s", COST, by=_TIMED,
              uprights=(0.05,)),
        Panel("Improvement", "cost saved", T_S, "T_s, s", SAVED, by=_TIMED, uprights=(0.05,)),
    ),
    (
        *every("deferred", "points saved with the shortest T_s beyond TDU's", about(0, 10),
               {name: difference(measure, number("cost saved", "TDU")) for name, measure in
                _flushing(lambda name: number("cost saved", name, {T_S: LEAST})).items()}),
        *every("short", "cost with the shortest T_s over that with 0.15 s", at_least(1.02),
               _flushing(lambda name: ratio(number("cost", name, {T_S: LEAST}),
                                            number("cost", name, {T_S: 0.15})))),
        *every("long", "cost with the longest T_s over that with 0.15 s", at_most(1.02),
               _flushing(lambda name: ratio(number("cost", name, {T_S: GREATEST}),
                                            number("cost", name, {T_S: 0.15})))),
    ),
    quick={**QUICK, "sweep": {"protocol": [_TABLES["TDU"], *timers(
        ("ILA", "ILA, no flush"), T_S, ("0.01 s", "0.15 s", "0.4 s"))]}},
)  # fmt: skip


def _involved(
    name: str,
    base: str,
    x: str,
    label: str,
    said: str,
    claims: tuple[Claim, ...],
    quick: dict[str, object],
    published: tuple[float, ...] = (),
) -> Figure:
    """A figure on the dispatchers that a reconfiguration involves."""
    return Figure(
        name,
        f"Dispatchers involved in a reconfiguration against {base}",
        said,
        (
            Panel("Dispatchers involved", "involved share", x, label, "% of all dispatchers"),
            Panel("Improvement", "involved saved", x, label, SAVED, levels=published),
        ),
        claims,
        quick=quick,
    )  # fmt: skip


def _spread(name: str, key: str) -> Measure:
    """How far the share of involved dispatchers reaches along a key, in points."""
    return difference(
        number("involved share", name, {key: HIGHEST}),
        number("involved share", name, {key: LOWEST}),
    )


def _independent(key: str) -> tuple[Claim, ...]:
    return (
        *every("independent", "points of all dispatchers between the least and the most",
               at_most(3), {name: _spread(name, key) for name in CONFINED}),
        Claim("more", "the same points of RP, less ILA's",
              at_most(0), difference(_spread("RP", key), _spread("ILA", key))),
    )  # fmt: skip


FIG27 = _involved(
    "fig27", "system scale", BROKERS, "dispatchers",
    "All protocols involve less than half of the dispatchers that STRAWMAN does, ILA and RP 90 %"
    " fewer. The share of all dispatchers falls as the system grows.",
    (
        *every("half", "% fewer dispatchers than STRAWMAN, least at any scale", at_least(50),
               {name: number("involved saved", name, {BROKERS: LOWEST}) for name in OURS}),
        *every("ninety", "% fewer dispatchers than STRAWMAN", about(90, 5),
               {name: number("involved saved", name) for name in CONFINED}),
        Claim("amortized", "STRAWMAN: points of all dispatchers, largest system minus smallest",
              at_most(0), grows("involved share", STRAWMAN, BROKERS)),
    ),
    {"repeat": 2, "sweep": {BROKERS: [50, 100]}},
    (50, 90),
)  # fmt: skip

FIG28 = _involved(
    "fig28", "the number of patterns", PATTERNS, "patterns",
    "ILA, and RP even more so, involve about the same share of dispatchers whatever the number of"
    " patterns.",
    _independent(PATTERNS),
    {**QUICK, "sweep": {PATTERNS: [32, 96, 400]}},
)  # fmt: skip

FIG29 = _involved(
    "fig29", "the density of subscribers", DENSITY, "share of dispatchers that subscribe",
    "ILA, and RP even more so, involve about the same share of dispatchers whatever the density of"
    " subscribers.",
    _independent(DENSITY),
    {**QUICK, "sweep": {DENSITY: ["3 %", "20 %", "100 %"]}},
)  # fmt: skip
