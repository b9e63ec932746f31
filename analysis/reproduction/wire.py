"""What a run's captures add to its numbers: bytes on the wire, and events that new links cost."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from analysis.finished import NANOSECONDS, FinishedRun
from analysis.pipeline import present

_HEADERS = ("transport_header", "ip_header", "link_header")
_SHARES = {
    "headers": ("transport header", "ip header", "link header"),
    "acknowledgments": ("ack",),
    "handshakes": ("handshake",),
    "retransmissions": ("retransmission",),
}


def wire_numbers(directory: Path, control: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """Numbers of a run that has been analysed; none of one that has not."""
    analysis = present(directory)
    if analysis is None:
        return
    run = FinishedRun(directory)
    messages = analysis.table("messages").query("counted")
    sizes = on_wire(messages)
    yield from _weights(messages, sizes)
    for kind, total in sizes.groupby(messages.name).sum().items():
        yield f"wire bytes of {kind}", float(total)
    breakdown = analysis.metric("byte_breakdown")
    yield "wire bytes in all", float(breakdown.bytes.sum())
    yield from _shares(breakdown)
    changes = run.table("changes").dropna(subset=["reconfiguration"])
    if len(changes):
        late = messages.name.isin(control) & (messages.first_time >= changes.time.min())
        count = int((changes.change == "break").sum())
        yield "wire bytes", float(sizes[late].sum()) / count
        yield from _new_links(run, changes[changes.change == "create"], messages)


def on_wire(messages: pd.DataFrame) -> "pd.Series[int]":
    """The bytes of messages and of their packets' headers."""
    return messages.length + messages[list(_HEADERS)].sum(axis=1)


def _weights(messages: pd.DataFrame, sizes: "pd.Series[int]") -> Iterator[tuple[str, float]]:
    """What a message of each type weighs on the wire, in units of an event."""
    means = sizes.groupby(messages.name).mean()
    if "event" in means:
        for kind, size in means.items():
            yield f"weight of {kind}", float(size) / float(means["event"])


def _shares(breakdown: pd.DataFrame) -> Iterator[tuple[str, float]]:
    shares = breakdown.set_index("category").share
    for name, parts in _SHARES.items():
        yield f"share of {name}", 100 * float(shares[list(parts)].sum())


def _new_links(
    run: FinishedRun, created: pd.DataFrame, messages: pd.DataFrame
) -> Iterator[tuple[str, float]]:
    """Seconds until the first message of a new link, and lost events that are published then."""
    events = run.table("events")[["origin", "sequence", "time"]]
    lost = run.table("missing").merge(events, on=["origin", "sequence"]).time
    waits, missed = [], 0
    for link in created.itertuples():
        ends = {link.a, link.b}
        on_link = messages.source.isin(ends) & messages.target.isin(ends)
        first = messages[on_link & (messages.first_time >= link.time)].first_time.min()
        if pd.notna(first):
            waits.append((first - link.time) / NANOSECONDS)
            missed += int(lost.between(link.time, first).sum())
    if waits:
        yield "seconds of a new link's handshake", float(sum(waits)) / len(waits)
        yield "events lost in a new link's handshake", missed / len(waits)
