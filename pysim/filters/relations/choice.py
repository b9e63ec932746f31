"""Which relation graphs to use: the native ones where they have been built, else plain Python.

It must not know how they differ. A source tree without a compiler has no native graphs.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, TypeAlias

from pysim.filters.index import K
from pysim.filters.relations.graph import RelationGraph
from pysim.filters.relations.reference import SimplifiedGraph, TraditionalGraph

GraphKind: TypeAlias = Literal["simplified", "traditional"]

if find_spec("pysim.filters._engine"):
    from pysim.filters.relations.native import NativeSimplifiedGraph, NativeTraditionalGraph

    def new_graph(kind: GraphKind) -> RelationGraph[K]:
        """An empty graph of this kind, the quickest that there is."""
        return NativeSimplifiedGraph() if kind == "simplified" else NativeTraditionalGraph()

else:

    def new_graph(kind: GraphKind) -> RelationGraph[K]:
        """An empty graph of this kind, the quickest that there is."""
        return SimplifiedGraph() if kind == "simplified" else TraditionalGraph()
