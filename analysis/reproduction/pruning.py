"""What Bittner and Hinze published on subscription tree pruning: Fig. 4 to 7 and Table 1 to 3.

Sec. 3 and 5. Statements are in our words, and so are the tolerances: a tenth for shares of memory
and of time at one broker, 0.15 for time in a network, a third for numbers of events.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from analysis.reproduction.figure import Claim, Family, Figure, Measure, Panel
from analysis.reproduction.measures import column, difference, greatest, least, within
from analysis.reproduction.optimizations import BYTES, TABLE1
from analysis.reproduction.rules import UNPUBLISHED, Rule, about, at_least, at_most, exactly

if TYPE_CHECKING:
    import pandas as pd

CLASSES = "workload.classes"
ONE, TWO, THREE, ALL = "[1]", "[2]", "[3]", "[1, 2, 3]"
NAMES = {ONE: "class 1", TWO: "class 2", THREE: "class 3", ALL: "classes 1-3"}
CUT_OFF = (("cut-off", "cut-off"), ("knee", "knee"))

AT_ONE_BROKER = {
    "workload.subscriptions": 20_000,
    "workload.events": 10_000,
    "workload.rate": "10000 /s",
}
"""A quick look at one broker: a tenth of the size."""
IN_A_NETWORK = {
    "duration": "110 s",
    "workload.subscriptions": 4000,
    "workload.events": 2000,
    "workload.rehearsal": 10_000,
    "workload.rate": "1000 /s",
    "workload.ramp": "10 s",
    "workload.publish_start": "23 s",
    "protocol.optimize.sample": 2000,
    "protocol.optimize.start": "26 s",
    "protocol.optimize.every": "4 s",
}
"""A quick look at a network: a fiftieth of the size."""


def _of(classes: str, value: str) -> Measure:
    return within(CLASSES, classes, column(value))


def _key(classes: str) -> str:
    return NAMES[classes].replace(" ", "-")


def _at_cut_off(
    published: Mapping[str, tuple[float, float, float]], time: float
) -> Iterator[Claim]:
    """Rows of Table 2 or 3: extra events, relief in memory, decrease in filter time by class."""
    for classes, (events, relief, saved) in published.items():
        name, key = NAMES[classes], _key(classes)
        yield Claim(f"events-{key}", f"{name}: extra events at the cut-off, of 100,000",
                    about(events, round(events / 3)), _of(classes, "extra events"))  # fmt: skip
        yield Claim(f"memory-{key}", f"{name}: associations removed at the cut-off, of removable",
                    about(relief, 0.1), _of(classes, "relief"))  # fmt: skip
        yield Claim(f"time-{key}", f"{name}: decrease in filter time at the cut-off",
                    about(saved, time), _of(classes, "decrease of time"))  # fmt: skip


def _unpublished(value: str, key: str, text: str, *classes: str) -> Iterator[Claim]:
    for each in classes:
        yield Claim(f"{key}-{_key(each)}", f"{NAMES[each]}: {text}", UNPUBLISHED, _of(each, value))


# One broker


def _panel(classes: str, events: str) -> Panel:
    return Panel(
        NAMES[classes].capitalize(),
        "",
        x_label="% of all prunings",
        y_label="% of possible, of unpruned",
        kind="curves",
        parts=(
            ("memory relief", "memory relief"),
            ("filter time", "filter time"),
            ("events", events),
        ),
        marks=CUT_OFF,
        only={CLASSES: classes},
    )


def _at_one_broker(classes: str) -> Panel:
    return _panel(classes, "matching events (right)")


FIG4 = Figure(
    "fig4",
    "Pruning at one broker, classes 1 and 2",
    "Memory falls steadily. Matching events hardly increase up to the cut-off, which for class 2 is"
    " at 88 % of all prunings, and sharply after it. Filter time of class 1 falls from 32 ms to"
    " 2.6 ms at the cut-off; that of class 2 rises a little at first, since more subscriptions"
    " become candidates.",
    (_at_one_broker(ONE), _at_one_broker(TWO)),
    (
        Claim("cut-off-class-2", "class 2: cut-off, % of all prunings",
              about(88, 9), _of(TWO, "cut-off")),
        Claim("cut-off-class-1", "class 1: cut-off, % of all prunings",
              Rule("from 58 to 88", 58, 88), _of(ONE, "cut-off")),
        *_unpublished("knee", "knee", "knee of the matching events, % of all prunings", ONE, TWO),
        Claim("candidates", "class 2: % by which candidates rise at most",
              at_least(1), _of(TWO, "rise of candidates")),
        Claim("rise", "class 2: % by which filter time rises at most",
              at_least(1), _of(TWO, "rise of filter time")),
        Claim("no-rise", "class 1: % by which filter time rises at most",
              at_most(1), _of(ONE, "rise of filter time")),
    ),
    quick=AT_ONE_BROKER,
)  # fmt: skip

FIG5 = Figure(
    "fig5",
    "Pruning at one broker, class 3 and all classes",
    "The cut-off of class 3 comes first, at 58 % of all prunings. With all classes together filter"
    " time rises much less at first than with class 2 alone, if at all.",
    (_at_one_broker(THREE), _at_one_broker(ALL)),
    (
        Claim("cut-off-class-3", "class 3: cut-off, % of all prunings",
              about(58, 9), _of(THREE, "cut-off")),
        Claim("cut-off-classes-1-3", "classes 1-3: cut-off, % of all prunings",
              Rule("from 58 to 88", 58, 88), _of(ALL, "cut-off")),
        Claim("first", "points by which the cut-off of class 3 is below that of all classes",
              at_least(0), difference(_of(ALL, "cut-off"), _of(THREE, "cut-off"))),
        *_unpublished("knee", "knee", "knee of the matching events, % of all prunings",
                      THREE, ALL),
        Claim("rise", "classes 1-3: % by which filter time rises at most",
              at_most(10), _of(ALL, "rise of filter time")),
    ),
    quick=AT_ONE_BROKER,
)  # fmt: skip

TABLE2 = Figure(
    "table2",
    "One broker at the cut-off",
    "Up to the cut-off 55 to 91 % of the removable memory is saved, and 69 to 97 % of the filter"
    " time, for 1,718 to 2,642 more matching events of 100,000.",
    tuple(_at_one_broker(classes) for classes in NAMES),
    (
        *_at_cut_off({ONE: (2531, 0.80, 0.92), TWO: (1718, 0.91, 0.97),
                      THREE: (1804, 0.55, 0.69), ALL: (2642, 0.78, 0.94)}, 0.1),
        *_unpublished("decrease of bytes", "bytes", "decrease in the tables' bytes at the cut-off",
                      *NAMES),
        *_unpublished("events unpruned", "base", "events of 100,000 that match without pruning",
                      *NAMES),
        *(claim for engine, name in (("two-step", "the published engine"),
                                     ("broker", "our brokers' engine"))
          for claim in (
              *_unpublished(f"microseconds of {engine} engine, unpruned", f"{engine}-unpruned",
                            f"µs for an event in {name}, unpruned", *NAMES),
              *_unpublished(f"microseconds of {engine} engine", engine,
                            f"µs for an event in {name}, at the cut-off", *NAMES))),
        Claim("least", "least cut-off of all, % of all prunings (class 3)",
              about(58, 9), least([_of(classes, "cut-off") for classes in NAMES])),
        Claim("greatest", "greatest cut-off of all, % of all prunings (class 2)",
              about(88, 9), greatest([_of(classes, "cut-off") for classes in NAMES])),
    ),
    quick=AT_ONE_BROKER,
)  # fmt: skip


# A line of five brokers

IN_THE_NETWORK = {
    ONE: (11_932, 0.80, 0.63),
    TWO: (6322, 0.91, 0.58),
    THREE: (7786, 0.50, 0.26),
    ALL: (7355, 0.71, 0.53),
}


def _where_relief_is(relief: float, curve: str) -> Measure:
    """A curve at the share of prunings whose relief in memory is nearest to a number."""

    def measure(rows: "pd.DataFrame") -> "pd.Series[float]":
        known = rows.dropna(subset=["curve of memory relief"]).set_index("seed")
        return known.apply(lambda row: _there(row["curve of memory relief"], row[curve]), axis=1)

    def _there(reliefs: dict[float, float], values: dict[float, float]) -> float:
        return values[min(values, key=lambda share: abs(reliefs[share] - 100 * relief))]

    return measure


def _at_equal_relief() -> Iterator[Claim]:
    """What Table 3 has, where our relief is the published one and not at our cut-off."""
    for classes, (events, relief, saved) in IN_THE_NETWORK.items():
        name, key = NAMES[classes], _key(classes)
        extra = _where_relief_is(relief, "curve of extra events")
        yield Claim(f"equal-events-{key}", f"{name}: extra events where the relief is {relief}",
                    about(events, round(events / 3)), within(CLASSES, classes, extra))  # fmt: skip
        time = _where_relief_is(relief, "curve of filter time")
        left = round(100 * (1 - saved))
        yield Claim(f"equal-time-{key}", f"{name}: filter time there, % of unpruned",
                    about(left, 15), within(CLASSES, classes, time))  # fmt: skip


def _in_a_network(classes: str) -> Panel:
    return _panel(classes, "event messages (right)")


def _network_claims(*classes: str) -> Iterator[Claim]:
    for each in classes:
        name, key = NAMES[each], _key(each)
        yield Claim(f"exact-{key}", f"{name}: deliveries missing, double or unasked, in all rounds",
                    exactly(0), _of(each, "wrong deliveries"))  # fmt: skip
        yield Claim(f"faster-{key}", f"{name}: decrease in filter time at the cut-off",
                    at_least(0), _of(each, "decrease of time"))  # fmt: skip
        yield Claim(f"cut-off-{key}", f"{name}: cut-off, % of all prunings",
                    UNPUBLISHED, _of(each, "cut-off"))  # fmt: skip
        yield Claim(f"knee-{key}", f"{name}: knee of the event messages, % of all prunings",
                    UNPUBLISHED, _of(each, "knee"))  # fmt: skip


FIG6 = Figure(
    "fig6",
    "Pruning in a line of five brokers, classes 1 and 2",
    "As at one broker, with the network's traffic in place of matching events. Filter time falls"
    " less, since messages have to be serialized, and subscriptions of local clients stay.",
    (_in_a_network(ONE), _in_a_network(TWO)),
    tuple(_network_claims(ONE, TWO)),
    quick=IN_A_NETWORK,
)
FIG7 = Figure(
    "fig7",
    "Pruning in a line of five brokers, class 3 and all classes",
    "The cut-off of class 3, and with it that of all classes, comes earlier than at one broker.",
    (_in_a_network(THREE), _in_a_network(ALL)),
    tuple(_network_claims(THREE, ALL)),
    quick=IN_A_NETWORK,
)
TABLE3 = Figure(
    "table3",
    "A line of five brokers at the cut-off",
    "Up to the cut-off 50 to 91 % of the removable memory is saved, and 26 to 63 % of the filter"
    " time, for 6,322 to 11,932 more event messages for 100,000 events.",
    tuple(_in_a_network(classes) for classes in NAMES),
    (
        *_at_cut_off(IN_THE_NETWORK, 0.15),
        *_at_equal_relief(),
        *_unpublished("events unpruned", "base", "event messages for 100,000 events, unpruned",
                      *NAMES),
        Claim("exact", "deliveries missing, double or unasked, in all rounds of any class",
              exactly(0), greatest([_of(classes, "wrong deliveries") for classes in NAMES])),
    ),
    quick=IN_A_NETWORK,
)  # fmt: skip


FAMILY = Family(
    "pruning",
    "Bittner and Hinze on subscription tree pruning as an optimization of routing",
    {figure.name: figure for figure in (FIG4, FIG5, FIG6, FIG7, TABLE1, TABLE2, TABLE3, BYTES)},
)
