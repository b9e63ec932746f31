"""Workloads: who subscribes to what and publishes what, when."""

from pysim.workloads.auction_model import AuctionModel
from pysim.workloads.auctions import Auctions
from pysim.workloads.base import (
    Estimate,
    Setting,
    Site,
    Volume,
    Workload,
    WorkloadError,
    kind,
    kinds,
)
from pysim.workloads.covering import Covering
from pysim.workloads.flood import Flood
from pysim.workloads.mobile import Mobile
from pysim.workloads.operations import Action, Operation
from pysim.workloads.patterns import Patterns
from pysim.workloads.popularity import Popularity
from pysim.workloads.recorded import Recorded
from pysim.workloads.script import Script
from pysim.workloads.stock import Stock
from pysim.workloads.stock_model import StockModel
from pysim.workloads.tables import InputFile, input_files
from pysim.workloads.topics import Topics
from pysim.workloads.workflow import Workflow

__all__ = [
    "Action",
    "AuctionModel",
    "Auctions",
    "Covering",
    "Estimate",
    "Flood",
    "InputFile",
    "Mobile",
    "Operation",
    "Patterns",
    "Popularity",
    "Recorded",
    "Script",
    "Setting",
    "Site",
    "Stock",
    "StockModel",
    "Topics",
    "Volume",
    "Workflow",
    "Workload",
    "WorkloadError",
    "input_files",
    "kind",
    "kinds",
]
