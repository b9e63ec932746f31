"""What Bittner and Hinze judged and we measure: five optimizations of routing tables, Table 1.

What a rating means in numbers is ours. The scales were set before anything was measured. What
expressiveness is measured by was changed after a first look: the class of subscriptions that is
optimized least says how few of it are related, and not whether an optimization can take them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.reproduction.figure import Claim, Figure, Measure, Panel
from analysis.reproduction.measures import OPTIMIZATION, RELATIVE, column, greatest, within
from analysis.reproduction.rules import UNPUBLISHED, Rule, at_least, at_most, exactly

TITLES = "workload.titles"
COVERING, PERFECT, IMPERFECT = "['covering']", "['perfect-merging']", "['imperfect-merging']"
REPLACEMENT, PRUNING = "['predicate-replacement']", "['post-pruning']"
OPTIMIZATIONS = {
    COVERING: "covering",
    PERFECT: "perfect merging",
    IMPERFECT: "imperfect merging",
    REPLACEMENT: "predicate replacement",
    PRUNING: "pruning",
}
MANY, FEW = 40_000, 200
VARIANTS = {MANY: "many titles: few related", FEW: "few titles: many related"}
GOOD, FAIR, POOR = "++", "+-", "--"


class _Parameter:
    """A row of Table 1: what it is in numbers, and the ratings published for it."""

    def __init__(
        self,
        key: str,
        title: str,
        text: str,
        value: str,
        titles: int,
        rules: Mapping[str, Rule],
        published: str,
    ) -> None:
        self.key, self.title, self.text, self.value = key, title, text, value
        self.unit = "% of unoptimized" if value.endswith(RELATIVE) else "% of subscriptions"
        self.titles = titles
        self.rules = rules
        self.published = dict(zip(OPTIMIZATIONS, published.split(), strict=True))

    def panel(self) -> Panel:
        return Panel(
            self.title,
            self.value,
            TITLES,
            x_label=self.unit,
            kind="ratings",
            parts=tuple((str(titles), name) for titles, name in VARIANTS.items()),
            names=OPTIMIZATIONS,
            ratings=self.published,
            scale=self.rules,
            judged=str(self.titles),
        )

    def claims(self) -> Iterator[Claim]:
        for optimization, name in OPTIMIZATIONS.items():
            rating = self.published[optimization]
            rule = self.rules[rating]
            measure = within(OPTIMIZATION, optimization, column(self.value))
            yield Claim(
                f"{self.key}-{name.replace(' ', '-')}",
                f"{name}: {self.text}",
                Rule(f"{rating}, {rule.words}", rule.low, rule.high),
                within(TITLES, self.titles, measure),
            )


def _ratings(good: Rule, fair: tuple[float, float], poor: Rule) -> dict[str, Rule]:
    low, high = fair
    return {GOOD: good, FAIR: Rule(f"from {low:g} to {high:g}", low, high), POOR: poor}


_SHARES = _ratings(at_least(75), (25, 75), at_most(25))
PARAMETERS = (
    _Parameter("applicability", "1. Applicability", "% of remote subscriptions changed or removed,"
               " few of them related", "applied", MANY, _SHARES, "-- ++ ++ +- ++"),
    _Parameter("memory", "2. Memory", "associations, % of unoptimized",
               f"stored associations{RELATIVE}", FEW,
               _ratings(at_most(80), (80, 98), at_least(98)), "++ -- ++ +- ++"),
    _Parameter("network", "3. Network load", "event messages, % of unoptimized",
               f"event messages{RELATIVE}", FEW,
               _ratings(at_most(101), (101, 200), at_least(200)), "++ ++ +- +- +-"),
    _Parameter("computation", "4. Computational load", "filter time, % of unoptimized",
               f"filter seconds{RELATIVE}", FEW,
               _ratings(at_most(90), (90, 110), at_least(110)), "++ ++ +- +- +-"),
    _Parameter("expressiveness", "5. Expressiveness", "% of subscriptions, each with an OR, changed"
               " or removed", "applied", FEW,
               _ratings(at_least(25), (5, 25), at_most(5)), "-- -- -- ++ ++"),
    _Parameter("deregistration", "6. Deregistrations", "messages when a fifth unsubscribes, % of"
               " unoptimized", f"deregistration messages{RELATIVE}", FEW,
               _ratings(at_most(105), (105, 150), at_least(150)), "-- -- -- ++ ++"),
)  # fmt: skip
QUICK_COMPARISON: dict[str, Any] = {
    "workload.subscriptions": 1000,
    "workload.events": 1000,
    "workload.rehearsal": 5000,
    "protocol.optimize.sample": 1000,
}


def _with(optimization: str, titles: int, value: str) -> Measure:
    return within(OPTIMIZATION, optimization, within(TITLES, titles, column(value)))


TABLE1 = Figure(
    "table1",
    "Five optimizations, measured instead of judged",
    "Ratings from excellent (++) over suitable (+-) to poor (--), by judgement alone and each for"
    " the best case of all others; beside each one ours, from the numbers. Pruning is rated best:"
    " it needs no relations between subscriptions, takes all Boolean ones, and leaves"
    " deregistrations as they are.",
    tuple(parameter.panel() for parameter in PARAMETERS),
    (
        *(claim for parameter in PARAMETERS for claim in parameter.claims()),
        *(Claim(f"predicates-{name.replace(' ', '-')}",
                f"{name}: distinct predicates in all tables, % of unoptimized",
                UNPUBLISHED, _with(optimization, FEW, f"stored predicates{RELATIVE}"))
          for optimization, name in OPTIMIZATIONS.items()),
        *(Claim(f"deregistration-bytes-{name.replace(' ', '-')}",
                f"{name}: bytes of messages when a fifth unsubscribes, % of unoptimized",
                UNPUBLISHED, _with(optimization, FEW, f"deregistration bytes{RELATIVE}"))
          for optimization, name in OPTIMIZATIONS.items()),
        *(Claim(f"least-class-{name.replace(' ', '-')}",
                f"{name}: % changed or removed in the class where these are fewest",
                UNPUBLISHED, _with(optimization, FEW, "applied to the least class"))
          for optimization, name in OPTIMIZATIONS.items()),
        Claim("exact", "deliveries missing, double or unasked, in any run",
              exactly(0), greatest([_with(optimization, titles, "wrong deliveries")
                                    for optimization in OPTIMIZATIONS for titles in VARIANTS])),
    ),
    quick=QUICK_COMPARISON,
)  # fmt: skip

# What the paper could not measure

_WIRE = {
    "wire bytes in all": "all bytes on the wire",
    "wire bytes of event": "bytes of events",
    "wire bytes of subscribe": "bytes of subscriptions",
}


def _bytes_panel(value: str, title: str) -> Panel:
    return Panel(
        title.capitalize(),
        value + RELATIVE,
        TITLES,
        x_label="% of unoptimized",
        kind="ratings",
        parts=((str(FEW), VARIANTS[FEW]),),
        names=OPTIMIZATIONS,
    )


BYTES = Figure(
    "bytes",
    "Five optimizations in bytes on the wire",
    "Nothing: the paper counts event messages. Here are all bytes of a run, with TCP, IP and link"
    " headers, acknowledgments and handshakes: subscriptions come, events are published once, a"
    " fifth of the subscriptions goes.",
    tuple(_bytes_panel(value, title) for value, title in _WIRE.items()),
    (
        *(Claim(f"{value.split()[-1]}-{name.replace(' ', '-')}",
                f"{name}: {title}, % of unoptimized", UNPUBLISHED,
                _with(optimization, FEW, value + RELATIVE))
          for value, title in _WIRE.items() for optimization, name in OPTIMIZATIONS.items()),
        Claim("headers", "unoptimized: % of all bytes that are TCP, IP and link headers",
              UNPUBLISHED, _with("[]", FEW, "share of headers")),
        Claim("acknowledgments", "unoptimized: % of all bytes that are acknowledgments",
              UNPUBLISHED, _with("[]", FEW, "share of acknowledgments")),
    ),
    quick={**QUICK_COMPARISON, "workload.subscriptions": 500, "workload.events": 500},
)  # fmt: skip
