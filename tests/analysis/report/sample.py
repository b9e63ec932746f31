"""An analysis made up from a run's own tables, in the pipeline's columns: for tests without Spark.

Packets are made up (one a message, an acknowledgment for every second one), everything else is
counted from the tables, so the numbers fit each other.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import networkx as nx
import numpy as np
import pandas as pd

from analysis.books import Books

HEADERS = {"transport header": 32, "ip header": 20, "link header": 2}
FRAME_HEADER = 16
SECOND = 1_000_000_000
BIN = SECOND // 4
_COUNTS = ("sent", "received", "lost_link", "lost_packet", "unfinished", "unserved")
EVENTS = ("event", "counted-event", "addressed-event")


def write_analysis(directory: Path, without: Mapping[str, str] = MappingProxyType({})) -> None:
    """Write `analysis/` into the directory of a run, `without` some metrics, by their reasons."""
    tables = {path.stem: pd.read_parquet(path) for path in (directory / "tables").glob("*.parquet")}
    manifest = json.loads((directory / "manifest.json").read_text())
    metrics = directory / "analysis" / "metrics"
    metrics.mkdir(parents=True, exist_ok=True)
    absent = {}
    for name, frame in _metrics(manifest, tables).items():
        if name in without:
            absent[name] = without[name]
        else:
            frame.to_parquet(metrics / f"{name}.parquet", index=False)
    (metrics.parent / "analysis.json").write_text(json.dumps({"key": "", "absent": absent}))
    (metrics.parent / "books.json").write_text(json.dumps(_books(tables["counters"])))


def _metrics(manifest: dict, tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    counters = tables["counters"]
    by_type = counters.groupby("type", as_index=False)[["sent", "sent_bytes"]].sum()
    by_type.columns = ["type", "messages", "bytes"]
    return {
        **_cost(counters, by_type),
        **_over_time(manifest, tables, by_type),
        **_breakdown(by_type),
        **_latency(tables),
        **_links(manifest, tables),
        **_brokers(manifest, tables),
        **_reconfigurations(manifest, tables),
    }


def _books(counters: pd.DataFrame) -> dict:
    types = []
    for kind, rows in counters.groupby("type"):
        total = rows.sum(numeric_only=True)
        types.append(
            {
                "type": kind,
                "bytes_sent": int(total.sent_bytes),
                "bytes_received": int(total.received_bytes),
                **{f"agents_{side}": int(total[side]) for side in ("sent", "received")},
                "captured_leaving": int(total.sent),
                "captured_arriving": int(total.received),
                **{name: int(total[name]) for name in _COUNTS},
            }
        )
    return Books.from_dict({"problems": [], "unchecked": [], "types": types}).as_dict()


def _cost(counters: pd.DataFrame, by_type: pd.DataFrame) -> dict[str, pd.DataFrame]:
    cost = counters.rename(columns={"sent": "messages", "sent_bytes": "bytes"}).assign(
        phase="traffic"
    )
    cost["body_bytes"] = cost.bytes - FRAME_HEADER * cost.messages
    columns = ["phase", "type", "channel", "source", "target", "messages", "bytes", "body_bytes"]
    totals = by_type.assign(phase="traffic", share=by_type.bytes / by_type.bytes.sum())
    normalized = by_type[["type", "messages"]].copy()
    mean = by_type.bytes / by_type.messages
    event = mean[by_type.type.isin(EVENTS)]
    normalized["published_weight"] = [0.1 if kind == "flush" else 1.0 for kind in by_type.type]
    normalized["published_cost"] = normalized.published_weight * normalized.messages
    normalized["mean_bytes"] = mean
    normalized["implied_weight"] = mean / event.iloc[0] if len(event) else np.nan
    normalized["implied_cost"] = normalized.implied_weight * normalized.messages
    return {
        "message_cost": cost[columns],
        "message_totals": totals[["phase", "type", "messages", "bytes", "share"]],
        "normalized_cost": normalized,
    }


def _over_time(
    manifest: dict, tables: dict[str, pd.DataFrame], by_type: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    events, deliveries = tables["events"], tables["deliveries"]
    bins = events.time // BIN * BIN
    delivery = events.groupby(bins).agg(published=("time", "size"), due=("due", "sum"))
    made = deliveries[deliveries.kind == "made"]
    delivery["made"] = made.groupby(made.published // BIN * BIN).size()
    delivery = delivery.fillna({"made": 0}).astype({"made": "int64"})
    delivery["missing"] = delivery.due - delivery.made
    delivery["ratio"] = (delivery.made / delivery.due).where(delivery.due > 0)
    length = int(manifest["duration"] * SECOND)
    starts = np.arange(0, length, BIN)
    rows = []
    for number, row in enumerate(by_type.itertuples()):
        weight = 1 + np.sin(starts / length * 3 + number)
        if row.type in EVENTS:
            weight = np.histogram(events.time, bins=[*starts, length])[0].astype(float)
        weight = weight / max(weight.sum(), 1)
        for start, share in zip(starts, weight, strict=True):
            rows.append((start, row.type, int(row.messages * share), int(row.bytes * share)))
    traffic = pd.DataFrame(rows, columns=["bin", "type", "messages", "bytes"])
    return {
        "traffic_over_time": traffic[traffic.messages > 0],
        "delivery_over_time": delivery.rename_axis("bin").reset_index(),
    }


def _breakdown(by_type: pd.DataFrame) -> dict[str, pd.DataFrame]:
    rows = []
    for row in by_type.itertuples():
        rows.append((row.type, "body", row.bytes - FRAME_HEADER * row.messages))
        rows.append((row.type, "frame header", FRAME_HEADER * row.messages))
        rows.extend((row.type, name, size * row.messages) for name, size in HEADERS.items())
    detail = pd.DataFrame(rows, columns=["type", "category", "bytes"])
    messages = int(by_type.messages.sum())
    whole = detail.groupby("category").bytes.sum().to_dict()
    whole |= {"ack": 54 * (messages // 2), "handshake": 166 * 57, "teardown": 108, "reset": 54}
    whole |= {"retransmission": 89 * 12, "other": 0}
    packets = {"body": messages, "ack": messages // 2, "handshake": 171, "retransmission": 12}
    frame = pd.DataFrame(
        [(name, packets.get(name, 0), size) for name, size in whole.items()],
        columns=["category", "packets", "bytes"],
    )
    frame["share"] = frame.bytes / frame.bytes.sum()
    return {"byte_breakdown": frame, "byte_breakdown_by_type": detail}


def _latency(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    made = tables["deliveries"]
    made = made[made.kind == "made"]
    seconds = (made.delivered - made.published) / SECOND
    quantiles = [0.0, *np.arange(1, 100) / 100, 1.0]
    latency = pd.DataFrame({"quantile": quantiles})
    latency["seconds"] = seconds.quantile(quantiles).to_numpy() if len(made) else np.nan
    latency["deliveries"] = len(made)
    graph = nx.Graph(tables["links"][["a", "b"]].itertuples(index=False, name=None))
    reach = dict(nx.all_pairs_shortest_path_length(graph))
    hops = [reach[a][b] for a, b in zip(made.origin, made.broker, strict=True)]
    grouped = seconds.groupby(np.array(hops, dtype=int))
    by_hops = grouped.quantile([0.5, 0.95, 0.99]).unstack()
    by_hops.columns = ["p50", "p95", "p99"]
    by_hops.insert(0, "deliveries", grouped.size())
    by_hops["mean"] = grouped.mean()
    return {"latency": latency, "latency_by_hops": by_hops.rename_axis("hops").reset_index()}


def _links(manifest: dict, tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    counters = tables["counters"]
    load = counters.groupby(["source", "target"], as_index=False)[["sent", "sent_bytes"]].sum()
    load["bytes"] = load.sent_bytes + load.sent * sum(HEADERS.values())
    load["packets"] = load.sent
    load["busy_share"] = load.bytes * 8 / 10e6 / manifest["duration"]
    load["peak_share"] = (load.busy_share * 3).clip(upper=1)
    load["a"] = "b" + load.source.astype(str)
    load["b"] = "b" + load.target.astype(str)
    load = load.assign(directed=True, waits=load.sent, mean_wait=100_000.0, max_wait=2_000_000)
    columns = [
        "a",
        "b",
        "directed",
        "source",
        "target",
        "packets",
        "bytes",
        "busy_share",
        "peak_share",
    ]
    columns += ["waits", "mean_wait", "max_wait"]
    retransmissions = load[["source", "target"]].assign(packets=0, bytes=0)
    retransmissions.loc[:1, ["packets", "bytes"]] = (6, 534)
    hops = int(counters[counters.type.isin(EVENTS)].sent.sum())
    made = int((tables["deliveries"].kind == "made").sum())
    useful = int(hops * 0.96)
    wasted = {"total": hops, "useful": useful, "misrouted": hops - useful, "lost": 0}
    wasted["pure_forward"] = max(0, hops - made)
    return {
        "link_load": load[columns],
        "retransmissions": retransmissions[retransmissions.packets > 0],
        "wasted_hops": pd.DataFrame([wasted]),
        "duplicates": pd.DataFrame(
            [("client duplicates", 0), ("spurious", 0), ("broker duplicates", 3)],
            columns=["kind", "count"],
        ),
    }


def _brokers(manifest: dict, tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    counters = tables["counters"]
    load = pd.DataFrame({"broker": range(manifest["brokers"])})
    for column in ("messages", "bytes"):
        sent, received = {"messages": ("sent", "received")}.get(
            column, ("sent_bytes", "received_bytes")
        )
        total = (
            counters.groupby("source")[sent]
            .sum()
            .add(counters.groupby("target")[received].sum(), fill_value=0)
        )
        load[column] = load.broker.map(total).fillna(0).astype("int64")
    load["share"] = load.bytes / load.bytes.sum()
    jain = {
        f"jain_index_{name}": load[name].sum() ** 2 / (len(load) * (load[name] ** 2).sum())
        for name in ("messages", "bytes")
    }
    ordered = np.sort(load.bytes)
    ranks = np.arange(1, len(ordered) + 1)
    gini = float(((2 * ranks - len(ordered) - 1) * ordered).sum() / len(ordered) / ordered.sum())
    fairness = {**jain, "max_over_mean": load.bytes.max() / load.bytes.mean(), "gini": gini}
    involved = tables["events"][["origin", "sequence"]].copy()
    involved["brokers"] = 2 + (involved.sequence * 7 + involved.origin) % max(
        3, manifest["brokers"] // 2
    )
    return {
        "load_fairness": load,
        "fairness": pd.DataFrame([fairness]),
        "dispatchers_involved": involved,
        "destination_list": pd.DataFrame({"length": [], "messages": []}, dtype="int64"),
    }


def _reconfigurations(manifest: dict, tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    changes = tables["changes"].dropna(subset=["reconfiguration"])
    counters = tables["counters"]
    control = counters[~counters.type.isin(EVENTS)].groupby("type").sent.sum()
    rows = []
    for number, group in changes.groupby("reconfiguration"):
        ends = {row.change: f"{row.a}-{row.b}" for row in group.itertuples()}
        begin = int(group.time.min())
        for kind, total in control.items():
            messages = int(total / 20 * (1 + (int(number) * 5) % 4))
            rows.append(
                (int(number), ends.get("break"), ends.get("create"), begin, begin + SECOND // 2,
                 kind, messages, 26 * messages)
            )  # fmt: skip
    columns = [
        "reconfiguration",
        "broken",
        "created",
        "from_time",
        "to_time",
        "type",
        "messages",
        "bytes",
    ]
    involved = {"reconfiguration": sorted({row[0] for row in rows}), "brokers": 9}
    return {
        "reconfiguration_overhead": pd.DataFrame(rows, columns=columns),
        "dispatchers_per_reconfiguration": pd.DataFrame(involved),
    }
