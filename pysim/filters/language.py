"""The one subscription language: what a filter is, when it matches, when two are the same.

It must not know how a filter is parsed, how it travels or how it is indexed.

Every filter that exists is valid: a constructor refuses what the language does not have, with a
`FilterError`, so that matching, printing and comparing never fail.

A predicate asserts something about a value that is there. So a missing attribute fails every
predicate, and so does a value of the other kind, a string where the predicate has a number. This
holds for `!=` too: `special != "none"` says that there is a special, and that it is another one.
(Who also wants events without one writes `not special = "none"`.) One rule for all operators keeps
each predicate a plain set of values of one kind, which is what indexing and covering rest upon.

Hence `not price < 5` is not `price >= 5`: it also holds without a price. A negation moves down to
the predicates, never into their operators.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from hashlib import blake2b
from typing import Any

from pysim.filters.values import (
    Event,
    FilterError,
    Kind,
    Range,
    Value,
    kind_of,
    name_text,
    normalized_name,
    normalized_value,
    shown,
    value_text,
)

MAX_DEPTH = 100
"""Levels of a tree, a lone predicate being one: recursion over any filter is safe."""


class Operator(Enum):
    """What a predicate may ask, by the word that asks it."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    PREFIX = "prefix"
    SUFFIX = "suffix"
    CONTAINS = "contains"
    IN = "in"
    EXISTS = "exists"

    __hash__ = object.__hash__  # members are single, and Enum's own hash is written in Python


STRING_OPERATORS = frozenset({Operator.PREFIX, Operator.SUFFIX, Operator.CONTAINS})

_TESTS: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
    Operator.PREFIX: str.startswith,
    Operator.SUFFIX: str.endswith,
    Operator.CONTAINS: operator.contains,
    Operator.IN: lambda value, bounds: value in bounds,
}


class Filter(ABC):
    """What every filter can do; a subclass says what it consists of and how deep it is.

    The classes are written out, not dataclasses, for two reasons: a filter is a key of hot tables,
    so its hash is computed once; and a codec that knows dataclasses would write a filter's fields
    instead of its wire form.
    """

    __slots__ = ("_hash", "depth")

    depth: int
    _hash: int

    def _settle(self, depth: int) -> None:
        """The last step of construction, when all parts are in place."""
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "_hash", hash((type(self), *self._parts())))

    @abstractmethod
    def matches(self, event: Event) -> bool:
        """Whether the event fulfils this filter: exact, and defined for every event."""

    @property
    def key(self) -> str:
        """The identity as a short string, the same in every process: equal iff canonically equal.

        It is computed at each call; inside one process the canonical filter is itself a dict key.
        """
        return blake2b(str(self._canonical(False)).encode(), digest_size=16).hexdigest()

    @abstractmethod
    def _canonical(self, negated: bool) -> Filter:
        """The canonical form of this filter, or of its negation."""

    @abstractmethod
    def _parts(self) -> tuple[object, ...]:
        """What two filters of one class must have in common to be equal."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Filter)
        return self._hash == other._hash and self._parts() == other._parts()

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a filter is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a filter is immutable: {name} cannot be deleted")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._parts()))})"

    def __reduce__(self) -> tuple[type[Filter], tuple[object, ...]]:
        return type(self), self._parts()


class Predicate(Filter):
    """One test of one attribute: `Predicate("price", Operator.LT, 30)`.

    The value is a `Range` for IN, a string for PREFIX, SUFFIX and CONTAINS, None for EXISTS. Only
    values of its `kind` fulfil it; None stands for both kinds.
    """

    __slots__ = ("attribute", "kind", "operator", "value")

    attribute: str
    operator: Operator
    value: Value | Range | None
    kind: Kind | None

    def __init__(
        self, attribute: str, operator: Operator, value: Value | Range | None = None
    ) -> None:
        operand = _operand(operator, value)
        sample = operand.low if isinstance(operand, Range) else operand
        object.__setattr__(self, "attribute", normalized_name(attribute))
        object.__setattr__(self, "operator", operator)
        object.__setattr__(self, "value", operand)
        object.__setattr__(self, "kind", kind_of(sample))
        self._settle(1)

    def matches(self, event: Event) -> bool:
        value = event.get(self.attribute)
        kind = kind_of(value)
        if kind is None:
            return False
        if self.operator is Operator.EXISTS:
            return True
        return kind is self.kind and _TESTS[self.operator](value, self.value)

    def __str__(self) -> str:
        name = name_text(self.attribute)
        if self.value is None:
            return f"exists {name}"
        value = str(self.value) if isinstance(self.value, Range) else value_text(self.value)
        return f"{name} {self.operator.value} {value}"

    def _parts(self) -> tuple[object, ...]:
        return self.attribute, self.operator, self.value

    def _canonical(self, negated: bool) -> Filter:
        return Not(self) if negated else self


class Not(Filter):
    """Matches exactly the events that its child does not match."""

    __slots__ = ("child",)

    child: Filter

    def __init__(self, child: Filter) -> None:
        object.__setattr__(self, "child", child)
        self._settle(_depth_above((child,)))

    def matches(self, event: Event) -> bool:
        return not self.child.matches(event)

    def __str__(self) -> str:
        return f"not {_operand_text(self.child)}"

    def _parts(self) -> tuple[object, ...]:
        return (self.child,)

    def _canonical(self, negated: bool) -> Filter:
        return self.child._canonical(not negated)


class _Junction(Filter):
    """What AND and OR share: one child or more, in an order that means nothing."""

    __slots__ = ("children",)

    children: tuple[Filter, ...]

    def __init__(self, children: tuple[Filter, ...]) -> None:
        object.__setattr__(self, "children", children)
        self._settle(_depth_above(children))

    def _parts(self) -> tuple[object, ...]:
        return (self.children,)


class And(_Junction):
    """Matches the events that all its children match."""

    __slots__ = ()

    def matches(self, event: Event) -> bool:
        # A loop, because all() over a generator takes twice as long where the first child fails.
        for child in self.children:  # noqa: SIM110
            if not child.matches(event):
                return False
        return True

    def __str__(self) -> str:
        return " and ".join(map(_operand_text, self.children))

    def _canonical(self, negated: bool) -> Filter:
        return _canonical_junction(Or if negated else And, self.children, negated)


class Or(_Junction):
    """Matches the events that at least one of its children matches."""

    __slots__ = ()

    def matches(self, event: Event) -> bool:
        for child in self.children:  # noqa: SIM110  (a loop for the same reason as in And)
            if child.matches(event):
                return True
        return False

    def __str__(self) -> str:
        return " or ".join(map(_operand_text, self.children))

    def _canonical(self, negated: bool) -> Filter:
        return _canonical_junction(And if negated else Or, self.children, negated)


def canonical(filter: Filter) -> Filter:
    """The one form of all filters that differ only in how they are written down.

    Negations stand at the predicates, nested equal operators are merged, duplicates removed, single
    children take their parent's place, and children are in order: the shallower first, which are
    the cheaper ones to evaluate, then by their texts. It means the same as the filter it was made
    from. It is no minimal form: `a and (a or b)` stays as it is.
    """
    return filter._canonical(False)


def _canonical_junction(
    node: type[And] | type[Or], children: tuple[Filter, ...], negated: bool
) -> Filter:
    parts: set[Filter] = set()
    for child in children:
        part = child._canonical(negated)
        parts.update(part.children if isinstance(part, node) else (part,))
    ordered = sorted(parts, key=lambda part: (part.depth, str(part)))
    return ordered[0] if len(ordered) == 1 else node(tuple(ordered))


def _operand(operator: Operator, value: object) -> Value | Range | None:
    """The value in its one form, if it is one that the operator takes."""
    if not isinstance(operator, Operator):
        raise FilterError(f"Expected an Operator, found {shown(operator)}")
    if operator is Operator.EXISTS:
        if value is not None:
            raise FilterError(f"Expected no value for exists, found {shown(value)}")
        return None
    if operator is Operator.IN:
        if not isinstance(value, Range):
            raise FilterError(f"Expected a range for in, found {shown(value)}")
        return value
    if operator in STRING_OPERATORS and not isinstance(value, str):
        raise FilterError(f"Expected a string for {operator.value}, found {shown(value)}")
    return normalized_value(value)


def _depth_above(children: tuple[Filter, ...]) -> int:
    """The depth of a node with these children, if it may have them."""
    if not isinstance(children, tuple) or not children:
        raise FilterError(f"Expected a tuple of at least one filter, found {shown(children)}")
    for child in children:
        if not isinstance(child, Filter):
            raise FilterError(f"Expected a filter, found {shown(child)}")
    depth = 1 + max(child.depth for child in children)
    if depth > MAX_DEPTH:
        raise FilterError(f"Expected a filter of at most {MAX_DEPTH} levels, found {depth}")
    return depth


def _operand_text(child: Filter) -> str:
    return f"({child})" if isinstance(child, _Junction) else str(child)
