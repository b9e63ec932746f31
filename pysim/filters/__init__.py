"""The subscription language of the whole project, and the engines that match events against it.

A filter is an immutable Boolean expression over predicates on an event's attributes:

    from pysim.filters import MatchingIndex, new_index, parse

    index: MatchingIndex[str] = new_index()
    index.insert("ann", parse('price < 30 and (author = "Le Guin" or exists signed)'))
    index.match({"price": 12, "author": "Le Guin"})          # {"ann"}

`language` defines what filters are, what they mean and when two are the same (`canonical`, `.key`);
`parser` reads text and `str(filter)` writes it; `wire` turns a filter into nested arrays for a
codec and back.

The seam is `MatchingIndex`: who routes events knows this protocol only, so engines can be swapped.
`LinearIndex` is the reference that any engine has to agree with; `CountingIndex` is the two-step
engine in plain Python. In C++ there are `native.NativeIndex`, for small tables in the simulator and
for hundreds of thousands of filters; `two_step.TwoStepIndex`, the two-step engine as published,
which tells sizes and selectivities; and `native.ScanningIndex`, which evaluates every filter.
`new_index()` makes the quickest that there is; `boxes.BoxIndex` is the observer's own, so that it
does not rest on what it judges. Covering, merging and pruning are modules of their own that take
filters and give filters; `relations` keeps the graphs of which filters cover which.

The layer knows nothing of brokers, messages, networks or time.
"""

from pysim.filters.choice import new_index
from pysim.filters.counting import CountingIndex
from pysim.filters.index import DuplicateKeyError, MatchingIndex, UnknownKeyError
from pysim.filters.language import And, Filter, Not, Operator, Or, Predicate, canonical
from pysim.filters.parser import FilterSyntaxError, parse
from pysim.filters.reference import LinearIndex
from pysim.filters.values import Event, FilterError, Range, Value
from pysim.filters.wire import FilterDecodeError, from_wire, to_wire

__all__ = [
    "And",
    "CountingIndex",
    "DuplicateKeyError",
    "Event",
    "Filter",
    "FilterDecodeError",
    "FilterError",
    "FilterSyntaxError",
    "LinearIndex",
    "MatchingIndex",
    "Not",
    "Operator",
    "Or",
    "Predicate",
    "Range",
    "UnknownKeyError",
    "Value",
    "canonical",
    "from_wire",
    "new_index",
    "parse",
    "to_wire",
]
