"""What was published on popularity-based routing: Fig. 3a to 3o, and with `popsub_load` 4a to 4d.

PopSub, popularity-based publication routing for content-based pub/sub, Sec. 5.3. Statements are in
our words, and so are the tolerances, all set before anything was run: 15 % for gain ratios, 15
points for reductions in percent, a third for latencies and counts, half for factors of latencies.
"""

from analysis.reproduction.figure import Claim, Family, Figure, Measure, Panel
from analysis.reproduction.measures import GREATEST, LEAST, greatest, number, ratio
from analysis.reproduction.popsub_load import BYTES, FIG4A, FIG4B, FIG4C, FIG4D, TREES
from analysis.reproduction.popsub_sizes import (
    BASELINE,
    BATCHING,
    BROKERS,
    DIRECT,
    EXPONENT,
    FOUR,
    GOSSIP,
    PHI,
    SHARE,
    SUBSCRIPTIONS,
    THREE,
    against,
    along,
    between,
    fewer,
    measured,
    more,
    protocols,
    small,
)
from analysis.reproduction.rules import UNPUBLISHED, about, at_least, at_most

_LOW_PHI = (0.05, 0.1)
_ALIKE = about(1, 0.15)
_STEADY = about(1, 0.25)


# Impact of phi

_PHI_QUICK = small(protocol=protocols("5 %", "10 %", "80 %"))

FIG3A = Figure(
    "fig3a",
    "Gain ratio against phi",
    "The baseline has a gain ratio of 2.65. With 5 to 10 % of the capacity for popular publications"
    " batching and gossip have 29 to 62 % more, up to 4.3; direct delivery is as the baseline, and"
    " with a large phi all are alike.",
    (
        Panel("Gain ratio", "gain", PHI, "phi", "deliveries for a forward"),
        Panel("At publishers", "gain of publishers", PHI, "phi", "deliveries for a forward"),
    ),
    (
        Claim("baseline", "baseline: gain ratio", about(2.65, 0.4), number("gain", BASELINE)),
        Claim("best", "greatest gain ratio of batching and gossip at phi of 5 and 10 %",
              about(4.3, 0.65), greatest([number("gain", each, {PHI: phi})
                                          for each in (BATCHING, GOSSIP) for phi in _LOW_PHI])),
        *(Claim(f"{each}-{phi:g}", f"{each}: % more gain than the baseline at phi = {phi:g}",
                between(29, 62), more("gain", each, {PHI: phi}, {}))
          for each in (BATCHING, GOSSIP) for phi in _LOW_PHI),
        Claim("direct", "direct: gain over that of the baseline at phi = 0.05", _ALIKE,
              ratio(number("gain", DIRECT, {PHI: 0.05}), number("gain", BASELINE))),
        *(Claim(f"same-{each}", f"{each}: gain over that of the baseline at the greatest phi",
                _ALIKE, ratio(number("gain", each, {PHI: GREATEST}), number("gain", BASELINE)))
          for each in THREE),
        *measured("gain of publishers", "gain at publishers' brokers at phi = 0.05",
                   {PHI: 0.05}, *THREE),
    ),
    quick=_PHI_QUICK,
)  # fmt: skip

FIG3B = Figure(
    "fig3b",
    "Unpopular deliveries against phi",
    "The larger phi, the fewer publications are delivered by other ways than the tree.",
    (Panel("Unpopular deliveries", "unpopular percent", PHI, "phi", "% of all"),),
    (
        *(Claim(f"fall-{each}", f"{each}: unpopular deliveries at the greatest phi over the least",
                at_most(1), along("unpopular deliveries", each, PHI)) for each in THREE),
        *measured("unpopular percent", "unpopular deliveries, % of all, at phi = 0.05",
                   {PHI: 0.05}, *THREE),
    ),
    quick=_PHI_QUICK,
)  # fmt: skip

FIG3C = Figure(
    "fig3c",
    "Pure forwards against phi",
    "Forwards by brokers that deliver to nobody are fewer by up to 59 %.",
    (Panel("Pure forwards", "pure forwards", PHI, "phi", "publications"),),
    (
        Claim("most", "% fewer pure forwards than the baseline, at best at phi of 5 and 10 %",
              about(59, 15), greatest([fewer("pure forwards", each, {PHI: phi}, {})
                                       for each in THREE for phi in _LOW_PHI])),
        *(Claim(f"fewer-{each}", f"{each}: % fewer pure forwards at phi = 0.05",
                at_least(0), fewer("pure forwards", each, {PHI: 0.05}, {})) for each in THREE),
    ),
    quick=_PHI_QUICK,
)  # fmt: skip


# Impact of the overlay's size

_SIZES_QUICK = small(**{BROKERS: [25, 50]})

FIG3D = Figure(
    "fig3d",
    "Gain ratio against the overlay's size",
    "More brokers with as many clients have longer paths, and a smaller gain ratio.",
    (Panel("Gain ratio", "gain", BROKERS, "brokers", "deliveries for a forward"),),
    tuple(
        Claim(f"fall-{each}", f"{each}: gain with most brokers over that with fewest",
              at_most(1), along("gain", each, BROKERS)) for each in FOUR
    ),
    quick=_SIZES_QUICK,
)  # fmt: skip

FIG3E = Figure(
    "fig3e",
    "Pure forwards against the overlay's size",
    "More brokers have more pure forwards; all three approaches have fewer than the baseline.",
    (Panel("Pure forwards", "pure forwards", BROKERS, "brokers", "publications"),),
    (
        *(Claim(f"rise-{each}", f"{each}: pure forwards with most brokers over those with fewest",
                at_least(1), along("pure forwards", each, BROKERS)) for each in FOUR),
        *(Claim(f"fewer-{each}", f"{each}: % fewer pure forwards than the baseline, all sizes",
                at_least(0), fewer("pure forwards", each)) for each in THREE),
    ),
    quick=_SIZES_QUICK,
)  # fmt: skip


def _times_direct(column: str, protocol: str) -> Measure:
    """The most that a latency is of that of direct delivery, over all sizes."""
    places = [{BROKERS: size} for size in (100, 150, 200, 250, 300)]
    every = [against(column, protocol, DIRECT, at) for at in places]
    return lambda rows: greatest([each for each, at in zip(every, places, strict=True)
                                  if (rows[BROKERS] == at[BROKERS]).any()]
                                 or [against(column, protocol, DIRECT)])(rows)  # fmt: skip


FIG3F = Figure(
    "fig3f",
    "99th percentile of unpopular latency against the overlay's size",
    "Batching takes up to 10 times and gossip up to 200 times as long as direct delivery, which is"
    " like popular deliveries (about 135 ms with all approaches). Direct delivery and gossip do not"
    " take longer in larger overlays.",
    (
        Panel("Unpopular", "unpopular latency", BROKERS, "brokers", "ms", log_y=True),
        Panel("Popular", "popular latency", BROKERS, "brokers", "ms"),
    ),
    (
        Claim("batching", "batching: latency over that of direct delivery, at most",
              about(10, 5), _times_direct("unpopular latency", BATCHING)),
        Claim("gossip", "gossip: latency over that of direct delivery, at most",
              about(200, 100), _times_direct("unpopular latency", GOSSIP)),
        *(Claim(f"popular-{each}", f"{each}: 99th percentile of popular latency, ms",
                about(135, 45), number("popular latency", each)) for each in FOUR),
        Claim("alike", "direct: unpopular over popular latency", about(1, 0.33),
              ratio(number("unpopular latency", DIRECT), number("popular latency", DIRECT))),
        *(Claim(f"steady-{each}", f"{each}: latency with most brokers over that with fewest",
                _STEADY, along("unpopular latency", each, BROKERS)) for each in (DIRECT, GOSSIP)),
        *measured("popular latency, median", "median of popular latency, ms", {}, *FOUR),
    ),
    quick=_SIZES_QUICK,
)  # fmt: skip

FIG3G = Figure(
    "fig3g",
    "90th percentile of unpopular latency against the overlay's size",
    "At the 90th percentile batching takes up to twice and gossip up to 70 times as long as direct"
    " delivery.",
    (Panel("Unpopular", "unpopular latency, 90th", BROKERS, "brokers", "ms", log_y=True),),
    (
        Claim("batching", "batching: latency over that of direct delivery, at most",
              about(2, 1), _times_direct("unpopular latency, 90th", BATCHING)),
        Claim("gossip", "gossip: latency over that of direct delivery, at most",
              about(70, 35), _times_direct("unpopular latency, 90th", GOSSIP)),
    ),
    quick=_SIZES_QUICK,
)  # fmt: skip


# Impact of the number of subscriptions

_SUBSCRIPTIONS_QUICK = small(**{SUBSCRIPTIONS: [800, 1000]})
_LABEL = "subscriptions"

FIG3H = Figure(
    "fig3h",
    "Gain ratio against subscriptions",
    "More subscriptions have a larger gain ratio; batching and gossip have up to 62 % more than the"
    " baseline, gossip slightly more than batching.",
    (Panel("Gain ratio", "gain", SUBSCRIPTIONS, _LABEL, "deliveries for a forward"),),
    (
        *(Claim(f"rise-{each}", f"{each}: gain with most subscriptions over that with fewest",
                at_least(1), along("gain", each, SUBSCRIPTIONS)) for each in FOUR),
        Claim("best", "% more gain than the baseline, batching or gossip", about(62, 15),
              greatest([more("gain", each) for each in (BATCHING, GOSSIP)])),
        Claim("order", "gossip: gain over that of batching", at_least(1),
              against("gain", GOSSIP, BATCHING)),
    ),
    quick=_SUBSCRIPTIONS_QUICK,
)  # fmt: skip

FIG3I = Figure(
    "fig3i",
    "Pure forwards against subscriptions",
    "Gossip, batching and direct delivery have up to 56, 37 and 42 % fewer pure forwards.",
    (Panel("Pure forwards", "pure forwards", SUBSCRIPTIONS, _LABEL, "publications"),),
    tuple(
        Claim(f"fewer-{each}", f"{each}: % fewer pure forwards than the baseline",
              about(published, 15), fewer("pure forwards", each))
        for each, published in ((GOSSIP, 56), (BATCHING, 37), (DIRECT, 42))
    ),
    quick=_SUBSCRIPTIONS_QUICK,
)  # fmt: skip

FIG3J = Figure(
    "fig3j",
    "Unpopular latency against subscriptions",
    "The number of subscriptions makes no difference to the latency of unpopular publications.",
    (Panel("Unpopular", "unpopular latency", SUBSCRIPTIONS, _LABEL, "ms", log_y=True),),
    tuple(
        Claim(f"steady-{each}", f"{each}: latency with most subscriptions over that with fewest",
              _STEADY, along("unpopular latency", each, SUBSCRIPTIONS)) for each in THREE
    ),
    quick=_SUBSCRIPTIONS_QUICK,
)  # fmt: skip

FIG3K = Figure(
    "fig3k",
    "Direct forwards and gossip groups against subscriptions",
    "The 99th percentile of direct forwards for a publication rises from 29 to 36, less than"
    " linearly; the number of gossip groups stays.",
    (
        Panel("Direct forwards", "direct forwards", SUBSCRIPTIONS, _LABEL, "99th percentile"),
        Panel("Gossip groups", "groups", SUBSCRIPTIONS, _LABEL, "groups"),
    ),
    (
        Claim("least", "direct forwards for a publication with fewest subscriptions",
              about(29, 10), number("direct forwards", DIRECT, {SUBSCRIPTIONS: LEAST})),
        Claim("most", "direct forwards for a publication with most subscriptions",
              about(36, 12), number("direct forwards", DIRECT, {SUBSCRIPTIONS: GREATEST})),
        Claim("sublinear", "direct forwards with most subscriptions over those with fewest",
              between(1, 1.25), along("direct forwards", DIRECT, SUBSCRIPTIONS)),
        Claim("groups", "gossip groups with most subscriptions over those with fewest",
              about(1, 0.1), along("groups", GOSSIP, SUBSCRIPTIONS)),
    ),
    quick=_SUBSCRIPTIONS_QUICK,
)  # fmt: skip


# Impact of skewness

_SKEW_QUICK = small(**{EXPONENT: [0.05, 1.0]})
_SKEWS = (0.05, 0.25, 0.5, 0.75, 1.0)
_SKEW_LABEL = "Zipf exponent"

FIG3L = Figure(
    "fig3l",
    "Gain ratio against skewness",
    "The more skewed, the larger the gain ratio. Batching has up to 40 % more than the baseline at"
    " any skewness, gossip more than it above an exponent of 0.5, direct delivery as much as it.",
    (Panel("Gain ratio", "gain", EXPONENT, _SKEW_LABEL, "deliveries for a forward"),),
    (
        *(Claim(f"rise-{each}", f"{each}: gain at the greatest exponent over that at the least",
                at_least(1), along("gain", each, EXPONENT)) for each in FOUR),
        *(Claim(f"batching-{s:g}", f"batching: % more gain than the baseline at s = {s:g}",
                about(40, 15), more("gain", BATCHING, {EXPONENT: s})) for s in _SKEWS),
        *(Claim(f"gossip-{s:g}", f"gossip: % more gain than the baseline at s = {s:g}",
                at_least(5) if s > 0.5 else about(0, 10), more("gain", GOSSIP, {EXPONENT: s}))
          for s in _SKEWS),
        Claim("direct", "direct: gain over that of the baseline", _ALIKE,
              against("gain", DIRECT, BASELINE)),
    ),
    quick=_SKEW_QUICK,
)  # fmt: skip

FIG3M = Figure(
    "fig3m",
    "Pure forwards against skewness",
    "The more skewed, the fewer pure forwards with all approaches.",
    (Panel("Pure forwards", "pure forwards", EXPONENT, _SKEW_LABEL, "publications"),),
    tuple(
        Claim(f"fall-{each}", f"{each}: pure forwards at the greatest exponent over the least",
              at_most(1), along("pure forwards", each, EXPONENT)) for each in THREE
    ),
    quick=_SKEW_QUICK,
)  # fmt: skip

_WHOLLY = {SHARE: 1.0}
_PARTLY = {SHARE: 0.25}
"""A subscription with a bound on each of two attributes matches a quarter, if all are uniform."""

FIG3N = Figure(
    "fig3n",
    "What gossip delivers, against skewness",
    "The more skewed, the fewer gossiped publications match nothing at a member (up to 19 % fewer),"
    " and the more match in each gossip (up to 18 % more).",
    (
        Panel("False positives", "gossip false positives", EXPONENT, _SKEW_LABEL, "%",
              only=_PARTLY),
        Panel("Matches, if a quarter match", "match per gossip", EXPONENT, _SKEW_LABEL,
              "publications", only=_PARTLY),
        Panel("Matches, if all match", "match per gossip", EXPONENT, _SKEW_LABEL, "publications",
              only=_WHOLLY),
    ),
    (
        Claim("false", "false positives at the greatest exponent over the least, a quarter match",
              about(0.81, 0.1), along("gossip false positives", GOSSIP, EXPONENT, _PARTLY)),
        Claim("match", "matches per gossip at the greatest exponent over the least, all match",
              about(1.18, 0.15), along("match per gossip", GOSSIP, EXPONENT, _WHOLLY)),
        Claim("match-quarter", "matches per gossip, the same if a quarter match",
              about(1.18, 0.15), along("match per gossip", GOSSIP, EXPONENT, _PARTLY)),
        Claim("share", "% of gossiped publications that match nothing at a member, a quarter match",
              UNPUBLISHED, number("gossip false positives", GOSSIP, _PARTLY)),
        Claim("gain", "gain ratio if a quarter match", UNPUBLISHED,
              number("gain", GOSSIP, _PARTLY)),
    ),
    quick=small(protocol=protocols("5 %")[-1:], **{EXPONENT: [0.05, 1.0]}),
)  # fmt: skip

FIG3O = Figure(
    "fig3o",
    "Direct forwards and gossip groups against skewness",
    "The more skewed, the slightly fewer gossip groups, and the fewer direct forwards.",
    (
        Panel("Direct forwards", "direct forwards", EXPONENT, _SKEW_LABEL, "99th percentile"),
        Panel("Gossip groups", "groups", EXPONENT, _SKEW_LABEL, "groups"),
    ),
    (
        Claim("groups", "gossip groups at the greatest exponent over the least",
              between(0.75, 1), along("groups", GOSSIP, EXPONENT)),
        Claim("direct", "direct forwards at the greatest exponent over the least",
              at_most(1), along("direct forwards", DIRECT, EXPONENT)),
    ),
    quick=_SKEW_QUICK,
)  # fmt: skip


FAMILY = Family(
    "popsub",
    "PopSub: popularity-based publication routing for content-based publish/subscribe (2017)",
    {
        figure.name: figure
        for figure in (
            FIG3A, FIG3B, FIG3C, FIG3D, FIG3E, FIG3F, FIG3G, FIG3H, FIG3I, FIG3J, FIG3K, FIG3L,
            FIG3M, FIG3N, FIG3O, FIG4A, FIG4B, FIG4C, FIG4D, BYTES, TREES,
        )
    },
)  # fmt: skip
