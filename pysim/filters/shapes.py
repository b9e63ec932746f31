"""Filters without their predicates: what prunings there are depends on a tree's shape alone.

It must not know selectivities, nor which of several prunings is the best.

A filter is split into its leaves, predicates and negated predicates in their order, and a shape: a
tree of AND and OR over the numbers of the leaves. Thousands of subscriptions of one kind have few
shapes, so trees are cut once for all of them. Shapes are normal as canonical filters are: nested
equal operators are merged, duplicates removed, and a single child takes its parent's place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pysim.filters.language import And, Filter, Or, canonical

Part: TypeAlias = "int | Shape"

_FIRST_LEAF = 0x10000  # the character that stands for leaf 0: above those for operators


class Shape:
    """An AND or an OR over leaves and shapes; equal shapes of one `Shapes` are one object."""

    __slots__ = ("_prunings", "children", "depth", "is_and", "size", "text")

    _prunings: tuple[Part, ...] | None

    def __init__(self, is_and: bool, children: tuple[Part, ...], depth: int, text: str) -> None:
        self.is_and = is_and
        self.children = children
        self.depth = depth
        self.text = text  # tells shapes apart, and orders them the same whatever leaves are left
        self.size = sum(map(size, children))
        self._prunings = None


class Shapes:
    """All shapes that were met so far, and what prunings make of them."""

    def __init__(self) -> None:
        self._known: dict[str, Shape] = {}

    def split(self, filter: Filter) -> tuple[Part, tuple[Filter, ...]]:
        """The shape of a filter, and its leaves by their numbers."""
        filter = canonical(filter)
        # Canonical children are in the same order: each list of leaves in a node is ascending.
        leaves = sorted(set(_leaves(filter)), key=lambda leaf: (leaf.depth, str(leaf)))
        numbers = {leaf: number for number, leaf in enumerate(leaves)}
        return self._shape(filter, numbers), tuple(leaves)

    def prunings(self, shape: Part) -> tuple[Part, ...]:
        """What single pruning steps make of a shape, each result once."""
        if isinstance(shape, int):
            return ()
        if shape._prunings is None:
            results: dict[Part, None] = {}
            for place, child in enumerate(shape.children):
                others = shape.children[:place] + shape.children[place + 1 :]
                if shape.is_and:
                    results[self._node(True, others)] = None
                for pruned in self.prunings(child):
                    results[self._node(shape.is_and, (*others, pruned))] = None
            shape._prunings = tuple(results)
        return shape._prunings

    def _shape(self, filter: Filter, numbers: dict[Filter, int]) -> Part:
        if isinstance(filter, And | Or):
            parts = [self._shape(child, numbers) for child in filter.children]
            return self._node(isinstance(filter, And), parts)
        return numbers[filter]

    def _node(self, is_and: bool, parts: Sequence[Part]) -> Part:
        distinct: dict[Part, None] = {}
        for part in parts:
            merges = isinstance(part, Shape) and part.is_and is is_and
            for each in part.children if isinstance(part, Shape) and merges else (part,):
                distinct[each] = None
        if len(distinct) == 1:
            return next(iter(distinct))
        children = sorted(distinct, key=lambda part: (_depth(part), text(part)))
        word = f"({'&' if is_and else '|'}{''.join(map(text, children))})"
        known = self._known.get(word)
        if known is None:
            depth = 1 + max(map(_depth, children))
            known = self._known[word] = Shape(is_and, tuple(children), depth, word)
        return known


def joined(shape: Part, leaves: Sequence[Filter]) -> Filter:
    """The canonical filter with this shape and these leaves."""
    if isinstance(shape, int):
        return leaves[shape]
    children = [joined(child, leaves) for child in shape.children]
    # Leaves stand in their order already. Texts are compared only where that may make a difference,
    # between subtrees, or a subtree and a negated leaf, which counts as one level deep.
    if shape.depth > 2 and sum(child.depth > 1 for child in children) > 1:
        children.sort(key=lambda child: (child.depth, str(child)))
    return (And if shape.is_and else Or)(tuple(children))


def size(part: Part) -> int:
    """The number of leaves."""
    return 1 if isinstance(part, int) else part.size


def text(part: Part) -> str:
    return chr(_FIRST_LEAF + part) if isinstance(part, int) else part.text


def _depth(part: Part) -> int:
    return 1 if isinstance(part, int) else part.depth


def _leaves(filter: Filter) -> Iterable[Filter]:
    if isinstance(filter, And | Or):
        for child in filter.children:
            yield from _leaves(child)
    else:
        yield filter
