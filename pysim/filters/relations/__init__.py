"""Subscription relation graphs: which filters are covered by none, while filters come and go.

    from pysim.filters.relations import RelationGraph, new_graph

    graph: RelationGraph[str] = new_graph("simplified")
    graph.insert("ann", parse("price < 10"))
    graph.insert("ben", parse("price < 20"))          # Placed(False, ["ann"], 1)
    graph.remove("ben")                               # ["ann"]

The seam is `RelationGraph`. The *simplified* graph looks for one filter that covers a new one, the
*traditional* one for all that do; their roots are the same. `reference` has both in plain Python,
`native` in C++, with the same answers and the same counts of comparisons.
"""

from pysim.filters.relations.choice import GraphKind, new_graph
from pysim.filters.relations.graph import Placed, RelationGraph

__all__ = ["GraphKind", "Placed", "RelationGraph", "new_graph"]
