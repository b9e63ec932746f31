"""Comparisons: runs of several protocols on the same workload and overlay, and who needs less."""

from analysis.comparison.export import Written, as_dict, write
from analysis.comparison.results import Comparison, UnfairError, read
from analysis.comparison.tables import text

__all__ = ["Comparison", "UnfairError", "Written", "as_dict", "read", "text", "write"]
