"""The subscriptions of the covering workload: who wants what where, and how much that covers.

It says nothing of time: `covering` does.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pysim.filters import And, Filter, Operator, Predicate, Range
from pysim.filters.relations import RelationGraph, new_graph
from pysim.network.streams import Streams
from pysim.workloads.squares import WHOLE, Square, conditions, different, side, within

SHRINK = 2
"""How many times smaller than a child's square the sides of a square are that specializes it."""


class Shape(NamedTuple):
    """How many subscriptions cover how many: roots first, then the children of each, then the rest.

    `size` is the share of a symbol's publications that a child of its root wants.
    """

    roots: int
    degree: int
    subscriptions: int
    size: float

    @property
    def children(self) -> int:
        return self.roots * self.degree

    @property
    def rest(self) -> int:
        """Subscriptions that specialize a child; negative if there are too few subscriptions."""
        return self.subscriptions - self.roots - self.children


class Wanted(NamedTuple):
    """A subscription and its broker; no square: all publications of the symbol."""

    broker: int
    symbol: int
    square: Square | None = None

    def filter(self) -> Filter:
        """The subscription's filter, in canonical form."""
        symbol = symbol_is(self.symbol)
        return symbol if self.square is None else And((symbol, *conditions(self.square)))


def symbol_is(symbol: int) -> Filter:
    """All publications of one symbol."""
    return Predicate("symbol", Operator.EQ, symbol)


def offered(symbols: int) -> Filter:
    """What a publisher of all these symbols advertises: every point of each."""
    point = conditions(WHOLE)
    return And((Predicate("symbol", Operator.IN, Range(0, symbols)), *point))


def population(streams: Streams, shape: Shape, homes: Sequence[Sequence[int]]) -> list[Wanted]:
    """All subscriptions by number; `homes` are the brokers of each symbol's subscribers."""
    known = list(_roots_and_children(streams, shape, homes))
    return known + list(_specializations(streams, shape, known[shape.roots :]))


def achieved_degree(population: Sequence[Wanted], roots: int) -> float:
    """The covering degree (Sec. VI-A): how many new roots the unsubscription of a root brings.

    That is the mean over all roots, each alone. Subscriptions to different symbols have no
    publication in common, so that each symbol has a graph of its own.
    """
    graphs: list[RelationGraph[int]] = [new_graph("simplified") for _ in range(roots)]
    for number, wanted in enumerate(population):
        graphs[wanted.symbol].insert(number, wanted.filter())
    return sum(len(graph.remove(root)) for root, graph in enumerate(graphs)) / roots


def _roots_and_children(
    streams: Streams, shape: Shape, homes: Sequence[Sequence[int]]
) -> Iterator[Wanted]:
    place = streams.stream("workload", "covering", "places", "roots")
    for symbol in range(shape.roots):
        yield Wanted(place.choice(homes[symbol]), symbol)
    for symbol in range(shape.roots):
        position = streams.stream("workload", "covering", "squares", symbol)
        place = streams.stream("workload", "covering", "places", symbol)
        for square in different(position, side(shape.size), shape.degree):
            yield Wanted(place.choice(homes[symbol]), symbol, square)


def _specializations(
    streams: Streams, shape: Shape, children: Sequence[Wanted]
) -> Iterator[Wanted]:
    stream = streams.stream("workload", "covering", "specializations")
    smaller = side(shape.size) // SHRINK
    for _ in range(shape.rest):
        child = stream.choice(children)
        assert child.square is not None
        yield child._replace(square=within(stream, smaller, child.square))
