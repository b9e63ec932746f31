"""What a run's captures add to its numbers: bytes on the wire, and events that new links cost."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.reproduction.captured import Captured, captured

_SHARES = {
    "headers": ("transport header", "ip header", "link header"),
    "acknowledgments": ("ack",),
    "handshakes": ("handshake",),
    "retransmissions": ("retransmission",),
}


def wire_numbers(run: FinishedRun, control: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """Numbers of a run that has captures; none of one that has not."""
    found = captured(run.directory)
    if found is None:
        return
    sizes = found.sizes()
    names = found.messages.name
    changes = run.table("changes").dropna(subset=["reconfiguration"])
    late = found.messages.first_time >= (changes.time.min() if len(changes) else 0)
    yield from _weights(names[late], sizes[late])
    for kind, total in sizes.groupby(names).sum().items():
        yield f"wire bytes of {kind}", float(total)
    yield "wire bytes in all", float(found.packets.length.sum())
    yield from _shares(found)
    if len(changes):
        yield from _of_changes(run, changes, found, control)


def _weights(names: "pd.Series[str]", sizes: "pd.Series[int]") -> Iterator[tuple[str, float]]:
    """What a message of each type weighs on the wire, in units of an event.

    From the first reconfiguration on, as costs count: at the start subscriptions come one by one.
    """
    means = sizes.groupby(names).mean()
    if "event" in means:
        yield "wire bytes of an event", float(means["event"])
        for kind, size in means.items():
            yield f"weight of {kind}", float(size) / float(means["event"])


def _shares(found: Captured) -> Iterator[tuple[str, float]]:
    bytes_of = found.categories()
    whole = max(int(found.packets.length.sum()), 1)
    for name, parts in _SHARES.items():
        yield f"share of {name}", 100 * float(bytes_of.reindex(parts).sum()) / whole


def _of_changes(
    run: FinishedRun, changes: pd.DataFrame, found: Captured, control: tuple[str, ...]
) -> Iterator[tuple[str, float]]:
    """What a reconfiguration took, from the first one on: its messages, and all packets."""
    begin, count = changes.time.min(), int((changes.change == "break").sum())
    messages = found.messages
    late = found.sizes()[messages.name.isin(control) & (messages.first_time >= begin)]
    yield "wire bytes", float(late.sum()) / count
    by_type = late.groupby(messages.name).sum()
    for kind in control:
        own = float(by_type.get(kind, 0))
        yield f"wire bytes of {kind} each", own / count
        yield f"wire bytes of {kind} percent", 100 * own / max(int(late.sum()), 1)
    packets = found.packets
    yield "all wire bytes", float(packets.length[packets.time >= begin].sum()) / count
    yield from _new_links(run, changes[changes.change == "create"], found.messages)


def _new_links(
    run: FinishedRun, created: pd.DataFrame, messages: pd.DataFrame
) -> Iterator[tuple[str, float]]:
    """Seconds until the first message of a new link, and lost events that are published then."""
    events = run.table("events")[["origin", "sequence", "time"]]
    lost = run.table("missing").merge(events, on=["origin", "sequence"]).time
    ends = messages[["source", "target"]].astype("Int64")
    pairs = [ends.min(axis=1).rename("low"), ends.max(axis=1).rename("high")]
    sent = {pair: np.sort(times) for pair, times in messages.first_time.groupby(pairs)}
    waits, missed = [], 0
    for link in created.itertuples():
        times = sent.get((min(link.a, link.b), max(link.a, link.b)), np.array([]))
        place = np.searchsorted(times, link.time)
        if place < len(times):
            waits.append((times[place] - link.time) / NANOSECONDS)
            missed += int(lost.between(link.time, times[place]).sum())
    if waits:
        yield "seconds of a new link's handshake", float(sum(waits)) / len(waits)
        yield "events lost in a new link's handshake", missed / len(waits)
