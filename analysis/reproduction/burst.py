"""What a burst of subscriptions is on the wire: bytes by type, and how long it holds a link.

Read from the captures of a run. A burst is everything but publications that is
sent from the first unsubscription on. Bytes are those of messages and of their packets' headers;
acknowledgments go the other way and are not among them.
"""

from collections.abc import Iterator

import pandas as pd

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction.captured import captured
from analysis.reproduction.withdrawn import EVENTS

_BITS = 8


def burst_values(run: FinishedRun) -> Iterator[tuple[str, float]]:
    """Numbers of a run in which subscriptions are withdrawn; none without captures."""
    if "brokers" not in run.manifest["config"].get("measure", ()):
        return
    found = captured(run.directory)
    if found is None:
        return
    until = run.table("subscriptions").until.dropna()
    if not len(until):
        return
    messages = found.messages.assign(size=found.sizes())
    late = messages[messages.first_time >= until.min()]
    burst = late[~late.name.isin(EVENTS)]
    yield "burst messages", float(len(burst))
    yield "burst bytes", float(burst["size"].sum())
    yield from _busiest(burst, run.table("links"))
    yield from _publications(messages[messages.name.isin(EVENTS)])


def _busiest(burst: pd.DataFrame, links: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """The burst on the link, and in the direction, in which it has most bytes."""
    if not len(burst):
        for name in ("messages", "bytes", "occupies", "spreads over"):
            yield f"burst {name} on the busiest link", 0.0
        return
    ways = burst.groupby(["source", "target"])["size"].sum()
    source, target = ways.idxmax()
    there = burst[(burst.source == source) & (burst.target == target)]
    ends = {int(source), int(target)}
    rate = next(link.rate for link in links.itertuples() if {link.a, link.b} == ends)
    size = float(there["size"].sum())
    span = int(there.time.max()) - int(there.first_time.min())
    yield "burst messages on the busiest link", float(len(there))
    yield "burst bytes on the busiest link", size
    yield "burst occupies on the busiest link", _BITS * size / rate
    yield "burst spreads over on the busiest link", span / NANOSECONDS


def _publications(events: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """What a publication weighs on a link, and what of that is not its contents."""
    if len(events):
        yield "bytes of a publication", float(events["size"].mean())
        yield "frame bytes of a publication", float(events.length.mean())
