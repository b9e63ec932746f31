"""Algorithms 4 and 5 as printed lose publications and deliver some twice; ours do not."""

import pytest

from .scenes import Scene

LINE = [(0, 1), (1, 2)]
FORK = [(0, 1), (0, 2)]

PRINTED, OURS = "popsub-gossip-printed", "popsub-gossip"


def scene(links, subscriptions, protocol) -> Scene:
    return Scene(links, subscriptions, protocol, interval=1.0)


def values(got: list[tuple[int, str]]) -> list[int]:
    return sorted(value for value, _ in got)


@pytest.mark.parametrize(("protocol", "expected"), [(PRINTED, [10]), (OURS, [10, 60, 70])])
def test_a_flag_does_not_reach_whom_its_publication_is_not_for(protocol, expected):
    """Broker 2 wants x > 50 only, and the flag is on x = 20."""
    stage = scene(LINE, [(1, "x < 99"), (2, "x > 50 or x = 10")], protocol)
    stage.publish(10)
    stage.after(0.1)
    stage.flip(1)
    stage.publish(20)
    stage.after(0.1)
    stage.publish(60, 70)
    stage.after(20)
    assert values(stage.got(1)) == [10, 20, 60, 70]
    assert values(stage.got(2)) == expected


@pytest.mark.parametrize(("protocol", "expected"), [(PRINTED, []), (OURS, [40, 50])])
def test_a_newcomer_does_not_hear_of_the_group(protocol, expected):
    stage = scene(LINE, [(1, "x < 99")], protocol)
    stage.flip(1)
    stage.publish(20, 30)
    stage.after(5)
    stage.act("subscribe", 2, "x < 99", 7)
    stage.after(0.1)
    stage.publish(40, 50)
    stage.after(20)
    assert values(stage.got(1)) == [20, 30, 40, 50]
    assert values(stage.got(2)) == expected


@pytest.mark.parametrize(("protocol", "expected"), [(PRINTED, [10, 20]), (OURS, [10, 20, 30, 40])])
def test_a_flag_that_is_never_reset_leaves_nobody_in_the_group(protocol, expected):
    """To gossip, back to the tree, to gossip again: nothing says so the second time."""
    stage = scene(LINE, [(2, "x < 99")], protocol)
    stage.flip(1)
    stage.publish(10)
    stage.after(5)
    stage.flip(1)
    stage.publish(20)
    stage.after(5)
    stage.flip(1)
    stage.publish(30, 40)
    stage.after(20)
    assert values(stage.got(2)) == expected


@pytest.mark.parametrize(("protocol", "expected"), [(PRINTED, [10, 40]), (OURS, [10, 20, 30, 40])])
def test_who_leaves_misses_a_round_that_is_pending(protocol, expected):
    stage = scene(LINE, [(2, "x < 99")], protocol)
    stage.flip(1)
    stage.publish(10)
    stage.after(0.1)
    stage.publish(20, 30)
    stage.flip(1)
    stage.publish(40)
    stage.after(20)
    assert values(stage.got(2)) == expected


@pytest.mark.parametrize(("protocol", "expected"), [(PRINTED, [20, 20]), (OURS, [20])])
def test_what_is_gossiped_for_one_link_and_flagged_for_another_comes_twice(protocol, expected):
    stage = scene(FORK, [(1, "x < 99"), (2, "x < 99 and x > 10")], protocol)
    stage.flip(1)
    stage.publish(10)
    stage.after(0.1)
    stage.flip(2)
    stage.publish(20)
    stage.after(30)
    assert values(stage.got(1)) == [10, 20]
    assert values(stage.got(2)) == expected
