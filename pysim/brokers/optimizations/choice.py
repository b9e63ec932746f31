"""Which optimizations a broker takes, as an experiment says it, and the policies that they are.

It must not know brokers; it joins the names of the optimizations to what they do.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from pysim.brokers.optimizations.storage import E, Exact, PostPruned, Replaced, Storage
from pysim.brokers.optimizations.summaries import (
    Chain,
    Covering,
    Generalizing,
    Merging,
    Summary,
)
from pysim.filters import Filter
from pysim.filters.merging import group_of, imperfect_merger, perfect_merger
from pysim.filters.pruning import PruningQueue, Variant, pruned
from pysim.filters.selectivity import SelectivityTable
from pysim.units import Duration, Share, Span

Optimization = Literal[
    "covering",
    "perfect-merging",
    "imperfect-merging",
    "predicate-replacement",
    "pre-pruning",
    "post-pruning",
]


class Optimize(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How routing tables are made smaller; an empty `by` leaves them as they are."""

    by: Annotated[
        tuple[Optimization, ...],
        Meta(description="the optimizations; those of what neighbors are told in this order"),
    ] = ()
    limit: Annotated[
        Share,
        Meta(description="selectivity that a step of merging, replacement, pre-pruning may lose"),
    ] = Share(0.001)
    share: Annotated[
        Share, Meta(description="part of all prunings that post-pruning adds each time")
    ] = Share(0.5)
    variant: Annotated[
        Literal["a", "b", "c"],
        Meta(
            description="whether post-pruning performs a step whose loss may have changed since it"
            " was queued: a always, b if it is still the least, c if it changed by `extent` at most"
        ),
    ] = "a"
    extent: Annotated[
        Share,
        Meta(description="by how much selectivity a step's loss may change, for variant c"),
    ] = Share(0.01)
    start: Annotated[
        Duration, Meta(description="when post-pruning or replacement is first carried out")
    ] = Duration(5.0)
    every: Annotated[Span | None, Meta(description="time until it is again; once if not given")] = (
        None
    )
    sample: Annotated[
        int, Meta(ge=0, description="events that selectivities are counted in, the first ones")
    ] = 10_000

    @property
    def summarizes(self) -> bool:
        """Whether neighbors are told other filters than those that are wanted."""
        return not _OF_STORAGE.issuperset(self.by)

    @property
    def renews(self) -> bool:
        """Whether what is stored is optimized from time to time."""
        return not _OF_STORAGE.isdisjoint(self.by)

    @property
    def learns(self) -> bool:
        """Whether events must tell how selective predicates are."""
        return not _EXACT.issuperset(self.by)

    def __post_init__(self) -> None:
        if _OF_STORAGE.issubset(self.by):
            raise ValueError(
                "post-pruning and predicate-replacement both change what is stored: choose one"
            )


_OF_STORAGE = frozenset({"post-pruning", "predicate-replacement"})
_EXACT = frozenset({"covering", "perfect-merging"})

Optimized = Annotated[Optimize, "how routing tables are made smaller: see docs/optimizations.md"]
UNOPTIMIZED = Optimize()


def summary(optimize: Optimize, table: SelectivityTable) -> Chain:
    """What a neighbor is told in place of all that is wanted."""
    known: dict[str, Callable[[], Summary]] = {
        "covering": Covering,
        "perfect-merging": lambda: Merging(group_of, perfect_merger),
        "imperfect-merging": lambda: Merging(group_of, merged),
        "pre-pruning": lambda: Generalizing(generalized),
    }

    def generalized(filter: Filter) -> Filter:
        return pruned(filter, table, optimize.limit)

    def merged(filters: Sequence[Filter]) -> Filter:
        return imperfect_merger(filters, table, optimize.limit)

    return Chain(known[name]() for name in optimize.by if name in known)


def storage(entries: type[E], optimize: Optimize, own: int, table: SelectivityTable) -> Storage[E]:
    """How the entries of the broker `own` stand in its index."""
    if "post-pruning" in optimize.by:
        queue: PruningQueue[int] = PruningQueue(table, Variant(optimize.variant), optimize.extent)
        return PostPruned(own, queue, optimize.share)
    if "predicate-replacement" in optimize.by:
        return Replaced(own, table, optimize.limit)
    return Exact()
