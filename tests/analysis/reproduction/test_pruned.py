"""Numbers of tables that were pruned, from runs so small that all can be seen."""

from ast import literal_eval
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.finished import FinishedRun
from analysis.reproduction import FAMILIES
from analysis.reproduction.drawing import draw
from analysis.reproduction.judging import judge
from analysis.reproduction.measures import RELATIVE
from analysis.reproduction.numbers import Numbers, numbers
from analysis.reproduction.optimizations import FEW, MANY, OPTIMIZATIONS, TABLE1
from analysis.reproduction.pruned import pruning_values
from analysis.reproduction.table import table
from tests.analysis.runs import make_run

AUCTIONS = {"kind": "auctions", "subscriptions": 40, "events": 50, "titles": 20}
IN_ROUNDS = AUCTIONS | {
    "rounds": 3,
    "rate": "50 /s",
    "rehearsal": 50,
    "start": "2 s",
    "publish_start": "5 s",
    "unsubscribe": "50 %",
}
PRUNED = {"by": ["post-pruning"], "share": "50 %", "start": "6.5 s", "every": "2 s", "sample": 20}


def one_broker(folder: Path, classes: tuple[int, ...], **settings: Any) -> Path:
    return make_run(
        folder,
        measure=["pruning"],
        network={"backend": "memory"},
        topology={"kind": "line", "brokers": 1},
        protocol__optimize={"by": ["post-pruning"], "share": "25 %", "sample": 100},
        workload=AUCTIONS | {"classes": classes},
        **settings,
    )


def line(
    folder: Path, optimize: dict[str, Any], workload: dict[str, Any] = IN_ROUNDS, **settings: Any
) -> Path:
    return make_run(
        folder,
        duration="20 s",
        measure=["rounds"],
        network={"backend": "memory"},
        topology={"kind": "line", "brokers": 3},
        protocol__optimize=optimize,
        workload=workload,
        **settings,
    )


def put(run: Path, name: str, column: str, values: list[float]) -> None:
    """Write numbers of ours into a table."""
    path = run / "tables" / f"{name}.parquet"
    pd.read_parquet(path).assign(**{column: values}).to_parquet(path)


def test_the_cut_off_is_the_largest_share_within_the_tolerance(tmp_path: Path) -> None:
    run = one_broker(tmp_path, (1,))
    put(run, "matching", "events", [1000] * 5)
    put(run, "matching", "matching", [10, 12, 35, 36, 100])  # 2.5 % are 25
    put(run, "stored", "associations", [240, 200, 140, 60, 40])
    put(run, "filter-times", "seconds", [8.0, 1.0, 9.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    found = dict(pruning_values(FinishedRun(run)))
    assert found["cut-off"] == 50
    assert found["extra events"] == 2500  # of 100,000
    assert found["events unpruned"] == 1000
    assert found["relief"] == 0.5
    assert found["decrease of time"] == 0.75
    assert found["rise of filter time"] == 0  # one slow round is no rise
    assert found["knee"] == 75  # 36 is 41.5 below the chord from 10 to 100; 35 is 20 below


def test_filter_time_rises_if_several_rounds_are_slower(tmp_path: Path) -> None:
    run = one_broker(tmp_path, (2,))
    seconds = [8.0, 8.0, 10.0, 10.0, 10.0]
    put(run, "filter-times", "seconds", [each for second in seconds for each in (second, 1.0)])
    assert dict(pruning_values(FinishedRun(run)))["rise of filter time"] == 25


def test_curves_are_in_percent_of_what_can_be(tmp_path: Path) -> None:
    curves = numbers(one_broker(tmp_path, (1, 2, 3))).curves
    assert list(curves["memory relief"]) == [0, 25, 50, 75, 100]
    assert (curves["memory relief"][0], curves["memory relief"][100]) == (0, 100)
    assert curves["filter time"][0] == 100
    assert curves["extra events"][0] == 0
    events = list(curves["events"].values())
    assert events == sorted(events)


def test_filter_time_in_a_network_counts_what_each_broker_filters(tmp_path: Path) -> None:
    """Three brokers at 1, 2 and 3 s an event; rounds 0 to 2 of 17, 17 and 16 events and more."""
    run = line(tmp_path, PRUNED)
    put(run, "filter-times", "seconds", [1.0, 2.0, 3.0] * 4)
    put(run, "stored", "filtered", [0, 0, 0, 5, 5, 5, 10, 10, 11, 15, 15, 20])
    found = dict(pruning_values(FinishedRun(run)))
    assert found["filter seconds"] == 5 * 1 + 5 * 2 + 9 * 3
    assert numbers(run).curves["filter time"] == pytest.approx({0: 100, 50: 110, 100: 140})


def test_deliveries_are_exact_and_deregistrations_counted(tmp_path: Path) -> None:
    found = numbers(line(tmp_path, {})).values
    assert found["wrong deliveries"] == 0
    assert found["deregistration messages"] == 40  # twenty subscriptions over two links
    assert found["registration messages"] == 80
    assert (found["applied"], found["applied to the least class"]) == (0, 0)
    assert "cut-off" not in found


def test_an_optimization_is_compared_with_none_on_the_same_seed(tmp_path: Path) -> None:
    runs = [
        numbers(line(tmp_path / f"{name}{seed}", optimize, seed=seed))
        for name, optimize in (("none", {}), ("pruned", PRUNED))
        for seed in (1, 2)
    ]
    found = table(runs)
    memory = found[f"stored associations{RELATIVE}"]
    assert list(memory[:2]) == [100, 100]
    assert all(0 < share < 100 for share in memory[2:])
    assert list(found[f"deregistration messages{RELATIVE}"]) == [100] * 4


def test_every_statement_of_a_figure_of_one_broker_is_measured(tmp_path: Path) -> None:
    classes = [(1,), (2,), (3,), (1, 2, 3)]
    runs: list[Numbers] = [
        numbers(one_broker(tmp_path / str(number), each)) for number, each in enumerate(classes)
    ]
    rows = table(runs)
    for name in ("fig4", "fig5", "table2"):
        figure = FAMILIES["pruning"].figures[name]
        assert all(row.verdict != "not measured" for row in judge("pruning", figure, rows))
        drawing = draw(figure, rows)
        assert drawing is not None
        assert len(drawing.figure.axes) == 2 * len(figure.panels)  # events have the right axis


def test_every_rating_is_measured_and_drawn_beside_the_published_one(tmp_path: Path) -> None:
    lively = IN_ROUNDS | {"events": 400, "rate": "400 /s"}
    rows = table(
        [
            numbers(line(tmp_path / f"{number}-{titles}", optimize, lively | {"titles": titles}))
            for number, optimize in enumerate(({}, *({"by": literal_eval(by), "start": "4 s"}
                                                     for by in OPTIMIZATIONS)))
            for titles in (FEW, MANY)
        ]
    )  # fmt: skip
    judged = {row.claim.partition(":")[0]: row for row in judge("pruning", TABLE1, rows)}
    assert judged["table1.exact"].verdict == "holds"
    assert judged["table1.deregistration-pruning"].measured == 100
    assert judged["table1.applicability-covering"].published == "--, at most 25"
    unmeasured = [key for key, row in judged.items() if row.verdict == "not measured"]
    assert unmeasured == []
    drawing = draw(TABLE1, rows)
    assert drawing is not None
    texts = [text.get_text() for text in drawing.figure.axes[-1].texts]
    assert "++ ++" in texts  # of deregistrations with pruning, published and ours
