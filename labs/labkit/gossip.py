"""Lab 4, gossip: groups that gossip, the comparison with direct delivery, and the checks."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from numbers import Real
from statistics import mean
from typing import TYPE_CHECKING, Any, ClassVar

import networkx as nx
import pandas as pd

from labkit.runs import plan, run
from labkit.verdict import AnswerError, Verdict, call, expect, is_open, judged, not_answered
from pysim.brokers import Broker
from pysim.gossip import GossipSettings, Lpbcast
from pysim.network import MemoryTransport, Simulation, World
from pysim.wire import Envelope, MessageId

if TYPE_CHECKING:
    from analysis.api import Run

MEMBERS = 40
RUNS = 10
ROUNDS = 8
UNPOPULAR = "unpopular"
_GROUP = MessageId(0, 1)
"""Broker 0 publishes."""


# Groups on the memory network


class Member(Broker):
    """A member of one lpbcast group that pushes only: it asks nobody for what it misses."""

    name: ClassVar[str] = "lab-gossip-member"
    needs_tree: ClassVar[bool] = False

    def __init__(self, world: World, settings: GossipSettings) -> None:
        super().__init__(world)
        self.gossip = Lpbcast(world, _GROUP, lambda number, payload: None, settings)

    def on_gossip(self, sender: int, envelope: Envelope) -> None:
        self.gossip.handle(sender, envelope.message)  # type: ignore[arg-type]


@cache
def spread(
    fanout: int, loss: float = 0.0, once: bool = False, members: int = MEMBERS, seed: int = 1
) -> tuple[int, ...]:
    """How many have a message, after 0, 1, 2, ... rounds in step, in one run.

    Who has it gossips it `once`, or in every round. Nobody hears of it by a digest: what a digest
    names is in the same gossip.
    """
    settings = GossipSettings(
        view=members - 1,
        fanout=fanout,
        interval=1.0,
        forwards=1 if once else ROUNDS,
        digest=0 if once else 1,
        digest_rounds=1,
        silent_rounds=10 * ROUNDS,
    )
    network = MemoryTransport(seed, latency=lambda a, b: 0.001, loss=loss)
    simulation = Simulation(
        network, nx.empty_graph(members), lambda world: Member(world, settings), seed
    )
    simulation.run(0.1)
    everyone = [_member(simulation, broker) for broker in range(members)]
    for member in everyone:
        member.start(phase=0.9)
        member.enter(other for other in range(members) if other != member.world.id)
    everyone[0].publish(b"news")
    curve = [1]
    for number in range(1, ROUNDS + 1):
        simulation.run(number + 0.5)
        curve.append(sum(1 in member.received for member in everyone))
    return tuple(curve)


def _member(simulation: Simulation, broker: int) -> Lpbcast:
    agent = simulation.hosts[broker].agent
    assert isinstance(agent, Member)
    return agent.gossip


def mean_spread(fanout: int, loss: float = 0.0, once: bool = False) -> list[float]:
    """The same, the mean of some runs with different seeds."""
    curves = [spread(fanout, loss, once, seed=seed) for seed in range(RUNS)]
    return [mean(column) for column in zip(*curves, strict=True)]


# Exercises 1 and 2: one round


def check_hit(function: Callable[[int, int, float], Any]) -> Verdict:
    """Exercise 1: the chance that one gossip hits one member."""
    try:
        if call(function, 40, 3, 0.0) in (None, ...):
            return not_answered("1", "Write the chance p as a formula of members, fanout and loss.")
    except AnswerError as error:
        return judged("1", [str(error)], "")
    return judged(
        "1",
        _wrong_hit(function),
        "p is small, and that is the point: nobody has to send much.",
    )


def chance(members: int, fanout: int, loss: float) -> float:
    """The published p: each of the others is as likely to be drawn."""
    return fanout / (members - 1) * (1 - loss)


def _wrong_hit(function: Callable[[int, int, float], Any]) -> Iterator[str]:
    cases = [(40, 3, 0.25), (40, 3, 0.0), (10, 2, 0.1), (5, 4, 0.0)]
    given = {case: call(function, *case) for case in cases}
    if all(_close(given[case], chance(*case)) for case in cases):
        return
    guesses: Mapping[str, Callable[[int, int, float], float]] = {
        "a member does not gossip to itself: it draws among members - 1": (
            lambda n, fanout, loss: fanout / n * (1 - loss)
        ),
        "you left out the loss: a gossip arrives with the chance 1 - loss": (
            lambda n, fanout, loss: fanout / (n - 1)
        ),
        "loss is the share that does not arrive": (lambda n, fanout, loss: fanout / (n - 1) * loss),
    }
    for words, guess in guesses.items():
        if all(_close(given[case], guess(*case)) for case in cases):
            yield words
            return
    case = next(case for case in cases if not _close(given[case], chance(*case)))
    members, fanout, loss = case
    yield (
        f"of {members} members one sends to {fanout} others, and {loss:.0%} is lost: a certain"
        f" other one is hit with the chance {chance(*case):.4f}; yours is {given[case]}"
    )


def check_next_round(function: Callable[[float, int, int, float], Any]) -> Verdict:
    """Exercise 2: how many have the message after another round."""
    try:
        if call(function, 1, 40, 3, 0.0) in (None, ...):
            return not_answered("2", "Write how many have it after a round, if so many had it.")
    except AnswerError as error:
        return judged("2", [str(error)], "")
    return judged(
        "2",
        _wrong_round(function),
        "It is drawn below, beside what groups really did. It runs a little ahead of them: it"
        " reckons with the mean where chance decides.",
    )


def after_round(infected: float, members: int, fanout: int, loss: float) -> float:
    """The published expectation: all that have it gossip, each misses with the chance 1 - p."""
    missed: float = (1 - chance(members, fanout, loss)) ** infected
    return infected + (members - infected) * (1 - missed)


def expected(fanout: int, loss: float = 0.0, step: Callable[..., Any] = after_round) -> list[float]:
    """The curve that a formula for one round gives; empty if it gives no numbers."""
    curve = [1.0]
    for _ in range(ROUNDS):
        after = step(curve[-1], MEMBERS, fanout, loss)
        if not isinstance(after, Real):
            return []
        curve.append(float(after))
    return curve


def _wrong_round(function: Callable[[float, int, int, float], Any]) -> Iterator[str]:
    cases = [(1, 40, 3, 0.0), (10, 40, 3, 0.0), (40, 40, 3, 0.0), (20, 40, 2, 0.25)]
    given = {case: call(function, *case) for case in cases}
    wrong = [case for case in cases if not _close(given[case], after_round(*case))]
    if not wrong:
        return
    infected, members, fanout, loss = wrong[0]
    said = given[wrong[0]]
    new = after_round(*wrong[0]) - infected
    if _close(said, new):
        yield "that is how many are new; those that had it before still have it"
    elif _close(said, infected + infected * fanout * (1 - loss)):
        yield (
            "that lets every gossip hit somebody new; but some hit members that have it, or the"
            " same one twice"
        )
    elif isinstance(said, Real) and not infected <= float(said) <= members:
        yield (
            f"of {members} members {said:g} would have it; there cannot be more, nor fewer than"
            " before"
        )
    else:
        yield (
            f"if {infected} of {members} have it, fan-out {fanout}, loss {loss:.0%}: one of the"
            f" others is missed by all of them with the chance (1 - p) ** {infected}, so"
            f" {after_round(*wrong[0]):.3f} have it afterwards; yours is {said}"
        )


def _close(given: Any, right: float) -> bool:
    return isinstance(given, Real) and math.isclose(float(given), right, abs_tol=1e-6)


# Exercises 3 and 4: how many it reaches


def check_final_share(answer: object) -> Verdict:
    """Exercise 3: the share that has it in the end, if each forwards it once."""
    if is_open(answer):
        return not_answered("3", "Solve x = 1 - exp(-F x) for the fan-outs 2, 3 and 4.")
    return judged(
        "3",
        _wrong_share(answer),
        f"In groups of {MEMBERS} it was "
        + ", ".join(f"{mean_spread(f, once=True)[-1] / MEMBERS:.3f}" for f in (2, 3, 4))
        + ". Gossip alone leaves some out, however long you wait; lpbcast lets them ask for what"
        " digests name.",
    )


def final_share(fanout: int) -> float:
    """The greatest solution of x = 1 - exp(-F x), by iteration from above."""
    share = 1.0
    for _ in range(1000):
        share = 1 - math.exp(-fanout * share)
    return share


def _wrong_share(answer: object) -> Iterator[str]:
    given: Mapping[int, object] = expect(answer, Mapping, "a dict, {2: 0.5, 3: 0.6, 4: 0.7}")
    for fanout in (2, 3, 4):
        said, right = given.get(fanout, ...), final_share(fanout)
        if not isinstance(said, Real):
            yield f"fan-out {fanout}: not answered yet"
        elif abs(float(said) - right) <= 0.0015:
            continue
        elif abs(float(said)) < 1e-9:
            yield f"fan-out {fanout}: x = 0 solves it, too, but the message has begun to spread"
        elif abs(float(said) - 100 * right) < 0.2:
            yield f"fan-out {fanout}: write a share between 0 and 1, not percent"
        else:
            left = 1 - math.exp(-fanout * float(said))
            yield (
                f"fan-out {fanout}: with x = {float(said):g}, 1 - exp(-{fanout} x) is {left:.4f},"
                " which is another number. Put that in for x, and again, until nothing changes"
            )


LOSS, WANTED = 0.25, 0.97


def check_fanout(answer: object) -> Verdict:
    """Exercise 4: the fan-out that a lossy network needs."""
    if is_open(answer):
        return not_answered(
            "4", f"Find the smallest fan-out with which {WANTED:.0%} get it, if {LOSS:.0%} is lost."
        )
    return judged(
        "4",
        _wrong_fanout(answer),
        f"A loss of {LOSS:.0%} is like a fan-out that is a quarter smaller: F (1 - loss) is what"
        " counts.",
    )


def _wrong_fanout(answer: object) -> Iterator[str]:
    given = expect(answer, int, "a whole number")
    if not 1 <= given <= 8:
        yield "look among the fan-outs 1 to 8"
        return
    reached = mean_spread(given, LOSS, once=True)[-1] / MEMBERS
    if reached < WANTED:
        yield f"with fan-out {given} only {reached:.1%} got it in the mean of {RUNS} runs"
        return
    below = mean_spread(given - 1, LOSS, once=True)[-1] / MEMBERS if given > 1 else 0.0
    if below >= WANTED:
        yield f"{given} is enough, but {given - 1} is, too: {below:.1%} got it"


# Exercises 5 and 6: gossip or direct delivery

WAYS = {"direct": "popsub-direct", "gossip": "popsub-gossip"}
MEASURES = ("median delay, s", "messages sent by broker 0", "messages in all", "bytes in all")
_SET_UP = ("advertise", "hop-subscribe", "event")


def run_way(way: str) -> "Run":
    """The unpopular publications on ns-3, by one of the two ways."""
    protocol = {**_protocol(), "name": WAYS[way]}
    return run(plan(UNPOPULAR, protocol=protocol), f"unpopular/{way}")


def _protocol() -> dict[str, Any]:
    return {"phi": plan(UNPOPULAR).config.experiment.protocol.table()["phi"]}


def compare(runs: Mapping[str, "Run"]) -> pd.DataFrame:
    """What each way took, of what went by it."""
    columns = {}
    for way, done in runs.items():
        made = done.table("deliveries")
        made = made[made.way == way]
        counters = done.table("counters")
        own = counters[~counters.type.isin(_SET_UP)]
        columns[way] = (
            float((made.delivered - made.published).median() / 1e9),
            int(own[own.source == 0].sent.sum()),
            int(own.sent.sum()),
            int(own.sent_bytes.sum()),
        )
    return pd.DataFrame(columns, index=list(MEASURES))


def check_direct(answer: object, run: "Run") -> Verdict:
    """Exercise 5: messages that a publication takes by direct delivery."""
    if is_open(answer):
        return not_answered("5", "How many messages does broker 0 send for one publication?")
    return judged(
        "5",
        _wrong_direct(answer, run),
        "Broker 0 pays for every interested broker itself; with ten thousand of them it would have"
        " ten thousand messages to send.",
    )


def _wrong_direct(answer: object, run: "Run") -> Iterator[str]:
    given = expect(answer, int, "a whole number")
    records = run.table("records")
    right = int(records[records.name == "direct-forwards"].value.iloc[0])
    subscriptions = len(run.table("subscriptions"))
    if given == right:
        return
    if given == subscriptions:
        yield f"{given} is the number of subscriptions; a broker with several gets one message"
    elif given in (run.brokers, run.brokers - 1):
        yield f"{given} would be all brokers; only those with a subscription are sent to"
    else:
        yield (
            f"the run says {right}, you say {given}: count the different brokers in the table"
            " of subscriptions"
        )


def check_winners(answer: object, runs: Mapping[str, "Run"]) -> Verdict:
    """Exercise 6: which way is cheaper in what."""
    if is_open(answer):
        return not_answered("6", 'Write "direct" or "gossip" for each: which is lower?')
    return judged(
        "6",
        _wrong_winners(answer, compare(runs)),
        "Gossip spares the publisher's broker and takes its time. Which is better depends on what"
        " is scarce.",
    )


def _wrong_winners(answer: object, table: pd.DataFrame) -> Iterator[str]:
    given: Mapping[str, object] = expect(answer, Mapping, f'{{"{MEASURES[0]}": "direct", ...}}')
    for measure in MEASURES:
        said = given.get(measure, ...)
        direct, gossip = (float(table.loc[measure, way]) for way in WAYS)
        if said not in WAYS:
            yield f'{measure}: write "direct" or "gossip"'
        elif said != ("direct" if direct < gossip else "gossip"):
            values = f"direct {number(direct)}, gossip {number(gossip)}"
            yield f"{measure}: {values}. {_REASONS[measure]}"


_REASONS: Mapping[str, str] = {
    MEASURES[0]: "A direct message needs one way; gossip waits for rounds, ten seconds each",
    MEASURES[1]: "Broker 0 sends a direct message to everyone, but gossip to two a round",
    MEASURES[2]: "A gossip carries all that is new since the last round in one message",
    MEASURES[3]: "With fan-out 2 a publication is sent about twice for every member",
}


def number(value: float) -> str:
    """A number as a reader wants it."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
