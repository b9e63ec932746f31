"""Comparisons: runs of several protocols on the same workload and overlay, and who needs less."""

from analysis.comparison import kept
from analysis.comparison.export import Written, as_dict, write
from analysis.comparison.numbers import Numbers, gather, numbers
from analysis.comparison.results import Comparison, UnfairError, read
from analysis.comparison.tables import text

__all__ = [
    "Comparison",
    "Numbers",
    "UnfairError",
    "Written",
    "as_dict",
    "gather",
    "kept",
    "numbers",
    "read",
    "text",
    "write",
]
