"""Cases: a small overlay, what clients do on it, and what goes wrong, as plain data.

A case is drawn from a seed, can be told in words, and stays possible when parts of it are left out,
so that a failing one can be made small. It must not know brokers, nor who runs it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, Literal, NamedTuple

import networkx as nx

from pysim.filters import parse as parse_filter
from pysim.network.faults import (
    BrokerCrash,
    BrokerRestart,
    Fault,
    FaultError,
    LinkBreak,
    LinkReplace,
    rehearse,
)
from pysim.network.world import LinkNotice
from pysim.workloads.operations import Operation

MS = 1_000_000
REPAIR = 40
"""Milliseconds between a link's end and its replacement."""
DOWN = 60
"""Milliseconds for which a crashed broker is down."""

EVERYTHING = "x in [0, 9]"
_WORDS = ("A", "B", "C")
_TELL = {
    "subscribe": "subscribes to",
    "unsubscribe": "unsubscribes from",
    "advertise": "advertises",
    "unadvertise": "unadvertises",
}

Act = Literal[
    "subscribe",
    "unsubscribe",
    "advertise",
    "unadvertise",
    "publish",
    "replace",
    "break",
    "crash",
]
Link = tuple[int, int]


parse = cache(parse_filter)


class Step(NamedTuple):
    """One thing that happens, at a time in milliseconds.

    Clients use `filter`, or `x` and `word`, the attributes of an event; what goes wrong with a link
    uses `old`, and `new` that takes its place.
    """

    time: int
    act: Act
    broker: int = 0
    client: int = 0
    filter: str = ""
    x: int = 0
    word: str = "A"
    old: Link = (0, 0)
    new: Link = (0, 0)

    @property
    def attributes(self) -> dict[str, int | float | str]:
        return {"x": self.x, "word": self.word}

    def __str__(self) -> str:
        return f"{self.time / 1000:8.3f} s  {self._words()}"

    def _words(self) -> str:
        match self.act:
            case "publish":
                return f"client {self.client} at broker {self.broker} publishes {_event(self)}"
            case "replace" if self.old == self.new:
                return f"the link {_link(self.old)} breaks and is back {REPAIR} ms later"
            case "replace":
                return f"the link {_link(self.old)} breaks, {_link(self.new)} replaces it"
            case "break":
                return f"the link {_link(self.old)} breaks"
            case "crash":
                return f"broker {self.broker} crashes and is back {DOWN} ms later"
            case act:
                return f"client {self.client} at broker {self.broker} {_TELL[act]} {self.filter}"


@dataclass(frozen=True)
class Case:
    """`steps` happen as they are timed; when all has settled, the events of `finals` are published.

    `links` carry the cluster that they belong to. A broker's CPU takes `service` seconds for each
    message.
    """

    brokers: tuple[int, ...]
    links: tuple[tuple[int, int, int], ...]
    steps: tuple[Step, ...] = ()
    finals: tuple[Step, ...] = ()
    service: float = 0.0

    def overlay(self) -> nx.Graph:
        """The overlay at the beginning; clusters are trees of graphs, for who needs to know."""
        graph = nx.Graph()
        for broker in self.brokers:
            own = (cluster for a, b, cluster in self.links if broker in (a, b))
            graph.add_node(broker, cluster=min(own, default=0))
        for a, b, cluster in self.links:
            graph.add_edge(a, b, cluster=cluster)
        return graph

    def __str__(self) -> str:
        links = ", ".join(f"{a}-{b}" for a, b, _ in self.links) or "none"
        brokers = ", ".join(map(str, self.brokers))
        head = f"brokers {brokers}; links {links}"
        if self.service:
            head += f"; each message takes a broker {1000 * self.service:g} ms"
        return "\n".join([head, *map(str, (*self.steps, *self.finals))])


class Kind(NamedTuple):
    """What cases are drawn: `gaps` are milliseconds between steps, `acts` letters for what happens.

    `calm` are milliseconds after which everything has settled; `begin` is when all links are up.
    """

    tree: bool
    advertised: bool
    gaps: tuple[int, ...]
    acts: str
    calm: int
    begin: int = 1000


def drawn(kind: Kind, random: Random, brokers: int = 7, steps: int = 24) -> Case:
    """The case that a stream of chance stands for."""
    size = random.randint(1, brokers)
    links = _tree(random, size) if kind.tree else _clusters(random, size)
    author = _Author(kind, random, size, links)
    author.write(random.randint(1, steps))
    service = random.choice((0.0, 0.0, 0.0007))
    case = Case(tuple(range(size)), links, tuple(author.steps), (), service)
    return with_finals(possible(case, kind), kind, random)


def with_finals(case: Case, kind: Kind, random: Random) -> Case:
    """Publish at every broker when all has settled: what it announced, if that is needed."""
    state = _State(case, kind)
    end = max((state.done(step) for step in case.steps), default=kind.begin) + kind.calm
    finals = []
    for broker in case.brokers:
        announced = [f for b, _, f in state.advertised if b == broker]
        if kind.advertised and not announced:
            continue
        filter = random.choice(announced) if kind.advertised else EVERYTHING
        finals.append(_publication(random, end, broker, filter))
    return replace(case, finals=tuple(finals))


def possible(case: Case, kind: Kind) -> Case:
    """The case without the steps that cannot happen: links that are not there, and the like."""
    state = _State(case, kind)
    steps = tuple(step for step in case.steps if state.takes(step))
    announced = {(b, f) for b, _, f in state.advertised}
    finals = tuple(
        step
        for step in case.finals
        if step.broker in case.brokers
        and (
            not kind.advertised
            or any(b == step.broker and parse(f).matches(step.attributes) for b, f in announced)
        )
    )
    return replace(case, steps=steps, finals=finals)


def operations(steps: Iterable[Step]) -> list[Operation]:
    """What clients do."""
    return [
        Operation(s.time * MS, s.broker, "publish", s.client, attributes=s.attributes)
        if s.act == "publish"
        else Operation(s.time * MS, s.broker, s.act, s.client, parse(s.filter))
        for s in steps
        if s.act != "replace" and s.act != "break" and s.act != "crash"
    ]


def faults(steps: Iterable[Step]) -> list[Fault]:
    """What goes wrong."""
    return [fault for number, step in enumerate(steps, 1) for fault in _faults(step, number)]


def smaller(case: Case) -> Iterator[Case]:
    """The case with something left out, much first; whether it is still possible is not asked."""
    for name in ("steps", "finals"):
        items = getattr(case, name)
        size = len(items)
        while size:
            for at in range(0, len(items), size):
                yield replace(case, **{name: items[:at] + items[at + size :]})
            size //= 2
    if case.service:
        yield replace(case, service=0.0)
    graph = case.overlay()
    used = {step.broker for step in (*case.steps, *case.finals)}
    used |= {end for step in case.steps for end in (*step.old, *step.new) if step.old != step.new}
    used |= {end for step in case.steps if step.act in ("replace", "break") for end in step.old}
    for broker in reversed(case.brokers):
        if graph.degree(broker) <= 1 and broker not in used and len(case.brokers) > 1:
            yield replace(
                case,
                brokers=tuple(b for b in case.brokers if b != broker),
                links=tuple(link for link in case.links if broker not in link[:2]),
            )
    for link in case.links:
        rest = replace(case, links=tuple(other for other in case.links if other != link))
        if nx.is_connected(rest.overlay()):
            yield rest


def tidier(case: Case, kind: Kind) -> Iterator[Case]:
    """The same case with brokers that count from 0, and with a beginning that is not late."""
    numbers = {broker: number for number, broker in enumerate(case.brokers)}
    if any(broker != number for broker, number in numbers.items()):
        yield replace(
            case,
            brokers=tuple(numbers.values()),
            links=tuple((numbers[a], numbers[b], cluster) for a, b, cluster in case.links),
            steps=tuple(_renumbered(step, numbers) for step in case.steps),
            finals=tuple(_renumbered(step, numbers) for step in case.finals),
        )
    late = min((step.time for step in (*case.steps, *case.finals)), default=0) - kind.begin
    if late > 0:
        yield replace(
            case,
            steps=tuple(step._replace(time=step.time - late) for step in case.steps),
            finals=tuple(step._replace(time=step.time - late) for step in case.finals),
        )


def _renumbered(step: Step, numbers: dict[int, int]) -> Step:
    def link(old: Link) -> Link:
        return (numbers.get(old[0], 0), numbers.get(old[1], 0))

    return step._replace(broker=numbers[step.broker], old=link(step.old), new=link(step.new))


class _State:
    """What stands at a moment of a case, as far as steps depend on it."""

    def __init__(self, case: Case, kind: Kind) -> None:
        self._kind = kind
        self._start = case.overlay()
        self._tree = case.overlay()
        self._taken: list[Step] = []
        self._down: dict[int, int] = {}
        self.subscribed: list[tuple[int, int, str]] = []
        self.advertised: list[tuple[int, int, str]] = []

    def done(self, step: Step) -> int:
        """When a step is over; the case stays possible with it (`takes`) or it is left out."""
        self.takes(step)
        return step.time + {"replace": REPAIR, "crash": DOWN}.get(step.act, 0)

    def takes(self, step: Step) -> bool:
        """Let a step happen, if it can."""
        if step.broker not in self._start or self._down.get(step.broker, -1) >= step.time:
            return False
        if not getattr(self, f"_{step.act}")(step):
            return False
        self._taken.append(step)
        return True

    def _subscribe(self, step: Step) -> bool:
        return _begin(self.subscribed, step)

    def _unsubscribe(self, step: Step) -> bool:
        return _end(self.subscribed, step)

    def _advertise(self, step: Step) -> bool:
        return _begin(self.advertised, step)

    def _unadvertise(self, step: Step) -> bool:
        return _end(self.advertised, step)

    def _publish(self, step: Step) -> bool:
        return not self._kind.advertised or any(
            b == step.broker and c == step.client and parse(f).matches(step.attributes)
            for b, c, f in self.advertised
        )

    def _replace(self, step: Step) -> bool:
        changed = self._tree.copy()
        if not changed.has_edge(*step.old):
            return False
        changed.remove_edge(*step.old)
        if changed.has_edge(*step.new):
            return False
        changed.add_edge(*step.new)
        return self._becomes(changed, step)

    def _break(self, step: Step) -> bool:
        changed = self._tree.copy()
        if not changed.has_edge(*step.old):
            return False
        changed.remove_edge(*step.old)
        return self._becomes(changed, step)

    def _crash(self, step: Step) -> bool:
        if not self._rehearsed(step):
            return False
        self._down[step.broker] = step.time + DOWN
        for standing in (self.subscribed, self.advertised):
            standing[:] = [row for row in standing if row[0] != step.broker]
        return True

    def _becomes(self, changed: nx.Graph, step: Step) -> bool:
        whole = nx.is_tree(changed) if self._kind.tree else nx.is_connected(changed)
        if whole and self._rehearsed(step):
            self._tree = changed
            return True
        return False

    def _rehearsed(self, step: Step) -> bool:
        try:
            rehearse(faults([*self._taken, step]), self._start)
        except FaultError:
            return False
        return True


class _Author:
    """Draws steps one after the other; some of them will not be possible."""

    def __init__(
        self, kind: Kind, random: Random, brokers: int, links: tuple[tuple[int, int, int], ...]
    ) -> None:
        self.steps: list[Step] = []
        self._kind = kind
        self._random = random
        self._brokers = brokers
        self._time = kind.begin
        self._state = _State(Case(tuple(range(brokers)), links), kind)

    def write(self, steps: int) -> None:
        acts: dict[str, Callable[[], None]] = {
            "s": self._subscribe,
            "u": lambda: self._end("unsubscribe", self._state.subscribed),
            "a": self._advertise,
            "w": lambda: self._end("unadvertise", self._state.advertised),
            "p": self._publish,
            "r": self._replace,
            "b": lambda: self._wrong("break"),
            "f": lambda: self._wrong("replace"),
            "c": lambda: self._add("crash", self._broker()),
        }
        for _ in range(steps):
            acts[self._random.choice(self._kind.acts)]()
            self._time += self._random.choice(self._kind.gaps)

    def _add(self, act: Act, broker: int, **more: Any) -> None:
        step = Step(self._time, act, broker)._replace(**more)
        if self._state.takes(step):
            self.steps.append(step)

    def _broker(self) -> int:
        return self._random.randrange(self._brokers)

    def _subscribe(self) -> None:
        known = self._state.subscribed
        filter = _filter(self._random)
        if known and self._random.random() < 0.3:
            filter = self._random.choice(known)[2]
        self._add("subscribe", self._broker(), client=self._random.randrange(2), filter=filter)

    def _advertise(self) -> None:
        low = self._random.choice((0, 0, 0, 2, 5))
        high = self._random.choice((9, 9, 9, 6, 5))
        filter = f"x in [{low}, {high}]"
        self._add("advertise", self._broker(), client=self._random.randrange(2), filter=filter)

    def _end(self, act: Act, standing: list[tuple[int, int, str]]) -> None:
        if standing:
            broker, client, filter = self._random.choice(standing)
            self._add(act, broker, client=client, filter=filter)

    def _publish(self) -> None:
        broker, client, filter = self._broker(), 0, EVERYTHING
        if self._kind.advertised:
            if not self._state.advertised:
                return
            broker, client, filter = self._random.choice(self._state.advertised)
        step = _publication(self._random, self._time, broker, filter)._replace(client=client)
        if self._state.takes(step):
            self.steps.append(step)

    def _link(self) -> Link | None:
        links = sorted(map(_ordered, self._state._tree.edges))
        return self._random.choice(links) if links else None

    def _wrong(self, act: Act) -> None:
        if link := self._link():
            self._add(act, link[0], old=link, new=link)

    def _replace(self) -> None:
        """Some other link joins what the lost one leaves apart; now and then it is the same one."""
        link = self._link()
        if link is None:
            return
        rest = self._state._tree.copy()
        rest.remove_edge(*link)
        sides = [sorted(nx.node_connected_component(rest, end)) for end in link]
        new = (self._random.choice(sides[0]), self._random.choice(sides[1]))
        self._add("replace", link[0], old=link, new=new)


def _begin(standing: list[tuple[int, int, str]], step: Step) -> bool:
    row = (step.broker, step.client, step.filter)
    if row in standing:
        return False
    standing.append(row)
    return True


def _end(standing: list[tuple[int, int, str]], step: Step) -> bool:
    row = (step.broker, step.client, step.filter)
    if row not in standing:
        return False
    standing.remove(row)
    return True


def _faults(step: Step, number: int) -> Iterator[Fault]:
    time = step.time * MS
    if step.act == "replace":
        notice = LinkNotice(reconfiguration=number)
        yield LinkReplace(time, step.old, step.new, REPAIR * MS, notice=notice)
    elif step.act == "break":
        yield LinkBreak(time, *step.old)
    elif step.act == "crash":
        yield BrokerCrash(time, step.broker)
        yield BrokerRestart(time + DOWN * MS, step.broker)


def _tree(random: Random, brokers: int) -> tuple[tuple[int, int, int], ...]:
    return tuple((random.randrange(child), child, 0) for child in range(1, brokers))


def _clusters(random: Random, brokers: int) -> tuple[tuple[int, int, int], ...]:
    """One or two random graphs; the second shares one broker with the first."""
    border = random.choice((brokers, brokers, max(1, brokers // 2)))
    links: dict[Link, int] = {}
    for child in range(1, brokers):
        if child < border:
            links[random.randrange(child), child] = 0
        else:
            links[random.choice((0, *range(border, child))), child] = 1
    for _ in range(random.randrange(brokers + 1)):
        a, b = sorted((random.randrange(brokers), random.randrange(brokers)))
        if a != b and (b < border or (a >= border)):
            links.setdefault((a, b), int(b >= border))
    return tuple((a, b, cluster) for (a, b), cluster in sorted(links.items()))


def _filter(random: Random) -> str:
    low = random.randrange(10)
    word = random.choice(_WORDS)
    return random.choice(
        (
            EVERYTHING,
            f"x in [{low}, {random.randint(low, 9)}]",
            f"x < {low}",
            f'word = "{word}"',
            f'word = "{word}" and x in [{low}, 9]',
            f'x in [0, {low}] or word = "{word}"',
        )
    )


def _publication(random: Random, time: int, broker: int, filter: str) -> Step:
    inside = [x for x in range(10) if parse(filter).matches({"x": x, "word": "A"})]
    return Step(time, "publish", broker, x=random.choice(inside), word=random.choice(_WORDS))


def _event(step: Step) -> str:
    return f'{{x = {step.x}, word = "{step.word}"}}'


def _link(link: Link) -> str:
    return f"{link[0]}-{link[1]}"


def _ordered(link: Link) -> Link:
    return (min(link), max(link))
