"""Makes the page and the charts of a run: what is embedded, under which names, in which file."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.finished import FinishedRun
from analysis.replay import ladder, sequence
from analysis.replay.decoding import decode_body
from analysis.replay.embedding import pack
from analysis.replay.moves import CHANNELS, Moves, ReplayError, read_moves
from analysis.replay.palette import style_sheet
from analysis.replay.sequence import Chart
from analysis.replay.state import (
    Samples,
    read_deliveries,
    read_intervals,
    read_notes,
    read_overlay,
    read_queues,
    read_samples,
)
from pysim.wire import message_types

MOST_MESSAGES = 1_000_000
_MOST_BYTES = 64 << 20
_LONGEST_FRAME = 4096
_PAGE = Path(__file__).with_name("page")
_SCRIPTS = ("data", "scene", "timeline", "inspector", "chart", "player")

Window = tuple[int, int]
"""From when to when, in nanoseconds."""

Columns = dict[str, npt.NDArray[Any]]


def build_page(directory: Path, out: Path | None = None, window: Window | None = None) -> Path:
    """Write the page of a run, or of a window of it; the result is its path."""
    run = FinishedRun(directory)
    overlay = read_overlay(run)
    moves = _chosen(run, read_moves(run, overlay.lives), window)
    if len(moves.rows) > MOST_MESSAGES:
        raise ReplayError(
            f"{run.directory} has {len(moves.rows):,} messages, a page holds {MOST_MESSAGES:,}; "
            "choose a part of the run with --between"
        )
    texts, columns = _contents(moves)
    columns |= _move_columns(moves)
    lives = pd.DataFrame(overlay.lives, columns=["a", "b", "since", "until"])
    columns |= _prefixed("link", lives) | _prefixed("down", overlay.down)
    columns |= {"places": overlay.places.astype("f4").ravel()}
    columns |= _prefixed("delivery", read_deliveries(run))
    strings: dict[str, int] = {}
    for table in ("subscriptions", "tables"):
        columns |= _interned(table, read_intervals(run, table), strings)
    samples = read_samples(run)
    columns |= _sample_columns(samples)
    texts |= {
        "about": _about(run, moves, window),
        "types": [
            {"code": code, "name": name, "fields": _field_names(code)}
            for code, name in moves.type_names.items()
        ],
        "channels": CHANNELS,
        "changes": overlay.changes,
        "strings": list(strings),
        "samples": list(samples.values) if samples else None,
        "queues": read_queues(run),
    }
    path = out or run.directory / "replay.html"
    path.write_text(_html(run.name, pack(texts, columns)), "utf-8")
    return path


def build_chart(
    directory: Path,
    window: Window,
    out: Path | None = None,
    brokers: Sequence[int] | None = None,
    types: Sequence[str] | None = None,
    axis: str = "linear",
) -> Path:
    """Write the sequence chart of a window as SVG; the result is its path."""
    run = FinishedRun(directory)
    overlay = read_overlay(run)
    moves = _chosen(run, read_moves(run, overlay.lives), window)
    chart = Chart(run.name, moves, window, _known(run, brokers), types, axis)
    if axis == "rows":
        drawn = ladder.draw(ladder.Ladder(chart, read_notes(run, overlay)))
    else:
        drawn = sequence.draw(chart)
    path = out or run.directory / "sequence.svg"
    path.write_text(drawn, "utf-8")
    return path


def _chosen(run: FinishedRun, moves: Moves, window: Window | None) -> Moves:
    if window is None:
        return moves
    if window[0] >= run.duration:
        raise ReplayError(
            f"the window begins at {window[0] / 1e9:g} s, and {run.directory} ends at "
            f"{run.duration / 1e9:g} s"
        )
    return moves.between(*window)


def _known(run: FinishedRun, brokers: Sequence[int] | None) -> Sequence[int] | None:
    for broker in brokers or ():
        if broker >= run.brokers:
            raise ReplayError(
                f"there is no broker {broker}: {run.directory} has 0 to {run.brokers - 1}"
            )
    return brokers


def _about(run: FinishedRun, moves: Moves, window: Window | None) -> dict[str, Any]:
    config = run.manifest.get("config", {})
    begin, end = window or (0, run.duration)
    return {
        "name": run.name,
        "protocol": config.get("protocol", {}).get("name", ""),
        "backend": run.manifest["network"].get("backend", ""),
        "brokers": run.brokers,
        "begin": begin,
        "end": min(end, run.duration),
        "duration": run.duration,
        "service": config.get("service", {}).get("model", "none") != "none",
        "source": moves.source,
        "notes": moves.notes,
    }


def _move_columns(moves: Moves) -> Columns:
    rows = moves.rows
    codes = {code: place for place, code in enumerate(moves.type_names)}
    kinds = {"fate": "u1", "channel": "u1", "source": "u4", "target": "u4", "length": "u4"}
    return {
        "departed": rows.departed.to_numpy("f8"),
        "ended": rows.ended.to_numpy("f8"),
        "type": rows.type.map(codes).to_numpy("u1"),
        **{name: rows[name].to_numpy(kind) for name, kind in kinds.items()},
        "origin": rows.origin.to_numpy("u4"),
        "sequence": rows.sequence.to_numpy("u4"),
    }


def _contents(moves: Moves) -> tuple[dict[str, Any], Columns]:
    """The bytes of all different frames, what they say, and which message has which.

    A page has at most so many bytes; messages behind them are without.
    """
    numbers: dict[bytes, int] = {}
    of_message = np.zeros(len(moves.rows), "u4")
    size = 0
    for place, key in enumerate(moves.rows.key):
        frame = None if key is None else moves.contents[key]
        if frame is None or (frame not in numbers and size > _MOST_BYTES):
            continue
        if frame not in numbers:
            numbers[frame] = len(numbers) + 1
            size += min(len(frame), _LONGEST_FRAME)
        of_message[place] = numbers[frame]
    cut = [frame[:_LONGEST_FRAME] for frame in numbers]
    bodies = [_flat(frame) for frame in numbers]
    ends = np.cumsum([0, *map(len, cut)])
    columns: Columns = {
        "content": of_message,
        "bytes": np.frombuffer(b"".join(cut), "u1"),
        "bounds": ends.astype("u4"),
    }
    return {"bodies": bodies}, columns


def _flat(frame: bytes) -> list[Any]:
    """A body as a page has it: the bytes before its fields, then each one's text and size.

    Names are those of the type, unless they are given: then a name stands before each text.
    """
    body = decode_body(frame)
    named = [field.name for field in body.fields]
    if named == _field_names(frame[5])[: len(named)]:
        return [body.lead, *(part for field in body.fields for part in field[1:])]
    return [body.lead, *(list(field) for field in body.fields)]


def _field_names(code: int) -> list[str]:
    known = message_types().get(code)
    return list(known.message.__struct_fields__) if known else []


def _prefixed(prefix: str, table: pd.DataFrame) -> Columns:
    kinds = {"since": "f8", "until": "f8", "delivered": "f8"}
    return {f"{prefix}.{name}": table[name].to_numpy(kinds.get(str(name), "u4")) for name in table}


def _interned(prefix: str, table: pd.DataFrame | None, strings: dict[str, int]) -> Columns:
    """Columns of a table in which texts are numbers of `strings`; none of a table that is not."""
    if table is None:
        return {}
    numbered = table.copy()
    for name in table.select_dtypes(exclude="number"):
        numbered[name] = [strings.setdefault(text, len(strings)) for text in table[name]]
    return _prefixed(prefix, numbered)


def _sample_columns(samples: Samples | None) -> Columns:
    if samples is None:
        return {}
    grids = {f"sample.{place}": grid.ravel() for place, grid in enumerate(samples.values.values())}
    return {"sample.times": samples.times, **grids}


def _html(title: str, data: str) -> str:
    scripts = "\n".join((_PAGE / f"{name}.js").read_text("utf-8").strip() for name in _SCRIPTS)
    parts = {
        "TITLE": escape(f"{title} replayed"),
        "STYLE": style_sheet() + (_PAGE / "style.css").read_text("utf-8"),
        "SCRIPT": scripts,
        "DATA": data,
    }
    page = (_PAGE / "index.html").read_text("utf-8")
    for name, text in parts.items():
        page = page.replace(f"<!--{name}-->", text)
    return page
