"""The whole way from a run to its analysis, held against other ways to the same numbers."""

import hashlib
import shutil
from collections import Counter
from pathlib import Path

import dpkt
import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from analysis.metrics import METRICS
from analysis.pipeline import Analysis, analyze, balance, present
from tests.analysis.runs import make_run
from tests.analysis.test_metrics_page import documented_columns

LINK_BASE = 0x0A800000


@pytest.fixture(scope="module")
def lively(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Subscription forwarding on a tree whose links are replaced while clients come and go."""
    run = make_run(
        tmp_path_factory.mktemp("lively"),
        duration="6 s",
        topology={"kind": "random-tree", "brokers": 12},
        workload={"kind": "patterns", "rate": "4 /s", "subscribers": "60 %"},
        faults=[{"kind": "reconfigurations", "start": "3 s", "stop": "5 s", "rate": "2 /s"}],
    )
    return analyze(spark, run)


@pytest.fixture(scope="module")
def flooded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Event forwarding on a tree that stays as it is."""
    run = make_run(
        tmp_path_factory.mktemp("flooded"),
        protocol={"name": "event-forwarding"},
        topology={"kind": "random-tree", "brokers": 12},
        workload={"kind": "patterns", "rate": "4 /s", "subscribers": "30 %"},
    )
    return analyze(spark, run)


def digests(directory: Path) -> dict[str, str]:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_an_analysis_leaves_its_tables(lively: Analysis) -> None:
    assert sorted(path.name for path in lively.directory.iterdir()) == [
        *("analysis.json", "books.json", "messages.parquet", "metrics"),
        *("notes.parquet", "packets.parquet"),
    ]
    written = {path.stem for path in (lively.directory / "metrics").iterdir()}
    assert written == set(METRICS)
    assert (lively.absent, lively.reused) == ({}, False)
    assert lively.books.balanced


@pytest.mark.parametrize("name", METRICS)
def test_a_table_has_the_columns_that_the_docs_name(lively: Analysis, name: str) -> None:
    path = lively.directory / "metrics" / f"{name}.parquet"
    assert pq.read_schema(path).names == documented_columns(name)


def test_the_same_run_gives_the_same_bytes(
    spark: SparkSession, lively: Analysis, tmp_path: Path
) -> None:
    before = digests(lively.directory)
    again = analyze(spark, lively.run.directory, force=True)
    assert not again.reused
    assert digests(again.directory) == before
    moved = shutil.copytree(lively.run.directory, tmp_path / "elsewhere")
    assert present(moved) is not None  # nothing in it depends on where it is


def test_an_analysis_is_reused_while_nothing_changed(
    spark: SparkSession, lively: Analysis, tmp_path: Path
) -> None:
    assert analyze(spark, lively.run.directory).reused
    copy = shutil.copytree(lively.run.directory, tmp_path / "copy")
    (copy / "captures" / "eth0.pcap").write_bytes(b"something else")
    assert present(copy) is None
    (copy / "captures" / "eth0.pcap").unlink()
    assert present(copy) is not None
    table = copy / "tables" / "records.parquet"
    shutil.copy(copy / "tables" / "queues.parquet", table)
    assert present(copy) is None


# Held against the run's own tables


def test_message_cost_is_what_the_network_counted(lively: Analysis) -> None:
    flow = ["source", "target", "channel", "type"]
    counters = lively.run.table("counters")
    cost = lively.metric("message_cost").groupby(flow)[["messages", "bytes"]].sum()
    counted = counters[counters.sent > 0].set_index(flow)[["sent", "sent_bytes"]]
    assert cost.to_dict("index") == counted.set_axis(["messages", "bytes"], axis=1).to_dict("index")


def test_all_sums_of_messages_agree(lively: Analysis) -> None:
    cost = lively.metric("message_cost")
    totals = lively.metric("message_totals")
    traffic = lively.metric("traffic_over_time")
    by_type = lively.metric("byte_breakdown_by_type")
    own = by_type[by_type.category.isin(["body", "frame header"])]
    expected = cost.groupby("type").bytes.sum().to_dict()
    for table in (totals, traffic, own):
        assert table.groupby("type").bytes.sum().to_dict() == expected
    assert totals.share.sum() == pytest.approx(1)
    overhead = lively.metric("reconfiguration_overhead")
    control = totals[(totals.phase == "reconfiguration") & (totals.type != "event")]
    assert overhead.messages.sum() == control.messages.sum() > 0


def test_latencies_of_captures_are_those_of_deliveries_to_the_nanosecond(lively: Analysis) -> None:
    messages = lively.table("messages")
    arrived = messages[messages.arrived & messages.publication]
    first = arrived.groupby(["origin", "sequence", "target"]).time.min()
    deliveries = lively.run.table("deliveries")
    remote = deliveries[deliveries.broker != deliveries.origin]
    keys = remote[["origin", "sequence", "broker"]].itertuples(index=False, name=None)
    assert [first[key] for key in keys] == remote.delivered.tolist()
    assert len(remote) > 100


def test_quantiles_are_those_of_the_deliveries(lively: Analysis) -> None:
    deliveries = lively.run.table("deliveries")
    waits = (deliveries.delivered - deliveries.published).to_numpy()
    latency = lively.metric("latency")
    expected = np.quantile(waits, latency["quantile"], method="inverted_cdf") / 1e9
    assert latency.seconds.tolist() == expected.tolist()
    by_hops = lively.metric("latency_by_hops")
    assert by_hops.deliveries.sum() == latency.deliveries[0] == len(waits)
    total = (by_hops["mean"] * by_hops.deliveries).sum()
    assert total == pytest.approx(waits.sum() / 1e9)


def test_deliveries_over_time_add_up_to_the_manifest(lively: Analysis) -> None:
    table = lively.metric("delivery_over_time")
    stated = lively.run.manifest["deliveries"]
    for name in ("due", "made", "missing", "withdrawn"):
        assert table[name].sum() == stated[name]
    assert stated["missing"] > 0
    assert table.published.sum() == len(lively.run.table("events"))


def test_brokers_load_is_that_of_their_counters(lively: Analysis) -> None:
    counters = lively.run.table("counters")
    sent = counters.groupby("source").sent.sum()
    received = counters.groupby("target").received.sum()
    load = lively.metric("load_fairness").set_index("broker").messages
    assert load.to_dict() == (sent + received).to_dict()


# Held against captures, as another library reads them


def lengths(analysis: Analysis) -> Counter[tuple[int, int]]:
    """Bytes that left each broker over its link to each other one."""
    found: Counter[tuple[int, int]] = Counter()
    for path in analysis.run.captures():
        a, b = (int(name[1:]) for name in path.stem.split(".")[0].split("-"))
        with path.open("rb") as file:
            for _, frame in dpkt.pcap.Reader(file):
                address = int.from_bytes(dpkt.ip.IP(frame[2:]).src, "big")
                if (address - LINK_BASE) % 4 == (1 if a < b else 2):
                    found[a, b] += len(frame)
    return found


def test_every_byte_on_a_line_is_accounted_for(lively: Analysis) -> None:
    sent = lengths(lively)
    load = lively.metric("link_load").set_index(["source", "target"])
    assert load.bytes.to_dict() == dict(sent)
    assert lively.metric("byte_breakdown").bytes.sum() == sum(sent.values())
    assert (load.busy_share <= load.peak_share).all()
    assert load.peak_share.max() <= 1
    packets = lively.table("packets")
    parts = ["link_header", "ip_header", "transport_header", "frame_header", "body", "repeated",
             "unattributed"]  # fmt: skip
    assert (packets[parts].sum(axis=1) == packets.length).all()


# Held against the overlay


def tree(analysis: Analysis) -> nx.Graph:
    return nx.Graph(analysis.run.table("links")[["a", "b"]].itertuples(index=False, name=None))


def test_flooding_wastes_what_the_overlay_says(flooded: Analysis) -> None:
    overlay = tree(flooded)
    deliveries = flooded.run.table("deliveries")
    served = deliveries.groupby(["origin", "sequence"]).broker.agg(set).to_dict()
    expected: Counter[str] = Counter()
    for origin, sequence in flooded.run.table("events")[["origin", "sequence"]].to_numpy():
        wanting = served.get((origin, sequence), set())
        rooted = nx.bfs_tree(overlay, origin)
        for _, broker in rooted.edges:
            behind = {broker} | nx.descendants(rooted, broker)
            expected["total"] += 1
            expected["useful"] += bool(behind & wanting)
            expected["misrouted"] += not behind & wanting
            expected["pure_forward"] += broker not in wanting and rooted.out_degree(broker) > 0
    (found,) = flooded.metric("wasted_hops").to_dict("records")
    assert found == {"lost": 0, **expected}
    assert expected["misrouted"] > 0


def test_hops_are_distances_in_the_overlay(flooded: Analysis) -> None:
    distances = dict(nx.all_pairs_shortest_path_length(tree(flooded)))
    deliveries = flooded.run.table("deliveries")
    ways = zip(deliveries.origin, deliveries.broker, strict=True)
    expected = Counter(distances[origin][broker] for origin, broker in ways)
    found = flooded.metric("latency_by_hops").set_index("hops").deliveries
    assert found.to_dict() == dict(expected)
    assert set(flooded.metric("dispatchers_involved").brokers) == {12}
    assert flooded.metric("duplicates")["count"].tolist() == [0, 0, 0]


# What a run lacks


def test_a_run_without_packets_has_the_metrics_of_its_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    analysis = analyze(spark, make_run(tmp_path, network={"backend": "memory"}))
    there = set(METRICS) - set(analysis.absent)
    assert there == {
        "normalized_cost",
        "latency",
        "delivery_over_time",
        "load_fairness",
        "fairness",
    }
    assert set(analysis.absent.values()) == {"the memory network has no packets to capture"}
    assert len(analysis.metric("latency")) == 101
    with pytest.raises(LookupError) as error:
        analysis.metric("wasted_hops")
    assert str(error.value) == (
        f"{tmp_path}/run has no wasted_hops: the memory network has no packets to capture"
    )
    with pytest.raises(LookupError, match="has no messages: the memory network"):
        analysis.table("messages")
    with pytest.raises(LookupError, match="there is no metric latencies; known are message_cost"):
        analysis.metric("latencies")


def test_chosen_captures_and_strangers_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    run = make_run(tmp_path, network={"backend": "ns3", "capture": ["0-1", "2-3"]})
    shutil.copy(run / "captures" / "b0-b1.pcap", run / "captures" / "other.pcap")
    analysis = analyze(spark, run)
    notes = analysis.table("notes")
    assert notes[["capture", "kind", "text"]].to_dict("records") == [
        {
            "capture": "other",
            "kind": "left-out",
            "text": "captures/other.pcap is not of this run and was left out",
        }
    ]
    assert set(analysis.absent.values()) == {
        "only 2 chosen links were captured: events cannot be followed"
    }
    links = analysis.metric("message_cost")[["source", "target"]].min(axis=1)
    assert set(links) == {0, 2}


def test_a_run_without_a_table_is_refused_and_nothing_is_left(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = make_run(tmp_path, network={"backend": "memory"})
    (run / "tables" / "missing.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks tables/missing.parquet"):
        analyze(spark, run)
    assert sorted(path.name for path in run.iterdir()) == ["config.toml", "manifest.json", "tables"]


def test_types_that_only_the_run_knew_have_its_names(tmp_path: Path) -> None:
    run = make_run(tmp_path, protocol={"name": "test-novel"})
    books = balance(run)
    (row,) = books.types
    assert (books.balanced, row.type, row.sent > 0) == (True, "novelty", True)
