"""Order across SWITCHes that gossip overtakes: found by the properties, one case at a time."""

from types import SimpleNamespace
from typing import cast

from pysim.brokers.popsub.gossiping import Membership
from pysim.brokers.popsub.order import GossipInterval
from pysim.gossip import Lpbcast
from pysim.gossip.numbers import NumberSet


def group() -> Lpbcast:
    return cast(Lpbcast, SimpleNamespace(lost=NumberSet()))


def bring(interval: GossipInterval, log: list[int], *numbers: int) -> None:
    for number in numbers:
        interval.add(number, lambda number=number: log.append(number))  # type: ignore[misc]
    interval.release()


def test_an_interval_does_not_wait_for_what_was_delivered_before_it_began() -> None:
    log: list[int] = []
    bring(Membership(group()).begin(4, {4}), log, 5, 6)
    assert log == [5, 6]


def test_what_came_out_of_turn_beyond_an_interval_is_the_next_ones() -> None:
    log: list[int] = []
    membership = Membership(group())
    first = membership.begin(1, set())
    bring(first, log, 1, 2, 3, 5, 6)
    assert membership.end(3) == {5, 6}
    assert first.is_complete
    bring(membership.begin(4, set()), log, 4)
    assert log == [1, 2, 3, 4, 5, 6]


def test_what_the_tree_has_to_bring_is_not_delivered_from_gossip() -> None:
    log: list[int] = []
    membership = Membership(group())
    bring(membership.begin(1, set()), log, 1, 3, 4)
    assert membership.end(1) == {3, 4}
    bring(membership.begin(4, set()), log, 5)
    assert log == [1, 4, 5]
