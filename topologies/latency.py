"""Pairwise latencies between hosts; it knows neither files nor where the numbers come from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from topologies.errors import TopologyError, check_range

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LatencyMatrix:
    """One-way delays in seconds from each of n hosts (rows) to each other (columns).

    It need not be symmetric. The array is a read-only copy of what was given; anything but a square
    of finite, non-negative numbers with a zero diagonal is refused.
    """

    delays: Array
    labels: tuple[str, ...] | None = None
    name: str = field(default="latencies", kw_only=True)

    def __post_init__(self) -> None:
        delays = np.array(self.delays, dtype=np.float64)
        _check_matrix(delays)
        delays.setflags(write=False)
        object.__setattr__(self, "delays", delays)
        if self.labels is not None and len(self.labels) != len(delays):
            raise TopologyError(f"{len(self.labels)} labels do not fit {len(delays)} hosts")

    @classmethod
    def from_rtt(
        cls,
        rtt: npt.ArrayLike,
        labels: tuple[str, ...] | None = None,
        *,
        unit: float = 1.0,
        name: str = "latencies",
    ) -> LatencyMatrix:
        """From round-trip times, `unit` seconds each; a way is half of its round trip."""
        return cls(np.asarray(rtt, dtype=np.float64) * (unit / 2), labels, name=name)

    def __len__(self) -> int:
        return len(self.delays)

    @property
    def symmetric(self) -> bool:
        """Whether both directions of every pair take the same time."""
        return bool(np.array_equal(self.delays, self.delays.T))

    def delay(self, source: int, target: int) -> float:
        """Seconds from one host to another."""
        return float(self.delays[source, target])

    def submatrix(self, indices: Sequence[int]) -> LatencyMatrix:
        """The hosts named, in that order, and nothing else."""
        for index in indices:
            if not 0 <= index < len(self):
                raise TopologyError(f"there is no host {index}: there are {len(self)}, from 0")
        labels = None if self.labels is None else tuple(self.labels[i] for i in indices)
        chosen = np.asarray(indices, dtype=np.intp)
        return LatencyMatrix(self.delays[np.ix_(chosen, chosen)], labels, name=self.name)

    def scaled(self, factor: float) -> LatencyMatrix:
        """All delays times a factor."""
        check_range("factor", factor, 0)
        return LatencyMatrix(self.delays * factor, self.labels, name=self.name)

    def with_noise(self, rng: random.Random, sigma: float = 0.10) -> LatencyMatrix:
        """Each pair times exp(sigma * N(0, 1)), the same both ways.

        Coordinates obey the triangle inequality and real latencies do not; 0.10 is the residual of
        a fit of coordinates to measured latencies, and restores about as many violations.
        """
        check_range("sigma", sigma, 0)
        n = len(self)
        upper = np.triu(numpy_stream(rng).standard_normal((n, n)), 1)
        return LatencyMatrix(
            self.delays * np.exp(sigma * (upper + upper.T)), self.labels, name=self.name
        )

    def rtt_percentiles(self, percents: Sequence[float] = (5, 25, 50, 75, 95, 99)) -> list[float]:
        """Percentiles of the round-trip times over all pairs, in seconds."""
        pairs = np.triu_indices(len(self), 1)
        return [float(q) for q in np.percentile((self.delays + self.delays.T)[pairs], percents)]


def coordinate_delays(x: Array, y: Array, height: Array) -> Array:
    """Distance plus both heights for every pair, zero from a host to itself."""
    delays: Array = np.hypot(x[:, None] - x, y[:, None] - y) + (height[:, None] + height)
    np.fill_diagonal(delays, 0.0)
    return delays


def numpy_stream(rng: random.Random) -> np.random.RandomState:
    """A numpy stream that continues `rng`, for draws by the million.

    RandomState is the one whose numbers numpy has promised never to change.
    """
    return np.random.RandomState([rng.getrandbits(32) for _ in range(4)])


def _check_matrix(delays: Array) -> None:
    if delays.ndim != 2 or delays.shape[0] != delays.shape[1]:
        raise TopologyError(f"a latency matrix must be square, not of shape {delays.shape}")
    for wrong, rule in (
        (~np.isfinite(delays), "finite"),
        (delays < 0, "at least 0"),
        (np.diag(np.diag(delays)) != 0, "0 from a host to itself"),
    ):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise TopologyError(
                f"the delay from host {i} to {j} is {delays[i, j]}: it must be {rule}"
            )
