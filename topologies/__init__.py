"""Topologies: made, imported, checked and drawn; it knows neither protocols nor the simulator.

`build` makes one by kind, `load` reads one from a file, `load_matrix` and `topologies.models` give
latencies between hosts. `topologies.picture.draw` is imported apart, because matplotlib is slow to
load and most runs draw nothing.
"""

from topologies.errors import TopologyError
from topologies.graphs import describe, require_connected, require_tree
from topologies.importers import FORMATS, load
from topologies.latency import LatencyMatrix
from topologies.matrices import MATRIX_FORMATS, load_matrix
from topologies.models import king_like, overlay_from_matrix, planetlab_like
from topologies.registry import Kind, Parameter, build, kinds

__all__ = [
    "FORMATS",
    "MATRIX_FORMATS",
    "Kind",
    "LatencyMatrix",
    "Parameter",
    "TopologyError",
    "build",
    "describe",
    "kinds",
    "king_like",
    "load",
    "load_matrix",
    "overlay_from_matrix",
    "planetlab_like",
    "require_connected",
    "require_tree",
]
