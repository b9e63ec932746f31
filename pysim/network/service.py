"""Cost models: how long a broker's CPU works on a piece of input, from plain data.

It must not know protocols; of an agent it asks the size of its table, or what work it did.
"""

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol

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


Factors = Sequence[tuple[int, float]]
"""A batch-factor table: sizes, ascending, and what a batch of each costs, of one the unit."""

BATCH_FACTORS: Factors = (
    (1, 1.0),
    (2, 1.383),
    (4, 1.623),
    (8, 2.792),
    (16, 5.021),
    (32, 10.405),
    (64, 18.999),
    (128, 37.276),
    (256, 71.626),
)
"""The table that is shipped. PopSub's is not published; this one is what `pysim measure
batch-factors --repeats 30` found between two processes on a machine of two cores."""

MESSAGES, MATCHED, DIRECT, BATCHED = "messages", "matched", "direct", "batched-"
"""Work that a capacity is spent on: publications sent alone to a receiver, publications that were
looked up, publications sent off the tree, and batches by their size sent to a receiver."""


@dataclass(frozen=True, slots=True)
class CapacityCost:
    """A broker forwards `capacity` publications in a second, more of them if they come in batches.

    A batch costs the entry of its size in `factors`, linear between entries; a larger one than the
    table has is several. By the unit ``receiver`` everything that is sent counts, for each broker
    it is sent to. By the unit ``publication`` what was taken up counts, to however many brokers it
    goes on. Other work is free.
    """

    capacity: float = 2500.0
    unit: Literal["publication", "receiver"] = "publication"
    factors: Factors = BATCH_FACTORS
    _costs: Sequence[float] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.capacity < math.inf:
            raise ValueError(f"capacity(={self.capacity}) should be more than 0 a second")
        _check_factors(self.factors)
        object.__setattr__(self, "_costs", _filled(self.factors))

    def cost(self, agent: WorkingAgent, envelope: Envelope | None) -> float:
        """Seconds of service for all that was done since this was last asked."""
        done = agent.take_work()
        if self.unit == "publication":
            return self.of_batch(int(done[MATCHED])) / self.capacity
        units = done[MESSAGES] + done.get(DIRECT, 0)
        for name, count in done.items():
            if name.startswith(BATCHED):
                units += count * self.of_batch(int(name.removeprefix(BATCHED)))
        return units / self.capacity

    def of_batch(self, size: int) -> float:
        """What a batch costs, in units of a message of its own."""
        costs = self._costs
        if size < len(costs):
            return costs[size]
        whole, rest = divmod(size, len(costs) - 1)
        return whole * costs[-1] + costs[rest]


def _filled(factors: Factors) -> list[float]:
    """The cost of each size from none to the largest of a table."""
    sizes = [size for size, _ in factors]
    costs = [0.0]
    for size in range(1, sizes[-1] + 1):
        place = bisect_left(sizes, size)
        above, cost = factors[place]
        if above == size:
            costs.append(cost)
        else:
            below, less = factors[place - 1]
            costs.append(less + (cost - less) * (size - below) / (above - below))
    return costs


def _check_factors(factors: Factors) -> None:
    if not factors or tuple(factors[0]) != (1, 1.0):
        raise ValueError("factors should begin with 1.0 for a batch of 1")
    for (size, cost), (larger, more) in itertools.pairwise(factors):
        if not size < larger <= _LARGEST_BATCH:
            raise ValueError(f"factors: sizes should rise up to {_LARGEST_BATCH}, not to {larger}")
        if not cost <= more < math.inf:
            raise ValueError(
                f"factors: a batch of {larger} should not cost less than one of {size}"
            )


_LARGEST_BATCH = 65_536

_MODELS: Mapping[str, type[TypeCost | TableCost | WorkCost | CapacityCost] | None] = {
    "none": None,
    "type": TypeCost,
    "table": TableCost,
    "work": WorkCost,
    "capacity": CapacityCost,
}


def cost_model(name: str, **settings: Any) -> CostModel | None:
    """The model: ``none``, ``type``, ``table``, ``work``, ``capacity``; None means no queue."""
    if name not in _MODELS:
        raise ValueError(f'unknown cost model "{name}"; {nearest(name, _MODELS)}')
    model = _MODELS[name]
    known = [each.name for each in fields(model) if each.init] if model else []
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
