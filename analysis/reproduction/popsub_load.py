"""Popularity-based routing in an overloaded system (Fig. 4), in bytes, and on other trees.

Tolerances as in `popsub`; what no paper has is measured only.
"""

from analysis.reproduction.figure import Claim, Figure, Measure, Panel
from analysis.reproduction.measures import GREATEST, number, ratio
from analysis.reproduction.popsub_sizes import (
    BASELINE,
    BATCHING,
    DIRECT,
    FOUR,
    GOSSIP,
    SUBSCRIPTIONS,
    THREE,
    against,
    along,
    between,
    fewer,
    measured,
    more,
    small,
)
from analysis.reproduction.rules import UNPUBLISHED, about, at_least

_QUICK = small(**{SUBSCRIPTIONS: [1200, 2000]})
_QUICK |= {"topology.brokers": 60, "workload.rate": "15 /s"}
_LABEL = "subscriptions"

FIG4A = Figure(
    "fig4a",
    "Gain ratio in an overloaded system",
    "Batching and gossip have a larger gain ratio than the baseline, and more subscriptions have a"
    " larger one with all approaches.",
    (Panel("Gain ratio", "gain", SUBSCRIPTIONS, _LABEL, "deliveries for a forward"),),
    (
        *(Claim(f"more-{each}", f"{each}: % more gain than the baseline", at_least(0),
                more("gain", each)) for each in (BATCHING, GOSSIP)),
        *(Claim(f"rise-{each}", f"{each}: gain with most subscriptions over that with fewest",
                at_least(1), along("gain", each, SUBSCRIPTIONS)) for each in FOUR),
    ),
    quick=_QUICK,
)  # fmt: skip

FIG4B = Figure(
    "fig4b",
    "Queues in an overloaded system",
    "Batching, direct delivery and gossip have queues that are up to 33, 60 and 98 % shorter.",
    (
        Panel("Average queue", "queue", SUBSCRIPTIONS, _LABEL, "publications", log_y=True),
        Panel("Longest queue", "longest queue", SUBSCRIPTIONS, _LABEL, "publications", log_y=True),
    ),
    (
        Claim("batching", "batching: % shorter queues than the baseline", about(33, 15),
              fewer("queue", BATCHING)),
        Claim("direct", "direct: % shorter queues than the baseline", about(60, 15),
              fewer("queue", DIRECT)),
        Claim("gossip", "gossip: % shorter queues than the baseline", between(88, 100),
              fewer("queue", GOSSIP)),
        *measured("queue", "average queue with most subscriptions", {SUBSCRIPTIONS: GREATEST},
                  *FOUR),
        *measured("busiest percent", "time that the busiest broker works, % of publishing",
                  {SUBSCRIPTIONS: GREATEST}, *FOUR),
    ),
    quick=_QUICK,
)  # fmt: skip

FIG4C = Figure(
    "fig4c",
    "Popular latency in an overloaded system",
    "The 99th percentile of popular latency is up to 40 % lower with direct delivery and 57 % lower"
    " with gossip; batching has a higher one than both.",
    (Panel("Popular latency", "popular latency", SUBSCRIPTIONS, _LABEL, "ms", log_y=True),),
    (
        Claim("direct", "direct: % lower popular latency than the baseline", about(40, 15),
              fewer("popular latency", DIRECT)),
        Claim("gossip", "gossip: % lower popular latency than the baseline", about(57, 15),
              fewer("popular latency", GOSSIP)),
        *(Claim(f"batching-{each}", f"batching: popular latency over that of {each}", at_least(1),
                against("popular latency", BATCHING, each)) for each in (DIRECT, GOSSIP)),
        *measured("popular latency", "99th percentile of popular latency, ms", {}, *FOUR),
    ),
    quick=_QUICK,
)  # fmt: skip

FIG4D = Figure(
    "fig4d",
    "Unpopular latency in an overloaded system",
    "With gossip popular publications have a latency that is 17 to 33 % lower than that of the"
    " unpopular ones.",
    (Panel("Unpopular latency", "unpopular latency", SUBSCRIPTIONS, _LABEL, "ms", log_y=True),),
    (
        Claim("gossip", "gossip: popular latency, % lower than unpopular", between(17, 33),
              lambda rows: 100 * (1 - ratio(number("popular latency", GOSSIP),
                                            number("unpopular latency", GOSSIP))(rows))),
        *measured("unpopular latency", "99th percentile of unpopular latency, ms", {}, *THREE),
        *measured("missing percent", "% of deliveries not made when the run ends", {}, *FOUR),
    ),
    quick=_QUICK,
)  # fmt: skip


# What no paper has

BYTES = Figure(
    "bytes",
    "Popular and unpopular publications on the wire",
    "Nothing: the paper counts messages.",
    (
        Panel("For each delivery", "", y_label="bytes", kind="groups", log_y=True,
              parts=(("bytes per popular delivery", "popular"),
                     ("bytes per unpopular delivery", "unpopular"),
                     ("control bytes per unpopular delivery", "control"))),
        Panel("All bytes", "", y_label="bytes", kind="groups", log_y=True,
              parts=(("wire bytes in all", "all"), ("bytes of acknowledgments", "ACKs"),
                     ("bytes of handshakes", "handshakes"))),
    ),
    (
        *measured("bytes per popular delivery", "bytes for each popular delivery", {}, *FOUR),
        *measured("bytes per unpopular delivery", "bytes for each unpopular delivery", {}, *THREE),
        *measured("control bytes per unpopular delivery",
                  "bytes of control messages for each unpopular delivery", {}, *THREE),
        *measured("wire bytes in all", "bytes on the wire in all", {}, *FOUR),
        *measured("bytes of handshakes", "bytes of TCP handshakes", {}, *FOUR),
        *measured("share of acknowledgments", "pure acknowledgments, % of all bytes", {}, *FOUR),
        Claim("event", "bytes of a publication on a link, with headers", UNPUBLISHED,
              number("bytes of a event", BASELINE)),
        Claim("direct-event", "bytes of a publication sent directly", UNPUBLISHED,
              number("bytes of a direct-event", DIRECT)),
        Claim("batch", "bytes of a batch on a link", UNPUBLISHED,
              number("bytes of a batch", BATCHING)),
        Claim("round", "bytes of one member's gossip to another", UNPUBLISHED,
              number("bytes of a gossip", GOSSIP)),
        Claim("digest", "bytes of a gossip without publications: digest and membership",
              UNPUBLISHED, number("least bytes of a gossip", GOSSIP)),
        Claim("switch", "bytes of a SWITCH", UNPUBLISHED, number("bytes of a switch", GOSSIP)),
    ),
    quick={"workload.publishing": "6 s", "duration": "80 s"},
)  # fmt: skip

_NEIGHBORS = "topology.neighbors"
_ALL = 0
"""Every host is a neighbor of every other."""


def _on(neighbors: int, measure: Measure) -> Measure:
    """The same of the runs alone whose trees grew on a graph."""
    return lambda rows: measure(rows[rows[_NEIGHBORS].fillna(_ALL) == neighbors])


TREES = Figure(
    "trees",
    "Wide and narrow trees",
    "Nothing: the paper says how trees grow, not on what graph. In a complete one, as a matrix of"
    " all latencies is, the root has dozens of children with two publishers each.",
    (
        Panel("Gain ratio", "gain", _NEIGHBORS, "neighbors of a host", "deliveries for a forward"),
        Panel("Unpopular", "unpopular percent", _NEIGHBORS, "neighbors of a host", "% of all"),
        Panel("Pure forwards", "pure forwards", _NEIGHBORS, "neighbors of a host", "publications"),
    ),
    tuple(
        claim
        for neighbors, words in ((3, "3"), (5, "5"), (10, "10"), (_ALL, "all others as"))
        for each in (BATCHING, GOSSIP)
        for claim in (
            Claim(f"gain-{each}-{words}",
                  f"{each}: % more gain than the baseline with {words} neighbors",
                  UNPUBLISHED, _on(neighbors, more("gain", each))),
            Claim(f"unpopular-{each}-{words}",
                  f"{each}: unpopular deliveries, % of all, with {words} neighbors",
                  UNPUBLISHED, _on(neighbors, number("unpopular percent", each))),
        )
    ),
    quick={
        **{key: value for key, value in small().items() if key != "topology.brokers"},
        "sweep": {
            "topology": [
                {"kind": "latency-tree", "brokers": 40, "draw": 1, **more}
                for more in ({"neighbors": 5}, {"neighbors": 10}, {})
            ],
            "protocol": small()["sweep"]["protocol"],
        },
    },
)  # fmt: skip
