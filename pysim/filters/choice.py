"""Which engine to use: the native one where it has been built, else the one in plain Python.

It must not know how they differ. A source tree without a compiler has no native engine.
"""

from __future__ import annotations

from importlib.util import find_spec

from pysim.filters.counting import CountingIndex
from pysim.filters.index import K, MatchingIndex

if find_spec("pysim.filters._engine"):
    from pysim.filters.native import NativeIndex

    def new_index() -> MatchingIndex[K]:
        """An empty index of the quickest engine that there is."""
        return NativeIndex()

else:

    def new_index() -> MatchingIndex[K]:
        """An empty index of the quickest engine that there is."""
        return CountingIndex()
