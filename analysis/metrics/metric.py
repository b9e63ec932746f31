"""What a metric is: a named function, its inputs, and the order of its rows."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

NANOSECONDS = 1_000_000_000
_BINS = 100


@dataclass(frozen=True)
class Setting:
    """What holds for a whole run: simulated nanoseconds, brokers, the first publication."""

    duration: int
    brokers: int
    first_event: int | None

    @property
    def bin(self) -> int:
        """The length of time bins: 1, 2 or 5 times a power of ten ns, at most 100 in a run."""
        size = 1
        while size * _BINS < self.duration:
            size = size * 2 if str(size)[0] in "15" else size * 5 // 2
        return size


@dataclass(frozen=True)
class Metric:
    """A function that computes a table; `order` are the columns that its rows are sorted by."""

    compute: Callable[..., DataFrame]
    order: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.compute.__name__

    @property
    def definition(self) -> str:
        """What exactly is measured."""
        return inspect.getdoc(self.compute) or ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, as `analysis.metrics.inputs` knows them."""
        return tuple(inspect.signature(self.compute).parameters)

    def of(self, inputs: Callable[[str], Any]) -> DataFrame:
        """The table, of inputs that are asked for by name."""
        return self.compute(**{name: inputs(name) for name in self.inputs})
