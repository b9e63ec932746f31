"""Workloads: who subscribes to what and publishes what, when."""

from pysim.workloads.base import (
    Estimate,
    Setting,
    Volume,
    Workload,
    WorkloadError,
    kind,
    kinds,
)
from pysim.workloads.flood import Flood
from pysim.workloads.operations import Action, Operation
from pysim.workloads.patterns import Patterns
from pysim.workloads.script import Script

__all__ = [
    "Action",
    "Estimate",
    "Flood",
    "Operation",
    "Patterns",
    "Script",
    "Setting",
    "Volume",
    "Workload",
    "WorkloadError",
    "kind",
    "kinds",
]
