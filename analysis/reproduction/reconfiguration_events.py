"""What the paper on reconfiguration published of events: Fig. 12, 21 to 26 and Eq. 2.

Deliveries, misrouted events and useful traffic; what all its figures have in common is told with
those of control messages.
"""

from analysis.reproduction.figure import Claim, Figure, Measure, Panel
from analysis.reproduction.measures import (
    GREATEST,
    LEAST,
    LOWEST,
    difference,
    greatest,
    least,
    number,
    ratio,
    within,
)
from analysis.reproduction.reconfiguration import (
    CONFINED,
    COST,
    DENSITY,
    EVENTS,
    OURS,
    PUBLISHING,
    QUICK,
    RATE,
    SAVED,
    STRAWMAN,
    T_U,
    costs,
    every,
    grows,
    timers,
)
from analysis.reproduction.rules import about, at_least, at_most, exactly

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

_PUBLISHING = "events a second at each dispatcher"
_QUICK_EVENTS = {**QUICK, "sweep": {PUBLISHING: ["1.0 /s", "6.4 /s"]}}

FIG21 = Figure(
    "fig21",
    "Cost of a reconfiguration, misrouted events included, against the publish rate",
    "At one event a second the events that stale routes misdirect hardly count. At very high rates"
    " they do, yet what is lost to them stays limited.",
    costs(PUBLISHING, _PUBLISHING, "cost with events", log_x=True),
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
              at_most(0.1), ratio(number("misrouted", STRAWMAN, {PUBLISHING: GREATEST}),
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
              at_least(10), grows("misrouted percent", "TDU", PUBLISHING)),
    ),
    quick=_QUICK_EVENTS,
)  # fmt: skip


def _gain_of_ila(rate: object) -> Measure:
    """How much more useful traffic ILA has for its overhead than STRAWMAN."""
    at = {PUBLISHING: rate, RATE: 3.0}
    return ratio(number("useful events per overhead", "ILA", at),
                 number("useful events per overhead", STRAWMAN, at))  # fmt: skip


FIG24 = Figure(
    "fig24",
    "Useful event traffic and the overhead of reconfiguration",
    "At one event a second, overhead and useful traffic are about 1:2 with STRAWMAN and 1:10 with"
    " ILA. Ten times as many reconfigurations make the overhead weigh more.",
    (
        Panel("3 reconfigurations a second", "useful events per overhead", PUBLISHING, _PUBLISHING,
              "useful hops per unit of overhead", log_x=True, log_y=True, only={RATE: 3.0},
              levels=(2, 10), uprights=(1,)),
        Panel("30 reconfigurations a second", "useful events per overhead", PUBLISHING, _PUBLISHING,
              "useful hops per unit of overhead", log_x=True, log_y=True, only={RATE: 30.0}),
    ),
    (
        Claim("strawman", "STRAWMAN: useful hops per unit of overhead, 1 event/s, 3 rec/s",
              about(2, 0.5), number("useful events per overhead", STRAWMAN,
                                   {PUBLISHING: 1.0, RATE: 3.0})),
        Claim("ila", "ILA: useful hops per unit of overhead, 1 event/s, 3 rec/s",
              about(10, 2.5), number("useful events per overhead", "ILA",
                                     {PUBLISHING: 1.0, RATE: 3.0})),
        Claim("rate", "STRAWMAN: the same number at 30 rec/s over that at 3 rec/s",
              at_most(1), ratio(
                  number("useful events per overhead", STRAWMAN, {PUBLISHING: 1.0, RATE: 30.0}),
                  number("useful events per overhead", STRAWMAN, {PUBLISHING: 1.0, RATE: 3.0}))),
        Claim("remarkable", "3 rec/s: ILA's number over STRAWMAN's, lowest rate over 1 event/s",
              at_least(1), ratio(_gain_of_ila(LEAST), _gain_of_ila(1.0))),
    ),
    quick={**QUICK, "sweep": {PUBLISHING: ["0.1 /s", "1.0 /s", "6.4 /s"]}},
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


def _traffic_over(one: str, other: str, rate: float) -> Measure:
    """The traffic of one protocol over that of another where reconfigurations go on."""
    return within(_BURST, _STEADY, ratio(number("traffic", one, {RATE: rate}),
                                         number("traffic", other, {RATE: rate})))  # fmt: skip


FIG26 = Figure(
    "fig26",
    "Event forwarding against subscription forwarding",
    "Where four dispatchers in five subscribe, event forwarding still causes about twice the"
    " traffic of subscription forwarding with ILA, except during a burst of reconfigurations. At"
    " reasonable rates of reconfiguration subscription forwarding is always preferable.",
    (
        Panel("A burst from 5 s to 5.5 s", "traffic", x_label="time, s",
              y_label="messages a second", kind="time", only={_BURST: 5.0}, end=7.8),
        Panel("Traffic from 3 s to 7 s", "traffic", RATE, "reconfigurations a second",
              "messages a second", log_x=True, only={_BURST: _STEADY}),
    ),
    (
        Claim("stable", "traffic of event forwarding over that of ILA before the burst",
              about(2, 0.2), within(_BURST, 5.0, ratio(number("traffic before", EVENTS),
                                                       number("traffic before", "ILA")))),
        Claim("burst", "traffic of ILA over that of event forwarding during the burst",
              at_least(1), within(_BURST, 5.0, ratio(number("traffic within", "ILA"),
                                                     number("traffic within", EVENTS)))),
        *(Claim(f"reasonable-{rate:g}-{name.lower()}",
                f"traffic of event forwarding over that of {name}, {rate:g} rec/s",
                at_least(1), _traffic_over(EVENTS, name, rate))
          for rate in (1.0, 3.0, 10.0) for name in (STRAWMAN, "ILA")),
        *(Claim(f"improved-{rate:g}", f"traffic of STRAWMAN over that of ILA, {rate:g} rec/s",
                at_least(1), _traffic_over(STRAWMAN, "ILA", rate)) for rate in (3.0, 100.0)),
    ),
    quick={**QUICK, "sweep": {"faults": [
        [{"kind": "reconfigurations", "start": "5 s", "stop": "5.5 s", "rate": "30 /s"}],
        *([{"kind": "reconfigurations", "rate": f"{rate} /s"}] for rate in (1, 3, 10, 100))]}},
)  # fmt: skip

EQ2 = Figure(
    "eq2",
    "Receivers of an event",
    "With a fifth of the dispatchers subscribing to 7 of 96 patterns each, an event of 9 characters"
    " has 0.0988 of the dispatchers as receivers (Eq. 2); with 3 % of them 0.0148 and with all"
    " 0.494.",
    (),
    (
        Claim("receivers", "share of dispatchers that an event is due to, 20 % subscribe",
              about(0.0988, 0.003), number("receivers", STRAWMAN, {DENSITY: 0.2})),
        Claim("receivers-fewest", "the same, 3 % subscribe",
              about(0.0148, 0.001), number("receivers", STRAWMAN, {DENSITY: 0.03})),
        Claim("receivers-most", "the same, all subscribe",
              about(0.494, 0.01), number("receivers", STRAWMAN, {DENSITY: 1.0})),
    ),
    quick=QUICK,
)  # fmt: skip
