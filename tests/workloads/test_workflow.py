"""The workflow workload: well-formed processes, messages that find who awaits them, watchers."""

import itertools
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pysim.filters import Filter, Value
from pysim.filters.covering import covers
from pysim.network.streams import Streams
from pysim.network.transport import NANOSECONDS
from pysim.units import Duration, Share, Span
from pysim.workloads import Operation, Setting, Workflow, WorkloadError
from pysim.workloads import workflow_model as model
from tests.workloads.scenes import OVERLAY49, WORKFLOW, Clients, setting_on

SETTING = setting_on(WORKFLOW, 1500.0)
DOMAINS = SETTING.regions("edge")
PUBLISHED = Workflow()

SMALL = Workflow(
    small=3,
    medium=2,
    large=1,
    period=Span(20),
    ramp=Duration(2),
    publish_start=Duration(10),
    inspectors=2,
    inspect_start=Duration(15),
    inspect_every=Span(40),
    inspect_for=Span(10),
    stagger=Duration(20),
)
SHORT = setting_on(WORKFLOW, 100.0)

drawn_settings = st.integers(0, 10_000).map(lambda seed: setting_on(WORKFLOW, 100.0, seed))


def acts(workload: Workflow, setting: Setting = SHORT) -> list[Operation]:
    return list(workload.operations(setting))


def done(operations: list[Operation], action: str) -> list[Operation]:
    return [act for act in operations if act.action == action]


def seconds(operation: Operation) -> float:
    return operation.time / NANOSECONDS


# Processes


@settings(max_examples=500, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**64))
def test_every_control_flow_follows_the_grammar(activities: int, seed: int) -> None:
    stages = model.stages(Streams(seed).stream("test"), activities)
    branches = [branch for stage in stages for branch in stage.branches]
    assert list(itertools.chain(*branches)) == list(range(activities))
    assert stages[0] == model.Stage(((0,),))
    for stage in stages:
        assert all(1 <= len(branch) <= 3 for branch in stage.branches)
        assert len(stage.branches) == 1 if stage.loops else len(stage.branches) <= 3


def test_sequences_splits_and_loops_all_occur() -> None:
    stages = [stage for process in PUBLISHED.processes(SETTING) for stage in process.stages]
    forms = Counter(
        "loop" if stage.loops else "split" if len(stage.branches) > 1 else "activity"
        for stage in stages
    )
    assert min(forms[form] for form in ("loop", "split", "activity")) > 100


def test_processes_are_of_the_published_sizes_and_places() -> None:
    processes = PUBLISHED.processes(SETTING)
    assert Counter(len(process.engines) for process in processes) == {3: 80, 10: 80, 26: 40}
    engines = {broker for domain in DOMAINS for broker in domain}
    assert [len(domain) for domain in DOMAINS] == [6, 6, 6, 6]
    for process in processes:
        used = set(process.engines)
        match len(process.engines):
            case 3:
                assert len(used) == 1
            case 10:
                assert any(used <= set(domain) for domain in DOMAINS)
        assert used <= engines
    assert {broker for process in processes for broker in process.engines} == engines


def test_what_triggers_what_in_a_process_with_everything() -> None:
    r"""1 - 2
    trigger - 0 <       > 4 - 5 (again: 4) - 6
                    3
    """
    stages = (
        model.Stage(((0,),)),
        model.Stage(((1, 2), (3,))),
        model.Stage(((4, 5),), loops=True),
        model.Stage(((6,),)),
    )
    process = model.Process(9, (10,) * 7, stages)
    assert sorted((activity, str(filter)) for activity, filter in model.awaited(process)) == [
        (0, 'process = 9 and type = "trigger"'),
        (1, 'activity = 0 and process = 9 and type = "done"'),
        (2, 'activity = 1 and process = 9 and type = "done"'),
        (3, 'activity = 0 and process = 9 and type = "done"'),
        (4, 'activity = 2 and process = 9 and type = "done"'),
        (4, 'activity = 3 and process = 9 and type = "done"'),
        (4, 'activity = 5 and process = 9 and type = "again"'),
        (5, 'activity = 4 and process = 9 and type = "done"'),
        (6, 'activity = 5 and process = 9 and type = "done"'),
    ]
    said = [activity for activity, filter in model.emitted(process) if "again" in str(filter)]
    assert said == [5]


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 30), st.integers(0, 2**64))
def test_all_that_is_awaited_is_emitted_and_nothing_is_emitted_in_vain(
    activities: int, seed: int
) -> None:
    stages = model.stages(Streams(seed).stream("test"), activities)
    process = model.Process(0, (0,) * activities, stages)
    awaited = {filter for _, filter in model.awaited(process)} - {model.triggered(0)}
    emitted = {filter for _, filter in model.emitted(process)}
    final = {model.said(0, last, "done") for last in stages[-1].lasts}
    assert emitted == awaited | final


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 30), st.integers(0, 2**64))
def test_an_activity_begins_when_all_that_it_awaits_is_said(activities: int, seed: int) -> None:
    stream = Streams(seed).stream("test")
    process = model.Process(0, (0,) * activities, model.stages(stream, activities))
    waits: dict[int, set[int]] = defaultdict(set)
    for activity, filter in model.awaited(process):
        waits[activity] |= {
            other for other in range(activities) if filter == model.said(0, other, "done")
        }
    sent = model.instance(process, stream, work=2.0)
    assert sent == sorted(sent)
    assert {message.activity for message in sent} == set(range(activities))
    assert len(sent) <= model.most_messages(process)
    finished: dict[int, float] = {}
    for message in sent:
        assert waits[message.activity] <= finished.keys()
        latest = max((finished[other] for other in waits[message.activity]), default=0.0)
        assert message.time - latest >= 0.999
        finished[message.activity] = message.time


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**64))
def test_a_loop_says_again_before_each_further_pass(seed: int) -> None:
    process = model.Process(0, (0, 0, 0), (model.Stage(((0, 1, 2),), loops=True),))
    sent = model.instance(process, Streams(seed).stream("test"), 1.0)
    said = [(message.activity, message.type) for message in sent]
    passes = len(said) // 3
    assert 1 <= passes <= model.MOST_PASSES
    further = [(0, "done"), (1, "done"), (2, "again")] * (passes - 1)
    assert said == [*further, (0, "done"), (1, "done"), (2, "done")]


# Clients


@settings(max_examples=40, deadline=None)
@given(drawn_settings)
def test_clients_publish_only_what_they_advertise(setting: Setting) -> None:
    clients = Clients()
    for act in clients.follow(SMALL.operations(setting)):
        if act.action == "publish":
            mine = [
                filter
                for broker, client, filter in clients.advertised
                if (broker, client) == (act.broker, act.client)
            ]
            assert any(filter.matches(act.attributes) for filter in mine)


@settings(max_examples=40, deadline=None)
@given(drawn_settings)
def test_every_message_finds_the_engines_that_wait_for_it(setting: Setting) -> None:
    operations = acts(SMALL, setting)
    processes = SMALL.processes(setting)
    wanted: dict[int, list[Filter]] = defaultdict(list)
    for act in done(operations, "subscribe"):
        if act.client == 0 and act.filter is not None:
            wanted[act.broker].append(act.filter)
    for act in done(operations, "publish"):
        process = processes[int(act.attributes["process"])]
        waiting = {
            process.engines[activity]
            for activity, filter in model.awaited(process)
            if filter.matches(act.attributes)
        }
        found = {
            broker
            for broker, filters in wanted.items()
            if any(filter.matches(act.attributes) for filter in filters)
        }
        assert found == waiting


def test_instances_come_once_in_a_period_and_go_through_all_activities() -> None:
    published = done(acts(SMALL), "publish")
    triggers: dict[int, list[Operation]] = defaultdict(list)
    said: dict[tuple[int, int], set[Value]] = defaultdict(set)
    for act in published:
        process, number = int(act.attributes["process"]), int(act.attributes["instance"])
        if act.attributes["type"] == "trigger":
            assert number == len(triggers[process])
            triggers[process].append(act)
        else:
            said[process, number].add(act.attributes["activity"])
    assert sorted(triggers) == [0, 1, 2, 3, 4, 5]
    for process, begun in triggers.items():
        gaps = {later.time - earlier.time for earlier, later in itertools.pairwise(begun)}
        assert gaps == {20 * NANOSECONDS}
        assert 10 <= seconds(begun[0]) < 30
        assert said[process, 0] == set(range([3, 3, 3, 10, 10, 26][process]))
    assert len({act[0].broker for act in triggers.values()}) > 1


def test_instances_that_overlap_keep_the_order_of_time() -> None:
    workload = structs.replace(SMALL, period=Span(2))
    times = [act.time for act in acts(workload)]
    assert times == sorted(times)
    numbers = [
        int(act.attributes["instance"])
        for act in done(acts(workload), "publish")
        if act.attributes["process"] == 5
    ]
    assert numbers != sorted(numbers)


def test_nothing_is_sent_after_the_stop() -> None:
    workload = structs.replace(SMALL, publish_stop=Duration(50))
    early = [act for act in acts(SMALL) if act.action != "publish" or seconds(act) < 50]
    assert acts(workload) == early


# Monitors and inspectors


def test_three_processes_in_ten_are_monitored() -> None:
    subscribed = done(acts(PUBLISHED, SETTING), "subscribe")
    monitors = [
        act for act in subscribed if str(act.filter).startswith("process = ") and act.client
    ]
    told = {str(act.filter) for act in monitors if "type" not in str(act.filter)}
    assert len(told) == len(monitors) == 60  # 30 % of 200
    assert len({(act.broker, act.client) for act in monitors}) == 60


def test_a_monitor_covers_what_the_engines_of_its_process_want() -> None:
    process = PUBLISHED.processes(SETTING)[150]
    monitor = model.told(process.number)
    assert all(covers(monitor, filter) for _, filter in model.awaited(process))
    first = next(filter for activity, filter in model.awaited(process) if activity == 0)
    assert covers(model.any_trigger(), first)
    assert covers(model.ANYTHING, monitor)
    assert covers(model.ANYTHING, model.any_trigger()) is False  # only all that name a process


def test_inspectors_subscribe_again_and_again_one_after_the_other() -> None:
    inspectors = [act for act in acts(SMALL) if act.client > 12]
    assert [(seconds(act), act.client - 13, act.action) for act in inspectors] == [
        (15.0, 0, "subscribe"),
        (25.0, 0, "unsubscribe"),
        (35.0, 1, "subscribe"),
        (45.0, 1, "unsubscribe"),
        (55.0, 0, "subscribe"),
        (65.0, 0, "unsubscribe"),
        (75.0, 1, "subscribe"),
        (85.0, 1, "unsubscribe"),
        (95.0, 0, "subscribe"),
    ]
    assert {str(act.filter) for act in inspectors} == {'type = "trigger"'}
    assert inspectors[0].broker in DOMAINS[0]
    assert inspectors[2].broker in DOMAINS[1]


def test_inspectors_of_activities_want_every_message() -> None:
    workload = structs.replace(SMALL, inspected="activities")
    filters = {act.filter for act in acts(workload) if act.client > 12}
    assert filters == {model.ANYTHING}
    published = done(acts(workload), "publish")
    assert all(model.ANYTHING.matches(act.attributes) for act in published)


# Streams


def test_the_period_moves_no_subscription() -> None:
    def changes(workload: Workflow) -> list[Operation]:
        return [act for act in acts(workload) if act.action != "publish"]

    assert changes(SMALL) == changes(structs.replace(SMALL, period=Span(7)))


def test_inspectors_move_no_message() -> None:
    published = done(acts(SMALL), "publish")
    assert done(acts(structs.replace(SMALL, inspectors=0)), "publish") == published
    assert done(acts(structs.replace(SMALL, monitored=Share(1))), "publish") == published


def test_more_processes_leave_those_before_as_they_are() -> None:
    more = structs.replace(SMALL, large=3).processes(SHORT)
    assert more[:6] == SMALL.processes(SHORT)


# What is refused


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"ramp": Duration(50)}, "ramp", "takes until 100.5 s, the run ends at 100 s"),
        (
            {"publish_start": Duration(2)},
            "publish_start",
            "comes before all is advertised; see `ramp`",
        ),
        (
            {"publish_start": Duration(99.5)},
            "publish_start",
            "publishing ends at 99 s, before it begins",
        ),
        (
            {"publish_stop": Duration(101)},
            "publish_stop",
            "takes until 101 s, the run ends at 100 s",
        ),
        (
            {"inspect_for": Span(40)},
            "inspect_for",
            "an inspector would begin again before it ends; see `inspect_every`",
        ),
        (
            {"inspect_start": Duration(1)},
            "inspect_start",
            "comes before all is advertised; see `ramp`",
        ),
    ],
)
def test_what_cannot_take_place_is_refused(
    changes: dict[str, object], key: str, problem: str
) -> None:
    SMALL.check(SHORT)
    with pytest.raises(WorkloadError) as error:
        structs.replace(SMALL, **changes).check(SHORT)
    assert (error.value.key, str(error.value)) == (key, problem)


def test_an_overlay_without_domains_is_refused() -> None:
    sites = tuple(site._replace(region=None) for site in SHORT.sites)
    with pytest.raises(WorkloadError) as error:
        SMALL.check(replace(SHORT, sites=sites))
    assert (error.value.key, str(error.value)) == (
        "kind",
        'needs an overlay with brokers of the role "edge" in domains, such as workflow',
    )


def test_any_overlay_with_edge_brokers_in_regions_will_do() -> None:
    setting = setting_on(OVERLAY49, 100.0)
    SMALL.check(setting)
    assert acts(SMALL, setting)
