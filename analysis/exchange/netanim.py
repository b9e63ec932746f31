"""Runs as NetAnim plays them: brokers, links that come and go, and every message on its way.

The elements are those that NetAnim 3.108 reads: `anim`, `node`, `link`, `linkupdate`, `nu` (a node
changes its colour or its words), `p` (a packet over a link) and `wp` (one that goes its own way,
here a message off the overlay). A message is one packet; it takes as long as its bytes and headers.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import networkx as nx
import pandas as pd

from analysis.api import Experiment, Run
from analysis.finished import NANOSECONDS
from pysim.wire import read_header, type_name
from topologies.layout import positions

VERSION = "netanim-3.108"
_SCALE = 20.0
_COLOURS = {"up": (0, 114, 178), "down": (160, 160, 160)}
_SAME_MESSAGE = ["source", "target", "channel", "type", "origin", "sequence", "length", "crc"]
_HEADERS = ["link_header", "ip_header", "transport_header"]


def write_netanim(experiment: Experiment, out: Path) -> None:
    """One file for each run, by its name; LookupError if a run has no times of messages."""
    for run in experiment.runs:
        with (out / f"{run.directory.name}.xml").open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _document(run))


def _document(run: Run) -> Iterator[str]:
    packets = list(_packets(run))
    yield f'<anim ver="{VERSION}" filetype="animation" >'
    yield from _nodes(run)
    yield from _links(run)
    timed = [*_changes(run), *packets]
    yield from (line for _, line in sorted(timed, key=lambda each: each[0]))
    yield "</anim>"


def _nodes(run: Run) -> Iterator[str]:
    graph = nx.Graph()
    graph.add_nodes_from(range(run.brokers))
    graph.add_edges_from(run.table("links")[["a", "b"]].itertuples(index=False))
    places = positions(graph)
    low = places.min(axis=0)
    for broker, (x, y) in zip(graph.nodes, _SCALE * (places - low) + _SCALE, strict=True):
        yield _element("node", id=broker, sysId=0, locX=f"{x:.3f}", locY=f"{y:.3f}")
    for broker in range(run.brokers):
        yield _element("nu", p="d", t=0, id=broker, descr=f"b{broker}")
        yield _colour(0.0, broker, "up")


def _links(run: Run) -> Iterator[str]:
    known = {(row.a, row.b) for row in run.table("links").itertuples()}
    for a, b in sorted(known):
        yield _element("link", fromId=a, toId=b, fd=f"b{a}", td=f"b{b}", ld="")
    changes = run.table("changes")
    made = changes[changes.change == "create"]
    later = {tuple(sorted((int(row.a), int(row.b)))) for row in made.itertuples()}
    for a, b in sorted(later - known):
        yield _element("link", fromId=a, toId=b, fd=f"b{a}", td=f"b{b}", ld="not there yet")


def _changes(run: Run) -> Iterator[tuple[float, str]]:
    for row in run.table("changes").itertuples():
        time = row.time / NANOSECONDS
        if row.change in ("crash", "restart"):
            yield time, _colour(time, int(row.a), "down" if row.change == "crash" else "up")
            continue
        a, b = sorted((int(row.a), int(row.b)))
        words = {"break": "broken", "create": ""}.get(row.change, f"loss {row.loss:g}")
        yield time, _element("linkupdate", t=_time(time), fromId=a, toId=b, ld=words)


def _packets(run: Run) -> Iterator[tuple[float, str]]:
    """Every message that arrived, by the time it was sent."""
    if (run.directory / "tables" / "frames.parquet").is_file():
        return _logged_packets(run)
    return _captured_packets(run, run.messages())


def _logged_packets(run: Run) -> Iterator[tuple[float, str]]:
    """On the memory network a message takes its link's delay, and no time to be sent."""
    frames = run.table("frames")
    for row in frames[frames.arrived.notna() & frames.lost.isna()].itertuples():
        header = read_header(row.frame)
        name = run.type_names.get(header.type) or type_name(header.type)
        words = f"{name} {header.origin}:{header.sequence}, {header.length} bytes"
        begin, end = row.departed / NANOSECONDS, row.arrived / NANOSECONDS
        yield begin, _packet(row, words, (begin, begin, end, end))


def _captured_packets(run: Run, messages: pd.DataFrame) -> Iterator[tuple[float, str]]:
    links = run.table("links")
    ends = links[["a", "b"]].itertuples(index=False, name=None)
    delay = dict(zip(ends, links.delay, strict=True))
    usual_delay, rate = float(links.delay.mean()), float(run.table("wires").rate.mean())
    for row in _ways(messages).itertuples():
        begin = row.first_time / NANOSECONDS
        taken = 8 * (row.length + sum(getattr(row, each) for each in _HEADERS)) / rate
        sent = row.time / NANOSECONDS + taken
        pair = (min(row.source, row.target), max(row.source, row.target))
        one_end = row.arrived
        arrived = sent + delay.get(pair, usual_delay) if one_end else row.time_in / NANOSECONDS
        words = f"{row.name} {row.origin}:{row.sequence}, {row.length} bytes"
        times = (begin, sent, max(begin, arrived - (sent - begin)), arrived)
        yield begin, _packet(row, words, times)


def _packet(row: Any, words: str, times: tuple[float, float, float, float]) -> str:
    """A packet; `times` are those of its first and last bit, sent and then received."""
    return _element(
        "p" if row.channel == "link" else "wp",
        fId=int(row.source),
        fbTx=_time(times[0]),
        lbTx=_time(times[1]),
        **{"meta-info": words},
        tId=int(row.target),
        fbRx=_time(times[2]),
        lbRx=_time(times[3]),
    )


def _ways(messages: pd.DataFrame) -> pd.DataFrame:
    """Every message's way from a broker to another, if it arrived; `time_in` is when it did."""
    placed = messages[messages.source.notna() & messages.target.notna() & messages.channel.notna()]
    sent = placed[placed.counted].sort_values("time")
    come = placed[placed.arrived].sort_values("time")
    keyed = [rows.assign(copy=rows.groupby(_SAME_MESSAGE).cumcount()) for rows in (sent, come)]
    come = keyed[1][[*_SAME_MESSAGE, "copy", "time"]]
    both: pd.DataFrame = keyed[0].merge(come, on=[*_SAME_MESSAGE, "copy"], suffixes=("", "_in"))
    return both


def _colour(time: float, broker: int, state: str) -> str:
    r, g, b = _COLOURS[state]
    return _element("nu", p="c", t=_time(time), id=broker, r=r, g=g, b=b)


def _element(tag: str, **attributes: Any) -> str:
    inside = " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items())
    return f"<{tag} {inside} />"


def _time(seconds: float) -> str:
    return f"{seconds:.9f}"
