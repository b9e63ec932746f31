"""Experiment files: what is right reads back, what is wrong is named with what was meant."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pysim.brokers import protocols
from pysim.experiments import schema
from pysim.experiments.config import Config, ConfigError, Experiment, expand, load, plain, text
from pysim.units import Duration, Rate
from tests.experiments.files import SCRIPT, SMALL, small


def refusal(folder: Path, **settings: object) -> str:
    with pytest.raises(ConfigError) as error:
        small(folder, **settings)
    return str(error.value)


def refusal_of(folder: Path, content: bytes) -> str:
    path = folder / "first.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as error:
        load(path)
    return str(error.value)


def test_values_carry_units(tmp_path: Path) -> None:
    experiment = small(tmp_path, network__delay="3 ms").experiment
    assert experiment.duration == 4.0
    assert experiment.network.delay == Duration(0.003)
    assert experiment.network.rate == Rate(10e6)


def test_what_is_not_said_has_a_default(tmp_path: Path) -> None:
    experiment = small(tmp_path).experiment
    assert (experiment.seed, experiment.repeat) == (1, 1)
    assert experiment.network.capture == "both"
    assert experiment.topology.table() == {"kind": "line", "brokers": 5}
    assert experiment.service.name == "none"


EVERYTHING: dict[str, Any] = {
    "network__mode": "underlay",
    "network__underlay": {"kind": "king-like", "hosts": 50},
    "service": {"model": "type", "default": "1 ms", "seconds": {"event": "2 ms"}},
    "workload": SCRIPT,
    "faults": [
        {"kind": "link-replace", "time": "3 s", "old": "0-1", "new": "0-2"},
        {"kind": "reconfigurations", "stop": "3 s"},
        {"kind": "broker-crash", "time": 3, "broker": 1},
    ],
    "sweep": {"network.rate": ["1 Mbit/s", "2 Mbit/s"], "topology.brokers": [5, 6]},
}


def test_the_printed_configuration_reads_back(tmp_path: Path) -> None:
    experiment = small(tmp_path, **EVERYTHING).experiment
    (tmp_path / "printed.toml").write_text(text(experiment))
    again = load(tmp_path / "printed.toml").experiment
    assert plain(again) == plain(experiment)
    assert text(again) == text(experiment)


def test_the_plain_configuration_reads_back(tmp_path: Path) -> None:
    config = small(tmp_path, **EVERYTHING)
    again = config.set(plain(config.experiment))
    assert plain(again.experiment) == plain(config.experiment)


def test_every_printed_key_is_explained(tmp_path: Path) -> None:
    lines = text(small(tmp_path).experiment).splitlines()
    keys = [line for line in lines if line and not line.startswith("[")]
    assert [line for line in keys if "  # " not in line] == []
    assert 'rate = "10 Mbit/s"         # what a link carries' in keys


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"network__rrate": 1}, 'network.rrate is not a known key; did you mean "rate"?'),
        ({"netwrok__rate": 1}, 'netwrok is not a known key; did you mean "network"?'),
        (
            {"topology__broker": 5},
            'topology.broker is not a known key; did you mean "brokers"?',
        ),
        (
            {"protocol__litteral": True},
            'protocol.litteral is not a known key; did you mean "literal"?',
        ),
        (
            {"workload__ratee": 5},
            'workload.ratee is not a known key; did you mean "rate"?',
        ),
        ({"network__rate": -3}, "network.rate = -3: a rate must be more than 0"),
        (
            {"network__rate": "3 Mbps"},
            'network.rate = "3 Mbps": expected a rate such as "10 Mbit/s"'
            " (units: bit/s, kbit/s, Mbit/s, Gbit/s)",
        ),
        ({"network__loss": "120 %"}, 'network.loss = "120 %": a share must be at most 100 %'),
        ({"network__loss": -0.1}, "network.loss = -0.1: a share must be at least 0"),
        ({"network__queue": 0}, "network.queue = 0: expected a whole number >= 1"),
        ({"network__queue": 2.5}, "network.queue = 2.5: expected a whole number"),
        (
            {"network__backend": "ns4"},
            'network.backend = "ns4" is not one of "memory", "ns3"',
        ),
        (
            {"network__capture": "all"},
            'network.capture = "all" is not one of "both", "none", "one"',
        ),
        (
            {"network__capture": ["3+4"]},
            'network.capture[0] = "3+4": expected two different brokers such as "3-7"',
        ),
        (
            {"network__max_frame": "2 MiB"},
            'network.max_frame = "2 MiB": the wire format allows 16 B to 1 MiB',
        ),
        (
            {"network__mode": "underlay"},
            'network.underlay is missing, but the mode is "underlay"',
        ),
        (
            {"network__underlay": {"kind": "isp"}},
            'network.underlay is given, but the mode is "links"',
        ),
        (
            {"network__underlay": {"kind": "ips"}, "network__mode": "underlay"},
            'network.underlay.kind = "ips" is not a known underlay; did you mean "isp"?',
        ),
        ({"duration": 0}, "duration = 0: a duration must be more than 0"),
        ({"seed": -1}, "seed = -1: expected a whole number >= 0"),
        ({"seed": "one"}, 'seed = "one": expected a whole number'),
        ({"name": "../x"}, 'name = "../x": expected a name of letters, digits and ". _ + -"'),
        (
            {"topology__kind": "lin"},
            'topology.kind = "lin" is not a known topology; did you mean "line"?',
        ),
        ({"topology": {"kind": "line"}}, "topology.brokers is missing"),
        (
            {"topology__brokers": "five"},
            'topology.brokers = "five": expected a whole number',
        ),
        (
            {"protocol__name": "subscription-fowarding"},
            'protocol.name = "subscription-fowarding" is not a known protocol;'
            ' did you mean "subscription-forwarding"?',
        ),
        (
            {"protocol__name": "rumours"},
            'protocol.name = "rumours" is not a known protocol; known are '
            + ", ".join(f'"{name}"' for name in protocols()),
        ),
        (
            {"workload__kind": "pattern"},
            'workload.kind = "pattern" is not a known workload; did you mean "patterns"?',
        ),
        (
            {
                "workload": {
                    "kind": "script",
                    "steps": [{"time": 1, "broker": 0, "subscribe": "a >"}],
                }
            },
            "workload.steps[0].subscribe: Expected a number or a string,"
            " found the end of the text at column 4.\n  a >\n     ^",
        ),
        (
            {"service": {"model": "tabel"}},
            'service.model = "tabel" is not a known service model; did you mean "table"?',
        ),
        (
            {"faults": [{"kind": "link-brake", "time": 1, "link": "0-1"}]},
            'faults[0].kind = "link-brake" is not a known fault; did you mean "link-break"?',
        ),
        (
            {"faults": [{"kind": "link-break", "time": 1, "link": "0-0"}]},
            'faults[0].link = "0-0": expected two different brokers such as "3-7"',
        ),
        ({"network.rate.x": 1}, '"network.rate.x" is not a known key'),
        (
            {"sweep": {"network.rrate": [1]}},
            'network.rrate is not a known key; did you mean "rate"?'
            " (in the sweep, at network.rrate = 1)",
        ),
        (
            {"sweep": {"network.delay": ["1 ms", "-1 ms"]}},
            'network.delay = "-1 ms": a duration must be at least 0'
            ' (in the sweep, at network.delay = "-1 ms")',
        ),
        ({"sweep": {"seed": [1, 2]}}, 'sweep: "seed" cannot be swept'),
        ({"sweep": {"network.delay": []}}, 'sweep: "network.delay" has no values'),
        (
            {"sweep": {"": [1]}},
            '"" is not a known key (in the sweep, at  = 1)',
        ),
        (
            {"sweep": {"network.delay": ["1 ms", "1ms"]}},
            "the sweep has the point delay=1ms_seed1 twice",
        ),
        (
            {"sweep": {"network.delay": ["1 ms", "1000 us"]}},
            "the sweep has the point delay=1ms_seed1 twice, also as delay=1000us_seed1",
        ),
        (
            {"sweep": {"workload": [{"kind": "patterns"}, {"kind": "patterns", "rate": "1 /s"}]}},
            "the sweep has the point workload=patterns_seed1 twice,"
            " also as workload=patterns+rate=1-s_seed1",
        ),
        (
            {"sweep": {"description": ["a b", "ab"]}},
            "two points of the sweep are called description=ab_seed1",
        ),
        (
            {"sweep": {"network.delay": "1 ms"}},
            'sweep: "network.delay" = "1 ms": expected a list of values',
        ),
        ({"sweep": {"network": {}}}, 'sweep: "network" = {}: expected a list of values'),
        (
            {"sweep": {"network.delay": ["1 ms"], "network": {"delay": ["2 ms"]}}},
            'sweep: "network.delay" is there twice',
        ),
        (
            {"sweep": 3},
            'sweep = 3: expected a table of lists such as "network.rate" = [...]',
        ),
        (
            {"sweep": {"network.queue": list(range(1, 1002))}, "repeat": 100},
            "sweep: 100,100 runs; 100,000 are possible",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, settings: dict[str, object], sentence: str
) -> None:
    assert refusal(tmp_path, **settings) == f"small.toml: {sentence}"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=4,
)


@given(data=st.data(), value=VALUES)
def test_whatever_stands_at_a_key_is_read_or_refused(data: st.DataObject, value: object) -> None:
    """Nothing but a ConfigError, whose sentence names the file and fits on a line."""
    raw = tomllib.loads(SMALL)
    table = data.draw(st.sampled_from([raw, *(raw[name] for name in TABLES)]))
    table[data.draw(st.sampled_from([*table, "unknown"]))] = value
    experiment = reading(raw)
    if isinstance(experiment, str):
        assert re.fullmatch(r"small\.toml: .+", experiment)
    else:
        assert plain(reading(plain(experiment))) == plain(experiment)


TABLES = ("network", "topology", "protocol", "workload")


def reading(raw: dict[str, Any]) -> Experiment | str:
    """What is read, or the sentence with which it is refused."""
    small = schema.convert(tomllib.loads(SMALL), Experiment)
    try:
        return Config("small.toml", Path(), raw, small).set({}).experiment
    except ConfigError as error:
        return str(error)


def test_a_file_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    assert refusal_of(tmp_path, b"name = \n") == (
        "first.toml: is not TOML: invalid value (at line 1, column 8)"
    )
    assert refusal_of(tmp_path, b"name = '\xff'") == "first.toml: is not a text in UTF-8"
    assert refusal_of(tmp_path, b"") == "first.toml: name is missing"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load(tmp_path / "nope.toml")
    assert str(error.value) == f"{tmp_path / 'nope.toml'}: no such file or directory"


def test_a_sweep_is_every_combination_with_every_seed(tmp_path: Path) -> None:
    config = small(
        tmp_path,
        repeat=2,
        seed=7,
        sweep={"network.delay": ["1 ms", "2 ms"], "topology.kind": ["line", "star"]},
    )
    points = expand(config)
    assert [point.name for point in points] == [
        "delay=1ms_topology=line_seed7",
        "delay=1ms_topology=line_seed8",
        "delay=1ms_topology=star_seed7",
        "delay=1ms_topology=star_seed8",
        "delay=2ms_topology=line_seed7",
        "delay=2ms_topology=line_seed8",
        "delay=2ms_topology=star_seed7",
        "delay=2ms_topology=star_seed8",
    ]
    last = points[-1].config.experiment
    assert (last.network.delay, last.topology.name, last.seed) == (0.002, "star", 8)
    assert (last.repeat, last.sweep) == (1, {})


def test_a_table_in_the_sweep_is_a_part_of_the_key(tmp_path: Path) -> None:
    (tmp_path / "nested.toml").write_text(f'{SMALL}\n[sweep]\nnetwork.delay = ["1 ms", "2 ms"]\n')
    config = load(tmp_path / "nested.toml")
    assert [dict(point.settings) for point in expand(config)] == [
        {"network.delay": "1 ms"},
        {"network.delay": "2 ms"},
    ]
    (tmp_path / "shown.toml").write_text(text(config.experiment))
    assert load(tmp_path / "shown.toml").experiment.sweep == config.experiment.sweep


def test_a_long_name_is_cut_and_stays_unique(tmp_path: Path) -> None:
    long = "x" * 300
    points = expand(small(tmp_path, sweep={"description": [f"{long}a", f"{long}b"]}))
    assert [len(point.name) for point in points] == [200, 200]
    assert points[0].name != points[1].name


def test_points_whose_keys_end_alike_have_different_names(tmp_path: Path) -> None:
    sweep = {"network.rate": ["1 Mbit/s"], "workload.rate": ["3 /s"]}
    assert [point.name for point in expand(small(tmp_path, sweep=sweep))] == [
        "network.rate=1Mbit-s_workload.rate=3-s_seed1"
    ]


def test_tables_that_set_other_keys_to_the_same_value_have_different_names(tmp_path: Path) -> None:
    name = "informed-link-activation"
    timers = [{"name": name, key: "1 s"} for key in ("unsubscribe_after", "activate_after")]
    assert [point.name for point in expand(small(tmp_path, sweep={"protocol": timers}))] == [
        "protocol=informed-link-activation+unsubscribe_after=1s_seed1",
        "protocol=informed-link-activation+activate_after=1s_seed1",
    ]


def test_keys_of_a_sweep_may_change_together(tmp_path: Path) -> None:
    together = {
        "topology.brokers, network.delay": [[3, "1 ms"], [7, "2 ms"]],
        "workload.rate": ["1 /s", "2 /s"],
    }
    points = expand(small(tmp_path, sweep=together))
    found = [
        (len(point.settings), each.topology.table()["brokers"], float(each.network.delay))
        for point in points
        for each in [point.config.experiment]
    ]
    assert found == [(3, 3, 0.001), (3, 3, 0.001), (3, 7, 0.002), (3, 7, 0.002)]
    assert [point.name for point in points][:2] == [
        "brokers=3_delay=1ms_rate=1-s_seed1",
        "brokers=3_delay=1ms_rate=2-s_seed1",
    ]


@pytest.mark.parametrize(
    ("sweep", "problem"),
    [
        ({"seed, network.delay": [[1, 2]]}, "cannot be swept"),
        ({"topology.brokers, network.delay": [3, 4]}, "expected lists of 2 values"),
        ({"topology.brokers, network.delay": [[3]]}, "expected lists of 2 values"),
        ({"network.delay, network.delay": [[1, 2]]}, "is there twice"),
        ({"network.delay": [1], "topology.brokers, network.delay": [[3, 2]]}, "is there twice"),
    ],
)
def test_keys_that_cannot_change_together_are_refused(
    tmp_path: Path, sweep: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        small(tmp_path, sweep=sweep)


def test_an_experiment_without_a_sweep_is_one_point(tmp_path: Path) -> None:
    (point,) = expand(small(tmp_path))
    assert (point.name, dict(point.settings)) == ("seed1", {})
    assert plain(point.config.experiment) == plain(small(tmp_path).experiment)


def test_settings_reach_into_lists(tmp_path: Path) -> None:
    config = small(tmp_path, workload=SCRIPT).set({"workload.steps[1].broker": 3})
    steps: Any = config.experiment.workload.parameters
    assert [step.broker for step in steps.steps] == [4, 3, 0]
