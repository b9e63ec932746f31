"""Filters and events from domains so small that they often meet, with odd values of each kind."""

from __future__ import annotations

from hypothesis import strategies as st

from pysim.filters import And, Event, Filter, FilterError, Not, Operator, Or, Predicate, Range

_NAMES = ("a", "b", "c", "not", "two words", "`")
_TEXT_OPERATORS = (Operator.PREFIX, Operator.SUFFIX, Operator.CONTAINS)
_COMPARISONS = (
    Operator.EQ,
    Operator.NE,
    Operator.LT,
    Operator.LE,
    Operator.GT,
    Operator.GE,
)

names = st.sampled_from(_NAMES[:3] * 4 + _NAMES[3:])

numbers = st.one_of(
    st.integers(-2, 4),
    st.sampled_from([-0.0, 0.5, 1.0, 1.5, 2.5]),
    st.sampled_from([2**53, 2**53 + 1, float(2**53), -(2**63), 2**63 - 1, float(2**63), 1e300]),
)

strings = st.one_of(
    st.text("xy", max_size=4),
    st.sampled_from(["", '"', "\\", "\n", "\u2028", "\x00", "ä", "𝄞", "xyxyxyxy"]),
)

values = st.one_of(numbers, strings)


@st.composite
def _ranges(draw: st.DrawFn) -> Range:
    ends = draw(st.one_of(st.tuples(numbers, numbers), st.tuples(strings, strings)))
    low, high = sorted(ends)
    try:
        return Range(low, high, draw(st.booleans()), draw(st.booleans()))
    except FilterError:  # equal ends hold a value only if both belong to the range
        return Range(low, high, True, True)


predicates = st.one_of(
    st.builds(Predicate, names, st.sampled_from(_COMPARISONS), values),
    st.builds(Predicate, names, st.sampled_from(_TEXT_OPERATORS), strings),
    st.builds(Predicate, names, st.just(Operator.IN), _ranges()),
    st.builds(Predicate, names, st.just(Operator.EXISTS)),
)


def _above(children: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    some = st.lists(children, min_size=1, max_size=4).map(tuple)
    return st.one_of(st.builds(And, some), st.builds(Or, some), st.builds(Not, children))


filters: st.SearchStrategy[Filter] = st.recursive(predicates, _above, max_leaves=8)

foreign_values = st.sampled_from(
    [True, False, float("nan"), float("inf"), 10**400, -(10**400), None, b"x", ["x"]]
)

events: st.SearchStrategy[Event] = st.dictionaries(
    names, st.one_of(numbers, strings, numbers, strings, foreign_values), max_size=5
)
