"""The figures on reconfiguration: every statement finds its numbers, every chart its runs."""

from pathlib import Path

import pytest

from analysis.reproduction import FAMILIES
from analysis.reproduction.drawing import draw
from analysis.reproduction.figure import Figure
from analysis.reproduction.numbers import Numbers, numbers
from analysis.reproduction.table import table
from pysim.cli.reproduce import experiment
from pysim.experiments.config import Config
from tests.analysis.reproduction.imagined import imagined, unmeasured
from tests.analysis.reproduction.test_numbers import REPLACED, steps
from tests.analysis.runs import make_run

EXPERIMENTS = Path(__file__).parents[3] / "experiments" / "reconfiguration"
FIGURES = FAMILIES["reconfiguration"].figures
THERE_AND_BACK = [
    *REPLACED,
    {"kind": "link-replace", "time": "3.4 s", "old": "1-3", "new": "2-3", "repair": "0.1 s"},
]


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """All that runs of this family may tell: of real ones, captures included."""
    return {
        name
        for protocol in (
            "notified-deferred-unsubscription",
            "informed-link-activation",
            "reconfiguration-path",
        )
        for name in numbers(
            make_run(
                tmp_path_factory.mktemp(protocol),
                network={"backend": "ns3", "delay": "1 ms", "capture": "one"},
                topology={"kind": "line", "brokers": 4},
                protocol={"name": protocol},
                workload=steps("2 s", "3.02 s", "3.12 s", "3.35 s", "3.9 s"),
                faults=THERE_AND_BACK,
                measure=["traffic", "misrouted", "causes"],
            )
        ).values
    }


def made_up(config: Config, columns: set[str]) -> list[Numbers]:
    return imagined(config.set({"repeat": 1}), columns, curves=lambda number: {
        name: {0.0: 1.0, 3.0: 20.0 * number, 7.0: 1.0}
        for name in ("delivered", "traffic", "wire traffic")
    })  # fmt: skip


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
@pytest.mark.parametrize("quick", [False, True], ids=["full size", "quick look"])
def test_every_statement_is_measured(figure: Figure, quick: bool, columns: set[str]) -> None:
    config = experiment(figure, EXPERIMENTS, quick)
    assert unmeasured("reconfiguration", figure, made_up(config, columns)) == []


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_chart_has_something_to_show_in_a_quick_look(
    figure: Figure, columns: set[str]
) -> None:
    config = experiment(figure, EXPERIMENTS, quick=True)
    drawing = draw(figure, table(made_up(config, columns)))
    if figure.panels:
        assert drawing is not None
        assert all(axes.has_data() for axes in drawing.figure.axes)
