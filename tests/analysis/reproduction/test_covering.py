"""The figures on covering: every statement finds its numbers, every chart its runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.reproduction import FAMILIES
from analysis.reproduction.covering_sizes import COSTS, dearer, share
from analysis.reproduction.drawing import draw
from analysis.reproduction.figure import Figure
from analysis.reproduction.numbers import Numbers
from analysis.reproduction.table import table
from analysis.reproduction.withdrawn import covering_curves, covering_values
from pysim.cli.reproduce import experiment
from pysim.experiments.config import Config, load
from pysim.units import Duration
from tests.analysis.reproduction.imagined import imagined, unmeasured
from tests.analysis.reproduction.test_withdrawn import BROKERS, made, steps

EXPERIMENTS = Path(__file__).parents[3] / "experiments" / "covering"
FIGURES = FAMILIES["covering"].figures
ON_THE_WIRE = (
    "burst bytes",
    "burst messages",
    "burst bytes on the busiest link",
    "burst occupies on the busiest link",
    "burst spreads over on the busiest link",
    "bytes of a publication",
    "frame bytes of a publication",
    "wire bytes in all",
)
WORKED: dict[str, dict[int, Sequence[int]]] = {
    unit: {0: (0, 0, 1, 2, 3)} for unit in (*COSTS, "unsubscriptions-received")
}


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """All that a run may tell: of a real one, and what captures add."""
    probes = {"probes": 2, "probe_start": 4.5, "rate": 1.0}
    run = made(tmp_path_factory.mktemp("run"), steps(2, 5, 7), BROKERS | WORKED, **probes)
    run.manifest["config"]["service"] = {"model": "work", "seconds": dict(COSTS)}
    at_tiers = {f"{what} at tier 3" for what in ("publications", "false positives")}
    return set(dict(covering_values(run))) | at_tiers | set(ON_THE_WIRE)


def made_up(config: Config, columns: set[str]) -> list[Numbers]:
    return imagined(config, columns, curves=lambda number: {
        name: {-6.0: 1.0, 0.0: 0.0, 5.0: 20.0 * number, 60.0: 1.0}
        for name in ("delay", "queue", "queue anywhere", "entries", "core entries")
    })  # fmt: skip


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_statement_is_measured_at_full_size(figure: Figure, columns: set[str]) -> None:
    config = experiment(figure, EXPERIMENTS)
    assert unmeasured("covering", figure, made_up(config, columns)) == []


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_chart_has_something_to_show_in_a_quick_look(
    figure: Figure, columns: set[str]
) -> None:
    config = experiment(figure, EXPERIMENTS, quick=True)
    drawing = draw(figure, table(made_up(config, columns)))
    assert drawing is not None
    assert len(drawing.figure.axes) == len(figure.panels)
    assert all(axes.has_data() for axes in drawing.figure.axes)


def test_a_chart_over_time_shows_its_protocols_from_where_it_begins(columns: set[str]) -> None:
    figure = FIGURES["fig9"]
    rows = table(made_up(load(EXPERIMENTS / "fig9.toml"), columns))
    drawing = draw(figure, rows)
    assert drawing is not None
    lines = drawing.figure.axes[0].lines
    assert [line.get_label() for line in lines] == ["active", "lazy", "packing", "incremental"]
    assert all(list(line.get_xdata()) == [0, 5, 60] for line in lines)
    assert drawing.figure.axes[0].get_yscale() == "symlog"  # zero is among them


def test_a_chart_of_the_greatest_value_has_its_runs_alone(columns: set[str]) -> None:
    figure = FIGURES["fig11"]
    rows = table(made_up(load(EXPERIMENTS / "fig11.toml"), columns))
    drawing = draw(figure, rows)
    assert drawing is not None
    of_degree = rows[rows["workload.degree"] == 2100]["curve of queue"]
    shown = [line.get_ydata()[1] for line in drawing.figure.axes[4].lines]
    assert shown == [curve[5.0] for curve in of_degree]


def test_a_share_is_in_percent_of_the_other_protocol(columns: set[str]) -> None:
    rows = table(made_up(load(EXPERIMENTS / "fig9.toml"), columns))
    queue = dict(zip(rows.protocol, rows.queue, strict=True))
    found = share("queue", "lazy", "active")(rows)
    assert list(found) == [pytest.approx(100 * queue["lazy"] / queue["active"])]


def test_costs_of_a_quick_look_are_those_of_the_engine_times_a_factor() -> None:
    written = {unit: Duration.parse(text) for unit, text in dearer(50).items()}
    assert written == pytest.approx({unit: 50 * seconds for unit, seconds in COSTS.items()})


def test_processing_times_are_work_times_its_price_at_the_mean_core_broker(tmp_path: Path) -> None:
    """A of five core brokers did three units of each kind, for 28 subscriptions in all."""
    run = made(tmp_path, steps(2, 5), BROKERS | WORKED)
    prices: dict[str, Any] = {"publication-entries": 10.0, "roots-examined": 5.0,
                              "unsubscription-entries": 1.0, "new-root-entries": 2.0}  # fmt: skip
    run.manifest["config"]["service"] = {"model": "work", "seconds": prices}
    found = dict(covering_values(run))
    assert found["seconds of publication"] == pytest.approx(3 / 5 * 10)
    assert found["seconds of covering"] == pytest.approx(3 / 5 * 5)
    assert found["seconds of unsubscription"] == pytest.approx(3 / 5 * 3)
    assert found["seconds of matching"] == 0
    assert found["seconds of all"] == pytest.approx(3 / 5 * 18)
    assert found["milliseconds of publication"] == pytest.approx(1000 * 3 / 5 * 10 / 2)
    received = (28 + 80) / 5
    assert found["milliseconds of covering"] == pytest.approx(1000 * 3 / received)
    assert found["milliseconds of unsubscription"] == pytest.approx(1000 * 3)


def test_brokers_that_count_no_work_have_no_processing_times(tmp_path: Path) -> None:
    run = made(tmp_path, steps(2), BROKERS)
    run.manifest["config"]["service"] = {"model": "work", "seconds": dict(COSTS)}
    assert not any(name.startswith("seconds of") for name in dict(covering_values(run)))
    assert "queue" in covering_curves(run)
