"""Numbers of runs that are so small that everything can be counted by hand.

0 --- 1 --- 2 --- 3        broker 3 subscribes; at 3 s link 2-3 breaks,
       \\___________/        and 0.1 s later 1-3 takes its place
"""

from pathlib import Path
from typing import Any

import pytest

from analysis.reproduction.numbers import Numbers, numbers
from analysis.reproduction.table import by_seed, table
from tests.analysis.runs import make_run

REPLACED = [{"kind": "link-replace", "time": "3 s", "old": "2-3", "new": "1-3", "repair": "0.1 s"}]


def steps(*publications: str) -> dict[str, Any]:
    subscription = {"time": "1 s", "broker": 3, "subscribe": "price < 30"}
    events = [{"time": time, "broker": 0, "publish": {"price": 20}} for time in publications]
    return {"kind": "script", "steps": [subscription, *events]}


def measured(folder: Path, protocol: str, *publications: str, **settings: Any) -> Numbers:
    run = make_run(
        folder,
        network={"backend": "memory", "delay": "1 ms"},
        topology={"kind": "line", "brokers": 4},
        protocol={"name": protocol},
        workload=steps(*publications),
        faults=REPLACED,
        measure=["traffic", "misrouted", "causes"],
        **settings,
    )
    return numbers(run)


def test_strawman_tears_the_routes_down_and_builds_them_again(tmp_path: Path) -> None:
    """UNSUB 2 to 1, 1 to 0; then SUB 3 to 1, 1 to 0, 1 to 2: all four brokers have a part."""
    found = measured(tmp_path, "subscription-forwarding").values
    assert (found["messages of unsubscribe"], found["messages of subscribe"]) == (2, 3)
    assert (found["messages"], found["cost"]) == (5, 5)
    assert (found["involved"], found["involved share"]) == (4, 100)


def test_a_deferred_unsubscription_spares_the_rest_of_the_tree(tmp_path: Path) -> None:
    """SUB 3 to 1, 1 to 3 (a stale one), 1 to 2, and after T_u UNSUB 2 to 1, 1 to 3."""
    found = measured(tmp_path, "timed-deferred-unsubscription").values
    assert (found["messages of subscribe"], found["messages of unsubscribe"]) == (3, 2)
    assert (found["cost"], found["involved"]) == (5, 3)


def test_a_flush_weighs_a_tenth(tmp_path: Path) -> None:
    """FLUSH goes over the new link both ways, and on to brokers 0 and 2."""
    found = measured(tmp_path, "notified-deferred-unsubscription").values
    assert found["messages of flush"] == 4
    assert found["cost"] == pytest.approx(5 + 0.4)
    assert found["involved"] == 3


def test_control_messages_that_carry_patterns_weigh_as_many(tmp_path: Path) -> None:
    """The old end 2 activates the new end 1 with the one pattern that served the old link."""
    found = measured(tmp_path, "informed-link-activation").values
    assert (found["messages of activate"], found["cost of activate"]) == (1, 1)
    assert found["messages of rec on the head"] == 0


def test_the_path_is_walked_by_one_message(tmp_path: Path) -> None:
    """Head and tail are 2-1 and 3, or the other way round: two RECs, of which one or two on the
    head; P_add and P_del are one pattern each at the start."""
    found = measured(tmp_path, "reconfiguration-path").values
    assert found["messages of rec"] == 2
    assert found["cost of rec"] == found["cost of rec on the head"]
    assert found["messages of unsubscribe"] == 0


@pytest.mark.parametrize(
    ("protocol", "publications", "misrouted"),
    [
        ("subscription-forwarding", ("2.5 s", "3.05 s", "3.5 s"), 0),
        ("timed-deferred-unsubscription", ("3.05 s",), 2),  # 0 to 1, 1 to 2: 3 is cut off
        ("timed-deferred-unsubscription", ("3.12 s",), 1),  # 1 to 2, beside 1 to 3
        ("timed-deferred-unsubscription", ("2.5 s", "3.5 s"), 0),
    ],
)
def test_an_event_hop_is_misrouted_if_nobody_behind_it_wants_the_event(
    tmp_path: Path, protocol: str, publications: tuple[str, ...], misrouted: int
) -> None:
    found = measured(tmp_path, protocol, *publications).values
    assert (found["misrouted"], found["misrouted events"]) == (misrouted, misrouted)
    assert found["cost with events"] == found["cost"] + misrouted


def test_useful_traffic_stands_against_all_overhead(tmp_path: Path) -> None:
    """Three hops before, two after the change; overhead is five messages."""
    found = measured(tmp_path, "timed-deferred-unsubscription", "2.5 s", "3.5 s").values
    assert (found["useful events"], found["overhead of useful events"]) == (5, 5)
    assert found["useful events per overhead"] == 1
    assert found["receivers"] == 0.25


def test_delivery_is_that_of_stable_subscribers(tmp_path: Path) -> None:
    """The event at 3.05 s is lost while broker 3 is cut off."""
    found = measured(tmp_path, "subscription-forwarding", "2.95 s", "3.05 s", "3.5 s")
    assert found.curves["delivered"] == {2.9: 100.0, 3.0: 0.0, 3.5: 100.0}
    assert found.values["delivered at last"] == 100
    assert found.values["missed for"] == pytest.approx(0.05, abs=1e-9)


def test_without_misses_after_the_last_break_they_last_no_time(tmp_path: Path) -> None:
    found = measured(tmp_path, "subscription-forwarding", "2.95 s", "3.5 s")
    assert found.values["missed for"] == 0


def test_traffic_is_counted_in_the_bin_in_which_it_is_sent(tmp_path: Path) -> None:
    """What a change at 3.0 s causes at once belongs to the bin that begins then."""
    found = measured(tmp_path, "subscription-forwarding", duration="8 s").curves["traffic"]
    assert found == {1.0: 30.0, 3.0: 20.0, 3.1: 30.0}


def test_what_is_saved_is_against_strawman_on_the_same_seed(tmp_path: Path) -> None:
    names = ("subscription-forwarding", "timed-deferred-unsubscription")
    runs = [
        measured(tmp_path / f"{name}{seed}", name, seed=seed) for name in names for seed in (1, 2)
    ]
    found = table(runs)
    timed = found[found.protocol == "TDU"]
    assert by_seed(timed, "cost saved").to_dict() == {1: 0, 2: 0}
    assert by_seed(timed, "involved saved").to_dict() == pytest.approx({1: 25, 2: 25})
    assert list(timed["involved of STRAWMAN"]) == [4, 4]
