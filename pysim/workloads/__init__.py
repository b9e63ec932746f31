"""Workloads: who subscribes to what and publishes what, when."""

from pysim.workloads.auction_model import AuctionModel
from pysim.workloads.auctions import Auctions
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
from pysim.workloads.recorded import Recorded
from pysim.workloads.script import Script
from pysim.workloads.tables import InputFile, input_files

__all__ = [
    "Action",
    "AuctionModel",
    "Auctions",
    "Estimate",
    "Flood",
    "InputFile",
    "Operation",
    "Patterns",
    "Recorded",
    "Script",
    "Setting",
    "Volume",
    "Workload",
    "WorkloadError",
    "input_files",
    "kind",
    "kinds",
]
