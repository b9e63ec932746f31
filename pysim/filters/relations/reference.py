"""Both relation graphs in plain Python, to be held against the paper and against quicker ones.

It must not know anything of filters but whether one covers another.

Paper: the study of incremental covering, Sec. IV-A and IV-B. All roots are children of a virtual
node, which covers everything. Children are in order of insertion of their first keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Generic, Literal

from pysim.filters.covering import covers
from pysim.filters.index import DuplicateKeyError, K, UnknownKeyError
from pysim.filters.language import Filter
from pysim.filters.relations.graph import Placed


class Relation(Enum):
    """How one filter lies to another, as far as can be proven."""

    SUBSET = "is covered by"
    SUPERSET = "covers"
    EQUAL = "equals"
    OTHER = "neither covers nor is covered by"


def relation(one: Filter, other: Filter) -> Relation:
    """How the first filter lies to the second."""
    if covers(other, one):
        return Relation.EQUAL if covers(one, other) else Relation.SUBSET
    return Relation.SUPERSET if covers(one, other) else Relation.OTHER


class _Node(Generic[K]):
    __slots__ = ("children", "filter", "keys", "parents")

    def __init__(self, filter: Filter | None) -> None:
        self.filter = filter  # None: the virtual node
        self.keys: dict[K, int] = {}  # with the number of its insertion, which is their order
        self.parents: list[_Node[K]] = []
        self.children: list[_Node[K]] = []

    @property
    def key(self) -> K:
        return next(iter(self.keys))

    @property
    def number(self) -> int:
        return next(iter(self.keys.values()))


class _Graph(ABC, Generic[K]):
    """What both graphs have in common: keys, edges, and the count of comparisons.

    A subclass says how a new node is placed and where the children of a removed one go.
    """

    def __init__(self) -> None:
        self.comparisons = 0
        self._virtual: _Node[K] = _Node(None)
        self._nodes: dict[K, _Node[K]] = {}
        self._inserted = 0

    @property
    def root_count(self) -> int:
        return len(self._virtual.children)

    def insert(self, key: K, filter: Filter) -> Placed[K]:
        """Add a filter under a new key; `DuplicateKeyError` if the key is in use."""
        if key in self._nodes:
            raise DuplicateKeyError(key)
        self._inserted += 1
        node: _Node[K] = _Node(filter)
        node.keys[key] = self._inserted
        self._nodes[key] = node
        roots = list(self._virtual.children)
        examined = self._place(node)
        displaced = [root.key for root in roots if not self._is_root(root)]
        return Placed(not self._is_root(node), displaced, examined)

    def remove(self, key: K) -> Sequence[K]:
        """Take a filter out; the keys that were no roots and are now, in order of insertion."""
        stood_for_root = self.is_root(key)
        node = self._nodes.pop(key)
        del node.keys[key]
        if node.keys:
            _renumbered(node)
            return [node.key] if stood_for_root else []
        parents, children = list(node.parents), list(node.children)
        for parent in parents:
            _disconnect(parent, node)
        for child in children:
            _disconnect(node, child)
        self._lift(children, parents)
        return [child.key for child in children if stood_for_root and self._is_root(child)]

    def is_root(self, key: K) -> bool:
        """Whether the key stands for a root; `UnknownKeyError` if it is not in use."""
        if key not in self._nodes:
            raise UnknownKeyError(key)
        node = self._nodes[key]
        return self._is_root(node) and node.key == key

    def roots(self) -> Iterable[K]:
        """The keys of the roots, in order of insertion."""
        return [node.key for node in self._virtual.children]

    def edges(self) -> Iterable[tuple[K, K]]:
        """The keys of parents and of their children; no order."""
        nodes = [node for key, node in self._nodes.items() if node.key == key]
        return [(node.key, child.key) for node in nodes for child in node.children]

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    @abstractmethod
    def _place(self, node: _Node[K]) -> int:
        """Connect a new node, or combine it with an equal one; with how many roots compared."""

    @abstractmethod
    def _lift(self, children: list[_Node[K]], parents: list[_Node[K]]) -> None:
        """Connect the children of a node that is gone, which had these parents."""

    def _is_root(self, node: _Node[K]) -> bool:
        return self._virtual in node.parents

    def _relation(self, one: _Node[K], other: _Node[K]) -> Relation:
        assert one.filter is not None
        assert other.filter is not None
        self.comparisons += 1
        return relation(one.filter, other.filter)

    def _combine(self, node: _Node[K], into: _Node[K]) -> None:
        """Give the keys of a node to an equal one."""
        keys = into.keys | node.keys
        into.keys = {key: keys[key] for key in sorted(keys, key=keys.__getitem__)}
        _renumbered(into)
        for key in node.keys:
            self._nodes[key] = into


class SimplifiedGraph(_Graph[K]):
    """The simplified subscription relation graph, Algorithm 1: each node has one parent.

    The first parent found is kept and no other sought, so all is a tree below the virtual node, and
    equal filters below different parents are nodes of their own until they meet.

    Removal is not in the algorithm, but Properties 5 and 6 leave little choice. The children of a
    removed node C go to its parent, unless a sibling of C covers them, of which Algorithm 1 need
    not have known; then they are inserted from there, as in Sec. IV-C. None of them covers a
    sibling of C, or else C would have covered it, and they do not cover each other.

    A node that moves takes along what is below it. Where Algorithm 1 would connect to it what it
    covers, it may have children already that cover these, or that these cover: to keep Property 6,
    they are inserted from it as well.
    """

    def _place(self, node: _Node[K]) -> int:
        roots, key = list(self._virtual.children), node.key
        self._insert_from(self._virtual, node)
        top = self._nodes[key]
        while not self._is_root(top):
            (top,) = top.parents
        return roots.index(top) + 1 if top in roots else len(roots)

    def _lift(self, children: list[_Node[K]], parents: list[_Node[K]]) -> None:
        (parent,) = parents
        siblings = list(parent.children)
        for child in children:
            above, _ = self._scan(siblings, child)
            if above is None:
                _connect(parent, child)
            else:
                self._insert_from(above[0], child)

    def _insert_from(self, parent: _Node[K], node: _Node[K]) -> None:
        """Algorithm 1, with what is to be inserted on a stack: chains may be longer than Python's.

        What is pushed ends up below the parent it is pushed with, before this one is touched again.
        """
        pending = [(parent, node)]
        while pending:
            parent, node = pending.pop()
            above, covered = self._scan(parent.children, node)
            if above is None:
                pending += self._connect_between(parent, node, covered)
            elif above[1] is Relation.SUBSET:
                pending.append((above[0], node))
            else:
                self._combine(node, above[0])
                pending += [(above[0], child) for child in _taken_from(node, node.children)]

    def _scan(
        self, children: Sequence[_Node[K]], node: _Node[K]
    ) -> tuple[tuple[_Node[K], Relation] | None, list[_Node[K]]]:
        """The first of the children that covers or equals the node; those before it, covered."""
        covered: list[_Node[K]] = []
        for child in children:
            relation = self._relation(node, child)
            if relation in (Relation.SUBSET, Relation.EQUAL):
                return (child, relation), covered
            if relation is Relation.SUPERSET:
                covered.append(child)
        return None, covered

    def _connect_between(
        self, parent: _Node[K], node: _Node[K], covered: list[_Node[K]]
    ) -> list[tuple[_Node[K], _Node[K]]]:
        """Connect a node and what it covers of its parent's children; what is to be inserted."""
        _connect(parent, node)
        if node.children:
            return [(node, child) for child in _taken_from(parent, covered)]
        for child in covered:
            _disconnect(parent, child)
            _connect(node, child)
        return []


class TraditionalGraph(_Graph[K]):
    """The subscription relation graph of SIENA and PADRES, with all covering relations.

    An edge leads from a filter to another that it covers unless one lies between the two. To insert
    a filter, all its parents are found from the roots downwards, then all descendants of these are
    compared to find its children; each node is compared once, and all roots are, unless an equal
    filter is met. A removal compares nothing: all that it needs is in the edges.

    Where `covers` gives up, it is not transitive, but edges are. So a node from which they lead to
    a new one is never put below it as well: that would be a circle, which has no root.
    """

    def _place(self, node: _Node[K]) -> int:
        known: dict[_Node[K], Relation] = {}
        covering = self._explore([self._virtual], node, known, only_covering=True)
        examined = sum(root in known for root in self._virtual.children)
        above = _closure(covering, "parents")
        parents = [other for other in covering if other not in above]
        if Relation.EQUAL not in known.values():
            self._explore(parents, node, known, only_covering=False)
        equal = [other for other, found in known.items() if found is Relation.EQUAL]
        if equal:
            self._combine(node, equal[0])
        else:
            covered = [other for other, found in known.items() if found is Relation.SUPERSET]
            self._connect_between(parents, node, [other for other in covered if other not in above])
        return examined

    def _lift(self, children: list[_Node[K]], parents: list[_Node[K]]) -> None:
        below = _closure(children, "children")
        for child in children:
            above = _closure([child], "parents")
            for parent in parents:
                if parent not in above and child not in below:
                    _connect(parent, child)

    def _explore(
        self,
        start: list[_Node[K]],
        node: _Node[K],
        known: dict[_Node[K], Relation],
        only_covering: bool,
    ) -> list[_Node[K]]:
        """Go down, comparing, until an equal filter is met; what was passed, in its order."""
        passed, seen = list(start), set(start)
        for other in passed:
            for child in other.children:
                if child in seen:
                    continue
                seen.add(child)
                if child not in known:
                    known[child] = self._relation(node, child)
                if known[child] is Relation.EQUAL:
                    return passed
                if known[child] is Relation.SUBSET or not only_covering:
                    passed.append(child)
        return passed

    def _connect_between(
        self, parents: list[_Node[K]], node: _Node[K], covered: list[_Node[K]]
    ) -> None:
        below = _closure(covered, "children")
        for parent in parents:
            _connect(parent, node)
        above = _closure([node], "parents")
        for child in covered:
            if child in below:
                continue
            for parent in above.intersection(child.parents):
                _disconnect(parent, child)
            _connect(node, child)


def _connect(parent: _Node[K], child: _Node[K]) -> None:
    insort(parent.children, child, key=lambda node: node.number)
    child.parents.append(parent)


def _disconnect(parent: _Node[K], child: _Node[K]) -> None:
    parent.children.remove(child)
    child.parents.remove(parent)


def _renumbered(node: _Node[K]) -> None:
    """Put a node whose keys have changed where it belongs."""
    for parent in node.parents:
        parent.children.sort(key=lambda child: child.number)


def _taken_from(parent: _Node[K], children: list[_Node[K]]) -> list[_Node[K]]:
    """The children, disconnected; the first of them last, as a stack wants them."""
    taken = list(reversed(children))
    for child in taken:
        _disconnect(parent, child)
    return taken


def _closure(nodes: Iterable[_Node[K]], towards: Literal["parents", "children"]) -> set[_Node[K]]:
    """All that lies above some nodes, or all that lies below them."""
    found: set[_Node[K]] = set()
    pending = list(nodes)
    while pending:
        others: list[_Node[K]] = getattr(pending.pop(), towards)
        pending += [other for other in others if other not in found]
        found.update(others)
    return found
