"""The figures on destination-based routing: D-DBR and MERC against filter-based routing.

Fig. 11 to 18 and what the text says beside them (Sec. V-A); `destinations_lists` has the figures
made by simulation and what the paper could not measure. Tolerances were set before anything was
run: 10 % of a number that follows from overlay and tables, half of a latency, which is that of
their machines, and a quarter of a rate at which a system is saturated.
"""

from collections.abc import Mapping
from typing import Any

from analysis.reproduction.destinations_lists import LISTS
from analysis.reproduction.destinations_sizes import (
    BROKERS,
    DDBR,
    FBR,
    MATCHING,
    MERC,
    RATE,
    THREE,
    compared,
    general,
    on_line,
    percent,
    tables,
)
from analysis.reproduction.figure import Claim, Family, Figure, Measure, Panel
from analysis.reproduction.measures import GREATEST, LEAST, difference, number, ratio
from analysis.reproduction.rules import UNPUBLISHED, about, at_least, at_most, exactly

_PAIR = (DDBR, MERC)
_TEN = {BROKERS: GREATEST}
MINUTE = 60
_BEARABLE = 1087.0  # ms


# A line


def _latency(protocol: str, at: Mapping[str, Any]) -> Measure:
    return number("latency", protocol, at)


def _growth(protocol: str) -> Measure:
    """What the way from the first to the tenth broker adds (ms)."""
    return difference(_latency(protocol, _TEN), _latency(protocol, {BROKERS: LEAST}))


def _line(name: str, subscriptions: int, published: str, *claims: Claim) -> Figure:
    return Figure(
        name,
        f"A line with {subscriptions:,} subscriptions",
        published,
        (Panel("Delivery latency", "latency", BROKERS, "brokers", "ms"),),
        (
            *claims,
            *(Claim(f"grows-{each.lower()}", f"{each}: ms that nine brokers more add",
                    at_least(0), _growth(each)) for each in THREE),
            *(Claim(f"latency-{each.lower()}", f"{each}: latency over ten brokers, ms",
                    UNPUBLISHED, _latency(each, _TEN)) for each in THREE),
        ),
        quick=on_line(),
    )  # fmt: skip


def _below(protocol: str) -> Claim:
    return Claim(f"below-{protocol.lower()}",
                 f"{protocol}: latency over ten brokers, % of FBR's",
                 at_most(100), compared("latency", protocol, FBR, _TEN))  # fmt: skip


FIG11 = _line(
    "fig11",
    100,
    "Latencies of all three grow with the number of brokers; those of D-DBR and MERC are smaller.",
    *map(_below, _PAIR),
)

FIG12 = _line(
    "fig12",
    800,
    "FBR's latency grows rapidly with the number of brokers, those of D-DBR and MERC slightly.",
    *map(_below, _PAIR),
    *(
        Claim(f"slightly-{each.lower()}", f"{each}: ms that nine brokers more add, % of FBR's",
              at_most(50), percent(_growth(each), _growth(FBR)))
        for each in _PAIR
    ),
)  # fmt: skip

FIG13 = _line(
    "fig13",
    2000,
    "The advantage is larger still. MERC takes 1.5 times as long as D-DBR: it matches an event"
    " three times, D-DBR twice.",
    *map(_below, _PAIR),
    Claim("merc-over-ddbr", "latency over ten brokers, MERC over D-DBR",
          about(1.5, 0.15), ratio(_latency(MERC, _TEN), _latency(DDBR, _TEN))),
    *(Claim(f"matches-{each.lower()}", f"{each}: brokers that match an event, of ten",
            exactly(count), number("loaded brokers", each, _TEN))
      for each, count in zip(THREE, (10, 2, 3), strict=True)),
)  # fmt: skip

FIG14 = Figure(
    "fig14",
    "How busy ten brokers in a line are",
    "With FBR every broker's CPU is busy for 63 % of the time; with D-DBR only the first and the"
    " last broker's, the others for 2 %; with MERC also the middle one's.",
    (
        Panel("Load of the brokers", "", y_label="% of the time", kind="groups",
              parts=tuple((f"load of broker {n}", str(n + 1)) for n in range(10))),
    ),
    (
        Claim("fbr", "FBR: load of the least loaded broker inside, %",
              about(63, 6.3), number("least load inside", FBR)),
        *(Claim(f"busy-{each.lower()}", f"{each}: load of brokers that match, %",
                about(63, 6.3), number("load of busy brokers", each)) for each in THREE),
        *(Claim(f"quiet-{each.lower()}", f"{each}: load of brokers that do not, %",
                about(2, 1), number("load of quiet brokers", each)) for each in _PAIR),
        *(Claim(f"count-{each.lower()}", f"{each}: brokers that match",
                exactly(count), number("loaded brokers", each))
          for each, count in zip(THREE, (10, 2, 3), strict=True)),
        Claim("middle", "MERC: load of the middle broker, %",
              about(63, 6.3), number("load of broker 5", MERC)),
    ),
    quick=on_line(brokers=[10]),
)  # fmt: skip


# A general overlay


def _at(rate: float) -> dict[str, Any]:
    return {RATE: rate / MINUTE}


def _carried(protocol: str) -> Measure:
    """The greatest rate of all (a minute) that a system still carries.

    As in the paper's comparison, with no more latency than its FBR has at 2000 events a minute; and
    nearly all that is due comes within the seconds after publishing ends.
    """

    def measure(rows: Any) -> Any:
        chosen = rows[rows.protocol == protocol]
        carried = chosen[(chosen.latency <= _BEARABLE) & (chosen.undelivered <= 1)]
        return carried.groupby("seed")["events a minute"].max()

    return measure


FIG15 = Figure(
    "fig15",
    "Latency by the publication rate on a general overlay",
    "FBR takes 1,087 ms at 2,000 events a minute and 2,843 ms at 2,500; D-DBR 491 ms at 14,000: up"
    " to 700 % throughput and 55 % less latency. MERC, with edge brokers of eight cores, is stable"
    " and slightly above D-DBR below 11,000.",
    (
        Panel("Delivery latency", "latency", "events a minute", "events a minute", "ms",
              log_x=True, log_y=True),
        Panel("Deliveries that did not come in time", "undelivered", "events a minute",
              "events a minute", "% of those due", log_x=True),
        Panel("Load of the busiest broker", "greatest load", "events a minute", "events a minute",
              "% of the time", log_x=True),
    ),
    (
        Claim("fbr-2000", "FBR: latency at 2000 a minute, ms",
              about(1087, 543), number("latency", FBR, _at(2000))),
        Claim("fbr-2500", "FBR: latency at 2500 a minute, ms",
              about(2843, 1421), number("latency", FBR, _at(2500))),
        Claim("fbr-step", "FBR: latency at 2500 a minute over that at 2000",
              about(2.6, 0.65), ratio(number("latency", FBR, _at(2500)),
                                      number("latency", FBR, _at(2000)))),
        Claim("ddbr-14000", "D-DBR: latency at 14,000 a minute, ms",
              about(491, 245), number("latency", DDBR, _at(14000))),
        Claim("less", "D-DBR's latency at 14,000 a minute, % of FBR's at 2000",
              about(45, 22), percent(number("latency", DDBR, _at(14000)),
                                     number("latency", FBR, _at(2000)))),
        Claim("throughput", "greatest rate that D-DBR carries within 1087 ms, over FBR's",
              at_least(7), ratio(_carried(DDBR), _carried(FBR))),
        Claim("merc-stable", "MERC: latency at 11,000 a minute over that at 2000",
              about(1, 0.5), ratio(number("latency", MERC, _at(11000)),
                                   number("latency", MERC, _at(2000)))),
        Claim("merc-above", "latency at 8000 a minute, MERC over D-DBR",
              at_least(1), ratio(number("latency", MERC, _at(8000)),
                                 number("latency", DDBR, _at(8000)))),
        *(Claim(f"carried-{each.lower()}",
                f"{each}: greatest rate tested, a minute, that it carries within 1087 ms",
                UNPUBLISHED, _carried(each)) for each in THREE),
        *(Claim(f"latency-{each.lower()}-2000", f"{each}: latency at 2000 a minute, ms",
                UNPUBLISHED, number("latency", each, _at(2000))) for each in _PAIR),
        *(Claim(f"{key}-load-{each.lower()}",
                f"{each}: load of {whom} at {rate} a minute, %",
                UNPUBLISHED, number(column, each, _at(rate)))
          for each, rate in zip(THREE, (2000, 14000, 11000), strict=True)
          for key, whom, column in (("mean", "all brokers", "mean load"),
                                    ("greatest", "the busiest broker", "greatest load"))),
        *(Claim(f"saturated-{each.lower()}",
                f"{each}: load of the busiest broker at the greatest rate tested, %",
                UNPUBLISHED, number("greatest load", each, {RATE: GREATEST})) for each in THREE),
    ),
    quick=general("fig15"),
)  # fmt: skip

FIG16 = Figure(
    "fig16",
    "Destination lists by broker",
    "The mean list at a broker is 1 to 5 long with D-DBR and 1 to 1.6 with MERC; over all brokers"
    " 2.12 and 1.18.",
    (
        Panel("Length of lists", "", y_label="ids", kind="groups",
              parts=(("list length, least broker", "least broker"),
                     ("list length", "mean"),
                     ("list length, greatest broker", "greatest broker"))),
    ),
    (
        Claim("ddbr", "D-DBR: mean length (its share of destinations is chosen by this)",
              about(2.12, 0.21), number("list length", DDBR)),
        Claim("merc", "MERC: mean length", about(1.18, 0.12), number("list length", MERC)),
        Claim("ddbr-most", "D-DBR: mean at the broker with the longest lists",
              about(5, 1), number("list length, greatest broker", DDBR)),
        Claim("merc-most", "MERC: mean at the broker with the longest lists",
              about(1.6, 0.3), number("list length, greatest broker", MERC)),
        *(Claim(f"least-{each.lower()}", f"{each}: mean at the broker with the shortest lists",
                at_least(1), number("list length, least broker", each)) for each in _PAIR),
        Claim("smaller", "MERC's mean length, % of D-DBR's",
              about(56, 6), compared("list length", MERC, DDBR)),
    ),
    quick=general("fig16"),
)  # fmt: skip


# What is stored

_SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)

FIG17 = Figure(
    "fig17",
    "Copies of a subscription",
    "D-DBR stores a subscription only at brokers with matching advertisements, MERC little more"
    " often; FBR, one copy for each tree, 221 times if 80 % of the brokers match.",
    (
        Panel("Copies at other brokers", "copies", MATCHING, "share of matching brokers",
              "of a subscription"),
    ),
    (
        Claim("fbr-80", "FBR: copies at 80 %", about(221, 22),
              number("copies", FBR, {MATCHING: 0.8})),
        *(Claim(f"ddbr-{100 * share:g}", f"D-DBR: copies at {100 * share:g} %, of 100 brokers",
                about(100 * share, 2), number("copies", DDBR, {MATCHING: share}))
          for share in _SHARES),
        Claim("merc", "MERC: copies at 80 %, % of D-DBR's",
              about(110, 10), compared("copies", MERC, DDBR, {MATCHING: 0.8})),
        *(Claim(f"{each.lower()}-{100 * share:g}", f"{each}: copies at {100 * share:g} %",
                UNPUBLISHED, number("copies", each, {MATCHING: share}))
          for each in (FBR, MERC) for share in _SHARES if (each, share) != (FBR, 0.8)),
    ),
    quick=tables(**{MATCHING: ["60 %", "80 %"]}),
)  # fmt: skip

FIG18 = Figure(
    "fig18",
    "Subscriptions stored at a broker",
    "Of 3,000 subscriptions, 60 % of the brokers matching, a broker stores 5,005 copies with FBR,"
    " 1,800 with D-DBR and 1,945 with MERC.",
    (
        Panel("Stored subscriptions of other brokers", "", y_label="at a broker", kind="groups",
              log_y=True, parts=(("stored, least", "least"), ("stored", "mean"),
                                 ("stored, greatest", "greatest"))),
    ),
    (
        *(Claim(each.lower(), f"{each}: mean of all brokers, their own clients' not counted",
                about(count, round(count / 10)), number("stored", each))
          for each, count in zip(THREE, (5005, 1800, 1945), strict=True)),
        *(Claim(f"all-{each.lower()}", f"{each}: mean with those of their own clients",
                UNPUBLISHED, number("stored with local", each)) for each in THREE),
        Claim("fbr-over-ddbr", "FBR over D-DBR", about(2.78, 0.28),
              ratio(number("stored", FBR), number("stored", DDBR))),
        Claim("merc-over-ddbr", "MERC over D-DBR", about(1.08, 0.08),
              ratio(number("stored", MERC), number("stored", DDBR))),
    ),
    quick=tables(**{MATCHING: ["60 %"]}),
)  # fmt: skip

TEXT = Figure(
    "text",
    "Duplicate advertisements, and the memory of topology tables",
    "100 advertisements cause over 38,000 duplicates with FBR and none with D-DBR and MERC. TRT and"
    " SPRT of 100 brokers take 11 kB.",
    (
        Panel("Duplicate advertisements", "", y_label="received", kind="groups",
              parts=(("duplicate advertisements", ""),)),
        Panel("TRT and SPRT", "", y_label="bytes at a broker", kind="groups",
              parts=(("table bytes", ""),)),
    ),
    (
        Claim("duplicates-fbr", "FBR: duplicates of 100 advertisements",
              at_least(38000), number("duplicate advertisements", FBR)),
        *(Claim(f"duplicates-{each.lower()}", f"{each}: duplicates of 100 advertisements",
                exactly(0), number("duplicate advertisements", each)) for each in _PAIR),
        Claim("memory", "D-DBR: bytes of TRT and SPRT at a broker",
              about(11000, 1100), number("table bytes", DDBR)),
        Claim("memory-merc", "MERC: bytes of TRT and SPRT at a broker",
              UNPUBLISHED, number("table bytes", MERC)),
        *(Claim(f"advertising-{each.lower()}", f"{each}: bytes of all advertisements' messages",
                UNPUBLISHED, number("bytes of advertisements", each)) for each in THREE),
    ),
    quick=tables(**{MATCHING: ["60 %"]}),
)  # fmt: skip


FAMILY = Family(
    "destinations",
    "Routing by destinations: D-DBR, and MERC, which matches at the edge and routes within clusters"
    " (merc.txt)",
    {
        figure.name: figure
        for figure in (FIG11, FIG12, FIG13, FIG14, FIG15, FIG16, FIG17, FIG18, *LISTS, TEXT)
    },
)
