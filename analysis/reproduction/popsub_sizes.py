"""What the figures on popularity share: names, quick looks of a smaller size, and comparisons.

A quick look has a fifth of the brokers, publishers and capacity, so that as large a part of the
publications at a publisher's broker is popular, and a 25th of the subscriptions, so that as many
brokers in a hundred want a publication; publishing lasts for 12 s.
"""

from typing import Any

from analysis.reproduction.figure import Claim, Measure
from analysis.reproduction.measures import GREATEST, LEAST, number, ratio
from analysis.reproduction.rules import UNPUBLISHED, Rule

BASELINE, DIRECT, BATCHING, GOSSIP = "tree", "direct", "batching", "gossip"
THREE = (DIRECT, BATCHING, GOSSIP)
FOUR = (BASELINE, *THREE)
PHI, BROKERS = "protocol.phi", "topology.brokers"
SUBSCRIPTIONS, EXPONENT = "workload.subscriptions", "workload.exponent"
SHARE = "workload.share"

At = dict[str, Any]


def more(column: str, protocol: str, at: At | None = None, than: At | None = None) -> Measure:
    """By how many percent a protocol has more of a column than the baseline."""
    base = number(column, BASELINE, (at or {}) if than is None else than)
    part = ratio(number(column, protocol, at or {}), base)
    return lambda rows: 100 * (part(rows) - 1)


def fewer(column: str, protocol: str, at: At | None = None, than: At | None = None) -> Measure:
    """By how many percent a protocol has less of it."""
    part = more(column, protocol, at, than)
    return lambda rows: -part(rows)


def along(column: str, protocol: str, key: str, at: At | None = None) -> Measure:
    """A column at the greatest value of a key over that at the least."""
    most, least = (number(column, protocol, {**(at or {}), key: end}) for end in (GREATEST, LEAST))
    return ratio(most, least)


def against(column: str, one: str, other: str, at: At | None = None) -> Measure:
    """What one protocol has over what another has."""
    return ratio(number(column, one, at or {}), number(column, other, at or {}))


def between(low: float, high: float) -> Rule:
    """A published range."""
    return Rule(f"{low:g} to {high:g}", low, high)


def small(**lists: Any) -> dict[str, Any]:
    """A quick look: a fifth of brokers, publishers and capacity, a 25th of subscriptions, 12 s."""
    return {
        "duration": "97 s",
        "repeat": 1,
        "network.underlay.hosts": 300,
        "topology.brokers": 40,
        "workload.publishers": 40,
        "workload.classes": 4,
        "workload.subscriptions": 880,
        "workload.publishing": "12 s",
        "service.capacity": 500,
        "sweep": {"topology.draw": [1], "protocol": protocols("5 %"), **lists},
    }


def protocols(*phis: str) -> list[dict[str, Any]]:
    """Values of a quick look's sweep over protocols."""
    names = ("popsub-direct", "popsub-batching", "popsub-gossip")
    found: list[dict[str, Any]] = [{"name": "reverse-path-forwarding"}]
    for phi in phis:
        found += [{"name": name, "capacity": 500, "phi": phi} for name in names]
    return found


def measured(column: str, text: str, at: At, *names: str) -> list[Claim]:
    """Rows that nothing was published for."""
    return [
        Claim(f"{column.replace(' ', '-').replace(',', '')}-{name}", f"{name}: {text}",
              UNPUBLISHED, number(column, name, at))
        for name in names
    ]  # fmt: skip
