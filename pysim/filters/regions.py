"""What an attribute may be for some predicates to hold: sets of values, kept as intervals.

It must not know filters' trees, nor how a search uses these sets.

An attribute is missing, a number or a string. A region says which of these are allowed. Values of
one kind are kept as *cuts*: the places, in order, at which one steps into the set or out of it, and
an odd number of them means that the set has no upper end. A cut lies just below or just above a
number; every string has a next one, itself and a NUL, so a cut of strings is just below one.

Numbers are taken as dense. They are not quite: nothing lies between 2**53 and 2**53 + 1. A set that
is empty for that reason only is not recognized, which loses a covering and never makes one up.

A prefix is an interval of strings. A suffix or a part is not: such patterns are kept beside the
intervals, and emptiness is claimed only where it can be proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple, TypeAlias

from pysim.filters.language import Operator, Predicate
from pysim.filters.values import Kind, Range, Value

Cuts: TypeAlias = tuple[Any, ...]

ALL_NUMBERS: Cuts = ((-inf, 0),)
ALL_STRINGS: Cuts = ("",)
_LAST_CHARACTER = 0x10FFFF


class Pattern(NamedTuple):
    """A suffix or a part that a string has, or has not."""

    operator: Operator
    text: str
    wanted: bool

    def allows(self, string: str) -> bool:
        if self.operator is Operator.SUFFIX:
            return string.endswith(self.text) is self.wanted
        return (self.text in string) is self.wanted


class Region(NamedTuple):
    """What an attribute may be; `patterns` are what its strings must fulfil besides."""

    missing: bool
    numbers: Cuts
    strings: Cuts
    patterns: tuple[Pattern, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the attribute can provably be nothing at all."""
        return not (self.missing or self.numbers or self.strings)

    @property
    def is_surely_not_empty(self) -> bool:
        """Whether a state of the attribute can be named that lies in the region."""
        if self.missing or self.numbers or not self.patterns:
            return not self.is_empty
        return any(_has_witness(low, high, self.patterns) for low, high in pieces(self.strings))

    def points(self) -> frozenset[Value] | None:
        """The values, if these are all that the attribute may be and each was named one by one."""
        if self.missing or len(self.numbers) % 2 or len(self.strings) % 2:
            return None
        if any(low[0] != high[0] for low, high in pieces(self.numbers)):
            return None
        if any(high != _above(low) for low, high in pieces(self.strings)):
            return None
        return frozenset([*(low for low, _ in self.numbers[::2]), *self.strings[::2]])


ANYTHING = Region(True, ALL_NUMBERS, ALL_STRINGS)


def inside(predicate: Predicate) -> Region:
    """Where the predicate holds."""
    if predicate.operator is Operator.EXISTS:
        return Region(False, ALL_NUMBERS, ALL_STRINGS)
    if predicate.kind is Kind.NUMBER:
        return Region(False, _number_cuts(predicate), ())
    pattern = _pattern(predicate, wanted=True)
    if pattern:
        return Region(False, (), ALL_STRINGS, (pattern,))
    return Region(False, (), _string_cuts(predicate))


def outside(predicate: Predicate) -> Region:
    """Where the predicate does not hold: elsewhere, on all values of the other kind, on nothing."""
    if predicate.operator is Operator.EXISTS:
        return Region(True, (), ())
    if predicate.kind is Kind.NUMBER:
        return Region(True, _complement(_number_cuts(predicate), ALL_NUMBERS), ALL_STRINGS)
    pattern = _pattern(predicate, wanted=False)
    if pattern:
        return Region(True, ALL_NUMBERS, ALL_STRINGS, (pattern,))
    return Region(True, ALL_NUMBERS, _complement(_string_cuts(predicate), ALL_STRINGS))


def both(one: Region, other: Region) -> Region:
    """The states that lie in both regions."""
    strings = intersection(one.strings, other.strings)
    patterns = one.patterns + other.patterns
    if patterns:
        strings, patterns = _refined(strings, tuple(dict.fromkeys(patterns)))
    return Region(
        one.missing and other.missing,
        intersection(one.numbers, other.numbers),
        strings,
        patterns,
    )


def either(one: Region, other: Region) -> Region:
    """The states that lie in at least one of two regions without patterns."""
    return Region(
        one.missing or other.missing,
        _union(one.numbers, other.numbers, ALL_NUMBERS),
        _union(one.strings, other.strings, ALL_STRINGS),
    )


def meet(one: Region, other: Region) -> bool:
    """Whether two regions are not provably apart; the same as asking what is in `both`."""
    if one.missing and other.missing:
        return True
    if cuts_meet(one.numbers, other.numbers):
        return True
    if one.patterns or other.patterns:
        return bool(both(one, other).strings)
    return cuts_meet(one.strings, other.strings)


def pieces(cuts: Cuts) -> Iterator[tuple[Any, Any]]:
    """The intervals, each by the cut that begins it and the one that ends it; None for no end."""
    for place in range(0, len(cuts), 2):
        yield cuts[place], cuts[place + 1] if place + 1 < len(cuts) else None


def intersection(one: Cuts, other: Cuts) -> Cuts:
    """The cuts of what lies in both sets: a place counts where the second of the two begins."""
    cuts: list[Any] = []
    i = j = 0
    while i < len(one) and j < len(other):
        a, b = one[i], other[j]
        before = i & j & 1
        if a <= b:
            i += 1
        if b <= a:
            j += 1
        if i & j & 1 != before:
            cuts.append(min(a, b))
    # A set that has no cuts left is entered for good or left for good.
    if i == len(one) and i & 1:
        cuts.extend(other[j:])
    elif j == len(other) and j & 1:
        cuts.extend(one[i:])
    return tuple(cuts)


def cuts_meet(one: Cuts, other: Cuts) -> bool:
    """Whether the intersection is not empty, without making it."""
    i = j = 0
    ones, others = len(one), len(other)
    while i < ones and j < others:
        a, b = one[i], other[j]
        if a <= b:
            i += 1
        if b <= a:
            j += 1
        if i & j & 1:
            return True
    return bool((i & 1 and j < others) or (j & 1 and i < ones))


def _union(one: Cuts, other: Cuts, everything: Cuts) -> Cuts:
    neither = intersection(_complement(one, everything), _complement(other, everything))
    return _complement(neither, everything)


def _complement(cuts: Cuts, everything: Cuts) -> Cuts:
    return cuts[1:] if cuts[:1] == everything else everything + cuts


def _number_cuts(predicate: Predicate) -> Cuts:
    value: Any = predicate.value
    if isinstance(value, Range):
        return ((value.low, int(not value.low_closed)), (value.high, int(value.high_closed)))
    return _compared(predicate.operator, (value, 0), (value, 1), ALL_NUMBERS)


def _string_cuts(predicate: Predicate) -> Cuts:
    value: Any = predicate.value
    if isinstance(value, Range):
        low = value.low if value.low_closed else _above(str(value.low))
        high = _above(str(value.high)) if value.high_closed else value.high
        return (low, high) if low != high else ()
    if predicate.operator is Operator.PREFIX:
        end = _after_prefix(value)
        return (value,) if end is None else (value, end)
    if predicate.operator in (Operator.SUFFIX, Operator.CONTAINS):
        return ALL_STRINGS  # with a text, it would be a pattern
    return _compared(predicate.operator, value, _above(value), ALL_STRINGS)


def _compared(operator: Operator, below: Any, above: Any, everything: Cuts) -> Cuts:
    """The cuts of a comparison with the value between two cuts."""
    if operator is Operator.EQ:
        return (below, above)
    if operator is Operator.NE:
        return _complement((below, above), everything)
    if operator is Operator.GT:
        return (above,)
    if operator is Operator.GE:
        return (below,)
    return _complement((above,) if operator is Operator.LE else (below,), everything)


def _above(string: str) -> str:
    return string + "\0"


def _after_prefix(prefix: str) -> str | None:
    """The first string behind all those with the prefix; None if there is none."""
    body = prefix.rstrip(chr(_LAST_CHARACTER))
    return body[:-1] + chr(ord(body[-1]) + 1) if body else None


def _pattern(predicate: Predicate, wanted: bool) -> Pattern | None:
    text = predicate.value
    if predicate.operator in (Operator.SUFFIX, Operator.CONTAINS) and text:
        return Pattern(predicate.operator, str(text), wanted)
    return None


def _refined(strings: Cuts, patterns: tuple[Pattern, ...]) -> tuple[Cuts, tuple[Pattern, ...]]:
    """The strings without the intervals that patterns rule out, and the patterns still of use."""
    if not strings or _contradict(patterns):
        return (), ()
    kept: list[Any] = []
    is_open = False
    for low, high in pieces(strings):
        if high == _above(low):
            allowed = all(pattern.allows(low) for pattern in patterns)
        else:
            start = _common_start(low, high)
            allowed = not any(_is_violated_by_part(pattern, start) for pattern in patterns)
            is_open = is_open or allowed
        if allowed:
            kept += [low] if high is None else [low, high]
    return tuple(kept), patterns if is_open else ()


def _contradict(patterns: tuple[Pattern, ...]) -> bool:
    for pattern in patterns:
        if not pattern.wanted:
            continue
        for other in patterns:
            if other.wanted:
                ends = pattern.operator is other.operator is Operator.SUFFIX
                if ends and not (
                    pattern.text.endswith(other.text) or other.text.endswith(pattern.text)
                ):
                    return True
            elif other.operator is Operator.CONTAINS:
                if other.text in pattern.text:
                    return True
            elif pattern.operator is Operator.SUFFIX and pattern.text.endswith(other.text):
                return True
    return False


def _is_violated_by_part(pattern: Pattern, part: str) -> bool:
    return not pattern.wanted and pattern.operator is Operator.CONTAINS and pattern.text in part


def _common_start(low: str, high: str | None) -> str:
    """What all strings from `low` up to and without `high` begin with."""
    if high is None:
        return ""
    length = 0
    while length < len(low) and length < len(high) and low[length] == high[length]:
        length += 1
    longer = low[: length + 1]
    return longer if len(longer) > length and _after_prefix(longer) == high else low[:length]


def _has_witness(low: str, high: str | None, patterns: tuple[Pattern, ...]) -> bool:
    """Whether one of two likely strings of the interval fulfils all patterns."""
    wanted = [pattern for pattern in patterns if pattern.wanted]
    parts = [pattern.text for pattern in wanted if pattern.operator is Operator.CONTAINS]
    ends = [pattern.text for pattern in wanted if pattern.operator is Operator.SUFFIX]
    built = "".join([low, *parts, max(ends, key=len, default="")])
    return any(
        low <= string
        and (high is None or string < high)
        and all(pattern.allows(string) for pattern in patterns)
        for string in (low, built)
    )
