"""What a page needs besides messages: the overlay and its changes, and what brokers held when.

All of it is from a run's tables. It draws nothing and knows no page.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.changes import LinkLife, times_up
from analysis.finished import FinishedRun
from topologies.layout import positions

_MOST_SAMPLES = 4_000_000
_FIRST_NAMES = ("queue", "entries", "stored", "busy")


@dataclass(frozen=True)
class Overlay:
    """Brokers on the page, links with their lives, and the changes that a viewer waits for."""

    places: npt.NDArray[np.float64]
    lives: list[LinkLife]
    down: pd.DataFrame
    """`broker`, `since`, `until`."""
    changes: list[tuple[int, str, str]]
    """Time, kind, and what happened, in words."""


class Note(NamedTuple):
    """Something that happened beside the messages: to the overlay, or at a `broker`'s clients.

    `kind` is that of a change, or `acts` (what a client does), or `got` (what it is given).
    """

    time: int
    kind: str
    text: str
    broker: int | None = None


@dataclass(frozen=True)
class Samples:
    """Numbers that brokers had at some times: of each name, rows by time and columns by broker."""

    times: npt.NDArray[np.float64]
    values: dict[str, npt.NDArray[np.float32]]


def read_overlay(run: FinishedRun) -> Overlay:
    """The overlay of a run from its beginning to its end."""
    links, changes = run.table("links"), run.table("changes")
    changes = changes[changes.time < run.duration]
    graph = nx.Graph()
    graph.add_nodes_from(range(run.brokers))
    graph.add_edges_from(sorted(zip(links.a.tolist(), links.b.tolist(), strict=True)))
    return Overlay(
        _on_a_page(positions(graph)),
        times_up(links, changes, run.duration),
        _down(changes, run.duration),
        [_told(change) for change in changes.itertuples()],
    )


def read_intervals(run: FinishedRun, table: str) -> pd.DataFrame | None:
    """A table of what stood from when to when, None if the run has none; `until` is filled in."""
    if not (run.directory / "tables" / f"{table}.parquet").is_file():
        return None
    found = run.table(table)
    return found.assign(until=found.until.fillna(run.duration + 1).astype("int64"))


def read_samples(run: FinishedRun) -> Samples | None:
    """What `measure = ["brokers"]` left, None if nobody asked; the rarest counters may lack."""
    if not (run.directory / "tables" / "brokers.parquet").is_file():
        return None
    rows = run.table("brokers")
    times = np.unique(rows.time.to_numpy())
    names = sorted(rows.name.unique(), key=lambda name: (name not in _FIRST_NAMES, name))
    most = max(len(_FIRST_NAMES), _MOST_SAMPLES // max(1, len(times) * run.brokers))
    values: dict[str, npt.NDArray[np.float32]] = {}
    for name in names[:most]:
        of_name = rows[rows.name == name]
        grid = np.full((len(times), run.brokers), np.nan, np.float32)
        grid[np.searchsorted(times, of_name.time), of_name.broker] = of_name.value
        values[name] = grid
    return Samples(times.astype(np.float64), values)


def read_deliveries(run: FinishedRun) -> pd.DataFrame:
    """When and at which broker clients got events, by time."""
    found = run.table("deliveries")[["delivered", "broker"]]
    return found.sort_values("delivered", kind="stable", ignore_index=True)


def read_notes(run: FinishedRun, overlay: Overlay) -> list[Note]:
    """What a reader of messages would like to know besides: changes, and what clients did and got.

    Advertisements are in no table; the messages that they cause say as much.
    """
    notes = [Note(*change) for change in overlay.changes]
    for row in run.table("subscriptions").itertuples():
        notes.append(Note(row.since, "acts", f"subscribes  {row.filter}", row.broker))
        if not pd.isna(row.until):
            notes.append(Note(int(row.until), "acts", f"unsubscribes  {row.filter}", row.broker))
    for row in run.table("events").itertuples():
        text = f"publishes {row.origin}:{row.sequence}"
        notes.append(Note(row.time, "acts", text, row.broker))
    for row in run.table("deliveries").itertuples():
        text = f"gets {row.origin}:{row.sequence}"
        notes.append(Note(row.delivered, "got", text, row.broker))
    return notes


def read_queues(run: FinishedRun) -> dict[int, dict[str, int]]:
    """What each broker's input queue saw in all, of brokers with a service model."""
    rows = run.table("queues").to_dict("records")
    return {int(row.pop("broker")): {str(k): int(v) for k, v in row.items()} for row in rows}


def _on_a_page(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Places from 0 to 1 along the longer extent, which lies flat."""
    extent = np.ptp(places, axis=0)
    if extent[1] > extent[0]:
        places, extent = places[:, ::-1], extent[::-1]
    moved: npt.NDArray[np.float64] = (places - places.min(axis=0)) / (extent.max() or 1.0)
    return moved


def _down(changes: pd.DataFrame, duration: int) -> pd.DataFrame:
    since: dict[int, int] = {}
    rows = []
    for change in changes[changes.change.isin(["crash", "restart"])].itertuples():
        if change.change == "crash":
            since[int(change.a)] = int(change.time)
        else:
            rows.append((int(change.a), since.pop(int(change.a)), int(change.time)))
    rows += [(broker, time, duration + 1) for broker, time in since.items()]
    return pd.DataFrame(rows, columns=["broker", "since", "until"], dtype="int64")


def _told(change: Any) -> tuple[int, str, str]:
    words = {
        "break": "link {0}-{1} breaks",
        "create": "link {0}-{1} is made",
        "crash": "broker {0} crashes",
        "restart": "broker {0} restarts",
        "loss": "link {0}-{1} loses {2:.2%} of its packets",
    }
    ends = [None if pd.isna(end) else int(end) for end in (change.a, change.b)]
    return int(change.time), change.change, words[change.change].format(*ends, change.loss)
