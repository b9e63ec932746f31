"""The experiment files of published figures: all there, all possible, and no run is made twice."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.reproduction import FAMILIES
from analysis.reproduction.covering_sizes import COSTS
from analysis.reproduction.figure import Family, Figure
from analysis.reproduction.judging import _reasons
from pysim.cli import reproduce
from pysim.experiments.config import Config, Point, expand
from pysim.experiments.plan import prepare
from pysim.experiments.sweep import Campaign

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
ONE_TREE = {"topology.draw": [1]}  # trees on 1,715 hosts take a while to grow
FIGURES = [
    pytest.param(family, figure, id=f"{family.name}/{figure.name}")
    for family in FAMILIES.values()
    for figure in family.figures.values()
]


def experiment(family: Family, figure: Figure, quick: bool = False) -> Config:
    return reproduce.experiment(figure, EXPERIMENTS / family.name, quick)


def work(points: Sequence[Point]) -> float:
    """What clients do in all runs, and how far it may go: the first run stands for all."""
    plan = prepare(points[0].config)
    acts = plan.estimate.publications.messages + plan.estimate.subscriptions.messages
    return len(points) * max(acts, 1) * plan.setting.brokers


@pytest.mark.parametrize(("family", "figure"), FIGURES)
def test_every_point_of_every_figure_can_run(family: Family, figure: Figure) -> None:
    config = experiment(family, figure)
    assert config.experiment.name == (figure.file or figure.name)
    for point in expand(config.set({"repeat": 1})):
        prepare(point.config)


@pytest.mark.parametrize(("family", "figure"), FIGURES)
def test_a_quick_look_is_smaller_and_can_run(family: Family, figure: Figure) -> None:
    whole = experiment(family, figure)
    points = expand(experiment(family, figure, quick=True))
    assert len(points) <= len(expand(whole))
    assert work(points) < work(expand(whole)) / 2
    for point in points[:: whole.experiment.repeat]:
        prepare(point.config)


def test_the_paper_on_reconfiguration_is_complete() -> None:
    figures = FAMILIES["reconfiguration"].figures
    assert list(figures)[:18] == [f"fig{number}" for number in range(12, 30)]
    files = {path.stem for path in (EXPERIMENTS / "reconfiguration").glob("*.toml")}
    assert files == {name for name, figure in figures.items() if not figure.file}


def test_what_the_paper_on_reconfiguration_says_of_traffic_is_asked_of_bytes_too() -> None:
    family = FAMILIES["reconfiguration"]
    of_traffic = {f"fig{number}" for number in (*range(14, 22), *range(23, 27))}
    others = {name for name, figure in family.figures.items() if figure.file}
    assert others == {"fig13-bytes", *(f"{name}-bytes" for name in of_traffic)}
    for name in of_traffic:
        published, twin = family.figures[name], family.figures[f"{name}-bytes"]
        absent = {"fig15": "involved", "fig24": "remarkable"}.get(name)
        keys = [claim.key for claim in published.claims if claim.key != absent]
        assert [claim.key for claim in twin.claims] == keys
        whole = experiment(family, twin).experiment
        assert whole.network.capture == "one"
        assert whole.repeat == 10


def test_runs_of_the_reconfiguration_paper_are_its_default_ones() -> None:
    family = FAMILIES["reconfiguration"]
    for number in range(12, 30):
        whole = experiment(family, family.figures[f"fig{number}"]).experiment
        assert (whole.duration, whole.repeat, whole.network.backend) == (8, 30, "ns3")
        parameters = whole.workload.parameters
        assert (parameters.per_subscriber, parameters.characters) == (7, 9)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("part", "whole"),
    [("fig27", "fig14"), ("fig14", "fig15"), ("fig13", "fig16"), ("fig28", "fig16"),
     ("fig29", "fig17"), ("fig22", "fig21"), ("fig23", "fig21")],
)  # fmt: skip
def test_figures_share_their_runs(part: str, whole: str, tmp_path: Path) -> None:
    family = FAMILIES["reconfiguration"]
    configs = {
        name: experiment(family, family.figures[name]).set({"repeat": 1}) for name in (part, whole)
    }
    campaign = Campaign("reconfiguration", configs, tmp_path)
    assert set(campaign.members[part]) <= set(campaign.members[whole])
    assert len(campaign.runs) == len(campaign.members[whole])


def test_the_paper_on_pruning_is_complete() -> None:
    names = set(FAMILIES["pruning"].figures)
    tables = {f"table{number}" for number in (1, 2, 3)}
    assert {f"fig{number}" for number in (4, 5, 6, 7)} | tables <= names
    assert {path.stem for path in (EXPERIMENTS / "pruning").glob("*.toml")} == names


def test_runs_of_the_pruning_paper_have_its_size() -> None:
    family = FAMILIES["pruning"]
    for name in ("fig4", "fig5", "fig6", "fig7", "table2", "table3"):
        workload = experiment(family, family.figures[name]).experiment.workload.parameters
        assert (workload.subscriptions, workload.events) == (200_000, 100_000)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("part", "whole"),
    [("fig4", "table2"), ("fig5", "table2"), ("fig6", "table3"), ("fig7", "table3")],
)
def test_figures_on_pruning_share_their_runs(part: str, whole: str, tmp_path: Path) -> None:
    family = FAMILIES["pruning"]
    configs = {name: experiment(family, family.figures[name]) for name in (part, whole)}
    campaign = Campaign("pruning", configs, tmp_path)
    assert set(campaign.members[part]) < set(campaign.members[whole])
    assert len(campaign.runs) == 4


def test_the_paper_on_covering_is_complete() -> None:
    names = set(FAMILIES["covering"].figures)
    figures = {f"fig{number}" for number in (1, *range(9, 17), 18)}
    assert figures | {"table2", "table3", "bytes"} == names
    assert {path.stem for path in (EXPERIMENTS / "covering").glob("*.toml")} == names


@pytest.mark.parametrize(
    ("names", "size"),
    [
        (("fig1", "fig9", "fig11", "table3"), (80_000, 20, 2100, 20)),
        (("fig13", "fig14", "fig15", "fig16"), (30_000, 300, 30, 300)),
    ],
)
def test_runs_of_the_covering_paper_have_its_size(
    names: Sequence[str], size: tuple[int, ...]
) -> None:
    family = FAMILIES["covering"]
    for name in names:
        workload: Any = experiment(family, family.figures[name]).experiment.workload.parameters
        found = workload.subscriptions, workload.roots, workload.degree, workload.unsubscriptions
        assert found == size


def test_fast_and_slow_engines_are_the_same_in_all_files_on_covering() -> None:
    family = FAMILIES["covering"]
    engines = {
        name: experiment(family, figure).experiment.service.table().get("seconds", {})
        for name, figure in family.figures.items()
    }
    slow = [engines.pop(f"fig{number}") for number in (13, 14, 15, 16, 18)]
    assert engines.pop("bytes") == {}
    assert all(each == COSTS for each in engines.values())
    for engine in slow:
        assert engine == pytest.approx({unit: 100 * seconds for unit, seconds in COSTS.items()})


@pytest.mark.parametrize(
    ("part", "whole", "shared"),
    [("fig1", "fig9", 1), ("fig11", "fig9", 2), ("fig14", "fig13", 2), ("fig15", "fig13", 2),
     ("fig16", "fig13", 2)],
)  # fmt: skip
@pytest.mark.parametrize("size", ["published", "quick"])
def test_figures_on_covering_share_runs(
    part: str, whole: str, shared: int, size: str, tmp_path: Path
) -> None:
    family = FAMILIES["covering"]
    configs = {
        name: experiment(family, family.figures[name], size == "quick") for name in (part, whole)
    }
    campaign = Campaign("covering", configs, tmp_path)
    assert len(set(campaign.members[part]) & set(campaign.members[whole])) == shared


def test_the_paper_on_destinations_is_complete() -> None:
    names = set(FAMILIES["destinations"].figures)
    figures = {f"fig{number}" for number in range(11, 25)}
    assert figures | {"text", "bytes", "related", "scale"} == names
    assert {path.stem for path in (EXPERIMENTS / "destinations").glob("*.toml")} == names


@pytest.mark.parametrize(
    ("part", "whole", "shared"),
    [("fig14", "fig13", 3), ("fig16", "fig15", 2), ("fig18", "fig17", 3), ("text", "fig18", 3),
     ("fig20", "fig19", 1), ("fig21", "fig19", 12)],
)  # fmt: skip
def test_figures_on_destinations_share_runs(
    part: str, whole: str, shared: int, tmp_path: Path
) -> None:
    family = FAMILIES["destinations"]
    configs = {name: experiment(family, family.figures[name]) for name in (part, whole)}
    campaign = Campaign("destinations", configs, tmp_path)
    both = set(campaign.members[part]) & set(campaign.members[whole])
    assert len(both) == len(campaign.members[part]) == shared


def test_the_engine_is_the_same_in_all_files_on_destinations() -> None:
    """Fitted to Fig. 14: 2 % and 63 % of the time at 50 events a second and 2000 subscriptions."""
    family = FAMILIES["destinations"]
    services = {
        name: experiment(family, figure).experiment.service.table()
        for name, figure in family.figures.items()
    }
    timed = {name for name, service in services.items() if service["model"] != "none"}
    assert timed == {f"fig{number}" for number in range(11, 17)}
    for name in timed:
        fixed, entries = services[name]["fixed"], services[name]["seconds"]["publication-entries"]
        assert 50 * fixed == pytest.approx(0.02)
        assert 50 * (fixed + 2000 * entries) == pytest.approx(0.63)


def test_the_paper_on_popularity_is_complete() -> None:
    names = set(FAMILIES["popsub"].figures)
    figures = {f"fig3{letter}" for letter in "abcdefghijklmno"}
    figures |= {f"fig4{letter}" for letter in "abcd"}
    assert figures | {"bytes", "trees"} == names
    assert {path.stem for path in (EXPERIMENTS / "popsub").glob("*.toml")} == names


def test_runs_of_the_popularity_paper_have_its_size() -> None:
    family = FAMILIES["popsub"]
    for name, figure in family.figures.items():
        if name == "bytes":
            continue
        whole = experiment(family, figure).experiment
        workload: Any = whole.workload.parameters
        assert (workload.publishers, workload.classes, workload.publishing) == (200, 20, 60)
        assert workload.rate == (15 if name.startswith("fig4") else 10)
        assert whole.duration - workload.publish_start - workload.publishing == 120
        draws = whole.sweep.get("topology.draw", ())
        assert whole.repeat == 5
        assert len(draws) == (0 if name == "trees" else 5)


def popularity_campaign(names: Sequence[str], size: str, folder: Path) -> Campaign:
    """What some figures need, on the first tree and with the first workload."""
    family = FAMILIES["popsub"]
    configs = {name: experiment(family, family.figures[name], size == "quick") for name in names}
    configs = {
        name: each.set({"repeat": 1}).set({"sweep": {**each.experiment.sweep, **ONE_TREE}})
        for name, each in configs.items()
    }
    return Campaign("popsub", configs, folder)


@pytest.mark.parametrize("letters", ["3abc", "3defg", "3hijk", "3lmo", "4abcd"])
@pytest.mark.parametrize("size", ["published", "quick"])
def test_figures_on_popularity_share_runs(letters: str, size: str, tmp_path: Path) -> None:
    names = [f"fig{letters[0]}{letter}" for letter in letters[1:]]
    campaign = popularity_campaign(names, size, tmp_path)
    assert len({tuple(sorted(campaign.members[name])) for name in names}) == 1
    assert len(campaign.runs) == len(campaign.members[names[0]])


@pytest.mark.parametrize("size", ["published", "quick"])
def test_what_gossip_delivers_has_runs_of_its_own_only_where_a_quarter_matches(
    size: str, tmp_path: Path
) -> None:
    campaign = popularity_campaign(["fig3l", "fig3n"], size, tmp_path)
    all_match, with_quarter = (set(campaign.members[name]) for name in ("fig3l", "fig3n"))
    gossip = {run for run in all_match if run.startswith("popsub-gossip")}
    assert with_quarter & all_match == gossip
    assert len(with_quarter) == 2 * len(gossip)


def test_statements_have_keys_of_their_own() -> None:
    for family in FAMILIES.values():
        for figure in family.figures.values():
            keys = [claim.key for claim in figure.claims]
            assert keys
            assert len(set(keys)) == len(keys)


def test_every_reason_is_for_a_statement() -> None:
    """In TOML a key with a dot in it must be in quotes, or it names something else."""
    for family, figures in _reasons().items():
        for figure, reasons in figures.items():
            keys = {claim.key for claim in FAMILIES[family].figures[figure].claims}
            assert set(reasons) <= keys, f"{family}/{figure}"
