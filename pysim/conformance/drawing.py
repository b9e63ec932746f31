"""Draws cases from a stream of chance; the same chance draws the same overlay, acts and faults.

It must not know brokers, nor what a case is drawn for.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import networkx as nx

from pysim.conformance.cases import EVERYTHING, Act, Case, Kind, Link, State, Step, parse, possible

_WORDS = ("A", "B", "C")


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
    state = State(case, kind)
    end = max((state.done(step) for step in case.steps), default=kind.begin) + kind.calm
    finals = []
    for broker in case.brokers:
        announced = [f for b, _, f in state.advertised if b == broker]
        if kind.advertised and not announced:
            continue
        filter = random.choice(announced) if kind.advertised else EVERYTHING
        finals.append(_publication(random, end, broker, filter))
    return replace(case, finals=tuple(finals))


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
        self._state = State(Case(tuple(range(brokers)), links), kind)

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
        links = sorted(map(_ordered, self._state.overlay.edges))
        return self._random.choice(links) if links else None

    def _wrong(self, act: Act) -> None:
        if link := self._link():
            self._add(act, link[0], old=link, new=link)

    def _replace(self) -> None:
        """Some other link joins what the lost one leaves apart; now and then it is the same one."""
        link = self._link()
        if link is None:
            return
        rest = self._state.overlay.copy()
        rest.remove_edge(*link)
        sides = [sorted(nx.node_connected_component(rest, end)) for end in link]
        new = (self._random.choice(sides[0]), self._random.choice(sides[1]))
        self._add("replace", link[0], old=link, new=new)


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


def _ordered(link: Link) -> Link:
    return (min(link), max(link))
