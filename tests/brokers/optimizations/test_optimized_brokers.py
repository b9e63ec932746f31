"""Whatever optimizes a table, clients get what is due and no more; the rest stays in between."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from pysim.brokers.optimizations import Optimize
from pysim.filters import parse
from pysim.network import NANOSECONDS, AgentError
from pysim.units import Duration, Share, Span
from pysim.workloads.operations import Operation

from ..covering.test_properties import announced_everywhere
from ..laboratory import Laboratory
from ..plans import LINKS_UP, plans
from ..test_properties import (
    INFORMED,
    NOTIFIED,
    PATH,
    STRAWMAN,
    TIMED,
    check_all,
    check_deliveries,
    check_quiet,
    check_settled,
    simulate,
    standing,
)

POLICIES = [
    ("covering",),
    ("perfect-merging",),
    ("imperfect-merging",),
    ("predicate-replacement",),
    ("pre-pruning",),
    ("post-pruning",),
    ("pre-pruning", "covering", "post-pruning"),
    ("perfect-merging", "covering", "predicate-replacement"),
]
OF_STORAGE = [("post-pruning",), ("predicate-replacement",)]

some = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def optimizing(by: tuple[str, ...], **options: object) -> dict[str, Optimize]:
    """Optimize early and often, so that subscriptions come and go in the midst of it."""
    often = {"start": Duration(0.03), "every": Span(0.5), "share": Share(0.3)}
    return {"optimize": Optimize(by=by, limit=Share(0.3), **{**often, **options})}


@pytest.mark.parametrize("by", POLICIES, ids="+".join)
@some
@given(plan=plans())
def test_after_any_history_deliveries_are_exact(by, plan):
    run = simulate(plan, "subscription-forwarding", optimizing(by))
    check_quiet(run)
    check_deliveries(run)
    check_quiet(run)


@pytest.mark.parametrize("protocol", [STRAWMAN, "no-covering"])
@pytest.mark.parametrize("variant", ["b", "c"])
@settings(some, max_examples=50)
@given(plan=plans())
def test_so_they_are_with_each_variant_of_post_pruning(variant, protocol, plan):
    run = simulate(
        announced_everywhere(plan), protocol, optimizing(("post-pruning",), variant=variant)
    )
    check_quiet(run)
    check_deliveries(run)


@pytest.mark.parametrize("protocol", [TIMED, NOTIFIED, INFORMED])
@pytest.mark.parametrize("by", POLICIES, ids="+".join)
@settings(some, max_examples=25)
@given(plan=plans())
def test_so_they_are_if_unsubscriptions_are_deferred(by, protocol, plan):
    run = simulate(plan, protocol, optimizing(by))
    check_quiet(run)
    check_settled(run)
    check_deliveries(run)


@pytest.mark.parametrize("by", OF_STORAGE, ids="+".join)
@settings(some, max_examples=50)
@given(plan=plans(in_turn=True))
def test_and_if_tables_are_mended_along_the_path(by, plan):
    check_all(plan, PATH, optimizing(by))


@pytest.mark.parametrize("by", POLICIES, ids="+".join)
@some
@given(plan=plans())
def test_what_local_clients_registered_stands_as_it_is(by, plan):
    run = simulate(plan, "subscription-forwarding", optimizing(by))
    registered = standing(run)
    for broker, host in run.hosts.items():
        forms = {filter: form for _, filter, form in host.agent.stored()}
        for place, filter in registered:
            if place == broker:
                assert forms[filter] == filter


@pytest.mark.parametrize("by", POLICIES, ids="+".join)
@some
@given(plan=plans())
def test_on_a_tree_that_stays_nothing_comes_twice_or_unasked(by, plan):
    plan.faults.clear()
    plan.operations = [replace(o, time=o.time + LINKS_UP) for o in plan.operations]
    plan.end += LINKS_UP
    statement = simulate(plan, "subscription-forwarding", optimizing(by)).observer.statement()
    assert statement.duplicate == statement.spurious == 0


def test_with_covering_a_narrow_subscription_travels_only_while_no_wide_one_does():
    lab = Laboratory(
        [(0, 1), (1, 2)], "subscription-forwarding", optimize=Optimize(by=("covering",))
    )
    ops = [
        Operation(20_000_000, 0, "subscribe", 0, parse('body prefix "x"')),
        Operation(30_000_000, 0, "subscribe", 1, parse('body = "x"')),
        Operation(40_000_000, 0, "unsubscribe", 0, parse('body prefix "x"')),
    ]
    lab.simulation.add_operations(ops)
    sent = [(time, source, target, text.split()[0]) for time, source, target, text in lab.look(60)]
    assert sent == [
        (20, 0, 1, "SUB"),
        (21, 1, 2, "SUB"),
        (40, 0, 1, "SUB"),
        (40, 0, 1, "UNSUB"),
        (41, 1, 2, "SUB"),
        (41, 1, 2, "UNSUB"),
    ]


def test_post_pruning_sends_too_much_to_neighbors_and_nothing_to_clients():
    optimize = Optimize(by=("post-pruning",), share=Share(1.0), start=Duration(0.05), sample=100)
    lab = Laboratory([(0, 1)], "subscription-forwarding", optimize=optimize)
    wanted = parse('body = "y" and price < 5')
    operations = [Operation(15_000_000, 1, "subscribe", 0, wanted)]
    operations += [
        Operation(20_000_000 + n, 0, "publish", attributes={"body": "xyz"[n % 3], "price": n})
        for n in range(12)
    ]
    lab.simulation.add_operations(operations)
    before = [text.split()[0] for *_, text in lab.look(40)]
    assert before == ["SUB", "EVENT", "EVENT"]
    again = [replace(o, time=o.time + NANOSECONDS) for o in operations[1:]]
    lab.simulation.add_operations(again)
    after = [text for *_, text in lab.look(1100)]
    ((_, filter, form),) = lab.simulation.hosts[0].agent.stored()
    assert filter == wanted
    assert str(form) == 'body = "y"'
    assert after == ["EVENT y"] * 4
    assert len(lab.deliveries()) == 4  # two of the first round, two of the second


def test_two_optimizations_of_what_is_stored_are_refused():
    with pytest.raises(ValueError, match="choose one"):
        Optimize(by=("post-pruning", "predicate-replacement"))


def test_forgetting_what_was_told_does_not_go_with_optimizations():
    with pytest.raises(AgentError, match="the optimizations must remember it"):
        Laboratory([(0, 1)], "subscription-forwarding", literal=True, **optimizing(("covering",)))


def test_patterns_that_walk_the_path_as_they_are_do_not_go_with_summaries():
    with pytest.raises(AgentError, match="reconfiguration-path sends patterns as they are"):
        Laboratory([(0, 1)], PATH, **optimizing(("post-pruning", "covering")))


def test_what_comes_after_everything_was_pruned_is_pruned_too():
    lab = Laboratory(
        [(0, 1)], "subscription-forwarding", **optimizing(("post-pruning",), every=Span(0.05))
    )
    for at, text in ((0.02, "a = 1 and b = 1"), (0.3, "a = 2 and b = 2")):
        lab.simulation.add_operations(
            [Operation(round(at * NANOSECONDS), 1, "subscribe", 0, parse(text))]
        )
    lab.look(1000)
    forms = [str(form) for *_, form in lab.simulation.hosts[0].agent.stored()]
    assert forms == ["a = 1", "a = 2"]


def test_plans_may_become_shorter_while_they_are_carried_out():
    """Events between two prunings tell that nothing is lost by larger steps."""
    options = optimizing(("post-pruning",), every=Span(0.1), share=Share(0.5))
    lab = Laboratory([(0, 1)], "subscription-forwarding", **options)
    rest = "(d < 1 and e < 1) or (f < 1 and g < 1) or (h < 1 and i < 1)"
    texts = [f"price > 9{n} and ((b < {n} and c < 1) or {rest})" for n in range(2)]
    operations = [Operation(20_000_000, 1, "subscribe", 0, parse(text)) for text in texts]
    operations += [
        Operation(40_000_000 + n, 0, "publish", attributes={"price": 5}) for n in range(50)
    ]
    lab.simulation.add_operations(operations)
    lab.look(500)
    forms = [form for *_, form in lab.simulation.hosts[0].agent.stored()]
    assert len(forms) == 2
    assert not any("and" in str(form) for form in forms)
