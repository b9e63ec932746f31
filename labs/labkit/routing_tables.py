"""Lab 1, routing tables by hand: the checks. What is right is taken from runs, never written down.

The student's own broker is judged in `own_broker`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from numbers import Real

import networkx as nx
import pandas as pd

from labkit.runs import Hop, Link, Stage, plan, stage
from labkit.verdict import (
    AnswerError,
    Verdict,
    brokers,
    expect,
    is_open,
    judged,
    listed,
    not_answered,
)
from pysim.filters import Filter, FilterSyntaxError, parse
from pysim.workloads.operations import Operation

NAME = "routing-tables"
TREE: nx.Graph = plan(NAME).ground.overlay
FIRST, SECOND, THIRD, UNSUBSCRIPTION = 1.0, 2.0, 3.0, 7.0
"""When these come, in seconds."""
EVENTS = {4.0: "at 4 s", 5.0: "at 5 s", 6.0: "at 6 s"}

_TABLE = '{0: {"price < 30": {1}}, 1: ...}'
_HOPS = "{(3, 0), (0, 1)}: from broker 3 to 0, from 0 to 1"

Tables = Mapping[int, Mapping[str, set[int]]]


def staged(seconds: float) -> Stage:
    """The lab's experiment on the memory network, as it is at that time."""
    return stage(plan(NAME)).until(seconds)


@cache
def _history() -> tuple[Hop, ...]:
    return tuple(staged(9.0).hops(0.5, 9.0))


def hops(begin: float) -> list[Hop]:
    """The messages of the second that begins then."""
    return [hop for hop in _history() if begin <= hop.time < begin + 1]


def without_unsubscription() -> list[Operation]:
    """What clients do in this lab, for brokers that do not know how to unsubscribe."""
    steps = plan(NAME).workload.operations(plan(NAME).setting)
    return [step for step in steps if step.action != "unsubscribe"]


def subscribers(seconds: float) -> dict[str, set[int]]:
    """At which brokers there are clients that want what, at that time."""
    found: dict[str, set[int]] = {}
    for row in staged(seconds).simulation.observer.subscriptions:
        if row.until is None:
            found.setdefault(str(row.filter), set()).add(row.broker)
    return found


def behind(broker: int, neighbor: int) -> set[int]:
    """Those that a broker reaches over one of its links."""
    rest = TREE.copy()
    rest.remove_edge(broker, neighbor)
    return set(nx.node_connected_component(rest, neighbor))


# Exercises 1 and 3: tables


def check_first_tables(answer: object) -> Verdict:
    """Exercise 1: all tables after the first subscription."""
    if is_open(answer):
        return not_answered("1", "Write down for each broker who wants what, after 1 s.")
    return judged(
        "1",
        _wrong_tables(answer, SECOND - 0.1, list(TREE)),
        "A subscription turns every link into a signpost towards its subscriber: each broker knows"
        " a direction, and none but broker 4 itself knows who it is.",
    )


def check_later_tables(answer: object) -> Verdict:
    """Exercise 3: some tables after all subscriptions."""
    if is_open(answer):
        return not_answered("3", "Write down the tables of brokers 0, 1 and 6 after 3 s.")
    return judged(
        "3",
        _wrong_tables(answer, THIRD + 0.9, [0, 1, 6]),
        "Two subscribers of the same filter are two directions in one line of the table.",
    )


def _wrong_tables(answer: object, seconds: float, asked: list[int]) -> Iterator[str]:
    tables: Tables = expect(answer, Mapping, f"a dict of dicts, {_TABLE}")
    right, wanted = staged(seconds).tables(), subscribers(seconds)
    for broker in asked:
        given = tables.get(broker, ...)
        if given is ... or not isinstance(given, Mapping):
            yield f"broker {broker} has no table yet; write one as in {_TABLE}"
            continue
        table = {text: _directions(broker, text, who) for text, who in _named(given, right).items()}
        yield from _wrong_table(broker, table, right[broker], wanted)


def _named(given: Mapping[str, object], right: Tables) -> dict[str, object]:
    """A student's table under the texts that brokers use; `price<30` is `price < 30`."""
    known = {parse(text): text for table in right.values() for text in table}
    found = {}
    for text, who in given.items():
        try:
            filter = text if isinstance(text, Filter) else parse(text)
        except (FilterSyntaxError, TypeError) as error:
            raise AnswerError(f"{text!r} is no filter: {error}") from None
        if filter not in known:
            raise AnswerError(
                f"nobody has subscribed to {filter}; filters here are {listed(known.values())}"
            )
        found[known[filter]] = who
    return found


def _directions(broker: int, text: str, who: object) -> set[int]:
    if isinstance(who, int):
        who = {who}
    if who is ...:
        raise AnswerError(f"broker {broker}: who wants {text}? There is still ... in your table")
    return set(expect(who, (set, frozenset, list, tuple), "a set of neighbors, {1, 2}"))


def _wrong_table(
    broker: int,
    given: Mapping[str, set[int]],
    right: Mapping[str, set[int]],
    wanted: Mapping[str, set[int]],
) -> Iterator[str]:
    for text in sorted({*given, *right}):
        mine, true = given.get(text, set()), right.get(text, set())
        for missing in sorted(true - mine):
            yield _missing_entry(broker, missing, text, wanted[text])
        for extra in sorted(mine - true):
            yield _needless_entry(broker, extra, text, wanted[text])


def _missing_entry(broker: int, direction: int, text: str, wanting: set[int]) -> str:
    if direction == broker:
        return (
            f"broker {broker} must have an entry for its own client, who wants {text}: write its"
            f" own number, {broker}"
        )
    source = sorted(wanting & behind(broker, direction))
    return (
        f"broker {broker} must know that {text} is wanted towards neighbor {direction}: the"
        f" subscription of {brokers(source)} comes from there; your table has no such entry"
    )


def _needless_entry(broker: int, direction: int, text: str, wanting: set[int]) -> str:
    if direction == broker:
        return f"broker {broker} has no client who wants {text}, although your table says so"
    if direction not in TREE[broker]:
        return (
            f"broker {broker} has no link to {direction}, so it cannot have that in its table; a"
            f" table names neighbors: here {listed(sorted(TREE[broker]))}"
        )
    return (
        f"broker {broker}: your table says that {text} is wanted towards {direction}, but nobody"
        f" behind {direction} subscribed to it; {brokers(wanting)} did"
    )


# Exercises 2 and 5: how far changes travel


def check_second_subscription(answer: object) -> Verdict:
    """Exercise 2: the messages of the second subscription to the same filter."""
    if is_open(answer):
        return not_answered("2", "Write down which brokers send SUBSCRIBE to which after 2 s.")
    return judged(
        "2",
        _wrong_hops(answer, SECOND, _needless_subscribe, _missing_subscribe),
        f"{len(hops(SECOND))} messages where the first subscription took {len(hops(FIRST))}: it"
        " goes only to where the filter was not known to be wanted from this side.",
    )


def check_unsubscription(answer: object) -> Verdict:
    """Exercise 5: the messages of the unsubscription."""
    if is_open(answer):
        return not_answered("5", "Write down which brokers send UNSUBSCRIBE to which after 7 s.")
    return judged(
        "5",
        _wrong_hops(answer, UNSUBSCRIPTION, _needless_unsubscribe, _missing_unsubscribe),
        "An unsubscription undoes what the subscription did, and no more: brokers that need the"
        " signpost for another subscriber hear nothing of it.",
    )


def _wrong_hops(
    answer: object,
    begin: float,
    needless: Callable[[int, int], str],
    missing: Callable[[int, int], str],
) -> Iterator[str]:
    given = _links(answer)
    right = {hop.link: hop for hop in hops(begin)}
    yield from _impossible(given)
    for link in sorted(set(given) - set(right)):
        if TREE.has_edge(*link):
            yield _reversed(link, right) or needless(*link)
    for link in sorted(set(right) - set(given)):
        if (link[1], link[0]) not in given:
            yield missing(*link)


def _links(answer: object) -> list[Link]:
    given = expect(answer, (set, frozenset, list, tuple), f"a set of pairs, {_HOPS}")
    for pair in given:
        if not (isinstance(pair, tuple) and len(pair) == 2 and set(map(type, pair)) == {int}):
            raise AnswerError(f"{pair!r} is no pair of brokers; write {_HOPS}")
    return list(given)


def _impossible(given: list[Link]) -> Iterator[str]:
    for a, b in sorted(set(given)):
        if not TREE.has_edge(a, b):
            yield f"there is no link between {a} and {b}: messages go from neighbor to neighbor"
        elif given.count((a, b)) > 1:
            yield f"({a}, {b}) is there {given.count((a, b))} times; one message is sent"


def _reversed(link: Link, right: Mapping[Link, Hop]) -> str:
    a, b = link
    if (b, a) not in right:
        return ""
    name = right[b, a].name.upper()
    return f"on the link {a}-{b} the {name} goes from {b} to {a}, the other way than you say"


def _needless_subscribe(a: int, b: int) -> str:
    return (
        f"{a} sends {b} nothing: it told {b} the same filter when broker 4 subscribed, and for {b}"
        f" nothing is new, events for either subscriber go to {a}"
    )


def _missing_subscribe(a: int, b: int) -> str:
    return (
        f"{a} must tell {b}: so far {b} does not know that price < 30 is wanted towards {a}, and"
        " an event from its side would not come to broker 6"
    )


def _needless_unsubscribe(a: int, b: int) -> str:
    left = subscribers(UNSUBSCRIPTION + 0.9)["price < 30"]
    return (
        f"{a} must not tell {b}: events that match price < 30 are still wanted on {a}'s side, by"
        f" {brokers(left)}"
    )


def _missing_unsubscribe(a: int, b: int) -> str:
    return (
        f"{a} must tell {b}: nobody on {a}'s side of that link wants price < 30 any more, and {b}"
        " would go on sending such events there"
    )


# Exercise 4: ways of events


def check_ways(answer: object) -> Verdict:
    """Exercise 4: which links the events cross."""
    if is_open(answer):
        return not_answered("4", "Write down the links that each of the three events crosses.")
    return judged(
        "4",
        _wrong_ways(answer),
        "An event crosses a link only if somebody behind it wants it; the last one never leaves"
        " its broker.",
    )


def _wrong_ways(answer: object) -> Iterator[str]:
    ways = expect(answer, Mapping, 'a dict, {"at 4 s": {(6, 2), ...}, ...}')
    for begin, label in EVENTS.items():
        given = ways.get(label, ...)
        if given is ...:
            yield f"the event {label} is not answered yet; set() says that it crosses no link"
            continue
        if given == {}:
            given = set()
        links, right = _links(given), {hop.link for hop in hops(begin)}
        for problem in _impossible(links):
            yield f"event {label}: {problem}"
        attributes = _published(begin)
        for a, b in sorted(set(links) - right):
            if TREE.has_edge(a, b):
                yield _needless_hop(label, a, b, attributes, right)
        for a, b in sorted(right - set(links)):
            wanting = _interested(attributes, begin) & behind(a, b)
            where = f" behind {b}" if b not in wanting else ""
            yield (
                f"event {label}: it must go from {a} to {b}, because clients of {brokers(wanting)}"
                f"{where} subscribed to such events"
            )


def _needless_hop(
    label: str, a: int, b: int, attributes: Mapping[str, object], right: set[Link]
) -> str:
    if (b, a) in right:
        return f"event {label}: on the link {a}-{b} it goes from {b} to {a}, not back"
    content = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    return (
        f"event {label}: nobody behind {b} wants an event with {content}, so {a} does not send it"
    )


def _published(begin: float) -> Mapping[str, int | float | str]:
    """What the event of that second says, also if it crossed no link."""
    for operation in plan(NAME).workload.operations(plan(NAME).setting):
        if operation.action == "publish" and operation.time == round(begin * 1e9):
            return operation.attributes
    raise LookupError(begin)


def _interested(attributes: Mapping[str, int | float | str], seconds: float) -> set[int]:
    return staged(seconds).simulation.observer.interested_brokers(attributes)


# Exercise 7: what a message weighs


def check_share(answer: object, packets: pd.DataFrame) -> Verdict:
    """Exercise 7: the share of a link's bytes that are messages."""
    if is_open(answer):
        return not_answered("7", "Compute the share of all bytes that are message bytes.")
    return judged(
        "7",
        _wrong_share(answer, packets),
        "The rest is headers of PPP, IP and TCP, bare acknowledgments and the handshake. A"
        " protocol of many small messages pays more for the envelope than for the letter.",
    )


def _wrong_share(answer: object, packets: pd.DataFrame) -> Iterator[str]:
    given = float(expect(answer, Real, "a number between 0 and 1"))
    messages = float((packets.frame_header + packets.body).sum())
    right = messages / float(packets.length.sum())
    if abs(given - right) < 0.0005:
        return
    data = packets[packets.role == "data"]
    guesses = {
        100 * right: "that is the share in percent; write it as a number between 0 and 1",
        1 - right: "that is the share of what is no message: the overhead",
        float(packets.body.sum()) / float(packets.length.sum()): "a message is its frame header"
        " and its body: you left the frame headers out",
        messages / float(data.length.sum()): "you looked at packets of the role data only; the"
        " handshake and the acknowledgments are on the link, too",
        messages: "that is the number of message bytes; divide it by all bytes",
    }
    for value, words in guesses.items():
        if abs(given - value) < max(0.0005, 1e-6 * value):
            yield words
            return
    if not 0 <= given <= 1:
        yield f"a share is between 0 and 1; yours is {given:g}"
    else:
        yield (
            f"yours is {given:.4f}: add up frame_header + body of all packets, and divide by the"
            " sum of length of all packets"
        )
