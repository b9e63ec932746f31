"""What Cugola, Frey, Murphy and Picco published on reconfiguration: Fig. 12 to 29 and Eq. 2.

"Content-Based Routing for Publish-Subscribe on a Dynamic Topology", Sec. V. Statements are in our
words, and so are the tolerances: where the paper says "about", a tenth of the number or five to
ten percentage points.
"""

import math

from analysis.reproduction.figure import Claim, Figure, Measure, Panel
from analysis.reproduction.measures import (
    GREATEST,
    HIGHEST,
    LEAST,
    LOWEST,
    between,
    difference,
    greatest,
    least,
    number,
    ratio,
    within,
)
from analysis.reproduction.rules import Rule, about, at_least, at_most, exactly

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


def _costs(x: str, label: str, value: str = "cost", log_x: bool = False) -> tuple[Panel, Panel]:
    """The paper's usual pair of charts: the cost of a reconfiguration, and what is saved."""
    return (
        Panel("Cost of a reconfiguration", value, x, label, COST, log_x=log_x),
        Panel("Improvement", f"{value} saved", x, label, SAVED, log_x=log_x),
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
        Claim(f"{key}-{name.lower()}", f"{name}: {text}", rule, measure)
        for name, measure in measures.items()
    )


def _distance(protocol: str, rate: object) -> Measure:
    """How far a protocol's cost is from STRAWMAN's, in percent of it, whichever is higher."""
    saved = _saved(protocol, rate=rate)
    return lambda rows: saved(rows) * (1 if saved(rows).mean() >= 0 else -1)


def _grows(value: str, protocol: str, key: str) -> Measure:
    """By how much a number is greater at the last place than at the first."""
    return difference(
        number(value, protocol, {key: GREATEST}), number(value, protocol, {key: LEAST})
    )


FIG12 = Figure(
    "fig12",
    "Event delivery to the stable core while the tree is reconfigured",
    "Delivery drops while links are replaced (3 s to 7 s), a little when reconfigurations are apart"
    " and more when they overlap, and is back at exactly 100 % once the tree is stable. The paper"
    " shows TDU and says that the others do the same.",
    (
        Panel("3 reconfigurations a second", "delivered", x_label="time, s", y_label="% delivered",
              kind="time", only={RATE: 3.0}),
        Panel("30 reconfigurations a second", "delivered", x_label="time, s", y_label="% delivered",
              kind="time", only={RATE: 30.0}),
    ),
    (
        Claim("exact-low", "TDU, 3 rec/s: % of events due to the core that come, from 0.2 s after"
              " the last break on",
              exactly(100), number("delivered at last", "TDU", {RATE: 3.0})),
        Claim("exact-high", "TDU, 30 rec/s: % of events due to the core that come, from 0.2 s after"
              " the last break on",
              exactly(100), number("delivered at last", "TDU", {RATE: 30.0})),
        Claim("exact-others", "the worst of the other protocols: the same at any rate",
              exactly(100), least([number("delivered at last", name, {RATE: LOWEST})
                                   for name in (STRAWMAN, "NDU", "ILA", "RP")])),
        Claim("marginal", "TDU, 3 rec/s: % that come while links are replaced",
              at_least(95), number("delivered", "TDU", {RATE: 3.0})),
        Claim("overlap", "TDU: points that 30 rec/s deliver less than 3 rec/s",
              at_least(0), difference(number("delivered", "TDU", {RATE: 3.0}),
                                      number("delivered", "TDU", {RATE: 30.0}))),
    ),
    quick={**QUICK, "workload.rate": "5 /s"},
)  # fmt: skip

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
        Claim("flush", "NDU: FLUSH messages, % of the normalized cost",
              at_most(10), number("flush percent", "NDU")),
        Claim("conservative", "ILA: normalized cost of ACTIVATE over the number of messages",
              at_least(1), ratio(number("cost of activate", "ILA"),
                                 number("messages of activate", "ILA"))),
    ),
    quick=QUICK,
)  # fmt: skip

FIG14 = Figure(
    "fig14",
    "Cost of a reconfiguration against system scale, balanced trees",
    "All protocols beat STRAWMAN, by up to 75 %; the two deferred ones save about 20 points less"
    " than ILA and RP. TDU and NDU can hardly be told apart, nor can ILA and RP. What is saved"
    " shrinks a little as the system grows, since the patterns stay 200.",
    _costs(BROKERS, "dispatchers"),
    (
        *every("best", "greatest % saved at any scale", about(75, 7.5),
               {name: _saved(name, brokers=HIGHEST) for name in CONFINED}),
        Claim("gap", "points that ILA and RP save more than TDU and NDU",
              about(20, 7.5), difference(_saved(CONFINED), _saved(DEFERRED))),
        Claim("deferred", "points that NDU saves more than TDU",
              about(0, 5), difference(_saved("NDU"), _saved("TDU"))),
        Claim("confined", "points that RP saves more than ILA",
              about(0, 10), difference(_saved("RP"), _saved("ILA"))),
        Claim("grows", "STRAWMAN: cost with most dispatchers over that with fewest",
              at_least(1), ratio(number("cost", STRAWMAN, {BROKERS: GREATEST}),
                                 number("cost", STRAWMAN, {BROKERS: LEAST}))),
        *every("better", "% saved at the scale where that is least", at_least(0),
               {name: _saved(name, brokers=LOWEST) for name in OURS}),
        Claim("saturation", "ILA and RP: points saved at 100 dispatchers beyond the largest system",
              at_least(0), difference(_saved(CONFINED, brokers=100),
                                      _saved(CONFINED, brokers=GREATEST))),
    ),
    quick={"repeat": 2, "sweep": {BROKERS: [50, 100]}},
)  # fmt: skip

_AVOIDED = difference(number("cost", STRAWMAN), number("cost", OURS))

FIG15 = Figure(
    "fig15",
    "Cost of a reconfiguration against system scale, random trees",
    "Random trees are deeper, so everything costs more, and more messages are saved. ILA and RP"
    " save about 10 points more of STRAWMAN's cost than on balanced trees, the deferred protocols"
    " about 10 points less.",
    tuple(Panel(p.title, p.y, p.x, p.x_label, p.y_label, only={TREE: "random-tree"})
          for p in _costs(BROKERS, "dispatchers")),
    (
        *every("more", "points saved on random trees beyond balanced ones", about(10, 5),
               {name: difference(within(TREE, "random-tree", _saved(name)),
                                 within(TREE, "balanced-tree", _saved(name)))
                for name in CONFINED}),
        *every("less", "points saved on random trees beyond balanced ones", about(-10, 5),
               {name: difference(within(TREE, "random-tree", _saved(name)),
                                 within(TREE, "balanced-tree", _saved(name)))
                for name in DEFERRED}),
        Claim("dearer", "STRAWMAN: cost on random trees over that on balanced ones",
              at_least(1), ratio(within(TREE, "random-tree", number("cost", STRAWMAN)),
                                 within(TREE, "balanced-tree", number("cost", STRAWMAN)))),
        Claim("absolute", "cost that protocols avoid in the mean, random trees over balanced ones",
              at_least(1), ratio(within(TREE, "random-tree", _AVOIDED),
                                 within(TREE, "balanced-tree", _AVOIDED))),
    ),
    quick={"repeat": 2, "sweep": {BROKERS: [50, 100]}},
)  # fmt: skip

FIG16 = Figure(
    "fig16",
    "Cost of a reconfiguration against the number of patterns",
    "The more patterns there are, the fewer subscribers each has and the farther STRAWMAN's"
    " messages travel: all protocols save more the more patterns there are.",
    _costs(PATTERNS, "patterns"),
    every("grows", "points saved with most patterns beyond those with fewest", at_least(0),
          {name: _grows("cost saved", name, PATTERNS) for name in OURS}),
    quick={**QUICK, "sweep": {PATTERNS: [32, 96, 400]}},
)  # fmt: skip

FIG17 = Figure(
    "fig17",
    "Cost of a reconfiguration against the density of subscribers",
    "The denser the subscribers, the less there is to save. Where every dispatcher subscribes, the"
    " deferred protocols still save 20 % and ILA 40 %.",
    _costs(DENSITY, "share of dispatchers that subscribe"),
    (
        *every("all", "% saved where all dispatchers subscribe", about(20, 5),
               {name: _saved(name, density=1.0) for name in DEFERRED}),
        Claim("all-ila", "ILA: % saved where all dispatchers subscribe",
              about(40, 5), _saved("ILA", density=1.0)),
        *every("shrinks", "points saved with most subscribers beyond those with fewest", at_most(0),
               {name: _grows("cost saved", name, DENSITY) for name in OURS}),
    ),
    quick={**QUICK, "sweep": {DENSITY: ["3 %", "20 %", "100 %"]}},
)  # fmt: skip

FIG18 = Figure(
    "fig18",
    "Cost of a reconfiguration against the rate of reconfigurations",
    "Reconfigurations that overlap undo each other's work, so each costs more, most with STRAWMAN"
    " and least with ILA; beyond some rate the tree is so torn that each costs less again and the"
    " protocols differ less. All stay better than STRAWMAN; NDU falls behind TDU at high rates.",
    _costs(RATE, "reconfigurations a second", log_x=True),
    (
        Claim("rises", "STRAWMAN: cost at 30 rec/s over that at the lowest rate",
              at_least(1), ratio(number("cost", STRAWMAN, {RATE: 30.0}),
                                 number("cost", STRAWMAN, {RATE: LEAST}))),
        Claim("falls", "STRAWMAN: cost at the highest rate over that at 30 rec/s",
              at_most(1), ratio(number("cost", STRAWMAN, {RATE: GREATEST}),
                                number("cost", STRAWMAN, {RATE: 30.0}))),
        Claim("limited", "by how much STRAWMAN's cost rises more than ILA's up to 30 rec/s",
              at_least(0), difference(
                  difference(number("cost", STRAWMAN, {RATE: 30.0}),
                             number("cost", STRAWMAN, {RATE: LEAST})),
                  difference(number("cost", "ILA", {RATE: 30.0}),
                             number("cost", "ILA", {RATE: LEAST})))),
        *every("better", "% saved at the rate where that is least", at_least(0),
               {name: _saved(name, rate=LOWEST) for name in ("TDU", "NDU", "ILA")}),
        Claim("notified", "cost of NDU over that of TDU at the highest rate",
              at_least(1), ratio(number("cost", "NDU", {RATE: GREATEST}),
                                 number("cost", "TDU", {RATE: GREATEST}))),
        *every("alike", "points between its cost and STRAWMAN's at the highest rate, beyond those"
               " at the lowest", at_most(0),
               {name: difference(_distance(name, GREATEST), _distance(name, LEAST))
                for name in ("TDU", "NDU", "ILA")}),
    ),
    quick={**QUICK, "sweep": {RATE: ["3 /s", "30 /s", "400 /s"]}},
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
        Panel("Cost of a reconfiguration", "cost", T_U, "T_u, s", COST, by=_TIMED),
        Panel("Improvement", "cost saved", T_U, "T_u, s", SAVED, by=_TIMED),
    ),
    (
        *every("step", "points saved with T_u just beyond the repair more than just before it",
               at_least(5), {name: difference(_saved(name, timer=0.125), _saved(name, timer=0.075))
                             for name in ("TDU", "NDU", "ILA")}),
        *every("short", "% saved with the shortest timer", about(0, 10),
               {name: _saved(name, timer=LEAST) for name in _USEFUL}),
        *every("improves", "% saved with T_u beyond the repair (ILA: and below 0.25 s), where that"
               " is least", at_least(0),
               {name: between(T_U, _REPAIR, bound, _saved(name, timer=LOWEST))
                for name, bound in _USEFUL.items()}),
        Claim("longer", "TDU: cost with the longest timer over that with 0.125 s",
              at_most(1), ratio(number("cost", "TDU", {T_U: GREATEST}),
                                number("cost", "TDU", {T_U: 0.125}))),
        Claim("longer-ndu", "NDU: points saved with the longest timer beyond those with 0.125 s",
              at_least(0), _gained("NDU")),
        Claim("smaller", "the same points of TDU, less NDU's",
              at_least(0), difference(_gained("TDU"), _gained("NDU"))),
        Claim("second", "ILA without FLUSH: cost with T_u = 0.3 s over that with 0.2 s",
              at_least(1.02), within(FLUSH, False, ratio(number("cost", "ILA", {T_U: 0.3}),
                                                        number("cost", "ILA", {T_U: 0.2})))),
    ),
    quick={**QUICK, "sweep": {"protocol": timers(
        ("TDU", "NDU", "ILA, no flush"), T_U, ("0.075 s", "0.125 s", "0.2 s", "0.3 s"))}},
)  # fmt: skip

FIG20 = Figure(
    "fig20",
    "Cost of a reconfiguration against ILA's subscription timer",
    "A T_s below T_u less the repair (0.05 s) lets needless subscriptions pass, so that ILA costs"
    " about what the deferred protocols do. A longer T_s helps or makes no difference.",
    (
        Panel("Cost of a reconfiguration", "cost", T_S, "T_s, s", COST, by=_TIMED),
        Panel("Improvement", "cost saved", T_S, "T_s, s", SAVED, by=_TIMED),
    ),
    (
        Claim("deferred", "ILA without FLUSH: points saved with the shortest T_s beyond TDU's",
              about(0, 10), difference(
                  within(FLUSH, False, number("cost saved", "ILA", {T_S: LEAST})),
                  number("cost saved", "TDU"))),
        Claim("short", "ILA without FLUSH: cost with the shortest T_s over that with 0.15 s",
              at_least(1.02), within(FLUSH, False, ratio(number("cost", "ILA", {T_S: LEAST}),
                                                        number("cost", "ILA", {T_S: 0.15})))),
        Claim("long", "ILA without FLUSH: cost with the longest T_s over that with 0.15 s",
              at_most(1.02), within(FLUSH, False, ratio(number("cost", "ILA", {T_S: GREATEST}),
                                                       number("cost", "ILA", {T_S: 0.15})))),
    ),
    quick={**QUICK, "sweep": {"protocol": [_TABLES["TDU"], *timers(
        ("ILA, no flush",), T_S, ("0.01 s", "0.15 s", "0.4 s"))]}},
)  # fmt: skip

_PUBLISHING = "events a second at each dispatcher"
_QUICK_EVENTS = {**QUICK, "sweep": {PUBLISHING: ["1.0 /s", "6.4 /s"]}}

FIG21 = Figure(
    "fig21",
    "Cost of a reconfiguration, misrouted events included, against the publish rate",
    "At one event a second the events that stale routes misdirect hardly count. At very high rates"
    " they do, yet what is lost to them stays limited.",
    _costs(PUBLISHING, _PUBLISHING, "cost with events", log_x=True),
    (
        *every("negligible", "misrouted events at 1 event/s, % of the cost", at_most(10),
               {name: number("misrouted percent", name, {PUBLISHING: 1.0}) for name in OURS}),
        *every("still", "% saved at the highest publish rate", at_least(0),
               {name: number("cost with events saved", name, {PUBLISHING: GREATEST})
                for name in OURS}),
    ),
    quick=_QUICK_EVENTS,
)  # fmt: skip

FIG22 = Figure(
    "fig22",
    "Misrouted events per reconfiguration against the publish rate",
    "STRAWMAN misroutes next to nothing. TDU misroutes most, NDU less, ILA and RP least of the"
    " others, RP a little less than ILA.",
    (Panel("Misrouted events", "misrouted", PUBLISHING, _PUBLISHING, "hops per reconfiguration",
           log_x=True),),
    (
        Claim("strawman", "STRAWMAN: misrouted hops over the least of the others, highest rate",
              at_most(1), ratio(number("misrouted", STRAWMAN, {PUBLISHING: GREATEST}),
                                least([number("misrouted", name, {PUBLISHING: GREATEST})
                                       for name in OURS]))),
        Claim("tdu", "TDU: misrouted hops over the most of the others, highest rate",
              at_least(1), ratio(number("misrouted", "TDU", {PUBLISHING: GREATEST}),
                                 greatest([number("misrouted", name, {PUBLISHING: GREATEST})
                                           for name in (STRAWMAN, "NDU", "ILA", "RP")]))),
        Claim("deferred", "misrouted hops of NDU over those of ILA and RP, highest rate",
              at_least(1), ratio(number("misrouted", "NDU", {PUBLISHING: GREATEST}),
                                 number("misrouted", CONFINED, {PUBLISHING: GREATEST}))),
        Claim("path", "misrouted hops of RP over those of ILA, highest rate",
              at_most(1), ratio(number("misrouted", "RP", {PUBLISHING: GREATEST}),
                                number("misrouted", "ILA", {PUBLISHING: GREATEST}))),
    ),
    quick=_QUICK_EVENTS,
)  # fmt: skip

FIG23 = Figure(
    "fig23",
    "Parts of TDU's overhead against the publish rate",
    "Subscriptions and unsubscriptions cost the same at any publish rate; misrouted events grow"
    " with it until they matter.",
    (
        Panel("Parts of TDU's cost", "misrouted", PUBLISHING, _PUBLISHING,
              "per reconfiguration", by=("part",), log_x=True,
              parts=(("misrouted", "misrouted events"), ("cost of subscribe", "SUB"),
                     ("cost of unsubscribe", "UNSUB"))),
    ),
    (
        Claim("constant", "TDU: control messages at the highest publish rate over the lowest",
              about(1, 0.05), ratio(number("cost", "TDU", {PUBLISHING: GREATEST}),
                                    number("cost", "TDU", {PUBLISHING: LEAST}))),
        Claim("grows", "TDU: misrouted events, % of the cost, highest rate minus lowest",
              at_least(0), _grows("misrouted percent", "TDU", PUBLISHING)),
    ),
    quick=_QUICK_EVENTS,
)  # fmt: skip

FIG24 = Figure(
    "fig24",
    "Useful event traffic and the overhead of reconfiguration",
    "At one event a second, overhead and useful traffic are about 1:2 with STRAWMAN and 1:10 with"
    " ILA. Ten times as many reconfigurations make the overhead weigh more.",
    (
        Panel("3 reconfigurations a second", "useful per overhead", PUBLISHING, _PUBLISHING,
              "useful hops per unit of overhead", log_x=True, log_y=True, only={RATE: 3.0}),
        Panel("30 reconfigurations a second", "useful per overhead", PUBLISHING, _PUBLISHING,
              "useful hops per unit of overhead", log_x=True, log_y=True, only={RATE: 30.0}),
    ),
    (
        Claim("strawman", "STRAWMAN: useful hops per unit of overhead, 1 event/s, 3 rec/s",
              about(2, 0.5), number("useful per overhead", STRAWMAN, {PUBLISHING: 1.0, RATE: 3.0})),
        Claim("ila", "ILA: useful hops per unit of overhead, 1 event/s, 3 rec/s",
              about(10, 2.5), number("useful per overhead", "ILA", {PUBLISHING: 1.0, RATE: 3.0})),
        Claim("rate", "STRAWMAN: the same number at 30 rec/s over that at 3 rec/s",
              at_most(1), ratio(
                  number("useful per overhead", STRAWMAN, {PUBLISHING: 1.0, RATE: 30.0}),
                  number("useful per overhead", STRAWMAN, {PUBLISHING: 1.0, RATE: 3.0}))),
    ),
    quick=_QUICK_EVENTS,
)  # fmt: skip


def _longer(protocol: str) -> Measure:
    """What a timer far beyond the repair adds to the cost."""
    return difference(number("cost with events", protocol, {T_U: GREATEST}),
                      number("cost with events", protocol, {T_U: 0.125}))  # fmt: skip


FIG25 = Figure(
    "fig25",
    "Cost with events against the unsubscription timer, 50 events a second",
    "There is a step at T_u = t_rep again. Beyond it, stale routes misdirect events for longer,"
    " which hurts TDU most; NDU and ILA suffer less, since FLUSH usually comes before the timer.",
    (
        Panel("Cost of a reconfiguration", "cost with events", T_U, "T_u, s", COST),
        Panel("Improvement", "cost with events saved", T_U, "T_u, s", SAVED),
    ),
    (
        *every("step", "points saved with T_u = 0.125 s beyond those with 0.075 s", at_least(5),
               {name: difference(number("cost with events saved", name, {T_U: 0.125}),
                                 number("cost with events saved", name, {T_U: 0.075}))
                for name in ("TDU", "NDU", "ILA")}),
        Claim("stale", "TDU: cost with the longest timer over that with 0.125 s",
              at_least(1), ratio(number("cost with events", "TDU", {T_U: GREATEST}),
                                 number("cost with events", "TDU", {T_U: 0.125}))),
        *(Claim(f"most-{name.lower()}", "TDU: growth of the cost from 0.125 s to the longest timer,"
                f" less {name}'s", at_least(0),
                difference(_longer("TDU"), _longer(name))) for name in ("NDU", "ILA")),
    ),
    quick={**QUICK, "workload.rate": "5 /s", "sweep": {"protocol": timers(
        ("TDU", "NDU", "ILA"), T_U, ("0.075 s", "0.125 s", "0.4 s"))}},
)  # fmt: skip

_BURST, _STEADY = "faults[0].start", 3.0

FIG26 = Figure(
    "fig26",
    "Event forwarding against subscription forwarding",
    "Where four dispatchers in five subscribe, event forwarding still causes about twice the"
    " traffic of subscription forwarding with ILA, except during a burst of reconfigurations. At"
    " reasonable rates of reconfiguration subscription forwarding is always preferable.",
    (
        Panel("A burst from 5 s to 5.5 s", "traffic", x_label="time, s",
              y_label="messages a second", kind="time", only={_BURST: 5.0}),
        Panel("Traffic from 3 s to 7 s", "traffic", RATE, "reconfigurations a second",
              "messages a second", log_x=True, only={_BURST: _STEADY}),
    ),
    (
        Claim("stable", "traffic of event forwarding over that of ILA before the burst",
              about(2, 0.3), within(_BURST, 5.0, ratio(number("traffic before", EVENTS),
                                                       number("traffic before", "ILA")))),
        Claim("burst", "traffic of ILA over that of event forwarding during the burst",
              at_least(1), within(_BURST, 5.0, ratio(number("traffic within", "ILA"),
                                                     number("traffic within", EVENTS)))),
        Claim("reasonable", "traffic of event forwarding over that of ILA, 3 rec/s",
              at_least(1), within(_BURST, _STEADY, ratio(number("traffic", EVENTS, {RATE: 3.0}),
                                                         number("traffic", "ILA", {RATE: 3.0})))),
        Claim("improved", "traffic of STRAWMAN over that of ILA, highest rate",
              at_least(1), within(_BURST, _STEADY, ratio(
                  number("traffic", STRAWMAN, {RATE: GREATEST}),
                  number("traffic", "ILA", {RATE: GREATEST})))),
    ),
    quick={**QUICK, "sweep": {"faults": [
        [{"kind": "reconfigurations", "start": "5 s", "stop": "5.5 s", "rate": "30 /s"}],
        [{"kind": "reconfigurations", "rate": "3 /s"}],
        [{"kind": "reconfigurations", "rate": "30 /s"}]]}},
)  # fmt: skip


def _involved(
    name: str,
    base: str,
    x: str,
    label: str,
    said: str,
    claims: tuple[Claim, ...],
    quick: dict[str, object],
) -> Figure:
    """A figure on the dispatchers that a reconfiguration involves."""
    return Figure(
        name,
        f"Dispatchers involved in a reconfiguration against {base}",
        said,
        (
            Panel("Dispatchers involved", "involved share", x, label, "% of all dispatchers"),
            Panel("Improvement", "involved saved", x, label, SAVED),
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
              at_most(0), _grows("involved share", STRAWMAN, BROKERS)),
    ),
    {"repeat": 2, "sweep": {BROKERS: [50, 100]}},
)  # fmt: skip

FIG28 = _involved(
    "fig28", "the number of patterns", PATTERNS, "patterns",
    "ILA, and RP even more so, involve about the same share of dispatchers whatever the number of"
    " patterns.",
    every("independent", "points of all dispatchers between the least and the most", at_most(3),
          {name: _spread(name, PATTERNS) for name in CONFINED}),
    {**QUICK, "sweep": {PATTERNS: [32, 96, 400]}},
)  # fmt: skip

FIG29 = _involved(
    "fig29", "the density of subscribers", DENSITY, "share of dispatchers that subscribe",
    "ILA, and RP even more so, involve about the same share of dispatchers whatever the density of"
    " subscribers.",
    every("independent", "points of all dispatchers between the least and the most", at_most(3),
          {name: _spread(name, DENSITY) for name in CONFINED}),
    {**QUICK, "sweep": {DENSITY: ["3 %", "20 %", "100 %"]}},
)  # fmt: skip

EQ2 = Figure(
    "eq2",
    "Receivers of an event",
    "With a fifth of the dispatchers subscribing to 7 of 96 patterns each, an event of 9 characters"
    " has 0.0988 of the dispatchers as receivers (Eq. 2).",
    (),
    (Claim("receivers", "share of dispatchers that an event is due to",
           about(0.0988, 0.003), number("receivers", STRAWMAN)),),
    quick=QUICK,
)  # fmt: skip

PUBLISHED = (
    FIG12, FIG13, FIG14, FIG15, FIG16, FIG17, FIG18, FIG19, FIG20, FIG21, FIG22, FIG23, FIG24,
    FIG25, FIG26, FIG27, FIG28, FIG29, EQ2,
)  # fmt: skip
