"""A run to watch: one page that plays its overlay and its messages, and sequence charts.

It reads a run's files, simulates nothing, and starts no Spark session.
"""

from analysis.replay.build import build_chart, build_page
from analysis.replay.moves import ReplayError

__all__ = ["ReplayError", "build_chart", "build_page"]
