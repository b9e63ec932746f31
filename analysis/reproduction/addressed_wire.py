"""What captures tell about routing by destinations: bytes on the wire, by what they are for.

Read from a run's captures. Bytes of a kind are those of its messages and of the
headers of their packets; acknowledgments carry no message and stand apart.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction.captured import captured

_SETTLED = NANOSECONDS
"""So long after the last publication nothing but heartbeats is on the wire."""
_HOUR = 3600 * NANOSECONDS


def addressed_wire_values(
    run: FinishedRun,
    kinds: Mapping[str, tuple[str, ...]],
    window: tuple[int, int],
) -> Iterator[tuple[str, float]]:
    """Numbers of a run that has captures; none of another.

    `kinds` are types of messages by what they are for; events are published in `window` (ns).
    """
    found = captured(run.directory)
    if found is None:
        return
    by_type = found.sizes().groupby(found.messages.name).sum()
    for kind, types in kinds.items():
        yield f"wire bytes of {kind}", float(by_type.reindex(types).sum())
    bytes_of = found.categories()
    yield "wire bytes of acknowledgments", float(bytes_of.get("ack", 0))
    yield "wire bytes of handshakes", float(bytes_of.get("handshake", 0))
    yield from _in_time(found.packets, window, run.duration)


def _in_time(
    packets: pd.DataFrame, window: tuple[int, int], end: int
) -> Iterator[tuple[str, float]]:
    """All packets before anything is published, and in an hour in which nothing happens."""
    begin, stop = window
    yield "wire bytes before publishing", float(packets[packets.time < begin].length.sum())
    idle = packets[packets.time >= stop + _SETTLED]
    span = end - stop - _SETTLED
    if span > 0:
        yield "wire bytes of an idle hour", float(idle.length.sum()) * _HOUR / span
