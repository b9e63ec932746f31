"""How a publication is followed from broker to broker."""

from analysis.metrics.journeys import Leg, Way, follow


def lost(source: int, target: int) -> Way:
    return Way(source, target, 1, 0, None)


def came(source: int, target: int, time: int, copies: int = 1) -> Way:
    return Way(source, target, copies, copies, time)


def test_a_hop_is_useful_if_somebody_behind_it_is_served() -> None:
    #  0 - 1 - 2 (served)
    #      |
    #      3 - 4
    ways = [came(0, 1, 10), came(1, 2, 20), came(1, 3, 20), came(3, 4, 30)]
    assert follow(0, ways, {2}) == [
        Leg(1, True, useful=1, misrouted=0, lost=0, repeated=0, pure_forward=1),
        Leg(2, True, useful=1, misrouted=0, lost=0, repeated=0, pure_forward=0),
        Leg(2, True, useful=0, misrouted=1, lost=0, repeated=0, pure_forward=1),
        Leg(3, True, useful=0, misrouted=1, lost=0, repeated=0, pure_forward=0),
    ]


def test_what_is_lost_makes_the_way_to_it_undecided() -> None:
    # 0 - 1 - 2 x 3, and nobody served: whom 3 would have served is not known
    ways = [came(0, 1, 10), came(1, 2, 20), lost(2, 3)]
    legs = follow(0, ways, set())
    assert [(leg.useful, leg.misrouted, leg.lost) for leg in legs] == [(0, 0, 1)] * 3
    assert [leg.hops for leg in legs] == [1, 2, None]


def test_what_is_lost_takes_nothing_from_what_serves() -> None:
    legs = follow(0, [came(0, 1, 10), lost(1, 2)], {1})
    assert [(leg.useful, leg.lost, leg.pure_forward) for leg in legs] == [(1, 0, 0), (0, 1, 0)]


def test_a_second_copy_is_misrouted_wherever_it_comes_from() -> None:
    #  0 - 1
    #   \ /     1 has it from 0 first; 2 sends it back to its publisher too
    #    2
    ways = [came(0, 1, 10), came(0, 2, 11), came(2, 1, 21), came(2, 0, 21)]
    legs = follow(0, ways, {1})
    assert [leg.first for leg in legs] == [True, True, False, False]
    assert [leg.repeated for leg in legs] == [0, 0, 1, 1]
    assert [(leg.useful, leg.misrouted) for leg in legs] == [(1, 0), (0, 1), (0, 1), (0, 1)]


def test_of_several_copies_on_a_link_one_can_be_the_first() -> None:
    (leg,) = follow(0, [Way(0, 1, 3, 2, 10)], {1})
    assert leg == Leg(1, True, useful=1, misrouted=1, lost=1, repeated=1, pure_forward=0)


def test_two_brokers_that_seem_to_have_it_from_each_other_end_no_search() -> None:
    legs = follow(0, [came(1, 2, 5), came(2, 1, 5)], {1})
    assert [leg.hops for leg in legs] == [None, None]


def test_the_hops_at_equal_times_are_counted_from_the_publisher() -> None:
    ways = [came(1, 2, 10), came(0, 1, 10)]  # no delay: 2 has it at the same instant as 1
    assert [leg.hops for leg in follow(0, ways, set())] == [2, 1]
