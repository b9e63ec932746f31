"""Judges a broker that a student wrote, by what anyone can see on its links and at its clients.

It knows nothing of how the broker works inside. Any broker that delivers what is due and sends
what subscription forwarding sends is right.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import networkx as nx

from labkit.routing_tables import TREE, without_unsubscription
from labkit.runs import EndlessError, Hop, Stage
from labkit.verdict import AnswerError, Verdict, judged, not_answered
from pysim.brokers import Broker
from pysim.brokers.subscription_forwarding import SubscriptionForwarding
from pysim.filters import parse
from pysim.network import AgentError
from pysim.wire.messages import Event, Subscribe
from pysim.workloads.operations import Operation

_SECOND = 1_000_000_000
_FILTERS = ("price < 30", "price < 50", 'format = "audio"', "price >= 20 and price < 60")
_CASES = 12
_MOST_MESSAGES = 2_000
"""A broker that sends an event back to where it came from doubles it with every hop."""


class Case:
    """A tree, what its clients do, and what became of it with some class of brokers."""

    def __init__(self, overlay: nx.Graph, operations: list[Operation]) -> None:
        self.overlay = overlay
        self.operations = operations
        self.duration = operations[-1].time / 1e9 + 1

    def play(self, broker: type[Broker]) -> Stage:
        """Let brokers of a class act; an `AnswerError` if they raise or never come to rest."""
        stage = Stage(self.overlay, broker, self.operations, most=_MOST_MESSAGES)
        try:
            return stage.until(self.duration)
        except AgentError as error:
            if isinstance(error.__cause__, EndlessError):
                raise AnswerError(
                    f"your brokers sent more than {_MOST_MESSAGES} messages on a tree of"
                    f" {len(self.overlay)} and did not stop: does one send a message back to the"
                    " neighbor that it came from?"
                ) from None
            raise AnswerError(f"your {error}") from None

    def __str__(self) -> str:
        links = ", ".join(f"{a}-{b}" for a, b in sorted(self.overlay.edges))
        return f"on the tree {links}"


def cases() -> list[Case]:
    """The lab's own tree without its unsubscription, then random ones, the same ones each time."""
    random = (_random_case(Random(seed)) for seed in range(_CASES))
    return [Case(TREE, without_unsubscription()), *random]


def _random_case(random: Random) -> Case:
    size = random.randint(2, 8)
    overlay = nx.Graph([(random.randrange(broker), broker) for broker in range(1, size)])
    acts: list[Operation] = []
    for number in range(8):
        time, broker = (number + 1) * _SECOND, random.randrange(size)
        if number < 5:
            filter = parse(random.choice(_FILTERS))
            acts.append(Operation(time, broker, "subscribe", random.randrange(2), filter))
        else:
            content = {
                "price": random.randrange(70),
                "format": random.choice(("audio", "paperback")),
            }
            acts.append(Operation(time, broker, "publish", attributes=content))
    return Case(overlay, acts)


def check_broker(broker: type[Broker]) -> Verdict:
    """Exercise 6: a broker that routes events by subscriptions."""
    exercise = "6"
    all_cases = cases()
    try:
        if not _acts(all_cases[0].play(broker)):
            return not_answered(
                exercise,
                "So far your broker sends nothing and delivers nothing; fill in the four ...",
            )
    except AnswerError as error:
        return judged(exercise, [str(error)], "")
    return judged(
        exercise,
        _first_problem(broker, all_cases),
        f"On {len(all_cases)} trees it delivers all that is due, once, and sends exactly the"
        " messages that pysim's own subscription forwarding sends.",
    )


def _acts(stage: Stage) -> bool:
    return bool(stage.hops(0, 100) or len(stage.simulation.observer.deliveries))


def _first_problem(broker: type[Broker], all_cases: list[Case]) -> Iterator[str]:
    """The problems of the first case that has any: the others mostly have the same."""
    for case in all_cases:
        stage, right = case.play(broker), case.play(SubscriptionForwarding)
        problems = [*_deliveries(case, stage), *_hops(case, stage, right)]
        if problems:
            yield from problems
            return


def _deliveries(case: Case, stage: Stage) -> Iterator[str]:
    observer = stage.simulation.observer
    for id, home, _ in observer.missing():
        event = next(row for row in observer.events if row.id == id)
        way = nx.shortest_path(case.overlay, event.broker, home)
        crossed = {hop.link for hop in _of_event(stage, event.time)}
        reached = event.broker
        for link in pairwise(way):
            if link not in crossed:
                break
            reached = link[1]
        where = (
            f"it came to broker {home}, which did not deliver it"
            if reached == home
            else f"it did not get further than broker {reached}"
        )
        yield (
            f"{case}: an event published at broker {event.broker} with {_content(case, event.time)}"
            f" was due at broker {home} and never came: {where}"
        )
    statement = observer.statement()
    if statement.duplicate:
        yield f"{case}: {statement.duplicate} deliveries came twice; deliver an event once"
    if statement.spurious:
        yield (
            f"{case}: {statement.spurious} deliveries went to clients that did not subscribe to"
            " such events; deliver_locally finds the right ones"
        )


def _hops(case: Case, stage: Stage, right: Stage) -> Iterator[str]:
    mine = Counter(_key(hop) for hop in stage.hops(0.5, case.duration))
    true = Counter(_key(hop) for hop in right.hops(0.5, case.duration))
    for second, source, target, what in sorted((mine - true).keys()):
        again = mine[second, source, target, what] > 1 or any(
            key[1:] == (source, target, what) and key[0] < second for key in mine
        )
        if what.startswith("SUBSCRIBE"):
            why = (
                f"it had told {target} so before"
                if again
                else f"{target} is where that subscription came from"
            )
        else:
            why = f"nobody behind {target} wants it"
        yield f"{case}: broker {source} sends {target} the {what}, although {why}"
    if not mine - true:
        for _, source, target, what in sorted((true - mine).keys()):
            yield f"{case}: broker {source} should send {target} the {what}, and does not"


def _key(hop: Hop) -> tuple[int, int, int, str]:
    message = hop.message
    if isinstance(message, Subscribe):
        what = f"SUBSCRIBE {message.filter}"
    elif isinstance(message, Event):
        what = f"event {_shown(message.attributes)}"
    else:
        what = hop.name
    return int(hop.time), hop.source, hop.target, what


def _of_event(stage: Stage, time: int) -> list[Hop]:
    """Cases have one act a second, and an event is through long before the next."""
    begin = time / 1e9
    return stage.hops(begin, begin + 1, "event")


def _content(case: Case, time: int) -> str:
    return next(_shown(act.attributes) for act in case.operations if act.time == time)


def _shown(attributes: object) -> str:
    assert isinstance(attributes, dict)
    return ", ".join(f"{name} = {value}" for name, value in attributes.items())
