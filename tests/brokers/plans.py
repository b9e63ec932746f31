"""Random plans for a run: a tree of brokers, clients that come and go, links and brokers that fail.

Hypothesis draws how many steps there are at least, or plans would rarely have more than a handful,
and each step by itself, so that it can leave out whatever a failure does not need. A step is some
bytes. Whatever the bytes are, the overlay stays a forest, and at the end it is one tree again:
broken links that wait for repair, links of crashed brokers and live links are together a tree. Most
broken links are numbered reconfigurations, some are bare changes. In a plan `in_turn` no broker
crashes, and after each new link there is none for a while, nor does a link of its path break: links
may be broken at the same time, but reconfigurations are carried out one after the other.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from pysim.filters import parse
from pysim.network import (
    BrokerCrash,
    BrokerRestart,
    CostModel,
    Fault,
    LinkBreak,
    LinkCreate,
    LinkNotice,
    LinkSettings,
    Streams,
    TableCost,
    TypeCost,
)
from pysim.network.faults import LinkReplaced, Overlay
from pysim.workloads.operations import Operation

US = 1_000
LINKS_UP = 20_000_000
"""By then (ns) all links of the beginning are up."""
SPAN = 10_000_000_000
"""More than a reconfiguration takes, in nanoseconds."""

PATTERNS = [
    parse(text)
    for text in (
        'body contains "x"',
        'body contains "y"',
        'body contains "z"',
        "price < 5",
        'price in [3, 9] and body contains "x"',
        'not exists price or body prefix "y"',
    )
]

EVENTS: list[dict[str, Any]] = [
    {"body": "x"},
    {"body": "zy"},
    {"body": "yxz", "price": 4},
    {"price": 8},
    {"price": 1},
    {},
]

DELAYS = [0.0, 0.000_5, 0.001, 0.003]
"""Of links, in seconds; the gaps between steps are of the same order, so that all overlaps."""

TEMPOS = ((0, 300, 1_000, 2_500, 40_000), (0, 100, 300), (0, 0, 2_000))
"""Between one step and the next, in microseconds: a choice of gaps for each plan."""

COSTS: tuple[CostModel | None, ...] = (
    None,
    None,
    TypeCost(0.0),
    TypeCost(0.000_7, {"event": 0.000_2, "local": 0.002}),
    TypeCost(0.005),
    TableCost(fixed=0.000_1, per_entry=0.000_3),
)
"""Of brokers; some make queues long enough for links to break while their messages wait."""


@dataclass
class Plan:
    """What happens in a run, up to `end` (ns), when the overlay is the tree `final`."""

    tree: nx.Graph
    delays: list[float]
    costs: CostModel | None
    operations: list[Operation] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    end: int = 0
    final: nx.Graph = field(default_factory=nx.Graph)

    def link_settings(self, a: int, b: int) -> LinkSettings:
        """The delay of a link, whenever it is made."""
        return LinkSettings(delay=self.delays[(7 * a + b) % len(self.delays)])

    def __repr__(self) -> str:
        steps = sorted([*self.operations, *self.faults], key=lambda step: step.time)
        lines = [f"tree {sorted(self.tree.edges)}, costs {self.costs}", *map(str, steps)]
        return "\n".join(lines)


@st.composite
def plans(
    draw: st.DrawFn,
    max_brokers: int = 12,
    min_brokers: int = 2,
    max_steps: int = 60,
    costs: tuple[CostModel | None, ...] = COSTS,
    in_turn: bool = False,
) -> Plan:
    """Plans with that many brokers and steps at most."""
    parents = draw(st.binary(min_size=min_brokers - 1, max_size=max_brokers - 1))
    least = max(1, round(max_steps * draw(st.sampled_from(_SHARES))))
    return make_plan(
        parents,
        draw(st.lists(_STEPS, min_size=least, max_size=max_steps)),
        [draw(st.sampled_from(DELAYS)) for _ in range(3)],
        draw(st.sampled_from(TEMPOS)),
        draw(st.sampled_from(costs)),
        in_turn,
    )


def fixed_plan() -> Plan:
    """A plan of some size that is always the same."""
    stream = Streams(7).stream("plan")
    program = [stream.randbytes(_BYTES_OF_STEP) for _ in range(300)]
    return make_plan(stream.randbytes(14), program, DELAYS[1:], TEMPOS[0], COSTS[-1])


def make_plan(
    parents: bytes,
    program: Iterable[bytes],
    delays: list[float],
    gaps: tuple[int, ...],
    costs: CostModel | None = None,
    in_turn: bool = False,
) -> Plan:
    """The plan that some bytes stand for: one for each broker but the first, and then the steps."""
    tree = nx.Graph()
    tree.add_nodes_from(range(len(parents) + 1))
    tree.add_edges_from((child, place % child) for child, place in enumerate(parents, 1))
    plan = Plan(tree, delays, costs)
    _Author(plan, gaps, in_turn).write(program)
    return plan


_BYTES_OF_STEP = 5
_STEPS = st.binary(min_size=_BYTES_OF_STEP, max_size=_BYTES_OF_STEP)
_SHARES = (0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 1.0, 1.0)
_LETTERS = "ssssuupppbbrrkl"
"""The kinds of steps, each as often as it is to be taken."""


class _Author:
    """Reads bytes as steps; a step that cannot be done is left out."""

    def __init__(self, plan: Plan, gaps: tuple[int, ...], in_turn: bool) -> None:
        self.plan = plan
        self.gaps = gaps
        self.in_turn = in_turn
        self.overlay = Overlay(plan.tree)
        self.time = LINKS_UP if in_turn else 0
        self.calm_until = 0
        self.path: set[frozenset[int]] = set()
        self.broken: list[tuple[tuple[int, int], LinkNotice]] = []
        self.reconfigurations = 0
        self.subscriptions: list[tuple[int, int, int]] = []

    def write(self, program: Iterable[bytes]) -> None:
        acts = {
            "s": self.subscribe,
            "u": self.unsubscribe,
            "p": self.publish,
            "b": self.break_link,
            "r": self.repair,
            "k": self.crash,
            "l": self.restart,
        }
        for kind, x, y, z, gap in program:
            self.time += self.gaps[gap % len(self.gaps)] * US
            acts[_LETTERS[kind % len(_LETTERS)]](x, y, z)
        self.finish()

    def subscribe(self, x: int, y: int, z: int) -> None:
        who = (x % len(self.plan.tree), y % 2, z % len(PATTERNS))
        self.subscriptions.append(who)
        self.operate("subscribe", *who)

    def unsubscribe(self, x: int, y: int, z: int) -> None:
        if self.subscriptions:
            self.operate("unsubscribe", *self.subscriptions.pop(x % len(self.subscriptions)))

    def publish(self, x: int, y: int, z: int) -> None:
        event = EVENTS[z % len(EVENTS)]
        broker = x % len(self.plan.tree)
        self.plan.operations.append(Operation(self.time, broker, "publish", attributes=event))

    def operate(self, action: Any, broker: int, client: int, number: int) -> None:
        self.plan.operations.append(
            Operation(self.time, broker, action, client, filter=PATTERNS[number])
        )

    def break_link(self, x: int, y: int, z: int) -> None:
        links = self.links_to_break()
        if links:
            link = links[x % len(links)]
            notice = self.next_notice(bare=y % 8 == 0)
            self.overlay.cut(*link, {})
            self.broken.append((link, notice))
            notices = dict.fromkeys(link, notice)
            self.plan.faults.append(LinkBreak(self.time, *link, notices))

    def links_to_break(self) -> list[tuple[int, int]]:
        """All, or those off the path of a reconfiguration that allows no other on it."""
        links = list(self.overlay.links())
        if not self.in_turn or self.time >= self.calm_until:
            return links
        return [link for link in links if frozenset(link) not in self.path]

    def next_notice(self, bare: bool) -> LinkNotice:
        if bare:
            return LinkNotice()
        self.reconfigurations += 1
        return LinkNotice(reconfiguration=self.reconfigurations)

    def stay_calm(self) -> None:
        """Let the last reconfiguration end before another one is carried out."""
        if self.in_turn:
            self.time = max(self.time, self.calm_until)

    def repair(self, x: int, y: int, z: int) -> None:
        """Join the parts that now hold the ends of a broken link; it may be that very link."""
        if not self.broken:
            return
        old, notice = self.broken[x % len(self.broken)]
        sides = [sorted(self.part(end) - self.overlay.down) for end in old]
        if all(sides):
            self.stay_calm()
            self.broken.remove((old, notice))
            new = (sides[0][y % len(sides[0])], sides[1][z % len(sides[1])])
            self.overlay.join(*new, None, {})
            self.announce(old if x % 2 else (old[1], old[0]), new, notice)
            self.calm_until = self.time + SPAN
            self.path = set(map(frozenset, pairwise(nx.shortest_path(self.overlay.graph, *old))))

    def announce(self, old: tuple[int, int], new: tuple[int, int], notice: LinkNotice) -> None:
        faults = self.plan.faults
        faults.append(LinkCreate(self.time, *new, notices=dict.fromkeys(new, notice)))
        if notice.reconfiguration is not None:
            faults.append(LinkReplaced(self.time, old, new, notice.reconfiguration))

    def part(self, broker: int) -> set[int]:
        return set(nx.node_connected_component(self.overlay.graph, broker))

    def crash(self, x: int, y: int, z: int) -> None:
        broker = x % len(self.plan.tree)
        if broker not in self.overlay.down and not self.in_turn:
            self.overlay.crash(broker)
            self.plan.faults.append(BrokerCrash(self.time, broker))

    def restart(self, x: int, y: int, z: int) -> None:
        if self.overlay.down:
            broker = sorted(self.overlay.down)[x % len(self.overlay.down)]
            self.overlay.restart(broker)
            self.plan.faults.append(BrokerRestart(self.time, broker))

    def finish(self) -> None:
        while self.overlay.down:
            self.restart(0, 0, 0)
        while self.broken:
            self.repair(0, 0, 0)
        self.plan.end = self.time
        self.plan.final = self.overlay.graph
        assert nx.is_tree(self.plan.final)
