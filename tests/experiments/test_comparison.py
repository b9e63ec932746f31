"""From a few words to an experiment that sweeps over protocols, and what is refused."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pysim.experiments import comparison, toml
from pysim.experiments.comparison import FILE, Words
from pysim.experiments.config import Config, ConfigError, expand, read
from pysim.experiments.plan import prepare


def asked(
    *systems: Mapping[str, Any] | str,
    workload: str = "topics",
    topology: Mapping[str, Any] | str = "random-tree",
    over: Mapping[str, Sequence[Any]] = {},
    seeds: int = 2,
    **settings: Any,
) -> Config:
    return comparison.experiment(
        Words(
            [{"name": each} if isinstance(each, str) else each for each in systems],
            {"kind": workload},
            {"kind": topology} if isinstance(topology, str) else topology,
            {key.replace("__", "."): value for key, value in settings.items()},
            over,
            seeds,
        )
    )


def test_a_few_words_are_a_whole_experiment() -> None:
    found = asked("fbr", "d-dbr", over={"skew": [0, 1]}).experiment
    assert found.topology.table() == {"kind": "random-tree", "brokers": 50, "max_degree": 4}
    assert (found.duration, found.repeat, found.measure) == (22.0, 2, ("costs",))
    assert found.sweep == {
        "protocol": ({"name": "fbr"}, {"name": "d-dbr"}),
        "workload.skew": (0, 1),
    }


def test_a_system_that_comes_to_rest_late_has_the_time_for_it() -> None:
    found = asked("fbr", "popsub-gossip").experiment
    assert found.duration == 80.0
    assert found.workload.table()["publish_stop"] == 20.0


def test_what_is_said_is_taken_as_it_is() -> None:
    found = asked(
        "fbr", "d-dbr", rate="5 /s", brokers=7, duration="9 s", network__delay="1 ms"
    ).experiment
    assert found.workload.table()["rate"] == 5.0
    assert found.workload.table()["publish_stop"] is None
    assert found.topology.table()["brokers"] == 7
    assert (found.duration, found.network.delay) == (9.0, 0.001)


@pytest.mark.parametrize(
    ("key", "full"),
    [
        ("skew", "workload.skew"),
        ("churn", "workload.churn"),
        ("subscriptions", "workload.subscriptions"),
        ("brokers", "topology.brokers"),
        ("loss", "network.loss"),
        ("duration", "duration"),
        ("workload.rate", "workload.rate"),
    ],
)
def test_short_keys_are_found_where_they_belong(key: str, full: str) -> None:
    raw = {"workload": {"kind": "topics"}, "topology": {"kind": "random-tree"}}
    assert comparison.full_key(key, raw) == full


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"over": {"skw": [1]}}, '"skw" is no key of the workload topics.*did you mean "skew"'),
        (
            {"workload": "topic"},
            '"topic" is not a known workload; did you mean "topics"',
        ),
        (
            {"topology": "tree", "over": {"brokers": [1]}},
            '"tree" is not a known topology',
        ),
        ({"seeds": 0}, "repeat = 0"),
        ({"over": {"skew": [1, 1]}}, "twice"),
    ],
)
def test_words_that_make_no_sense_are_refused_in_a_sentence(
    words: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        asked("fbr", "d-dbr", **words)


def test_the_experiment_reads_back_from_the_file_that_it_becomes() -> None:
    system = {"name": "popsub-gossip", "interval": "1 s", "fanout": 3}
    found = asked("fbr", system, over={"churn": ["1 /s", "8 /s"]}, network__rate="1 Mbit/s")
    again = read(FILE, found.folder, tomllib.loads(toml.text(found.raw)))
    assert again.experiment == found.experiment


def test_all_systems_that_cannot_run_here_are_named_at_once() -> None:
    ring = asked("fbr", "merc", "d-dbr", topology={"kind": "random-graph", "brokers": 9})
    with pytest.raises(ConfigError) as refused:
        comparison.check(ring)
    sentence = str(refused.value)
    assert "fbr needs a tree" in sentence
    assert "(protocol merc)" in sentence
    assert "d-dbr" not in sentence
    comparison.check(asked("fbr", "d-dbr", topology="random-tree"))


def test_one_system_is_no_comparison() -> None:
    with pytest.raises(ConfigError, match="name at least two systems"):
        comparison.check(asked("fbr"))


def test_the_directory_stays_for_more_seeds_and_values_and_not_for_another_question() -> None:
    name = comparison.directory_name(asked("fbr", "d-dbr", over={"skew": [0, 1]}))
    assert name.startswith("fbr-vs-d-dbr-")
    assert name == comparison.directory_name(
        asked("fbr", "d-dbr", over={"skew": [0.5, 1, 2]}, seeds=5)
    )
    for other in (
        asked("fbr", "d-dbr"),
        asked("fbr", "d-dbr", over={"churn": ["1 /s", "2 /s"]}),
        asked("fbr", "d-dbr", over={"skew": [0, 1]}, brokers=9),
        asked("fbr", {"name": "d-dbr", "misses": 4}, over={"skew": [0, 1]}),
    ):
        assert comparison.directory_name(other) != name


def test_all_systems_of_a_comparison_see_the_same_operations() -> None:
    whole = asked(
        "fbr", "d-dbr", "event-forwarding", "popsub-direct", "active-covering",
        over={"churn": ["2 /s", "20 /s"], "brokers": [5, 9]}, subscriptions=50,
    )  # fmt: skip
    seen: dict[tuple[Any, ...], list[Any]] = {}
    for point in expand(whole):
        plan = prepare(point.config)
        operations = list(plan.workload.operations(plan.setting))
        where = tuple(str(v) for key, v in point.settings.items() if key != "protocol")
        key = (*where, point.config.experiment.seed)
        overlay = sorted(plan.ground.overlay.edges)
        assert seen.setdefault(key, [overlay, operations]) == [overlay, operations]
    assert len(seen) == 2 * 2 * 2
    assert len({str(operations) for _, operations in seen.values()}) == len(seen)
