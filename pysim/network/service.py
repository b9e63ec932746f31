"""Cost models: how long a broker's CPU works on a piece of input, from plain data.

It must not know protocols; of an agent it asks the size of its table, or what work it did.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pysim.naming import nearest
from pysim.network.host import CostModel
from pysim.wire import Envelope, message_types, type_name

LOCAL = "local"
"""What a client's operation is called where costs are given by message type."""


class SizedAgent(Protocol):
    """An agent that tells how much it has to look through."""

    def table_size(self) -> int: ...


class WorkingAgent(Protocol):
    """An agent that tells what it did, in units that it has names for."""

    def take_work(self) -> Mapping[str, float]: ...


@dataclass(frozen=True, slots=True)
class TypeCost:
    """A fixed time per message type: `seconds` by type name, `default` for all others."""

    default: float = 0.0
    seconds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_names(self.seconds)
        _check_times({"default": self.default, **self.seconds})

    def cost(self, agent: Any, envelope: Envelope | None) -> float:
        """Seconds of service; the agent does not matter."""
        return self.seconds.get(_name(envelope), self.default)


@dataclass(frozen=True, slots=True)
class TableCost:
    """A time that grows with the agent's table: fixed + per_entry x entries.

    `fixed_by_type` and `per_entry_by_type` replace either part for some message types.
    """

    fixed: float = 0.0
    per_entry: float = 0.0
    fixed_by_type: Mapping[str, float] = field(default_factory=dict)
    per_entry_by_type: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_names([*self.fixed_by_type, *self.per_entry_by_type])
        _check_times({"fixed": self.fixed, **self.fixed_by_type})
        _check_times({"per_entry": self.per_entry, **self.per_entry_by_type})

    def cost(self, agent: SizedAgent, envelope: Envelope | None) -> float:
        """Seconds of service, by the table as the handling of the message left it."""
        name = _name(envelope)
        fixed = self.fixed_by_type.get(name, self.fixed)
        per_entry = self.per_entry_by_type.get(name, self.per_entry)
        return fixed + per_entry * agent.table_size()


@dataclass(frozen=True, slots=True)
class WorkCost:
    """A time for the work that the agent did: fixed + the sum of units x `seconds` by their name.

    Work without a price costs nothing. What an agent did outside of any message, on a timer or when
    a link came up, is paid with the next piece of input: nothing is free, some of it is only late.
    Work that a crash left unpaid is lost with the agent.
    """

    fixed: float = 0.0
    seconds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_times({"fixed": self.fixed, **self.seconds})

    def cost(self, agent: WorkingAgent, envelope: Envelope | None) -> float:
        """Seconds of service for all that was done since this was last asked."""
        total, seconds = self.fixed, self.seconds
        for name, units in agent.take_work().items():
            total += units * seconds.get(name, 0.0)
        return total


@dataclass(frozen=True, slots=True)
class FasterCost:
    """A model under which some brokers need less time: `speeds` by broker, 1 for all others.

    A broker with eight cores that keeps all of them busy is eight times as fast; one message alone
    would not be, so that the latency of an idle broker is the lower for it.
    """

    model: CostModel
    speeds: Mapping[int, float]

    def cost(self, agent: Any, envelope: Envelope | None) -> float:
        """Seconds of service at that agent's broker."""
        return self.model.cost(agent, envelope) / self.speeds.get(agent.world.id, 1.0)


_MODELS: Mapping[str, type[TypeCost | TableCost | WorkCost] | None] = {
    "none": None,
    "type": TypeCost,
    "table": TableCost,
    "work": WorkCost,
}


def cost_model(name: str, **settings: Any) -> CostModel | None:
    """The model: ``none``, ``type``, ``table`` or ``work``; None means no queue at all."""
    if name not in _MODELS:
        raise ValueError(f'unknown cost model "{name}"; {nearest(name, _MODELS)}')
    model = _MODELS[name]
    known = model.__dataclass_fields__ if model else {}
    for setting in settings:
        if setting not in known:
            raise ValueError(
                f'cost model "{name}" has no setting "{setting}"; {nearest(setting, known)}'
            )
    return model(**settings) if model else None


def _name(envelope: Envelope | None) -> str:
    return LOCAL if envelope is None else type_name(envelope.type)


def _check_names(names: Iterable[str]) -> None:
    known = [LOCAL, *(kind.name for kind in message_types().values())]
    for name in names:
        if name not in known:
            raise ValueError(
                f'unknown message type "{name}" in a cost model; {nearest(name, known)}'
            )


def _check_times(times: Mapping[str, float]) -> None:
    for name, seconds in times.items():
        if not 0 <= seconds < math.inf:
            raise ValueError(f"{name}(={seconds}) should be a finite time of >= 0 seconds")
