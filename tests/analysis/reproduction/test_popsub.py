"""The figures on popularity: every statement finds its numbers, every chart its runs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.finished import FinishedRun
from analysis.reproduction import FAMILIES
from analysis.reproduction.drawing import draw
from analysis.reproduction.figure import Figure
from analysis.reproduction.numbers import numbers
from analysis.reproduction.popsub_sizes import fewer, more
from analysis.reproduction.popular import popularity_values
from analysis.reproduction.table import table
from pysim.cli.reproduce import experiment
from tests.analysis.reproduction.imagined import imagined, unmeasured
from tests.analysis.runs import make_run

EXPERIMENTS = Path(__file__).parents[3] / "experiments" / "popsub"
FIGURES = FAMILIES["popsub"].figures
ON_THE_WIRE = (
    *(f"bytes of a {kind}" for kind in ("event", "direct-event", "batch", "gossip", "switch")),
    "least bytes of a gossip",
    "bytes per popular delivery",
    "bytes per unpopular delivery",
    "control bytes per unpopular delivery",
    "bytes of handshakes",
    "bytes of acknowledgments",
    "share of acknowledgments",
    "wire bytes in all",
)
WAYS = {"popsub-direct": "direct", "popsub-batching": "batch", "popsub-gossip": "gossip"}


def run_of(folder: Path, protocol: str) -> FinishedRun:
    """Six publishers of unequal popularity at the ends and the middle of a line of five."""
    options = {} if protocol not in WAYS else {"capacity": 40.0, "phi": 0.1, "evaluation": "1 s"}
    made = make_run(
        folder,
        duration="60 s",
        measure=["brokers"],
        network={"backend": "memory", "delay": "10 ms"},
        topology={"kind": "line", "brokers": 5},
        protocol={"name": protocol, **options},
        service={"model": "capacity", "capacity": 40.0},
        workload={
            "kind": "popularity",
            "publishers": 6,
            "classes": 2,
            "subscriptions": 60,
            "publish_at": [0, 2, 4],
            "publishing": "8 s",
            "rate": "2 /s",
        },
    )
    return FinishedRun(made)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FinishedRun]:
    names = ("reverse-path-forwarding", *WAYS)
    return {name: run_of(tmp_path_factory.mktemp(name), name) for name in names}


@pytest.fixture(scope="module")
def columns(runs: dict[str, FinishedRun]) -> set[str]:
    """All that a run may tell, and what captures add."""
    found = {name for run in runs.values() for name in dict(popularity_values(run))}
    return found | set(ON_THE_WIRE)


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_statement_is_measured_at_full_size(figure: Figure, columns: set[str]) -> None:
    config = experiment(figure, EXPERIMENTS).set({"repeat": 1})
    assert unmeasured("popsub", figure, imagined(config, columns)) == []


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_chart_has_something_to_show_in_a_quick_look(
    figure: Figure, columns: set[str]
) -> None:
    config = experiment(figure, EXPERIMENTS, quick=True)
    drawing = draw(figure, table(imagined(config, columns)))
    assert drawing is not None
    assert len(drawing.figure.axes) == len(figure.panels)
    assert all(axes.has_data() for axes in drawing.figure.axes)


def test_a_gain_ratio_is_over_all_forwards_of_all_brokers(runs: dict[str, FinishedRun]) -> None:
    run = runs["reverse-path-forwarding"]
    samples = run.table("brokers")
    last = samples[samples.time == samples.time.max()].groupby("name").value.sum()
    found = dict(popularity_values(run))
    gains = last["gain"] + last["passing-gain"]
    assert found["gain"] == pytest.approx(
        gains / (last["gain-forwards"] + last["passing-gain-forwards"])
    )
    assert found["pure forwards"] == last["pure-forwards"]


def test_latencies_are_told_by_way_and_what_is_local_is_neither(
    runs: dict[str, FinishedRun],
) -> None:
    for name, way in WAYS.items():
        found, rows = dict(popularity_values(runs[name])), runs[name].table("deliveries")
        taken = (rows.delivered - rows.published) / 1e6
        assert (rows.way == way).sum() == found["unpopular deliveries"] > 0
        assert found["unpopular latency"] == pytest.approx(
            np.percentile(taken[rows.way == way], 99)
        )
        assert found["popular latency"] == pytest.approx(
            np.percentile(taken[rows.way == "tree"], 99)
        )
        assert found["unpopular percent"] == pytest.approx(100 * (rows.way == way).mean())
        assert (found["missing percent"], found["repeated percent"]) == (0, 0)


def test_the_queue_is_that_which_waiting_publications_joined(runs: dict[str, FinishedRun]) -> None:
    for run in runs.values():
        found, queues = dict(popularity_values(run)), run.table("queues")
        assert found["longest queue"] == queues.longest.max() > 1
        assert 1 < found["queue"] < found["longest queue"]
        assert found["queue"] == pytest.approx(queues.joined.sum() / queues.delayed.sum())


def test_a_baseline_has_nothing_unpopular(runs: dict[str, FinishedRun]) -> None:
    found = dict(popularity_values(runs["reverse-path-forwarding"]))
    assert found["unpopular deliveries"] == 0
    assert not {"unpopular latency", "groups", "direct forwards"} & set(found)


def test_only_gossip_has_groups_and_only_direct_delivery_has_direct_forwards(
    runs: dict[str, FinishedRun],
) -> None:
    gossip = dict(popularity_values(runs["popsub-gossip"]))
    assert gossip["groups"] >= 1
    assert gossip["gossip false positives"] == 0  # every subscription matches all
    assert gossip["match per gossip"] > 0
    direct = dict(popularity_values(runs["popsub-direct"]))
    records = runs["popsub-direct"].table("records")
    sent = records[records.name == "direct-forwards"].value
    assert direct["direct forwards"] == pytest.approx(np.percentile(sent, 99))


def test_other_runs_have_none_of_these_numbers_and_these_none_of_others(
    tmp_path: Path, runs: dict[str, FinishedRun]
) -> None:
    assert not dict(popularity_values(FinishedRun(make_run(tmp_path))))
    assert "entries at the core" not in numbers(runs["popsub-gossip"].directory).values


def test_what_a_protocol_has_more_is_in_percent_of_the_baseline_wherever_that_was() -> None:
    rows = pd.DataFrame(
        {
            "protocol": ["tree", "gossip", "gossip"],
            "protocol.phi": [None, 0.05, 0.8],
            "gain": [2.0, 3.0, 2.2],
            "seed": [1, 1, 1],
        }
    )
    assert list(more("gain", "gossip", {"protocol.phi": 0.05}, {})(rows)) == [50]
    assert list(fewer("gain", "gossip", {"protocol.phi": 0.8}, {})(rows)) == pytest.approx([-10])
