"""The overlay of each run as GraphML, with what brokers and links carried, for networkx and Gephi.

Links that were made during the run are there too (`initial` is false). Bytes and messages are those
of whole messages on the link, both ways together; `wire_bytes` are all packets with their headers,
where links were captured.
"""

from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd

from analysis.api import Experiment, Run

_SENT = ["sent", "sent_bytes"]


def write_graphml(experiment: Experiment, out: Path) -> None:
    """One file for each run, by its name."""
    for run in experiment.runs:
        nx.write_graphml(overlay(run), out / f"{run.directory.name}.graphml", named_key_ids=True)


def overlay(run: Run) -> nx.Graph:
    """The overlay with its load."""
    graph = nx.Graph(name=run.name, protocol=str(run.manifest["config"]["protocol"]["name"]))
    graph.add_nodes_from(range(run.brokers))
    for row in run.table("links").itertuples():
        graph.add_edge(row.a, row.b, delay=row.delay, rate=row.rate, initial=True)
    changes = run.table("changes")
    for row in changes[changes.change == "create"].itertuples():
        if not graph.has_edge(row.a, row.b):
            graph.add_edge(int(row.a), int(row.b), initial=False)
    _add_brokers(graph, run)
    _add_links(graph, run)
    return graph


def _add_brokers(graph: nx.Graph, run: Run) -> None:
    agents = run.table("agents").groupby(["broker", "side"])[["messages", "bytes"]].sum()
    subscriptions = run.table("subscriptions").groupby("broker").size()
    events = run.table("events").groupby("broker").size()
    deliveries = run.table("deliveries")
    made = deliveries[deliveries.kind == "made"].groupby("broker").size()
    for broker, data in graph.nodes(data=True):
        data["label"] = f"b{broker}"
        for side in ("sent", "received"):
            messages, size = _pair(agents, (broker, side))
            data[f"messages_{side}"], data[f"bytes_{side}"] = messages, size
        data["subscriptions"] = int(subscriptions.get(broker, 0))
        data["publications"] = int(events.get(broker, 0))
        data["deliveries"] = int(made.get(broker, 0))


def _add_links(graph: nx.Graph, run: Run) -> None:
    counters = run.table("counters")
    links = counters[counters.channel == "link"]
    both = _both_ways(links, _SENT)
    events = _both_ways(links[links.type.str.contains("event")], _SENT)
    wire = _wire_bytes(run)
    for a, b, data in graph.edges(data=True):
        link = (min(a, b), max(a, b))
        data["messages"], data["bytes"] = _pair(both, link)
        data["event_messages"], data["event_bytes"] = _pair(events, link)
        if wire is not None:
            data["wire_bytes"] = int(wire.bytes.get(link, 0))


def _wire_bytes(run: Run) -> pd.DataFrame | None:
    try:
        load = run.metric("link_load")
    except LookupError:
        return None
    return _both_ways(load[load.source.notna() & load.target.notna()], ["bytes"])


def _both_ways(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    ends = rows[["source", "target"]].astype("int64")
    keyed = rows.assign(low=ends.min(axis=1), high=ends.max(axis=1))
    return keyed.groupby(["low", "high"])[columns].sum()


def _pair(table: pd.DataFrame, key: Any) -> tuple[int, int]:
    if key not in table.index:
        return 0, 0
    row = table.loc[key]
    return int(row.iloc[0]), int(row.iloc[1])
