"""Lab 2, the subscription burst: scenarios and checks. What is right is taken from runs.

The first exercise, on covering itself, is in `covering`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any

import pandas as pd

from labkit.runs import Link, Stage, captured_messages, plan, run, stage
from labkit.verdict import AnswerError, Verdict, call, expect, is_open, judged, listed, not_answered
from pysim.brokers.covering.statistics import pruning_distance
from pysim.experiments.plan import Plan
from pysim.wire.messages import CountedEvent

if TYPE_CHECKING:
    from analysis.api import Run

NAME = "subscription-burst"
LINE = plan(NAME).ground.overlay
RATE = float(plan(NAME).config.experiment.network.rate)
"""Bits that a link carries in a second."""
WITHDRAWN = 40.0
"""When the root goes, in seconds; nothing is published for a second."""
PROTOCOLS = (
    "no-covering",
    "active-covering",
    "lazy-covering",
    "subscription-packing",
    "incremental-unsubscription",
)
_ALL = "x >= 0 and x <= 100"
_EVENTS = ("event", "counted-event")


# The burst: a root and its children at one end of a line


def burst_plan(children: int, hops: int = 8, protocol: str = "active-covering") -> Plan:
    """A root at `hops` links from the publisher, and as many children that it covers there."""
    return plan(NAME, protocol__name=protocol, workload__steps=_burst_steps(children, hops))


def _burst_steps(children: int, home: int) -> list[dict[str, Any]]:
    """Of what is published, 96 % is wanted by a child and the rest by the root alone."""
    width = 96 / max(1, children)
    wanted = [(f"{n * width:.6g}", f"{(n + 1) * width:.6g}") for n in range(children)]
    published = [10 + 0.5 * n for n in range(58)] + [42 + 0.5 * n for n in range(30)]
    return [
        {"time": "1 s", "broker": 0, "advertise": _ALL},
        {"time": "2 s", "broker": home, "subscribe": _ALL},
        *(
            {
                "time": f"{3 + 0.01 * n:.2f} s",
                "broker": home,
                "client": n + 1,
                "subscribe": f"x >= {low} and x < {high}",
            }
            for n, (low, high) in enumerate(wanted)
        ),
        *(
            {"time": f"{time} s", "broker": 0, "publish": {"x": n * 37 % 100}}
            for n, time in enumerate(published)
        ),
        {"time": f"{WITHDRAWN} s", "broker": home, "unsubscribe": _ALL},
    ]


def run_burst(children: int, protocol: str) -> "Run":
    """The burst on ns-3, with captures."""
    return run(burst_plan(children, protocol=protocol), f"burst/{protocol}")


def costs(runs: Mapping[str, "Run"]) -> pd.DataFrame:
    """What protocols send while clients subscribe, when the root goes, and in vain after it."""
    rows = []
    for name, done in runs.items():
        subscribing, burst, after = (
            captured_messages(done, *window) for window in ((2, 10), (WITHDRAWN, 41), (41, 60))
        )
        control = burst[~burst.name.isin(_EVENTS)]
        events = after[after.name.isin(_EVENTS)]
        needed = 8 * len(done.table("deliveries").query("published >= 41e9"))
        rows.append(
            (
                name,
                len(subscribing[~subscribing.name.isin(_EVENTS)]),
                len(control),
                int(control.length.sum()),
                len(events) - needed,
            )
        )
    columns = ["protocol", "while subscribing", "burst", "burst, bytes", "events in vain"]
    return pd.DataFrame(rows, columns=columns).set_index("protocol")


@cache
def burst_messages(children: int, hops: int, protocol: str = "active-covering") -> int:
    """The control messages after the withdrawal, each hop counted, on the memory network."""
    played = stage(burst_plan(children, hops, protocol)).until(41)
    return sum(hop.name not in _EVENTS for hop in played.hops(WITHDRAWN, 41))


def check_burst(function: Callable[[int, int], Any]) -> Verdict:
    """Exercise 2: how many messages a withdrawal triggers."""
    task = "Write a formula for the messages that active covering sends, each hop counted."
    try:
        if call(function, 1, 1) in (None, ...):
            return not_answered("2", task)
    except AnswerError as error:
        return judged("2", [str(error)], "")
    return judged(
        "2",
        _wrong_burst(function),
        f"With 2,100 children, as in the covering paper, that makes {8 * 2101:,} messages on a line"
        " of nine brokers, because one client changed its mind.",
    )


def _wrong_burst(function: Callable[[int, int], Any]) -> Iterator[str]:
    guesses: Mapping[str, Callable[[int, int], int]] = {
        "the unsubscription itself crosses every link, too": lambda n, hops: n * hops,
        "you count brokers; a message counts once on every link, and there is one link fewer": (
            lambda n, hops: (n + 1) * (hops + 1)
        ),
        "that is on one link; every link on the way to the publisher carries them": (
            lambda n, hops: n + 1
        ),
    }
    cases = [(5, 3), (3, 5), (20, 8), (1, 1), (0, 4)]
    given = {case: call(function, *case) for case in cases}
    wrong = [case for case in cases if given[case] != burst_messages(*case)]
    if not wrong:
        return
    for words, guess in guesses.items():
        if all(given[case] == guess(*case) for case in cases):
            yield words
    children, hops = wrong[0]
    yield (
        f"with children = {children} and hops = {hops} the run has"
        f" {burst_messages(children, hops)} messages, your formula says {given[children, hops]}"
    )


def check_busy(answer: object, packets: pd.DataFrame) -> Verdict:
    """Exercise 3: for how long the burst occupies the first link."""
    if is_open(answer):
        return not_answered("3", "Compute for how many seconds the link from 8 to 7 sends.")
    return judged(
        "3",
        _wrong_busy(answer, packets),
        "For that long nothing else can use the link, an event that is in a hurry included. On"
        " each of the eight links it happens again.",
    )


def _wrong_busy(answer: object, packets: pd.DataFrame) -> Iterator[str]:
    given = float(expect(answer, Real, "a number of seconds"))
    inside = packets[packets.time.between(WITHDRAWN * 1e9, 41e9, inclusive="left")]
    out = inside[inside.direction == "out"]
    right = out.length.sum() * 8 / RATE
    if _near(given, right):
        return
    guesses = {
        right / 8: "lengths are in bytes, and the rate is in bits: a byte has 8",
        right * 1000: "that is in milliseconds; write it in seconds",
        inside.length.sum() * 8 / RATE: "that counts both directions; a link sends each way at its"
        " full rate, so look at the packets that go out",
        (out.body + out.frame_header).sum() * 8 / RATE: "that is without the headers of PPP, IP"
        " and TCP; the link sends them, too",
        packets[packets.direction == "out"].length.sum() * 8 / RATE: "that is the whole run; the"
        " burst is from 40 s to 41 s, and times are in nanoseconds",
        float(out.length.sum()): "that is the number of bytes; how long does a link of 10 Mbit/s"
        " need for them?",
    }
    words = next((words for value, words in guesses.items() if _near(given, value)), None)
    yield words or (
        f"yours is {given:g} s: add up the length of the packets that go out from 40 s to 41 s,"
        f" in bits, and divide by the rate of {RATE:,.0f} bit/s"
    )


def _near(given: float, value: float) -> bool:
    return abs(given - value) <= 1e-3 * abs(value)


# Incremental unsubscription: one root, and others on its way that want a part of it


def incremental_plan(threshold: float = 0.8) -> Plan:
    """S at broker 8 wants all; J at 2, K at 6 and L at 1 want a part of it."""
    wanted = {
        8: _ALL,
        2: "x >= 0 and x <= 40",
        6: "x >= 0 and x <= 20",
        1: "x >= 90 and x <= 100",
    }
    steps: list[dict[str, Any]] = [{"time": "1 s", "broker": 0, "advertise": _ALL}]
    steps += [{"time": "2 s", "broker": home, "subscribe": text} for home, text in wanted.items()]
    for second, x in enumerate((30, 10, 10, 30, 95)):
        steps.append({"time": f"{10 + second} s", "broker": 0, "publish": {"x": x}})
    steps.append({"time": "20 s", "broker": 8, "unsubscribe": _ALL})
    steps.append({"time": "22 s", "broker": 0, "publish": {"x": 50}})
    protocol = {"name": "incremental-unsubscription", "threshold": threshold}
    return plan(NAME, protocol=protocol, workload__steps=steps)


@cache
def _incremental() -> Stage:
    return stage(incremental_plan()).until(25)


def distances() -> list[int]:
    """For each publication, how far from broker 8 the next one was who wanted it.

    A frame says how far it was at the broker that sent it, and 8 itself is one hop further.
    """
    arriving = [hop.message for hop in _incremental().hops(10, 20) if hop.link == (7, 8)]
    return [event.distance + 1 for event in arriving if isinstance(event, CountedEvent)]


def check_distances(answer: object) -> Verdict:
    """Exercise 4: the distances of publications."""
    if is_open(answer):
        return not_answered("4", "Write down the distance of each publication at broker 8.")
    return judged(
        "4",
        _wrong_distances(answer),
        "The distance says how far an unsubscription of S must go until it meets somebody who"
        " wants the same publication.",
    )


def _wrong_distances(answer: object) -> Iterator[str]:
    given: Mapping[int, object] = expect(answer, Mapping, "a dict, {30: 5, 10: ..., 95: ...}")
    for x, right in zip((30, 10, 95), [distances()[place] for place in (0, 1, 4)], strict=True):
        said, last = given.get(x, ...), 8 - right
        if not isinstance(said, int):
            yield f"x = {x}: not answered yet"
        elif said == last and said != right:
            yield f"x = {x}: {said} is counted from the publisher; count hops back from broker 8"
        elif said == right + 1:
            yield f"x = {x}: from broker {last} to 8 there are {right} links; you count brokers"
        elif said != right:
            yield (
                f"x = {x}: the last broker before 8 at which somebody else wants it is {last},"
                f" {right} hops away; you say {said}"
            )


def check_pruning_distance(function: Callable[[list[int], float], Any]) -> Verdict:
    """Exercise 5: from distances to the distance that an unsubscription travels."""
    try:
        if call(function, [1, 2], 1.0) in (None, ...):
            return not_answered("5", "Write the function that finds the pruning distance.")
    except AnswerError as error:
        return judged("5", [str(error)], "")
    return judged(
        "5",
        _wrong_pruning(function),
        f"With a threshold of 80 % the example's distances {distances()} give"
        f" {pruning_distance(distances(), 0.8)}.",
    )


def _wrong_pruning(function: Callable[[list[int], float], Any]) -> Iterator[str]:
    cases = [
        (distances(), 0.8),
        ([6, 2, 2, 6, 7], 0.4),
        ([6, 2, 2, 6, 7], 1.0),
        ([3, 1, 2], 0.5),
        ([0, 0, 0, 5], 0.75),
        ([4], 0.9),
    ]
    for given, threshold in cases:
        right, said = pruning_distance(given, threshold), call(function, list(given), threshold)
        if said == right:
            continue
        within = sum(distance <= right for distance in given) / len(given)
        enough = isinstance(said, Real) and (
            sum(distance <= float(said) for distance in given) / len(given) >= threshold
        )
        why = (
            f"{said} is enough, too, but {right} is smaller"
            if enough
            else f"only a part below {threshold:.0%} of them is within {said}"
        )
        yield (
            f"for distances {given} and a threshold of {threshold:.0%} it is {right}, since"
            f" {within:.0%} of them are at most {right}; yours gives {said}: {why}"
        )


def check_stop(answer: object) -> Verdict:
    """Exercise 6: how far the unsubscription goes, and what it costs."""
    if is_open(answer):
        return not_answered("6", "Say where the unsubscription ends, and where x = 50 still goes.")
    return judged(
        "6",
        _wrong_stop(answer),
        "That is the bargain: fewer messages now, and some publications that travel a part of the"
        " way for nobody.",
    )


def _wrong_stop(answer: object) -> Iterator[str]:
    given: Mapping[str, object] = expect(answer, Mapping, 'a dict with "stops at" and "in vain"')
    going = _incremental().hops(20, 21, "pruned-unsubscribe")
    right = going[-1].target
    said = given.get("stops at", ...)
    reach = pruning_distance(distances(), 0.8)
    if said != right:
        yield (
            f'"stops at": the pruning distance is {reach}, so it leaves broker 8 with {reach - 1}'
            f" and loses one at each hop; the broker that gets it with 0 is not {_said(said)}"
        )
    vain: set[Link] = {hop.link for hop in _incremental().hops(22, 23)}
    links = given.get("in vain", ...)
    if links is ... or not isinstance(links, set | frozenset | list | tuple):
        yield '"in vain": write the links as a set of pairs, {(5, 6), (6, 7)}'
    elif set(links) != vain:
        yield from _wrong_vain(set(links), vain, right)


def _wrong_vain(given: set[Any], right: set[Link], stop: int) -> Iterator[str]:
    backwards = {(b, a) for a, b in right}
    if given & backwards:
        yield '"in vain": the event comes from broker 0; you have links in the other direction'
        return
    if missing := sorted(right - given):
        yield (
            f'"in vain": brokers before {stop} still hold S, so x = 50 also crosses'
            f" {listed(missing)}"
        )
    if extra := sorted(given - right, key=str):
        yield (
            f'"in vain": at broker {stop} S is an orphan that routes nothing, so x = 50 does not'
            f" cross {listed(extra)}"
        )


def _said(answer: object) -> str:
    return "answered yet" if answer is ... else str(answer)
