"""What is exported, other tools read back: every table, scalar, vector, link and packet."""

import xml.etree.ElementTree as ET
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis import open_experiment, open_run
from analysis.api import Experiment, Run
from analysis.exchange import FORMATS, export
from analysis.exchange.omnetpp import _text
from analysis.metrics import METRICS
from tests.analysis.runs import make_run

from . import scave

FAULTS = [
    {"kind": "link-replace", "time": "2 s", "old": "1-2", "new": "0-2", "repair": "100 ms"},
    {"kind": "broker-crash", "time": "3 s", "broker": 4},
    {"kind": "broker-restart", "time": "3.5 s", "broker": 4},
]


@pytest.fixture(scope="module")
def run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on packets in which a link is replaced and a broker crashes."""
    folder = tmp_path_factory.mktemp("run")
    made = open_run(
        make_run(folder, "seed1", faults=FAULTS, service={"model": "type", "default": "1 ms"})
    )
    assert made.analysis
    return made


@pytest.fixture(scope="module")
def sweep(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """Two runs without packets."""
    root = tmp_path_factory.mktemp("sweep") / "results"
    for seed in (1, 2):
        made = make_run(root, f"seed{seed}", seed=seed, network={"backend": "memory"})
        assert open_run(made).analysis
    return open_experiment(root)


@pytest.fixture(scope="module")
def exported(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run in all formats."""
    out = tmp_path_factory.mktemp("out")
    for format in FORMATS:
        assert export(run.directory, format, out / format)
    return out


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_every_table_and_metric_is_there_with_its_rows(
    run: Run, exported: Path, format: str
) -> None:
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv}[format]
    tables = {path.stem for path in (run.directory / "tables").iterdir()}
    assert {path.stem for path in (exported / format / "tables").iterdir()} == tables
    assert {path.stem for path in (exported / format / "metrics").iterdir()} == set(METRICS)
    captured = exported / format / "captured"
    assert {path.stem for path in captured.iterdir()} == {"messages", "packets", "notes"}
    for name in tables:
        found, given = read(exported / format / "tables" / f"{name}.{format}"), run.table(name)
        assert list(found.columns) == list(given.columns)
        assert len(found) == len(given)
        numbers = given.columns if format == "parquet" else given.select_dtypes("number").columns
        if len(given):
            pd.testing.assert_frame_equal(found[numbers], given[numbers], check_dtype=False)
    for name in METRICS:
        found = read(exported / format / "metrics" / f"{name}.{format}")
        assert len(found) == len(run.metric(name))


def test_runs_of_a_sweep_stand_below_each_other_and_say_who_they_are(
    sweep: Experiment, tmp_path: Path
) -> None:
    export(sweep.directory, "csv", tmp_path / "out")
    deliveries = pd.read_csv(tmp_path / "out" / "tables" / "deliveries.csv")
    assert list(deliveries.columns[:2]) == ["run", "seed"]
    for run in sweep.runs:
        own = deliveries[deliveries.run == run.manifest["run"]]
        assert len(own) == len(run.table("deliveries"))
    assert list(pd.read_csv(tmp_path / "out" / "runs.csv").seed) == [1, 2]
    assert not (tmp_path / "out" / "captured").exists()


def test_scalars_are_what_the_run_says(run: Run, exported: Path) -> None:
    results = scave.read((exported / "omnetpp" / "seed1.sca").read_text())
    assert results.attributes["experiment"] == "small"
    assert results.attributes["seedset"] == "1"
    assert dict(results.config)["topology.kind"] == "line"
    for name, value in run.manifest["deliveries"].items():
        assert results.scalar("small", f"deliveries:{name}") == value
    for kind, totals in run.manifest["messages"].items():
        assert results.scalar("small", f"{kind}:sent_bytes") == totals["sent_bytes"]
    for row in run.table("agents").itertuples():
        assert (
            results.scalar(f"small.broker[{row.broker}]", f"{row.type}:{row.side}") == row.messages
        )
    for row in run.table("queues").itertuples():
        busy = results.scalar(f"small.broker[{row.broker}]", "queue:busy")
        assert busy == pytest.approx(row.busy / 1e9)
    assert 0 < results.scalar("small", "fairness:jain_index_messages") <= 1


def test_latency_is_a_statistic_whose_bins_hold_every_delivery(run: Run, exported: Path) -> None:
    results = scave.read((exported / "omnetpp" / "seed1.sca").read_text())
    (latency,) = results.statistics
    table = run.table("deliveries")
    made = table[table.kind == "made"]
    seconds = (made.delivered - made.published) / 1e9
    assert latency.attributes == {"unit": "s"}
    assert latency.fields["count"] == len(seconds) == sum(count for _, count in latency.bins)
    assert latency.fields["mean"] == pytest.approx(seconds.mean())
    assert latency.fields["max"] == pytest.approx(seconds.max())
    assert latency.bins[0] == (float("-inf"), 0)
    assert latency.bins[-1][1] == 0
    for (low, count), (high, _) in zip(latency.bins[1:], latency.bins[2:], strict=False):
        inside = ((seconds >= low - 1e-12) & (seconds < high - 1e-12)).sum()
        assert abs(inside - count) <= 1  # a value on an edge


def test_vectors_have_every_delivery_at_its_time(run: Run, exported: Path) -> None:
    results = scave.read((exported / "omnetpp" / "seed1.vec").read_text())
    found = {
        (vector.module, time, value)
        for vector in results.vectors.values()
        if vector.name == "latency:vector"
        for time, value in vector.points
    }
    table = run.table("deliveries")
    made = table[table.kind.isin(("made", "early"))]
    assert found == {
        (f"small.broker[{r.broker}]", r.delivered / 1e9, (r.delivered - r.published) / 1e9)
        for r in made.itertuples()
    }
    traffic = run.metric("traffic_over_time")
    sums = {v.name: sum(value for _, value in v.points) for v in results.vectors.values()}
    for kind, rows in traffic.groupby("type"):
        assert sums[f"{kind}:messages:vector"] == rows.messages.sum()


@pytest.mark.parametrize(
    "word", ["plain", "two words", 'a "quote"', "back\\slash", "#1", "", "tab\tand\nline", "a=b"]
)
def test_any_word_is_one_token_and_reads_back(word: str) -> None:
    assert scave.tokens(_text(("attr", word, 7))) == ["attr", word, "7"]


def test_the_reader_of_result_files_is_strict() -> None:
    head = "version 3\nrun a\n"
    for wrong in ("scalar a b\n", "field count 1\n", "0 1.0 2.0\n", 'attr "a b\n', "nonsense a\n"):
        with pytest.raises(ValueError):  # noqa: PT011
            scave.read(head + wrong)
    with pytest.raises(ValueError, match="begins with its version"):
        scave.read("version 2\nrun a\n")


def test_networkx_reads_the_overlay_with_its_load(run: Run, exported: Path) -> None:
    graph = nx.read_graphml(exported / "graphml" / "seed1.graphml", node_type=int)
    assert sorted(graph.nodes) == list(range(run.brokers))
    initial = {tuple(sorted(edge[:2])) for edge in graph.edges(data="initial") if edge[2]}
    assert initial == {(row.a, row.b) for row in run.table("links").itertuples()}
    assert graph.edges[0, 2]["initial"] is False
    counters = run.table("counters")
    assert sum(data["messages"] for *_, data in graph.edges(data=True)) == counters.sent.sum()
    assert sum(data["bytes"] for *_, data in graph.edges(data=True)) == counters.sent_bytes.sum()
    sent = run.table("agents").query("side == 'sent'").messages.sum()
    assert sum(data["messages_sent"] for _, data in graph.nodes(data=True)) == sent
    wire = run.metric("link_load").bytes.sum()
    assert sum(data["wire_bytes"] for *_, data in graph.edges(data=True)) == wire


NETANIM = {
    "node": {"id", "sysId", "locX", "locY"},
    "link": {"fromId", "toId", "fd", "td", "ld"},
    "linkupdate": {"t", "fromId", "toId", "ld"},
    "p": {"fId", "fbTx", "lbTx", "meta-info", "tId", "fbRx", "lbRx"},
    "wp": {"fId", "fbTx", "lbTx", "meta-info", "tId", "fbRx", "lbRx"},
}
"""The attributes that NetAnim's parser asks each element for."""


def test_netanim_gets_every_message_that_arrived(run: Run, exported: Path) -> None:
    path = exported / "netanim" / "seed1.xml"
    assert path.read_text().startswith('<anim ver="netanim-3.108" filetype="animation" >\n')
    root = ET.parse(path).getroot()
    for element in root:
        if element.tag != "nu":
            assert set(element.attrib) == NETANIM[element.tag]
    packets = root.findall("p")
    assert len(packets) == run.table("counters").received.sum()
    for packet in packets:
        times = [float(packet.attrib[name]) for name in ("fbTx", "lbTx", "fbRx", "lbRx")]
        assert times[0] < times[1] <= times[3]
        assert times[0] <= times[2] < times[3]
        assert 0.002 <= times[3] - times[1] + 1e-9 < 0.01  # the delay, and others in its packet
    starts = [float(packet.attrib["fbTx"]) for packet in packets]
    assert starts == sorted(starts)
    assert len(root.findall("node")) == run.brokers
    changes = [(float(each.attrib["t"]), each.attrib["ld"]) for each in root.findall("linkupdate")]
    assert changes == [(2.0, "broken"), (2.1, "")]
    colours = [each.attrib for each in root.findall("nu") if each.attrib["p"] == "c"]
    assert [(float(c["t"]), c["id"]) for c in colours if float(c["t"])] == [(3.0, "4"), (3.5, "4")]


def test_without_captures_there_is_nothing_to_animate(sweep: Experiment, tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="the memory network has no packets to capture"):
        export(sweep.directory, "netanim", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    assert export(sweep.directory, "omnetpp", tmp_path / "out")
    assert len(export(sweep.directory, "graphml", tmp_path / "graphs")) == 2


def test_nothing_is_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(FileExistsError, match="is there already, and nothing is overwritten"):
        export(run.directory, "graphml", tmp_path)
