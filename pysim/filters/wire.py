"""Filters as nested arrays of small integers, numbers and strings, compact in any codec.

It must not know which codec turns them into bytes, nor anything of messages. The table, in which a
code never changes its meaning and a new form gets a new code:

    code   form                               filter
    0      [0, filter, ...]                   and
    1      [1, filter, ...]                   or
    2      [2, filter]                        not
    3-8    [code, name, value]                =  !=  <  <=  >  >=
    9-11   [code, name, string]               prefix  suffix  contains
    12     [12, name]                         exists
    13-16  [code, name, low, high]            in  [low, high]  [low, high)  (low, high]  (low, high)

A filter is encoded as it stands; who wants equal bytes for equal filters encodes `canonical(f)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from pysim.filters.language import MAX_DEPTH, And, Filter, Not, Operator, Or, Predicate
from pysim.filters.values import (
    FilterError,
    Range,
    Value,
    normalized_name,
    normalized_value,
    shown,
)

_Made = TypeVar("_Made")

Wire: TypeAlias = tuple["Value | Wire", ...]

_AND, _OR, _NOT = 0, 1, 2

_COMPARISONS = {
    3: Operator.EQ,
    4: Operator.NE,
    5: Operator.LT,
    6: Operator.LE,
    7: Operator.GT,
    8: Operator.GE,
    9: Operator.PREFIX,
    10: Operator.SUFFIX,
    11: Operator.CONTAINS,
}
_EXISTS = 12
_RANGES = {13: (True, True), 14: (True, False), 15: (False, True), 16: (False, False)}
_LAST = 16

_CODES = {operator: code for code, operator in _COMPARISONS.items()}
_RANGE_CODES = {closed: code for code, closed in _RANGES.items()}


class FilterDecodeError(FilterError):
    """An object that is no filter's wire form; the message names the place inside it."""

    def __init__(self, problem: str, place: str) -> None:
        super().__init__(problem, place)
        self.problem = problem
        self.place = place

    def __str__(self) -> str:
        return f"{self.problem} at {self.place}."


def to_wire(filter: Filter) -> Wire:
    """The wire form, made of nothing but tuples, ints, floats and strs."""
    if isinstance(filter, Predicate):
        return _predicate_to_wire(filter)
    if isinstance(filter, Not):
        return (_NOT, to_wire(filter.child))
    assert isinstance(filter, And | Or)
    code = _AND if isinstance(filter, And) else _OR
    return (code, *map(to_wire, filter.children))


def from_wire(wire: object) -> Filter:
    """The filter whose wire form this is; `FilterDecodeError` for anything else whatsoever.

    Arrays may be tuples or lists: codecs give back either.
    """
    return _decode(wire, "$", 1)


def _predicate_to_wire(predicate: Predicate) -> Wire:
    value = predicate.value
    if value is None:
        return (_EXISTS, predicate.attribute)
    if isinstance(value, Range):
        code = _RANGE_CODES[value.low_closed, value.high_closed]
        return (code, predicate.attribute, value.low, value.high)
    return (_CODES[predicate.operator], predicate.attribute, value)


def _decode(wire: object, place: str, depth: int) -> Filter:
    if not isinstance(wire, (tuple, list)):
        raise FilterDecodeError(f"Expected an array, found {shown(wire)}", place)
    if depth > MAX_DEPTH:
        raise FilterDecodeError(f"Expected at most {MAX_DEPTH} levels, found more", place)
    code = wire[0] if wire else None
    if type(code) is not int or not _AND <= code <= _LAST:
        problem = f"Expected a code from {_AND} to {_LAST}, found {shown(code)}"
        raise FilterDecodeError(problem, f"{place}[0]")
    if code > _NOT:
        return _decode_predicate(code, wire, place)
    if len(wire) < 2 or (code == _NOT and len(wire) > 2):
        expected = "one filter" if code == _NOT else "at least one filter"
        raise FilterDecodeError(f"Expected {expected}, found {len(wire) - 1}", place)
    children = tuple(
        _decode(child, f"{place}[{i}]", depth + 1) for i, child in enumerate(wire[1:], start=1)
    )
    if code == _NOT:
        return Not(children[0])
    return And(children) if code == _AND else Or(children)


def _decode_predicate(code: int, wire: Sequence[object], place: str) -> Predicate:
    length = 2 if code == _EXISTS else 4 if code in _RANGES else 3
    if len(wire) != length:
        raise FilterDecodeError(f"Expected an array of {length}, found {len(wire)}", place)
    name = _checked(f"{place}[1]", normalized_name, wire[1])
    values = [_checked(f"{place}[{i}]", _value, wire[i]) for i in range(2, length)]
    return _checked(place, _predicate, code, name, values)


def _predicate(code: int, name: str, values: list[Value]) -> Predicate:
    if code == _EXISTS:
        return Predicate(name, Operator.EXISTS)
    if code in _RANGES:
        (low, high), (low_closed, high_closed) = values, _RANGES[code]
        return Predicate(name, Operator.IN, Range(low, high, low_closed, high_closed))
    return Predicate(name, _COMPARISONS[code], values[0])


def _value(value: object) -> Value:
    """Stricter than the language: no codec turns a bool of ours into 1, so one is a mistake."""
    if isinstance(value, bool):
        raise FilterError(f"Expected an integer, a float or a string, found {value}")
    return normalized_value(value)


def _checked(place: str, make: Callable[..., _Made], *arguments: object) -> _Made:
    """What the language itself refuses becomes an error with a place."""
    try:
        return make(*arguments)
    except FilterError as error:
        raise FilterDecodeError(str(error), place) from None
