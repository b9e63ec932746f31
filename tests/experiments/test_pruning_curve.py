"""One broker's table share by share: the same as pruning and matching everything by hand."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pysim.brokers.optimizations import Optimize
from pysim.brokers.optimizations.statistics import Statistics
from pysim.experiments.config import ConfigError
from pysim.experiments.pruning_curve import CurvePoint, of_auctions
from pysim.experiments.run import run
from pysim.filters import And, Filter, LinearIndex, Not, Or, Predicate, canonical
from pysim.filters.pruning import PruningQueue
from pysim.network.streams import Streams
from pysim.units import Share
from pysim.workloads.auction_model import AuctionModel, SubscriptionClass
from tests.experiments.files import small_plan

SUBSCRIPTIONS, EVENTS, LEARNED = 50, 300, 400
TENTHS = Optimize(by=("post-pruning",), share=Share(0.1), sample=LEARNED)
AUCTIONS: dict[str, Any] = {
    "measure": ["pruning"],
    "topology": {"kind": "line", "brokers": 1},
    "protocol__optimize": {"by": ["post-pruning"], "share": "25 %", "sample": 100},
    "workload": {"kind": "auctions", "subscriptions": 30, "events": 60, "titles": 20},
}


def model(classes: tuple[SubscriptionClass, ...], seed: int = 1) -> AuctionModel:
    return AuctionModel(Streams(seed), titles=40, classes=classes)


def points(auctions: AuctionModel) -> list[CurvePoint]:
    return list(of_auctions(auctions, SUBSCRIPTIONS, EVENTS, TENTHS))


def predicates(filter: Filter) -> set[Predicate]:
    if isinstance(filter, Predicate):
        return {filter}
    if isinstance(filter, Not):
        return predicates(filter.child)
    assert isinstance(filter, And | Or)
    return set().union(*map(predicates, filter.children))


def has_and(filter: Filter) -> bool:
    if isinstance(filter, And):
        return True
    return isinstance(filter, Or) and any(map(has_and, filter.children))


def by_hand(auctions: AuctionModel) -> list[list[Filter]]:
    """What stands in the table after each tenth of all steps of one queue."""
    known = Statistics.of(list(auctions.samples(LEARNED)))
    queue: PruningQueue[int] = PruningQueue(known.selectivities)
    for number in range(SUBSCRIPTIONS):
        queue.add(number, canonical(auctions.subscription(number)))
    total, done, found = queue.steps_left, 0, []
    for tenth in range(11):
        while done < round(total * tenth / 10):
            assert queue.prune()
            done += 1
        found.append([queue.filter(number) for number in range(SUBSCRIPTIONS)])
    return found


@pytest.mark.parametrize("classes", [(1,), (2,), (3,), (1, 2, 3)])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_curve_is_what_brute_force_gives(
    classes: tuple[SubscriptionClass, ...], seed: int
) -> None:
    auctions = model(classes, seed)
    events = [auctions.event(number) for number in range(EVENTS)]
    expected = []
    for forms in by_hand(auctions):
        index: LinearIndex[int] = LinearIndex()
        for number, form in enumerate(forms):
            index.insert(number, form)
        matching = sum(bool(index.match(event)) for event in events)
        expected.append((sum(len(predicates(form)) for form in forms), matching))
    found = [(point.stored.associations, point.matching.matching) for point in points(auctions)]
    assert found == expected


def test_a_curve_is_monotone_and_ends_without_any_and() -> None:
    auctions = model((1, 2, 3))
    found = points(auctions)
    associations = [point.stored.associations for point in found]
    matching = [point.matching.matching for point in found]
    assert associations == sorted(associations, reverse=True)
    assert matching == sorted(matching)
    assert matching[-1] > matching[0]
    assert not any(map(has_and, by_hand(auctions)[-1]))
    assert [point.stored.round for point in found] == list(range(11))


def test_a_run_of_one_table_sends_nothing_and_is_the_same_again(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, **AUCTIONS)
    first = run(plan, tmp_path / "first", "first")
    again = run(plan, tmp_path / "again", "again")
    assert (first.messages, first.operations["taken"]) == ({}, 0)
    assert first.fingerprint == again.fingerprint
    for name in ("stored", "matching"):
        files = [tmp_path / each / "tables" / f"{name}.parquet" for each in ("first", "again")]
        assert files[0].read_bytes() == files[1].read_bytes()
    times = pq.read_table(tmp_path / "first" / "tables" / "filter-times.parquet").to_pydict()
    assert times["round"] == [round for round in range(5) for _ in range(2)]
    assert times["engine"] == ["two-step", "broker"] * 5
    assert all(seconds > 0 for seconds in times["seconds"])


@pytest.mark.parametrize("measure", ["pruning", "rounds"])
def test_tables_are_measured_where_auctions_and_tables_are(tmp_path: Path, measure: str) -> None:
    with pytest.raises(ConfigError, match=f'"{measure}" needs the workload "auctions"'):
        small_plan(tmp_path, measure=[measure])
    settings = {key: value for key, value in AUCTIONS.items() if "optimize" not in key}
    settings |= {"measure": [measure], "protocol": {"name": "event-forwarding"}}
    with pytest.raises(ConfigError, match=f'"{measure}" needs brokers with a table'):
        small_plan(tmp_path, **settings)


@pytest.mark.parametrize(
    "optimize", [{}, {"by": ["covering"]}, {"by": ["post-pruning"], "share": 0}]
)
def test_a_curve_needs_prunings_in_steps(tmp_path: Path, optimize: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match='"pruning" needs "post-pruning" with a `share` above 0'):
        small_plan(tmp_path, **AUCTIONS | {"protocol__optimize": optimize})
