"""Every message's way from one broker to another, with its times, from what a run has recorded.

There are three sources, and a page says which was used: captures (what left the sender's device and
when it was complete at the receiver's), the frames that the memory network logged, and, if a run
has neither, deliveries to clients, which tell of no hop in between. It draws nothing.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.captures.contents import FrameKey, read_contents
from analysis.captures.messages import Tables, read_messages
from analysis.captures.records import CaptureError
from analysis.changes import LinkLife
from analysis.finished import FinishedRun
from analysis.placing import Coverage, event_keys, placed
from analysis.rerouted import reunite
from analysis.sources import coverage
from pysim.wire import HEADER_SIZE, Header, read_header, type_name

Source = Literal["captures", "frames", "deliveries"]

ARRIVED, LOST, UNDER_WAY = range(3)
"""What became of a message; one that is under way is so when the run ends."""
CHANNELS = ("link", "tcp", "udp", "delivery")
"""How a message went: over an overlay link, by unicast, or, in short, to a client."""

_COLUMNS = {
    "departed": "int64",
    "ended": "int64",
    "fate": "uint8",
    "source": "uint32",
    "target": "uint32",
    "channel": "uint8",
    "type": "uint8",
    "origin": "uint32",
    "sequence": "uint32",
    "length": "uint32",
}
_PLACED = [
    *("direction", "source", "target", "channel", "source_port", "target_port", "type", "origin"),
    *("sequence", "length", "crc", "first_time", "time", "counted", "arrived"),
]


class ReplayError(ValueError):
    """A run that cannot be watched, or not as it was asked for; the text says why."""


@dataclass(frozen=True)
class Moves:
    """Messages in the order of their departure; `contents` has their bytes, where known.

    `rows` has the columns of `_COLUMNS` and `key`, None for messages without bytes.
    """

    source: Source
    rows: pd.DataFrame
    contents: Mapping[Any, bytes]
    type_names: Mapping[int, str]
    """Of those that occur in the run, the most frequent first."""
    notes: tuple[str, ...]
    """What a viewer should know about where they come from."""

    def between(self, begin: int, end: int) -> "Moves":
        """Those that are under way at some time from `begin` to `end`."""
        inside = (self.rows.departed <= end) & (self.rows.ended >= begin)
        return Moves(
            self.source,
            self.rows[inside].reset_index(drop=True),
            self.contents,
            self.type_names,
            self.notes,
        )


def read_moves(run: FinishedRun, lives: list[LinkLife]) -> Moves:
    """All that moved in a run, by the best source that it has."""
    if run.captures():
        return _from_captures(run, lives)
    if (run.directory / "tables" / "frames.parquet").is_file():
        return _from_frames(run)
    return _from_deliveries(run)


# Captures -----------------------------------------------------------------------------------------


def _from_captures(run: FinishedRun, lives: list[LinkLife]) -> Moves:
    known = coverage(run)
    messages, contents = _read_captures(run, known)
    notes = ["Messages are read from the run's captures."]
    if isinstance(run.capture_policy, list):
        notes.append(f"Only {len(run.capture_policy)} chosen links were captured.")
    if known.both_views:
        rows = _matched(messages)
    else:
        rows = _estimated(messages, _delays(run))
        notes.append("One end of each link was captured: times at the other are by its delay.")
    rows["key"] = [
        key if key in contents else None
        for key in map(FrameKey, *(rows[name] for name in FrameKey._fields))
    ]
    rows["channel"] = rows.channel.map(CHANNELS.index)
    rows = _with_fates(rows, lives, run.duration)
    names = _by_frequency(rows.type, known.type_name)
    return Moves("captures", _tidy(rows), contents, names, tuple(notes))


def _read_captures(run: FinishedRun, known: Coverage) -> tuple[pd.DataFrame, dict[FrameKey, bytes]]:
    """The placed messages of all captures, and the bytes of all frames."""
    events = pq.read_table(run.table_path("events"), columns=["origin", "sequence"])
    publications = event_keys(events)
    parts: list[pa.Table] = []
    contents: dict[FrameKey, bytes] = {}
    for node in _by_node(run):
        for tables in reunite({path: _read(path, contents) for path in node}).values():
            messages, _ = placed(tables.messages, tables.packets, known, publications)
            parts.append(messages.select(_PLACED))
    frame = pa.concat_tables(parts).to_pandas()
    return frame[frame.source.notna() & frame.target.notna() & frame.channel.notna()], contents


def _by_node(run: FinishedRun) -> list[list[Path]]:
    """The captures of each node: unicast may leave a broker by one line and then by another."""
    missing = [path for path in run.captures() if not path.is_file()]
    if missing:
        raise ReplayError(f"{run.directory} lacks captures/{missing[0].name}, which the run wrote")
    paths = sorted(run.captures(), key=lambda path: (path.stem.split("-")[0], path.name))
    return [list(node) for _, node in groupby(paths, lambda path: path.stem.split("-")[0])]


def _read(path: Path, contents: dict[FrameKey, bytes]) -> Tables:
    try:
        contents |= read_contents(path)
        return read_messages(path)
    except CaptureError as error:
        raise ReplayError(str(error)) from None


def _matched(messages: pd.DataFrame) -> pd.DataFrame:
    """Departures, each with the arrival of the same bytes on the same connection, if there is one.

    A frame may go the same way twice, and one of the two be lost: seen from the end of the run, the
    last to arrive is the last that left.
    """
    names = ["source", "target", "source_port", "target_port", "origin", "sequence", "crc"]
    messages = messages.assign(hop=messages.groupby(names, sort=False).ngroup())
    departures = messages[messages.counted].sort_values("first_time", kind="stable")
    arrivals = messages[messages.arrived].sort_values("time", kind="stable")
    waiting: dict[int, deque[int]] = {}
    for hop, time in zip(arrivals.hop[::-1], arrivals.time[::-1], strict=True):
        waiting.setdefault(hop, deque()).append(time)
    ended = np.full(len(departures), -1, np.int64)
    leaving = zip(departures.hop.to_numpy(), departures.first_time.to_numpy(), strict=True)
    for place, (hop, time) in reversed(list(enumerate(leaving))):
        times = waiting.get(hop)
        if times and times[0] >= time:
            ended[place] = times.popleft()
    return departures.assign(departed=departures.first_time, ended=ended)


def _estimated(messages: pd.DataFrame, delay: Callable[[int, int], int]) -> pd.DataFrame:
    """Rows of one end of each link, with the time at the other end by the link's delay."""
    seen = messages[messages.counted]
    delays = np.array(list(map(delay, seen.source, seen.target)), np.int64)
    leaves = (seen.direction == "out").to_numpy()
    departed = np.where(leaves, seen.first_time, np.maximum(seen.first_time - delays, 0))
    ended = np.where(leaves, seen.time + delays, seen.time)
    return seen.assign(departed=departed, ended=ended)


def _delays(run: FinishedRun) -> Callable[[int, int], int]:
    """The delay of the link between two brokers, in nanoseconds."""
    links = run.table("links")
    pairs = zip(links.a, links.b, strict=True)
    known = dict(zip(pairs, (links.delay * 1e9).round().astype("int64"), strict=True))
    wires = run.table("wires") if not run.has_underlay else links.head(0)
    for a, b, seconds in wires[["a", "b", "delay"]].itertuples(index=False):
        known.setdefault((int(a[1:]), int(b[1:])), round(seconds * 1e9))
    usual = int(np.median(list(known.values()) or [0]))
    return lambda a, b: known.get((min(a, b), max(a, b)), usual)


def _with_fates(rows: pd.DataFrame, lives: list[LinkLife], duration: int) -> pd.DataFrame:
    """What became of each message; one without an end is lost with its link, or under way."""
    ended = rows.ended.to_numpy().copy()
    fate = np.where(ended >= 0, ARRIVED, UNDER_WAY).astype(np.uint8)
    flights = (ended - rows.departed.to_numpy())[ended >= 0]
    usual = int(np.median(flights)) if len(flights) else 0
    for place in np.flatnonzero(ended < 0).tolist():
        row = rows.iloc[place]
        end = _end_of_link(row, lives) if CHANNELS[row.channel] == "link" else None
        if CHANNELS[row.channel] == "udp":
            end = int(row.departed) + usual
        fate[place] = LOST if end is not None and end < duration else UNDER_WAY
        ended[place] = duration if end is None else min(end, duration)
    return rows.assign(ended=ended, fate=fate)


def _end_of_link(row: Any, lives: list[LinkLife]) -> int | None:
    """When the link went down that a message was on."""
    ends = min(row.source, row.target), max(row.source, row.target)
    found = [life.until for life in lives if (life.a, life.b) == ends and life.until > row.departed]
    return min(found, default=None)


# Logged frames, and deliveries --------------------------------------------------------------------


def _from_frames(run: FinishedRun) -> Moves:
    frames = run.table("frames")
    whole = frames[frames.frame.str.len() >= HEADER_SIZE]
    headers = pd.DataFrame(
        map(read_header, whole.frame), columns=list(Header._fields), index=whole.index
    )
    arrived = whole.arrived.notna()
    fate = np.where(arrived, ARRIVED, np.where(whole.lost.notna(), LOST, UNDER_WAY))
    rows = pd.DataFrame(
        {
            **{name: whole[name] for name in ("departed", "source", "target")},
            "ended": whole.arrived.fillna(whole.lost).fillna(run.duration),
            "fate": fate,
            "channel": whole.channel.map(CHANNELS.index),
            "key": whole.frame,
        }
    )
    names = _by_frequency(headers.type, lambda code: run.type_names.get(code) or type_name(code))
    contents = {frame: frame for frame in whole.frame}
    note = "Messages are those that the memory network logged (measure: frames)."
    return Moves("frames", _tidy(rows.join(headers)), contents, names, (note,))


def _from_deliveries(run: FinishedRun) -> Moves:
    """From each event's publication to its deliveries; what came to its own broker did not move."""
    events = run.table("events").rename(columns={"broker": "source", "time": "departed"})
    made = run.table("deliveries").rename(columns={"broker": "target", "delivered": "ended"})
    rows = made.merge(events[["origin", "sequence", "source", "departed"]])
    rows = rows[rows.source != rows.target].assign(
        fate=ARRIVED, channel=CHANNELS.index("delivery"), type=0, length=0, key=None
    )
    if run.manifest["network"].get("backend") == "memory":
        why = 'run it again with `measure = ["frames"]` to see all'
    else:
        why = 'run it again with `network.capture = "both"` to see all'
    note = (
        "This run recorded no messages: what moves are deliveries, straight from publisher to"
        f" subscriber; {why}."
    )
    return Moves("deliveries", _tidy(rows), {}, {0: "delivery"}, (note,))


def _by_frequency(types: pd.Series, name: Callable[[int], str]) -> dict[int, str]:
    """The names of types, the most frequent first: these get the colours that differ most."""
    counts = types.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    return {code: name(code) for code in counts.index.tolist()}


def _tidy(rows: pd.DataFrame) -> pd.DataFrame:
    kept = rows[[*_COLUMNS, "key"]].astype(_COLUMNS)
    kept["ended"] = np.maximum(kept.ended, kept.departed)
    return kept.sort_values(["departed", "ended"], kind="stable", ignore_index=True)
