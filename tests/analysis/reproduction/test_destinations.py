"""The figures on destinations: every statement finds its numbers, every chart its runs."""

from pathlib import Path
from typing import Any

import pytest

from analysis.finished import FinishedRun
from analysis.reproduction import FAMILIES
from analysis.reproduction.addressed import EVENTS, KINDS, addressed_curves, addressed_values
from analysis.reproduction.drawing import draw
from analysis.reproduction.figure import Figure
from analysis.reproduction.numbers import Numbers, numbers
from analysis.reproduction.table import table
from pysim.cli.reproduce import experiment
from pysim.experiments.config import Config
from tests.analysis.reproduction.imagined import imagined, unmeasured
from tests.analysis.runs import make_run

EXPERIMENTS = Path(__file__).parents[3] / "experiments" / "destinations"
FIGURES = FAMILIES["destinations"].figures

WORKLOAD: dict[str, Any] = {
    "kind": "stock",
    "symbols": 4,
    "subscriptions": 3,
    "destinations": "50 %",
    "start": "2 s",
    "publish_start": "4 s",
    "rate": "10 /s",
    "publish_stop": "8 s",
}

ON_THE_WIRE = {
    "wire bytes in all",
    "wire bytes before publishing",
    "wire bytes of an idle hour",
    "wire list share",
    *(f"wire bytes of {kind}" for kind in (*KINDS, "acknowledgments", "handshakes")),
}
"""What captures tell besides; runs of this family on the memory network have none."""


def made(folder: Path, protocol: str, **settings: Any) -> FinishedRun:
    """A small run on a ring of six brokers, with all that is measured of this family."""
    run = make_run(
        folder,
        duration="9 s",
        measure=["brokers", "lists", "traffic"],
        network={"backend": "memory", "delay": "1 ms"},
        topology={"kind": "random-graph", "brokers": 6, "degree": 3.0},
        protocol={"name": protocol},
        workload=WORKLOAD | settings.pop("workload", {}),
        service={"model": "work", "fixed": "0.4 ms", "seconds": {"publication-entries": "1 ms"}},
        **settings,
    )
    return FinishedRun(run)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FinishedRun]:
    return {
        name: made(tmp_path_factory.mktemp(name), name)
        for name in ("fbr-general", "d-dbr", "event-flooding", "medym")
    }


@pytest.fixture(scope="module")
def columns(runs: dict[str, FinishedRun]) -> set[str]:
    """All that runs of this family may tell."""
    found = {name for run in runs.values() for name, _ in addressed_values(run)}
    found |= {f"load of broker {broker}" for broker in range(10)} | {"load of quiet brokers"}
    return found | ON_THE_WIRE


def made_up(config: Config, columns: set[str]) -> list[Numbers]:
    return imagined(config, columns, {"undelivered": 0.5}, lambda number: {
        name: {0.0: 1.0, 5.0: 20.0 * number, 60.0: 1.0}
        for name in ("hops", "lists of length", "lists up to length")
    })  # fmt: skip


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_statement_is_measured_at_full_size(figure: Figure, columns: set[str]) -> None:
    config = experiment(figure, EXPERIMENTS).set({"repeat": 1})
    assert unmeasured("destinations", figure, made_up(config, columns)) == []


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_chart_has_something_to_show_in_a_quick_look(
    figure: Figure, columns: set[str]
) -> None:
    config = experiment(figure, EXPERIMENTS, quick=True)
    drawing = draw(figure, table(made_up(config, columns)))
    assert drawing is not None
    assert len(drawing.figure.axes) == len(figure.panels)
    assert all(axes.has_data() for axes in drawing.figure.axes)


def test_other_runs_have_none_of_these_numbers(tmp_path: Path) -> None:
    run = FinishedRun(make_run(tmp_path))
    assert dict(addressed_values(run)) == {}
    assert addressed_curves(run) == {}


def test_runs_on_overlays_with_cycles_have_numbers_though_they_measure_brokers(
    runs: dict[str, FinishedRun],
) -> None:
    found = numbers(runs["d-dbr"].directory)
    assert found.values["stored"] > 0
    assert "queue" not in found.values  # that is told of trees


def test_events_are_for_the_brokers_asked_for_and_all_come(runs: dict[str, FinishedRun]) -> None:
    for name, run in runs.items():
        found = dict(addressed_values(run))
        assert found["delivered"] == 100
        assert found["undelivered"] == 0
        assert 2 <= found["destinations of an event"] <= 3  # three of six, maybe the publisher's
        expected = {"medym": 1.0}.get(name)
        assert expected is None or found["accuracy"] == expected
        assert found["latency"] > 0.4


def test_flooding_has_more_messages_than_lists_need(runs: dict[str, FinishedRun]) -> None:
    flooded, listed = (dict(addressed_values(runs[name])) for name in ("event-flooding", "d-dbr"))
    assert flooded["messages of an event"] >= 9  # links of the overlay
    assert listed["messages of an event"] < flooded["messages of an event"]
    assert listed["accuracy"] > flooded["accuracy"]


def test_lists_are_told_by_length_and_bytes(runs: dict[str, FinishedRun]) -> None:
    found = dict(addressed_values(runs["d-dbr"]))
    assert 1 <= found["list length, least broker"] <= found["list length"]
    assert found["list length"] <= found["list length, greatest broker"]
    assert found["list length at the source"] >= found["list length"]
    assert found["list bytes"] == pytest.approx(1 + found["list length"])  # ids below 128
    frame = found["bytes of an event's frame"]
    assert found["list share"] == pytest.approx(100 * found["list bytes"] / frame)
    assert found["lists below 5"] == found["lists below 12"] == 100
    curves = addressed_curves(runs["d-dbr"])
    assert sum(curves["lists of length"].values()) == pytest.approx(100)
    assert max(curves["lists up to length"].values()) == pytest.approx(100)
    assert "list length" not in dict(addressed_values(runs["fbr-general"]))


def test_hops_of_an_event_are_messages_over_publications(runs: dict[str, FinishedRun]) -> None:
    found = dict(addressed_values(runs["d-dbr"]))
    hops = addressed_curves(runs["d-dbr"])["hops"]
    assert sum(hops.values()) / len(hops) == pytest.approx(found["messages of an event"], rel=0.1)
    assert found["hops at first"] > 0


def test_copies_duplicates_and_tables_are_those_of_the_brokers(
    runs: dict[str, FinishedRun],
) -> None:
    general, listed = (dict(addressed_values(runs[name])) for name in ("fbr-general", "d-dbr"))
    links, brokers = 9, 6
    assert general["duplicate advertisements"] == brokers * (2 * links - 2 * (brokers - 1))
    assert listed["duplicate advertisements"] == 0
    assert listed["copies"] == brokers - 1  # all advertise everything
    assert general["copies"] > listed["copies"]
    assert listed["table bytes"] == brokers**2 + 8 * (brokers - 1)
    assert listed["stored with local"] == listed["stored"] + 3


def test_bytes_are_told_by_what_messages_are_for(runs: dict[str, FinishedRun]) -> None:
    run = runs["d-dbr"]
    found = dict(addressed_values(run))
    whole = sum(found[f"bytes of {kind}"] for kind in KINDS)
    assert whole == sum(row["sent_bytes"] for row in run.manifest["messages"].values())
    hour = found["bytes of heartbeats in an hour"]
    assert hour == pytest.approx(found["bytes of heartbeats"] * 3600 / 9)
    parts = sum(found[f"list bytes of {kind}"] for kind in KINDS)
    assert found["list bytes in all"] == parts


def test_the_load_is_that_of_the_time_of_publishing(runs: dict[str, FinishedRun]) -> None:
    found = dict(addressed_values(runs["fbr-general"]))
    loads = [found[f"load of broker {broker}"] for broker in range(6)]
    assert found["greatest load"] == max(loads) > 0
    assert found["mean load"] == pytest.approx(sum(loads) / len(loads))
    assert found["loaded brokers"] == sum(load > max(loads) / 2 for load in loads)


def test_what_failed_brokers_do_not_get_is_missing_of_all_pairs(tmp_path: Path) -> None:
    faults = [{"kind": "broker-failures", "time": "3.5 s", "share": "50 %"}]
    workload = {"symbols": 1, "destinations": "100 %", "rate": "6 /s", "publish_stop": "5 s"}
    run = made(tmp_path, "event-flooding", faults=faults, workload=workload)
    found = dict(addressed_values(run))
    assert found["delivered of all pairs"] <= 100 * 9 / 36
    assert found["delivered"] <= 100


def test_types_that_carry_events_are_known() -> None:
    assert set(EVENTS) <= set(KINDS["events"])
