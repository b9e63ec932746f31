"""Brokers on a network: the seam to a backend, the world of an agent, faults, and ground truth.

A `Simulation` joins a `Transport` (`memory` here; `ns3` is the product), one `Host` with its
`World` per broker, the `Observer` who knows what is due, and the faults and operations of a run.
It knows no protocol.
"""

from pysim.network.agent_books import AgentBooks, PlainBooks
from pysim.network.faults import (
    BrokerCrash,
    BrokerRestart,
    Fault,
    FaultError,
    LinkBreak,
    LinkCreate,
    LinkReplace,
    LossChange,
)
from pysim.network.host import Agent, AgentError, CostModel, Host
from pysim.network.memory import MemoryTransport
from pysim.network.observer import Observer, Statement
from pysim.network.service import TableCost, TypeCost, WorkCost, cost_model
from pysim.network.simulation import Simulation
from pysim.network.streams import Streams
from pysim.network.transport import (
    NANOSECONDS,
    BrokerId,
    Counter,
    LinkSettings,
    QueueReport,
    Transport,
)
from pysim.network.world import BARE_NOTICE, ClientId, LinkNotice, Place, World

__all__ = [
    "BARE_NOTICE",
    "NANOSECONDS",
    "Agent",
    "AgentBooks",
    "AgentError",
    "BrokerCrash",
    "BrokerId",
    "BrokerRestart",
    "ClientId",
    "CostModel",
    "Counter",
    "Fault",
    "FaultError",
    "Host",
    "LinkBreak",
    "LinkCreate",
    "LinkNotice",
    "LinkReplace",
    "LinkSettings",
    "LossChange",
    "MemoryTransport",
    "Observer",
    "Place",
    "PlainBooks",
    "QueueReport",
    "Simulation",
    "Statement",
    "Streams",
    "TableCost",
    "Transport",
    "TypeCost",
    "WorkCost",
    "World",
    "cost_model",
]
