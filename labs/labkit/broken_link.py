"""Lab 3, a link breaks: scenarios and checks. What is right is taken from runs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING

import networkx as nx

from labkit.runs import Link, captured_messages, captured_packets, plan, run, stage
from labkit.verdict import Verdict, expect, is_open, judged, listed, not_answered
from pysim.experiments.plan import Plan

if TYPE_CHECKING:
    from analysis.api import Run

NAME = "a-link-breaks"
MANY = "many-links-break"
TREE: nx.Graph = plan(NAME).ground.overlay
OLD, NEW = (1, 4), (2, 4)
BREAK, REPAIR = 3.0, 0.1
"""When the link breaks, and how long it takes until the new one is set up, in seconds."""
GAP = 0.02
"""Seconds from one event to the next."""
STRAWMAN = "subscription-forwarding"
TDU = "timed-deferred-unsubscription"
ILA = "informed-link-activation"
TIMERS = (0.025, 0.05, 0.075, 0.09, 0.11, 0.125, 0.15, 0.2)
"""Values of T_u, in seconds."""


# One link


def one_link(protocol: str) -> Plan:
    """Broker 4 loses its link while events come from broker 3."""
    events = [
        {"time": f"{2 + GAP * n:.2f} s", "broker": 3, "publish": {"price": n % 30}}
        for n in range(round(3 / GAP))
    ]
    subscription = {"time": "1 s", "broker": 4, "subscribe": "price < 30"}
    return plan(NAME, protocol__name=protocol, workload__steps=[subscription, *events])


def run_one_link(protocol: str) -> "Run":
    """That on ns-3, with captures."""
    return run(one_link(protocol), f"one-link/{protocol}")


@cache
def control(protocol: str) -> tuple[tuple[str, Link], ...]:
    """What brokers say to each other after the break: name and link, in order."""
    hops = stage(one_link(protocol)).until(5).hops(BREAK, 5)
    return tuple((hop.name, hop.link) for hop in hops if hop.name != "event")


def links_of(protocol: str, name: str) -> set[Link]:
    """The links that messages of a type cross after the break."""
    return {link for said, link in control(protocol) if said == name}


def check_strawman(answer: object) -> Verdict:
    """Exercise 1: what STRAWMAN says when a link breaks, and when the new one is there."""
    if is_open(answer):
        return not_answered("1", "Write down who tells whom, as pairs (from, to).")
    total = len(control(STRAWMAN))
    return judged(
        "1",
        _wrong_strawman(answer),
        f"{total} messages, and in the end the tables of brokers {listed(_unchanged())} are what"
        " they were before.",
    )


def _unchanged() -> list[int]:
    """The brokers whose tables are the same before the break and at the end."""
    before, after = (stage(one_link(STRAWMAN)).until(time).tables() for time in (BREAK - 0.1, 5))
    return [broker for broker in TREE if before[broker] == after[broker]]


def _wrong_strawman(answer: object) -> Iterator[str]:
    given: Mapping[str, object] = expect(
        answer, Mapping, 'a dict, {"unsubscribe": {(1, 0), ...}, "subscribe": {...}}'
    )
    for name in ("unsubscribe", "subscribe"):
        said, right = given.get(name, ...), links_of(STRAWMAN, name)
        if not isinstance(said, set | frozenset | list | tuple):
            yield f'"{name}": write a set of pairs, {{(1, 0), (0, 2)}}'
            continue
        for link in sorted(set(said) - right, key=str):
            yield f'"{name}": {_needless(name, link, right)}'
        for a, b in sorted(right - set(said)):
            if (b, a) not in said:
                yield f'"{name}": {_missing(name, a, b)}'


def _needless(name: str, link: object, right: set[Link]) -> str:
    if not (isinstance(link, tuple) and len(link) == 2):
        return f"{link!r} is no pair of brokers"
    a, b = link
    if (b, a) in right:
        return f"on the link {a}-{b} the message goes from {b} to {a}"
    if {a, b} == set(OLD):
        return f"the link {a}-{b} is gone, nothing can be sent over it"
    if {a, b} == set(NEW) and name == "unsubscribe":
        return f"the link {a}-{b} is new, and nobody was told anything over it yet"
    if not TREE.has_edge(a, b) and {a, b} != set(NEW):
        return f"there is no link between {a} and {b}"
    return f"{a} has nothing to tell {b}: it was not {a} from whom {b} knew of the subscription"


def _missing(name: str, a: int, b: int) -> str:
    if name == "unsubscribe":
        return (
            f"{a} must tell {b}: it had told {b} that price < 30 is wanted, and with the link"
            f" {OLD[0]}-{OLD[1]} everybody on {a}'s side who wanted it is gone"
        )
    return f"{a} must tell {b}: after the unsubscription {b} knows of nobody who wants price < 30"


def check_deferred(answer: object) -> Verdict:
    """Exercise 2: how much TDU says."""
    if is_open(answer):
        return not_answered("2", "Write down how many SUBSCRIBE and UNSUBSCRIBE you expect.")
    return judged(
        "2",
        _wrong_deferred(answer),
        f"{len(control(TDU))} messages where STRAWMAN had {len(control(STRAWMAN))}: by the time"
        " that the unsubscriptions go out, the new way is known, and most brokers hear of nothing.",
    )


def _wrong_deferred(answer: object) -> Iterator[str]:
    given: Mapping[str, object] = expect(answer, Mapping, '{"subscribe": 3, "unsubscribe": 2}')
    counts, strawman = (Counter(name for name, _ in control(each)) for each in (TDU, STRAWMAN))
    for name in ("subscribe", "unsubscribe"):
        said, right = given.get(name, ...), counts[name]
        if said == right:
            continue
        if not isinstance(said, int):
            yield f'"{name}": write a number'
        elif said == strawman[name]:
            yield (
                f'"{name}": {said} is what STRAWMAN sends; here {listed(_untouched())} still have'
                " their entries when the new link comes, and need not be told"
            )
        else:
            yield f'"{name}": you say {said}, it is {right}: {_hint(name)}'


def _untouched() -> list[int]:
    """The brokers that hear nothing new after the break."""
    told = {link[1] for _, link in control(TDU)}
    return [broker for broker in TREE if broker not in told and broker not in OLD]


def _hint(name: str) -> str:
    way = ", ".join(f"{a} to {b}" for said, (a, b) in control(TDU) if said == name)
    if name == "subscribe":
        return f"{way}. Both ends of the new link tell each other what is wanted on their side"
    return f"{way}. Each goes back along the old way, up to the broker that has a client"


# Lost events


def check_lost(answer: object, lost: int) -> Verdict:
    """Exercise 3: how many events the break costs; `lost` is what the run says."""
    if is_open(answer):
        return not_answered("3", "How many events does the client of broker 4 never get?")
    return judged(
        "3",
        _wrong_lost(answer, lost),
        "The deferred protocols lose the same: they save messages, not events. What is lost"
        " depends on the time until the new way is known at the publisher's broker.",
    )


def _wrong_lost(answer: object, lost: int) -> Iterator[str]:
    given = expect(answer, Real, "a number of events")
    if given == lost:
        return
    if given == round(REPAIR / GAP):
        yield (
            f"{given} is {REPAIR * 1000:.0f} ms / {GAP * 1000:.0f} ms; but the event at 3.00 s"
            " leaves when the link breaks, and the one at 3.10 s before the new way is known."
            " Count both ends"
        )
    elif given == 0:
        yield "events that are published while there is no way to broker 4 are not kept for it"
    else:
        last = BREAK + GAP * (lost - 1)
        yield (
            f"the run lost {lost}, those published from {BREAK:.2f} s to {last:.2f} s; you say"
            f" {given}"
        )


# In the capture


def check_capture(answer: object, run: "Run") -> Verdict:
    """Exercise 4: what the capture of the new link shows."""
    if is_open(answer):
        return not_answered("4", "Ask the capture: how many SYN, and when is the first payload?")
    return judged(
        "4",
        _wrong_capture(answer, run),
        "A new link costs a round trip before it carries anything: that, too, is time in which"
        " events are lost.",
    )


def _wrong_capture(answer: object, run: "Run") -> Iterator[str]:
    given: Mapping[str, object] = expect(answer, Mapping, '{"syn": 1, "milliseconds": 1.5}')
    packets = captured_packets(run, "b4-b2")
    with_payload = packets[(packets.frame_header + packets.body) > 0]
    first = (with_payload.time.min() - packets.time.min()) / 1e6
    syn, said = given.get("syn", ...), given.get("milliseconds", ...)
    count = int((packets.role == "handshake").sum()) - 1  # the last one of three is a bare ACK
    if syn != count:
        yield f'"syn": it is in {count} packets, the SYN and the SYN/ACK; you say {_said(syn)}'
    if not isinstance(said, Real):
        yield '"milliseconds": write a number'
    elif abs(float(said) - first) > 0.01:
        yield f'"milliseconds": {_time_problem(float(said), first, packets.time.min() / 1e6)}'


def _said(answer: object) -> str:
    return "nothing" if answer is ... else str(answer)


def _time_problem(given: float, right: float, begin: float) -> str:
    for factor, unit in ((1e6, "nanoseconds"), (1e-3, "seconds"), (1e3, "microseconds")):
        if abs(given - right * factor) < 0.01 * right * factor:
            return f"that is in {unit}"
    if abs(given - right - begin) < 0.01 * begin:
        return "that is since the start of the simulation; subtract the time of the first packet"
    return (
        f"from the first packet to the first one with payload_length > 0 it is not {given:g}; the"
        " smallest of a column is agg({'time': 'min'})"
    )


# The timer


@cache
def timer_cost(seconds: float) -> int:
    """Control messages of TDU with that T_u, when many links break, on the memory network."""
    protocol = {"name": TDU, "unsubscribe_after": seconds}
    hops = stage(plan(MANY, protocol=protocol)).until(8).hops(BREAK, 8)
    return sum(hop.name != "event" for hop in hops)


def check_timer(answer: object) -> Verdict:
    """Exercise 5: from which T_u on deferring pays."""
    if is_open(answer):
        return not_answered("5", f"Which is the smallest of {listed(TIMERS)} that saves messages?")
    return judged(
        "5",
        _wrong_timer(answer),
        "It is the first that is longer than the repair takes. A timer that ends before the new"
        " link is there defers for nothing.",
    )


def _wrong_timer(answer: object) -> Iterator[str]:
    given = float(expect(answer, Real, "a number of seconds, 0.05"))
    costs = {timer: timer_cost(timer) for timer in TIMERS}
    middle = (max(costs.values()) + min(costs.values())) / 2
    right = next(timer for timer in TIMERS if costs[timer] < middle)
    if given == right:
        return
    if given * 0.001 in TIMERS or given > 1:
        yield f"write the time in seconds; yours is {given:g} s"
    elif given not in costs:
        yield f"choose one of {listed(TIMERS)}"
    elif given < right:
        yield (
            f"with T_u = {given:g} s there are {costs[given]:,} messages, hardly fewer than with"
            f" {TIMERS[0]:g} s ({costs[TIMERS[0]]:,})"
        )
    else:
        yield (
            f"{given:g} s saves messages ({costs[given]:,}), but a shorter one of them does as well"
        )


# Improvement


def run_many(protocol: str) -> "Run":
    """Many links break, on ns-3, with captures."""
    return run(plan(MANY, protocol__name=protocol), f"many-links/{protocol}")


def check_improvement(answer: object, runs: Mapping[str, "Run"]) -> Verdict:
    """Exercise 6: what the other protocols save."""
    if is_open(answer):
        return not_answered("6", "Compute what TDU and ILA save of STRAWMAN's bytes.")
    return judged(
        "6",
        _wrong_improvement(answer, runs),
        "One tree and one seed, so take the numbers with care: the paper has 30 seeds for each"
        " point, and pysim reproduce reconfiguration/fig14 runs them all.",
    )


def _wrong_improvement(answer: object, runs: Mapping[str, "Run"]) -> Iterator[str]:
    given: Mapping[str, object] = expect(answer, Mapping, f'{{"{TDU}": 0.1, "{ILA}": 0.2}}')
    said_by = {name: captured_messages(run, BREAK, 8) for name, run in runs.items()}
    tables = {name: table[table.name != "event"] for name, table in said_by.items()}
    size = {name: float(table.length.sum()) for name, table in tables.items()}
    count = {name: float(len(table)) for name, table in tables.items()}
    everything = {name: float(table.length.sum()) for name, table in said_by.items()}
    for name in (TDU, ILA):
        said, right = given.get(name, ...), 1 - size[name] / size[STRAWMAN]
        if not isinstance(said, Real):
            yield f"{name}: not answered yet"
            continue
        value = float(said)
        if abs(value - right) < 0.0005:
            continue
        guesses = {
            size[name] / size[STRAWMAN]: "that is what is left, not what is saved",
            1 - count[name] / count[STRAWMAN]: "that is what is saved in messages; use bytes",
            1 - everything[name] / everything[STRAWMAN]: "that counts events, too; only control"
            " messages are a protocol's own",
            100 * right: "write a share between 0 and 1, not percent",
            size[STRAWMAN] / size[name] - 1: "that is how much more STRAWMAN sends; the saving is"
            " relative to STRAWMAN",
        }
        words = next(
            (w for v, w in guesses.items() if abs(value - v) < 0.0005 * max(1, abs(v))), ""
        )
        yield f"{name}: {words or _how(value)}"


def _how(value: float) -> str:
    return (
        f"yours is {value:.4g}; it is 1 - (bytes of this protocol) / (bytes of STRAWMAN), of all"
        " messages that are no events"
    )
