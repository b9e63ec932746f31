"""What the workloads of the covering paper owe like all others, and how runs set them up."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pysim.experiments import manifest
from pysim.experiments.config import ConfigError
from pysim.experiments.run import run
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Frequency, Share, Span
from pysim.workloads import Covering, Flood, Mobile, Operation, Setting, Site, Workflow, Workload
from pysim.workloads.base import event_size, subscription_size
from pysim.workloads.periodic import tick_count, ticks
from tests.experiments.files import small_plan
from tests.workloads.scenes import OVERLAY49, TIERED, WORKFLOW, setting_on

COVERING = Covering(
    roots=7,
    degree=9,
    subscriptions=99,
    size=Share(0.1),
    ramp=Duration(2.7),
    publish_start=Duration(5),
    rate=Frequency(13),
    unsubscriptions=4,
    unsubscribe_start=Duration(10),
    probes=17,
    probe_start=Duration(15),
)
FLOW = Workflow(
    small=4,
    medium=3,
    large=2,
    period=Span(11),
    ramp=Duration(3),
    publish_start=Duration(7.5),
    inspectors=3,
    inspect_start=Duration(8),
    inspect_every=Span(9),
    inspect_for=Span(4),
    stagger=Duration(3),
)
MOVING = Mobile(
    players=70,
    publishers=5,
    size=Share(0.1),
    monitor_moves=Frequency(0.7),
    moves=Frequency(1.3),
    ramp=Duration(3),
    publish_start=Duration(5),
    rate=Frequency(9),
    move_start=Duration(8),
)
CASES = [(COVERING, OVERLAY49), (FLOW, WORKFLOW), (MOVING, TIERED)]
NAMES = ["covering", "workflow", "mobile"]

cases = pytest.mark.parametrize(("workload", "overlay"), CASES, ids=NAMES)
seeds = st.integers(0, 2**32)


def frame_size(act: Operation) -> int:
    return event_size(act.attributes) if act.filter is None else subscription_size(act.filter)


@cases
@settings(max_examples=40, deadline=None)
@given(seed=seeds)
def test_the_same_streams_give_the_same_operations_in_order(
    workload: Workload, overlay: nx.Graph, seed: int
) -> None:
    setting = setting_on(overlay, 40.0, seed)
    workload.check(setting)
    first, second = (list(workload.operations(setting)) for _ in range(2))
    assert first == second
    times = [act.time for act in first]
    assert times == sorted(times)
    assert times[0] == round(workload.earliest() * NANOSECONDS)
    assert times[-1] < 40 * NANOSECONDS


@cases
@settings(max_examples=40, deadline=None)
@given(seed=seeds, duration=st.floats(31, 60))
def test_an_estimate_is_never_exceeded(
    workload: Workload, overlay: nx.Graph, seed: int, duration: float
) -> None:
    setting = setting_on(overlay, duration, seed)
    estimate = workload.estimate(setting)
    operations = list(workload.operations(setting))
    published = [frame_size(act) for act in operations if act.filter is None]
    changed = [frame_size(act) for act in operations if act.filter is not None]
    filters = {act.filter for act in operations if act.filter is not None}
    assert len(published) <= estimate.publications.messages <= 6 * len(published) + 100
    assert sum(published) <= estimate.publications.bytes
    assert len(changed) <= estimate.subscriptions.messages <= len(changed) + 50
    assert sum(changed) <= estimate.subscriptions.bytes
    assert len(filters) <= estimate.filters.messages
    assert sum(map(subscription_size, filters)) <= estimate.filters.bytes
    assert max(*published, *changed) <= estimate.largest


@cases
def test_operations_are_made_while_they_are_read(workload: Workload, overlay: nx.Graph) -> None:
    endless = setting_on(overlay, 1e9)
    assert len(list(itertools.islice(workload.operations(endless), 1000))) == 1000


@cases
def test_another_seed_gives_other_operations(workload: Workload, overlay: nx.Graph) -> None:
    setting = setting_on(overlay, 40.0)
    other = replace(setting, streams=Streams(2))
    assert list(workload.operations(setting)) != list(workload.operations(other))


@given(st.floats(0, 100), st.floats(0.001, 1000), st.floats(0, 50))
def test_ticks_are_counted_with_one_too_many_at_most(
    begin: float, rate: float, length: float
) -> None:
    number = sum(1 for _ in ticks(begin, rate, begin + length))
    assert number <= tick_count(begin, rate, begin + length) <= number + 2


def test_ticks_do_not_drift_and_end_before_the_end() -> None:
    assert list(ticks(1, 3, 2)) == [1_000_000_000, 1_333_333_333, 1_666_666_667]
    assert list(ticks(1, 0, 2)) == []
    assert list(ticks(2, 3, 1)) == []


# Brokers, their roles and their regions


def test_brokers_without_sites_have_neither_roles_nor_regions() -> None:
    setting = Setting(5, 1.0, Streams(1))
    assert setting.with_role("edge") == []
    assert setting.regions() == []


def test_regions_come_in_the_order_of_their_first_brokers() -> None:
    sites = (Site("core"), Site("edge", "b"), Site("inner", "a"), Site("edge", "a"))
    setting = Setting(4, 1.0, Streams(1), sites)
    assert setting.regions() == [[1], [2, 3]]
    assert setting.regions("edge") == [[1], [3]]
    assert setting.regions("inner") == [[2]]
    assert setting.with_role("edge", "core") == [0, 1, 3]


@pytest.mark.parametrize(
    ("kind", "overlay"), [("overlay49", OVERLAY49), ("workflow", WORKFLOW), ("tiered", TIERED)]
)
def test_a_plan_tells_the_workload_what_the_overlay_says(
    tmp_path: Path, kind: str, overlay: nx.Graph
) -> None:
    setting = small_plan(tmp_path, topology={"kind": kind}).setting
    assert setting.sites == setting_on(overlay, 4.0).sites
    assert len(setting.sites) == setting.brokers


def test_an_overlay_that_says_nothing_has_empty_sites(tmp_path: Path) -> None:
    assert small_plan(tmp_path).setting.sites == (Site(),) * 5


# Runs

TINY: dict[str, Any] = {
    "duration": "20 s",
    "topology": {"kind": "overlay49"},
    "workload": {
        "kind": "covering",
        "roots": 2,
        "degree": 5,
        "subscriptions": 20,
        "ramp": "1 s",
        "publish_start": "4 s",
        "rate": "5 /s",
        "unsubscriptions": 2,
        "unsubscribe_start": "8 s",
    },
}


def test_the_manifest_of_a_run_has_the_achieved_degree(tmp_path: Path) -> None:
    result = run(small_plan(tmp_path, **TINY), tmp_path / "run", "seed1")
    assert result.facts == {"covering_degree": 5.0}
    assert manifest.read(tmp_path / "run").facts == {"covering_degree": 5.0}
    assert result.deliveries.is_exact


def test_other_workloads_have_no_facts() -> None:
    assert Flood().facts(Setting(5, 10.0, Streams(1))) == {}


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("covering", 'needs an overlay with brokers of the role "publisher", such as overlay49'),
        ("workflow", 'needs an overlay with brokers of the role "edge" in domains'),
        ("mobile", "needs an overlay with regions, such as tiered"),
    ],
)
def test_an_overlay_that_does_not_fit_is_refused_in_one_sentence(
    tmp_path: Path, kind: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as error:
        small_plan(tmp_path, workload={"kind": kind})
    assert str(error.value).startswith(f'small.toml: workload.kind = "{kind}": {problem}')


def test_a_wrong_key_is_named_with_the_nearest_right_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"workload\.unsubscribtions.*unsubscriptions"):
        small_plan(tmp_path, workload={"kind": "covering", "unsubscribtions": 3})
